"""Sparse rows: the results of dense ones, in the memory of what they store."""

from __future__ import annotations

import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array

from cdspp.core.errors import DataError
from cdspp.core.files import read_parts, write_parts
from cdspp.methods import make
from cdspp.methods.base import SourceDomain
from cdspp.methods.model_file import read_model, save_model

METHODS = ("cdspp", "cdspp-sup", "cdspp-pca", "target-only", "svm-t")
CODES, LABELLED = np.arange(300) % 3, np.arange(300) < 12
Y = np.where(LABELLED, CODES, -1)


def rows(d: int, seed: int, n: int = 300) -> csr_array:
    """Return sparse rows, with larger values in the columns of their class."""
    X = random_array((n, d), density=0.1, format="csr", random_state=seed)
    own = np.arange(d) % 3 == CODES[:n, None]
    return csr_array(X.multiply(np.where(own, 1.0, 0.2)))


@pytest.mark.parametrize(
    ("shape", "sparse_domains"),
    [((40, 30), {"source.X"}), ((700, 40), {"X"}), ((600, 500), {"X", "source.X"})],
)
@pytest.mark.parametrize("method", METHODS)
def test_sparse_rows_give_what_dense_rows_give(
    method: str, shape: tuple[int, int], sparse_domains: set[str]
) -> None:
    X, X_source = rows(shape[0], 0), rows(shape[1], 1)
    whole = SourceDomain(X_source.toarray(), CODES)
    dense = make(method).fit(X.toarray(), Y, source=whole)
    target = X if "X" in sparse_domains else X.toarray()
    given = X_source if "source.X" in sparse_domains else X_source.toarray()
    model = make(method).fit(target, Y, source=SourceDomain(given, CODES))
    np.testing.assert_array_equal(model.transduction_, dense.transduction_)
    np.testing.assert_array_equal(model.predict(X), dense.predict(X.toarray()))
    if hasattr(model, "transform"):
        np.testing.assert_allclose(
            model.transform(X), dense.transform(X.toarray()), atol=1e-7
        )
    if hasattr(model, "transform_source"):
        np.testing.assert_allclose(
            model.transform_source(X_source),
            dense.transform_source(X_source.toarray()),
            atol=1e-7,
        )


def test_sparse_sources_and_matrices_are_taken_as_well() -> None:
    X, first, second = rows(700, 0), rows(40, 1), rows(600, 2)
    dense = [SourceDomain(part.toarray(), CODES) for part in (first, second)]
    sparse = [dense[0], SourceDomain(csr_matrix(second), CODES)]
    one = make("cdspp").fit(X.toarray(), Y, source=dense)
    other = make("cdspp").fit(csr_matrix(X), Y, source=sparse)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)


@pytest.mark.parametrize("method", ["cdspp", "cdspp-sup", "target-only", "svm-t"])
def test_wide_sparse_rows_are_never_made_dense(method: str) -> None:
    rng = np.random.default_rng(0)
    places = np.repeat(np.arange(300), 20), rng.integers(90_000, size=6000)
    X = csr_array((rng.random(6000), places), shape=(300, 200_000))
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # random rows may all get one label
        model = make(method).fit(X, Y, source=SourceDomain(X[:, :90_000], CODES))
        assert model.predict(X).shape == (300,)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6  # dense rows of the target take 480 MB


def test_a_model_of_sparse_rows_is_kept_and_checked(tmp_path: Path) -> None:
    X = rows(40, 0)
    model = make("svm-t").fit(X, Y)
    save_model(tmp_path / "a.npz", model)
    kept, _ = read_model(tmp_path / "a.npz")
    np.testing.assert_array_equal(kept.predict(X), model.predict(X))
    tree, arrays = read_parts(tmp_path / "a.npz", "")
    parts = tree["content"]["dict"]["model"]["method"]["fitted"]["dict"]["_rows"]
    indices = parts["csr"]["indices"]["array"]
    arrays[indices] = arrays[indices] + 10**6
    write_parts(tmp_path / "b.npz", tree, arrays)
    with pytest.raises(DataError, match=r"b\.npz: damaged model"):
        read_model(tmp_path / "b.npz")
