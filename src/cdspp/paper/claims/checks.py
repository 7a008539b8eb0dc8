"""Kinds of checks on scores and times: superiority, best of, cheapest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from cdspp.analysis.answers import interval_text
from cdspp.analysis.paired import paired_gain
from cdspp.analysis.summary import Floats, mean_sd, n_present
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core.wording import counted, in_points
from cdspp.paper.claims.evidence import (
    Evidence,
    Judgement,
    NotTestable,
    Times,
    find_row,
    judge,
    judge_gain,
    mean_text,
)
from cdspp.study.plan import METHOD, Row

__all__ = ["Best", "Cheapest", "Elsewhere", "Superior"]


@dataclass(frozen=True)
class Superior:
    """One method is better than another."""

    method: str
    rival: str
    rule: ClassVar[str] = (
        "Supported where the 95 % interval of the paired gain, averaged over tasks, "
        "for other labelled samples and test rows lies above zero, contrary where it "
        f"lies below (at least {MIN_TRIALS} trials of both)."
    )

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare the averages over tasks, on the trials that both have."""
        ours, theirs = (
            find_row(evidence.methods, key, "in this study")
            for key in (self.method, self.rival)
        )
        values, rival = evidence.average(ours), evidence.average(theirs)
        gain = evidence.gain(ours, theirs)
        shared = np.isfinite(values - rival)
        gains = evidence.tasks(ours) - evidence.tasks(theirs)
        better = sum(mean_sd(task)[0] > 0 for task in gains)
        return Judgement(
            judge_gain(gain),
            f"{ours.display_name} {mean_text(values[shared])}, {theirs.display_name} "
            f"{mean_text(rival[shared])}: a gain of {interval_text(gain)}, better "
            f"on {better} of {counted(len(gains), 'task')}, "
            f"{counted(gain.trials, 'trial')}.",
        )


@dataclass(frozen=True)
class Best:
    """A method is the best of its block, variants of itself (`apart`) left aside."""

    method: str
    apart: tuple[str, ...] = ()
    rule: ClassVar[str] = (
        "Supported where the 95 % interval of the paired gain over the best other "
        "complete row, averaged over tasks, for other labelled samples and test rows "
        "lies above zero, "
        f"contrary where it lies below (at least {MIN_TRIALS} trials). Rows that are "
        "shortened or have fewer trials are left out and named, with the gain over "
        "them on shared trials."
    )

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare with the best of the complete rows."""
        ours = find_row(evidence.methods, self.method, "in this study")
        values = evidence.average(ours)
        if not _is_complete(ours, values, evidence):
            raise NotTestable(f"{ours.display_name} has not all trials")
        others = [
            (row, evidence.average(row))
            for row in evidence.methods
            if row.supervised == ours.supervised
            and row.key not in (self.method, *self.apart)
        ]
        complete = [other for other in others if _is_complete(*other, evidence)]
        if not complete:
            raise NotTestable(f"no other complete row beside {ours.display_name}")
        best, rival = max(complete, key=lambda other: float(np.nanmean(other[1])))
        gain = evidence.gain(ours, best)
        left_out = [
            _left_out(row, values, found, evidence)
            for row, found in others
            if not _is_complete(row, found, evidence)
        ]
        return Judgement(
            judge_gain(gain),
            f"{ours.display_name} {mean_text(values)}; best of "
            f"{counted(len(complete), 'other')} {best.display_name}, "
            f"{mean_text(rival)}: "
            f"a gain of {interval_text(gain)}, {counted(gain.trials, 'trial')}."
            f"{_listed('Left out', left_out)}",
        )


@dataclass(frozen=True)
class Cheapest:
    """A method takes less processor time than each of its rivals."""

    method: str
    rivals: tuple[str, ...]
    rule: ClassVar[str] = (
        "Supported where its processor time over all tasks is below that of every "
        "rival that was measured, otherwise contrary (at least "
        f"{MIN_TRIALS} trials of it and of a rival that decides); shortened rivals are "
        "left out and named."
    )

    def __call__(self, evidence: Times) -> Judgement:
        """Compare with the cheapest rival, and name all that are cheaper."""
        times = evidence.seconds.dropna(subset="seconds").set_index("row")
        if self.method not in times.index or times.loc[self.method, "shortened"]:
            raise NotTestable(f"{self.method} was not timed on all tasks")
        ours = times.loc[self.method]
        methods = {r.key for r in evidence.plan.main_rows if r.kind == METHOD}
        known = methods & set(times.index)
        rivals = times.loc[[key for key in self.rivals if key in known]]
        short = rivals["shortened"].astype(bool)
        whole = rivals[~short].sort_values("seconds", kind="stable")
        if whole.empty:
            raise NotTestable(f"no rival of {ours.display_name} was timed on all tasks")
        cheaper = whole[whole["seconds"] <= ours.seconds]
        told = whole.iloc[[0, -1]] if cheaper.empty else cheaper
        deciding = whole.head(1) if cheaper.empty else cheaper
        trials = int(min(ours.trials, deciding["trials"].max()))
        opening = "cheapest and dearest rival" if cheaper.empty else "cheaper are"
        return Judgement(
            judge(trials, holds=cheaper.empty, opposite=not cheaper.empty),
            f"{ours.display_name} {ours.seconds:.3g} s; {opening} "
            f"{', '.join(_multiples(told, ours))}, of "
            f"{counted(len(whole), 'rival')}, {counted(trials, 'trial')}."
            f"{_listed('Left out, shortened', _multiples(rivals[short], ours))}",
        )


@dataclass(frozen=True)
class Elsewhere:
    """No number of a study speaks to the claim; something else may."""

    where: str
    rule: ClassVar[str] = "Not decided by the numbers of a study."

    def __call__(self, evidence: Evidence) -> Judgement:
        """Say where to look."""
        raise NotTestable(self.where)


def _is_complete(row: Row, average: Floats, evidence: Evidence) -> bool:
    """Whether a row has every trial of the study, as the study asks."""
    asked = evidence.summary.plan.trials_asked
    return not row.shortened and n_present(average) >= asked


def _left_out(row: Row, values: Floats, average: Floats, evidence: Evidence) -> str:
    """Name a row that is not complete, why, and the gain of `values` over it."""
    asked = evidence.summary.plan.trials_asked
    why = "shortened" if row.shortened else f"{n_present(average)} of {asked} trials"
    gain = paired_gain(values, average).gain
    over = "" if math.isnan(gain) else f", {in_points(gain, sign=True)}"
    return f"{row.display_name} ({why}{over})"


def _multiples(times: pd.DataFrame, unit: Any) -> list[str]:
    return [
        f"{time.display_name} ({time.seconds / unit.seconds:.3g} ×)"
        for time in times.itertuples()
    ]


def _listed(opening: str, parts: list[str]) -> str:
    return f" {opening}: {', '.join(parts)}." if parts else ""
