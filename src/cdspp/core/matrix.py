"""Checks of feature matrices, dense or sparse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from cdspp.core.errors import DataError

SHOWN = 5


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a sparse matrix or array of SciPy."""
    return bool(sparse.issparse(X))


def stored_share(X: Any) -> float:
    """Return the share of the values of `X` that are stored, one of dense rows."""
    return X.nnz / max(math.prod(X.shape), 1) if is_sparse(X) else 1.0


def squared_lengths(X: Any) -> np.ndarray:
    """Return the squared length of each row."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def require_finite(
    X: Any,
    names: Sequence[object] | np.ndarray,
    what: str,
    remedy: str = "Correct or remove these samples.",
) -> None:
    """Raise DataError that begins with `what` and names rows with NaN or infinity."""
    if is_sparse(X):
        parts = X.tocoo()
        wrong = np.unique(parts.coords[0][~np.isfinite(parts.data)])
    else:
        wrong = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if not len(wrong):
        return
    shown = ", ".join(str(names[row]) for row in wrong[:SHOWN])
    more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    message = f"{what}: NaN or infinite values in {len(wrong)} of {len(names)} rows"
    raise DataError(f"{message}: {shown}{more}. {remedy}")
