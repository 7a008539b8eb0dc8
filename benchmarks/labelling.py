"""Choice of rows to label next, to decide between the bet and `target-only`.

Both fits stay unchanged, and labels of some rows are revealed. An exact sign test on
revealed rows on which exactly one fit is right settles the question at 5 %, one-sided
in either direction. The winner is deployed; without one, the bet. A second simulation
fits both methods again, with the revealed labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cdspp.analysis.rows_to_label import SignTest
from cdspp.core.seeding import generator
from cdspp.methods.base import Float, Int

__all__ = [
    "DISAGREEING",
    "RANDOM",
    "REVEALED",
    "UNCERTAIN",
    "labelling_rows",
    "simulate_labelling",
    "winner",
]

REVEALED = (5, 10, 20)
N_ORDERS, N_REFITTED = 100, 3  # random orders in all, and with methods fitted again
DISAGREEING, RANDOM, UNCERTAIN = "disagreeing rows", "random rows", "uncertain rows"
BET, OTHER, NEITHER = 0, 1, -1


class _Plan(NamedTuple):
    """Rows in the order in which they are labelled, for a rule that chooses them."""

    rule: str
    rows: Int


def winner(bet_hits: Any, alone_hits: Any) -> int:
    """Return the winner of the sign test: 0 the bet, 1 the other fit, -1 neither.

    >>> winner([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]), winner([1, 1, 1, 1], [0, 0, 0, 0])
    (0, -1)
    """
    bet, alone = np.asarray(bet_hits, bool), np.asarray(alone_hits, bool)
    test = SignTest(len(bet), int(np.sum(bet & ~alone)), int(np.sum(alone & ~bet)))
    return NEITHER if test.winner is None else test.winner


def simulate_labelling(
    predictions: Sequence[Int],
    scores: Sequence[Float],
    truth: Int,
    refit: Callable[[Int, int], Int],
    *,
    seed: int,
) -> list[dict[str, Any]]:
    """Reveal labels of rows that several rules choose.

    Parameters
    ----------
    predictions : two ndarrays of shape (n,)
        Codes of the unlabelled rows by the bet and by `target-only`.
    scores : two ndarrays of shape (n, n_classes)
        Their class probabilities.
    truth : ndarray of shape (n,)
        The true codes.
    refit : callable
        Fits again with the labels of some rows; returns the predictions of fit 0 or 1.
    seed : int
        Seed of random orders.

    Returns
    -------
    list of dict
        By rule and number `revealed`: the shares `settled` and `wrong` (settled on the
        fit that is right less often), and the mean accuracies of the deployed fit, as
        it was (`accuracy`) and fitted again (`accuracy_refitted`, which counts revealed
        rows as right).
    """
    hits = [np.asarray(codes == truth) for codes in predictions]
    means = [hits_of_fit.mean() for hits_of_fit in hits]
    plans, records = Counter[str](), []
    for plan in _plans(predictions, scores, truth, seed):
        plans[plan.rule] += 1
        for n_revealed in REVEALED:
            rows = plan.rows[:n_revealed]
            best = winner(*(hits_of_fit[rows] for hits_of_fit in hits))
            fit = BET if best == NEITHER else best
            record = {
                "rule": plan.rule,
                "revealed": n_revealed,
                "settled": best != NEITHER,
                "wrong": best != NEITHER and means[best] < means[1 - best],
                "accuracy": means[fit],
            }
            if plans[plan.rule] <= N_REFITTED:
                refit_hits = refit(rows, fit) == truth
                refit_hits[rows] = True
                record["accuracy_refitted"] = refit_hits.mean()
            records.append(record)
    groups = pd.DataFrame(records).groupby(["rule", "revealed"], sort=False)
    means_of_rules: list[dict[str, Any]] = (
        groups.mean().reset_index().to_dict("records")
    )
    return means_of_rules


def _plans(
    predictions: Sequence[Int],
    scores: Sequence[Float],
    truth: Int,
    seed: int,
) -> Iterator[_Plan]:
    rng = generator("labelling", seed)
    differ = np.flatnonzero(predictions[BET] != predictions[OTHER])
    for _ in range(N_ORDERS):
        yield _Plan(DISAGREEING, rng.permutation(differ)[: max(REVEALED)])
    for _ in range(N_ORDERS):
        yield _Plan(RANDOM, rng.permutation(len(truth))[: max(REVEALED)])
    sorted_scores = np.sort(scores[OTHER], axis=1)
    margins = sorted_scores[:, -1] - sorted_scores[:, -2]
    yield _Plan(UNCERTAIN, np.argsort(margins, kind="stable")[: max(REVEALED)])


def labelling_rows(draws: pd.DataFrame) -> pd.DataFrame:
    """Return means over draws, by rule and number of revealed labels.

    Parameters
    ----------
    draws : DataFrame
        The records of `simulate_labelling`, with the best accuracy of the draw as
        `hindsight`.

    Returns
    -------
    DataFrame
        The shares `settled` and `wrong`, the `regret`, the regret when `refitted`, and
        the number of `draws`.
    """
    regrets = draws.assign(
        regret=draws["hindsight"] - draws["accuracy"],
        refitted=draws["hindsight"] - draws["accuracy_refitted"],
    )
    groups = regrets.groupby(["rule", "revealed"], sort=False)
    means = groups[["settled", "wrong", "regret", "refitted"]].mean()
    return means.assign(draws=groups.size()).reset_index()
