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
    """Yield notes on codes of missing numbers, empty rows, counts of rows, and totals.

    Nothing is said of columns without `names`; `records` count the header.
    """
    if not names or not len(X):
        return
    found: dict[str, set[float]] = {}
    for end in (np.nanmin(X, 0, initial=np.inf), np.nanmax(X, 0, initial=-np.inf)):
        size = np.abs(end)
        odd = np.isin(size, MISSING_CODES) | np.isfinite(end) & (size >= LEAST_FILL)
        for j in np.flatnonzero(odd).tolist():
            others = X[:, j][X[:, j] != end[j]] * np.sign(end[j])
            if not (others >= size[j] / 10).any():  # far from all others
                found.setdefault(names[j], set()).add(float(end[j]))
    if found:
        codes = ", ".join(f"{code:g}" for code in sorted(set().union(*found.values())))
        yield f"{codes} in {shortened([*found])} may stand for numbers that are missing"
    if len(empty := np.flatnonzero(np.isnan(X).all(axis=1))):
        first = f"record {records[empty[0]]}" if records else f"row {empty[0] + 1}"
        yield f"{counted(len(empty), 'row')} without any number (first: {first})"
    ends = (X[-1] - X[0] == len(X) - 1) & (len(X) >= FEWEST_COUNTED)
    regular = (
        j for j in np.flatnonzero(ends).tolist() if (np.diff(X[:, j]) == 1).all()
    )
    if count := [names[j] for j in regular]:
        remedy = "leave them out (--drop), unless they are features"
        yield f"columns that only count the rows ({shortened(count)}): {remedy}"
    others, spread = X[:-1], np.std(X[:-1], axis=0) if len(X) > 3 else np.zeros(1)
    if np.isfinite(X).all() and np.count_nonzero(spread) > 1 and spread.max() < np.inf:
        for what, total in (("sum", others.sum(axis=0)), ("mean", others.mean(axis=0))):
            if np.all(np.abs(X[-1] - total) <= 0.01 * spread + 1e-9 * np.abs(total)):
                yield f"the last row is the {what} of the others: a total?"
