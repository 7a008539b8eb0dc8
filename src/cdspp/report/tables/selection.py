"""Hyper-parameters: default, selected, and best in hindsight."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis import summary
from cdspp.analysis.answers import verdict_of
from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.source_help import of_method, read_comparisons
from cdspp.analysis.verdicts import HELPS, HURTS
from cdspp.core.names import ALONE, MAIN, MATCHED, REAL, SELECTED, Paths
from cdspp.core.wording import DASH, STATE_TITLES
from cdspp.methods import method_class
from cdspp.report.tables.table import Cell, Table, caption, fraction_cell, write_tables
from cdspp.stages.fit import FOLDS
from cdspp.study.plan import CHOOSING, METHOD, BenchmarkPlan, Plans, Row
from cdspp.study.settings import in_state

_COLUMNS = (
    *("benchmark", "title", "method", "display_name", "state"),
    *("default", "selected", "hindsight", "hindsight_value", "chosen"),
    *("trials", "verdict", "selected_verdict"),
)


def write_selection(
    plans: Plans,
    scores: Paths,
    comparisons: Paths,
    selecting_records: Paths,
    outputs: Paths,
) -> None:
    """Write the table of selected hyper-parameters."""
    results = read_fit_records(selecting_records).results
    compared = map(read_comparisons, comparisons)
    read = zip(map(summary.read_scores, scores), plans, compared, strict=True)
    selections = pd.concat([compare_selections(*each, results) for each in read])
    write_tables([build_selection_table(selections, plans)], outputs)


def compare_selections(
    scores: pd.DataFrame,
    plan: BenchmarkPlan,
    comparisons: pd.DataFrame,
    results: pd.DataFrame,
) -> pd.DataFrame:
    """Compare default, selected and best options in hindsight.

    Accuracies are averaged over tasks and the trials that all three forms have.
    *Hindsight* is the value of the curve with the highest test accuracy, which nobody
    can know in advance; no verdict uses it.
    """
    curves = summary.arrange_curves(scores, plan)
    runs = {(row.setting, row.method) for row in plan.rows}
    records = []
    for row in (row for row in plan.rows if row.kind == CHOOSING):
        keys = {"verdict": row.method, "selected_verdict": row.key}
        verdicts = dict.fromkeys(keys, "")
        if method_class(row.method).uses_source:
            gains = {name: of_method(comparisons, key) for name, key in keys.items()}
            verdicts = {name: verdict_of(each) for name, each in gains.items()}
        for state in (REAL, ALONE, MATCHED):
            if (in_state(SELECTED, state), row.method) in runs:
                record = _record(scores, plan, row, state, curves, results)
                records.append(record | verdicts)
    return pd.DataFrame(records, columns=list(_COLUMNS))


def without_grid(plan: BenchmarkPlan) -> list[str]:
    """Return the names of the methods that keep their defaults."""
    choosing = {row.method for row in plan.rows if row.kind == CHOOSING}
    rows = (row for row in plan.rows if row.kind == METHOD)
    return [row.display_name for row in rows if row.method not in choosing]


def _record(
    scores: pd.DataFrame,
    plan: BenchmarkPlan,
    row: Row,
    state: str,
    curves: Sequence[summary.CurveScores],
    results: pd.DataFrame,
) -> dict[str, Any]:
    selected = in_state(SELECTED, state)
    rows = [replace(row, setting=name) for name in (in_state(MAIN, state), selected)]
    accuracy = summary.last_scores(scores, rows, plan.tasks, plan.n_trials)
    key = {"benchmark": plan.benchmark, "setting": selected, "method": row.method}
    chosen_options = results[(results[list(key)] == key).all(axis=1)]["selected"]
    options = [each for each in chosen_options if isinstance(each, Mapping) and each]
    parameters = {name for each in options for name in each}
    along = {
        value: accuracies
        for curve in curves
        if curve.plan.parameter in parameters
        for curve_row, by_value in zip(curve.plan.rows, curve.accuracy, strict=True)
        if (curve_row.method, curve_row.state) == (row.method, state)
        for value, accuracies in zip(curve.values, by_value.mean(axis=0), strict=True)
    }
    default, chosen, *others = _shared_trials([*accuracy.mean(axis=1), *along.values()])
    means = {v: float(x.mean()) for v, x in zip(along, others, strict=True) if len(x)}
    best = max(means, key=means.__getitem__, default=None)
    texts = (", ".join(map(summary.value_text, each.values())) for each in options)
    counts = Counter(texts)
    return key | {
        "title": plan.title,
        "display_name": row.method_name,
        "state": state if method_class(row.method).uses_source else ALONE,
        "default": summary.mean_sd(default)[0],
        "selected": summary.mean_sd(chosen)[0],
        "hindsight": np.nan if best is None else means[best],
        "hindsight_value": "" if best is None else summary.value_text(best),
        "chosen": ", ".join(f"{v}: {counts[v]}" for v in sorted(counts, key=float)),
        "trials": len(default),
    }


def _shared_trials(averages: Sequence[summary.Floats]) -> list[summary.Floats]:
    n_trials = min(map(len, averages))
    shared = np.isfinite([each[:n_trials] for each in averages]).all(axis=0)
    return [each[:n_trials][shared] for each in averages]


def build_selection_table(selections: pd.DataFrame, plans: Plans) -> Table:
    """Build the table ``selection``, from `compare_selections`."""
    rest = dict.fromkeys(name for plan in plans for name in without_grid(plan))
    others = f" Only with their defaults: {', '.join(rest)}." if rest else ""
    about = caption("tables", "selection", folds=FOLDS)
    columns = {
        "Method": lambda entry: Cell(entry.display_name, name=True),
        "Source": lambda entry: Cell({REAL: "real", **STATE_TITLES}[entry.state]),
        "Default": lambda entry: fraction_cell(entry.default),
        "Selected": lambda entry: fraction_cell(entry.selected),
        "Best in hindsight": lambda entry: fraction_cell(
            entry.hindsight,
            f"at {entry.hindsight_value}" if entry.hindsight_value else "",
        ),
        "Values selected": lambda entry: Cell(entry.chosen or DASH),
        "Verdict by default": lambda entry: _verdict(entry, entry.verdict),
        "Verdict as selected": lambda entry: _verdict(entry, entry.selected_verdict),
    }
    return Table.of(
        "selection",
        "Hyper-parameters: default, selected, best in hindsight",
        " ".join([about + others, *(plan.protocol for plan in plans)]),
        columns,
        selections.itertuples(),
        block=lambda entry: str(entry.title),
        data=selections,
        text_columns=2,
        headings=True,
        empty="No method has a grid of values to select from.",
    )


def _verdict(entry: Any, verdict: str) -> Cell:
    verdict = verdict if entry.state == REAL else ""
    return Cell(verdict or DASH, bold=verdict in (HELPS, HURTS))
