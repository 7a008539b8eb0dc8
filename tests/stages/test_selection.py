"""Options selected inside a trial: by held-out labelled rows, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cdspp.core.errors import MethodFailed
from cdspp.methods import method_class
from cdspp.methods.base import SourceDomain
from cdspp.methods.source_vote import SourceVote
from cdspp.stages.fit import fit_sources, select_options
from cdspp.stages.source_states import SourceState
from cdspp.stages.trials import Trial

AXES = (0, "toy", "a_b", 1)
N_CLASSES, N_LABELLED, N_ROWS = 3, 4, 12


def trial(n_labelled: int = N_LABELLED) -> Trial:
    """Return a trial whose rows can be told apart by their first column."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(N_CLASSES), N_ROWS)
    X = 4 * np.eye(N_CLASSES, 5)[truth] + rng.standard_normal((len(truth), 5))
    X[:, 0] += np.arange(len(truth)) * 1e-6
    known = np.arange(len(truth)) % N_ROWS < n_labelled
    y = np.where(known, [f"c{code}" for code in truth], "").astype(object)
    y[~known] = -1
    source = SourceDomain(
        4 * np.eye(N_CLASSES, 6)[truth], [f"c{code}" for code in truth]
    )
    ids = np.array([f"t{place}" for place in range(len(truth))])
    return Trial(1, X, y, ids[~known], (source,), (ids,), ids[known])


class Watched:
    """A method that is right on held-out rows only with the option that is best."""

    calls: list[tuple[float, np.ndarray, Any]]

    def __init__(self, best: float, failing: tuple[float, ...] = ()) -> None:
        self.best, self.failing, self.calls = best, failing, []

    def build(self, alpha: float = 10.0) -> Any:
        watched = self

        class Model:
            def get_params(self) -> dict[str, Any]:
                return {"alpha": 10.0}

            def fit(self, X: Any, y: Any, *, source: Any) -> Any:
                watched.calls.append((alpha, X[:, 0], source))
                if alpha in watched.failing:
                    raise MethodFailed("not this one")
                return self

            def predict(self, X: Any) -> Any:
                watched.calls[-1] += (X[:, 0],)
                right = alpha == watched.best or watched.best == 0
                truth = [f"c{np.argmax(row)}" for row in np.delete(X, [3, 4], axis=1)]
                return np.array(truth, dtype=object) if right else np.full(len(X), "?")

        return Model()


GRID = {"alpha": [1.0, 10.0, 100.0]}


def chosen(watched: Watched, state: str = "real", n_labelled: int = N_LABELLED) -> Any:
    given = trial(n_labelled)
    return select_options(watched.build, given, SourceState(state), AXES, GRID)


@pytest.mark.parametrize("best", [1.0, 100.0])
def test_the_value_that_predicts_held_out_rows_best_is_selected(best: float) -> None:
    assert chosen(Watched(best)) == {"alpha": best}


def test_of_equally_good_values_the_methods_own_is_selected() -> None:
    assert chosen(Watched(best=0)) == {"alpha": 10.0}


def test_a_value_whose_fits_fail_is_not_selected() -> None:
    assert chosen(Watched(best=1.0, failing=(1.0,))) == {"alpha": 10.0}
    assert chosen(Watched(best=1.0, failing=(1.0, 10.0, 100.0))) == {}


def test_with_one_labelled_row_a_class_the_method_keeps_its_options() -> None:
    watched = Watched(best=1.0)
    assert chosen(watched, n_labelled=1) == {}
    assert watched.calls == []


@pytest.mark.parametrize("state", ["real", "none", "none-matched", "noise"])
def test_a_held_out_row_is_in_no_fit_and_in_no_source(state: str) -> None:
    watched = Watched(best=1.0)
    chosen(watched, state)
    assert len(watched.calls) == 9
    for _, seen, source, held_out in watched.calls:
        assert not set(seen) & set(held_out)
        assert len(seen) + len(held_out) == N_CLASSES * N_ROWS
        if state == "none-matched":
            rows = set(np.asarray(source.X)[:, 0])
            assert rows < set(seen)
        else:
            assert (source is None) == (state == "none")


def test_folds_are_the_same_for_every_method_and_state() -> None:
    first, second = Watched(best=1.0), Watched(best=100.0)
    chosen(first)
    chosen(second, "none")
    for one, other in zip(first.calls, second.calls, strict=True):
        np.testing.assert_array_equal(one[-1], other[-1])


@pytest.mark.parametrize("name", ["cdspp", "cdls-sup", "svm-t"])
def test_several_sources_are_one_problem_or_a_vote_or_ignored(name: str) -> None:
    given, build = trial(), method_class(name)
    other = SourceDomain(given.source.X[:, :4], given.source.y)
    model = fit_sources(build, given, [given.source, other])
    assert isinstance(model, SourceVote) == (name == "cdls-sup")
    assert not isinstance(fit_sources(build, given, [other]), SourceVote)
    assert not isinstance(fit_sources(build, given, []), SourceVote)


def test_options_are_selected_with_several_sources() -> None:
    given = trial()
    other = SourceDomain(given.source.X[:, :4], given.source.y)
    both = replace(
        given,
        sources=(given.source, other),
        ids_of_sources=(given.source_ids, given.source_ids),
    )
    axes = (0, "toy", "a+b_c", 1)
    state = SourceState("noise", domain="b")
    for name, option in (("cdspp", "alpha"), ("cdls-sup", "ridge")):
        grid = {option: [0.2, 2.0]}
        found = select_options(method_class(name), both, state, axes, grid)
        assert found[option] in grid[option]
