"""Faults that keep a table from being read as a domain, besides its features."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from cdspp.core.wording import shortened
from cdspp.datasets import table_cells as kinds
from cdspp.datasets.table_files import Columns, no_column
from cdspp.datasets.table_model import Table

# Names that a column of labels often has.
LABEL_WORDS = {
    "class",
    "classes",
    "kind",
    "labels",
    "target",
    "y",
    "category",
    "species",
}
# Labels of a last row that holds totals.
TOTALS = {"total", "totals", "sum", "mean", "average", "gesamt", "summe", "mittelwert"}
TOTALS |= {"somme", "moyenne", "suma", "media", "soma", "合計", "合计", "总计"}


def double_names(table: Table) -> Iterator[str]:
    """Yield a fault for each name that two columns have."""
    for name, count in Counter(table.cells).items():
        if count > 1:
            yield f"the header has the column {name!r} twice. Rename one."


def name_faults(table: Table, columns: Columns) -> Iterator[str]:
    """Yield a fault for each required column that is missing."""
    for option in columns.required:
        name, names = (
            getattr(columns, option),
            [n for n in table.cells if n != table.id],
        )
        if name and (name not in table.cells or (option == "id" and table.is_index)):
            yield no_column(option, name, names)
        if name or option != "label" or table.label in table.cells:
            continue
        if table.of_arrays:
            yield "no labels: expected an array y, label or labels."
            continue
        likely = likely_labels(table)
        hint = f" {shlex.quote(likely[0])}" if likely else ""
        listed = shortened([*map(repr, names)], 5)
        fault = f"no column 'label' for the labels; the columns are {listed}"
        yield f"{fault}. Name it with --label{hint}."


def likely_labels(table: Table) -> list[str]:
    """Return the columns that may hold labels, the likeliest first."""
    cells = table.cells
    names = [name for name in cells if name != table.id]
    likely = [name for name in names if name.casefold() in LABEL_WORDS]
    of_text = (n for n in names if kinds.column_kind(cells[n]) == kinds.TEXT)
    return likely + [n for n in of_text if 2 * cells[n].nunique() <= len(cells)]


def cell_faults(table: Table, features: Sequence[str]) -> Iterator[str]:
    """Yield faults of columns of labels and ids, and of a last row of totals or notes.

    A feature that differs only in capitals from one of these columns is a fault, too.
    """
    rows, special = table.cells, {"label": table.label, "id": table.id}
    for name in special.values():
        first = next((cell for cell in rows.get(name, ()) if cell is not None), None)
        if isinstance(first, kinds.CONTAINERS):
            fault = f"column {name!r} holds lists or dictionaries"
            yield f"{fault}, expected one label or identifier per cell."
    for name, (option, current) in product(features, special.items()):
        if name.lower() in (current.lower(), option):
            quoted = shlex.quote(name)
            yield (
                f"the header has a column {name!r}, but the {option} column is "
                f"{current!r}. Name it with --{option} {quoted}, leave it out with "
                f"--drop {quoted}, or rename it if it is a feature."
            )
    filled = [cell for cell in rows.tail(1).squeeze(axis=0) if not kinds.is_null(cell)]
    if len(filled) == 1 < rows.shape[1] - 1 and " " in str(filled[0]).strip():
        fault = f"the last row has only the cell {filled[0]!r}, as a note would"
        yield f"{fault}. Remove the row."
    labels: list[Any] = rows[table.label].tolist() if table.label in rows else []
    text = str(labels[-1]).strip() if labels else ""
    if text.casefold() in TOTALS and len(labels) > labels.count(labels[-1]) == 1:
        fault = f"only the last row has the label {text!r}, as a row of totals would"
        yield f"{fault}. Remove the row, or rename its class."


def with_arguments(message: str) -> str:
    """Return a message on tables with arguments of Python instead of options."""
    message = message.replace("--impute", "impute=True").replace("-format", "_format")
    message = re.sub(r"--drop ('[^']*'|[^\s,.;]+)", r"drop=[\1]", message)
    return re.sub(r"--(\w+)( (?=one-hot|frequency|number|%))?", r"\1=", message)
