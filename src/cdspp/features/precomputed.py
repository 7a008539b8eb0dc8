"""Features that need no computation: published matrices, and columns of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.files import BROKEN
from cdspp.core.provenance import file_digest
from cdspp.datasets.base import ROWS_NAME
from cdspp.datasets.readers import read_matrix
from cdspp.features.base import Extractor

MISMATCH = (
    "this copy is ordered or labelled differently, its results cannot be paired with "
    "the published trials. Fetch it from another source of the catalogue."
)


@dataclass(frozen=True)
class Published(Extractor):
    """Features that were published ready-made; nothing is computed.

    Parameters
    ----------
    name : str
        Name of the published view in the catalogue.
    """

    identifier: ClassVar[str] = "published"
    kind: ClassVar[str] = "features"
    modules: ClassVar[tuple[str, ...]] = ("numpy", "scipy.io")

    name: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        if not isinstance(self.name, str) or not self.name:
            raise self.refuse("name", "the name of a published view")

    def read(
        self,
        folder: str | Path,
        storage: Mapping[str, Any],
        classes: Sequence[str],
        labels: Sequence[str],
        positions: Sequence[int],
    ) -> tuple[Any, dict[str, Any]]:
        """Return the rows of the samples, (n, width) float32, and a record of the file.

        Sample i is of the class ``labels[i]`` and in the row ``positions[i]``, counted
        from 0; the samples are all rows, unless the storage gives another number.
        """
        path = Path(folder) / storage["file"]
        X, found = read_matrix(path, storage, classes)
        rows = np.asarray(positions, dtype=np.intp)
        expected = storage.get("rows", rows.max() + 1)
        if len(found) != expected:
            message = f"{path}: {len(found)} rows for {expected} samples"
            raise DataError(f"{message}; {MISMATCH}")
        order = np.argsort(rows)
        there, known = found[rows[order]], np.array(labels, object)[order]
        if len(wrong := np.flatnonzero(there != known)):
            first = wrong[0]
            raise DataError(
                f"{path}: {len(wrong)} of {len(rows)} labels differ, the first in row "
                f"{rows[order][first] + 1}: {there[first]}, expected {known[first]}. "
                f"Found {_runs(there)}; expected {_runs(known)}: {MISMATCH}"
            )
        return X[rows], {"storage": dict(storage), "sha256": file_digest(path)}


@dataclass(frozen=True)
class TableColumns(Extractor):
    """Numbers of a table; their scale is that of the view (`scale`)."""

    identifier: ClassVar[str] = "table"
    kind: ClassVar[str] = "tables"
    names_columns: ClassVar[bool] = True

    def read(
        self, folder: str | Path, domain: str, positions: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a domain, (n, width) float64, and the columns' names."""
        path = Path(folder) / domain / ROWS_NAME
        try:
            with np.load(path, allow_pickle=False) as archive:
                return archive["X"][list(positions)], archive["features"]
        except BROKEN as error:
            message = f"{path}: not the rows of the table ({error})"
            raise DataError(f"{message}. Delete it and run again.") from error


def _runs(labels: np.ndarray) -> str:
    runs = [f"{len(list(run))} x {label}" for label, run in groupby(labels)]
    more = f", and {len(runs) - 8} more runs" if len(runs) > 8 else ""
    return ", ".join(runs[:8]) + more
