"""Cases of known truth for the rule on source help: simulated scores, planted problems.

Either is judged by `cdspp.analysis.verdicts.judge_tasks` as a study would be; planted
problems with few labelled rows by `cdspp.analysis.compare.compare`, too. Started as a
module this answers requests, in a process of its own; `cdspp.bench.verdicts` asks
and counts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from cdspp.analysis.compare import compare
from cdspp.analysis.paired import PairedGain, paired_gain
from cdspp.analysis.verdicts import HELPS, HURTS, judge_tasks
from cdspp.core.names import ALONE, REAL
from cdspp.core.seeding import generator
from cdspp.datasets.planted import GEOMETRIES, Planted
from cdspp.methods import make
from cdspp.methods.base import Float, SourceDomain
from cdspp.stages.source_states import STATES, SourceState

__all__ = [
    "COMPARED",
    "LABELLED",
    "MARGIN",
    "NEAR_ZERO",
    "OTHERS",
    "SCENARIOS",
    "Scenario",
    "Spread",
    "judge_comparison",
    "judge_problem",
    "judge_scores",
    "planted_problem",
    "simulate",
    "truth_of",
]

MARGIN = 0.01
NEAR_ZERO = "near zero"
OTHERS = [name for name in STATES if name != REAL]
# What planted problems are drawn from, each value as likely.
CHOICES: Mapping[str, Sequence[float]] = {
    "n_classes": (3, 5, 7),
    "n_source": (5, 10, 20),
    "n_labelled": (1, 2, 4),
    "d_source": (10, 20, 40),
    "d_target": (10, 20, 40),
    "n_latent": (2, 3, 5, 8),
    "shared": (0.5, 0.9, 1.0),
    "spread": (0.5, 0.8, 1.2),
    "noise": (0.1, 0.5),
}


FIRST_COMPARISON = 5000  # draws before belong to other problems
# Labelled target rows of a comparison, and how many each class has.
LABELLED: Mapping[int, tuple[int, ...]] = {
    12: (2,) * 6,
    30: (3,) * 10,
    39: (3, 3, 6, 12, 15),
    40: (20, 20),
    100: (5,) * 20,
}
# What sources of comparisons have in common with the target, and the spread of a class:
# the wider, the more there is to gain over methods without a source.
COMPARED: Mapping[str, tuple[str, float]] = {
    "none": ("none", 0.6),
    "misleading": ("misleading", 0.6),
    "shared": ("shared", 0.6),
    "shared, wide": ("shared", 1.0),
}


# Measured in an embedded study of ten trials (digits, four tasks, and docs-to-code):
# CDSPP with its source, permuted labels, noise, and none. Means over the five tasks:
# accuracy 0.81; standard deviation over trials 0.025 to 0.033 by state, 0.03 in all;
# 453 test samples; correlation over trials with the real source 0.62 without one, 0.86
# with another.
@dataclass(frozen=True)
class Spread:
    """How accuracies scatter over trials and go together between source states.

    Parameters
    ----------
    mean, sd : float
        Of the accuracy with the real source; test samples have their part in `sd`.
    n_test : int
        Number of test samples.
    with_none, with_others : float
        Correlation over trials with the state without a source; among all others.
    """

    mean: float = 0.81
    sd: float = 0.03
    n_test: int = 453
    with_none: float = 0.62
    with_others: float = 0.86


class Scenario(NamedTuple):
    """What is true in a simulation.

    Attributes
    ----------
    over_none, over_others : float
        True gain of the real source over none, and over every other state.
    spread : Spread
        How accuracies scatter around the truth.
    """

    over_none: float
    over_others: float
    spread: Spread = Spread()


SCENARIOS: Mapping[str, Scenario] = {
    "none at zero": Scenario(0.0, 0.1),
    "all at zero": Scenario(0.0, 0.0),
    "none at the margin": Scenario(MARGIN, 0.0),
    # The measured scatter seldom leaves room for *equal*, so that it cannot err.
    "none at the margin, less scatter": Scenario(
        MARGIN, 0.0, Spread(with_none=0.98, with_others=0.98)
    ),
    "five points": Scenario(0.05, 0.05),
}


def simulate(
    scenario: Scenario,
    shape: tuple[int, int, int],
    rng: np.random.Generator,
) -> Float:
    """Draw accuracies with known gains.

    Parameters
    ----------
    scenario : Scenario
        What is true.
    shape : tuple of int
        Numbers of draws, tasks and trials.
    rng : Generator
        Random stream.

    Returns
    -------
    ndarray of shape (n_draws, n_tasks, n_states, n_trials)
        Shares of right test samples, states in the order of `STATES`. The chance of a
        trial scatters normally, the number of right samples is binomial, and both go
        together between states (a normal copula).
    """
    over_none, over_others, spread = scenario
    lost = {**dict.fromkeys(STATES, over_others), ALONE: over_none, REAL: 0.0}
    means = spread.mean - np.array(list(lost.values()))[:, None]
    sampling = means * (1 - means) / spread.n_test
    scatter = np.sqrt(np.maximum(spread.sd**2 - sampling, 0.0))
    chances = means + scatter * _going_together(shape, spread, rng)
    quantiles = ndtr(_going_together(shape, spread, rng))
    right = binom.ppf(quantiles, spread.n_test, np.clip(chances, 0.0, 1.0))
    accuracies: Float = right / spread.n_test
    return accuracies


def _going_together(
    shape: tuple[int, int, int], spread: Spread, rng: np.random.Generator
) -> Float:
    """Draw standard normal numbers (draws, tasks, states, trials)."""
    draws, tasks, trials = shape
    of_all, of_sources, own = (
        rng.standard_normal((draws, tasks, n, trials)) for n in (1, 1, len(STATES))
    )
    alone = np.array([[name == ALONE] for name in STATES])
    joint = np.where(alone, spread.with_none, spread.with_others)
    numbers: Float = (
        spread.with_none**0.5 * of_all
        + np.sqrt(joint - spread.with_none) * of_sources
        + np.sqrt(1 - joint) * own
    )
    return numbers


def judge_scores(
    scenario: str, n_tasks: int, n_trials: int, n_draws: int
) -> dict[str, Any]:
    """Judge simulated benchmarks.

    Parameters
    ----------
    scenario : str
        One of `SCENARIOS`.
    n_tasks, n_trials, n_draws : int
        Tasks of a benchmark, trials of a task, benchmarks.

    Returns
    -------
    dict
        What was asked, and by word in how many `tasks`, and in how many `benchmarks`
        at least once, it was said.
    """
    rng = generator("verdicts", scenario, n_tasks, n_trials)
    shape = (n_draws, n_tasks, n_trials)
    tasks, benchmarks = Counter[str](), Counter[str]()
    for benchmark in simulate(SCENARIOS[scenario], shape, rng):
        judged = judge_tasks([_gains(task) for task in benchmark], margin=MARGIN)
        words = [verdict.word for verdict in judged]
        tasks.update(words)
        benchmarks.update(set(words))
    line = {"scenario": scenario, "n_tasks": n_tasks, "n_trials": n_trials}
    return {**line, "n_draws": n_draws, "tasks": tasks, "benchmarks": benchmarks}


def _gains(accuracies: Float) -> dict[str, PairedGain]:
    """Return the gains of the real source from accuracies (states, trials)."""
    rows = dict(zip(STATES, accuracies, strict=True))
    return {name: paired_gain(rows[REAL], rows[name]) for name in OTHERS}


def planted_problem(number: int) -> Planted:
    """Return the planted problem of a number: geometries in turn, sizes drawn.

    Examples
    --------
    >>> from cdspp.bench.verdict_cases import planted_problem
    >>> [planted_problem(number).geometry for number in range(5)]
    ['shared', 'means', 'none', 'misleading', 'shared']
    """
    rng = generator("verdicts", "sizes", number)
    drawn: dict[str, Any] = {
        name: values[int(rng.integers(len(values)))] for name, values in CHOICES.items()
    }
    return Planted(GEOMETRIES[number % len(GEOMETRIES)], **drawn)


def judge_problem(number: int, n_trials: int, n_fresh: int) -> dict[str, Any]:
    """Fit CDSPP on a planted problem in every source state, and judge it as one task.

    Parameters
    ----------
    number : int
        Which problem.
    n_trials, n_fresh : int
        Draws of the labelled target rows that are judged, and fresh ones after them
        that tell the truth.

    Returns
    -------
    dict
        The parameters as `planted`, `verdict`, `truth`, and by state the `gains` of the
        fresh trials and their standard `errors`.
    """
    planted = planted_problem(number)
    accuracies = _fit_in_all_states(planted, number, n_trials + n_fresh)
    judged, fresh = _gains(accuracies[:, :n_trials]), _gains(accuracies[:, n_trials:])
    return {
        "planted": asdict(planted),
        "verdict": judge_tasks([judged], margin=MARGIN)[0].word,
        "truth": truth_of(fresh),
        "gains": {name: gain.gain for name, gain in fresh.items()},
        "errors": {name: gain.error for name, gain in fresh.items()},
    }


def _fit_in_all_states(planted: Planted, number: int, n_trials: int) -> Float:
    """Return accuracies (states, trials) of CDSPP on one draw of a planted problem."""
    problem, model = planted.draw(number), make("cdspp")
    real = SourceDomain(*problem.source)
    accuracies = np.empty((len(STATES), n_trials))
    for trial in range(n_trials):
        split = problem.split(number, trial)
        known = ~split.unlabelled
        labelled = SourceDomain(split.X[known], split.y[known])
        for row, name in enumerate(STATES):
            source = SourceState(name).of(real, labelled, "verdicts", number, trial)
            found = model.fit(split.X, split.y, source=source).transduction_
            accuracies[row, trial] = np.mean(found[split.unlabelled] == split.hidden)
    return accuracies


def truth_of(gains: Mapping[str, PairedGain]) -> str:
    """Return what many trials tell, each gain beyond two of its standard errors."""
    if all(gain.gain > 2 * gain.error for gain in gains.values()):
        return HELPS
    return HURTS if gains[ALONE].gain < -2 * gains[ALONE].error else NEAR_ZERO


def judge_comparison(number: int, geometry: str, n_labelled: int) -> dict[str, Any]:
    """Ask whether the source of a planted problem is worth using, as a user would.

    Parameters
    ----------
    number : int
        Which problem.
    geometry : str
        What the source has in common: one of `COMPARED`.
    n_labelled : int
        Labelled target rows, one of `LABELLED`.

    Returns
    -------
    dict
        What was asked, and the decision of `compare` with its usual methods.
    """
    per_class, (planted_geometry, spread) = LABELLED[n_labelled], COMPARED[geometry]
    sizes = {"n_source": 20, "d_source": 50, "d_target": 40, "n_latent": 6}
    planted = Planted(
        planted_geometry,
        n_classes=len(per_class),
        n_labelled=max(per_class),
        n_unlabelled=8,
        spread=spread,
        **sizes,
    )
    problem = planted.draw(FIRST_COMPARISON + number)
    rank = np.arange(len(problem.y)) % (max(per_class) + 8)
    # Labelled rows of a class come first; of the smaller classes some are left out.
    kept = problem.unlabelled | (rank < np.array(per_class)[problem.truth])
    source = SourceDomain(*problem.source)
    found = compare(problem.X[kept], problem.y[kept], source=source, seed=number)
    asked = {"number": number, "geometry": geometry, "n_labelled": n_labelled}
    return {**asked, "decision": found.decision}


if __name__ == "__main__":
    what, requests = json.loads(sys.argv[1])
    answers: Mapping[str, Callable[..., dict[str, Any]]]
    answers = {
        "scores": judge_scores,
        "problem": judge_problem,
        "comparison": judge_comparison,
    }
    sys.stdout.write(json.dumps([answers[what](**request) for request in requests]))
