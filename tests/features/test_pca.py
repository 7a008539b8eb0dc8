"""Principal components of dense and sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cdspp.core import scaling
from cdspp.core.errors import DataError
from cdspp.core.scaling import principal_components
from cdspp.features.views import Pca

SHAPES = [(30, 12), (12, 30)]


def data(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * np.linspace(3, 0.5, shape[1]) + 2
    X[rng.random(shape) < 0.5] = 0
    return X


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_coordinates_are_those_of_scikit_learn(shape: tuple[int, int], kind) -> None:
    from sklearn.decomposition import PCA

    X = data(shape)
    expected = PCA(5, svd_solver="full").fit(X)
    fitted = principal_components(kind(X), 5)
    np.testing.assert_allclose(fitted.mean, expected.mean_)
    signs = np.sign((fitted.components * expected.components_).sum(axis=1))
    turned = expected.components_ * signs[:, None]
    np.testing.assert_allclose(fitted.components, turned, atol=1e-9)
    coordinates = expected.transform(X) * signs
    np.testing.assert_allclose(fitted.transform(kind(X)), coordinates, atol=1e-9)
    energy = expected.explained_variance_ratio_.sum()
    np.testing.assert_allclose(fitted.energy, energy, rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_iteration_for_large_matrices_finds_the_same(
    shape: tuple[int, int], kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = kind(data(shape))
    expected = [principal_components(X, 4), principal_components(X, energy=0.6)]
    monkeypatch.setattr(scaling, "MAX_GRAM_SIZE", 0)
    monkeypatch.setattr(scaling, "INITIAL_COUNT", 2)
    found = [principal_components(X, 4), principal_components(X, energy=0.6)]
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a.components, b.components, atol=1e-7)
        assert a.energy == pytest.approx(b.energy)


def words(shape: tuple[int, int], seed: int = 0) -> sparse.csr_array:
    """Return rows of few words each, frequent and rare ones, of about unit length."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array(shape, density=0.05, format="csr", random_state=rng)
    X.data *= 1 / np.sqrt(1 + X.indices)
    return X


@pytest.mark.parametrize("largest_gram", [5000, 0], ids=["exact", "iteration"])
@pytest.mark.parametrize(
    ("shape", "rank"), [((80, 120), 2), ((120, 80), 11), ((40, 40), 11)]
)
def test_directions_without_variance_are_left_out(
    shape: tuple[int, int],
    rank: int,
    largest_gram: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scaling, "MAX_GRAM_SIZE", largest_gram)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    fitted = principal_components(X, 30)
    assert fitted.components.shape == (rank, shape[1])
    gram = fitted.components @ fitted.components.T
    np.testing.assert_allclose(gram, np.eye(rank), atol=1e-9)
    assert fitted.energy == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("shape", "largest_gram"), [((20, 100_000), 5000), ((2000, 3000), 1000)]
)
def test_a_large_sparse_matrix_is_never_made_dense(
    shape: tuple[int, int], largest_gram: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Large(sparse.csr_array):
        def toarray(self, *args, **kwargs):
            assert max(self.shape) < 1000, "made dense"
            return super().toarray(*args, **kwargs)

        todense = toarray

    monkeypatch.setattr(scaling, "MAX_GRAM_SIZE", largest_gram)
    X = Large(words(shape))
    assert principal_components(X, 3).transform(X).shape == (shape[0], 3)


def test_energy_takes_the_fewest_components_that_hold_it() -> None:
    X = data((40, 10))
    whole = principal_components(X, 10)
    shares = np.cumsum(whole.variances) / whole.variances.sum()
    for wanted in (0.2, 0.6, 0.95):
        fitted = principal_components(X, energy=wanted)
        assert len(fitted.components) == np.searchsorted(shares, wanted) + 1
        assert fitted.energy >= wanted
    assert len(principal_components(X, energy=1.0).components) == 10


def test_without_centring_the_mean_stays() -> None:
    X = data((20, 6)) + 10
    fitted = principal_components(X, 1, center=False)
    assert not fitted.mean.any()
    _, _, right = np.linalg.svd(X)
    np.testing.assert_allclose(np.abs(fitted.components[0]), np.abs(right[0]))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_equal_rows_are_an_error(kind) -> None:
    with pytest.raises(DataError, match="rows.*equal"):
        principal_components(kind(np.full((5, 3), 0.1)), 2)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_that_are_not_finite_are_named(kind) -> None:
    X = data((30, 4))
    X[[3, 7, 9, 11, 13, 15], 1] = [np.nan, np.inf] * 3
    with pytest.raises(DataError, match="6 of 30 rows: 3, 7, 9, 11, 13 and 1 more"):
        principal_components(kind(X), 2)


def test_a_view_is_reduced_to_float32_with_its_energy_recorded() -> None:
    X = data((30, 12)).astype(np.float32)
    reduced, record = Pca(energy=0.6).reduce(sparse.csr_array(X))
    assert reduced.dtype == np.float32
    assert record["components"] == reduced.shape[1]
    assert 0.6 <= record["energy"] < 0.8


def test_more_components_than_a_view_can_have_are_refused() -> None:
    with pytest.raises(DataError, match=r"\(30, 12\) have fewer than n_components 13"):
        Pca(n_components=13).reduce(data((30, 12)))


def test_the_largest_entry_of_each_component_is_positive() -> None:
    fitted = principal_components(data((25, 8)), 8)
    largest = np.abs(fitted.components).argmax(axis=1)
    assert (fitted.components[np.arange(8), largest] > 0).all()
    flipped = principal_components(-data((25, 8)), 8)
    np.testing.assert_allclose(flipped.components, fitted.components, atol=1e-9)
