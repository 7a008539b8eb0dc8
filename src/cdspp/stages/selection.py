"""Options selected inside a trial, by cross-validation on its labelled target rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from cdspp.core.errors import CollapseWarning, MethodFailed
from cdspp.core.seeding import integer_seed
from cdspp.methods.base import HeterogeneousClassifier, SourceDomain
from cdspp.methods.source_vote import SourceVote
from cdspp.stages.source_states import SourceState
from cdspp.stages.trials import Trial

FOLDS = 3
Grid = Mapping[str, Sequence[Any]]


def grid_options(grid: Grid) -> list[dict[str, Any]]:
    """Return all combinations of the values of a grid, in its order."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def select_options(
    build: Callable[..., HeterogeneousClassifier],
    trial: Trial,
    state: SourceState,
    axes: tuple[int, str, str, int],
    grid: Grid,
) -> dict[str, Any]:
    """Return the options of a grid that predict held-out labelled rows best.

    Stratified folds of the labelled target rows are equal for all methods and source
    states of a trial; a held-out row is in no fit, nor in the source of a state made of
    labelled rows. No test label takes part.

    Of equally good options it returns the method's own, where they are among them, else
    the first. It returns none with fewer than two labelled rows in a class, or where
    every fit fails. `build` returns the method with options in place of its own; the
    draws belong to `axes`: seed, benchmark, task, trial. It costs `FOLDS` fits a point
    of the grid, fewer where a class has fewer labelled rows.
    """
    # Imported here: it takes a tenth of a second, and most fits select nothing.
    from cdspp.methods.labels import LabelledKFold

    _, counts = np.unique(trial.labelled.y, return_counts=True)
    n_folds = min(FOLDS, int(counts.min()))
    if n_folds < 2:
        return {}
    seed = integer_seed("selection", *axes) % 2**31
    folds = LabelledKFold(n_folds, random_state=seed)
    points = grid_options(grid)
    right = np.zeros(len(points))
    for train, test in folds.split(trial.X, trial.y):
        given = replace(trial, X=trial.X[train], y=trial.y[train])
        sources = state.of_all(trial.sources, given.labelled, axes)
        for place, point in enumerate(points):
            with warnings.catch_warnings(action="ignore", category=CollapseWarning):
                try:
                    model = fitted(partial(build, **point), given, sources)
                except MethodFailed:
                    right[place] = -np.inf
                    continue
            hits = model.predict(trial.X[test]) == trial.y[test]
            right[place] += np.count_nonzero(hits)
    if np.isneginf(right).all():
        return {}
    own = build().get_params()
    best = [p for p, n in zip(points, right, strict=True) if n == right.max()]
    ours = (p for p in best if all(own[name] == value for name, value in p.items()))
    return next(ours, best[0])


def fitted(
    build: Callable[[], HeterogeneousClassifier],
    trial: Trial,
    sources: list[SourceDomain],
) -> HeterogeneousClassifier | SourceVote:
    """Fit to all sources, by a vote of fits where a method takes only one."""
    model = build()
    if len(sources) < 2:
        return model.fit(trial.X, trial.y, source=next(iter(sources), None))
    if model.uses_source and not model.several_sources:
        return SourceVote(model).fit(trial.X, trial.y, source=sources)
    return model.fit(trial.X, trial.y, source=sources)
