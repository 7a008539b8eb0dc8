"""What two tables share besides labels: columns by name, objects in both files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cdspp.core.errors import BridgeWarning, DataError
from cdspp.datasets.table_bridge import read_pairs, shared_columns
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import DomainRows, read_domain


def table(path: Path, text: str) -> DomainRows:
    path.write_text(text)
    return read_domain(path)


@pytest.fixture
def both(tmp_path: Path) -> tuple[DomainRows, DomainRows]:
    source = table(tmp_path / "source.csv", "age,chol,slope,label\n1,2,3,a\n4,5,6,b\n")
    target = table(tmp_path / "target.csv", "chol,years,age,label\n7,8,9,a\n1,1,1,\n")
    return source, target


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, [(0, 2), (1, 0)]),
        ("none", None),
        ("age=years, slope=chol", [(0, 1), (2, 0)]),
        ("slope=years, same-names", [(0, 2), (1, 0), (2, 1)]),
    ],
)
def test_columns_are_shared_as_asked(both: Any, asked: Any, expected: Any) -> None:
    assert shared_columns(asked, *both)[0] == expected


def test_a_number_of_a_pair_brings_the_source_into_the_unit_of_the_target(
    both: Any, tmp_path: Path
) -> None:
    places, note, factors = shared_columns("age=years * 10,slope=chol", *both)
    assert (places, note) == ([(0, 1), (2, 0)], "")
    np.testing.assert_allclose(factors, [0.1, 1.0, 1.0])
    odd = table(tmp_path / "odd.csv", "years*10,label\n1,a\n")  # a name like that
    assert shared_columns("age=years*10", both[0], odd)[0] == [(0, 0)]


def test_names_that_only_count_columns_are_shared_where_asked_alone(
    tmp_path: Path,
) -> None:
    source = table(tmp_path / "s.csv", "f1,f2,f3,label\n1,2,3,a\n")
    target = table(tmp_path / "t.csv", "f1,f2,label\n1,2,a\n")
    assert shared_columns(None, source, target)[:2] == (None, "")
    assert shared_columns("same-names", source, target)[0] == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("age", "expected same-names, .*pairs.* age=years or mm=cm.10, got 'age'"),
        ("age=years*0", "got 'age=years.0'"),
        ("age=yaers*2", "target.csv: no feature 'yaers' for --shared: did you mean"),
        ("aeg=age", "source.csv: no feature 'aeg' for --shared: did you mean 'age'?"),
    ],
)
def test_a_fault_of_shared_columns_names_the_file(
    both: Any, asked: str, reason: str
) -> None:
    with pytest.raises(DataError, match=reason):
        shared_columns(asked, *both)


def test_tables_without_a_common_name_share_nothing_unasked(
    both: Any, tmp_path: Path
) -> None:
    other = table(tmp_path / "other.csv", "weight,label\n1,a\n")
    assert shared_columns(None, both[0], other)[:2] == (None, "")
    with pytest.raises(DataError, match="source.csv .*column name"):
        shared_columns("same-names", both[0], other)


def pairs(tmp_path: Path, both: Any, left: str, right: str) -> Any:
    paths = [tmp_path / "left.csv", tmp_path / "right.csv"]
    for path, text in zip(paths, (left, right), strict=True):
        path.write_text(text)
    return read_pairs([*map(str, paths)], both, [Columns()] * 2)


def test_pairs_are_joined_by_identifier_in_the_order_of_the_columns(
    both: Any, tmp_path: Path
) -> None:
    left = "id,slope,age,chol\nx,3,1,2\ny,6,4,5\nz,0,0,0\n"
    right = "id,age,chol,years\ny,60,40,50\nw,1,1,1\nx,30,10,20\n"
    (rows, others), note = pairs(tmp_path, both, left, right)
    np.testing.assert_array_equal(rows, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(others, [[10, 20, 30], [40, 50, 60]])
    assert note == "paired: 2 objects of 3 and 3"


def test_pairs_without_identifiers_are_joined_row_by_row(
    both: Any, tmp_path: Path
) -> None:
    left, right = "age,chol,slope\n1,2,3\n", "chol,years,age\n4,5,6\n"
    (rows, others), note = pairs(tmp_path, both, left, right)
    assert (rows.tolist(), others.tolist()) == ([[1, 2, 3]], [[4, 5, 6]])
    assert note == "paired: 1 row"


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("age,chol,slope\n1,2,3\n", "chol,years\n4,5\n", "lacks 1 column of"),
        ("id,age,chol,slope\nx,1,2,3\n", "chol,years,age\n4,5,6\n", "column.*ide"),
        (
            "id,age,chol,slope\nx,1,2,3\nx,1,2,3\n",
            "id,chol,years,age\nx,4,5,6\n",
            "left.csv: the id 'x' occurs 2 times",
        ),
        (
            "id,age,chol,slope\nx,1,2,3\n",
            "id,chol,years,age\ny,4,5,6\n",
            "left.csv and .*right.csv have no identifier in common; .* 'x'",
        ),
    ],
)
def test_a_fault_of_pairs_is_one_line(
    both: Any, tmp_path: Path, left: str, right: str, reason: str
) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        pairs(tmp_path, both, left, right)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("how", "name"),
    [({"categories": "frequency"}, "site"), ({"vectorise": "skrub"}, "note_0")],
)
def test_an_encoding_that_is_fitted_by_table_is_not_shared(
    how: dict[str, Any], name: str, tmp_path: Path
) -> None:
    if "vectorise" in how:
        pytest.importorskip("skrub")
    rng, read = np.random.default_rng(0), []
    for k, share in enumerate((0.25, 0.75)):
        words = rng.choice(["red", "wet", "old", "raw"], (60, 3))
        rows = {
            "site": np.where(np.arange(60) < 60 * share, "A", "B"),
            "note": [f"{' '.join(each)} {n}" for n, each in enumerate(words)],
            "age": rng.random(60),
            "seen": "2024-01-31",
        }
        path = tmp_path / f"{k}.csv"
        pd.DataFrame(rows).to_csv(path, index=False)
        read.append(read_domain(path, Columns(dates="number", **how)))
    one, other = read
    with pytest.warns(BridgeWarning, match=f"not shared: .*{name}.* one table"):
        places, *_ = shared_columns(None, one, other)
    shared = {one.features[k] for k, _ in places or ()}
    apart = {each for each in one.features if each.startswith(name)}
    assert apart
    assert not shared & apart
    assert "age" in shared
    if "vectorise" in how:  # one column for each value, or for a part of a date
        assert {"site_B", "seen_year"} <= shared
    first = min(apart)
    with pytest.raises(DataError, match=f"--shared {first}=age: .* one table"):
        shared_columns(f"{first}=age", one, other)
