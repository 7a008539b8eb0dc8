"""Tables on the source: methods by control, by task, and by source."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from cdspp.analysis import source_help, transfer
from cdspp.analysis.answers import (
    explanation,
    gain_without_source,
    tally,
    tally_texts,
    verdict_of,
)
from cdspp.analysis.pairwise import compare_pairwise
from cdspp.analysis.summary import read_scores
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import interval_note
from cdspp.core.names import REFERENCE, Paths
from cdspp.core.wording import DASH, STATE_TITLES, counted, in_points, task_title
from cdspp.report.tables.table import (
    Cell,
    Line,
    Table,
    caption,
    effect_cell,
    fraction_cell,
    number_cell,
    write_tables,
)
from cdspp.stages.score import SampleScores
from cdspp.study.plan import LEFT_OUT, BenchmarkPlan, Plans


def write_matrix(plans: Plans, comparisons: Paths, outputs: Paths) -> None:
    """Write the table of methods by controls."""
    groups = [source_help.read_comparisons(path) for path in comparisons]
    write_tables([build_matrix_table(groups, plans)], outputs)


def write_tasks(plans: Plans, scores: Paths, rows: Paths, outputs: Paths) -> None:
    """Write the gains on a benchmark: by task, and by each of several sources."""
    [plan], [path], [row_path] = plans, scores, rows
    frame, per_sample = read_scores(path), SampleScores(row_path)
    gains = source_help.gains_over_comparators(frame, plan, per_sample)
    pairwise = compare_pairwise(frame, plan, per_sample)
    tables = [build_task_table(gains, plan), build_pairwise_table(pairwise, plan)]
    if any(row.kind == LEFT_OUT for row in plan.rows):
        gains = source_help.compare_without_each(frame, plan, per_sample)
        tables.append(build_several_table(gains, plan))
    write_tables(tables, outputs)


def build_matrix_table(groups: Sequence[pd.DataFrame], plans: Plans) -> Table:
    """Build the table ``source-help``: methods by controls, by benchmark."""
    corrected, margin = plans[0].holm_over_methods, plans[0].margin
    comparators = source_help.comparators_of(groups)
    matrices = [source_help.matrix(group, corrected=corrected) for group in groups]
    averages = pd.concat([source_help.no_comparisons(), *matrices], ignore_index=True)
    family = "after Holm's correction over methods" if corrected else "pair by pair"
    others = (name for key, name in comparators.items() if key not in STATE_TITLES)
    baseline = next(others, "the baseline")
    gain = caption("tables", "gain", family=family)
    states = caption("tables", "states", baseline=baseline, margin=margin)
    states += interval_note(averages["trials"])
    return Table(
        "source-help",
        "Did the source help each method?",
        " ".join([gain, states, *(plan.protocol for plan in plans)]),
        columns=(
            "Method",
            "Accuracy",
            *_titles(comparators),
            "Without",
            "Verdict",
            "Tasks",
        ),
        lines=tuple(
            _method_line(average, group[group["row"] == row], comparators)
            for group, matrix in zip(groups, matrices, strict=True)
            for row, average in matrix.groupby("row", sort=False)
            if average["state"].any()
        ),
        data=averages,
        headings=True,
    )


def build_task_table(comparisons: pd.DataFrame, plan: BenchmarkPlan) -> Table:
    """Build the table ``source-help_<benchmark>``: the CSV has all methods."""
    gains = source_help.of_reference(comparisons)
    comparators = source_help.comparators_of([gains])
    lines = (
        Line(
            (Cell(task_title(task)), *_numbers(of_task, comparators), _verdict(of_task))
        )
        for task, of_task in source_help.by_task(gains).items()
    )
    return Table(
        f"source-help_{plan.benchmark}",
        f"{plan.title}: did the source help?",
        f"{caption('tables', 'gain', family='pair by pair')} "
        f"{caption('tables', 'tasks')}{interval_note(gains['trials'])} {plan.protocol}",
        columns=("Task", "Accuracy", *_titles(comparators), "Verdict"),
        lines=tuple(lines),
        data=comparisons,
    )


def build_pairwise_table(pairwise: pd.DataFrame, plan: BenchmarkPlan) -> Table:
    """Build the table ``pairwise_<benchmark>``; its CSV has the gains over all."""
    methods = pairwise.drop_duplicates("row")
    # Methods without a rank come last.
    order = methods["rank"].where(methods["rank"] > 0).sort_values(kind="stable").index
    reference = methods[methods["role"] == REFERENCE].head(1)
    comparator = next(iter(reference["row"]), next(iter(methods["row"]), ""))
    over = pairwise[pairwise["comparator"] == comparator].set_index("row")
    ran = pairwise.groupby("row")["trials"].max()

    def note(entry: Any) -> str:
        fewer = counted(ran[entry.row], "trial") if ran[entry.row] < ran.max() else ""
        bad = transfer.DEGENERATE if entry.collapsed else ""
        return ", ".join(filter(None, (fewer, bad)))

    columns = {
        "Method": lambda entry: Cell(entry.display_name, name=True),
        "Rank": lambda entry: number_cell(entry.rank or math.nan),
        "Accuracy": lambda entry: fraction_cell(entry.accuracy, note(entry)),
        f"Gain over {next(iter(over['comparator_name']), 'it')}": lambda entry: (
            effect_cell(*over.loc[entry.row, ["gain", "low", "high"]])
            if entry.row in over.index
            else Cell(DASH)
        ),
    }
    return Table.of(
        f"pairwise_{plan.benchmark}",
        f"{plan.title}: every method against the reference",
        f"{caption('tables', 'pairwise')}{interval_note(pairwise['trials'])} "
        f"{plan.protocol}",
        columns,
        methods.loc[order].itertuples(),
        data=pairwise,
    )


def _titles(comparators: Mapping[str, str]) -> list[str]:
    return [f"Over {name}" for name in comparators.values()]


def build_several_table(gains: pd.DataFrame, plan: BenchmarkPlan) -> Table:
    """Build the table ``several-sources_<benchmark>``: each source left out."""
    columns = {
        "Method": lambda entry: Cell(entry.display_name, name=True),
        "Without": lambda entry: Cell(entry.source),
        "All sources": lambda entry: fraction_cell(entry.accuracy),
        "All but this": lambda entry: fraction_cell(entry.accuracy_without),
        "Gain": lambda entry: effect_cell(entry.gain, entry.low, entry.high),
        "This source": lambda entry: _word(Transfer.of(entry.verdict), entry.reason),
    }
    return Table.of(
        f"several-sources_{plan.benchmark}",
        f"{plan.title}: which of several sources helps?",
        f"{caption('tables', 'several-sources', margin=plan.margin)} {plan.protocol}",
        columns,
        gains.sort_values("task", kind="stable").itertuples(),
        block=lambda entry: task_title(entry.task),
        data=gains,
        text_columns=2,
        headings=True,
    )


def _method_line(
    average: pd.DataFrame, comparisons: pd.DataFrame, comparators: Mapping[str, str]
) -> Line:
    counts = tally(comparisons)
    uncorrected = verdict_of(source_help.on_average(comparisons))
    text = ", ".join(tally_texts(counts))
    gain, total = gain_without_source(average) or (math.nan, math.nan)
    n_tasks, title = counts.total(), comparisons["title"].iloc[0]
    cells = (
        Cell(comparisons["display_name"].iloc[0], name=True),
        *_numbers(average, comparators),
        fraction_cell(gain, f"of {in_points(total, sign=True)}", sign=True),
        _verdict(average, uncorrected),
        Cell(text or DASH, note=f"of {n_tasks}" if text and n_tasks > 1 else ""),
    )
    return Line(cells, title)


def _numbers(
    comparisons: pd.DataFrame, comparators: Mapping[str, str]
) -> Iterator[Cell]:
    yield fraction_cell(comparisons["accuracy"].iloc[0])
    by_comparator = {
        comparison.comparator: comparison for comparison in comparisons.itertuples()
    }
    yield from (_gain(by_comparator.get(comparator)) for comparator in comparators)


def _gain(comparison: Any | None) -> Cell:
    if comparison is None or math.isnan(comparison.gain):
        return Cell(DASH)
    verdict, reason = source_help.pair_verdict(comparison)
    ends = comparison.low, comparison.high
    cell = effect_cell(comparison.gain, *ends, bold=verdict.decided)
    notes = [cell.note]
    if not math.isnan(comparison.domain_low):
        low, high = in_points(comparison.domain_low), in_points(comparison.domain_high)
        notes.append(f"domains {low} to {high}")
    few = counted(comparison.trials, "trial")
    remarks = {transfer.DEGENERATE: reason, transfer.DISAGREE: reason}
    notes.append((remarks | {transfer.TOO_FEW: few}).get(reason, ""))
    if comparison.one_decides:
        least = in_points(comparison.least, sign=True)
        notes.append(f"sensitive to one trial (minimum {least})")
    return replace(cell, note=", ".join(filter(None, notes)))


def _verdict(comparisons: pd.DataFrame, uncorrected: Transfer | None = None) -> Cell:
    """Return the verdict, with a note if the uncorrected one differs."""
    verdict, first = verdict_of(comparisons), comparisons.iloc[0]
    note = explanation(comparisons)
    if uncorrected not in (None, verdict) and first["reason"] != transfer.DISAGREE:
        note = f"{uncorrected.word} before Holm's correction"
    if verdict.decided:
        p_value = first["p_helps" if verdict is Transfer.POSITIVE else "p_hurts"]
        note = f"p {p_value:.2g}"
    return _word(verdict, note)


def _word(verdict: Transfer, note: str) -> Cell:
    return Cell(verdict.word, bold=verdict.decided, note=note)
