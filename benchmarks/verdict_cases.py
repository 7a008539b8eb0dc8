"""Cases of known truth for the rule on source help: simulated scores.

`cdspp.analysis.verdicts.decide_all` judges the scores as those of a study. Run as a
module, this file computes requests, also those for `benchmarks.populations`, in a
process of its own; `benchmarks.verdicts` sends the requests and counts the results.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from benchmarks.populations import MARGIN, judge_population
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import PairedGain, Stratum, decide_all, two_way_gain
from cdspp.core.names import NO_SOURCE, REAL
from cdspp.core.seeding import generator
from cdspp.methods.base import Float
from cdspp.stages.source_states import STATES

__all__ = [
    "SCENARIOS",
    "Scenario",
    "judge_scores",
    "simulate",
]


class Scenario(NamedTuple):
    """What is true in a simulation.

    Attributes
    ----------
    over_none, over_others : float
        True gain of the real source over none, and over every other state.
    n_rows : int
        Test rows.
    correlation : float
        Correlation between source states.
    row_variance : float
        Share of the variance between rows, the same in all trials.
    loss : float
        Loss of one trial in twenty with the real source; the others gain as much
        together, so that the mean stays.
    """

    over_none: float
    over_others: float
    n_rows: int = 150
    correlation: float = 0.96
    row_variance: float = 0.3
    loss: float = 0.0


# As in an embedded study of ten trials (digits, four tasks, and docs-to-code): CDSPP is
# right on 0.6 to 0.93 of the rows, its gains scatter over trials by 0.02, it differs
# from itself in another state on 0.06 of the rows, and two-way standard errors are 1.07
# times those over trials (for pairs of methods, 1.17 times).
CORRECT_SHARE = 0.81  # the chance that a row is right
TRIAL_VARIANCE = 0.02  # the trials' share of the variance
FAILING_SHARE = 0.05  # of the trials
# The same rows differ in all trials; of one in 100, none may be among those tested.
RARE = Scenario(MARGIN, 0.0, correlation=1.0, row_variance=1.0)
# A name begins with the rate that is counted: of a false verdict, or of a true one
# (power), by its key in `VERDICTS`. It also seeds the random stream.
VERDICTS = {
    **{"helps": Transfer.POSITIVE, "hurts": Transfer.NEGATIVE},
    "equal": Transfer.NO_EFFECT,
}
SCENARIOS: Mapping[str, Scenario] = {
    "false helps: none at zero": Scenario(0.0, 0.15),
    "false helps: one trial in 20 fails": Scenario(0.0, 0.15, loss=0.2),
    "false hurts: none at zero": Scenario(0.0, -0.15),
    "false equal: none at the margin": Scenario(MARGIN, 0.0),
    # The measured scatter seldom leaves room for no effect, so that it cannot err.
    "false equal: less scatter": Scenario(MARGIN, 0.0, 800, correlation=0.998),
    "false equal: rare rows, of 100": RARE._replace(n_rows=100),
    "false equal: rare rows, of 280": RARE._replace(n_rows=280),
    "false equal: 3 points, 5 rows": RARE._replace(over_none=0.03, n_rows=5),
    "false equal: 3 points, 10 rows": RARE._replace(over_none=0.03, n_rows=10),
    "power helps: five points": Scenario(0.05, 0.05),
    "power hurts: five points": Scenario(-0.05, -0.05),
}


def simulate(
    scenario: Scenario, shape: tuple[int, int], rng: np.random.Generator
) -> Float:
    """Draw which rows are predicted rightly, with known gains.

    Parameters
    ----------
    scenario : Scenario
        What is true.
    shape : tuple of int
        Numbers of tasks and trials.
    rng : Generator
        Random stream.

    Returns
    -------
    ndarray of shape (n_tasks, n_states, n_trials, n_rows)
        1 where a row is right, 0 where not, states in the order of `STATES`. A row is
        right where a normal number, the sum of parts for the trial, the row and both,
        is below a quantile.
    """
    tasks, trials = shape
    losses = {
        **dict.fromkeys(STATES, scenario.over_others),
        NO_SOURCE: scenario.over_none,
    }
    means = CORRECT_SHARE - np.array(list({**losses, REAL: 0.0}.values()))
    chances = np.tile(means[:, None, None], (tasks, 1, trials, 1))
    failing = rng.random((tasks, trials, 1)) < FAILING_SHARE
    chances[:, list(STATES).index(REAL)] += scenario.loss * (FAILING_SHARE - failing)
    trial_variance = min(TRIAL_VARIANCE, 1 - scenario.row_variance)
    parts = {
        (trials, 1): trial_variance,
        (1, scenario.n_rows): scenario.row_variance,
        (trials, scenario.n_rows): 1 - trial_variance - scenario.row_variance,
    }
    numbers = np.zeros((tasks, len(STATES), trials, scenario.n_rows))
    for part_shape, part in parts.items():
        common = rng.standard_normal((tasks, 1, *part_shape))
        state_part = rng.standard_normal((tasks, len(STATES), *part_shape))
        scatter = (
            scenario.correlation**0.5 * common
            + (1 - scenario.correlation) ** 0.5 * state_part
        )
        numbers += part**0.5 * scatter
    return np.asarray(numbers < ndtri(chances), dtype=float)


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
        The arguments, and for each verdict the number of `tasks` that got it, and of
        `benchmarks` in which a task got it.
    """
    rng = generator("verdicts", scenario, n_tasks, n_trials)
    tasks, benchmarks = Counter[str](), Counter[str]()
    for _ in range(n_draws):
        benchmark = simulate(SCENARIOS[scenario], (n_tasks, n_trials), rng)
        verdicts = decide_all([_gains(task) for task in benchmark], margin=MARGIN)
        words = [verdict.transfer.word for verdict in verdicts]
        tasks.update(words)
        benchmarks.update(set(words))
    line = {"scenario": scenario, "n_tasks": n_tasks, "n_trials": n_trials}
    return {**line, "n_draws": n_draws, "tasks": tasks, "benchmarks": benchmarks}


def _gains(correct: Float) -> dict[str, PairedGain]:
    """Return the gains of the real source from rows (states, trials, rows)."""
    rows = dict(zip(STATES, correct, strict=True))
    real = rows.pop(REAL)
    return {name: two_way_gain([Stratum(1.0, real - r)]) for name, r in rows.items()}


if __name__ == "__main__":
    what, requests = json.loads(sys.argv[1])
    answers: Mapping[str, Callable[..., dict[str, Any]]]
    answers = {"scores": judge_scores, "populations": judge_population}
    sys.stdout.write(json.dumps([answers[what](**request) for request in requests]))
