"""Checks of matrices, and numerical kernels that several methods share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from cdspp.core.errors import DataError

Float = NDArray[np.float64]
Int = NDArray[np.intp]

SHOWN = 5  # rows that an error names
MANY_CLASSES = 50  # with fewer classes, a dense product is faster
# Largest number of values of sparse rows that a study makes dense (not shared columns);
# larger rows stay sparse if the method accepts them.
MAX_DENSE = 2**27
LARGEST_SCALED = 30.0  # value of a row of a joint space, in lengths of its rows


def n_rows(values: Any) -> int | None:
    """Return the number of rows or labels; None if it is unknown."""
    shape = getattr(values, "shape", None)
    if shape is None and hasattr(values, "__len__"):
        return None if isinstance(values, str) else len(values)
    return int(shape[0]) if shape else None


def require_finite(
    X: Any,
    names: Sequence[object] | np.ndarray,
    subject: str,
    remedy: str = "Correct or remove these samples.",
) -> None:
    """Raise DataError, beginning with `subject`, if a row has NaN or infinity."""
    if sparse.issparse(X):
        parts = X.tocoo()
        wrong = np.unique(parts.coords[0][~np.isfinite(parts.data)])
    else:
        wrong = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if not len(wrong):
        return
    shown = ", ".join(str(names[row]) for row in wrong[:SHOWN])
    more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    message = f"{subject}: NaN or infinite values in {len(wrong)} of {len(names)} rows"
    raise DataError(f"{message}: {shown}{more}. {remedy}")


def row_normalise(X: Any, *, overwrite: bool = False) -> Float:
    """Return dense or CSR rows of unit 2-norm, maybe overwritten; zero rows remain."""
    if sparse.issparse(X):
        from sklearn.preprocessing import normalize  # slow to import

        unit: Float = normalize(X) if X.shape[0] else X
        return unit
    with np.errstate(over="ignore", under="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", X, X))
    # Squares of very large or small numbers overflow to infinity or underflow to zero.
    smallest = 1e-15 if X.dtype == np.float32 else 1e-140
    extreme = ~((norms > smallest) & (norms < 1.0 / smallest))
    if extreme.any():
        largest = np.abs(X).max(axis=1, initial=0.0)
        extreme &= largest > 0
        X = X.copy()
        X[extreme] /= largest[extreme, None]
        norms[extreme] = np.sqrt(np.einsum("ij,ij->i", X[extreme], X[extreme]))
    norms[norms == 0] = 1.0
    return np.asarray(np.divide(X, norms[:, None], out=X if overwrite else None))


def mean_length(X: Any) -> float:
    """Return the root mean square of the norms of dense or CSR rows; 1 if all are 0."""
    values = X.data if sparse.issparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return 1.0
    squares = float(((values / largest) ** 2).sum())  # overflows in no case
    return largest * float(np.sqrt(squares / X.shape[0]))


def joint_rows(X: Any, length: float | None) -> Any:
    """Return rows divided by a length of all of them, or by their own if it is None.

    A row with a larger value than `LARGEST_SCALED` after the division is scaled down to
    it: a linear machine would take thousands of passes over such rows.
    """
    if length is None:
        return row_normalise(X)
    rows = X / length
    largest = abs(rows).max(axis=1)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
    if not (largest > LARGEST_SCALED).any():
        return rows
    return scaled_rows(rows, LARGEST_SCALED / np.maximum(largest, LARGEST_SCALED))


def counts(codes: Int, n_classes: int) -> Float:
    """Return the number of samples of each class, as floats."""
    return np.bincount(codes, minlength=n_classes).astype(np.float64)


def class_sums(X: Float, codes: Int, n_classes: int) -> Float:
    """Return the sum of the rows of each class, (n_classes, d).

    Uses one product, O(n d n_classes), or for many classes one pass, O(n d).
    """
    if n_classes <= MANY_CLASSES:
        return np.asarray(np.eye(n_classes, dtype=X.dtype)[codes].T @ X)
    n = len(codes)  # a class indicator matrix with one number per row
    indicator = np.ones(n, X.dtype), codes, np.arange(n + 1)
    return dense(sparse.csc_array(indicator, (n_classes, n)) @ X)


def dense(X: Any) -> Float:
    """Return a dense or sparse matrix as an array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def scaled_rows(X: Any, scale: Float) -> Any:
    """Return the rows of a dense or CSR matrix, each times its own number."""
    if not sparse.issparse(X):
        return X * scale[:, None]
    return sparse.csr_array(X.multiply(scale[:, None]))


def column_signs(P: Float) -> Float:
    """Return the signs that make the largest entry of each column positive."""
    signs = np.ones(P.shape[1], P.dtype)
    if P.size:
        largest = np.abs(P).argmax(axis=0)
        signs[P[largest, np.arange(P.shape[1])] < 0] = -1.0
    return signs


def softmax(scores: Float) -> Float:
    """Return the softmax of each row."""
    exponentials = scores - scores.max(axis=1, keepdims=True)
    np.exp(exponentials, out=exponentials)
    exponentials /= exponentials.sum(axis=1, keepdims=True)
    return np.asarray(exponentials)


def symmetric_product(X: Any, *, of_rows: bool) -> Float:
    """Return the upper triangle of ``X @ X.T`` (`of_rows`) or ``X.T @ X``."""
    if sparse.issparse(X):
        rows = sparse.csr_array(X if of_rows else X.T)
        n = rows.shape[0]
        product = np.zeros((n, n), X.dtype, "F")
        for start in range(0, n, 256):  # at once, it would be a sparse matrix of n^2
            end = start + 256
            product[:end, start:end] = dense(rows[:end] @ rows[start:end].T)
        return product
    # One symmetric rank-k update: half the work of a general product, no copy of X.
    transposed = np.ascontiguousarray(X).T
    return np.asarray(blas("syrk", X)(1.0, transposed, trans=int(of_rows)))


def blas(name: str, X: Float) -> Any:
    """Return a routine of BLAS for the precision of `X`, single or double."""
    return linalg.get_blas_funcs(name, (X,))


def scaled_on_both_sides(S: Float, scale: Float) -> Float:
    """Return ``diag(scale) S diag(scale)`` of a Fortran-ordered `S`, upper triangle."""
    scaled, scale = np.empty_like(S), scale.astype(S.dtype, copy=False)
    for start in range(0, len(S), 128):  # columns that fit into the cache
        end = min(start + 128, len(S))
        columns = scaled[:end, start:end]
        np.multiply(S[:end, start:end], scale[:end, None], out=columns)
        columns *= scale[start:end]
    return scaled


def squared_distances(A: Float, B: Float) -> Float:
    """Return the squared distances between the rows of `A` and those of `B`."""
    squared = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    product = A @ B.T
    product *= 2.0
    squared -= product
    return np.asarray(np.maximum(squared, 0.0, out=squared))


def principal_axes(X: Float, n_components: int) -> Float:
    """Return the leading principal axes of the centred rows of `X`, as columns (d, k).

    Axes with hardly any variance are omitted. Uses the Gram matrix of the smaller side:
    O(n d s + s^3) with s = min(n, d).
    """
    centred = X - X.mean(axis=0)
    wide = X.shape[0] < X.shape[1]
    gram = symmetric_product(centred, of_rows=wide)
    places = [max(0, len(gram) - n_components), len(gram) - 1]
    values, vectors = linalg.eigh(
        gram, lower=False, subset_by_index=places, check_finite=False
    )
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > 1e-10 * max(values[0], 0.0)
    axes = vectors[:, kept]
    if wide:
        axes = centred.T @ axes / np.sqrt(values[kept])
    return np.asarray(axes * column_signs(axes))


def psd_factor(A: Float) -> Float:
    """Return `F`, (n, rank), with ``F @ F.T = A`` for a positive semidefinite `A`."""
    values, vectors = linalg.eigh(A.astype(np.float64), check_finite=False)
    # The rest are zeros with rounding errors, whose roots are large: 1e-8 for 1e-16.
    smallest = 5e-5 if A.dtype == np.float32 else 1e-13
    kept = values > smallest * values.max(initial=0.0)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]), A.dtype)
