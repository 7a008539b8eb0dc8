"""Planted problems with three shared columns: what these say, and how they are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.bridges import KINDS, bridges_table, shared_problem


def class_means(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.array([rows[codes == code].mean(axis=0) for code in np.unique(codes)])


@pytest.mark.parametrize("kind", KINDS)
def test_shared_columns_say_what_their_kind_says(kind: str) -> None:
    X, y, _, source = shared_problem(kind, 12, 0)
    ours, theirs = (list(side) for side in zip(*source.shared_columns, strict=True))
    assert ours == [50, 51, 52]
    assert theirs == [40, 41, 42]
    means_source = class_means(source.X[:, ours], source.y)
    known = y != -1
    means = class_means(X[known][:, theirs], y[known])
    spread = means_source.std()
    together = np.corrcoef(means_source.ravel(), means.ravel())[0, 1]
    assert (spread > 0.4) == (kind != "useless")
    assert (together > 0.6) == (kind == "useful")


def test_the_table_has_shares_in_percent() -> None:
    found = pd.DataFrame(
        {"kind": ["useful"], "n_labelled": [12], "shared": [3], "unshared": [0]}
    ).assign(problems=4, gain=0.123)
    assert bridges_table(found).splitlines()[1].split() == [
        *("useful", "12", "+12.3", "75", "%", "0", "%")
    ]
