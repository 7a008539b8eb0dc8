"""What holds for every table of the outline, whatever the study."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from support.page_reader import read_page
from support.written_study import FORMS, WrittenStudy


@pytest.fixture(scope="module")
def tables(written: WrittenStudy) -> Path:
    """Return the folder of all tables of each kind of study."""
    return written.write_tables()


def texts(folder: Path, form: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of every table in a form."""
    for path in sorted(folder.glob(f"*{form}")):
        yield path.name, path.read_text(encoding="utf-8")


def test_every_table_is_written_and_no_number_is_none(
    written: WrittenStudy, tables: Path
) -> None:
    names = {f"{name}{form}" for name in written.names("table") for form in FORMS}
    assert {path.name for path in tables.iterdir()} == names
    for form in FORMS:
        for name, text in texts(tables, form):
            assert not re.search(r"\b(nan|inf)\b", text), name


def test_every_csv_has_one_row_a_line_and_columns_of_one_spelling(
    tables: Path,
) -> None:
    for path in sorted(tables.glob("*.csv")):
        frame = pd.read_csv(path)
        assert not re.search(r"(?m)(^|,)(True|False)(,|$)", path.read_text("utf-8"))
        assert frame.columns.is_unique
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", c) for c in frame.columns), path
        assert "Unnamed" not in "".join(frame.columns)


def test_every_markdown_table_has_equal_rows(tables: Path) -> None:
    for name, text in texts(tables, ".md"):
        grid = [line for line in text.splitlines() if line.startswith("|")]
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in grid}
        assert len(counts) == 1, name


def test_every_latex_table_is_balanced_and_escaped(tables: Path) -> None:
    for name, text in texts(tables, ".tex"):
        bare = re.sub(r"\\[{}%&_#$]", "", text)
        assert bare.count("{") == bare.count("}"), name
        assert bare.count(r"\begin{") == bare.count(r"\end{") > 0
        assert not re.search(r"(?m)^[^%\n]*\S[^\n]*(?<!\\)%", bare), name


def test_every_html_table_is_closed_and_escaped(tables: Path) -> None:
    for path in sorted(tables.glob("*.html")):
        text, reader = read_page(path)
        assert "<script" not in text
        assert "table" not in reader.open


def test_equal_studies_give_equal_bytes(rich: WrittenStudy) -> None:
    def all_bytes() -> dict[str, bytes]:
        folder = rich.write_tables()
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert all_bytes() == all_bytes()


def test_a_table_of_another_name_is_refused_and_nothing_written(
    rich: WrittenStudy,
) -> None:
    folder = rich.folder / "tables"
    for name in rich.names("table"):
        wrong = folder / f"x{name}.csv"
        with pytest.raises(SystemExit, match=rf"x{re.escape(name)}\.csv.*{name}"):
            rich.write_table(name, [folder / f"{name}.csv", wrong])
        assert not list(folder.glob("*.csv")), name


def test_a_table_in_an_unknown_form_is_refused(rich: WrittenStudy) -> None:
    with pytest.raises(SystemExit, match=r"overview\.xlsx"):
        rich.write_table("overview", [rich.folder / "tables" / "overview.xlsx"])
