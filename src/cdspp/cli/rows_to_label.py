"""Files of rows to label: written by `compare`, filled in by the user, read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cdspp.analysis.rows_to_label import LABEL, MADE_OF, ROW, TESTED
from cdspp.core.errors import DataError
from cdspp.core.files import atomic
from cdspp.core.labels import is_missing
from cdspp.core.names import PathLike

if TYPE_CHECKING:
    from cdspp.analysis.rows_to_label import SignTest
    from cdspp.datasets.table_rows import DomainRows

ID = "id"


def write_rows(path: PathLike, rows: pd.DataFrame, target: DomainRows) -> None:
    """Write rows to label as CSV, each by its identifier."""
    ids = [target.ids[row] for row in rows[ROW]]
    _write(path, rows.rename(columns={ROW: ID}).assign(**{ID: ids}))


def _write(path: PathLike, table: pd.DataFrame) -> None:
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n", compression=None)


def _read(path: PathLike) -> pd.DataFrame:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise DataError(
            f"{path}: no file of rows to label ({error}). Write one by `cdspp compare "
            "--rows-to-label FILE`."
        ) from error


def read_rows(paths: Sequence[str], target: DomainRows) -> list[pd.DataFrame]:
    """Return files of rows to label, with the places of their rows in the target."""
    places = {name: place for place, name in enumerate(target.ids)}
    columns = (ID, "order", LABEL, TESTED, MADE_OF)
    found = []
    for path in paths:
        table = _read(path)
        if lacking := [name for name in columns if name not in table]:
            raise DataError(
                f"{path}: no column {lacking[0]!r}. Take the file as `cdspp compare "
                "--rows-to-label` wrote it, and fill in labels only."
            )
        if unknown := [name for name in table[ID] if name not in places]:
            raise DataError(f"{path}: {target.path} has no row {unknown[0]!r}.")
        rows = [places[name] for name in table[ID]]
        order = pd.to_numeric(table["order"], errors="coerce")
        found.append(table.rename(columns={ID: ROW}).assign(row=rows, order=order))
    return found


def mark_tested(path: PathLike, test: SignTest) -> None:
    """Mark the rows that a test counted, so that no later label joins the test."""
    table = _read(path)
    order = pd.to_numeric(table["order"])
    _write(path, table.assign(tested=np.where(order <= test.n_rows, "yes", "")))


def join_labels(
    target: DomainRows, source: DomainRows | None, paths: Sequence[str]
) -> DomainRows:
    """Return the target with the labels of rows that were labelled on purpose.

    DataError: a label is no class of either file.
    """
    labels = list(target.labels)
    classes = {*labels, *(source.labels if source else ())}
    for path, rows in zip(paths, read_rows(paths, target), strict=True):
        for place, text in zip(rows[ROW], rows[LABEL], strict=True):
            if is_missing(label := text.strip()):
                continue
            if label not in classes:
                raise DataError(
                    f"{path}: {label!r} is no class of the tables. Write a class as it "
                    "is there."
                )
            labels[place] = label
    return replace(target, labels=tuple(labels))
