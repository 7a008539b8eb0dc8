"""A file of one's own as a data frame with labels, for Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.labels import UNLABELLED
from cdspp.core.names import ERROR
from cdspp.datasets.table_encoder import TableEncoder
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import complete, read_domain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LabelledTable", "read_table"]


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Rows of a file, as `fit` and `SourceDomain` take them.

    Attributes
    ----------
    X : DataFrame of shape (n, d)
        Features as numbers, with names.
    y : ndarray of object of shape (n,)
        Labels as text; -1 where a row has none.
    ids : list of str
        Identifiers; the row numbers from 1 where the file has none.
    notes : str
        One line: rows, labels, and how the columns were read.
    encoder : TableEncoder or None
        How the columns became numbers; None for files of arrays.
    """

    X: pd.DataFrame
    y: NDArray[Any]
    ids: list[str]
    notes: str
    encoder: TableEncoder | None


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    impute: bool = False,
    categories: str = ERROR,
    dates: str = ERROR,
    date_format: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    vectorise: str | None = None,
    encoder: TableEncoder | None = None,
) -> LabelledTable:
    r"""Read a table as the commands do.

    Parameters
    ----------
    path : path
        CSV, TSV, Parquet, XLSX, NPZ or .mat.
    label, id : str, optional
        Columns of labels and identifiers, `label` and `id` by default.
    drop : sequence of str, default=()
        Columns to leave out: names, patterns (``site*``), or kinds (text, dates,
        constant).
    impute : bool, default=False
        Whether missing numbers become the mean of their column.
    categories, dates, date_format, decimal, vectorise
        As in `TableEncoder`.
    encoding : str, optional
        Of a text file; by default UTF-8, else UTF-16 or Windows-1252, which `notes`
        says.
    encoder : TableEncoder, optional
        That of another table, whose columns this one has: rows to predict.

    Returns
    -------
    LabelledTable
        Features, labels, identifiers and notes.

    Raises
    ------
    DataError
        The file is missing, malformed or empty, or a column cannot be read; the message
        names every such column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from cdspp import read_table
    >>> text = "age;site;kind\n41,5;A;cat\n52;B;\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "lab.csv")
    ...     _ = path.write_text(text)
    ...     table = read_table(path, label="kind", categories="one-hot")
    >>> list(table.X.columns), table.y.tolist()
    (['age', 'site=A', 'site=B'], ['cat', -1])
    """
    import pandas as pd

    columns = Columns(
        label=label,
        id=id,
        drop=tuple(drop),
        required=("label", "id"),
        encoding=encoding,
        decimal=decimal,
        categories=categories,
        dates=dates,
        date_format=date_format,
        vectorise=vectorise,
    )
    rows = complete(read_domain(Path(path), columns, encoder), impute=impute)
    y = np.empty(len(rows.labels), dtype=object)
    y[:] = [text or UNLABELLED for text in rows.labels]
    X = pd.DataFrame(rows.X, columns=list(rows.features) or None)
    return LabelledTable(X, y, list(rows.ids), rows.told(str(path)), rows.encoder)
