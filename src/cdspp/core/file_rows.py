"""Rows of a matrix that stay in a file and are read in chunks."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.linalg import Float, Int, require_finite
from cdspp.core.names import PathLike

if TYPE_CHECKING:
    import pyarrow.parquet as pq

# Values of a chunk: 4 MiB as float64, which stays in the processor's cache through all
# steps and makes products as fast as larger chunks would.
CHUNK_VALUES = 2**19


class FileRows:
    """All rows of a file, or some in ascending order, with steps applied to each chunk.

    Steps run in their order and leave `width` columns, by default those of the file.
    """

    def __init__(
        self,
        store: _Map | ParquetRows,
        rows: Int | None = None,
        steps: tuple[Callable[[Float], Float], ...] = (),
        width: int | None = None,
    ) -> None:
        self._store, self._rows, self._steps = store, rows, steps
        n, d = store.shape
        self.shape = (n if rows is None else len(rows), width or d)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, which: NDArray[np.bool_] | Int) -> Self:
        """Return the rows of a mask, or of ascending positions, as yet unread."""
        chosen: Any = np.flatnonzero(which) if which.dtype == bool else which
        rows = chosen if self._rows is None else self._rows[chosen]
        return type(self)(self._store, rows, self._steps, self.shape[1])

    def map(self, function: Callable[[Float], Float], width: int | None = None) -> Self:
        """Return the same rows with one more step, which may change their width."""
        steps = (*self._steps, function)
        return type(self)(self._store, self._rows, steps, width or self.shape[1])

    def chunks(self) -> Iterator[tuple[slice, Float]]:
        """Yield position and values of each chunk; DataError if one is not finite."""
        step = max(1, CHUNK_VALUES // max(1, self._store.shape[1]))
        for start, part in self._store.read(self._rows, step):
            place = slice(start, start + len(part))
            chunk = np.ascontiguousarray(part, dtype=np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(chunk.sum())  # one number instead of a mask
            if not finite:
                every = range(place.start, place.stop)
                names = every if self._rows is None else self._rows[place]
                where = f"{self._store}, among rows {names[0]} to {names[-1]}"
                require_finite(chunk, names, where)
            for function in self._steps:
                chunk = function(chunk)
            yield place, chunk

    def load(self) -> Float:
        """Return the rows in memory."""
        return rowwise(lambda rows: (rows,), self)[0]


class _Map:
    """A memory map whose pages are released after each chunk."""

    def __init__(self, array: np.memmap[Any, Any]) -> None:
        self._array = array
        self.shape = (array.shape[0], array.shape[1])

    def __str__(self) -> str:
        return str(self._array.filename or "memory map")

    def read(self, rows: Int | None, step: int) -> Iterator[tuple[int, Any]]:
        n = self.shape[0] if rows is None else len(rows)
        for start in range(0, n, step):
            part: Any = slice(start, min(start + step, n))
            if rows is not None:
                part = rows[part]
            # A copy, because steps may work in place.
            yield start, np.array(self._array[part], np.float64)
            # Pages that were read count as memory of the process, so they are released.
            # Those of a copy-on-write map hold written values and must stay.
            pages: Any = getattr(self._array, "_mmap", None)
            freed = self._array.mode != "c" and hasattr(pages, "madvise")
            if freed and sys.platform != "win32":
                pages.madvise(mmap.MADV_DONTNEED)


class ParquetRows:
    """Rows that stay in a Parquet file: CDSPP never holds all of them in memory.

    `fit` and `predict` take them in place of an array. Every column is a feature, in
    the order of the file. Other methods read all rows into memory.

    Parameters
    ----------
    path : path
        The file; its columns hold numbers.
    columns : sequence of str, optional
        The features, in this order; all columns by default.

    Attributes
    ----------
    shape : tuple of int
        Rows and features.

    Raises
    ------
    DataError
        The file is missing or not Parquet, or a column is missing or not numeric.

    Examples
    --------
    >>> from cdspp import CDSPP, ParquetRows
    >>> X = ParquetRows("target.parquet", columns=["f1", "f2"])  # doctest: +SKIP
    >>> CDSPP().fit(X, y, source=source)  # doctest: +SKIP
    """

    def __init__(self, path: PathLike, columns: Sequence[str] | None = None) -> None:
        import pyarrow.types as types

        self.path = Path(path)
        with self._open() as file:
            schema, n = file.schema_arrow, file.metadata.num_rows
        self.columns = list(schema.names if columns is None else columns)
        for name in self.columns:
            if name not in schema.names:
                known = ", ".join(map(str, schema.names[:5]))
                raise DataError(f"{self}: no column {name!r}. The first are: {known}.")
            kind = schema.field(name).type
            if not (types.is_floating(kind) or types.is_integer(kind)):
                fault = f"{self}: column {name!r} holds {kind}, expected numbers"
                remedy = "Name the features: ParquetRows(path, columns=[...])."
                raise DataError(f"{fault}. {remedy}")
        self.shape: tuple[int, int] = (n, len(self.columns))

    def __str__(self) -> str:
        """Name the file."""
        return str(self.path)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return all rows in memory."""
        return FileRows(self).load().astype(dtype or np.float64, copy=False)

    def read(self, rows: Int | None, step: int) -> Iterator[tuple[int, Float]]:
        """Yield `rows` (ascending; None for all) in parts, each with its start."""
        first = start = 0
        with self._open() as file:
            for batch in file.iter_batches(step, columns=self.columns):
                part = np.empty((batch.num_rows, len(self.columns)), order="F")
                for place, name in enumerate(self.columns):
                    part[:, place] = batch.column(name).to_numpy(zero_copy_only=False)
                if rows is not None:
                    ends = np.searchsorted(rows, [first, first + batch.num_rows])
                    part = part[rows[slice(*ends)] - first]
                first += batch.num_rows
                if len(part):
                    yield start, part
                start += len(part)

    def _open(self) -> pq.ParquetFile:
        import pyarrow.lib
        import pyarrow.parquet as pq

        try:
            # Without the buffer, Arrow reads a whole row group, possibly all rows.
            return pq.ParquetFile(self.path, buffer_size=2**16, pre_buffer=False)
        except (OSError, pyarrow.lib.ArrowException) as error:
            raise DataError(f"{self.path}: not a Parquet file ({error}).") from error


def in_file(X: Any) -> FileRows | None:
    """Return a memory map or `ParquetRows` larger than a chunk; None for other rows."""
    if isinstance(X, ParquetRows):
        X = FileRows(X)
    elif isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiu":
        X = FileRows(_Map(X))
    return X if isinstance(X, FileRows) and not _fits_a_chunk(X) else None


def in_memory(X: Any) -> Any:
    """Return rows in memory, reading those of a file if they fit in a chunk."""
    return X.load() if isinstance(X, FileRows) and _fits_a_chunk(X) else X


def _fits_a_chunk(X: FileRows) -> bool:
    return X.shape[0] * X.shape[1] <= CHUNK_VALUES


def mapped(X: Any, function: Callable[[Any], Any], width: int | None = None) -> Any:
    """Return ``function(X)``; for rows in a file, as a step (`FileRows.map`)."""
    return X.map(function, width) if isinstance(X, FileRows) else function(X)


def rowwise(
    function: Callable[[Any], tuple[NDArray[Any], ...]], X: Any
) -> tuple[NDArray[Any], ...]:
    """Return ``function(X)``, arrays with one entry per row; reads files by chunks."""
    if not isinstance(X, FileRows):
        return function(X)
    joined: tuple[NDArray[Any], ...] = ()
    for place, rows in X.chunks():
        found = function(rows)
        if not joined:
            joined = tuple(np.empty((len(X), *a.shape[1:]), a.dtype) for a in found)
        for whole, part in zip(joined, found, strict=True):
            whole[place] = part
    return joined or function(np.empty((0, X.shape[1])))
