"""Transport of the source: against naive versions, and what the plans hold."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy.special import xlogy
from sklearn.svm import SVC
from support.toy_problem import ToyProblem, toy_problem

from cdspp import COOT, KPGRL, KPGRLGW, KPGRLKP, PCACoral, SemiRelaxedFGW, SourceDomain
from cdspp.core import memory
from cdspp.core.errors import DataError, LabelWarning, MethodFailed
from cdspp.core.linalg import row_normalise
from cdspp.methods.transport.kpg_rl import _step_length
from cdspp.methods.transport.plans import COPIES, sinkhorn


def unit(problem: ToyProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = row_normalise(problem.X)
    return (
        row_normalise(problem.source.X),
        X[problem.labelled],
        X[~problem.labelled],
    )


def naive_sinkhorn(cost: np.ndarray, mask: np.ndarray, epsilon: float) -> np.ndarray:
    """Solve in the log domain, with a mask and the masses 1 / n and 1 / m."""
    n, m = cost.shape
    open_ = np.where(mask, -cost / epsilon, -np.inf)
    u, v = np.zeros(n), np.zeros(m)
    for _ in range(20000):
        before, u = u, -np.log(n) - np.logaddexp.reduce(open_ + v, axis=1)
        v = -np.log(m) - np.logaddexp.reduce(open_ + u[:, None], axis=0)
        if np.abs(u - before).max() < 1e-12:
            break
    return np.exp(open_ + u[:, None] + v)


def naive_relation(X: np.ndarray, keypoints: np.ndarray, tau: float) -> np.ndarray:
    every = np.vstack([keypoints, X])
    largest = max(((a - b) ** 2).sum() for a in every for b in every)
    found = np.array([[((x - k) ** 2).sum() for k in keypoints] for x in X])
    scores = np.exp(-found / largest / tau)
    return scores / scores.sum(axis=1, keepdims=True)


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    middle = (p + q) / 2
    left, right = (np.sum(r * np.log(r / middle)) for r in (p, q))
    return float(left + right) / 2


def balanced() -> ToyProblem:
    """As many source rows as unlabelled target rows: the authors' protocol."""
    sizes = {"source_per_class": 9, "labelled_per_class": 2, "unlabelled_per_class": 9}
    found = toy_problem(spread=0.6, seed=3, **sizes)
    assert len(found.source.X) == (~found.labelled).sum()
    return found


def keypoint_guide(problem: ToyProblem, tau: float) -> tuple[np.ndarray, ...]:
    source, labelled, unlabelled = unit(problem)
    classes = problem.y[problem.labelled]
    means = np.array([source[problem.source.y == c].mean(axis=0) for c in classes])
    all_source, all_target = (
        np.vstack([means, source]),
        np.vstack([labelled, unlabelled]),
    )
    left = naive_relation(all_source, means, tau)
    right = naive_relation(all_target, labelled, tau)
    guide = np.array([[jensen_shannon(p, q) for q in right] for p in left])
    return guide, all_source, all_target


def test_the_plan_of_kpg_rl_is_that_of_the_masked_problem() -> None:
    problem = balanced()
    model = problem.fit(KPGRL(epsilon=0.05))
    guide, all_source, all_target = keypoint_guide(problem, 0.1)
    n_keypoints = int(problem.labelled.sum())
    mask = np.ones(guide.shape, dtype=bool)
    mask[:n_keypoints], mask[:, :n_keypoints] = False, False
    mask[np.arange(n_keypoints), np.arange(n_keypoints)] = True
    scale = guide[n_keypoints:, n_keypoints:].max()
    # With uniform masses the mask is feasible here, and changes nothing.
    expected = naive_sinkhorn(guide / scale, mask, 0.05)[n_keypoints:, n_keypoints:]
    np.testing.assert_allclose(model.plan_, expected / expected.sum(), atol=1e-6)


def test_masses_are_uniform_and_rows_move_to_means_of_target_rows() -> None:
    problem = toy_problem(spread=0.5)
    options: dict[str, Any] = {"epsilon": 0.05, "max_iter": 20000}
    model = problem.fit(KPGRL(**options))
    n, m = model.plan_.shape
    np.testing.assert_allclose(model.plan_.sum(axis=0), 1 / m, rtol=1e-9)
    assert np.abs(model.plan_.sum(axis=1) - 1 / n).sum() < 2e-6
    _, _, unlabelled = unit(problem)
    expected = n * model.plan_ @ unlabelled
    np.testing.assert_allclose(model.moved_, expected, atol=1e-4)
    linear = problem.fit(KPGRL(**options, classifier="linear"))
    np.testing.assert_array_equal(linear.plan_, model.plan_)
    np.testing.assert_allclose(linear.moved_, row_normalise(expected), atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_kpg_rl_ends_in_the_support_vector_machine_of_the_release(
    n_classes: int,
) -> None:
    problem = toy_problem(spread=1.5, n_classes=n_classes, seed=4)
    model = problem.fit(KPGRL())
    _, labelled, unlabelled = unit(problem)
    machine = SVC(gamma="auto")
    machine.fit(
        np.vstack([labelled, model.moved_]),
        np.concatenate([problem.y[problem.labelled], problem.source.y]),
    )
    expected = machine.predict(unlabelled)
    assert len(set(expected)) == n_classes
    np.testing.assert_array_equal(model.transduction_[~problem.labelled], expected)
    shares = model.predict_proba(problem.X)
    pairs = n_classes * (n_classes - 1) / 2
    np.testing.assert_allclose(shares * pairs, np.round(shares * pairs))


@pytest.mark.parametrize("classifier", ["svc", "linear"])
def test_kpg_rl_of_one_class_predicts_it(classifier: str) -> None:
    source = SourceDomain([[1.0, 2.0], [2.0, 1.0]], [3, 3])
    X, y = np.eye(4)[:, :3] + 1.0, [3, 3, -1, -1]
    model = KPGRL(classifier=classifier).fit(X, y, source=source)
    assert model.transduction_.tolist() == [3] * 4


def gromov_objective(
    model: KPGRLGW, problem: ToyProblem, guide: np.ndarray, *rows: np.ndarray
) -> float:
    """Return the objective of KPG-RL-GW over all pairs of `rows`, by their guide."""
    all_source, all_target = rows
    left, right = (
        ((X[:, None] - X) ** 2).sum(axis=2) for X in (all_source, all_target)
    )
    left, right = left / left.max(), right / right.max()
    n_keypoints = int(problem.labelled.sum())
    n = len(left) - n_keypoints
    plan = np.zeros(guide.shape)
    plan[n_keypoints:, n_keypoints:] = model.plan_
    plan[np.arange(n_keypoints), np.arange(n_keypoints)] = 1 / (n_keypoints + n)
    inner = guide[n_keypoints:, n_keypoints:]
    p, q = plan.sum(axis=1), plan.sum(axis=0)
    squares = p @ left**2 @ p + q @ right**2 @ q
    distances = squares - 2 * ((left @ plan @ right) * plan).sum()
    guided = (model.plan_ * inner / inner.max()).sum()
    return float(model.alpha * distances + (1 - model.alpha) * guided)


@pytest.mark.parametrize(("seed", "alpha"), [(1, 0.5), (3, 0.8)])
def test_the_objective_of_kpg_rl_gw_falls_below_that_of_the_plain_plan(
    seed: int, alpha: float
) -> None:
    sizes = {"source_per_class": 7, "labelled_per_class": 2}
    problem = toy_problem(spread=1.2, seed=seed, unlabelled_per_class=5, **sizes)
    parts, found = keypoint_guide(problem, 0.1), []
    for steps in (1, 2, 3, 5, 30):
        model = problem.fit(KPGRLGW(n_steps=steps, alpha=alpha))
        found.append(gromov_objective(model, problem, *parts))
    assert np.diff(found).max() <= 1e-12
    n, m = model.plan_.shape
    mass = n / (n + int(problem.labelled.sum()))
    np.testing.assert_allclose(model.plan_.sum(axis=0), mass / m)
    np.testing.assert_allclose(model.plan_.sum(axis=1), mass / n)
    model.plan_ = mass * problem.fit(KPGRL()).plan_
    assert found[-1] <= found[3] < gromov_objective(model, problem, *parts)


def test_kpg_rl_gw_says_what_it_needs_and_kpg_rl_needs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ot", None)
    problem = toy_problem()
    problem.fit(KPGRL())
    with pytest.raises(ModuleNotFoundError, match=r"cdspp\[transport\]"):
        problem.fit(KPGRLGW())


def test_shared_columns_decide_where_the_guide_weighs_next_to_nothing() -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 4
    marks = 5 * np.eye(4)[codes] + 0.1 * rng.standard_normal((40, 4))
    X_source = np.hstack([marks, rng.standard_normal((40, 3))])
    X = np.hstack([rng.standard_normal((40, 2)), marks])
    y = np.where(np.arange(40) < 4, codes, -1)
    shared = [(k, k + 2) for k in range(4)]
    source = SourceDomain(X_source, codes, shared_columns=shared)
    model = KPGRLKP(alpha=0.99).fit(X, y, source=source)
    ties = np.array([model.plan_[:, codes[4:] == c].sum(axis=1) for c in range(4)])
    np.testing.assert_array_equal(ties.argmax(axis=0), codes)
    with pytest.raises(ValueError, match="shared columns"):
        KPGRLKP().fit(X, y, source=SourceDomain(X_source, codes))


def test_a_tiny_epsilon_overflows_nothing() -> None:
    cost = np.random.default_rng(2).random((5, 5))
    plan = sinkhorn(cost, 1e-4, 20000)
    assert np.isfinite(plan).all()
    np.testing.assert_allclose(plan.sum(axis=0), 0.2)


def test_plans_of_coot_are_those_of_a_plain_alternation() -> None:
    """Costs by one sum over all pairs of entries, both plans by Sinkhorn in turn."""
    problem = toy_problem(spread=0.4, n_classes=2, unlabelled_per_class=3)
    epsilon, model = 0.5, problem.fit(COOT(epsilon=0.5))
    known = problem.y != -1
    target = np.vstack([problem.X[known], problem.X[~known]])
    given = np.concatenate([problem.y[known], problem.y[~known]])
    source, target = (
        row_normalise(X) * np.sqrt(X.shape[1]) for X in (problem.source.X, target)
    )
    squares = (source[:, None, :, None] - target[None, :, None, :]) ** 2
    wrong = (problem.source.y[:, None] != given) & (given != -1)
    features = np.full(squares.shape[2:], 1.0 / np.prod(squares.shape[2:]))
    for _ in range(100):
        cost = np.einsum("ijkl,kl->ij", squares, features) + wrong
        rows = sinkhorn(cost, epsilon, 2000)
        cost = np.einsum("ijkl,ij->kl", squares, rows)
        features = sinkhorn(cost, epsilon, 2000)
    np.testing.assert_allclose(model.feature_plan_, features, rtol=1e-3)
    uniform = 1.0 / features.size
    assert np.abs(features / uniform - 1.0).max() > 0.1
    found = np.argmax(rows.T @ np.eye(2)[problem.source.y], axis=1)[known.sum() :]
    np.testing.assert_array_equal(model.transduction_[~known], found)


def accuracies(model: Any, sizes: list[int]) -> list[float]:
    """Return the accuracy on five problems with target classes of these sizes."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        centres = 4 * rng.standard_normal((3, 8))
        theirs, ours = np.repeat([0, 1, 2], 20), np.repeat([0, 1, 2], sizes)
        X_source, X = (
            centres[codes] + 0.3 * rng.standard_normal((60, 8))
            for codes in (theirs, ours)
        )
        y = np.full(60, -1)
        y[np.searchsorted(ours, [0, 1, 2])] = [0, 1, 2]
        source = SourceDomain(X_source, theirs)
        found.append(
            float((model.fit(X, y, source=source).transduction_ == ours).mean())
        )
    return found


def test_uniform_masses_take_rows_across_classes_of_unequal_size() -> None:
    """COOT cannot follow; free masses can, but may end in a mirrored solution."""
    for model in (COOT(), SemiRelaxedFGW(), KPGRL()):
        assert accuracies(model, [20, 20, 20]) == [1.0] * 5
    assert max(accuracies(COOT(), [44, 8, 8])) < 0.85
    assert sorted(accuracies(SemiRelaxedFGW(), [44, 8, 8]))[2] > 0.95


def test_plans_and_distances_that_do_not_fit_into_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = toy_problem()
    plans = 8 * COPIES * len(problem.source.X) * len(problem.X) / 2**20
    monkeypatch.setattr(memory, "available_megabytes", lambda: 1.01 * plans)
    problem.fit(COOT())
    for model in (SemiRelaxedFGW(), KPGRLGW()):  # these hold distances as well
        with pytest.raises(DataError, match=f"{type(model).__name__} holds plans"):
            problem.fit(model)
    monkeypatch.setattr(memory, "available_megabytes", lambda: 1e-3)
    for model in (KPGRL(), COOT()):
        with pytest.raises(DataError, match=r"plans.* \d+ x \d+ rows"):
            problem.fit(model)


def test_srfgw_labels_rows_of_the_fit_by_its_plan() -> None:
    problem = toy_problem(spread=1.5)
    model = problem.fit(SemiRelaxedFGW(epsilon=0.1, max_iter=50))
    shares = np.array(
        [model.plan_[:, problem.source.y == c].sum(axis=1) for c in model.classes_]
    )
    expected = model.classes_[shares.argmax(axis=0)[problem.labelled.sum() :]]
    found = model.transduction_[~problem.labelled]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(model.predict(problem.X[~problem.labelled]), found)
    proportions = model.predict_proba(problem.X)
    np.testing.assert_allclose(proportions.sum(axis=1), 1.0)
    assert (proportions.max(axis=1) < 0.99).any()


def test_a_new_row_of_srfgw_goes_where_its_fitted_twin_ends() -> None:
    """At convergence; one step from the source masses would end elsewhere."""
    problem = toy_problem(spread=1.0)
    model = problem.fit(SemiRelaxedFGW(epsilon=0.02, max_iter=2000))
    twins = model.predict(problem.X * (1 + 1e-9))[~problem.labelled]
    assert (twins == model.transduction_[~problem.labelled]).mean() > 0.95


def test_srfgw_minimises_its_objective_without_an_entropy() -> None:
    """Longer mirror descent lowers it, and rows of the plan end at single places."""
    problem = toy_problem(spread=0.6, n_classes=2)
    found, entropies = [], []
    for steps in (1, 20, 1000):
        model = problem.fit(SemiRelaxedFGW(epsilon=0.1, max_iter=steps))
        target = np.vstack([problem.X[problem.labelled], problem.X[~problem.labelled]])
        within, across = (
            ((X[:, None] - X) ** 2).sum(axis=2)
            for X in map(row_normalise, (target, problem.source.X))
        )
        within, across = within / within.max(), across / across.max()
        known = problem.y[problem.labelled]
        wrong = known[:, None] != problem.source.y
        plan = model.plan_
        p, q = plan.sum(axis=1), plan.sum(axis=0)
        distances = p @ within**2 @ p + q @ across**2 @ q
        distances -= 2 * ((within @ plan @ across) * plan).sum()
        found.append(0.5 * (plan[: len(known)] * wrong).sum() + 0.5 * distances)
        rows = plan * len(plan)
        entropies.append(-xlogy(rows, rows).sum(axis=1).mean())
    assert found[0] > found[1] > found[2]
    assert entropies[2] < 0.05 < entropies[1]


def test_a_class_without_source_rows_has_no_plan() -> None:
    problem = toy_problem()
    kept = problem.source.y != 1
    source = SourceDomain(problem.source.X[kept], problem.source.y[kept])
    for model in (COOT(), SemiRelaxedFGW()):
        with (
            pytest.warns(LabelWarning),
            pytest.raises(MethodFailed, match="class 1 .*source row"),
        ):
            model.fit(problem.X, problem.y, source=source)


def test_coral_on_components_is_coral_on_covariances() -> None:
    problem = toy_problem(spread=1.0, d_target=6)
    model = problem.fit(PCACoral(n_components=4))
    source, target = problem.source.X, problem.X

    def reduced(X: np.ndarray) -> np.ndarray:
        centred = X - X.mean(axis=0)
        return centred @ np.linalg.svd(centred, full_matrices=False)[2][:4].T

    def root(S: np.ndarray, power: float) -> np.ndarray:
        values, vectors = np.linalg.eigh(S)
        return (vectors * values**power) @ vectors.T

    Z, T = reduced(source), reduced(target)
    covariances = [M.T @ M / len(M) for M in (Z, T)]
    aligned = Z @ root(covariances[0], -0.5) @ root(covariances[1], 0.5)
    np.testing.assert_allclose(np.abs(Z * model.scale_), np.abs(aligned), atol=1e-8)


@pytest.mark.parametrize(
    ("curvature", "slope", "length"),
    [(2.0, -2.0, 0.5), (1.0, -4.0, 1.0), (1.0, 1.0, 0.0), (-1.0, 0.5, 1.0)],
)
def test_a_step_ends_where_the_objective_is_least(
    curvature: float, slope: float, length: float
) -> None:
    places = np.linspace(0.0, 1.0, 101)
    assert places[(curvature * places**2 + slope * places).argmin()] == length
    assert _step_length(curvature, slope) == length
