"""Whom a method is compared with, and what it gains over each, by both measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cdspp.analysis.crossed import Stratum, by_class, crossed_gain
from cdspp.analysis.paired import PairedGain, paired_gain
from cdspp.analysis.summary import MOST_COLLAPSED, Floats, Summary
from cdspp.core.names import ALONE, BASELINE, MAIN
from cdspp.methods import method_class
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import Row
from cdspp.study.settings import in_state

__all__ = [
    "ACCURACY",
    "ALL_COLUMNS",
    "BALANCED",
    "MEASURES",
    "Contest",
    "Rival",
    "row_strata",
]

# What a bridged method has to beat, too: the target alone, on all of its columns.
ALL_COLUMNS = "all-columns"
MEASURES = ACCURACY, BALANCED = ("accuracy", "balanced")


@dataclass(frozen=True)
class Rival:
    """What a method is compared with: the baseline, or itself in another state.

    `key` is that of the baseline or the state, or `ALL_COLUMNS` of the method without
    source that a bridged one is held against; `place` is that of its row in a summary.
    """

    key: str
    name: str
    state: bool
    place: int


@dataclass(frozen=True, eq=False)
class Contest:
    """A row of a summary against its rivals, the baseline first, then states in order.

    A position beyond the tasks is the average over them. With scores by test row
    standard errors hold for other rows as well; without them those over trials stand.
    """

    place: int
    summary: Summary
    by_row: RowScores | None

    @cached_property
    def row(self) -> Row:
        """The row."""
        return self.summary.rows[self.place]

    @cached_property
    def rivals(self) -> list[Rival]:
        """Its rivals."""
        return list(_rivals(self.summary, self.row))

    def gains(self, at: int, measure: str) -> dict[str, PairedGain]:
        """Return the gain by a measure over each rival at a position."""
        return {rival.key: self._gain(rival, at, measure) for rival in self.rivals}

    def _gain(self, rival: Rival, at: int, measure: str) -> PairedGain:
        summary, balanced = self.summary, measure == BALANCED
        scores = summary.class_accuracy if balanced else summary.accuracy
        _, values = summary.with_average(scores)
        plain = paired_gain(values[self.place, at], values[rival.place, at])
        if self.by_row is None or not plain.trials:
            return plain
        pair = self.row, summary.rows[rival.place]
        tasks = summary.tasks[self._chosen(at)]
        return crossed_gain(row_strata(self.by_row, pair, tasks, balanced))

    def _chosen(self, at: int) -> slice:
        """Return the task at a position, beyond them all that are averaged."""
        beyond = at >= len(self.summary.tasks)
        return slice(None) if beyond else slice(at, at + 1)

    def collapsed(self, at: int) -> set[str]:
        """Return the rivals that no word compares with: too many fits collapsed.

        Of the trials that both have, those of the worse side count.
        """
        summary, chosen, found = self.summary, self._chosen(at), set()
        for rival in self.rivals:
            places = [self.place, rival.place]
            both = np.isfinite(summary.accuracy[places][:, chosen]).all(axis=0)
            sides = summary.collapsed[places][:, chosen]
            most = max(float((side & both).sum()) for side in sides)
            if most / max(int(both.sum()), 1) > MOST_COLLAPSED:
                found.add(rival.key)
        return found


def row_strata(
    by_row: RowScores, pair: tuple[Row, Row], tasks: Sequence[str], balanced: bool
) -> list[Stratum]:
    """Return the gain of a row over another by target row, averaged over tasks.

    There is a stratum for each target domain, or for each of its classes where all
    classes are to weigh the same (`balanced`).
    """
    found: dict[str, Floats] = {}
    classes = {}
    for task in tasks:
        ours, theirs = (by_row.right(r.setting, task, r.method) for r in pair)
        n_trials = min(len(ours), len(theirs))
        target = task.partition("_")[2]
        classes[target] = by_row.classes(task)
        difference = ours[:n_trials] - theirs[:n_trials]
        known = found.get(target, np.zeros_like(difference))
        n_trials = min(len(known), n_trials)
        found[target] = known[:n_trials] + difference[:n_trials]
    n_trials = min(map(len, found.values()))
    whole = {k: Stratum(1 / len(tasks), v[:n_trials]) for k, v in found.items()}
    if not balanced:
        return list(whole.values())
    return [s for k, part in whole.items() for s in by_class(part, classes[k])]


def _rivals(summary: Summary, row: Row) -> Iterator[Rival]:
    """Yield what a method is compared with: the baseline, then its states in order."""
    places = {(r.setting, r.method): i for i, r in enumerate(summary.rows)}
    for at, other in enumerate(summary.rows):
        if row.method == other.stands_for:  # one fit, under another name
            twin = places.get((row.setting, other.method), at)
            places[in_state(row.setting, ALONE), row.method] = twin
    if (own := summary.place(BASELINE)) is not None:
        baseline = summary.rows[own]
        yield Rival(baseline.key, baseline.display_name, False, own)
    for at, other in enumerate(summary.rows if row.bridge else ()):
        if other.setting == MAIN and method_class(other.method).without_source_of:
            yield Rival(ALL_COLUMNS, other.display_name, False, at)
    for state in summary.plan.states:
        place = places.get((in_state(row.setting, state), row.method))
        if place is not None:
            yield Rival(state, state, True, place)
