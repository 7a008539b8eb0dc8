"""A method against its rivals, or itself without a source: gains and verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cdspp.analysis import verdicts as rule
from cdspp.analysis.summary import MOST_COLLAPSED, Floats, Summary, mean_sd, summarise
from cdspp.analysis.verdicts import (
    COLLAPSED,
    Gains,
    Verdict,
    agreed,
    judge_pair,
    judge_tasks,
)
from cdspp.core.names import (
    ALONE,
    AVERAGE,
    BASELINE,
    MAIN,
    role_domains,
    several_sources,
    task_domains,
)
from cdspp.methods import method_class
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import BenchmarkPlan, Row
from cdspp.study.settings import in_state, without

__all__ = ["ALL_COLUMNS", "Contest", "compare_without_each", "row_strata"]

# What a bridged method has to beat, too: the target alone, on all of its columns.
ALL_COLUMNS = "all-columns"
_MEASURES = ("", "balanced_")  # before the names of columns
# Fewer target domains do not speak for others.
_FEWEST_DOMAINS = 4
_OF_GAIN = (
    *("gain", "low", "high", "p_above", "p_below"),
    *("losses", "trials", "least", "one_decides"),
)
_OF_VERDICT = ("p_helps", "p_hurts", "hardest", "detectable")
_LEFT_OUT = (
    *("benchmark", "task", "row", "display_name", "source", "accuracy"),
    *("accuracy_without", "gain", "low", "high", "trials", "p_helps", "p_hurts"),
    "verdict",
)


class _Rival(NamedTuple):
    """The baseline, the method itself in another state, or `ALL_COLUMNS`, by key."""

    key: str
    name: str
    state: bool
    place: int


@dataclass(frozen=True, eq=False)
class Contest:
    """A row of a summary against its rivals; positions beyond tasks are the average."""

    row: Row
    place: int
    summary: Summary
    by_row: RowScores | None

    @cached_property
    def _rivals(self) -> list[_Rival]:
        summary, row, found = self.summary, self.row, []
        places = {(r.setting, r.method): i for i, r in enumerate(summary.rows)}
        for at, other in enumerate(summary.rows):
            if row.method == other.stands_for:  # one fit, under another name
                twin = places.get((row.setting, other.method), at)
                places[in_state(row.setting, ALONE), row.method] = twin
        if (own := summary.place(BASELINE)) is not None:
            baseline = summary.rows[own]
            found.append(_Rival(baseline.key, baseline.display_name, False, own))
        for at, other in enumerate(summary.rows if row.bridge else ()):
            if other.setting == MAIN and method_class(other.method).without_source_of:
                found.append(_Rival(ALL_COLUMNS, other.display_name, False, at))
        for state in summary.plan.states:
            place = places.get((in_state(row.setting, state), row.method))
            if place is not None:
                found.append(_Rival(state, state, True, place))
        return found

    @cached_property
    def _values(self) -> dict[str, Floats]:
        """Scores of rows by tasks and trials, averages over tasks among them."""
        summary = self.summary
        scores = {"accuracy": summary.accuracy, "macro_f1": summary.macro_f1}
        scores["balanced_accuracy"] = summary.class_accuracy
        return {name: summary.with_average(of)[1] for name, of in scores.items()}

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record a task and rival, by `COMPARISON_COLUMNS` and more."""
        plan, row = self.summary.plan, self.row
        tasks, _ = self.summary.with_average(self.summary.accuracy)
        places = range(len(tasks))
        collapsed = [self._collapsed(at) for at in places]
        gains = [
            [{r.key: self._gain(r, at, prefix) for r in self._rivals} for at in places]
            for prefix in _MEASURES
        ]
        verdicts = [self._verdicts(each, collapsed) for each in gains]
        for at, rival in product(places, self._rivals):
            record = {
                "benchmark": plan.benchmark,
                "title": plan.title,
                "row": row.key,
                "display_name": row.display_name + row.marks,
                "role": row.role,
                "bridge": row.bridge,
                "task": tasks[at],
                "rival": rival.key,
                "rival_name": rival.name,
                "state": rival.state,
                **self._means(rival, at),
                **self._over_domains(rival, tasks[at], gains[0][at][rival.key].trials),
                "verdict": agreed(*(each[at].word for each in verdicts)),
            }
            for i, prefix in enumerate(_MEASURES):
                gain, verdict = gains[i][at][rival.key], verdicts[i][at]
                word = judge_pair(gain, plan.margin / 100)
                word = COLLAPSED if rival.key in collapsed[at] else word
                for known, names in ((gain, _OF_GAIN), (verdict, _OF_VERDICT)):
                    record |= {prefix + name: getattr(known, name) for name in names}
                record[f"{prefix}pair"] = word
                record[f"{prefix or 'accuracy_'}verdict"] = verdict.word
            yield record

    def _gain(self, rival: _Rival, at: int, prefix: str = "") -> rule.PairedGain:
        values = self._values[f"{prefix}accuracy"]
        plain = rule.paired_gain(values[self.place, at], values[rival.place, at])
        if self.by_row is None or not plain.trials:
            return plain
        pair = self.row, self.summary.rows[rival.place]
        tasks = self.summary.tasks[self._chosen(at)]
        return rule.crossed_gain(row_strata(self.by_row, pair, tasks, bool(prefix)))

    def _chosen(self, at: int) -> slice:
        """Return the task at a position, beyond them all that are averaged."""
        beyond = at >= len(self.summary.tasks)
        return slice(None) if beyond else slice(at, at + 1)

    def _collapsed(self, at: int) -> set[str]:
        """Return the rivals of whom too many fits have collapsed, or of the method."""
        summary, chosen, found = self.summary, self._chosen(at), set()
        for rival in self._rivals:
            places = [self.place, rival.place]
            both = np.isfinite(summary.accuracy[places][:, chosen]).all(axis=0)
            sides = summary.collapsed[places][:, chosen] & both
            if sides.sum(axis=(1, 2)).max() / max(both.sum(), 1) > MOST_COLLAPSED:
                found.add(rival.key)
        return found

    def _verdicts(
        self, gains: Sequence[Gains], collapsed: Sequence[set[str]]
    ) -> list[Verdict]:
        """Judge the tasks together, and the average over them alone."""
        bridged, margin = bool(self.row.bridge), self.summary.plan.margin / 100
        states = [rival.key for rival in self._rivals if rival.state or bridged]
        asked = [{state: gain[state] for state in states} for gain in gains]
        excluded = [not unusable.isdisjoint(states) for unusable in collapsed]
        n_tasks = len(self.summary.tasks)
        return [
            *judge_tasks(asked[:n_tasks], margin=margin, collapsed=excluded[:n_tasks]),
            *judge_tasks(asked[n_tasks:], margin=margin, collapsed=excluded[n_tasks:]),
        ]

    def _means(self, rival: _Rival, at: int) -> dict[str, float]:
        return {
            f"{side}{name}": mean_sd(values[place, at])[0]
            for name, values in self._values.items()
            for side, place in (("", self.place), ("rival_", rival.place))
        }

    def _over_domains(self, rival: _Rival, task: str, trials: int) -> dict[str, float]:
        """Return the interval of an average over the means of target domains."""
        low = high = np.nan
        if task == AVERAGE and trials >= rule.INTERVAL_TRIALS:
            means = defaultdict(list)
            sides = self.summary.accuracy[[self.place, rival.place]]
            for name, ours, theirs in zip(self.summary.tasks, *sides, strict=True):
                gain = rule.paired_gain(ours, theirs).gain
                means[task_domains(name).target].append(gain)
            found = rule.gain_of([float(np.mean(each)) for each in means.values()])
            if found.trials >= _FEWEST_DOMAINS:
                low, high = found.interval()
        return {"domain_low": low, "domain_high": high}


def row_strata(
    by_row: RowScores, pair: tuple[Row, Row], tasks: Sequence[str], balanced: bool
) -> list[rule.Stratum]:
    """Return gains by row over tasks, a stratum a target domain, or class of it."""
    found: dict[str, Floats] = {}
    classes = {}
    for task in tasks:
        ours, theirs = (by_row.right(r.setting, task, r.method) for r in pair)
        n_trials = min(len(ours), len(theirs))
        target = task_domains(task).target
        classes[target] = by_row.classes(task)
        difference = ours[:n_trials] - theirs[:n_trials]
        known = found.get(target, np.zeros_like(difference))
        n_trials = min(len(known), n_trials)
        found[target] = known[:n_trials] + difference[:n_trials]
    n_trials = min(map(len, found.values()))
    whole = {k: rule.Stratum(1 / len(tasks), v[:n_trials]) for k, v in found.items()}
    if not balanced:
        return list(whole.values())
    return [s for k, part in whole.items() for s in rule.by_class(part, classes[k])]


class _LeaveOneOut(Contest):
    """A row of a summary against the same method without one of several sources."""

    @cached_property
    def _rivals(self) -> list[_Rival]:
        summary = self.summary
        domains = role_domains(filter(several_sources, summary.tasks))["source"]
        places = {(r.setting, r.method): i for i, r in enumerate(summary.rows)}
        found = [(name, (without(name), self.row.method)) for name in domains]
        return [_Rival(n, n, True, places[key]) for n, key in found if key in places]

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """Yield a line a task and source, by `_LEFT_OUT`."""
        plan, row = self.summary.plan, self.row
        for at, task in enumerate(self.summary.tasks):
            sources = task_domains(task).sources if several_sources(task) else ()
            rivals = [rival for rival in self._rivals if rival.key in sources]
            unusable = self._collapsed(at)
            gains = [self._gain(rival, at) for rival in rivals]
            verdicts = judge_tasks(
                [{ALONE: gain} for gain in gains],
                margin=plan.margin / 100,
                collapsed=[rival.key in unusable for rival in rivals],
            )
            for rival, gain, said in zip(rivals, gains, verdicts, strict=True):
                means = self._means(rival, at)
                yield (
                    *(plan.benchmark, task, row.key, row.display_name + row.marks),
                    *(rival.key, means["accuracy"], means["rival_accuracy"]),
                    *(gain.gain, gain.low, gain.high, gain.trials),
                    *(said.p_helps, said.p_hurts, said.word),
                )


def compare_without_each(
    scores: pd.DataFrame, plan: BenchmarkPlan, by_row: RowScores | None = None
) -> pd.DataFrame:
    """Return gains by task and source; p values are Holm's over a task's sources."""
    summary = summarise(scores, plan, plan.rows)
    found = [
        line
        for place, row in enumerate(plan.rows)
        if row in plan.main_rows
        for line in _LeaveOneOut(row, place, summary, by_row).lines()
    ]
    return pd.DataFrame(found, columns=list(_LEFT_OUT))
