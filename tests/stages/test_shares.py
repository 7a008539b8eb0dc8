"""Shares of the classes among the test samples, and the fit that is told them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cdspp.stages.formats import (
    LABEL_COLUMNS,
    SHARE_COLUMNS,
    SPLIT_COLUMNS,
    read_frame,
    write_rows,
)
from cdspp.stages.splits import write_test_shares


@pytest.fixture
def shares(tmp_path: Path) -> pd.DataFrame:
    """Return the shares of two trials: samples s0 to s5 of classes a, a, a, b, b, c."""
    ids = [f"s{number}" for number in range(6)]
    labels = {"id": ids, "label": list("aaabbc"), "position": range(6)}
    write_rows(tmp_path / "labels.parquet", LABEL_COLUMNS, labels)
    tested = {1: ("s1", "s2", "s3", "s5"), 2: ("s0", "s4")}
    rows = [
        (trial, name, place, "unlabelled" if name in tested[trial] else "labelled", "?")
        for trial in tested
        for place, name in enumerate(ids)
    ]
    columns = dict(zip(SPLIT_COLUMNS, zip(*rows, strict=True), strict=True))
    write_rows(tmp_path / "split.parquet", SPLIT_COLUMNS, columns)
    write_test_shares(
        labels=tmp_path / "labels.parquet",
        split=tmp_path / "split.parquet",
        output=tmp_path / "shares.parquet",
    )
    return read_frame(tmp_path / "shares.parquet", SHARE_COLUMNS)


def test_each_trial_has_the_shares_of_its_own_test_samples(
    shares: pd.DataFrame,
) -> None:
    assert shares.columns.tolist() == ["trial", "label", "share"]  # and no id
    by_trial = shares.pivot(index="trial", columns="label", values="share")
    assert by_trial.columns.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(by_trial.loc[1], [0.5, 0.25, 0.25])
    np.testing.assert_allclose(by_trial.loc[2], [0.5, 0.5, 0.0])
