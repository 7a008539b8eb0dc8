"""Tables of scores: accuracies, iterations, the overview, curves."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.summary import (
    CurveScores,
    Floats,
    Summary,
    arrange_curves,
    mean_sd,
    n_present,
    parameter_title,
    read_scores,
    read_summaries,
    summarise,
    value_text,
)
from cdspp.analysis.transfer import DEGENERATE
from cdspp.core.names import AVERAGE, Paths
from cdspp.core.wording import DASH, counted, percent, task_title
from cdspp.methods import method_class
from cdspp.report.tables.table import Cell, Line, Table, write_tables
from cdspp.study.plan import METHOD, BenchmarkPlan, Plans, Row

_PERCENT = "Accuracy (%): mean (standard deviation, n − 1) over trials."
_BOLD = (
    "Bold: the highest number {}, if a method with all trials and with labels only has "
    "it."
)
_NUMBERS = f"{_PERCENT} {_BOLD.format('of the column')}"
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
    "informed": "With oracle class shares",
    "bridge": "With shared columns or paired rows",
    "control": "Controls",
    "variant": "Other settings",
    "selected": "With selected hyper-parameters",
}
# Columns of the data; for the cell: its row, the expected trials, and small print.
Score = dict[str, Any]
Heads = Mapping[tuple[str, str], str]  # headings of columns, by benchmark and task


def write_benchmark(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Write the tables of a benchmark: accuracies, iterations, curves."""
    [plan], [path] = plans, scores
    frame = read_scores(path)
    every = arrange_curves(frame, plan)
    tables = build_benchmark_tables(summarise(frame, plan))
    write_tables([*tables, *(build_curve_table(each, plan) for each in every)], outputs)


def write_overview(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Write the table over all benchmarks."""
    write_tables([build_overview(read_summaries(scores, plans))], outputs)


def build_benchmark_tables(summary: Summary) -> list[Table]:
    """Build the tables of accuracies and of iterations."""
    name, title = summary.plan.benchmark, summary.plan.title
    caption = f"{_NUMBERS} {summary.plan.protocol}"
    tasks, _ = summary.with_average(summary.accuracy)
    heads = {(name, task): task_title(task) for task in tasks}
    plain = _scores(summary, summary.accuracy)
    balanced = _scores(summary, summary.class_accuracy)
    balanced_title = f"{title}: balanced accuracy"
    return [
        _grid_table(f"accuracy_{name}", f"{title}: accuracy", caption, heads, plain),
        _grid_table(f"class-accuracy_{name}", balanced_title, caption, heads, balanced),
        _iteration_table(summary),
    ]


def build_overview(summaries: Sequence[Summary]) -> Table:
    """Build the table of averages: rows and controls by benchmark."""
    caption = [f"Average accuracy over the tasks of each benchmark. {_NUMBERS}"]
    heads, scores = {}, []
    for summary in _common([summary.of_all_tasks() for summary in summaries]):
        plan, (tasks, _) = summary.plan, summary.with_average(summary.accuracy)
        heads[plan.benchmark, tasks[-1]] = plan.title
        caption.append(plan.protocol)
        scores += [
            score | {"title": plan.title}
            for score in _scores(summary, summary.accuracy)
            if score["task"] == tasks[-1]
        ]
    return _grid_table("overview", "Overview", " ".join(caption), heads, scores)


def _common(summaries: Sequence[Summary]) -> list[Summary]:
    """Leave out other settings of methods that some benchmark lacks."""
    keys = [{row.key for row in summary.rows} for summary in summaries]
    common = set.intersection(*keys) if keys else set()
    positions = [
        [i for i, r in enumerate(s.rows) if r.kind != "variant" or r.key in common]
        for s in summaries
    ]
    return [s.of_rows(places) for s, places in zip(summaries, positions, strict=True)]


def _iteration_table(summary: Summary) -> Table:
    benchmark = summary.plan.benchmark
    tasks, means = summary.with_average(summary.by_iteration)
    last = len(summary.iterations) - 1
    spread = np.linspace(0, last, min(last + 1, _MOST_ITERATIONS)).round()
    lines, data = [], []
    for i in summary.iterative():
        row = summary.rows[i]
        note = DEGENERATE if summary.unusable(i, AVERAGE) else ""
        name = Cell(row.display_name, note=note, name=True)
        for step in sorted({int(step) for step in spread}):
            if np.isfinite(by_trial := means[i, ..., step]).any():
                cells = [Cell(percent(*mean_sd(values))) for values in by_trial]
                iteration = Cell(str(summary.iterations[step]))
                lines.append(Line((name, iteration, *cells), row.key))
                name = Cell("", name=True)  # only in the first line
        data += [
            (benchmark, task, row.key, row.display_name, iteration, *_moments(values))
            for task, by_trial in zip(tasks, means[i], strict=True)
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


def build_curve_table(curve: CurveScores, plan: BenchmarkPlan) -> Table:
    """Build the table ``curve-<curve>_<benchmark>``."""
    (tasks, accuracy), unusable = curve.with_average(), curve.unusable()
    n_trials, rows = curve.plan.n_trials, curve.plan.rows
    parameter = curve.plan.parameter
    of_curve: Score = {"benchmark": plan.benchmark, "curve": curve.plan.identifier}
    of_curve |= {"parameter": parameter, "asked": n_trials}
    scores = []
    for i, j, k in np.ndindex(accuracy.shape[:3]):
        bad = bool(unusable[i, j, k])
        score = _score(rows[i], accuracy[i, j, k], tasks[j], curve.plan.tasks, bad)
        scores.append(score | of_curve | {"value": curve.values[k]})
    cells = _cells(scores, itemgetter("task", "value"))
    lines = []
    for task in tasks[-1:] if curve.in_states else tasks:
        title = task_title(task)
        for row in rows:
            fewer = row.n_trials < n_trials
            note = counted(row.n_trials, "trial") if fewer else ""
            name = Cell(row.display_name + row.marks, note=note, name=True)
            numbers = [cells[row.key, task, value] for value in curve.values]
            block = row.method_name if curve.in_states else title
            lines.append(Line((name, Cell(title), *numbers), block))
    return Table(
        name=f"curve-{curve.plan.identifier}_{plan.benchmark}",
        title=f"{plan.title}: accuracy by {parameter_title(parameter)}",
        caption=f"{_curve_caption(curve)} {plan.protocol}",
        columns=("Method", "Task", *map(value_text, curve.values)),
        lines=tuple(lines),
        data=pd.DataFrame(scores, columns=list(_CURVES)),
        text_columns=2,
        headings=True,
    )


def _curve_caption(curve: CurveScores) -> str:
    parts = [
        "Accuracy (%): mean (standard deviation, n − 1) over "
        f"{counted(curve.plan.n_trials, 'trial')}. "
        f"Columns: {parameter_title(curve.plan.parameter)}."
    ]
    if curve.main is not None:
        value = value_text(curve.main)
        parts.append(f"At {value} these are the first trials of the main run.")
    if curve.in_states:
        parts.append(
            "Every method with its original source first, then under the controls."
        )
        if len(curve.plan.tasks) > 1:
            parts.append("Averages over tasks; single tasks are in the CSV file.")
    elif len(curve.plan.rows) > 1:
        parts.append(_BOLD.format("of a task and value"))
    notes = (method_class(row.method).option_notes for row in curve.plan.rows)
    for note in dict.fromkeys(each.get(curve.plan.parameter, "") for each in notes):
        parts.append(note.format(n_classes=curve.plan.n_classes))
    if curve.plan.dropped:
        texts = []
        for value, pairs in groupby(sorted(curve.plan.dropped), key=itemgetter(0)):
            tasks = ", ".join(task_title(task) for _, task in pairs)
            texts.append(f"{value_text(value)} ({tasks})")
        if len(curve.plan.tasks) > 1:
            texts.append("no average there")
        reason = "Left out, because a class of the target would have no test sample"
        parts.append(f"{reason}: {'; '.join(texts)}.")
    return " ".join(filter(None, parts))


def _scores(summary: Summary, values: Floats) -> list[Score]:
    plan, (tasks, padded) = summary.plan, summary.with_average(values)
    return [
        _score(row, padded[i, j], task, summary.tasks, summary.unusable(i, task))
        | {"benchmark": plan.benchmark, "title": task_title(task)}
        | {"kind": _block(row).lower(), "shortened": row.shortened}
        | {"expected_trials": row.n_trials, "asked": plan.n_trials}
        for j, task in enumerate(tasks)
        for i, row in enumerate(summary.rows)
    ]


def _score(
    row: Row, values: Floats, task: str, tasks: Sequence[str], collapsed: bool
) -> Score:
    moments = dict(zip(_MOMENTS, _moments(values[: row.n_trials]), strict=True))
    n_scores, notes = moments["trials"], []
    n_tasks = len(set(tasks).intersection(row.tasks or tasks))
    if 0 < n_scores < row.n_trials:
        notes.append(f"{n_scores} of {row.n_trials} trials")
    elif task == AVERAGE and n_tasks < len(tasks):
        notes.append(f"{n_tasks} of {counted(len(tasks), 'task')}")
    if collapsed:
        notes.append(DEGENERATE)
    score = {"task": task, "row": row.key, "display_name": row.display_name, "of": row}
    return score | moments | {"collapsed": collapsed, "note": ", ".join(notes)}


def _moments(values: Floats) -> tuple[float, float, int]:
    return *mean_sd(values), n_present(values)


def _cells(
    scores: Sequence[Score], column: Callable[[Score], tuple[Any, ...]]
) -> dict[Any, Cell]:
    """Return the cells by row and column; the highest is bold if a method has it."""
    means: dict[Any, list[float]] = defaultdict(list)
    for score in scores:
        if score["trials"]:
            means[column(score)].append(round(100 * score["mean"], 1))
    n_comparators = Counter(map(column, filter(_competes, scores)))
    cells = {}
    for score in scores:
        place, mean = column(score), score["mean"]
        several = _competes(score) and n_comparators[place] > 1
        bold = several and round(100 * mean, 1) == max(means[place])
        text, key = percent(mean, score["sd"]), (score["row"], *place)
        cells[key] = Cell(text, bold=bold, note=score["note"], value=mean)
    return cells


def _competes(score: Score) -> bool:
    row, complete = score["of"], score["trials"] >= score["asked"]
    unshortened = complete and not row.shortened and not score["collapsed"]
    return unshortened and row.kind == METHOD


def _grid_table(
    name: str, title: str, caption: str, heads: Heads, scores: Sequence[Score]
) -> Table:
    rows: dict[str, Row] = {}
    fewer: dict[str, set[int]] = defaultdict(set)
    for score in scores:
        row = score["of"]
        first = rows.setdefault(row.key, row)
        rows[row.key] = replace(first, shortened=first.shortened or row.shortened)
        fewer[row.key] |= {row.n_trials} - {score["asked"]}
    cells = _cells(scores, itemgetter("benchmark", "task"))
    lines = []
    for row in rows.values():
        numbers = [cells.get((row.key, *column), Cell(DASH)) for column in heads]
        notes = [row.bridge] if row.bridge else []
        if row.vote:
            notes.append("vote of one fit per source")
        if trials := sorted(fewer[row.key]):
            noun = "trial" if trials == [1] else "trials"
            notes.append(f"{' or '.join(map(str, trials))} {noun}")
        label = Cell(row.display_name + row.marks, note=", ".join(notes), name=True)
        lines.append(Line((label, *numbers), _block(row)))
    order = list(_BLOCKS.values())
    return Table(
        name=name,
        title=title,
        caption=caption,
        columns=("Method", *heads.values()),
        lines=tuple(sorted(lines, key=lambda line: order.index(line.block))),
        data=pd.DataFrame(scores, columns=list(_SCORES)),
        headings=True,
    )


def _block(row: Row) -> str:
    supervised = row.kind == METHOD and row.supervised
    return _BLOCKS["supervised" if supervised else row.kind]
