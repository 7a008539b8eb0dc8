"""Whom a method is compared with, and what it gains over each, by both measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    "contests",
    "row_strata",
]

# What a bridged method has to beat, too: the target alone, on all of its columns.
ALL_COLUMNS = "all-columns"
MEASURES = ACCURACY, BALANCED = ("accuracy", "balanced")


@dataclass(frozen=True)
class Rival:
    """What a method is compared with: the baseline, or itself in another state.

    Attributes
    ----------
    key, name : str
        Identifier of the baseline or of the state, and what it is called; `ALL_COLUMNS`
        of the method without source that a bridged one is held against.
    state : bool
        Whether it is a state.
    place : int
        Position of its row in the summary.
    """

    key: str
    name: str
    state: bool
    place: int


@dataclass(frozen=True, eq=False)
class Contest:
    """A method against its rivals.

    Attributes
    ----------
    row : Row
        The method.
    place : int
        Position of its row in the summary.
    rivals : tuple of Rival
        The baseline first, then source states in order.
    summary : Summary
        Scores of all rows, by trial.
    by_row : RowScores or None
        Scores by test row, for standard errors that hold for other rows as well; with
        None those over trials stand.
    """

    row: Row
    place: int
    rivals: tuple[Rival, ...]
    summary: Summary
    by_row: RowScores | None

    def gains(self, at: int) -> dict[str, dict[str, PairedGain]]:
        """Return the gains by measure and rival on a task, or on the average.

        Parameters
        ----------
        at : int
            Position of the task; beyond them, the average over tasks.
        """
        return {
            measure: {
                rival.key: self._gain(rival, at, measure) for rival in self.rivals
            }
            for measure in MEASURES
        }

    def _gain(self, rival: Rival, at: int, measure: str) -> PairedGain:
        summary = self.summary
        name = "accuracy" if measure == ACCURACY else "class_accuracy"
        _, values = summary.with_average(getattr(summary, name))
        plain = paired_gain(values[self.place, at], values[rival.place, at])
        if self.by_row is None or not plain.trials:
            return plain
        pair, balanced = (self.row, summary.rows[rival.place]), measure == BALANCED
        return crossed_gain(row_strata(self.by_row, pair, self.tasks(at), balanced))

    def tasks(self, at: int) -> tuple[str, ...]:
        """Return the task at a position, beyond them all that are averaged."""
        tasks = self.summary.tasks
        return tasks if at >= len(tasks) else tasks[at : at + 1]

    def collapsed(self, at: int) -> set[str]:
        """Return the rivals that no word compares with: too many fits collapsed.

        These are the trials that both have, counted on the worse side.
        """
        return {
            rival.key
            for rival in self.rivals
            if self._collapsed_share(rival, at) > MOST_COLLAPSED
        }

    def _collapsed_share(self, rival: Rival, at: int) -> float:
        summary, places = self.summary, (self.place, rival.place)
        n_tasks = len(summary.tasks)
        chosen = slice(None) if at >= n_tasks else slice(at, at + 1)
        ours, theirs = (summary.accuracy[place][chosen] for place in places)
        both = np.isfinite(ours - theirs)
        sides = (summary.collapsed[place][chosen] for place in places)
        most = max(float((side & both).sum()) for side in sides)
        return most / max(int(both.sum()), 1)


def row_strata(
    by_row: RowScores, pair: tuple[Row, Row], tasks: Sequence[str], balanced: bool
) -> list[Stratum]:
    """Return the differences of two rows of a table by target row, averaged over tasks.

    Parameters
    ----------
    by_row : RowScores
        Which target rows are predicted rightly.
    pair : tuple of two Row
        The rows of the table: the first one's gain over the second.
    tasks : sequence of str
        What is averaged.
    balanced : bool
        Whether classes weigh the same.

    Returns
    -------
    list of Stratum
        One for each target domain, or for each of its classes.
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


def contests(
    summary: Summary, rows: list[Row], by_row: RowScores | None
) -> Iterator[Contest]:
    """Yield a contest for each of some rows of a summary."""
    for place, row in enumerate(summary.rows):
        if row in rows:
            rivals = tuple(_rivals(summary, row))
            yield Contest(row, place, rivals, summary, by_row)


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
