"""Notes on rows and columns of a table that may be no data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cdspp.core.wording import counted, shortened

# Numbers that stand for missing ones: such codes, and fill values of grids.
MISSING_CODES = (99.0, 999.0, 9999.0, 99999.0)
LEAST_FILL = 1e20
FEWEST_COUNTED = 20  # rows, below which a column may count them by chance


def doubts(
    X: NDArray[np.float64], names: Sequence[str], records: Sequence[int]
) -> Iterator[str]:
    """Yield a note on each kind of number that may be none of the data.

    `names` are those of columns; without them, nothing is said. `records` count the
    header.
    """
    if not names or not len(X):
        return
    yield from _code_notes(X, names)
    empty = np.flatnonzero(np.isnan(X).all(axis=1))
    if len(empty):
        first = f"record {records[empty[0]]}" if records else f"row {empty[0] + 1}"
        yield f"{counted(len(empty), 'row')} without any number (first: {first})"
    if len(X) >= FEWEST_COUNTED:
        steps = X[[1, -1]] - X[0]
        regular = np.flatnonzero((steps == [[1], [len(X) - 1]]).all(axis=0))
        count = [names[j] for j in regular if (np.diff(X[:, j]) == 1).all()]
        if count:
            remedy = "leave them out (--drop), unless they are features"
            yield f"columns that only count the rows ({shortened(count)}): {remedy}"
    if what := _total(X):
        yield f"the last row is the {what} of the others in every column: a total?"


def _code_notes(X: NDArray[np.float64], names: Sequence[str]) -> Iterator[str]:
    """Yield a note on numbers such as -999, far from all others of a column."""
    ends = np.nanmin(X, axis=0, initial=np.inf), np.nanmax(X, axis=0, initial=-np.inf)
    found: dict[str, set[float]] = {}
    for end in ends:
        size = np.abs(end)
        odd = np.isin(size, MISSING_CODES) | np.isfinite(end) & (size >= LEAST_FILL)
        for j in np.flatnonzero(odd).tolist():
            others = X[:, j][X[:, j] != end[j]]
            if not (others * np.sign(end[j]) >= size[j] / 10).any():
                found.setdefault(names[j], set()).add(float(end[j]))
    if found:
        codes = ", ".join(f"{code:g}" for code in sorted(set().union(*found.values())))
        yield f"{codes} in {shortened([*found])} may stand for numbers that are missing"


def _total(X: NDArray[np.float64]) -> str:
    """Return whether the last row is the sum or the mean of the others, by its word."""
    others, last = X[:-1], X[-1]
    if len(others) < 3 or not np.isfinite(X).all():
        return ""
    sums, spread = others.sum(axis=0), others.std(axis=0)
    if (last != 0).any() and np.allclose(last, sums, rtol=1e-3, atol=0):
        return "sum"
    near = np.abs(last - sums / len(others)) <= 0.01 * spread
    return "mean" if near.all() and np.count_nonzero(spread) > 1 else ""
