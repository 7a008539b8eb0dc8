"""Forms of a table that its content decides: prose columns, sorting, fragments."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from cdspp.report.tables.table import (
    Cell,
    Line,
    Table,
    from_markdown,
    to_csv,
    to_fragment,
    to_html,
    to_latex,
    to_markdown,
)

TABLE = Table(
    name="toy",
    title="Toy",
    caption="Percent & points.",
    columns=("Claim", "Gain"),
    lines=(Line((Cell("A long sentence."), Cell("1.0", value=0.01))),),
)


def test_columns_of_prose_break_their_lines() -> None:
    prose = replace(TABLE, prose=(0,))
    assert r"\begin{tabular}{lr}" in to_latex(TABLE)
    assert r"\begin{tabular}{p{0.22\linewidth}r}" in to_latex(prose)
    assert r"\begin{table*}" in to_latex(prose)
    assert r"\begin{table*}" not in to_latex(TABLE)
    assert 'class="text prose"' in to_html(prose)
    assert "prose" not in to_html(TABLE)


def test_a_table_can_be_sorted_where_cells_have_values_and_lines_names() -> None:
    words = replace(TABLE, lines=(Line((Cell("a"), Cell("b"))),))
    nameless = replace(TABLE, lines=(Line((Cell(""), Cell("1", value=1.0))),))
    assert '<table class="sortable">' in to_html(TABLE)
    assert "<table>" in to_html(words)
    assert "<table>" in to_html(nameless)


def test_a_fragment_has_heading_caption_and_table() -> None:
    text = to_fragment(TABLE)
    assert "<strong>Toy.</strong> Percent &amp; points.</figcaption>" in text
    assert text.count("<table") == 1
    assert "Nothing to show yet" not in text
    nothing = to_fragment(replace(TABLE, lines=()))
    assert "Nothing to show yet" in nothing
    assert "<table" not in nothing


def test_every_text_is_escaped_in_html_latex_and_markdown() -> None:
    cells = (Cell("<i>", note="<u>"), Cell("<s>_t", name=True), Cell("<q>|%"))
    table = replace(TABLE, title="50% <b>|a_b", columns=("a", "b", "c&"))
    table = replace(table, lines=(Line(cells, "<block>"),), headings=True)
    html = to_fragment(table)
    assert not re.search("<[iusqb]>|<block>", html)
    assert html.count("&lt;") == 6
    assert "c&amp;" in html
    assert r"50\% \textless{}b\textgreater{}\textbar{}a\_b" in to_latex(table)
    assert r"\textless{}q\textgreater{}\textbar{}\%" in to_latex(table)
    assert r"\<q\>\|%" in to_markdown(table)


def test_the_page_reads_a_table_from_its_markdown() -> None:
    names = (Cell("SVM_t*", name=True, note="2 [of] 3"), Cell("C|D_sup", name=True))
    cells = (Cell("−1.5 (0.3)", bold=True, value=-1.5), Cell("–"))
    lines = tuple(
        Line((name, cell), f"*{cell.text}")
        for name, cell in zip(names, cells, strict=True)
    )
    table = replace(TABLE, name="", title="Is it 5 %?", lines=lines, headings=True)
    read = from_markdown(to_markdown(table), ["SVM_t", "C|D_sup"])
    assert to_html(read) == to_html(table)
    assert (read.heading, read.legend) == (table.heading, table.legend)
    assert to_markdown(read) == to_markdown(table)


def test_lines_of_markdown_without_a_first_cell_belong_to_the_line_above() -> None:
    firsts = ["one", "", "two", ""]
    lines = tuple(Line((Cell(first), Cell("words"))) for first in firsts)
    read = from_markdown(to_markdown(replace(TABLE, lines=lines)))
    assert [line.block for line in read.lines] == ["0", "0", "2", "2"]
    assert to_html(read).count("<tbody>") == 2


def test_a_table_without_lines_says_so_in_markdown_and_on_the_page() -> None:
    nothing = replace(TABLE, lines=(), empty="No cell [yet].")
    text = to_markdown(nothing)
    assert text.endswith("| --- | ---: |\n\nNo cell \\[yet\\].\n")
    assert '<p class="empty">No cell [yet].</p>' in to_fragment(from_markdown(text))


def test_a_csv_file_writes_true_and_false_as_other_programs_read_them() -> None:
    data = pd.DataFrame({"row": ["a", "b"], "collapsed": [True, False]})
    assert to_csv(replace(TABLE, data=data)) == "row,collapsed\na,true\nb,false\n"


def test_a_subscript_keeps_the_blank_behind_it() -> None:
    named = replace(TABLE, lines=(Line((Cell("CDLS_sup (late)", name=True),)),))
    assert r"CDLS\textsubscript{sup} (late)" in to_latex(named)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="TeX is not installed")
def test_a_wide_table_fits_a_column(tmp_path: Path) -> None:
    cells = (Cell("print → sketch"), *[Cell("+11.0", note="7.5 to 14.5")] * 10)
    columns = tuple(f"Over {k} permuted labels" for k in range(11))
    wide = replace(TABLE, columns=columns, lines=(Line(cells),) * 5)
    packages = r"\usepackage{booktabs,adjustbox}"
    body = rf"\begin{{document}}{to_latex(wide)}{to_latex(TABLE)}\end{{document}}"
    document = rf"\documentclass[twocolumn]{{article}}{packages}{body}"
    (tmp_path / "paper.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert "Overfull" not in (tmp_path / "paper.log").read_text(errors="replace")
