"""What is believed of a file of the user, as data: format, columns, labels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.labels import read_label_column
from cdspp.core.names import PathLike
from cdspp.datasets import table_cells as kinds
from cdspp.datasets.table_files import SEPARATOR, Columns, read_file
from cdspp.datasets.table_model import MISSING, Fact

if TYPE_CHECKING:
    import pandas as pd

    from cdspp.datasets.table_encoder import EncodedColumn


def beliefs(path: PathLike, columns: Columns | None = None) -> dict[str, Any]:
    """Return what is believed of a file, suitable for JSON.

    `columns` has name, kind, sign or format, fault, least and greatest number, and the
    missing cells by cause of each feature; `labels` the rows of each class. DataError:
    the file cannot be read.
    """
    from cdspp.datasets.table_encoder import TableEncoder

    columns = columns or Columns()
    try:
        table = read_file(Path(path), columns)
        labels = read_label_column(table.cells.get(table.label, ()))
        names = [name for name in table.cells if name not in (table.label, table.id)]
        encoder = TableEncoder(decimal=columns.decimal, date_format=columns.date_format)
        faults = encoder.learn(table.cells[names])
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    reasons = {column.name: reason for column, reason in faults}
    return {
        "path": str(path),
        "format": table.format,
        "encoding": table.encoding,
        "runner_up": table.runner_up,
        "separator": table.cells.attrs.get(SEPARATOR, ""),
        "rows": len(table.cells),
        "label": table.label if table.label in table.cells else "",
        "id": table.id if table.id in table.cells else "",
        "facts": [fact._asdict() for fact in table.facts],
        "labels": dict(Counter(filter(None, labels.labels)).most_common()),
        "unlabelled": labels.labels.count(""),
        "read_as_unlabelled": labels.unlabelled,
        "undecided": labels.undecided,
        "columns": [
            _column(column, table.cells[column.name], table.facts)
            | {"fault": reasons.get(column.name, "")}
            for column in encoder.columns_
        ],
    }


def _column(
    column: EncodedColumn, cells: pd.Series, facts: tuple[Fact, ...]
) -> dict[str, Any]:
    """Return kind, format, range and missing cells of a column."""
    causes = Counter(str(cell).strip() for cell in cells if kinds.is_null(cell))
    for fact in facts:
        if fact.explains == MISSING and column.name in fact.columns:
            causes[fact.text] = fact.n
    low: float | None = None
    high: float | None = None
    if column.kind == kinds.NUMBER and column.sign in (".", ","):
        numbers = column.encode(cells)
        finite = numbers[np.isfinite(numbers)]
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
    return {
        "name": column.name,
        "kind": column.kind,
        "sign": column.sign,
        "values": len(column.values),
        "low": low,
        "high": high,
        "missing": dict(causes),
    }
