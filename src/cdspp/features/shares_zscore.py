"""A view of counts as shares of the row, each column standardised over a domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cdspp.core.errors import DataError
from cdspp.features.base import ViewExtractor

__all__ = ["SharesZscore"]


@dataclass(frozen=True)
class SharesZscore(ViewExtractor):
    """Rows divided by their sum, then columns standardised, without labels.

    Every column gets mean 0 and standard deviation 1 (n - 1) over all rows of the
    domain; one that is constant becomes 0, and a row without any count counts as zero
    shares. This is how histograms of visual words are prepared in the z-scored copies
    of SURF features that circulate for Office-Caltech.

    Examples
    --------
    >>> from cdspp.features.shares_zscore import SharesZscore
    >>> SharesZscore().reduce([[1, 3], [3, 1], [2, 2]])[0].tolist()
    [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]
    """

    identifier: ClassVar[str] = "shares-zscore"
    kind: ClassVar[str] = "view"
    keeps_width: ClassVar[bool] = True

    def reduce(self, X: Any) -> tuple[np.ndarray, Mapping[str, Any]]:
        """Return the standardised shares, float32, and how many columns vary.

        DataError: `X` has negative entries, or a single row.
        """
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        if len(dense) < 2 or dense.min(initial=0.0) < 0:
            raise DataError(
                "extractor shares-zscore: expected two or more rows of counts, got "
                f"shape {dense.shape} with the least entry {dense.min(initial=0.0):g}."
            )
        sums = dense.sum(axis=1, keepdims=True)
        shares = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)
        varies = np.ptp(shares, axis=0) > 0
        scores = np.zeros_like(shares)
        kept = shares[:, varies]
        scores[:, varies] = (kept - kept.mean(axis=0)) / kept.std(axis=0, ddof=1)
        return scores.astype(np.float32), {"varying_columns": int(varies.sum())}
