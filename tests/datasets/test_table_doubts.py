"""Rows and columns of tables that may be no data: a note, or an error, names them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cdspp.core.errors import DataError
from cdspp.datasets import TablesDataset
from cdspp.datasets.table_rows import DomainRows, read_domain

X = np.random.default_rng(0).normal(5, 1, (30, 3)).round(2)


def read(folder: Path, rows: pd.DataFrame) -> DomainRows:
    rows.to_csv(folder / "rows.csv", index=False)
    return read_domain(folder / "rows.csv")


def table(X: np.ndarray = X) -> pd.DataFrame:
    rows = pd.DataFrame(X, columns=["a", "b", "c"])
    return rows.assign(label=(["ant", "bee"] * len(X))[: len(X)])


@pytest.mark.parametrize("what", ["sum", "mean"])
def test_a_total_without_a_label_is_noted(tmp_path: Path, what: str) -> None:
    assert read(tmp_path, table()).notes == ()
    total = getattr(X, what)(axis=0).round(2)
    rows = table(np.vstack([X, total])).assign(label=[*(["ant", "bee"] * 15), ""])
    [note] = read(tmp_path, rows).notes
    assert note == f"the last row is the {what} of the others: a total?"
    rows.iloc[-1, 0] *= 1.1
    assert read(tmp_path, rows).notes == ()


def test_a_column_that_counts_the_rows_is_noted(tmp_path: Path) -> None:
    rows = table().assign(**{"Unnamed: 0": np.arange(30), "row": np.arange(30) + 7})
    [note] = read(tmp_path, rows).notes
    assert note.startswith("columns that only number the rows (Unnamed: 0, row): l")
    assert read(tmp_path, rows.iloc[::-1]).notes == ()
    assert read(tmp_path, rows.iloc[:19]).notes == ()  # by chance, in few rows


def test_rows_without_any_number_are_noted(tmp_path: Path) -> None:
    rows = table()
    rows.loc[[4, 9], ["a", "b", "c"]] = np.nan
    rows.loc[7, "a"] = np.nan
    [note] = read(tmp_path, rows).notes
    assert note == "2 rows without any number (first: line 6)"


@pytest.mark.parametrize("code", [9999.0, 999.0, -99.0, 1e20, -3.4028235e38])
def test_codes_of_missing_numbers_are_noted_at_both_ends(
    tmp_path: Path, code: float
) -> None:
    rows = table()
    rows.loc[[3, 5], "b"] = code
    [note] = read(tmp_path, rows).notes
    assert note == f"{code:g} in b may mark missing numbers"
    rows.loc[6, "b"] = code / 3  # another number of that size
    assert read(tmp_path, rows).notes == ()


def test_a_study_tells_the_doubts_of_its_tables(tmp_path: Path) -> None:
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("lab", "field")}
    table(2 * X).to_csv(paths["lab"], index=False)
    table().assign(row=range(30)).to_csv(paths["field"], index=False)
    [note] = TablesDataset("ants", paths).notes()
    assert note.startswith(f"{paths['field']}: columns that only number the rows")
    assert "drop" in note
    assert "--" not in note


def test_a_header_in_the_midst_of_a_table_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "joined.csv"
    path.write_text(2 * "label,site,age\nant,north,3\nbee,south,4\n")
    with pytest.raises(DataError, match="line 4 repeats the header, as in files"):
        read_domain(path)


def test_codes_with_underscores_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "months.csv"
    path.write_text("label,month\nant,2019_01\nbee,2019_02\n")
    with pytest.raises(DataError, match="'month' holds text .*'2019_01'"):
        read_domain(path)


def test_letters_of_either_form_are_one_name_of_a_column(tmp_path: Path) -> None:
    names = set[str]()
    for form in ("NFC", "NFD"):
        path = tmp_path / f"{form}.csv"
        path.write_text(unicodedata.normalize(form, "label,größe\nant,1\n"))
        names |= {*read_domain(path).features}
    assert len(names) == 1
