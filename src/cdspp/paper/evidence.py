"""The evidence for a claim: scores, curves and times of a benchmark."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from cdspp.analysis import source_help, transfer, verdicts
from cdspp.analysis.summary import CurveScores, Floats, Summary
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import MIN_TRIALS, ZERO
from cdspp.core.wording import in_points
from cdspp.methods import available, method_class
from cdspp.stages.score import SampleScores
from cdspp.study.plan import METHOD, BenchmarkPlan, Row

SUPPORTED, CONTRADICTED = "supported", "contradicted"
TOLERANCE = 0.01  # largest difference of means that counts as none


class NotTestable(Exception):
    """A check lacks data; the message names them."""


class Outcome(str):
    """The verdict on a claim; `reason` tells why it is inconclusive, else empty."""

    reason: str

    def __new__(cls, word: str, reason: str = "") -> Self:
        """Return the verdict with its reason."""
        outcome = super().__new__(cls, word)
        outcome.reason = reason
        return outcome


class Decision(NamedTuple):
    """A verdict on a claim, and a sentence with its numbers."""

    verdict: Outcome
    numbers: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores, curves and comparisons of one benchmark, optionally by target row.

    `printed` is the benchmark's name in the paper, if it is one of the paper's, and
    `others` are the study's other benchmarks.
    """

    summary: Summary
    curves: Sequence[CurveScores]
    comparisons: pd.DataFrame
    by_row: SampleScores | None = None
    printed: str | None = None
    others: Sequence["Evidence"] = ()

    @property
    def plan(self) -> BenchmarkPlan:
        """The plan of the benchmark."""
        return self.summary.plan

    @property
    def methods(self) -> list[Row]:
        """The rows of the main setting that take part in claims."""
        return [row for row in self.plan.main_rows if row.kind == METHOD]

    def place(self, row: Row) -> int:
        """Return the position of a row in the summary."""
        return [other.key for other in self.summary.rows].index(row.key)

    def tasks(self, row: Row) -> Floats:
        """Return the accuracies of a row, by task and trial."""
        return np.asarray(self.summary.accuracy[self.place(row)])

    def average(self, row: Row) -> Floats:
        """Return the average over tasks by trial, NaN if a task has no score."""
        return np.asarray(self.tasks(row).mean(axis=0))

    def gain(self, row: Row, rival: Row) -> verdicts.PairedGain:
        """Return the gain of a row over another one, averaged over tasks."""
        gain = verdicts.paired_gain(self.average(row), self.average(rival))
        if not gain.trials:
            raise NotTestable("no trial has all tasks")
        if self.by_row is None:
            return gain
        rows, tasks = (row, rival), self.summary.tasks
        strata = source_help.row_strata(self.by_row, rows, tasks, False)
        return verdicts.two_way_gain(strata)


@dataclass(frozen=True, eq=False)
class Times:
    """Seconds of the methods of all benchmarks (`measure_times`), for one of them."""

    plan: BenchmarkPlan
    seconds: pd.DataFrame
    printed: str | None = None


def find_row(rows: Iterable[Row], key: str, where: str = "in this study") -> Row:
    """Return the row of a method that ran unshortened, as the study specifies."""
    row = next((row for row in rows if row.key == key), None)
    if row is None:
        raise NotTestable(f"{shown_name(key)} does not run {where}")
    if row.shortened:
        raise NotTestable(f"the runs of {row.display_name} were shortened")
    return row


def shown_name(method: str) -> str:
    """Return the name of a method, or its identifier if it is a study's own."""
    return method_class(method).display_name if method in available() else method


def decide(trials: int, *, holds: bool, opposite: bool) -> Outcome:
    """Return the verdict on a claim; if neither holds, the trials do not decide."""
    if trials < MIN_TRIALS:
        return Outcome(Transfer.INCONCLUSIVE.word, transfer.TOO_FEW)
    if holds:
        return Outcome(SUPPORTED)
    if opposite:
        return Outcome(CONTRADICTED)
    return Outcome(Transfer.INCONCLUSIVE.word, transfer.NOT_DECIDED)


def decide_gains(gains: Sequence[verdicts.PairedGain], least: float = 0.0) -> Outcome:
    """Return the verdict, by intervals, on gains claimed to exceed `least` points."""
    border = least / 100
    return decide(
        min(gain.trials for gain in gains),
        holds=all(gain.low > border + ZERO for gain in gains),
        opposite=any(gain.high < border - ZERO for gain in gains),
    )


def as_list(names: str | Sequence[str]) -> list[str]:
    """Return one name, or several, as a list."""
    return [names] if isinstance(names, str) else list(names)


def mean_percent(values: Floats) -> str:
    """Return the mean of fractions in percent."""
    return f"{100 * float(np.nanmean(values)):.1f} %"


def sum_up(opening: str, parts: Sequence[Any]) -> str:
    """Return a sentence that lists parts after an opening; empty without any."""
    return f" {opening}: {', '.join(parts)}." if parts else ""


def signed_difference(value: float) -> str:
    """Return a difference of fractions in points, with its sign."""
    return in_points(value, sign=True)
