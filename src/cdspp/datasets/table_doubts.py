"""Notes on rows and columns of a table that may not be data."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cdspp.core.wording import counted, shortened

# Numbers that often mark missing values: survey codes, and fill values of grids.
MISSING_CODES = (99.0, 999.0, 9999.0, 99999.0)
LEAST_FILL = 1e20
FEWEST_COUNTED = 20  # with fewer rows, a column may number them by chance


def doubts(
    X: NDArray[np.float64], names: Sequence[str], place: Callable[[int], str]
) -> Iterator[str]:
    """Yield notes on codes of missing numbers, empty rows, counts of rows, and totals.

    Nothing is said of columns without `names`; `place` describes a row.
    """
    if not names or not len(X):
        return
    marks: dict[str, set[float]] = {}
    low, high = np.nanmin(X, 0, initial=np.inf), np.nanmax(X, 0, initial=-np.inf)
    for end in (low, high):
        size = np.abs(end)
        is_code = np.isin(size, MISSING_CODES) | np.isfinite(end) & (size >= LEAST_FILL)
        for j in np.flatnonzero(is_code).tolist():
            others = X[:, j][X[:, j] != end[j]] * np.sign(end[j])
            if not (others >= size[j] / 10).any():  # far from all others
                marks.setdefault(names[j], set()).add(float(end[j]))
    if marks:
        codes = ", ".join(f"{code:g}" for code in sorted(set().union(*marks.values())))
        yield f"{codes} in {shortened([*marks])} may mark missing numbers"
    is_counter = (X[-1] - X[0] == len(X) - 1) & (len(X) >= FEWEST_COUNTED)
    columns = [j for j in np.flatnonzero(is_counter) if (np.diff(X[:, j]) == 1).all()]
    if counters := [names[int(j)] for j in columns]:
        remedy = "leave them out (--drop), unless they are features"
        yield f"columns that only number the rows ({shortened(counters)}): {remedy}"
    # No copy of the table, which may be large, unless numbers are missing.
    last_row, sums = X[-1], X[:-1].sum(axis=0)
    if not np.isfinite(sums + last_row).all():
        empty = np.flatnonzero(np.isnan(X).all(axis=1))
        if len(empty):
            first = place(int(empty[0]))
            yield f"{counted(len(empty), 'row')} without any number (first: {first})"
    elif len(X) > 4 and np.count_nonzero(high > low) > 1:
        for statistic, total in (("sum", sums), ("mean", sums / (len(X) - 1))):
            if (
                np.abs(last_row - total) <= 0.003 * (high - low) + 1e-9 * np.abs(total)
            ).all():
                yield f"the last row is the {statistic} of the others: a total?"
