"""Checks of claims on the scores of the main runs, and the registry of all checks."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cdspp.analysis import answers, verdicts
from cdspp.analysis.summary import Floats, mean_sd, n_present
from cdspp.analysis.verdicts import MIN_TRIALS, ZERO, PairedGain
from cdspp.core.wording import counted, in_points
from cdspp.paper import curve_checks, source_checks, time_checks
from cdspp.paper.evidence import (
    TOLERANCE,
    Decision,
    Evidence,
    NotTestable,
    as_list,
    decide,
    decide_gains,
    find_row,
    mean_percent,
    signed_difference,
    sum_up,
)
from cdspp.study.plan import Row

Names = str | Sequence[str]
Compared = tuple[Row, Row, PairedGain]


def superior(
    evidence: Evidence, method: Names, rival: Names, least: float = 0.0
) -> Decision:
    """Check that methods are better than others, by more than `least` points."""
    pairs = _compare(evidence, method, rival)
    return Decision(
        decide_gains([gain for *_, gain in pairs], least), _pairs_text(evidence, pairs)
    )


def within(
    evidence: Evidence, method: Names, rival: Names, low: float, high: float
) -> Decision:
    """Check that gains over others lie between two numbers of points."""
    pairs = _compare(evidence, method, rival)
    gains = [gain for *_, gain in pairs]
    least, most = low / 100 - ZERO, high / 100 + ZERO
    verdict = decide(
        min(gain.trials for gain in gains),
        holds=all(least <= gain.low and gain.high <= most for gain in gains),
        opposite=any(gain.high < least or gain.low > most for gain in gains),
    )
    return Decision(verdict, _pairs_text(evidence, pairs))


def no_better(evidence: Evidence, method: Names, rival: Names) -> Decision:
    """Check that methods are no better than others."""
    pairs = _compare(evidence, method, rival)
    gains = [gain for *_, gain in pairs]
    better = any(gain.low > ZERO for gain in gains)
    verdict = decide(
        min(gain.trials for gain in gains),
        holds=not better and all(gain.high <= TOLERANCE + ZERO for gain in gains),
        opposite=better,
    )
    return Decision(verdict, _pairs_text(evidence, pairs))


def _compare(evidence: Evidence, method: Names, rival: Names) -> list[Compared]:
    rows, rivals = (
        [find_row(evidence.methods, key) for key in as_list(keys)]
        for keys in (method, rival)
    )
    return [(row, other, evidence.gain(row, other)) for row in rows for other in rivals]


def _pairs_text(evidence: Evidence, pairs: Sequence[Compared]) -> str:
    texts = []
    for row, rival, gain in pairs:
        values, others = evidence.average(row), evidence.average(rival)
        shared = np.isfinite(values - others)
        gains = evidence.tasks(row) - evidence.tasks(rival)
        better = sum(mean_sd(task)[0] > 0 for task in gains)
        texts.append(
            f"{row.display_name} {mean_percent(values[shared])}, "
            f"{rival.display_name} {mean_percent(others[shared])}: a gain of "
            f"{answers.interval_text(gain)}, better on {better} of "
            f"{counted(len(gains), 'task')}, {counted(gain.trials, 'trial')}."
        )
    return " ".join(texts)


def best(evidence: Evidence, method: str, apart: Sequence[str] = ()) -> Decision:
    """Check that a method is the best of its block, except for those `apart`."""
    ours = find_row(evidence.methods, method)
    values, n_trials = evidence.average(ours), evidence.plan.n_trials
    if _missing_trials(ours, values, n_trials):
        raise NotTestable(f"{ours.display_name} lacks some trials")
    complete, left_out = [], []
    for row in _others(evidence, ours, apart):
        average = evidence.average(row)
        if lack := _missing_trials(row, average, n_trials):
            gain = verdicts.paired_gain(values, average).gain
            lead_text = "" if math.isnan(gain) else f", {signed_difference(gain)}"
            left_out.append(f"{row.display_name} ({lack}{lead_text})")
        else:
            complete.append((row, average))
    if not complete:
        raise NotTestable(f"no other complete row next to {ours.display_name}")
    leader, rival = max(complete, key=lambda other: float(np.nanmean(other[1])))
    lead = evidence.gain(ours, leader)
    return Decision(
        decide_gains([lead]),
        f"{ours.display_name} {mean_percent(values)}; best of "
        f"{counted(len(complete), 'other')} {leader.display_name}, "
        f"{mean_percent(rival)}: a gain of {answers.interval_text(lead)}, "
        f"{counted(lead.trials, 'trial')}.{sum_up('Left out', left_out)}",
    )


def _others(evidence: Evidence, ours: Row, apart: Sequence[str]) -> list[Row]:
    """Return the other rows of a row's block, except for those `apart`."""
    return [
        row
        for row in evidence.methods
        if row.key not in (ours.key, *apart) and row.supervised == ours.supervised
    ]


def _missing_trials(row: Row, average: Floats, n_asked: int) -> str:
    if row.shortened:
        return "shortened"
    n_trials = n_present(average)
    return f"{n_trials} of {n_asked} trials" if n_trials < n_asked else ""


def best_on_tasks(
    evidence: Evidence, method: str, share: float, apart: Sequence[str] = ()
) -> Decision:
    """Check that a method has the highest mean on at least a share of the tasks."""
    ours = find_row(evidence.methods, method)
    n_trials = evidence.plan.n_trials
    if len(evidence.plan.tasks) < 2:
        raise NotTestable("the benchmark has one task")
    rows = [
        row
        for row in (ours, *_others(evidence, ours, apart))
        if not _missing_trials(row, evidence.average(row), n_trials)
    ]
    if rows[:1] != [ours] or len(rows) < 2:
        raise NotTestable(f"{ours.display_name} or all other rows lack some trials")
    means = np.array([evidence.tasks(row).mean(axis=1) for row in rows])
    n_best, n_tasks = int((means[0] >= means.max(axis=0)).sum()), means.shape[1]
    holds = n_best >= share * n_tasks - ZERO
    return Decision(
        decide(n_trials, holds=holds, opposite=not holds),
        f"{ours.display_name} has the highest mean of {counted(len(rows), 'row')} on "
        f"{n_best} of {counted(n_tasks, 'task')}, {counted(n_trials, 'trial')}.",
    )


def variation(evidence: Evidence) -> Decision:
    """Check that the accuracy of most methods varies over trials."""
    sds = {}
    for row in evidence.methods:
        values = evidence.tasks(row)
        if n_present(values.mean(axis=0)) >= MIN_TRIALS:
            sds[row.display_name] = float(np.nanstd(values, axis=1, ddof=1).mean())
    if not sds:
        raise NotTestable(f"no method has {MIN_TRIALS} trials of all tasks")
    above = sum(sd > TOLERANCE + ZERO for sd in sds.values())
    least, most = min(sds, key=lambda n: sds[n]), max(sds, key=lambda n: sds[n])
    holds = 2 * above > len(sds)
    return Decision(
        decide(evidence.plan.n_trials, holds=holds, opposite=not holds),
        f"Standard deviation over trials, averaged over tasks, from "
        f"{in_points(sds[least])} points ({least}) to {in_points(sds[most])} ({most}); "
        f"above {in_points(TOLERANCE)} for {above} of {counted(len(sds), 'method')}.",
    )


def largest_gain(
    evidence: Evidence, method: str, rival: str, over: Sequence[str]
) -> Decision:
    """Check that a gain is larger than on each of other benchmarks of the paper."""
    gains = []
    for each in (evidence, *evidence.others):
        if each is evidence or each.printed in over:
            (pair,) = _compare(each, method, rival)
            gains.append((each.plan.title, pair[-1]))
    if len(gains) == 1:
        raise NotTestable("none of the benchmarks to compare with is in this study")
    (_, ours), *others = gains
    differences = [_lead(ours, other) for _, other in others]
    texts = (f"{title} {signed_difference(gain.gain)}" for title, gain in gains)
    return Decision(decide_gains(differences), f"Gains: {', '.join(texts)} points.")


def _lead(gain: PairedGain, other: PairedGain) -> PairedGain:
    """Return the difference of the gains on two benchmarks, which share no row."""
    return PairedGain(
        gain.gain - other.gain,
        math.hypot(gain.error, other.error),
        0,
        min(gain.trials, other.trials),
        df=min(gain.df, other.df),
    )


def plateau(evidence: Evidence, method: str, iteration: int) -> Decision:
    """Check that accuracy rises until an iteration, and hardly changes afterwards."""
    row = find_row(evidence.methods, method)
    by_trial = evidence.summary.by_iteration[evidence.place(row)].mean(axis=0)
    ran = np.isfinite(by_trial).any(axis=0)  # other methods have more iterations
    by_trial, numbers = by_trial[:, ran], list(evidence.summary.iterations[ran])
    by_trial = by_trial[np.isfinite(by_trial).all(axis=1)]
    if iteration not in numbers[1:] or not len(by_trial):
        raise NotTestable(f"{row.display_name} has no iteration {iteration}")
    place = numbers.index(iteration)
    rise = verdicts.paired_gain(by_trial[:, place], by_trial[:, 0])
    means = by_trial.mean(axis=0)
    later = np.abs(means[place:] - means[place]).max()
    stays = bool(later <= TOLERANCE + ZERO)
    return Decision(
        decide(
            len(by_trial),
            holds=stays and rise.low > ZERO,
            opposite=not stays or rise.high < -ZERO,
        ),
        f"{row.display_name} by iteration: {', '.join(map(in_points, means))} %; up to "
        f"iteration {iteration} a gain of {answers.interval_text(rise)}, "
        f"{counted(len(by_trial), 'trial')}.",
    )


def elsewhere(evidence: Evidence, where: str) -> Decision:
    """Refer to another place, because no number of a study tests the claim."""
    raise NotTestable(where)


class Check(NamedTuple):
    """The function that tests a claim on scores and curves, or on times."""

    apply: Callable[..., Decision]
    of_time: bool = False


# Names are those of the list of claims. The fields of their rules are below.
CHECKS = {
    "superior": Check(superior),
    "within": Check(within),
    "no-better": Check(no_better),
    "best": Check(best),
    "best-on-tasks": Check(best_on_tasks),
    "variation": Check(variation),
    "largest-gain": Check(largest_gain),
    "plateau": Check(plateau),
    "flat": Check(curve_checks.flat),
    "trend": Check(curve_checks.trend),
    "peak": Check(curve_checks.peak),
    "along": Check(curve_checks.along),
    "spread": Check(curve_checks.spread),
    "transfer": Check(source_checks.source_helps),
    "as-good": Check(source_checks.as_good),
    "better-in-state": Check(source_checks.better_in_state),
    "cheaper": Check(time_checks.cheaper, of_time=True),
    "unfinished": Check(time_checks.unfinished, of_time=True),
    "elsewhere": Check(elsewhere),
}
RULE_FIELDS = {"min_trials": str(MIN_TRIALS), "tolerance": in_points(TOLERANCE)}
