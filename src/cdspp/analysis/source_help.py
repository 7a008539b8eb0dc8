"""Comparisons of every method with itself under every control."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cdspp.analysis import transfer, verdicts
from cdspp.analysis.summary import MOST_COLLAPSED, Floats, Summary, mean_sd, summarise
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import Gains, PairedGain, Stratum, Verdict
from cdspp.core import names
from cdspp.core.wording import STATE_TITLES
from cdspp.methods import method_class
from cdspp.stages.formats import read_csv
from cdspp.stages.score import SampleScores
from cdspp.study.plan import CHOOSING, METHOD, WITH_BRIDGE, BenchmarkPlan, Row
from cdspp.study.settings import in_state, without

# With shared information, methods must also beat target-only on all target columns.
ALL_COLUMNS = "all-columns"
COMPARISON_COLUMNS = {
    name: kind
    for kind, names in (
        ("str", "benchmark title row display_name role bridge task"),
        ("str", "comparator comparator_name comparator_row"),
        ("bool", "state degenerate"),
        ("float64", "accuracy comparator_accuracy gain low high p_above p_below"),
        ("int64", "losses trials"),
        ("float64", "least"),
        ("bool", "one_decides"),
        ("float64", "domain_low domain_high"),
        ("str", "pair"),
        ("float64", "balanced_accuracy comparator_balanced_accuracy balanced_gain"),
        ("float64", "balanced_low balanced_high balanced_p_above balanced_p_below"),
        ("str", "balanced_pair"),
        ("float64", "macro_f1 comparator_macro_f1"),
        ("str", "verdict reason accuracy_verdict balanced_verdict"),
        ("float64", "p_helps p_hurts p_without"),
        ("str", "strongest"),
        ("float64", "detectable balanced_p_helps balanced_p_hurts balanced_p_without"),
    )
    for name in names.split()
}
_ESTIMATES = ("gain", "low", "high", "p_above", "p_below")
_GAIN_COLUMNS = (*_ESTIMATES, "losses", "trials", "least", "one_decides")
_VERDICT_COLUMNS = ("p_helps", "p_hurts", "p_without", "strongest", "detectable")
_SIDES = ("benchmark", "task", "row", "display_name", "comparator", "accuracy")
_RESULT = ("gain", "low", "high", "trials", "p_helps", "p_hurts", "accuracy_verdict")
_SOURCE_COLUMNS = (*_SIDES, "comparator_accuracy", *_RESULT, "reason")
_SOURCE_TITLES = {"comparator": "source", "comparator_accuracy": "accuracy_without"}
_MEASURES = ("", "balanced_")  # prefixes of column names
_FEWEST_DOMAINS = 4  # fewer target domains say little about others


def gains_over_comparators(
    scores: pd.DataFrame, plan: BenchmarkPlan, per_sample: SampleScores | None = None
) -> pd.DataFrame:
    """Compare every method with the baseline and with itself under every control.

    Rows are by method, task and `comparator`, with the average over several
    tasks last: the paired gain with its 95 % interval, one-sided p values, the `least`
    gain of a trial, and `one_decides`; the same for balanced accuracy; the verdict.
    `domain_low` and `domain_high` bound an average over the means of at least four
    target domains. Without scores by test row, errors cover only other labels of the
    same rows.
    """
    summary = summarise(scores, plan, plan.rows)
    records = (
        record
        for place, row in enumerate(plan.rows)
        if row.kind in (METHOD, WITH_BRIDGE, CHOOSING)
        and method_class(row.method).uses_source
        for record in SampleComparison(row, place, summary, per_sample).records()
    )
    comparisons = pd.DataFrame(records, columns=list(COMPARISON_COLUMNS))
    return comparisons.astype(COMPARISON_COLUMNS)


class Comparator(NamedTuple):
    """The baseline, the method itself under a control, or `ALL_COLUMNS`, by key."""

    key: str
    name: str
    state: bool
    place: int


@dataclass(frozen=True, eq=False)
class SampleComparison:
    """A row of a summary against its comparators, on each task and on their average."""

    row: Row
    place: int
    summary: Summary
    per_sample: SampleScores | None

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record per task and comparator, by `COMPARISON_COLUMNS`."""
        tasks, comparators = list(self._values["accuracy"]), self._comparators
        margin = self.summary.plan.margin / 100
        unusable = [
            {r.key for r in comparators if self.degenerate(r, t)} for t in tasks
        ]
        measured = {}
        for prefix in _MEASURES:
            gains = [
                {r.key: self.gain(r, t, prefix) for r in comparators} for t in tasks
            ]
            measured[prefix] = gains, self._verdicts(gains, unusable)
        for (i, task), comparator in product(enumerate(tasks), comparators):
            record, found = self.names_and_means(comparator, task), []
            record["degenerate"] = comparator.key in unusable[i]
            for prefix, (gains, decisions) in measured.items():
                gain = gains[i][comparator.key]
                record |= _columns(gain, decisions[i], prefix)
                pair = verdicts.decide_pair(gain, margin)
                pair = Transfer.INCONCLUSIVE if record["degenerate"] else pair
                record[f"{prefix}pair"] = pair.word
                found.append(decisions[i])
            if task == names.AVERAGE and record["trials"] >= verdicts.INTERVAL_TRIALS:
                record |= self._over_domains(comparator)
            joint, reason = verdicts.joint_verdict(*found)
            yield record | {"verdict": joint.word, "reason": reason}

    @cached_property
    def _comparators(self) -> list[Comparator]:
        summary, row, comparators = self.summary, self.row, []
        places = {(r.setting, r.method): i for i, r in enumerate(summary.rows)}
        for at, other in enumerate(summary.rows):
            if row.method == other.stands_for:  # the same fit under another name
                twin = places.get((row.setting, other.method), at)
                places[in_state(row.setting, names.NO_SOURCE), row.method] = twin
        if (own := summary.place(names.BASELINE)) is not None:
            baseline = summary.rows[own]
            comparators.append(
                Comparator(baseline.key, baseline.display_name, False, own)
            )
        for at, other in enumerate(summary.rows if row.bridge else ()):
            alone = method_class(other.method).without_source_of
            if alone and other.setting == names.MAIN:
                comparators.append(
                    Comparator(ALL_COLUMNS, other.display_name, False, at)
                )
        for state in summary.plan.states:
            place = places.get((in_state(row.setting, state), row.method))
            if place is not None:
                comparators.append(Comparator(state, STATE_TITLES[state], True, place))
        return comparators

    @cached_property
    def _values(self) -> dict[str, dict[str, Floats]]:
        summary, by_measure = self.summary, {}
        measures = summary.accuracy, summary.class_accuracy, summary.macro_f1
        names = "accuracy", "balanced_accuracy", "macro_f1"
        for name, scores in zip(names, measures, strict=True):
            tasks, values = summary.with_average(scores)
            by_measure[name] = dict(zip(tasks, values.swapaxes(0, 1), strict=True))
        return by_measure

    def names_and_means(self, comparator: Comparator, task: str) -> dict[str, Any]:
        """Return the names of the compared sides, and mean scores of both."""
        row, plan = self.row, self.summary.plan
        record = {
            **{"benchmark": plan.benchmark, "title": plan.title, "row": row.key},
            "display_name": row.display_name + row.marks,
            **{"role": row.role, "bridge": row.bridge, "task": task},
            **{
                "comparator": comparator.key,
                "comparator_name": comparator.name,
                "state": comparator.state,
            },
            "comparator_row": self.summary.rows[comparator.place].key,
        }
        for name, values in self._values.items():
            record[name] = mean_sd(values[task][self.place])[0]
            record[f"comparator_{name}"] = mean_sd(values[task][comparator.place])[0]
        return record

    def gain(self, comparator: Comparator, task: str, prefix: str = "") -> PairedGain:
        """Return the gain over a comparator on a task, by rows if these are known."""
        values = self._values[f"{prefix}accuracy"][task]
        plain = verdicts.paired_gain(values[self.place], values[comparator.place])
        if self.per_sample is None or not plain.trials:
            return plain
        pair = self.row, self.summary.rows[comparator.place]
        tasks = [each for each in self.summary.tasks if task in (each, names.AVERAGE)]
        strata = row_strata(self.per_sample, pair, tasks, bool(prefix))
        return verdicts.two_way_gain(strata)

    def degenerate(self, comparator: Comparator, task: str) -> bool:
        """Return whether too many fits of either side are degenerate."""
        summary, places = self.summary, [self.place, comparator.place]
        tasks = [task in (each, names.AVERAGE) for each in summary.tasks]
        both = np.isfinite(summary.accuracy[places][:, tasks]).all(axis=0)
        sides = summary.collapsed[places][:, tasks] & both
        return bool(sides.sum(axis=(1, 2)).max() / max(both.sum(), 1) > MOST_COLLAPSED)

    def _verdicts(
        self, gains: Sequence[Gains], degenerate: Sequence[set[str]]
    ) -> list[Verdict]:
        """Return the verdicts on all tasks together, and one on their average."""
        bridged, margin = bool(self.row.bridge), self.summary.plan.margin / 100
        states = [
            comparator.key
            for comparator in self._comparators
            if comparator.state or bridged
        ]
        tasks = [{state: gain[state] for state in states} for gain in gains]
        excluded = [not unusable.isdisjoint(states) for unusable in degenerate]
        found, n_tasks = [], len(self.summary.tasks)
        for part in (slice(n_tasks), slice(n_tasks, None)):
            options: Any = {"margin": margin, "degenerate": excluded[part]}
            found += verdicts.decide_all(tasks[part], **options)
        return found

    def _over_domains(self, comparator: Comparator) -> dict[str, float]:
        """Return the interval of an average over the means of target domains."""
        means = defaultdict(list)
        sides = self.summary.accuracy[[self.place, comparator.place]]
        for task, *values in zip(self.summary.tasks, *sides, strict=True):
            gain = verdicts.paired_gain(*values).gain
            means[names.task_domains(task).target].append(gain)
        mean = verdicts.gain_of([float(np.mean(each)) for each in means.values()])
        if mean.trials < _FEWEST_DOMAINS:
            return {}
        low, high = mean.interval()
        return {"domain_low": low, "domain_high": high}


def compare_without_each(
    scores: pd.DataFrame, plan: BenchmarkPlan, per_sample: SampleScores | None = None
) -> pd.DataFrame:
    """Return gains by task and source; Holm's p values cover a task's sources."""
    summary = summarise(scores, plan, plan.rows)
    places = {(row.setting, row.method): i for i, row in enumerate(plan.rows)}
    tasks = list(filter(names.several_sources, plan.tasks))
    domains = names.role_domains(tasks)["source"]
    records = []
    for row, task in product(plan.main_rows, tasks):
        place = places[row.setting, row.method]
        comparison = SampleComparison(row, place, summary, per_sample)
        comparators = [
            Comparator(name, name, True, places[key])
            for name in domains
            if name in names.task_domains(task).sources
            and (key := (without(name), row.method)) in places
        ]
        gains = [comparison.gain(comparator, task) for comparator in comparators]
        decisions = verdicts.decide_all(
            [{names.NO_SOURCE: gain} for gain in gains],
            margin=plan.margin / 100,
            degenerate=[
                comparison.degenerate(comparator, task) for comparator in comparators
            ],
        )
        for comparator, gain, verdict in zip(
            comparators, gains, decisions, strict=True
        ):
            means = comparison.names_and_means(comparator, task)
            columns = _columns(gain, verdict) | {"reason": verdict.reason}
            records.append(means | columns)
    frame = pd.DataFrame(records, columns=list(_SOURCE_COLUMNS))
    return frame.rename(columns=_SOURCE_TITLES | {"accuracy_verdict": "verdict"})


def _columns(gain: PairedGain, verdict: Verdict, prefix: str = "") -> dict[str, Any]:
    columns = {prefix + name: getattr(gain, name) for name in _GAIN_COLUMNS}
    columns |= {prefix + name: getattr(verdict, name) for name in _VERDICT_COLUMNS}
    return columns | {f"{prefix or 'accuracy_'}verdict": verdict.transfer.word}


def row_strata(
    per_sample: SampleScores,
    pair: tuple[Row, Row],
    tasks: Sequence[str],
    balanced: bool,
) -> list[Stratum]:
    """Return gains by row over tasks, one stratum per target domain, or class of it."""
    right = {t: [per_sample.right(r.setting, t, r.method) for r in pair] for t in tasks}
    ran = [len(trials) for sides in right.values() for trials in sides]
    n_trials = min([*ran, *(row.n_trials for row in pair)])
    sums: dict[str, Floats] = {}
    classes = {}
    for task, (first, second) in right.items():
        target = names.task_domains(task).target
        sums[target] = sums.get(target, 0.0) + first[:n_trials] - second[:n_trials]
        classes[target] = per_sample.classes(task)
    strata = []
    for target, values in sums.items():
        total = Stratum(1 / len(tasks), values)
        by_class = verdicts.by_class(total, classes[target]) if balanced else [total]
        strata += by_class
    return strata


def no_comparisons() -> pd.DataFrame:
    """Return an empty table of comparisons."""
    return pd.DataFrame(columns=list(COMPARISON_COLUMNS)).astype(COMPARISON_COLUMNS)


def read_comparisons(path: names.PathLike | None) -> pd.DataFrame:
    """Read the comparisons of a ``source-help_<benchmark>.csv``; empty without one."""
    return no_comparisons() if path is None else read_csv(path, COMPARISON_COLUMNS)


def of_method(comparisons: pd.DataFrame, row: str) -> pd.DataFrame:
    """Return the comparisons of one row."""
    return comparisons[comparisons["row"] == row]


def of_reference(comparisons: pd.DataFrame, *, selected: bool = False) -> pd.DataFrame:
    """Return the comparisons of the reference, by default or with selected options."""
    is_reference = comparisons["role"] == names.REFERENCE
    return comparisons[is_reference & (_selects(comparisons) == selected)]


def by_default(comparisons: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the comparisons of each method with its own, not selected, options."""
    for _, of_row in comparisons[~_selects(comparisons)].groupby("row", sort=False):
        yield of_row


def _selects(comparisons: pd.DataFrame) -> pd.Series:
    """Return the rows that select their options on the labelled rows of each trial."""
    return comparisons["row"].str.endswith(f", {names.SELECTED}").astype(bool)


def by_task(comparisons: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group comparisons by task, in their order."""
    return dict(iter(comparisons.groupby("task", sort=False)))


def comparators_of(groups: Iterable[pd.DataFrame]) -> dict[str, str]:
    """Return the titles of the comparators that occur, except `ALL_COLUMNS`."""
    titles: dict[str, str] = {}
    for group in groups:
        titles |= dict(zip(group["comparator"], group["comparator_name"], strict=True))
    titles.pop(ALL_COLUMNS, None)
    others = {key: name for key, name in titles.items() if key not in STATE_TITLES}
    return others | {key: name for key, name in STATE_TITLES.items() if key in titles}


def on_average(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the average over tasks, or of the only task."""
    average = comparisons[comparisons["task"] == names.AVERAGE]
    return average if len(average) else comparisons


def pair_verdict(comparison: Any) -> tuple[Transfer, str]:
    """Return verdict and reason on one comparison, by both measures of accuracy.

    If the measures disagree on all controls together, no single one is certain.
    """
    plain, balanced = map(Transfer.of, (comparison.pair, comparison.balanced_pair))
    if comparison.degenerate:
        return Transfer.INCONCLUSIVE, transfer.DEGENERATE
    if comparison.trials < verdicts.MIN_TRIALS:
        return Transfer.INCONCLUSIVE, transfer.TOO_FEW
    open_over_all = comparison.state and comparison.reason == transfer.DISAGREE
    if plain is not balanced or (open_over_all and plain.decided):
        return Transfer.INCONCLUSIVE, transfer.DISAGREE
    is_open = plain is Transfer.INCONCLUSIVE
    return plain, transfer.NOT_DECIDED if is_open else ""


def matrix(comparisons: pd.DataFrame, *, corrected: bool) -> pd.DataFrame:
    """Return averages over tasks; Holm corrects labels only and others separately."""
    parts = [on_average(part) for _, part in comparisons.groupby("row", sort=False)]
    averages = pd.concat(parts, ignore_index=True) if parts else no_comparisons()
    if not corrected or averages.empty:
        return averages
    families = averages.groupby(averages["bridge"] != "")
    return pd.concat([_over_methods(family) for _, family in families]).sort_index()


def _over_methods(averages: pd.DataFrame) -> pd.DataFrame:
    result, first = averages.copy(), averages[averages["state"]].drop_duplicates("row")
    for prefix in _MEASURES:
        pair, column = f"{prefix}pair", f"{prefix or 'accuracy_'}verdict"
        for _, family in averages.groupby("comparator", sort=False):
            tested = (family["trials"] >= verdicts.MIN_TRIALS) & ~family["degenerate"]
            p_values = f"{prefix}p_above", f"{prefix}p_below"
            result.loc[family.index, pair] = _corrected(family, tested, pair, p_values)
        tested = first["p_helps"].notna()
        p_values = f"{prefix}p_helps", f"{prefix}p_hurts"
        without = f"{prefix}p_without"
        columns = {
            column: _corrected(first, tested, column, p_values),
            without: first[without].where(~tested, _holm(first[without][tested])),
        }
        for name, values in columns.items():
            of_row = dict(zip(first["row"], values, strict=True))
            pairs = zip(result["row"], averages[name], strict=True)
            result[name] = [of_row.get(row, value) for row, value in pairs]
    joint = [_joint_of_columns(row) for row in result.itertuples()]
    words, reasons = zip(*joint, strict=True)
    return result.assign(verdict=words, reason=reasons)


def _joint_of_columns(row: Any) -> tuple[str, str]:
    """Return verdict and reason from the corrected verdicts by both measures."""
    if np.isnan(row.p_helps):
        return row.verdict, row.reason
    if row.accuracy_verdict != row.balanced_verdict:
        return Transfer.INCONCLUSIVE.word, transfer.DISAGREE
    reason = row.reason if row.accuracy_verdict == row.verdict else ""
    if row.accuracy_verdict == Transfer.INCONCLUSIVE.word:
        reason = verdicts.inconclusive_reason(row.p_without, row.balanced_p_without)
    return row.accuracy_verdict, reason


def _corrected(
    rows: pd.DataFrame, is_tested: pd.Series, column: str, p_values: tuple[str, str]
) -> pd.Series:
    corrected, tested = rows[column].copy(), rows[is_tested]
    sides = Transfer.POSITIVE, Transfer.NEGATIVE
    for verdict, name in zip(sides, p_values, strict=True):
        lost = (_holm(tested[name]) >= verdicts.ALPHA) & (
            tested[column] == verdict.word
        )
        corrected[lost.index[lost]] = Transfer.INCONCLUSIVE.word
    return corrected


def _holm(p_values: pd.Series) -> pd.Series:
    return pd.Series(verdicts.holm(p_values.tolist()), p_values.index, dtype=float)
