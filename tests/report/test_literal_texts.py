"""Odd names that a user chose stand in figures, tables and page as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.page_reader import read_page, texts
from support.report_data import make_plan
from support.score_data import curve_entry
from support.written_study import WrittenStudy

from cdspp.core.wording import escape_invisible
from cdspp.methods import method_class
from cdspp.report.figures.style import canvas, figure_name, plain_text
from cdspp.report.page.page import write_report
from cdspp.report.tables.table import (
    Cell,
    Line,
    Table,
    from_markdown,
    to_latex,
    to_markdown,
)
from cdspp.study.model import RunDescription

# As they come, and as a figure shows them.
ODD = {
    r"$\frac{$": r"$\frac{$",
    "a_b$": "a_b$",
    "$x$": "$x$",
    r"\$": r"\$",
    "50 %": "50 %",
    "_hidden": "_hidden",
    "<b>&amp;": "<b>&amp;",
    "two\nlines": r"two\nlines",
    "bell\a": r"bell\x07",
    "`*|~": "`*|~",
    "größer": "größer",
    "日本": "日本",
    "x" * 300: "x" * 16 + "…" + "x" * 15,
}
TITLE = "$\\frac{$ 50 % of_it\n<i>|`*"
SHOWN = r"$\frac{$ 50 % of_it\n<i>|`*"
TASKS = (r"$\frac{$_50%", "a$b_日本")
MANY = tuple(f"{name}{i}" for name in TASKS for i in range(6))  # gains alone


def written(folder: Path, tasks: tuple[str, ...] = TASKS) -> WrittenStudy:
    """Write a study whose benchmark and domains have odd names."""
    curves = [
        curve_entry("labels", values=[1, 3]),
        curve_entry("alpha", parameter="alpha", methods=["cdspp"], values=[1, 2]),
    ]
    few = {"methods": ("svm-t", "cdspp")}
    plan = make_plan(title=TITLE, tasks=tasks, trials=3, curves=curves, **few)
    return WrittenStudy(folder / "results" / "embedded", [plan], {})


def shown(path: Path) -> list[str]:
    """Return the texts of a figure, each in one piece."""
    ElementTree.parse(path)
    return [unescape(text) for text in texts(path.read_text(encoding="utf-8"))]


def drawn(folder: Path, texts: Iterable[str]) -> list[str]:
    """Draw texts, and return those of the figure."""
    outputs = [folder / "f.svg", folder / "f.png"]
    with canvas(4, 2, outputs) as figure:
        for text in texts:
            figure.text(0, 0, text)
    return shown(outputs[0])


def test_a_text_is_drawn_letter_by_letter(tmp_path: Path) -> None:
    found = drawn(tmp_path, (plain_text(name, 32) for name in ODD))
    assert {*ODD.values()} <= {*found}


@pytest.mark.parametrize("name", [*ODD, "SVM_t$", "日_本", "_", "_t", "a_b_c$\\frac{"])
def test_any_name_of_a_method_is_drawn(name: str, tmp_path: Path) -> None:
    letters = set(name) - set("\n\a_ ")
    assert letters <= set("".join(drawn(tmp_path, [figure_name(name)])))


def test_a_subscript_without_letters_is_no_subscript() -> None:
    assert figure_name("SVM_t") == r"SVM$_\mathrm{t}$"
    assert figure_name("SVM_") == "SVM_"
    assert figure_name("SVM__t") == "SVM__t"


def test_a_figure_of_many_tasks_holds_odd_names(tmp_path: Path) -> None:
    names = ("source-help", "source-states")
    outputs = [tmp_path / "figures" / f"{name}.svg" for name in names]
    written(tmp_path, MANY).make_one("figure", "source-help", outputs)
    assert MANY[0].replace("_", " → ", 1) in shown(outputs[0])


def test_every_figure_and_the_page_hold_odd_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method_class("cdspp"), "display_name", r"C$\frac{$_t")
    study = written(tmp_path)
    figures, tables = study.make("figure", (".svg",)), study.make("table")
    for name in ("source-help", "source-states"):
        assert SHOWN in shown(figures / f"{name}.svg")
    task = TASKS[0].replace("_", " → ", 1)
    for name in ("methods", "iterations", "labels"):
        found = shown(figures / f"{name}_{study.plans[0].benchmark}.svg")
        assert task in found
        assert any(r"\frac{$" in text for text in found if text != task)
    page = tmp_path / "index.html"
    write_report(
        plans=study.plans,
        tables=sorted(tables.glob("*.csv")),
        figures=sorted(figures.glob("*")),
        records=study.records,
        study=RunDescription("embedded", {"seed": 7, "trials": 3}),
        output=page,
    )
    text, _ = read_page(page)
    assert "<i>|" not in text
    assert TITLE in unescape(text)


def table_of(text: str) -> Table:
    cells = (Cell(text, note=text), Cell(text, bold=True, name=True))
    return Table("toy", text, text, (text, "b"), (Line(cells),))


@pytest.mark.parametrize("name", ODD)
def test_the_page_reads_any_text_of_markdown(name: str) -> None:
    table = table_of(name)
    text, (first, second) = escape_invisible(name), table.lines[0].cells
    read = from_markdown(to_markdown(table), [text])
    assert read.columns == (text, "b")
    shown = replace(first, text=text, note=text), replace(second, text=text)
    assert [replace(cell, name=False, value=0) for cell in read.lines[0].cells] == [
        replace(cell, name=False, value=0) for cell in shown
    ]


@pytest.mark.parametrize("name", ODD)
def test_markdown_shows_any_text_as_it_is(name: str) -> None:
    parser: Any = pytest.importorskip("markdown_it").MarkdownIt("gfm-like")
    parser.disable("linkify")
    html = parser.render(to_markdown(table_of(name)))
    text = ODD[name] if len(name) < 300 else name
    assert html.count("<td") == 2
    assert f"<p>{text}. {text}</p>" in unescape(html)
    assert f"<td>{text} [{text}]</td>" in unescape(html)
    assert f"<strong>{text}</strong>" in unescape(html)


@pytest.mark.parametrize("text", ["# a", "- a", "1. a", "> a", "| a", "*a*"])
def test_no_title_opens_a_list_or_heading_in_markdown(text: str) -> None:
    first = to_markdown(table_of(text)).splitlines()[0]
    assert first.startswith("\\") or first.startswith("1\\.")


@pytest.mark.parametrize("letter", "%&#_{}~^\\$<>|`")
def test_latex_prints_every_letter_that_means_something(letter: str) -> None:
    row = next(x for x in to_latex(table_of(letter)).splitlines() if "textbf" in x)
    assert row.count(" & ") == 1
    assert row.startswith("\\")
    assert not row.startswith(("\\\\", f"{letter} "))


@pytest.mark.parametrize("text", ["[2pt] a", "* a"])
def test_no_cell_is_an_option_of_the_line_before_in_latex(text: str) -> None:
    rows = to_latex(table_of(text)).splitlines()
    assert any(row.startswith("{}" + text[0]) for row in rows)
    assert not any(row.startswith(text[0]) for row in rows)
