"""Evidence for claims: scores and curves, or times, of one benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from cdspp.analysis.curves import CurveScores, arrange_curves
from cdspp.analysis.source_help import read_comparisons, row_strata
from cdspp.analysis.summary import Floats, Summary, read_scores, summarise
from cdspp.analysis.verdicts import PairedGain, paired_gain, two_way_gain
from cdspp.core.names import PathLike
from cdspp.stages.score import RowScores
from cdspp.study.plan import METHOD, BenchmarkPlan, Plans, Row

SUPPORTED, CONTRARY = "supported", "contrary"
BY_CONSTRUCTION = "by construction"
UNTESTABLE = "cannot be tested here"  # in place of a verdict


class NotTestable(Exception):
    """A check lacks data; the message says which."""


class Judgement(NamedTuple):
    """A verdict, and the sentence of numbers behind it."""

    verdict: str
    numbers: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores, curves and comparisons of one benchmark, perhaps by target row."""

    summary: Summary
    curves: Sequence[CurveScores]
    comparisons: pd.DataFrame
    by_row: RowScores | None = None

    @property
    def plan(self) -> BenchmarkPlan:
        """The benchmark."""
        return self.summary.plan

    @property
    def methods(self) -> list[Row]:
        """The rows of the main setting that take part in claims."""
        return [row for row in self.plan.main_rows if row.kind == METHOD]

    def tasks(self, row: Row) -> Floats:
        """Return the accuracies of a row, by task and trial."""
        place = [known.key for known in self.summary.rows].index(row.key)
        return np.asarray(self.summary.accuracy[place])

    def average(self, row: Row) -> Floats:
        """Return the average over tasks by trial, NaN where a task has no score."""
        return np.asarray(self.tasks(row).mean(axis=0))

    def gain(self, row: Row, rival: Row) -> PairedGain:
        """Return the gain of a row over another one, averaged over tasks."""
        gain = paired_gain(self.average(row), self.average(rival))
        if not gain.trials:
            raise NotTestable("no trial with all tasks")
        if self.by_row is None:
            return gain
        tasks = self.summary.tasks
        return two_way_gain(row_strata(self.by_row, (row, rival), tasks, False))


@dataclass(frozen=True, eq=False)
class Times:
    """Seconds of the methods of all benchmarks (`measure_times`), one asked for."""

    plan: BenchmarkPlan
    seconds: pd.DataFrame


def read_evidence(
    scores: Sequence[PathLike],
    comparisons: Sequence[PathLike],
    rows: Sequence[PathLike],
    plans: Plans,
) -> list[Evidence]:
    """Read what is known of each benchmark: scores, comparisons, scores by row."""
    read = zip(map(read_scores, scores), comparisons, rows, plans, strict=True)
    return [
        Evidence(
            summarise(found, plan),
            arrange_curves(found, plan),
            read_comparisons(compared),
            RowScores(by_row),
        )
        for found, compared, by_row, plan in read
    ]
