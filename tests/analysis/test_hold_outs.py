"""Hold-outs: which rows a fit sees, and by which rows it is scaled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.toy_problem import paired_problem

from benchmarks.planted import Planted
from cdspp import CDSPP, SourceDomain, compare
from cdspp.analysis.hold_outs import Fold, Problem, all_folds
from cdspp.core.errors import ConfigError
from cdspp.core.scaling import fit_scaling
from cdspp.methods.problem import scale_domains

pytestmark = pytest.mark.usefixtures("few_candidates")


def test_held_out_rows_are_in_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    from cdspp.methods.cdspp.cdspp import CDSPP

    fitted: list[set[bytes]] = []
    plain = CDSPP.fit, CDSPP.predict

    def fit(self: CDSPP, X: Any, y: Any, *, source: Any = None) -> CDSPP:
        fitted.append({row.tobytes() for row in X})
        return plain[0](self, X, y, source=source)

    def predict(self: CDSPP, X: Any) -> Any:
        assert not fitted[-1] & {row.tobytes() for row in X}
        return plain[1](self, X)

    monkeypatch.setattr(CDSPP, "fit", fit)
    monkeypatch.setattr(CDSPP, "predict", predict)
    problem = Planted(n_classes=3, n_labelled=4).draw(0)
    source = problem.source
    given: Any = {"methods": ["cdspp"], "repeats": 5}
    compare(problem.X, problem.y, source=source, **given)
    # CDSPP, target-only in three scales, and both on all labelled rows.
    assert len(fitted) == 5 * (1 + 3) + 2


def test_a_scale_is_learnt_from_the_rows_of_the_fit_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Planted("shared", n_classes=3, n_labelled=3, n_unlabelled=5).draw(0)
    learnt: list[np.ndarray] = []

    def spy(kind: str, X: np.ndarray) -> Any:
        if kind == "standardise":
            learnt.append(X)
        return fit_scaling(kind, X)

    monkeypatch.setattr("cdspp.analysis.hold_outs.fit_scaling", spy)
    source = problem.source
    given: dict[str, Any] = {"source": source, "methods": ["cdspp"], "repeats": 5}
    compare(problem.X, problem.y, scale="standardise", **given)
    first, *others = learnt
    assert first is not None
    assert len(first) == len(problem.source.X)
    # Of three labelled rows per class one is held out, in each of the five repeats.
    folds = [X for X in others if len(X) < len(problem.X)]
    assert {len(X) for X in folds} == {3 * 2 + 3 * 5}
    assert len({X.tobytes() for X in folds}) == 5
    assert len(others) - len(folds) == 3  # each candidate, on all labelled rows
    with pytest.raises(ConfigError, match="scale.*, unit"):
        compare(problem.X, problem.y, scale="log", **given)


def test_of_very_many_rows_a_part_is_fitted_and_all_labelled_ones_are_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Planted("shared", n_classes=3, n_labelled=10, n_unlabelled=9).draw(0)
    sizes: set[tuple[int, int, int]] = set()
    tested: set[int] = set()
    fit, predict = CDSPP.fit, CDSPP.predict

    def spy(self: CDSPP, X: np.ndarray, y: np.ndarray, source: Any) -> CDSPP:
        n_labelled = int(np.sum(y != -1))
        sizes.add((n_labelled, len(X) - n_labelled, len(source.X) if source else 0))
        assert source is None or set(source.y) == {0, 1, 2}
        return fit(self, X, y, source=source)

    def count(self: CDSPP, X: np.ndarray) -> np.ndarray:
        tested.add(len(X))
        return predict(self, X)

    monkeypatch.setattr(CDSPP, "fit", spy)
    monkeypatch.setattr(CDSPP, "predict", count)
    given: dict[str, Any] = {"source": problem.source, "methods": ["cdspp"]}
    given |= {"repeats": 5, "max_rows": 12}
    found = compare(problem.X, problem.y, **given)
    assert sizes == {(12, 12, 12)}
    assert max(tested - {12}) == 6  # of 30 labelled rows, in each of five
    told = "12 of 30 labelled target rows, 27 unlabelled target rows and "
    assert told in found.note, found.note
    assert str(compare(problem.X, problem.y, **given)) == str(found)
    assert compare(problem.X, problem.y, **given | {"max_rows": 2000}).note == ""


def test_rows_of_a_class_are_held_out_in_turn() -> None:
    folds = _folds_with_a_single_label()[:10]
    times = np.bincount(np.concatenate([test for _, test in folds]), minlength=18)
    assert set(times[:-1]) == {2}
    assert times[-1] == 0  # the only label of its class
    for train, test in folds:
        assert not set(test) & set(np.concatenate(train))
        assert 17 in np.concatenate(train)


def test_classes_cut_to_one_label_stand_in_for_one_that_has_no_more() -> None:
    stand_ins = _folds_with_a_single_label()[10:]
    assert sorted(len(test) for _, test in stand_ins) == [4, 11]
    for train, test in stand_ins:
        assert len({*test, *np.concatenate(train)}) == 18
        assert sorted(map(len, train)) == [1, 1, 16 - len(test)]


def _folds_with_a_single_label() -> list[Fold]:
    """Return folds of five, twelve and one labels a class."""
    y = [0] * 5 + [1] * 12 + [2]
    problem = Problem.of(np.eye(18), y, SourceDomain(np.eye(4), [0, 0, 1, 2]), "none")
    return all_folds(problem, 10, 0.2, 2000, 0)


def test_paired_rows_are_scaled_as_the_rows_of_their_domain() -> None:
    X, _, source = paired_problem()
    scaling, scaled = scale_domains("standardise", X, source)
    np.testing.assert_allclose(scaled.X.std(axis=0), 1.0)
    left, right = scaled.paired_rows
    np.testing.assert_array_equal(right, scaling.apply(source.paired_rows[1]))
    expected = fit_scaling("standardise", source.X).apply(source.paired_rows[0])
    np.testing.assert_array_equal(left, expected)


def test_shared_columns_are_scaled_as_in_the_source_or_each_by_its_rows() -> None:
    rng = np.random.default_rng(0)
    X, X_source = rng.normal(5.0, 2.0, size=(30, 3)), rng.normal(1.0, 3.0, size=(40, 2))
    source = SourceDomain(X_source, np.arange(40) % 2, shared_columns=[(1, 2)])
    rows = scale_domains("standardise", X, source)[0].apply(X)
    mean, sd = X_source[:, 1].mean(), X_source[:, 1].std()
    np.testing.assert_allclose(rows[:, 2], (X[:, 2] - mean) / sd)
    np.testing.assert_allclose(rows[:, :2].mean(axis=0), 0.0, atol=1e-12)
    each, other = scale_domains("standardise-each", X, source)
    np.testing.assert_allclose(each.apply(X).mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(other.X.mean(axis=0), 0.0, atol=1e-12)
