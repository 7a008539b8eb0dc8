"""What holds for every table and figure of the registry, whatever the study."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from support.page_reader import read_page
from support.written_study import FORMS, WrittenStudy, write_page

SVG = "{http://www.w3.org/2000/svg}"
SIDES = ("width", "height")
NAME = "source-help"  # of the figure in both forms
every_kind = pytest.mark.parametrize("kind", FORMS)


@pytest.fixture(scope="module")
def tables(written: WrittenStudy) -> Path:
    """Return the folder of all tables of each kind of study."""
    return written.make("table")


@pytest.fixture(scope="module")
def timings(written: WrittenStudy) -> Path:
    """Return the folder of all tables of seconds of each kind of study."""
    return written.make("timing")


@pytest.fixture(scope="module")
def figures(written: WrittenStudy) -> Path:
    """Return the folder of all figures of each kind of study, one of all in a PDF."""
    folder = written.make("figure", (".svg",))
    written.make_one("figure", NAME, [folder / f"{NAME}.svg", folder / f"{NAME}.pdf"])
    return folder


def texts(folder: Path, form: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of every table or figure in a form."""
    for path in sorted(folder.glob(f"*{form}")):
        yield path.name, path.read_text(encoding="utf-8")


def test_every_table_and_figure_is_made_in_every_form(
    written: WrittenStudy, tables: Path, figures: Path, timings: Path
) -> None:
    made = {"table": tables, "figure": figures, "timing": timings}
    for kind, folder in made.items():
        forms = (".svg",) if kind == "figure" else FORMS[kind]
        names = {f"{name}{form}" for name in written.names(kind) for form in forms}
        assert {path.name for path in folder.iterdir()} - {f"{NAME}.pdf"} == names


def test_no_number_of_a_table_is_none(tables: Path) -> None:
    for form in FORMS["table"]:
        for name, text in texts(tables, form):
            assert not re.search(r"\b(nan|inf)\b", text), name


def test_every_figure_has_text_but_no_date_and_no_number_is_none(figures: Path) -> None:
    for name, svg in texts(figures, ".svg"):
        assert list(ElementTree.fromstring(svg).iter(f"{SVG}text")), name
        assert "<dc:date>" not in svg, name
        assert not re.search(r"\b(nan|inf)\b", svg), name


def test_a_picture_is_no_wider_than_a_column_of_the_page(figures: Path) -> None:
    for name, svg in texts(figures, ".svg"):  # the page shows 132 pixels an inch
        root = ElementTree.fromstring(svg)
        sizes = [float(root.attrib[side].removesuffix("pt")) for side in SIDES]
        width, height = (size * 132 / 72 for size in sizes)
        assert width <= 1000, name
        assert height <= 2000, name


def test_a_figure_has_one_size_in_every_form(figures: Path) -> None:
    root = ElementTree.fromstring((figures / f"{NAME}.svg").read_bytes())
    size = [float(root.attrib[side].removesuffix("pt")) for side in SIDES]
    pdf = (figures / f"{NAME}.pdf").read_bytes()
    box = re.search(rb"MediaBox \[ ?0 0 (\S+) (\S+?) ?\]", pdf)
    assert [float(side) for side in box.groups()] == pytest.approx(size)


def test_every_csv_has_one_row_a_line_and_columns_of_one_spelling(tables: Path) -> None:
    for path in sorted(tables.glob("*.csv")):
        frame = pd.read_csv(path)
        assert not re.search(r"(?m)(^|,)(True|False)(,|$)", path.read_text("utf-8"))
        assert frame.columns.is_unique
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", c) for c in frame.columns), path


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


@pytest.mark.parametrize("written", ["rich"], indirect=True)
def test_equal_studies_give_equal_bytes(
    tables: Path, figures: Path, timings: Path, rich: WrittenStudy
) -> None:
    again = [rich.make("table"), rich.make("timing"), rich.make("figure", (".svg",))]
    for first, second in zip((tables, timings, figures), again, strict=True):
        for path in second.iterdir():
            assert path.read_bytes() == (first / path.name).read_bytes(), path.name


def test_every_study_has_a_page(
    written: WrittenStudy, tables: Path, timings: Path, tmp_path: Path
) -> None:
    output = tmp_path / "index.html"
    made = [*tables.glob("*.csv"), *timings.glob("*.csv")]
    write_page(written.plans, output, tables=sorted(made))
    text, reader = read_page(output)
    assert not re.search(r"\bnan\b", re.sub(r"data:[^\"]+", "", text))
    assert "Did the source help?" in text
    names = {name for kind in ("table", "timing") for name in written.names(kind)}
    assert names <= set(re.findall(r'download="(\S+)\.csv"', text))
    assert "table-times" in reader.ids


@pytest.mark.parametrize(
    ("kind", "form", "expected"),
    [("table", ".csv", "{name}"), ("figure", ".svg", "{opening}_")],
)
def test_what_has_another_name_is_refused_and_nothing_made(
    brief: WrittenStudy, kind: str, form: str, expected: str
) -> None:
    folder = brief.folder / f"{kind}s"
    # Of figures of all benchmarks, a function may draw one, whatever its name.
    own = {"kinds-of-transfer", "forest"} if kind == "figure" else set()
    for name in {next(iter(group.captions)) for _, group in brief.groups(kind)} - own:
        outputs = [folder / f"{name}{form}", folder / f"x{name}{form}"]
        message = expected.format(name=name, opening=name.partition("_")[0])
        with pytest.raises(SystemExit, match=rf"x{name}\{form}.*{message}"):
            brief.make_one(kind, name, outputs)
        assert not list(folder.glob(f"*{form}")), name


@every_kind
def test_an_unknown_form_is_refused(brief: WrittenStudy, kind: str) -> None:
    for name in (next(iter(group.captions)) for _, group in brief.groups(kind)):
        output = brief.folder / f"{kind}s" / f"{name}.jpg"
        with pytest.raises(SystemExit, match=rf"{name}\.jpg: expected .*suffix"):
            brief.make_one(kind, name, [output])
