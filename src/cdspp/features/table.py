"""The columns of a table of one's own, as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.whole_files import BROKEN
from cdspp.datasets.base import ROWS_NAME
from cdspp.features.base import Extractor

__all__ = ["TableColumns"]


@dataclass(frozen=True)
class TableColumns(Extractor):
    """Numbers of a table; their scale is that of the view (`scale`)."""

    identifier: ClassVar[str] = "table"
    kind: ClassVar[str] = "tables"
    names_columns: ClassVar[bool] = True

    def read(
        self, folder: str | Path, domain: str, positions: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a domain, (n, width) float64, and the columns' names.

        The rows have these positions, counted from 0, in the table of the data set in
        the folder; DataError says that its file is missing or damaged.
        """
        path = Path(folder) / domain / ROWS_NAME
        try:
            with np.load(path, allow_pickle=False) as archive:
                return archive["X"][list(positions)], archive["features"]
        except BROKEN as error:
            message = f"{path}: not the rows of the table ({error})"
            raise DataError(f"{message}. Delete it and run again.") from error
