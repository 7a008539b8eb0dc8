"""HFA: a literal transcription; its shared kernels, roots and loops."""

from __future__ import annotations

import numpy as np
import pytest
import support.literal_formulas as shared
from scipy.linalg import pinv, sqrtm
from sklearn.svm import SVC
from support.toy_problem import ToyProblem, toy_problem

from cdspp import HFA
from cdspp.core.linalg import row_normalise
from cdspp.methods.hfa.hfa import (
    GaussianKernel,
)


def literal_weights(
    R: np.ndarray, H: list[np.ndarray], y: np.ndarray, costs: np.ndarray, p: float
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return weights, signed dual variables, intercept, objective of directions H."""
    d = np.full(len(H), (1.0 / len(H)) ** (1.0 / p))
    trace: list[float] = []
    while True:
        inside = np.eye(len(R)) + 100.0 * sum(
            w * np.outer(h, h) for w, h in zip(d, H, strict=True)
        )
        machine = SVC(kernel="precomputed", tol=1e-9)
        machine.fit(R @ inside @ R, -y, sample_weight=costs)
        ya = np.zeros(len(R))
        ya[machine.support_] = -machine.dual_coef_[0]
        q = np.array([100.0 * (h @ R @ ya) ** 2 for h in H])
        trace.append(np.abs(ya).sum() - 0.5 * (d @ q + ya @ R @ R @ ya))
        if shared.settled(trace) or len(trace) == 30:
            return d, ya, -machine.intercept_[0], trace[-1]
        u = d * np.sqrt(q)
        d = u ** (2 / (p + 1)) / np.sum(u ** (2 * p / (p + 1))) ** (1 / p)


def literal_values(problem: ToyProblem, new: np.ndarray, p: float) -> np.ndarray:
    """Return decision values by matrix roots and directions, formula by formula."""
    prepared = problem.prepared()
    Xs, Xt = prepared.X_source, prepared.X_labelled
    R = np.real(sqrtm(shared.scalar_blocks(Xs, Xt)))
    k_new = shared.scalar_kernel(row_normalise(new), Xt, Xt)
    t, costs = slice(len(Xs), None), np.repeat([1.0, 0.5], [len(Xs), len(Xt)])
    root = pinv(R[t, t])
    codes = np.concatenate([prepared.y_source, prepared.y_labelled])
    values = []
    for code in range(prepared.n_classes):
        y = np.where(codes == code, 1.0, -1.0)
        H = [np.ones(len(R)) / np.sqrt(len(R))]
        trace: list[float] = []
        while True:
            d, ya, intercept, objective = literal_weights(R, H, y, costs, p)
            trace.append(objective)
            if shared.settled(trace) or len(trace) == 5:
                break
            H.append(R @ ya / np.linalg.norm(R @ ya))
        f = k_new @ ya[t] + intercept
        for w, h in zip(d, H, strict=True):
            f = f + w * 100.0 * (k_new @ root @ h[t]) * (h @ R @ ya)
        values.append(f)
    return np.column_stack(values)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_decision_values_are_those_of_the_formulas_with_matrix_roots(p: float) -> None:
    problem = toy_problem(n_classes=3, spread=0.8, source_per_class=5)
    new = problem.X[problem.unlabelled] + 0.05
    model = HFA(C_target=0.5, p=p, max_iter=5, max_inner_iter=30, svm_tol=1e-9)
    problem.fit(model)
    expected = literal_values(problem, new, p)
    found = shared.decision_values(model, new)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(model.predict(new), expected.argmax(axis=1))


def test_more_directions_fit_better_until_the_objective_settles() -> None:
    problem = toy_problem(n_classes=2, spread=1.0)
    assert problem.fit(HFA(max_iter=1)).n_columns_.tolist() == [1, 1]
    assert problem.fit(HFA(max_iter=3, tol=0.0)).n_columns_.tolist() == [3, 3]
    assert problem.fit(HFA(max_iter=50, tol=0.5)).n_columns_.max() <= 5


def test_a_single_labelled_row_serves_as_source_too() -> None:
    model = HFA().fit([[1.0, 2.0], [0.0, 1.0]], [3, -1])
    assert model.transduction_.tolist() == [3, 3]
    assert model.n_columns_.tolist() == [0]


@pytest.mark.parametrize("n_features", [1, 7, 4096])
def test_equal_rows_have_a_kernel_of_ones(n_features: int) -> None:
    row = np.random.default_rng(0).standard_normal(n_features)
    kernel = GaussianKernel(row_normalise(np.tile(row, (5, 1))))
    np.testing.assert_array_equal(kernel.gram, np.ones((5, 5)))
