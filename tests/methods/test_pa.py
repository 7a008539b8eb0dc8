"""PA: invariances, the role of the source, degenerate cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.toy_problem import ToyProblem, toy_problem, variant

from cdspp import PA, SourceDomain
from cdspp.core.errors import MethodFailed
from cdspp.study.cost import Size


def wide_toy(**changes: Any) -> ToyProblem:
    """Return a problem with enough directions for more than one coefficient."""
    sizes = {"d_source": 60, "d_target": 40, "spread": 0.4, "unlabelled_per_class": 6}
    return toy_problem(**{**sizes, **changes})


def quick(**options: Any) -> PA:
    """Return PA with few codings and atoms."""
    return PA(**{"n_atoms": 40, "max_iter": 4, "random_state": 0, **options})


def labels(problem: ToyProblem, **options: Any) -> list[int]:
    """Return the labels of all target rows."""
    return problem.fit(quick(**options)).transduction_.tolist()


@pytest.mark.parametrize("sizes", [(60, 40), (40, 60), (50, 50)])
def test_separated_classes_are_recognised(sizes: tuple[int, int]) -> None:
    problem = wide_toy(d_source=sizes[0], d_target=sizes[1], labelled_per_class=1)
    model = problem.fit(quick())
    assert problem.accuracy(model) > 0.9
    assert len(model.history_) == model.n_iter_ == 3
    assert all(entry.confidence is None for entry in model.history_)


def test_source_labels_are_not_looked_at_but_source_rows_are() -> None:
    problem = wide_toy(spread=1.2)
    shuffled = np.random.default_rng(0).permutation(problem.source.y)
    other = variant(problem, source=SourceDomain(problem.source.X, shuffled))
    assert labels(other) == labels(problem)
    drawn = np.random.default_rng(1).standard_normal((32, 60))
    other = variant(problem, source=SourceDomain(drawn, problem.source.y))
    assert labels(other) != labels(problem)


def test_renaming_classes_renames_the_predictions() -> None:
    problem = wide_toy(spread=1.0)
    names = np.array([7, 3, 9, 5])
    renamed = variant(
        problem,
        y=np.where(problem.unlabelled, -1, names[problem.y]),
        source=SourceDomain(problem.source.X, names[problem.source.y]),
    )
    assert labels(renamed) == names[labels(problem)].tolist()


@pytest.mark.parametrize("factor", [3.0, 1e-200, 1e200])
def test_the_scale_of_either_domain_does_not_matter(factor: float) -> None:
    problem = wide_toy(spread=1.0)
    source = SourceDomain(problem.source.X * factor, problem.source.y)
    expected = labels(problem)
    assert labels(variant(problem, X=problem.X * factor)) == expected
    assert labels(variant(problem, source=source)) == expected


def test_features_without_content_change_nothing() -> None:
    problem = wide_toy(spread=1.0)
    X = np.pad(problem.source.X, ((0, 0), (0, 30)))
    padded = variant(problem, source=SourceDomain(X, problem.source.y))
    assert labels(padded) == labels(problem)


def test_the_seed_fixes_the_dictionary() -> None:
    problem = wide_toy(spread=1.5)
    found = [str(labels(problem, random_state=seed)) for seed in range(4)]
    assert len(set(found)) > 1
    assert str(labels(problem, random_state=2)) == found[2]
    state = np.random.RandomState
    assert labels(problem, random_state=state(1)) == labels(
        problem, random_state=state(1)
    )


def test_without_unlabelled_rows_there_is_nothing_to_code() -> None:
    model = wide_toy(unlabelled_per_class=0).fit(PA())
    assert len(model.history_) == 1
    assert model.history_[0].prediction.shape == (0,)


def test_rows_given_to_fit_are_looked_up_and_others_refused() -> None:
    problem = wide_toy()
    model = problem.fit(quick())
    np.testing.assert_array_equal(model.predict(problem.X), model.transduction_)
    with pytest.raises(ValueError, match="PA is transductive"):
        model.predict(problem.X + 1.0)


def test_a_class_without_labelled_target_row_is_never_predicted() -> None:
    problem = wide_toy()
    kept = (problem.y != 1) | problem.unlabelled
    model = quick().fit(problem.X[kept], problem.y[kept], source=problem.source)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert set(model.transduction_) == {0, 2, 3}


def test_a_single_labelled_class_is_predicted_everywhere() -> None:
    problem = wide_toy()
    kept = (problem.y == 2) | problem.unlabelled
    model = quick().fit(problem.X[kept], problem.y[kept], source=problem.source)
    assert set(model.transduction_) == {2}


@pytest.mark.parametrize("sizes", [(1, 1), (1, 40), (60, 1)])
def test_a_single_direction_is_named(sizes: tuple[int, int]) -> None:
    problem = wide_toy(d_source=sizes[0], d_target=sizes[1])
    with pytest.raises(MethodFailed, match="rows that differ in as many directions"):
        problem.fit(PA())


def test_equal_zero_and_repeated_rows_do_no_harm() -> None:
    problem = wide_toy()
    X = problem.X.copy()
    X[[0, 20]], X[25:30] = 0.0, X[25]
    X[:, :3] = 4.0
    ones = SourceDomain(np.ones((2, 60)), [0, 1])
    for changed in (variant(problem, X=X), variant(problem, source=ones)):
        model = changed.fit(quick())
        assert set(model.transduction_) <= {0, 1, 2, 3}


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_weights_beyond_the_arithmetic_are_named() -> None:
    with pytest.raises(MethodFailed, match="lower alpha or mu"):
        wide_toy().fit(quick(alpha=1e308))


@pytest.mark.parametrize(
    ("option", "value"),
    [("n_atoms", 0), ("gamma", 0.0), ("mu", 0.0), ("alpha", -1.0), ("max_iter", 1)],
)
def test_an_option_out_of_range_is_named(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"'{option}' parameter of PA must be"):
        wide_toy().fit(PA(**{option: value}))


def test_the_cost_grows_with_rows_and_with_the_wider_domain() -> None:
    small = Size("", 10, 100, 50, 30, 300, 60)
    rows = Size("", 10, 200, 50, 30, 300, 60)
    wide = Size("", 10, 100, 50, 30, 300, 600)
    for larger in (rows, wide):
        assert PA.work(larger)[0] > PA.work(small)[0]
        assert PA.work(larger)[1] > PA.work(small)[1]
