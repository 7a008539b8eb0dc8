"""Methods that use a bridge: their parts by a naive version, and what they learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from cdspp import SourceDomain, make
from cdspp.core.errors import CollapseWarning
from cdspp.core.linalg import row_normalise
from cdspp.methods.joint_machine import PENALTIES, ridge_map

MACHINES = ("shared-columns", "shared-columns-plus", "easy-adapt")
COLUMNS = (*MACHINES, "easy-adapt-plus")
MAPS = ("paired-map", "paired-map-plus", "procrustes")
SHARED = [(0, 5), (3, 1), (4, 2), (7, 0)]


class Bridged:
    """Two views of objects with one arrangement of four classes; one label a class."""

    def __init__(self, n_pairs: int = 30, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        centres = rng.standard_normal((4, 6))
        views = rng.standard_normal((2, 6, 8))
        for i, j in SHARED:
            views[1][:, j] = views[0][:, i]

        def draw(codes: np.ndarray) -> np.ndarray:
            return centres[codes] + 0.6 * rng.standard_normal((len(codes), 6))

        self.y_source, self.truth = np.arange(80) % 4, np.arange(60) % 4
        self.X_source = draw(self.y_source) @ views[0]
        self.X = draw(self.truth) @ views[1]
        objects = draw(rng.integers(4, size=n_pairs))
        self.pairs = objects @ views[0], objects @ views[1]
        self.y = np.where(np.arange(60) < 4, self.truth, -1)

    def source(self, form: Any = np.asarray, **changes: Any) -> SourceDomain:
        bridge = {"shared_columns": SHARED, "paired_rows": self.pairs, **changes}
        X, y, (left, right) = self.X_source, self.y_source, bridge.pop("paired_rows")
        return SourceDomain(form(X), y, paired_rows=(form(left), form(right)), **bridge)

    def accuracy(self, model: Any, form: Any = np.asarray, **changes: Any) -> float:
        model.fit(form(self.X), self.y, source=self.source(form, **changes))
        unlabelled = self.y == -1
        return float(np.mean((model.transduction_ == self.truth)[unlabelled]))


PROBLEM = Bridged()


@pytest.mark.parametrize("method", [*COLUMNS, *MAPS, "cdspp-bridge"])
def test_a_bridge_gains_where_labels_alone_do_not(method: str) -> None:
    alone = max(PROBLEM.accuracy(make(name)) for name in ("svm-t", "cdspp"))
    assert PROBLEM.accuracy(make(method)) > alone + 0.04


@pytest.mark.parametrize("method", [*COLUMNS, *MAPS])
def test_sparse_rows_give_what_dense_ones_give(method: str) -> None:
    options = {"unit_rows": True} if method in COLUMNS else {}
    dense, found = make(method, **options), make(method)
    PROBLEM.accuracy(dense)
    PROBLEM.accuracy(found, sparse.csr_array)
    np.testing.assert_array_equal(found.transduction_, dense.transduction_)
    Z = found.transform(sparse.csr_array(PROBLEM.X))
    assert sparse.issparse(Z) == (method in COLUMNS)
    rows = Z.toarray() if sparse.issparse(Z) else Z
    np.testing.assert_allclose(rows, dense.transform(PROBLEM.X), atol=1e-12)


def test_rows_with_long_indices_are_taken() -> None:
    def long(X: np.ndarray) -> sparse.csr_array:
        rows = sparse.csr_array(X)
        rows.indices = rows.indices.astype(np.int64)
        rows.indptr = rows.indptr.astype(np.int64)
        return rows

    assert PROBLEM.accuracy(make("shared-columns-plus"), long) > 0.8


@pytest.mark.filterwarnings("ignore::cdspp.core.errors.LabelWarning")
@pytest.mark.parametrize("method", MAPS)
def test_a_map_needs_no_labelled_row_of_a_class(method: str) -> None:
    few = np.where(PROBLEM.y == 0, 0, -1)
    model = make(method).fit(PROBLEM.X, few, source=PROBLEM.source())
    assert np.mean(model.transduction_ == PROBLEM.truth) > 0.85


def test_wide_sparse_rows_are_reduced_and_never_made_dense() -> None:
    rng = np.random.default_rng(0)
    width = 20_000
    spread = sparse.random_array(
        (8, width), density=0.001, random_state=rng, format="csr"
    )
    forms = [sparse.csr_array(part @ spread) for part in (PROBLEM.X_source, PROBLEM.X)]
    pairs = tuple(sparse.csr_array(part @ spread) for part in PROBLEM.pairs)
    source = SourceDomain(forms[0], PROBLEM.y_source, paired_rows=pairs)
    model = make("paired-map").fit(forms[1], PROBLEM.y, source=source)
    assert np.mean(model.transduction_ == PROBLEM.truth) > 0.9
    assert model.map_.shape[0] <= 8
    shared = SourceDomain(
        forms[0], PROBLEM.y_source, shared_columns=[(k, k) for k in range(width)]
    )
    assert sparse.issparse(
        make("shared-columns-plus")
        .fit(forms[1], PROBLEM.y, source=shared)
        .transform(forms[1])
    )


def naive_joint_rows(method: str, unit: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of source and target as the definitions write them."""
    i, j = (list(side) for side in zip(*SHARED, strict=True))
    S, T = PROBLEM.X_source[:, i], PROBLEM.X[:, j]
    own = np.delete(PROBLEM.X, j, axis=1)
    empty, no_own = np.zeros_like(T), np.zeros((len(S), own.shape[1]))
    source, target = {
        "shared-columns": (S, T),
        "shared-columns-plus": (np.hstack([S, no_own]), np.hstack([T, own])),
        "easy-adapt": (
            np.hstack([S, S, np.zeros_like(S), no_own]),
            np.hstack([T, empty, T, own]),
        ),
    }[method]
    if unit:
        return row_normalise(source), row_normalise(target)
    length = np.sqrt((source**2).sum(axis=1).mean())
    return source / length, target / length


both_lengths = pytest.mark.parametrize("unit", [True, False])


@both_lengths
@pytest.mark.parametrize("method", MACHINES)
def test_the_machine_is_that_of_the_definition(method: str, unit: bool) -> None:
    source, target = naive_joint_rows(method, unit)
    known = PROBLEM.y != -1
    rows = np.vstack([source, target[known]])
    weights = np.r_[np.ones(80), np.full(4, 80 / 4 / 4)]
    labels = np.r_[PROBLEM.y_source, PROBLEM.y[known]]
    naive = LinearSVC(random_state=0, max_iter=10_000)
    naive.fit(rows, labels, sample_weight=weights)
    iterations = {"max_iter": 1} if method.endswith("plus") else {}
    model = make(method, unit_rows=unit, **iterations)
    PROBLEM.accuracy(model)
    expected = naive.predict(target[~known])
    np.testing.assert_array_equal(model.transduction_[~known], expected)


def hypotheses(weight: float, width: int, unit: bool) -> np.ndarray:
    """Minimise the objective of EasyAdapt++ for each class, by a general method."""
    source, target = naive_joint_rows("easy-adapt", unit)
    known, k = PROBLEM.y != -1, len(SHARED)
    rows = np.vstack([source, target[known]])
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    shared, own = target[~known][:, :k], target[~known][:, 3 * k :]
    apart = np.hstack([0 * shared, shared, -shared, -own, 0 * shared[:, :1]])
    apart = row_normalise(apart) if unit else apart  # the constant is zero
    weights = np.r_[np.ones(80), np.full(4, 80 / 4 / 4)]
    labels = np.r_[PROBLEM.y_source, PROBLEM.y[known]]

    def objective(w: np.ndarray, signs: np.ndarray) -> float:
        missing = np.maximum(0, 1 - signs * (rows @ w))
        both = [np.maximum(0, 1 - sign * (apart @ w)) for sign in (1, -1)]
        loss = weights @ missing**2 + weight * sum((m**2).sum() for m in both)
        return float(w @ w / 2 + loss)

    return np.array(
        [
            minimize(
                objective,
                np.zeros(width),
                args=(np.where(labels == c, 1, -1),),
                options={"gtol": 1e-6},
            ).x
            for c in range(4)
        ]
    )


@both_lengths
def test_easy_adapt_plus_minimises_its_objective(unit: bool) -> None:
    weight = 3.0
    model = make("easy-adapt-plus", unlabelled_weight=weight, unit_rows=unit)
    PROBLEM.accuracy(model)
    machine = model._machine
    found = np.vstack([machine.weights, machine.intercepts]).T
    expected = hypotheses(weight, found.shape[1], unit)
    np.testing.assert_allclose(found, expected, atol=3e-3)


def one_telling_column(seed: int) -> tuple[np.ndarray, np.ndarray, Any, np.ndarray]:
    """Return a target with ten labels a class, a source, and the truth."""
    rng = np.random.default_rng(seed)
    ill = (rng.random((2, 300)) < 0.1).astype(int)
    noise = rng.standard_normal((2, 300, 3))
    X = np.dstack([2.5 * ill + 0.5 * rng.standard_normal((2, 300)), noise])
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    y = np.full(300, -1)
    for code in (0, 1):
        y[np.flatnonzero(ill[1] == code)[:10]] = code
    return X[1], y, SourceDomain(X[0], ill[0], shared_columns=[(0, 0)]), ill[1]


@pytest.mark.parametrize("method", COLUMNS)
def test_one_shared_column_of_a_table_tells_what_it_knows(method: str) -> None:
    X, y, source, truth = one_telling_column(0)
    model = make(method).fit(X, y, source=source)
    found, truth = model.transduction_[y == -1], truth[y == -1]
    assert np.mean([np.mean(found[truth == c] == c) for c in (0, 1)]) > 0.95
    source_row = model.transform_source(source.X[:1])[0]
    target_row = model.transform(np.where([[1, 0, 0, 0]], source.X[0, 0], X[0]))[0]
    assert target_row[0] == source_row[0]  # one value has one size


def test_the_sign_of_a_single_column_is_named_as_the_cause() -> None:
    X, y, source, _ = one_telling_column(0)
    model = make("shared-columns", unit_rows=True)
    with pytest.warns(CollapseWarning, match=r"column .* its sign; set unit_rows=Fa"):
        model.fit(X, y, source=source)


@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_the_ridge_map_is_that_of_the_normal_equations(noise: float) -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 7))
    B = A @ rng.normal(size=(7, 5)) + noise * rng.normal(size=(20, 5))
    squares = np.linalg.svd(A, compute_uv=False) ** 2
    errors = []
    for penalty in PENALTIES * squares.mean():
        gram = A.T @ A + penalty * np.eye(7)
        hat = A @ np.linalg.solve(gram, A.T)
        residual = B - hat @ B
        errors.append((residual**2).sum() / (20 - np.trace(hat)) ** 2)
    best = int(np.argmin(errors))
    assert 0 < best < len(PENALTIES) - 1
    chosen = PENALTIES[best] * squares.mean()
    W, penalty = ridge_map(A, B)
    assert penalty == pytest.approx(chosen)
    expected = np.linalg.solve(A.T @ A + chosen * np.eye(7), A.T @ B)
    np.testing.assert_allclose(W, expected, atol=1e-10)


def test_the_rotation_of_procrustes_is_found_again() -> None:
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    left = PROBLEM.pairs[0]
    source = SourceDomain(
        PROBLEM.X_source, PROBLEM.y_source, paired_rows=(left, left @ turn)
    )
    target = Bridged(seed=3).X_source @ turn
    labels = np.where(np.arange(80) < 4, np.arange(80) % 4, -1)
    model = make("procrustes").fit(target, labels, source=source)
    kept = np.linalg.matrix_rank(row_normalise(left))
    assert np.linalg.matrix_rank(model.map_) == kept
    rows = row_normalise(PROBLEM.X_source)
    np.testing.assert_allclose(rows @ model.map_, rows @ turn, atol=1e-8)
