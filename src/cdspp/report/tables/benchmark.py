"""The tables of scores, rows by tasks: accuracies, iterations, the overview.

Each is a frame of scores, a cell a line, from which data and cells of the table follow.
Columns of the frame that no file has are `HIDDEN`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.summary import MOST_COLLAPSED, Floats, Summary, mean_sd, n_present
from cdspp.core.names import AVERAGE, BASELINE
from cdspp.core.wording import DASH, counted, in_points, percent, task_title
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.study.plan import METHOD, Row

__all__ = [
    "HIDDEN",
    "build_benchmark_tables",
    "build_overview",
    "moments",
    "score_cells",
    "trial_note",
]

_NUMBERS = (
    "Percent, mean (standard deviation, n − 1) over trials. "
    "Bold: best of the column among complete methods. * supervised; † shortened run."
)
_MOST_ITERATIONS = 12
_ITERATION_DATA = ("benchmark", "task", "row", "display_name", "iteration")
# The row, the number of trials that are asked of complete ones, and small print.
HIDDEN = ["of", "asked", "note"]
_SCORES = [
    *("benchmark", "title", "task", "row", "display_name", "kind", "shortened"),
    *("mean", "sd", "trials", "expected_trials", *HIDDEN),
]
_BLOCKS = {
    "supervised": "Supervised",
    "method": "Semi-supervised",
    "informed": "Told of the test samples",
    "bridged": "With a bridge",
    "control": "Controls",
    "variant": "Other settings",
}


def build_benchmark_tables(summary: Summary) -> list[Table]:
    """Build the tables of accuracies and of iterations."""
    plan = summary.plan
    counts = " and ".join(f"{number} {role}" for role, number in plan.labels.items())
    context = f" Labelled samples per class: {counts}." if counts else ""
    tasks, _ = summary.with_average(summary.accuracy)
    headings = {(plan.benchmark, task): task_title(task) for task in tasks}
    tables = []
    for kind, heading, values in (
        ("accuracy", "accuracy", summary.accuracy),
        ("class-accuracy", "balanced accuracy", summary.class_accuracy),
    ):
        name, title = f"{kind}_{plan.benchmark}", f"{plan.title}: {heading}"
        scores = _scores(summary, values)
        tables.append(_grid_table(name, title, _NUMBERS + context, headings, scores))
    return [*tables, _iteration_table(summary)]


def build_overview(summaries: Sequence[Summary]) -> Table:
    """Build the table of averages: rows and controls by benchmark."""
    chosen = _common([summary.of_all_tasks() for summary in summaries])
    headings, scores = {}, []
    caption = [f"Average accuracy over the tasks of each benchmark. {_NUMBERS}"]
    for summary in chosen:
        plan, (tasks, _) = summary.plan, summary.with_average(summary.accuracy)
        headings[plan.benchmark, tasks[-1]] = plan.title
        found = [
            score | {"title": plan.title}
            for score in _scores(summary, summary.accuracy)
            if score["task"] == tasks[-1]
        ]
        caption += _below_baseline(found)
        scores += found
    return _grid_table("overview", "Overview", " ".join(caption), headings, scores)


def _common(summaries: Sequence[Summary]) -> list[Summary]:
    """Leave out other settings of methods that not every benchmark has."""
    keys = [{row.key for row in summary.rows} for summary in summaries]
    everywhere = set.intersection(*keys) if keys else set()
    return [
        summary.of_rows(
            i
            for i, row in enumerate(summary.rows)
            if row.kind != "variant" or row.key in everywhere
        )
        for summary in summaries
    ]


def _below_baseline(scores: Sequence[dict[str, Any]]) -> list[str]:
    """Name the methods that do worse than the baseline, which sees no source."""
    methods = [score for score in scores if score["of"].kind == METHOD]
    baseline = next((score for score in methods if score["of"].role == BASELINE), None)
    if baseline is None:
        return []
    worse = [
        f"{score['display_name']} ({in_points(loss, sign=True)})"
        for score in methods
        if (loss := score["mean"] - baseline["mean"]) < 0
    ]
    told = f"{baseline['title']}, below {baseline['display_name']} by points: "
    return [f"{told}{', '.join(worse)}."] if worse else []


def _iteration_table(summary: Summary) -> Table:
    tasks, curves = summary.with_average(summary.by_iteration)
    count = len(summary.iterations)
    # Evenly spread, both ends among them.
    spread = np.linspace(0, count - 1, min(count, _MOST_ITERATIONS)).round()
    steps = sorted({int(step) for step in spread})
    lines, data = [], []
    for i in summary.iterative():
        row = summary.rows[i]
        ran = [step for step in steps if np.isfinite(curves[i, ..., step]).any()]
        for place, step in enumerate(ran):
            name = Cell("" if place else row.display_name, name=True)
            cells = [Cell(percent(*mean_sd(values))) for values in curves[i, ..., step]]
            iteration = Cell(str(summary.iterations[step]))
            lines.append(Line((name, iteration, *cells), row.key))
        data += [
            {
                "benchmark": summary.plan.benchmark,
                "task": task,
                "row": row.key,
                "display_name": row.display_name,
                "iteration": int(iteration),
                **moments(values),
            }
            for task, by_trial in zip(tasks, curves[i], strict=True)
            for iteration, values in zip(summary.iterations, by_trial.T, strict=True)
        ]
    return Table(
        name=f"iterations_{summary.plan.benchmark}",
        title=f"{summary.plan.title}: accuracy by iteration",
        caption="Percent, mean (standard deviation, n − 1) over trials.",
        columns=("Method", "Iteration", *map(task_title, tasks)),
        lines=tuple(lines),
        data=pd.DataFrame(data, columns=[*_ITERATION_DATA, *moments(np.empty(0))]),
    )


def _scores(summary: Summary, values: Floats) -> list[dict[str, Any]]:
    """Return the scores of `values`, rows by tasks by trials, and of their average."""
    tasks, padded = summary.with_average(values)
    return [
        {
            "benchmark": summary.plan.benchmark,
            "title": task_title(task),
            "task": task,
            "row": row.key,
            "display_name": row.display_name,
            "kind": _block(row).lower(),
            "shortened": row.shortened,
            **moments(padded[i, place, : row.trials_asked]),
            "expected_trials": row.trials_asked,
            "of": row,
            "asked": summary.plan.trials_asked,
            "note": trial_note(
                row,
                padded[i, place],
                task,
                summary.tasks,
                collapsed=summary.collapsed_share(i, task) > MOST_COLLAPSED,
            ),
        }
        for place, task in enumerate(tasks)
        for i, row in enumerate(summary.rows)
    ]


def trial_note(
    row: Row,
    values: Floats,
    task: str,
    tasks: Sequence[str],
    *,
    collapsed: bool = False,
) -> str:
    """Say how many trials or tasks of a row ran, where not all did, and a collapse.

    The values are of one of the tasks, or of their average.
    """
    ran, notes = n_present(values[: row.trials_asked]), []
    n_tasks = len(set(row.tasks or tasks).intersection(tasks))
    if 0 < ran < row.trials_asked:
        notes.append(f"{ran} of {row.trials_asked} trials")
    elif task == AVERAGE and n_tasks < len(tasks):
        notes.append(f"{n_tasks} of {counted(len(tasks), 'task')}")
    return ", ".join(notes + ["collapsed or diverged"] * collapsed)


def moments(values: Floats) -> dict[str, float]:
    """Return what the data of a table say of the trials of one cell."""
    mean, sd = mean_sd(values)
    return {"mean": mean, "sd": sd, "trials": n_present(values)}


def score_cells(scores: pd.DataFrame, columns: Sequence[str]) -> dict[Any, Cell]:
    """Return the cells, such as ``92.3 (1.2)``, by row and what names their column.

    Bold is the best of a column among complete methods, where there are two at least.
    """
    shown = scores["mean"].map(lambda mean: round(100 * mean, 1))
    competes = scores["of"].map(lambda row: row.kind == METHOD and not row.shortened)
    competes = competes.astype(bool) & (scores["trials"] >= scores["asked"])
    rivals = shown.where(competes).groupby([scores[name] for name in columns])
    top, number = rivals.transform("max"), rivals.transform("count")
    best = competes & (number > 1) & (shown == top)
    cells = {}
    for score, bold in zip(scores.itertuples(), best.tolist(), strict=True):
        key = (score.row, *(getattr(score, name) for name in columns))
        text = percent(score.mean, score.sd)
        cells[key] = Cell(text, bold=bold, note=score.note, value=score.mean)
    return cells


def _grid_table(
    name: str,
    title: str,
    caption: str,
    headings: Mapping[tuple[str, str], str],
    scores: Sequence[dict[str, Any]],
) -> Table:
    """Build a table: supervised, semi-supervised, controls, other settings."""
    rows: dict[str, Row] = {}
    for row in (score["of"] for score in scores):
        known = rows.setdefault(row.key, row)
        rows[row.key] = replace(known, shortened=known.shortened or row.shortened)
    frame = pd.DataFrame(scores, columns=_SCORES)
    cells = score_cells(frame, ["benchmark", "task"])
    lines = []
    for row in rows.values():
        numbers = [cells.get((row.key, *column), Cell(DASH)) for column in headings]
        label = _label(row, frame[frame["row"] == row.key])
        lines.append(Line((label, *numbers), _block(row)))
    order = list(_BLOCKS.values())
    return Table(
        name=name,
        title=title,
        caption=caption,
        columns=("Method", *headings.values()),
        lines=tuple(sorted(lines, key=lambda line: order.index(line.block))),
        data=frame.drop(columns=HIDDEN),
        headings=True,
    )


def _label(row: Row, scores: pd.DataFrame) -> Cell:
    fewer = sorted({*scores.query("expected_trials != asked")["expected_trials"]})
    noun = "trial" if fewer == [1] else "trials"
    notes = [row.bridge] if row.bridge else []
    notes += [f"{' or '.join(map(str, fewer))} {noun}"] if fewer else []
    return Cell(row.display_name + row.marks, note=", ".join(notes), name=True)


def _block(row: Row) -> str:
    supervised = row.kind == METHOD and row.supervised
    return _BLOCKS["supervised" if supervised else row.kind]
