"""Signs of a degenerate fit: divergence, one predicted class, or parallel rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core.file_rows import chunks_of
from cdspp.core.linalg import squared_lengths

# From this share of one class, or above this mean cosine, a fit counts as degenerate.
LARGEST_SHARE, LARGEST_COSINE = 0.95, 0.99

# Of fewer rows a share of 95 % would mean every row, which comes by chance; and a few
# may well lie in one direction, as those of scikit-learn's checks do.
FEWEST_ROWS = 20

REMEDY = (
    "centre or scale the features (scale: standardise or pca in a view, --scale of the "
    "commands, a StandardScaler or PCA in Python), or label more rows."
)


class Collapse(NamedTuple):
    """A kind of degenerate fit, empty if none; `sentence` follows the method's name."""

    kind: str = ""
    sentence: str = ""


def find_collapse(
    predicted: NDArray[Any],
    n_labelled_classes: int,
    rows: Mapping[str, Any],
) -> Collapse:
    """Return the first sign of a degenerate fit.

    `predicted` are labels of unlabelled rows, `rows` those compared by direction.
    """
    if n_labelled_classes > 1 and len(predicted) >= FEWEST_ROWS:
        labels, counts = np.unique(predicted, return_counts=True)
        share = float(counts.max() / len(predicted))
        if share >= LARGEST_SHARE:
            return Collapse(
                "one class",
                f"predicts class {labels[counts.argmax()]} for {100 * share:.1f} % of "
                f"{len(predicted)} unlabelled rows, although {n_labelled_classes} "
                f"classes are labelled; {REMEDY}",
            )
    for domain, X in rows.items():
        if (cosine := mean_cosine(X)) > LARGEST_COSINE:
            return Collapse(
                "parallel rows",
                f"sees {domain} rows that are nearly parallel, with a mean cosine of "
                f"{cosine:.4f} between them where more than {LARGEST_COSINE} is too "
                f"much; {REMEDY}",
            )
    return Collapse()


def mean_cosine(X: Any) -> float:
    """Return the mean cosine of all pairs of rows but zeros; NaN with too few rows.

    It is the squared length of the mean of the rows scaled to unit length.
    """
    total, n = np.zeros(X.shape[1]), 0
    for _, rows in chunks_of(X):
        # Squares of very large or small numbers are infinite or zero: left out, too.
        with np.errstate(over="ignore", under="ignore"):
            lengths = np.sqrt(squared_lengths(rows))
        counted = (lengths > 0) & np.isfinite(lengths)
        weights = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=counted)
        total, n = total + weights @ rows, n + int(counted.sum())
    if n < FEWEST_ROWS:
        return float("nan")
    mean = total / n
    return float(mean @ mean)
