"""The neighbour graph against loops over its definition; blocks, ties, duplicates."""

from __future__ import annotations

import numpy as np
import pytest
from support.literal_formulas import literal_graph

from cdspp.methods.shared import graphs
from cdspp.methods.shared.graphs import heat_kernel_graph


@pytest.mark.parametrize("block", [1, 7, 100])
@pytest.mark.parametrize("n_neighbors", [1, 5, 40])
def test_the_graph_is_that_of_its_definition(
    block: int, n_neighbors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "BLOCK", block)
    X = np.random.default_rng(0).standard_normal((30, 4))
    found = heat_kernel_graph(X, n_neighbors).toarray()
    np.testing.assert_allclose(found, literal_graph(X, n_neighbors), atol=1e-13)


def test_of_equal_distances_the_lower_index_is_taken() -> None:
    # Squared lengths are exact, so that the four outer points tie.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    found = heat_kernel_graph(X, 2).toarray()
    np.testing.assert_allclose(found, literal_graph(X, 2), atol=1e-13)
    assert np.flatnonzero(found[4]).tolist() == [0, 1]


def test_of_exact_duplicates_only_the_first_are_neighbours() -> None:
    found = heat_kernel_graph(np.ones((6, 2)), 1).toarray()
    np.testing.assert_array_equal(found, literal_graph(np.ones((6, 2)), 1))
    assert (found[2:, 2:] == 0).all()
    assert (found[0, 1:] == 1).all()
