"""One table for all formats: its header, its facts, kinds before any cast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from cdspp import CDSPP, SourceDomain, TableEncoder, inspect
from cdspp.analysis.inspection import inspect_file
from cdspp.core.errors import DataError
from cdspp.datasets.table_files import Columns, read_class_map
from cdspp.datasets.table_model import header_place
from cdspp.datasets.table_rows import read_domain

DAYS = pd.date_range("2024-01-01", periods=12)
RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(12, 2)), ["a", "b"] * 6


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["label,a", "x,1"], 0),
        (["Study of 2024", "label,a", "x,1"], 1),
        (["Study of 2024,", "", "kind,a", "x,1"], 2),
        (["Lab,7", "Operator,X", "label,a,b", "x,1,2"], 2),
        (["# of 2024", "# label,a", "x,1"], 1),
        (["a", "1", "2"], 0),
        (["a", "1,2"], 0),
        (["id,a,b", "label,,"], 0),
    ],
)
def test_the_header_is_found_below_what_is_none(lines: list[str], place: int) -> None:
    assert header_place([line.split(",") for line in lines], "label") == place


@pytest.mark.parametrize("cell", ["1_7", "1e1_0", True, np.datetime64("2024-01-01")])
def test_a_cell_that_numpy_reads_as_another_number_is_named(cell: Any) -> None:
    cells = pd.Series([0.5, cell, 2.5, "3"], dtype=object)
    with pytest.raises(DataError, match=r"row 2, column 'a': .* is not a number"):
        TableEncoder().fit(pd.DataFrame({"a": cells}))


TEMPORAL: dict[str, Any] = {
    "frame": pd.DataFrame({"p": DAYS, "q": DAYS.where(np.arange(12) != 3)}),
    "array": np.array([DAYS, DAYS]).T,
    "durations": pd.DataFrame({"p": DAYS - DAYS[0], "q": DAYS - DAYS[0]}),
    "objects": np.array([[day, 1.0] for day in DAYS], dtype=object),
    "underscores": np.array([["1_7", "1"]] * 12, dtype=object),
}


@pytest.mark.parametrize("rows", TEMPORAL.values(), ids=TEMPORAL)
def test_dates_and_durations_are_refused_before_any_cast(rows: Any) -> None:
    source = SourceDomain(X, y)
    with pytest.raises(ValueError, match=r"^X: .* of text or dates"):
        CDSPP().fit(rows, y, source=source)
    with pytest.raises(ValueError, match=r"^source\.X: .* of text or dates"):
        CDSPP().fit(X, y, source=SourceDomain(rows, y))


def test_true_and_one_are_two_values_of_text() -> None:
    table = pd.DataFrame({"a": pd.Series([True, 1, "x"], dtype=object)})
    encoder = TableEncoder(categories="one-hot").fit(table)
    assert [*encoder.get_feature_names_out()] == ["a=1", "a=True", "a=x"]
    np.testing.assert_array_equal(encoder.transform(table), np.eye(3)[[1, 0, 2]])


def test_durations_become_days_on_request(tmp_path: Path) -> None:
    table = pd.DataFrame({"p": DAYS - DAYS[2]})
    assert TableEncoder(dates="number").fit_transform(table)[:, 0].tolist()[:3] == [
        *(-2, -1, 0)
    ]
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match="column 'p' holds durations .*--dates number"):
        read_domain(tmp_path / "a.csv")
    rows = read_domain(tmp_path / "a.csv", Columns(dates="number"))
    np.testing.assert_array_equal(rows.X[:, 0], np.arange(12) - 2)


def test_the_encoder_takes_arrays_and_refuses_sparse_rows() -> None:
    np.testing.assert_array_equal(TableEncoder().fit_transform(X), X)
    with pytest.raises(DataError, match="sparse rows"):
        TableEncoder().fit(csr_array(X))


def test_a_guess_stands_in_the_error_with_what_else_it_may_be(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "label,\u0441\u0430\u0439\u0442\n\u041a\u0438\u0435\u0432,x\n", "cp1251"
    )
    with pytest.raises(DataError, match="holds text.*read as cp1252 .*maybe cp1251"):
        read_domain(path)


def test_a_missing_label_column_is_one_line_with_the_likely_one(tmp_path: Path) -> None:
    path, needed = tmp_path / "a.csv", Columns(required=("label",))
    path.write_text("kind,a\nx,1\ny,2\n")
    with pytest.raises(DataError, match="columns are 'kind', 'a'. .*--label kind.$"):
        read_domain(path, needed)


def test_a_map_of_labels_has_two_columns_and_one_class_each(tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    path.write_text("old,new\n01,1\nNA,sodium\n-1,\n")
    assert read_class_map(path) == {"01": "1", "NA": "sodium", "-1": ""}
    path.write_text("old,new\n01,1\n01,2\n")
    with pytest.raises(DataError, match="'01' has the classes '1' and '2'"):
        read_class_map(path)
    path.write_text("old\n01\n")
    with pytest.raises(DataError, match="expected two columns"):
        read_class_map(path)


def test_what_is_believed_of_a_file_is_data(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Title\nlabel;a;b\nx;1,5;NA\n-1;2,5;\ny;3;word\n")
    found = inspect_file(path).to_dict()
    assert (found["format"], found["rows"], found["label"]) == ("text", 3, "label")
    assert (found["labels"], found["undecided"]) == ({"x": 1, "y": 1}, 1)
    first, second = found["columns"]
    assert (first["kind"], first["sign"], first["low"], first["high"]) == (
        *("number", ",", 1.5, 3.0),
    )
    assert (second["kind"], second["missing"]) == ("text", {"NA": 1, "empty": 1})
    assert second["fault"].startswith("column 'b' holds text")
    assert [fact["explains"] for fact in found["facts"]] == ["rows"]


ABOVE: dict[str, list[list[Any]]] = {
    "header": [],
    "title": [["Study of 2024"]],
    "title and blank": [["Study of 2024"], []],
}


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
def test_a_row_is_counted_as_its_user_sees_it(
    above: list[list[Any]], tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows: list[list[Any]] = [*above, ["a", "b"], [1, 2], [], [3, "x"], [5, 6], [7, 8]]
    expected = len(above) + 4
    book = openpyxl.Workbook()
    for k, cells in enumerate(rows, start=1):
        for j, cell in enumerate(cells, start=1):
            book.active.cell(k, j, cell)
    book.save(tmp_path / "a.xlsx")
    text = "".join(",".join(map(str, cells)) + "\n" for cells in rows)
    (tmp_path / "a.csv").write_text(text)
    for name, unit in (("a.csv", "line"), ("a.xlsx", "row")):
        with pytest.raises(DataError, match=f"{name}: {unit} {expected}, column 'b'"):
            read_domain(tmp_path / name)


def test_lines_of_a_text_are_counted_within_cells_and_between_rows(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,t,label\n1,"x\ny",u\n\n2,z,v\nq,z,v\n3,z,v\n')
    with pytest.raises(DataError, match="a.csv: line 6, column 'a': 'q' is not"):
        read_domain(path, Columns(categories="one-hot"))
    path.write_text("a,b\n\n\n1,2\n1,2,3\n")
    with pytest.raises(DataError, match="line 5 has 3 cells, the header has 2"):
        read_domain(path)


def test_a_frame_of_polars_is_read_as_one_of_pandas() -> None:
    polars = pytest.importorskip("polars")
    table = pd.DataFrame(
        {
            "size": [1.5, None, 2.5, 99.0],
            "count": [1, 2, 3, 4],
            "ripe": [True, False, True, True],
            "seen": pd.date_range("2024-01-01", periods=4),
            "site": ["A", None, "B", "A"],
        }
    )
    frame, how = polars.from_pandas(table), {"categories": "one-hot", "dates": "number"}
    one, other = (TableEncoder(**how).fit(each) for each in (table, frame))
    np.testing.assert_array_equal(one.transform(table), other.transform(frame))
    assert one.to_dict() == other.to_dict()
    labels = ["a", "b", "a", None]
    beliefs = [inspect(each, labels).to_dict() for each in (table, frame)]
    for each in beliefs:
        del each["format"]
    assert beliefs[0] == beliefs[1]
