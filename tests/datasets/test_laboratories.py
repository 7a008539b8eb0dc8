"""Tables of scikit-learn cut into two laboratories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from cdspp.datasets import make_dataset
from cdspp.features.precomputed import TableColumns

CASES = [
    ("laboratories-wine", load_wine, (8, 7), ["flavanoids", "nonflavanoid_phenols"]),
    (
        "laboratories-cancer",
        load_breast_cancer,
        (12, 21),
        ["mean fractal dimension", "radius error", "texture error"],
    ),
]


@pytest.mark.parametrize(("name", "load", "widths", "shared"), CASES)
def test_each_row_is_in_one_laboratory_with_its_own_columns_as_published(
    name: str, load: Any, widths: tuple[int, int], shared: list[str], tmp_path: Path
) -> None:
    index, table = make_dataset(name).prepare(tmp_path / name), load()
    names = [str(column) for column in table.feature_names]
    result, seen = {}, []
    for domain, width in zip(index.domains, widths, strict=True):
        positions = index.positions(domain)
        X, columns = TableColumns().read(index.root, domain, positions)
        result[domain] = columns.tolist()
        assert X.shape == (len(index.ids(domain)), width)
        published = table.data[:, [names.index(column) for column in columns]]
        for values, label in zip(X, index.labels(domain), strict=True):
            (row, *same) = np.flatnonzero((published == values).all(axis=1))
            assert not same
            assert table.target_names[table.target[row]] == label
            seen.append(int(row))
    assert sorted(seen) == list(range(len(table.data)))
    assert [
        column for column in result["first"] if column in result["second"]
    ] == shared
