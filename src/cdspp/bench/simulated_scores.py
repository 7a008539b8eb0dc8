"""Simulated scores by row, whose gains are set: cases for the rule on source help.

Whether a row is predicted rightly follows from a latent number that rows, trials and both
together move, so that trials share their rows as those of a study do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from cdspp.analysis.crossed import Stratum, crossed_gain
from cdspp.analysis.paired import PairedGain
from cdspp.analysis.verdicts import judge_tasks
from cdspp.core.names import ALONE, MATCHED, REAL
from cdspp.core.seeding import generator
from cdspp.methods.base import Float
from cdspp.stages.source_states import STATES

__all__ = [
    "MARGIN",
    "OTHERS",
    "SCENARIOS",
    "Scenario",
    "gains_over",
    "judge_scores",
    "simulate",
]

MARGIN = 0.01
OTHERS = [name for name in STATES if name != REAL]


class Scenario(NamedTuple):
    """What is true in a simulation.

    Attributes
    ----------
    over_none, over_matched, over_others : float
        True gain of the real source over no source, over the matched form of it, and
        over every other state.
    n_rows : int
        Test rows.
    own : float
        Share of the latent variance that is a state's own: `BY_ROWS` of it by rows and
        `BY_TRIALS` by trials, as of what states share. With the default a standard
        error over trials alone is as much too small as in the embedded study.
    lost : float
        Of the real source, how much more accuracy one trial in twenty loses; the others
        gain as much.
    """

    over_none: float
    over_matched: float
    over_others: float
    n_rows: int = 150
    own: float = 0.3
    lost: float = 0.0


# Mean accuracy with the real source.
MEAN = 0.8
BY_ROWS, BY_TRIALS = 0.5, 0.02
RARE = 0.05
SCENARIOS: Mapping[str, Scenario] = {
    # The least favourable for *helps*: one state alone is not beaten.
    "none at zero": Scenario(0.0, 0.1, 0.1),
    "all at zero": Scenario(0.0, 0.0, 0.0),
    # With more scatter there is seldom room for *equal*, so that it cannot err.
    "none at the margin": Scenario(MARGIN, 0.0, 0.0, n_rows=2000, own=0.02),
    "three points, 5 rows": Scenario(0.03, 0.03, 0.03, n_rows=5),
    "three points, 10 rows": Scenario(0.03, 0.03, 0.03, n_rows=10),
    "rare losses": Scenario(0.0, 0.1, 0.1, n_rows=600, own=0.01, lost=0.2),
    "five points": Scenario(0.05, 0.05, 0.05),
    "ten points": Scenario(0.1, 0.1, 0.1),
}


def simulate(scenario: Scenario, n_trials: int, rng: np.random.Generator) -> Float:
    """Draw which rows are right.

    Returns
    -------
    ndarray of shape (n_states, n_trials, n_rows)
        1 where a row is right, else 0; states in the order of `STATES`.
    """
    over_none, over_matched, over_others, n_rows, own, lost = scenario
    gaps = {**dict.fromkeys(STATES, over_others), REAL: 0.0}
    gaps |= {ALONE: over_none, MATCHED: over_matched}
    means = np.repeat(MEAN - np.array([list(gaps.values())]).T, n_trials, axis=1)
    if lost:
        bad = rng.random(n_trials) < RARE
        means[0] += np.where(bad, -lost, lost * RARE / (1 - RARE))
    latent = _moved(1 - own, (1, n_trials, n_rows), rng)
    latent = latent + _moved(own, (len(STATES), n_trials, n_rows), rng)
    right: Float = (latent < ndtri(means)[:, :, None]).astype(np.float64)
    return right


def _moved(
    variance: float, shape: tuple[int, int, int], rng: np.random.Generator
) -> Float:
    """Draw normal numbers that rows, trials and both together move."""
    states, trials, rows = shape
    moved: Float = (
        np.sqrt(BY_ROWS * variance) * rng.standard_normal((states, 1, rows))
        + np.sqrt(BY_TRIALS * variance) * rng.standard_normal((states, trials, 1))
        + np.sqrt((1 - BY_ROWS - BY_TRIALS) * variance) * rng.standard_normal(shape)
    )
    return moved


def gains_over(right: Float) -> dict[str, PairedGain]:
    """Return the gains of the real source from (n_states, n_trials, n_rows)."""
    real, *others = right
    return {
        name: crossed_gain([Stratum(1.0, real - other)])
        for name, other in zip(OTHERS, others, strict=True)
    }


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
    tasks, benchmarks = Counter[str](), Counter[str]()
    for _ in range(n_draws):
        drawn = (simulate(SCENARIOS[scenario], n_trials, rng) for _ in range(n_tasks))
        judged = judge_tasks([gains_over(task) for task in drawn], margin=MARGIN)
        words = [verdict.word for verdict in judged]
        tasks.update(words)
        benchmarks.update(set(words))
    line = {"scenario": scenario, "n_tasks": n_tasks, "n_trials": n_trials}
    return {**line, "n_draws": n_draws, "tasks": tasks, "benchmarks": benchmarks}
