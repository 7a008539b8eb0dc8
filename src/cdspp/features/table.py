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
    """Numbers of a table; their scale is that of the view (`scale`).

    Examples
    --------
    >>> from cdspp.features.table import TableColumns
    >>> TableColumns().recorded_options()
    {}
    """

    identifier: ClassVar[str] = "table"
    kind: ClassVar[str] = "tables"
    modules: ClassVar[tuple[str, ...]] = ("numpy",)
    names_columns: ClassVar[bool] = True

    def read(
        self, folder: str | Path, domain: str, positions: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a domain, (n, width) float64, and the columns' names.

        Parameters
        ----------
        folder : path
            Folder of the data set.
        domain : str
            Its domain.
        positions : sequence of int, length n
            Rows in the order of the index, counted from 0.

        Raises
        ------
        DataError
            The file of the rows is missing or damaged.
        """
        path = Path(folder) / domain / ROWS_NAME
        try:
            with np.load(path, allow_pickle=False) as archive:
                return archive["X"][list(positions)], archive["features"]
        except BROKEN as error:
            message = f"{path}: not the rows of the table ({error})"
            raise DataError(f"{message}. Delete it and run again.") from error
