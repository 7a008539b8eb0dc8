"""Neighbour graphs that several methods share."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cdspp.core.linalg import squared_distances
from cdspp.core.memory import computed_once
from cdspp.methods.base import Float

BLOCK = 512  # rows whose distances are computed at a time


def heat_kernel_graph(X: Float, n_neighbors: int = 5) -> sparse.csr_array:
    r"""Return the symmetric nearest-neighbour graph with heat kernel weights.

    .. math:: W_{ij} = \exp\bigl(-\lVert x_i - x_j \rVert^2 / (2 t^2)\bigr)

    where j is among the `n_neighbors` nearest rows of i or vice versa, ties go to the
    lower index, and t is the mean of all distances, including the zeros of the
    diagonal. Fits of one job on the same rows share the graph.
    """
    return computed_once(_heat_kernel_graph, X, n_neighbors).copy()


def _heat_kernel_graph(X: Float, n_neighbors: int) -> sparse.csr_array:
    n = len(X)
    total, pairs = 0.0, []
    for start in range(0, n, BLOCK):
        distances = np.sqrt(squared_distances(X[start : start + BLOCK], X))
        diagonal = np.arange(len(distances))
        distances[diagonal, start + diagonal] = 0.0
        total += distances.sum()
        rows, columns = np.nonzero(_nearest(distances, min(n_neighbors + 1, n)))
        pairs.append((start + rows, columns, distances[rows, columns]))
    rows, columns, lengths = map(np.concatenate, zip(*pairs, strict=True))
    scale = 2.0 * (total / n**2) ** 2 or 1.0
    is_edge = rows != columns
    weights = np.exp(-(lengths[is_edge] ** 2) / scale)
    graph = sparse.csr_array((weights, (rows[is_edge], columns[is_edge])), shape=(n, n))
    return sparse.csr_array(graph.maximum(graph.T))


def _nearest(distances: Float, k: int) -> NDArray[np.bool_]:
    """Return a mask of the `k` smallest entries of each row; ties go to the first."""
    threshold = np.partition(distances, k - 1, axis=1)[:, k - 1, None]
    is_nearer = distances < threshold
    is_tied = distances == threshold
    is_tied &= is_tied.cumsum(axis=1) <= k - is_nearer.sum(axis=1, keepdims=True)
    return np.asarray(is_nearer | is_tied)


def laplacian(W: sparse.csr_array) -> sparse.csr_array:
    """Return the Laplacian of a graph: row sums on the diagonal, minus the weights."""
    return sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)
