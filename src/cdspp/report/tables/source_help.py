"""Did the source help: every method by source state, and the reference by task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from cdspp.analysis.answers import gain_without_source, tally, verdict_of
from cdspp.analysis.paired import interval_note
from cdspp.analysis.source_help import (
    by_task,
    matrix,
    no_comparisons,
    of_reference,
    on_average,
    rivals_of,
)
from cdspp.analysis.verdicts import (
    COLLAPSED,
    DEPENDS,
    HELPS,
    HURTS,
    STATEMENTS,
    TOO_FEW,
    UNDECIDED,
)
from cdspp.core.wording import DASH, STATE_TITLES, counted, in_points, task_title
from cdspp.report.tables.table import Cell, Line, Table, effect_cell, points_cell

__all__ = ["build_matrix_table", "build_task_table"]

_BOLD = {HELPS, HURTS}
_GAIN = (
    "Accuracy with the real source minus that of the other, on equal splits, in "
    "points: mean over trials, with a 95 % t interval for other labelled samples and "
    "other rows of this kind. Bold: better or worse by a one-sided test at 5 %, "
)


def build_matrix_table(
    groups: Sequence[pd.DataFrame], margin: float, *, corrected: bool = True
) -> Table:
    """Build the table ``source-help``: methods by source states, a block a benchmark.

    `groups` are what `compare_with_rivals` returned for each benchmark, `margin` the
    points within which a gain counts as equal; words are `corrected` for the number of
    methods.
    """
    rivals = rivals_of(groups)
    matrices = [matrix(group, corrected=corrected) for group in groups]
    averages = pd.concat([no_comparisons(), *matrices], ignore_index=True)
    return Table(
        name="source-help",
        title="Did the source help each method?",
        caption=_matrix_caption(rivals, margin, corrected)
        + interval_note(averages["trials"]),
        columns=(
            *("Method", "Accuracy", *(f"Over {name}" for name in rivals.values())),
            *("Without", "Verdict", "Tasks"),
        ),
        lines=tuple(
            _method_line(average, group[group["row"] == row], rivals)
            for group, found in zip(groups, matrices, strict=True)
            for row, average in found.groupby("row", sort=False)
            if average["state"].any()
        ),
        data=averages,
        headings=True,
    )


def _matrix_caption(rivals: Mapping[str, str], margin: float, corrected: bool) -> str:
    family = "after Holm's correction over methods" if corrected else "pair by pair"
    others = (name for key, name in rivals.items() if key not in STATE_TITLES)
    baseline = next(others, "the baseline")
    return (
        f"{_GAIN}{family}. Averages over tasks. In small print below, from four target "
        "domains on: the interval over their means. Without: how much of the gain over "
        f"{baseline} is there without any source. Verdict on the average, by accuracy "
        "and by balanced accuracy, and on how many tasks it is helps, hurts, equal "
        f"(gains over both forms of none within ±{margin:g}) or undecided. Every state "
        "but none knows the class shares of the source. A dash: not run in this state."
    )


def build_task_table(comparisons: pd.DataFrame, benchmark: str, title: str) -> Table:
    """Build the table ``source-help_<benchmark>``: the reference, task by task.

    All of `comparisons`, what `compare_with_rivals` returned, is in the CSV.
    """
    ours = of_reference(comparisons)
    rivals = rivals_of([ours])
    lines = [
        Line(
            (
                Cell(task_title(task)),
                *_accuracy_and_gains(found, rivals),
                _verdict(found),
            )
        )
        for task, found in by_task(ours).items()
    ]
    over = [f"Over {name}" for name in rivals.values()]
    return Table(
        name=f"source-help_{benchmark}",
        title=f"{title}: did the source help?",
        caption=(
            f"{_GAIN}pair by pair. Verdict: in small print the p value that decides "
            "it, the largest one over all source states (helps) or that of the loss "
            "against no source (hurts), after Holm's correction over tasks."
            + interval_note(ours["trials"])
        ),
        columns=("Task", "Accuracy", *over, "Verdict"),
        lines=tuple(lines),
        data=comparisons,
    )


def _method_line(
    average: pd.DataFrame, found: pd.DataFrame, rivals: Mapping[str, str]
) -> Line:
    """Return the line of a method; `found` are its comparisons on all tasks."""
    counts, alone = tally(found), verdict_of(on_average(found))
    words = (*STATEMENTS, TOO_FEW, COLLAPSED)
    told = ", ".join(f"{counts[word]} {word}" for word in words if counts[word])
    n_tasks, title = counts.total(), found["title"].iloc[0]
    cells = (
        Cell(found["display_name"].iloc[0], name=True),
        *_accuracy_and_gains(average, rivals),
        _without(average),
        _verdict(average, alone),
        Cell(told or DASH, note=f"of {n_tasks}" if told and n_tasks > 1 else ""),
    )
    return Line(cells, title)


def _accuracy_and_gains(
    found: pd.DataFrame, rivals: Mapping[str, str]
) -> Iterator[Cell]:
    yield points_cell(found["accuracy"].iloc[0])
    known = {comparison.rival: comparison for comparison in found.itertuples()}
    yield from (_gain(known.get(rival)) for rival in rivals)


def _gain(comparison: Any | None) -> Cell:
    if comparison is None or math.isnan(comparison.gain):
        return Cell(DASH)
    ends = comparison.low, comparison.high
    cell = effect_cell(comparison.gain, *ends, bold=comparison.pair in _BOLD)
    notes = [cell.note] if cell.note else []
    if not math.isnan(comparison.domain_low):
        low, high = in_points(comparison.domain_low), in_points(comparison.domain_high)
        notes.append(f"domains {low} to {high}")
    if comparison.pair == COLLAPSED:
        notes.append("collapsed or diverged")
    elif comparison.pair == TOO_FEW:
        notes.append(counted(comparison.trials, "trial"))
    if comparison.one_decides:
        least = in_points(comparison.least, sign=True)
        notes.append(f"one trial decides, the least is {least}")
    return replace(cell, note=", ".join(notes))


def _without(average: pd.DataFrame) -> Cell:
    """Return what the method gains over the baseline without any source."""
    value, whole = gain_without_source(average) or (math.nan, math.nan)
    return points_cell(value, f"of {in_points(whole, sign=True)}", sign=True)


def _verdict(found: pd.DataFrame, alone: str = "") -> Cell:
    """Return the verdict; where it is another one `alone`, uncorrected, that too."""
    word, first = verdict_of(found), found.iloc[0]
    note = ""
    if alone not in ("", word):
        note = (
            f"alone {alone}, p {first['p_helps' if alone == HELPS else 'p_hurts']:.2g}"
        )
    elif word == HELPS:
        note = f"p {first['p_helps']:.2g}"
    elif word == HURTS:
        note = f"p {first['p_hurts']:.2g}"
    elif word == DEPENDS:
        words = first["accuracy_verdict"], first["balanced_verdict"]
        note = "by accuracy {}, by balanced accuracy {}".format(*words)
    elif word == UNDECIDED:
        detectable = in_points(first["detectable"], sign=True)
        note = f"helps from {detectable} on in 4 of 5 such studies"
    return Cell(word, bold=word in _BOLD, note=note)
