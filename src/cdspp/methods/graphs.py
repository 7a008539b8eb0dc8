"""Neighbour graphs that several methods share."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cdspp.base import Float
from cdspp.linalg import squared_distances

__all__ = ["heat_kernel_graph", "laplacian"]


def heat_kernel_graph(X: Float, n_neighbors: int = 5) -> sparse.csr_array:
    r"""Return the symmetric nearest-neighbour graph with heat kernel weights.

    .. math:: W_{ij} = \exp\bigl(-\lVert x_i - x_j \rVert^2 / (2 t^2)\bigr)

    where j is among the nearest of i or i among those of j, and t is the mean of all
    distances, those of a row to itself included.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    n_neighbors : int, default=5
        Neighbours of a row besides itself; a row counts among its nearest, and equal
        distances go to the lower index, so that of exact duplicates it may be left out.

    Returns
    -------
    W : csr_array of shape (n, n)
        Zero diagonal; at most 2 `n_neighbors` + 2 entries a row on average.

    Notes
    -----
    O(n^2 d) time and O(n^2) memory for the distances.
    """
    n = len(X)
    distances = np.sqrt(squared_distances(X, X))
    np.fill_diagonal(distances, 0.0)
    bandwidth = distances.mean()
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : n_neighbors + 1]
    rows = np.repeat(np.arange(n), nearest.shape[1])
    columns = nearest.ravel()
    scale = 2.0 * bandwidth**2 or 1.0
    weights = np.exp(-(distances[rows, columns] ** 2) / scale)
    kept = rows != columns
    graph = sparse.csr_array((weights[kept], (rows[kept], columns[kept])), shape=(n, n))
    return sparse.csr_array(graph.maximum(graph.T))


def laplacian(W: sparse.csr_array) -> sparse.csr_array:
    """Return the Laplacian of a graph: row sums on the diagonal, minus the weights."""
    return sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)
