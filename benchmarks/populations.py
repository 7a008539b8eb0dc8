"""Populations of known gains: intervals and verdicts on pools, the truth from others.

A study sees one pool of target rows. This module draws many pools from a planted
population, and trials label rows of each. The mean gain over pools is the truth that
intervals must cover: it holds for other labelled samples *and* other target rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.planted import GEOMETRIES, Planted, PlantedProblem
from cdspp.analysis.transfer import DISAGREE, Transfer
from cdspp.analysis.verdicts import (
    PairedGain,
    Stratum,
    by_class,
    decide_all,
    gain_of,
    joint_verdict,
    two_way_gain,
)
from cdspp.core.names import NO_SOURCE, PERMUTED_CLASSES, REAL, WITHOUT_SOURCE
from cdspp.core.seeding import generator
from cdspp.methods import make
from cdspp.methods.base import Float, Int, SourceDomain
from cdspp.stages.source_states import STATES, SourceState

__all__ = [
    "ACCURACY",
    "BALANCED",
    "STRONGEST",
    "KINDS",
    "MARGIN",
    "POOL_ROWS",
    "judge_population",
    "one_and_two_way_gains",
    "population",
]

MARGIN = 0.01
STRONGEST = "strongest"
MEASURES = ACCURACY, BALANCED = ("accuracy", "balanced")
Gains = dict[str, dict[str, tuple[PairedGain, PairedGain]]]  # by measure and state
POOL_ROWS = (6, 15, 60)  # target rows per class

_MIXED: Mapping[str, Sequence[float]] = {
    "n_classes": (3, 5, 7),
    "n_source": (5, 10, 20),
    "n_labelled": (1, 2, 3),
    "d_source": (10, 20, 40),
    "d_target": (10, 20, 40),
    "n_latent": (2, 3, 5, 8),
    "shared": (0.5, 0.9, 1.0),
    "spread": (0.5, 0.8, 1.2),
    "noise": (0.1, 0.5),
}
# The values from which populations of a kind are drawn, each equally likely.
KINDS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "mixed": _MIXED,
    "noisy": {**_MIXED, "n_classes": (6, 9), "n_latent": (2, 3), "noise": (1.0, 2.0)},
    "heavy tails": {**_MIXED, "tail": (2.0, 3.0)},
    "two classes": {**_MIXED, "n_classes": (2,)},
    "unequal": {**_MIXED, "n_labelled": (1, 2), "imbalance": (4.0, 8.0)},
}


def population(kind: str, rows: int, number: int) -> Planted:
    """Return a population of a kind: geometries in turn, sizes drawn.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    rows, number : int
        Mean number of target rows per class, and number of the population, which is
        the same for any `rows`.

    Examples
    --------
    >>> from benchmarks.populations import population
    >>> [population("two classes", 15, number).geometry for number in range(3)]
    ['shared', 'means', 'none']
    """
    rng = generator("verdicts", kind, number)
    sizes: dict[str, Any] = {
        name: values[int(rng.integers(len(values)))]
        for name, values in KINDS[kind].items()
    }
    sizes["n_unlabelled"] = rows - sizes["n_labelled"]
    return Planted(GEOMETRIES[number % len(GEOMETRIES)], **sizes)


def judge_population(
    kind: str, rows: int, number: int, method: str, n_pools: int, n_trials: int
) -> dict[str, Any]:
    """Judge each pool of a population as one task; the other pools give the truth.

    Parameters
    ----------
    kind, rows, number
        The population, see `population`.
    method : str
        Identifier of the method that is fitted in every source state.
    n_pools, n_trials : int
        Pools, three at least, and draws of the labelled rows of each.

    Returns
    -------
    dict
        `kind`, `rows`, `method`, and `cases` with an entry per pool: the `verdict`, or
        that the measures disagree; the verdicts that are `true` by the other pools, and
        `certain` beyond two standard errors; and `intervals` by measure and comparator
        (none, and the strongest control): the distance from gain to truth, corrected
        for the error of the truth, half the one-way and half the two-way 95 % interval,
        and their standard errors.
    """
    problems = population(kind, rows, number)
    pools = [
        _pool_gains(problems, method, (kind, number, pool), n_trials)
        for pool in range(n_pools)
    ]
    gains = np.array(
        [[[c.gain for _, c in pool[m].values()] for m in MEASURES] for pool in pools]
    )
    cases = []
    for place, pool in enumerate(pools):
        other_gains = np.delete(gains, place, axis=0)
        error = other_gains.std(axis=0, ddof=1) / (n_pools - 1) ** 0.5
        cases.append(_case(pool, other_gains.mean(axis=0), error, n_pools))
    return {"kind": kind, "rows": rows, "method": method, "cases": cases}


def _pool_gains(
    problems: Planted, method: str, axes: tuple[str, int, int], n_trials: int
) -> Gains:
    problem = problems.draw(*axes[1:])
    correct = _correct_rows(problem, method, axes, n_trials)
    real = correct.pop(REAL)
    rows = {
        state: Stratum(1.0, real - state_rows) for state, state_rows in correct.items()
    }
    classes = {
        state: by_class(stratum, problem.truth) for state, stratum in rows.items()
    }
    return {
        ACCURACY: {
            state: one_and_two_way_gains([stratum]) for state, stratum in rows.items()
        },
        BALANCED: {
            state: one_and_two_way_gains(stratum) for state, stratum in classes.items()
        },
    }


def _correct_rows(
    problem: PlantedProblem, method: str, axes: tuple[str, int, int], n_trials: int
) -> dict[str, Float]:
    """Return by state which rows are predicted rightly (trials, rows)."""
    # With two classes, swapping gives the mirrored problem, with equal results.
    has_two_classes = len(problem.centres_target) == 2
    states = [
        name for name in STATES if not (has_two_classes and name == PERMUTED_CLASSES)
    ]
    shape = n_trials, len(problem.truth)
    correct = {name: np.full(shape, np.nan) for name in states}
    real, model = problem.source, make(method)
    for trial in range(n_trials):
        split = problem.split(*axes, trial)
        is_labelled = ~split.unlabelled
        labelled = SourceDomain(split.X[is_labelled], split.y[is_labelled])
        for name, rows in correct.items():
            source = SourceState(name).of(real, labelled, *axes, trial)
            predictions: Int = model.fit(split.X, split.y, source=source).transduction_
            rows[trial] = np.where(is_labelled, np.nan, predictions == split.truth)
    return correct


def one_and_two_way_gains(strata: Sequence[Stratum]) -> tuple[PairedGain, PairedGain]:
    """Return a gain with its standard error over trials, and over trials and rows."""
    means = [part.weight * np.nanmean(part.values, axis=1) for part in strata]
    return gain_of(np.sum(means, axis=0)), two_way_gain(strata)


def _case(pool: Gains, truth: Float, error: Float, n_pools: int) -> dict[str, Any]:
    """Return the verdict on a pool, the true ones, and intervals by measure."""
    verdicts, intervals = [], {}
    states = list(pool[ACCURACY])
    for measure, true in zip(MEASURES, truth, strict=True):
        gains = {state: two_way for state, (_, two_way) in pool[measure].items()}
        verdict = decide_all([gains], margin=MARGIN)[0]
        verdicts.append(verdict)
        for comparator, state in (
            (NO_SOURCE, NO_SOURCE),
            (STRONGEST, verdict.strongest),
        ):
            one_way, two_way = pool[measure][state]
            distance = abs(two_way.gain - true[states.index(state)])
            # The truth is a mean over the other pools, and scatters as such.
            distance /= (1 + 1 / (n_pools - 1)) ** 0.5
            half_widths = [gain.high - gain.gain for gain in (one_way, two_way)]
            intervals[f"{measure} {comparator}"] = [
                distance,
                *half_widths,
                one_way.error,
                two_way.error,
            ]
    found, reason = joint_verdict(*verdicts)
    return {
        "verdict": DISAGREE if reason == DISAGREE else found.word,
        "true": _true_verdicts(states, truth, 0 * error),
        "certain": _true_verdicts(states, truth, 2 * error),
        "intervals": intervals,
    }


def _true_verdicts(states: Sequence[str], truth: Float, doubt: Float) -> list[str]:
    """Return the verdicts that are true by both measures, beyond a margin of doubt."""
    without = [states.index(name) for name in WITHOUT_SOURCE]
    largest = np.abs(truth) + doubt
    truths = {
        Transfer.POSITIVE: np.all(truth > doubt),
        Transfer.NEGATIVE: np.all(truth[:, without] < -doubt[:, without]),
        Transfer.NO_EFFECT: np.all(largest[:, without] < MARGIN),
    }
    return [verdict.word for verdict, holds in truths.items() if holds]
