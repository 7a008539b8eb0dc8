"""Files as people have them: every format gives the same rows, mistakes are named."""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse
from pyarrow import parquet as parquet_file
from safetensors.numpy import save_file

from cdspp.core.errors import DataError
from cdspp.datasets import table_files
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import read_domain

X = np.array([[0.1, 1.0], [1 / 3, 0.0], [-2e300, 3.0], [5e-324, 4.0]])
LABELS = ["ant", "", "7", "NaCl"]
TABLE = pd.DataFrame({"a": X[:, 0], "label": LABELS, "id": list("pqrs"), "b": X[:, 1]})


def text(**options: Any) -> Callable[[Path], None]:
    """Return what writes the table as text."""
    return lambda path: TABLE.to_csv(path, index=False, **options)


def parquet(table: pd.DataFrame) -> Callable[[Path], None]:
    """Return what writes a table as Parquet."""
    return lambda path: table.to_parquet(path)


def xlsx(path: Path) -> None:
    """Write the table as XLSX with blank rows and a second sheet, where it can be."""
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(path) as book:
        TABLE.to_excel(book, index=False, startrow=2)
        TABLE.iloc[:1].to_excel(book, sheet_name="other", index=False)


TABLES: dict[str, Callable[[Path], None]] = {
    "comma.csv": text(),
    "semicolon.csv": text(sep=";"),
    "tab.csv": text(sep="\t"),
    "quoted.csv": text(sep=";", quoting=1, encoding="utf-8-sig"),
    "tab.tsv": text(sep="\t"),
    "tab.txt": text(sep="\t"),
    "UPPER.TSV": text(sep="\t"),
    "comma.csv.gz": text(),
    "tab.txt.gz": text(sep="\t"),
    "bars.txt": text(sep="|"),
    "plain.parquet": parquet(TABLE),
    "plain.feather": TABLE.to_feather,
    "named-index.parquet": parquet(TABLE.set_index("id")[["a", "b", "label"]]),
    "unnamed-index.parquet": parquet(TABLE.set_index("id").rename_axis(None)),
    "part.parquet": parquet(TABLE.set_axis(pd.RangeIndex(5, 9))),
    "index-too.parquet": parquet(TABLE.set_axis(list("wxyz"))),
    "missing.parquet": parquet(TABLE.assign(label=["ant", None, "7", "NaCl"])),
    "category.parquet": parquet(TABLE.astype({"label": "category", "b": "Int64"})),
    "text.parquet": parquet(TABLE.assign(a=[repr(x) for x in X[:, 0].tolist()])),
    "book.xlsx": xlsx,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    TABLES[name](tmp_path / name)
    result = read_domain(tmp_path / name)
    assert result.X.tobytes() == X.tobytes()
    assert (result.features, list(result.ids)) == (("a", "b"), list("pqrs"))
    assert result.labels == LABELS
    kind = name.split(".")[-1]
    first = 1 if kind in ("parquet", "arrow", "feather") else 4 if kind == "xlsx" else 2
    assert result.places == [first, first + 1, first + 2, first + 3]


CELLS = np.array(["ant", "", "7", "NaCl"], dtype=object)
CODES = np.array([[1.0], [-1.0], [7.0], [np.nan]])
CODED = ["1", "", "7", ""]
ARRAYS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("column.mat", {"X": X, "y": CODES}, ["1", "", "7", ""]),
    ("cells.mat", {"fts": X, "labels": CELLS}, LABELS),
    ("sparse.mat", {"X": scipy.sparse.csc_matrix(X), "y": CELLS}, LABELS),
    ("others.mat", {"X": X, "Z": X.T, "y": CELLS, "n": 4}, LABELS),
    ("bare.mat", {"anything": X, "n": 4}, [""] * 4),
    ("plain.npz", {"X": X, "y": np.array(LABELS)}, LABELS),
    ("matrix.npy", {"X": X}, [""] * 4),
    ("named.safetensors", {"embeddings": X}, [""] * 4),
    ("coded.safetensors", {"X": X, "y": CODES[:3].ravel()[[0, 1, 2, 1]]}, CODED),
]


def write_arrays(path: Path, arrays: dict[str, Any]) -> Path:
    """Write arrays as MATLAB or NumPy do."""
    if path.suffix == ".mat":
        scipy.io.savemat(path, arrays)
    elif path.suffix == ".npy":
        np.save(path, arrays["X"])
    elif path.suffix == ".safetensors":
        save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, path)
    else:
        np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("name", "arrays", "labels"), ARRAYS, ids=[case[0] for case in ARRAYS]
)
def test_arrays_give_their_rows(
    name: str, arrays: dict[str, Any], labels: list[str], tmp_path: Path
) -> None:
    result = read_domain(write_arrays(tmp_path / name, arrays))
    assert result.X.tobytes() == X.tobytes()
    assert (result.labels, result.features) == (labels, ())
    assert list(result.ids) == ["1", "2", "3", "4"]


def test_reading_a_matlab_file_runs_no_code_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scipy.io.savemat(tmp_path / "a.mat", {"X": X, "y": LABELS})
    for name in ("difflib", "numpy", "pickle", "scipy"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\nraise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert len(read_domain(Path("a.mat"), Columns()).X) == len(X)
    assert not Path("ran").exists()


def test_columns_may_be_called_otherwise_or_left_out(tmp_path: Path) -> None:
    renamed = TABLE.rename(columns={"label": "class", "id": "who"}).assign(when="now")
    renamed.to_csv(tmp_path / "a.csv", index=False)
    columns = Columns("class", "who", ("when", "b", "absent"), ("label", "id"))
    result = read_domain(tmp_path / "a.csv", columns)
    assert (result.features, result.dropped) == (("a",), ("when", "b"))
    assert (result.labels, list(result.ids)) == (LABELS, list("pqrs"))
    arrays = {"X": X, "y": CODES, "labels": CELLS, "names": CELLS}
    chosen = Columns("labels", "names", required=("label", "id"))
    result = read_domain(write_arrays(tmp_path / "a.mat", arrays), chosen)
    assert (result.labels, result.ids) == (LABELS, CELLS.tolist())


def test_the_separator_is_the_one_that_shows_the_labels(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y;z,label\n1,ant\n")
    assert read_domain(tmp_path / "a.csv").features == ("x;y;z",)
    (tmp_path / "a.csv").write_text('label;"x,y,z,w"\nant;1\n')
    assert read_domain(tmp_path / "a.csv").features == ("x,y,z,w",)
    wide = ";".join(f"{k:01000}" for k in range(200))
    (tmp_path / "a.csv").write_text(f"{wide}\n{';'.join('1' * 200)}\n")
    assert read_domain(tmp_path / "a.csv").X.shape == (1, 200)


def test_a_first_column_without_a_name_holds_ids_or_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",a,who\nx,1,2\n")
    result = read_domain(tmp_path / "a.csv", Columns(id="ids"))
    assert (result.ids, result.features) == (["x"], ("a", "who"))
    assert result.notes == ("ids from the unnamed column",)
    result = read_domain(tmp_path / "a.csv", Columns(id="who"))
    assert (result.ids, result.features) == (["2"], ("a",))
    assert result.notes == ("the unnamed column left out",)
    with pytest.raises(DataError, match="no column 'ids' for --id"):
        read_domain(tmp_path / "a.csv", Columns(id="ids", required=("id",)))


def test_lists_of_one_length_in_a_column_are_features(tmp_path: Path) -> None:
    table = {"label": list("abca"), "vector": pa.array(X.tolist())}
    parquet_file.write_table(pa.table(table), tmp_path / "a.parquet")
    result = read_domain(tmp_path / "a.parquet")
    assert result.features == ("vector_0", "vector_1")
    assert result.X.tobytes() == X.tobytes()


ABOVE = {
    "comments": "# spectrometer\n% of 2024\n",
    "what an instrument says": "Instrument,7\n\nOperator,X\n",
}


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
def test_lines_above_the_header_are_left_out_with_a_note(
    above: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{above}kind,a,b\nant,1,2\nbee,3,x\n")
    with pytest.raises(DataError, match="column 'b' holds text|'x' is not a number"):
        read_domain(path, Columns(label="kind"))
    path.write_text(f"{above}kind,a,b\nant,1,2\nbee,3,4\n")
    result = read_domain(path, Columns(label="kind"))
    assert (result.labels, result.X.tolist()) == (["ant", "bee"], [[1, 2], [3, 4]])
    n_lines = sum(1 for line in above.splitlines() if line)
    words = "1 line" if n_lines == 1 else f"{n_lines} lines"
    assert result.notes[0] == f"{words} above the header left out"


NUMBERS = {
    "1\u202f234,50": 1234.5,
    "12\u00a0000,25": 12000.25,
    "1’234’567.5": 1234567.5,
    "１．５": 1.5,
    "−1.5": -1.5,
    "12,25,000.5": 1225000.5,
}


@pytest.mark.parametrize("written", NUMBERS)
def test_a_number_is_read_as_its_country_writes_it(
    written: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(f"a;b\n{written};1\n2;3\n", encoding="utf-8")
    assert read_domain(tmp_path / "a.csv").X.tolist() == [[NUMBERS[written], 1], [2, 3]]


@pytest.mark.parametrize("written", ["1 2", "1'2", "1 2345", "1,2,345", "075 123", "½"])
def test_blanks_and_apostrophes_elsewhere_make_no_number(
    written: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(f"a;b\n{written};1\n2;3\n")
    with pytest.raises(DataError, match="a number|holds text"):
        read_domain(tmp_path / "a.csv")


def test_a_row_of_totals_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("label,a\nant,1\nbee,2\nTotal,3\n")
    with pytest.raises(DataError, match="the last row has the label 'Total'"):
        read_domain(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("label,a\ntotal,1\npart,2\ntotal,3\n")
    assert read_domain(tmp_path / "b.csv").labels == ["total", "part", "total"]


def test_separators_at_the_end_of_lines_make_no_feature(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a;label;;\n1;ant;;\n2;;;\n")
    assert read_domain(tmp_path / "a.csv").features == ("a",)


def crashing(path: Path) -> None:
    """Write a MATLAB file that says another type of its matrix than it has."""
    scipy.io.savemat(path, {"X": np.eye(4, 3)})
    content = bytearray(path.read_bytes())
    content[176] = 0
    path.write_bytes(content)


def archive_of_text(path: Path) -> None:
    """Write an archive whose member has the name of an array, and is none."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", "text")


def hdf5(path: Path) -> None:
    """Write the head of a MATLAB file of version 7.3."""
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    path.write_bytes(head + bytes(600))


MISTAKES: list[tuple[str, str | bytes | dict[str, Any] | Callable[..., Any], str]] = [
    ("a.csv", "a,b\n1,x\n,y\n", "holds text ('x', 'y'): encode text with --categories"),
    ("a.csv", "a;b\n1,5;2\n2.5;1\n", "line 2, column 'a': '1,5' is not a number"),
    ("c.csv", "a;b\n1;2;3\n4;5\n", "line 2 has 3 cells, the header has 2"),
    ("a.csv.gz", "a,b\n1,2\n", "not a gzip file, or incomplete (Not a"),
    ("b.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 9)[:-9], "or incomplete (Compres"),
    ("d.csv.gz", gzip.compress(b"a\n\x00\xe9\n"), "not a text file in UTF-8"),
    ("e.csv", '""\n', "expected rows of features, got none"),
    ("a.npz.gz", "x", "expected a file that ends in .csv, .tsv, .txt (or these with "),
    ("a.parquet", "x", "not a readable Parquet file"),
    (
        "b.parquet",
        lambda path: TABLE.assign(b=pd.Timestamp(0)).to_parquet(path),
        "column 'b' holds dates ('1970-01-01')",
    ),
    ("a.npz", archive_of_text, "a.npz: its array X is damaged or not a NumPy array"),
    ("h.mat", crashing, "not a readable MATLAB file (SciPy crashed)"),
    ("b.mat", hdf5, "version 7.3, which is not read. In MATLAB, save it with -v7: s"),
    ("c.mat", {"P": X, "Q": X}, "expected a matrix X of numbers, got P (4, 2), Q ("),
    ("d.mat", {"X": X, "y": CODES, "label": CODES}, "has the arrays y and label. Na"),
    ("f.mat", {"X": X, "y": [1, 2]}, "rows of X. Rows of X are samples: transpose it"),
]


@pytest.mark.parametrize(
    ("name", "content", "message"), MISTAKES, ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_is_named_with_its_file(
    name: str, content: Any, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if isinstance(content, dict):
        write_arrays(path, content)
    elif callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        read_domain(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


NAMES: list[tuple[Columns, str]] = [
    (Columns("lable", required=("label",)), "no column 'lable' for --label. Similar: "),
    (Columns("zzz", required=("label",)), "for --label. The first are: 'a', 'label'"),
    (Columns("b"), "has a column 'label', but the label column is 'b'. Name"),
]


@pytest.mark.parametrize(("columns", "message"), NAMES)
def test_a_column_that_is_not_there_is_named_with_the_nearest(
    columns: Columns, message: str, tmp_path: Path
) -> None:
    TABLE.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError) as caught:
        read_domain(tmp_path / "a.csv", columns)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "package"), [("a.xlsx", "openpyxl"), ("a.parquet", "pyarrow")]
)
def test_a_package_that_is_not_installed_is_named_with_the_remedy(
    name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text("x")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DataError, match=f"not installed: pip install {package}$"):
        read_domain(tmp_path / name)


@pytest.mark.parametrize("cells", [[[1, 2], [3], [], None], [{"k": 1}, None] * 2])
def test_a_column_of_lists_or_dictionaries_is_named_or_left_out(
    cells: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    TABLE.assign(more=cells).to_parquet(path)
    for how in ({}, {"categories": "one-hot"}, {"drop": ("text", "constant")}):
        with pytest.raises(DataError) as caught:
            read_domain(path, Columns(**how))
        message = str(caught.value)
        assert f"{path}: column 'more' holds lists or dictionaries (" in message
        assert "or --drop more" in message
    assert read_domain(path, Columns(drop=("mo*",))).X.tobytes() == X.tobytes()
    TABLE.assign(label=cells).to_parquet(path)
    with pytest.raises(DataError, match=r"a\.parquet: column 'label' .*lists"):
        read_domain(path)


def test_periods_are_dates(tmp_path: Path) -> None:
    seen = pd.period_range("2024-02", periods=4, freq="M")
    TABLE.assign(seen=seen).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="column 'seen' holds dates"):
        read_domain(tmp_path / "a.parquet")
    result = read_domain(tmp_path / "a.parquet", Columns(dates="parts"))
    assert result.X[:, 2:5].tolist() == [[2024, k, 1] for k in (2, 3, 4, 5)]
    days = read_domain(tmp_path / "a.parquet", Columns(dates="number")).X[:, 2]
    assert np.diff(days).tolist() == [29, 31, 30]


class Area:
    """Merged cells, as the package describes them."""

    min_col = max_col = 4
    max_row = 3

    def __str__(self) -> str:
        return "D2:D3"


def test_further_sheets_merged_cells_and_hidden_rows_of_a_book_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the package where it is installed, and with its stand-in elsewhere."""
    path = tmp_path / "a.xlsx"
    if importlib.util.find_spec("openpyxl"):
        with pd.ExcelWriter(path) as book:
            TABLE.to_excel(book, index=False)
            book.book.worksheets[0].merge_cells("D2:D3")
            book.book.worksheets[0].row_dimensions[3].hidden = True
            book.book.worksheets[0]["B5"] = '=IF(1, "NaCl")'
            TABLE.to_excel(book, sheet_name="other", index=False)
    else:
        first = types.SimpleNamespace(
            merged_cells=types.SimpleNamespace(ranges=[Area()]),
            row_dimensions={3: types.SimpleNamespace(hidden=True)},
        )
        cells = pd.DataFrame([[*TABLE], *TABLE.to_numpy().tolist()], dtype=object)
        opened = contextlib.nullcontext(
            types.SimpleNamespace(book=types.SimpleNamespace(worksheets=[first, None]))
        )
        monkeypatch.setitem(sys.modules, "openpyxl", types.ModuleType("openpyxl"))
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
        monkeypatch.setattr(pd, "ExcelFile", lambda *_, **__: opened)
        monkeypatch.setattr(pd, "read_excel", lambda *_, **__: cells)
        monkeypatch.setattr(table_files, "_uncalculated", lambda *_: [(4, 1)])
        path.write_text("x")
    *notes, _ = read_domain(path).notes  # and one on -2e300
    assert notes == [
        "the first of 2 sheets",
        "only the first of merged cells has a value: D2:D3",
        "1 hidden row included",
        "1 formula without a value in 'label': open the file in a spreadsheet program "
        "and save it",
    ]


def test_a_column_of_text_is_refused_though_its_name_is_near_a_missing_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_text("ids,a,label\nx,1,u\ny,2,v\n")
    with pytest.raises(DataError, match="column 'ids' holds text"):
        read_domain(tmp_path / "a.csv", Columns(required=("label", "id")))
