"""The tables of scores: accuracies, iterations, the overview, curves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.curves import (
    CurveScores,
    arrange_curves,
    parameter_title,
    value_text,
)
from cdspp.analysis.summary import (
    MOST_COLLAPSED,
    Floats,
    Summary,
    mean_sd,
    n_present,
    read_scores,
    read_summaries,
)
from cdspp.core.names import AVERAGE, BASELINE, Paths
from cdspp.core.wording import DASH, counted, in_points, percent, task_title
from cdspp.methods import method_class
from cdspp.report.tables.table import Cell, Line, Table, write_tables
from cdspp.study.plan import METHOD, BenchmarkPlan, Plans, Row

_PERCENT = "Percent, mean (standard deviation, n − 1) over trials."
_BOLD = (
    "Bold: the highest number {}, if a method with all trials and without a bridge has "
    "it. * supervised; † shortened run."
)
_NUMBERS = f"{_PERCENT} {_BOLD.format('of the column')}"
_FALLEN = "collapsed or diverged"
_MOST_ITERATIONS = 12
_MOMENTS = ("mean", "sd", "trials")
_SCORES = (
    *("benchmark", "title", "task", "row", "display_name", "kind", "shortened"),
    *(*_MOMENTS, "expected_trials"),
)
_ITERATIONS = ("benchmark", "task", "row", "display_name", "iteration", *_MOMENTS)
_CURVES = (
    *("benchmark", "curve", "parameter", "task", "row", "display_name", "value"),
    *_MOMENTS,
)
_BLOCKS = {
    "supervised": "Supervised",
    "method": "Semi-supervised",
    "informed": "Told of the test samples",
    "bridged": "With a bridge",
    "control": "Controls",
    "variant": "Other settings",
}
# The columns of the data; of the cell its row, the trials asked for, and small print.
Score = dict[str, Any]


def write_benchmark(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Write the tables of accuracies and of iterations of a benchmark."""
    [summary] = read_summaries(scores, plans)
    write_tables(build_benchmark_tables(summary), outputs)


def write_overview(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Write the table over all benchmarks."""
    write_tables([build_overview(read_summaries(scores, plans))], outputs)


def write_curves(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Write the tables of the curves of a benchmark, whose scores are read once."""
    [plan], [path] = plans, scores
    curves = arrange_curves(read_scores(path), plan)
    write_tables(build_curve_tables(curves, plan), outputs)


def build_benchmark_tables(summary: Summary) -> list[Table]:
    """Build the tables of accuracies and of iterations."""
    plan = summary.plan
    caption = f"{_NUMBERS} {plan.protocol}"
    tasks, _ = summary.with_average(summary.accuracy)
    headings = {(plan.benchmark, task): task_title(task) for task in tasks}
    tables = []
    for kind, heading, values in (
        ("accuracy", "accuracy", summary.accuracy),
        ("class-accuracy", "balanced accuracy", summary.class_accuracy),
    ):
        name, title = f"{kind}_{plan.benchmark}", f"{plan.title}: {heading}"
        scores = _scores(summary, values)
        tables.append(_grid_table(name, title, caption, headings, scores))
    return [*tables, _iteration_table(summary)]


def build_overview(summaries: Sequence[Summary]) -> Table:
    """Build the table of averages: rows and controls by benchmark."""
    headings, scores = {}, []
    caption = [f"Average accuracy over the tasks of each benchmark. {_NUMBERS}"]
    for summary in _common([summary.of_all_tasks() for summary in summaries]):
        plan, (tasks, _) = summary.plan, summary.with_average(summary.accuracy)
        headings[plan.benchmark, tasks[-1]] = plan.title
        found = [
            score | {"title": plan.title}
            for score in _scores(summary, summary.accuracy)
            if score["task"] == tasks[-1]
        ]
        caption += [plan.protocol, *_below_baseline(found)]
        scores += found
    return _grid_table("overview", "Overview", " ".join(caption), headings, scores)


def _common(summaries: Sequence[Summary]) -> list[Summary]:
    """Leave out other settings of methods that not every benchmark has."""
    keys = [{row.key for row in summary.rows} for summary in summaries]
    common = set.intersection(*keys) if keys else set()
    shown = [
        [i for i, r in enumerate(s.rows) if r.kind != "variant" or r.key in common]
        for s in summaries
    ]
    return [s.of_rows(places) for s, places in zip(summaries, shown, strict=True)]


def _below_baseline(scores: Sequence[Score]) -> list[str]:
    """Name the methods that do worse than the baseline, which sees no source."""
    methods = [s for s in scores if s["of"].kind == METHOD and not s["collapsed"]]
    baseline = next((score for score in methods if score["of"].role == BASELINE), None)
    if baseline is None:
        return []
    worse = [
        f"{score['display_name']} ({in_points(loss, sign=True)})"
        for score in methods
        if (loss := score["mean"] - baseline["mean"]) < 0
    ]
    text = f"{baseline['title']}, below {baseline['display_name']} by points: "
    return [f"{text}{', '.join(worse)}."] if worse else []


def _iteration_table(summary: Summary) -> Table:
    benchmark = summary.plan.benchmark
    tasks, curves = summary.with_average(summary.by_iteration)
    count = len(summary.iterations)
    # Evenly spread, both ends among them.
    spread = np.linspace(0, count - 1, min(count, _MOST_ITERATIONS)).round()
    steps = sorted({int(step) for step in spread})
    lines, data = [], []
    for i in summary.iterative():
        row = summary.rows[i]
        ran = [step for step in steps if np.isfinite(curves[i, ..., step]).any()]
        unusable = _FALLEN * (summary.collapsed_share(i, AVERAGE) > MOST_COLLAPSED)
        for place, step in enumerate(ran):
            name = Cell("" if place else row.display_name, note=unusable, name=True)
            unusable = ""  # said once
            cells = [Cell(percent(*mean_sd(values))) for values in curves[i, ..., step]]
            iteration = Cell(str(summary.iterations[step]))
            lines.append(Line((name, iteration, *cells), row.key))
        data += [
            (benchmark, task, row.key, row.display_name, iteration, *_moments(values))
            for task, by_trial in zip(tasks, curves[i], strict=True)
            for iteration, values in zip(summary.iterations, by_trial.T, strict=True)
        ]
    return Table(
        name=f"iterations_{benchmark}",
        title=f"{summary.plan.title}: accuracy by iteration",
        caption=f"{_PERCENT} {summary.plan.protocol}",
        columns=("Method", "Iteration", *map(task_title, tasks)),
        lines=tuple(lines),
        data=pd.DataFrame(data, columns=list(_ITERATIONS)),
    )


def build_curve_tables(
    curves: Sequence[CurveScores], plan: BenchmarkPlan
) -> list[Table]:
    """Build a table a curve, in order."""
    return [_curve_table(curve, plan) for curve in curves]


def _curve_table(curve: CurveScores, plan: BenchmarkPlan) -> Table:
    (tasks, accuracy), unusable = curve.with_average(), curve.unusable()
    asked = curve.plan.trials_asked
    scores = [
        _score(
            *(
                curve.plan.rows[row],
                accuracy[row, task, value],
                tasks[task],
                curve.plan.tasks,
            ),
            bool(unusable[row, task, value]),
        )
        | {"benchmark": plan.benchmark, "asked": asked, "value": curve.values[value]}
        | {"curve": curve.plan.identifier, "parameter": curve.plan.parameter}
        for row, task, value in np.ndindex(accuracy.shape[:3])
    ]
    cells = _cells(scores, itemgetter("task", "value"))
    lines = []
    for task in tasks[-1:] if curve.in_states else tasks:
        title = task_title(task)
        for row in curve.plan.rows:
            note = counted(row.trials_asked, "trial") * (row.trials_asked < asked)
            name = Cell(row.display_name + row.marks, note=note, name=True)
            numbers = [cells[row.key, task, value] for value in curve.values]
            block = row.method_name if curve.in_states else title
            lines.append(Line((name, Cell(title), *numbers), block))
    return Table(
        name=f"curve-{curve.plan.identifier}_{plan.benchmark}",
        title=f"{plan.title}: accuracy by {parameter_title(curve.plan.parameter)}",
        caption=f"{_curve_caption(curve)} {plan.protocol}",
        columns=("Method", "Task", *map(value_text, curve.values)),
        lines=tuple(lines),
        data=pd.DataFrame(scores, columns=list(_CURVES)),
        text_columns=2,
        headings=True,
    )


def _curve_caption(curve: CurveScores) -> str:
    several = len(curve.plan.tasks) > 1
    parts = [
        "Percent, mean (standard deviation, n − 1) over "
        f"{counted(curve.plan.trials_asked, 'trial')}. "
        f"Columns: {parameter_title(curve.plan.parameter)}."
    ]
    if curve.main is not None:
        value = value_text(curve.main)
        parts.append(f"At {value} these are the first trials of the main run.")
    if curve.in_states:
        parts.append("Every method with its real source first, then in other states.")
        if several:
            parts.append("Averages over tasks; single tasks are in the CSV file.")
    elif len(curve.plan.rows) > 1:
        parts.append(_BOLD.format("of a task and value"))
    known = (method_class(row.method).option_notes for row in curve.plan.rows)
    for note in dict.fromkeys(notes.get(curve.plan.parameter, "") for notes in known):
        parts.append(note.format(n_classes=curve.plan.n_classes))
    if curve.plan.dropped:
        groups = groupby(sorted(curve.plan.dropped), key=lambda pair: pair[0])
        texts = [
            f"{value_text(value)} ({', '.join(task_title(task) for _, task in pairs)})"
            for value, pairs in groups
        ]
        parts.append(
            "Left out, as a class of the target would have no test sample: "
            f"{'; '.join(texts)}{'; there is no average there' * several}."
        )
    return " ".join(filter(None, parts))


def _scores(summary: Summary, values: Floats) -> list[Score]:
    """Return the scores of `values` by row, task and trial, and of their average."""
    plan, (tasks, padded) = summary.plan, summary.with_average(values)
    return [
        _score(row, padded[i, place], task, summary.tasks, collapsed)
        | {"benchmark": plan.benchmark, "title": task_title(task)}
        | {"kind": _block(row).lower(), "shortened": row.shortened}
        | {"expected_trials": row.trials_asked, "asked": plan.trials_asked}
        for place, task in enumerate(tasks)
        for i, row in enumerate(summary.rows)
        for collapsed in [summary.collapsed_share(i, task) > MOST_COLLAPSED]
    ]


def _score(
    row: Row, values: Floats, task: str, tasks: Sequence[str], collapsed: bool
) -> Score:
    """Return the score of a row by trial, on a task or their average, and its notes."""
    mean, sd, ran = _moments(values[: row.trials_asked])
    n_tasks, notes = len(set(row.tasks or tasks).intersection(tasks)), []
    if 0 < ran < row.trials_asked:
        notes.append(f"{ran} of {row.trials_asked} trials")
    elif task == AVERAGE and n_tasks < len(tasks):
        notes.append(f"{n_tasks} of {counted(len(tasks), 'task')}")
    note = ", ".join(notes + [_FALLEN] * collapsed)
    score: Score = {"task": task, "row": row.key, "display_name": row.display_name}
    score |= {"of": row, "collapsed": collapsed, "note": note}
    return score | {"mean": mean, "sd": sd, "trials": ran}


def _moments(values: Floats) -> tuple[float, float, int]:
    return *mean_sd(values), n_present(values)


def _cells(
    scores: Sequence[Score], column: Callable[[Score], tuple[Any, ...]]
) -> dict[Any, Cell]:
    """Return the cells by row and column, the highest in bold if a method has it."""
    shown: dict[Any, list[float]] = defaultdict(list)
    for score in scores:
        if score["trials"]:
            shown[column(score)].append(round(100 * score["mean"], 1))
    n_rivals = Counter(map(column, filter(_competes, scores)))
    cells = {}
    for score in scores:
        place, mean = column(score), score["mean"]
        several = _competes(score) and n_rivals[place] > 1
        bold = several and round(100 * mean, 1) == max(shown[place])
        text, key = percent(mean, score["sd"]), (score["row"], *place)
        cells[key] = Cell(text, bold=bold, note=score["note"], value=mean)
    return cells


def _competes(score: Score) -> bool:
    row, complete = score["of"], score["trials"] >= score["asked"]
    whole = complete and not row.shortened and not score["collapsed"]
    return whole and row.kind == METHOD


def _grid_table(
    name: str,
    title: str,
    caption: str,
    headings: Mapping[tuple[str, str], str],
    scores: Sequence[Score],
) -> Table:
    rows: dict[str, Row] = {}
    fewer: dict[str, set[int]] = defaultdict(set)
    for score in scores:
        row = score["of"]
        known = rows.setdefault(row.key, row)
        rows[row.key] = replace(known, shortened=known.shortened or row.shortened)
        fewer[row.key] |= {row.trials_asked} - {score["asked"]}
    cells = _cells(scores, itemgetter("benchmark", "task"))
    lines = []
    for row in rows.values():
        numbers = [cells.get((row.key, *column), Cell(DASH)) for column in headings]
        lines.append(Line((_label(row, sorted(fewer[row.key])), *numbers), _block(row)))
    order = list(_BLOCKS.values())
    return Table(
        name=name,
        title=title,
        caption=caption,
        columns=("Method", *headings.values()),
        lines=tuple(sorted(lines, key=lambda line: order.index(line.block))),
        data=pd.DataFrame(scores, columns=list(_SCORES)),
        headings=True,
    )


def _label(row: Row, trials: Sequence[int]) -> Cell:
    """Name a row, with the numbers of trials of a benchmark that asks fewer of it."""
    noun = "trial" if trials == [1] else "trials"
    fewer = f"{' or '.join(map(str, trials))} {noun}" * bool(trials)
    notes = filter(None, [row.bridge, "vote of one fit per source" * row.vote, fewer])
    return Cell(row.display_name + row.marks, note=", ".join(notes), name=True)


def _block(row: Row) -> str:
    supervised = row.kind == METHOD and row.supervised
    return _BLOCKS["supervised" if supervised else row.kind]
