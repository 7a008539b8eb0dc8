"""Which rows to label next: rules for batches, on stored draws of the families.

Rows are picked by the vote of a stored draw of `benchmarks.decisions`, get their true
labels, and all members are fitted again, as `compare` does with ``labelled``. A rule
picks a batch at once, or in two rounds, the second by the vote of the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.decision_cases import SCALE, hold_outs
from benchmarks.decision_families import FAMILIES, Draw
from benchmarks.decision_records import DrawRecord, read_records, records_path
from benchmarks.decision_votes import ballot_of
from benchmarks.decisions import Mean, family_mean, paired
from cdspp.analysis.compare import vote_again
from cdspp.analysis.rows_to_label import by_margin, ranked
from cdspp.core.scaling import fit_scaling
from cdspp.core.seeding import generator
from cdspp.methods.base import UNLABELLED, Float, Int

__all__ = [
    *("BATCHES", "LABELS", "MARGIN", "RULES", "SUBSET", "Votes"),
    *("bench_rows", "gains", "over_margin"),
]

LABELS = (3, 10)  # rows a class, before the batch
BATCHES: Mapping[str, tuple[int, ...]] = {"10": (10,), "20": (20,), "10 + 10": (10, 10)}
MARGIN = "smallest margin"
# Families of different data that are quick to fit.
SUBSET = (
    *("wine, three columns", "cancer, six columns", "cancer, permuted labels"),
    *("digits, a stripe", "digits, no bridge", "digits, other classes"),
    *("embedded digits, 100 pairs", "embedded digits, wrong pairs"),
    *("docs to code", "requests, 100 pairs", "iris, no bridge"),
    *("diabetes, four columns", "diabetes, noise", "translations, 100 pairs"),
    *("translations, wrong pairs", "tags, sixteen columns", "tags, other classes"),
    "photographs, exchanged classes",
)


class Votes(NamedTuple):
    """Unlabelled rows: the first two classes of the vote, their margin, and columns."""

    classes: Int
    margins: Float
    X: Float

    def least_certain(self, n: int, rng: np.random.Generator) -> Int:
        """Return the least certain third, at least `n` rows, by margin."""
        n_third = max(len(self.margins) // 3, n)
        return by_margin(self.margins, int(rng.integers(2**31)))[:n_third]


Rule = Callable[[Votes, int, np.random.Generator], Int]


def _smallest(votes: Votes, n: int, rng: np.random.Generator) -> Int:
    return votes.least_certain(n, rng)[:n]


def _uncertain_third(votes: Votes, n: int, rng: np.random.Generator) -> Int:
    return np.asarray(rng.permutation(votes.least_certain(n, rng))[:n])


def _random(votes: Votes, n: int, rng: np.random.Generator) -> Int:
    return np.asarray(rng.permutation(len(votes.margins))[:n])


def _distant(votes: Votes, n: int, rng: np.random.Generator) -> Int:
    """Pick the row of the largest (1 - margin) times distance to those picked."""
    picked = [*votes.least_certain(1, rng)[:1]]
    distances = np.full(len(votes.margins), np.inf)
    while len(picked) < n:
        away = np.linalg.norm(votes.X - votes.X[picked[-1]], axis=1)
        distances = np.minimum(distances, away)
        worth = (1 - votes.margins) * distances
        worth[picked] = -1.0
        picked.append(int(worth.argmax()))
    return np.array(picked)


def _clusters(votes: Votes, n: int, rng: np.random.Generator) -> Int:
    """Pick the least certain row of each of `n` clusters of the least certain third."""
    from sklearn.cluster import KMeans

    rows = votes.least_certain(n, rng)
    means = KMeans(n, n_init=3, random_state=int(rng.integers(2**31)))
    first = np.unique(means.fit_predict(votes.X[rows]), return_index=True)[1]
    others = np.setdiff1d(np.arange(len(rows)), first)  # if rows are equal
    return np.asarray(rows[np.concatenate([first, others])[:n]])


def _classes_in_turn(votes: Votes, n: int, rng: np.random.Generator) -> Int:
    """Pick by margin within each pair of vote and runner-up, one of each in turn."""
    rows = votes.least_certain(len(votes.margins), rng)
    keys = map(tuple, np.sort(votes.classes[rows], axis=1).tolist())
    seen: dict[tuple[int, ...], int] = {}
    turns = []
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
        turns.append(seen[key])
    return rows[np.argsort(turns, kind="stable")[:n]]


# Rules are compared on one batch of 10 rows, and the first two also on 20 rows.
RULES: Mapping[str, Rule] = {
    MARGIN: _smallest,
    "margin and distance": _distant,
    "clusters of the least certain third": _clusters,
    "pairs of classes in turn": _classes_in_turn,
    "least certain third at random": _uncertain_third,
    "random": _random,
}


def bench_rows(
    families: Sequence[str],
    records: Path,
    *,
    progress: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Label rows by every rule on the first stored draws, and fit the vote again.

    Parameters
    ----------
    families : sequence of str
        Names of `FAMILIES`.
    records : Path
        Folder of the draws that `bench_decisions` has stored; others are left out.
    progress : callable, optional
        Receives a line of text before a family is run.

    Returns
    -------
    DataFrame
        By `family`, `labels`, `number`, `batch` and `rule` (column `policy`): how much
        more of `all` rows without a label are right, if those labelled are; and how
        much more of the `others`, the same before and after.
    """
    rows: list[dict[str, Any]] = []
    for family in families:
        progress(family)
        for record in read_records(records_path(records, family)):
            if record.labels in LABELS and not record.number:
                draw = FAMILIES[family].draw(record.labels, record.number)
                about = {"family": family, "labels": record.labels}
                about["number"] = record.number
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows += [{**about, **row} for row in gains(draw, record)]
    return pd.DataFrame(rows)


def gains(draw: Draw, record: DrawRecord) -> Iterator[dict[str, Any]]:
    """Yield what every rule gains on a draw by each kind of batch."""
    runs, ballot = hold_outs(draw, record.number), ballot_of(record)
    X = fit_scaling(SCALE, draw.X).apply(draw.X)
    places = np.flatnonzero(draw.y == UNLABELLED)
    right = ballot.labels == draw.truth[places]

    @cache
    def vote_with(batch: frozenset[int]) -> tuple[Int, Float, NDArray[np.bool_]]:
        """Return the vote on other rows, its shares, and which are labelled."""
        known = np.isin(places, [*batch])
        final = runs.problem.with_labels(places[known], draw.truth[places[known]])
        return *vote_again(runs, ballot, final, known), known

    for place, (rule, pick) in enumerate(RULES.items()):
        for name, rounds in [*BATCHES.items()][: None if place < 2 else 1]:
            rng = generator("rows", rule, record.labels, record.number)
            batch = frozenset[int]()
            for n in rounds:
                _, shares, known = vote_with(batch)
                votes = Votes(*ranked(shares), X[places[~known]])
                batch |= {*places[~known][pick(votes, n, rng)].tolist()}
            codes, _, known = vote_with(batch)
            after = codes == draw.truth[places[~known]]
            yield {
                "policy": rule,
                "batch": name,
                "all": (after.sum() + known.sum() - right.sum()) / len(places),
                "others": after.mean() - right[~known].mean(),
            }


def over_margin(results: pd.DataFrame, what: str, rule: str) -> Mean:
    """Return how much more a rule gains than the smallest margin."""
    difference = paired(results, what, rule, MARGIN)
    return family_mean(difference, difference.index.to_frame()["family"])
