"""A table as data, its CSV, Markdown and LaTeX formats, and its HTML on a page."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.analysis.transfer import Transfer
from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.core.outputs import atomic
from cdspp.core.wording import DASH, escape_invisible, in_points, split_name

if TYPE_CHECKING:
    import pandas as pd


_LATEX = str.maketrans(
    {
        **{letter: rf"\{letter}" for letter in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "`": r"\textasciigrave{}",
        "→": r"$\rightarrow$",
        "−": "$-$",
        "–": "--",
        "†": r"$^\dagger$",
        "×": r"$\times$",
    }
)
# The sentence of a caption on bold cells.
_ON_BOLD = re.compile(r"Bold: .*?\.(?: |$)")
# Characters that open markup in Markdown, HTML or mathematics within a line, or at the
# start of a paragraph, a list or a heading.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~$&#])")
_OPENING = re.compile(r"^(\d*)([-+.)])(?=\s)")
_ESCAPED = re.compile(r"\\(.)")
_CELL = re.compile(
    r"(?P<bold>\*\*)?(?P<text>.*?)(?(bold)\*\*)(?: \[(?P<note>.*)(?<!\\)\])?"
)
_NEXT_SENTENCE = re.compile(r"(?<=[.?!]) ")
_NUMBER = re.compile(r"[+−]?\d+(\.\d+)?")
PROSE_LETTERS = 40  # a column with a longer text holds sentences


def _no_data() -> pd.DataFrame:
    import pandas as pd  # not at the top: planning needs this module, but no data

    return pd.DataFrame()


@dataclass(frozen=True)
class Cell:
    """One cell, with small print in `note`; the page sorts lines by `value`.

    The first underscore of a method's `name` starts a subscript.
    """

    text: str
    bold: bool = False
    note: str = ""
    name: bool = False
    value: float = math.nan


@dataclass(frozen=True)
class Line:
    """One line; consecutive lines of the same `block` form a group."""

    cells: tuple[Cell, ...]
    block: str = ""


@dataclass(frozen=True)
class Table:
    """A table as shown, and the tidy data behind it, which are the CSV format.

    The first `text_columns` are aligned left; `prose` lists the columns that hold
    sentences. `headings` shows the names of blocks, and the page shows `empty` instead
    of a table without lines.
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    data: pd.DataFrame = field(default_factory=_no_data, compare=False)
    text_columns: int = 1
    headings: bool = False
    prose: tuple[int, ...] = ()
    empty: str = "Nothing to show yet."

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        caption: str,
        columns: Mapping[str, Callable[[Any], Cell]],
        entries: Iterable[Any],
        *,
        block: Callable[[Any], str] = lambda entry: "",
        **look: Any,
    ) -> Table:
        """Make one line per entry; `columns` map headings to makers of cells."""
        lines = (
            Line(tuple(cell(entry) for cell in columns.values()), block(entry))
            for entry in entries
        )
        return cls(name, title, caption, tuple(columns), tuple(lines), **look)

    @property
    def heading(self) -> str:
        """The title, as a sentence."""
        return self.title if self.title.endswith(("?", "!", ".")) else f"{self.title}."

    @property
    def legend(self) -> str:
        """The caption, and the meaning of the marks that end names of methods.

        The sentence on bold cells is left out if no cell is bold.
        """
        cells = [cell for line in self.lines for cell in line.cells]
        marks = marks_legend(cell.text for cell in cells if cell.name)
        bold = any(cell.bold for cell in cells)
        text = self.caption if bold else _ON_BOLD.sub("", self.caption)
        return f"{text.strip()} {marks}".strip()


@cache
def _captions(name: str) -> dict[str, str]:
    file = Path(__file__).parents[1] / "captions" / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def caption(file: str, name: str, **fields: Any) -> str:
    """Return a caption of a file of ``report/captions``, with its fields.

    Further fields are the words of verdicts (`Transfer.words`).
    """
    texts = " ".join(_captions(file)[name].split())
    return texts.format(**Transfer.words(), **fields)


def marks_legend(names: Iterable[str]) -> str:
    """Return the meanings of the marks that end some names, as a sentence."""
    meanings = _captions("marks")
    signs = "".join(meanings)
    used = {sign for name in names for sign in name[len(name.rstrip(signs)) :]}
    texts = [f"{sign} {text}" for sign, text in meanings.items() if sign in used]
    return f"{'; '.join(texts)}." if texts else ""


def number_cell(value: float, form: str = "{}") -> Cell:
    """Return a number in a format; a dash if unknown."""
    return Cell(DASH if math.isnan(value) else form.format(value), value=value)


def fraction_cell(
    value: float, note: str = "", *, bold: bool = False, sign: bool = False
) -> Cell:
    """Return a fraction in points; a dash if unknown."""
    if math.isnan(value):
        return Cell(DASH)
    return Cell(in_points(value, sign=sign), bold=bold, note=note, value=value)


def effect_cell(effect: float, low: float, high: float, *, bold: bool = False) -> Cell:
    """Return a difference in points, its interval as a note; a dash if unknown."""
    note = "" if math.isnan(low) else f"{in_points(low)} to {in_points(high)}"
    return fraction_cell(effect, note, bold=bold, sign=True)


def to_csv(table: Table) -> str:
    """Return the tidy data as CSV: fractions at full precision, empty if missing."""
    data = table.data.copy()
    for name in data.select_dtypes("bool"):
        data[name] = data[name].map({True: "true", False: "false"})
    return str(data.to_csv(index=False, lineterminator="\n"))


def to_markdown(table: Table) -> str:
    """Return a Markdown table under its title and caption, with bold headings.

    A text below replaces the lines of a table that has none.
    """
    cell = partial(_form, escaped=_markdown_escape, bold="**{}**", note=" [{}]")
    head = [_markdown_escape(column) for column in table.columns]
    rule = ["---"] * table.text_columns
    rule += ["---:"] * (len(head) - table.text_columns)
    body: list[list[str]] = []
    for heading, lines in _blocks(table):
        if heading:
            body.append([f"**{_markdown_escape(heading)}**", *[""] * (len(head) - 1)])
        body += [[cell(value) for value in line.cells] for line in lines]
    grid = ["| " + " | ".join(parts) + " |" for parts in (head, rule, *body)]
    legend = _markdown_escape(f"{table.heading} {table.legend}")
    below = [] if table.lines else [_markdown_escape(table.empty), ""]
    return "\n".join([legend, "", *grid, "", *below])


def _markdown_escape(text: str) -> str:
    return _OPENING.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", escape_invisible(text)))


def from_markdown(text: str, names: Collection[str] = ()) -> Table:
    """Read `to_markdown` for the page; `names` are those of methods.

    A cell of a column of numbers has the value that it shows.
    """
    legend, rest = text.split("\n\n", 1)
    grid, _, empty = rest.partition("\n\n")
    lines_of_grid = grid.strip().split("\n")
    head, rule, *rows = (line[2:-2].split(" | ") for line in lines_of_grid)
    n_texts = rule.count("---")
    lines = tuple(_read_lines(rows, n_texts, frozenset(names)))
    places = range(len(head) if lines else 0)
    longest = [max(len(line.cells[i].text) for line in lines) for i in places]
    title, *about = _NEXT_SENTENCE.split(_unescape(legend), maxsplit=1)
    named = (cell.text for line in lines for cell in line.cells if cell.name)
    return Table(
        name="",
        title=title,
        caption="".join(about).removesuffix(marks_legend(named)).strip(),
        columns=tuple(map(_unescape, head)),
        lines=lines,
        text_columns=n_texts,
        headings=any(map(_is_heading, rows)),
        prose=tuple(i for i, letters in enumerate(longest) if letters > PROSE_LETTERS),
        empty=_unescape(empty.strip()),
    )


def _read_lines(
    rows: Sequence[Sequence[str]], n_texts: int, names: Collection[str]
) -> Iterator[Line]:
    block, headings = "", any(map(_is_heading, rows))
    # Below the first line of a group, the first cell may be empty.
    grouped = not headings and not all(first for first, *_ in rows)
    for number, row in enumerate(rows):
        if _is_heading(row):
            block = _read_cell(row[0], names).text
            continue
        if grouped and row[0]:
            block = str(number)
        cells = [_read_cell(text, names) for text in row]
        yield Line((*cells[:n_texts], *map(_with_value, cells[n_texts:])), block)


def _is_heading(row: Sequence[str]) -> bool:
    return row[0].startswith("**") and len(row) > 1 and not any(row[1:])


def _read_cell(text: str, names: Collection[str]) -> Cell:
    match = _CELL.fullmatch(text)
    assert match is not None  # every text matches
    shown, note = _unescape(match["text"]), _unescape(match["note"] or "")
    is_name = shown.rstrip("".join(_captions("marks"))) in names
    return Cell(shown, bold=bool(match["bold"]), note=note, name=is_name)


def _with_value(cell: Cell) -> Cell:
    number = _NUMBER.match(cell.text)
    value = float(number[0].replace("−", "-")) if number else math.nan
    return replace(cell, value=value)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def to_latex(table: Table) -> str:
    """Return a ``booktabs`` table with thin rules between blocks, italic headings."""
    bold, note = r"\textbf{{{}}}", r" {{\scriptsize {}}}"
    forms = (_latex_escape, bold, note, r"\textsubscript{{{}}}")
    blocks = []
    for heading, members in _blocks(table):
        cells = [[_form(cell, *forms) for cell in line.cells] for line in members]
        rows = list(map(_latex_row, cells))
        if heading:
            span = rf"\multicolumn{{{len(table.columns)}}}{{l}}"
            rows.insert(0, rf"{span}{{\emph{{{_latex_escape(heading)}}}}} \\")
        blocks.append("\n".join(rows))
    align = ["l" if i < table.text_columns else "r" for i in range(len(table.columns))]
    for column in table.prose:
        align[column] = r"p{0.22\linewidth}"
    place = "table*" if table.prose else "table"  # prose needs the width of the page
    lines = [
        r"% needs \usepackage{booktabs,adjustbox}",
        rf"\begin{{{place}}}",
        r"\centering",
        rf"\caption{{{_latex_escape(f'{table.heading} {table.legend}')}}}",
        rf"\label{{tab:{table.name.replace('_', '-')}}}",
        r"\begin{adjustbox}{max width=\linewidth}",
        rf"\begin{{tabular}}{{{''.join(align)}}}",
        r"\toprule",
        _latex_row(map(_latex_escape, table.columns)),
        r"\midrule",
        "\n\\midrule\n".join(blocks),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
        rf"\end{{{place}}}",
    ]
    return "\n".join([*lines, ""])


def _latex_escape(text: str) -> str:
    return escape_invisible(text).translate(_LATEX)


def _method_name(name: str, escaped: Callable[[str], str], form: str) -> str:
    base, subscript, rest = split_name(name)
    low = form.format(escaped(subscript)) if subscript else ""
    space = " " if rest.startswith(" ") else ""
    return escaped(base) + low + space + escaped(rest)


def _form(
    cell: Cell, escaped: Callable[[str], str], bold: str, note: str, subscript: str = ""
) -> str:
    """Return a cell in a format, its name with a subscript if the format has them."""
    name = subscript if cell.name else ""
    text = _method_name(cell.text, escaped, name) if name else escaped(cell.text)
    text = bold.format(text) if cell.bold else text
    return text + note.format(escaped(cell.note)) if cell.note else text


def _latex_row(cells: Iterable[str]) -> str:
    r"""Return a line; it must not look like an option of a preceding rule or ``\\``."""
    row = " & ".join(cells)
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def to_html(table: Table) -> str:
    """Return an HTML table with one ``tbody`` per block, and values to sort by."""
    kinds = [' class="text"'] * table.text_columns
    kinds += [""] * (len(table.columns) - table.text_columns)
    for place in table.prose:
        kinds[place] = ' class="text prose"'
    pairs = zip(kinds, table.columns, strict=True)
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in pairs)
    parts = [f"<thead><tr>{head}</tr></thead>"]
    if 0 not in table.prose:
        kinds[0] = ""  # headings of lines are text
    for heading, lines in _blocks(table):
        parts.append("<tbody>")
        if heading:
            span = f'<th scope="rowgroup" colspan="{len(table.columns)}">'
            parts.append(f'<tr class="block">{span}{escape(heading)}</th></tr>')
        parts += [_html_line(line, kinds) for line in lines]
        parts.append("</tbody>")
    cells = (cell for line in table.lines for cell in line.cells)
    valued = any(not math.isnan(cell.value) for cell in cells)
    # Sorting separates lines, so that every line needs its own name.
    named = all(line.cells[0].text for line in table.lines)
    sortable = ' class="sortable"' if valued and named else ""
    return f"<table{sortable}>" + "\n".join(parts) + "</table>"


def html_name(name: str) -> str:
    """Return a method's name as HTML, with a subscript after its first underscore."""
    return _method_name(name, escape, "<sub>{}</sub>")


def _html_line(line: Line, kinds: Sequence[str]) -> str:
    parts: list[str] = []
    note = ' <small class="note">{}</small>'
    for kind, cell in zip(kinds, line.cells, strict=True):
        text = _form(cell, escape, "<strong>{}</strong>", note, "<sub>{}</sub>")
        value = "" if math.isnan(cell.value) else f' data-value="{cell.value:.6f}"'
        tag = "td" if parts or not cell.text else "th"
        opening = f"td{kind}{value}" if tag == "td" else f'th scope="row"{kind}'
        parts.append(f"<{opening}>{text}</{tag}>")
    return f"<tr>{''.join(parts)}</tr>"


def to_fragment(table: Table) -> str:
    """Return a table for the report: heading, caption, HTML table."""
    body = f'<p class="empty">{escape(table.empty)}</p>' if table.empty else ""
    if table.lines:
        body = f'<div class="scroll" tabindex="0">{to_html(table)}</div>'
    head = f"<strong>{escape(table.heading)}</strong> {escape(table.legend)}"
    return f"<figcaption>{head}</figcaption>\n{body}\n"


def _blocks(table: Table) -> Iterator[tuple[str, list[Line]]]:
    for block, lines in itertools.groupby(table.lines, key=lambda line: line.block):
        yield block if table.headings else "", list(lines)


_FORMS: Mapping[str, Callable[[Table], str]] = {
    ".csv": to_csv,
    ".md": to_markdown,
    ".tex": to_latex,
}


def write_tables(tables: Sequence[Table], outputs: Sequence[PathLike]) -> None:
    """Write tables to files: the stem is a table's name, the suffix its format."""
    by_name, files = {table.name: table for table in tables}, list(map(Path, outputs))
    for output in files:
        if output.stem not in by_name or output.suffix not in _FORMS:
            raise DataError(
                f"{output}: expected the name of a table ({', '.join(by_name)}) and "
                f"one of the suffixes {', '.join(_FORMS)}. Take the names from "
                "cdspp.report.registry."
            )
    for output in files:
        text = _FORMS[output.suffix](by_name[output.stem])
        with atomic(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
