"""Default, selected and hindsight: what a choice of hyper-parameters is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.answers import verdict_of
from cdspp.analysis.curves import CurveScores, arrange_curves, value_text
from cdspp.analysis.source_help import of_method, read_comparisons
from cdspp.analysis.summary import Floats, last_scores, mean_sd, read_scores
from cdspp.core.names import ALONE, MAIN, MATCHED, REAL, SELECTED, PathLike
from cdspp.methods import method_class
from cdspp.study.plan import CHOOSING, METHOD, BenchmarkPlan, Row
from cdspp.study.settings import in_state

_COLUMNS = (
    *("benchmark", "title", "method", "display_name", "state"),
    *("default", "selected", "hindsight", "hindsight_value", "chosen"),
    *("trials", "verdict", "selected_verdict"),
)


def compare_selections(
    scores: pd.DataFrame,
    plan: BenchmarkPlan,
    comparisons: pd.DataFrame,
    outcomes: pd.DataFrame,
) -> pd.DataFrame:
    """Compare defaults with what was selected, and with the best in hindsight.

    Accuracies are averaged over tasks and the trials that all three forms have.
    *Hindsight* is the value of the curve with the highest test accuracy, which nobody
    can know; no verdict reads it.
    """
    curves = arrange_curves(scores, plan)
    ran = {(row.setting, row.method) for row in plan.rows}
    records = [
        _record(scores, plan, row, state, curves, outcomes)
        | _verdicts(comparisons, row)
        for row in plan.rows
        if row.kind == CHOOSING
        for state in (REAL, ALONE, MATCHED)
        if (in_state(SELECTED, state), row.method) in ran
    ]
    return pd.DataFrame(records, columns=list(_COLUMNS))


def read_selections(
    scores: Sequence[PathLike],
    comparisons: Sequence[PathLike],
    plans: Sequence[BenchmarkPlan],
    outcomes: pd.DataFrame,
) -> pd.DataFrame:
    """Read scores and comparisons of benchmarks; see `compare_selections`."""
    compared = map(read_comparisons, comparisons)
    read = zip(map(read_scores, scores), plans, compared, strict=True)
    found = [compare_selections(*each, outcomes) for each in read]
    return pd.concat(found, ignore_index=True)


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
    curves: Sequence[CurveScores],
    outcomes: pd.DataFrame,
) -> dict[str, Any]:
    selected = in_state(SELECTED, state)
    rows = [replace(row, setting=name) for name in (in_state(MAIN, state), selected)]
    accuracy = last_scores(scores, rows, plan.tasks, plan.trials_asked)
    own = {"benchmark": plan.benchmark, "setting": selected, "method": row.method}
    chosen_options = outcomes[(outcomes[list(own)] == own).all(axis=1)]["selected"]
    options = [each for each in chosen_options if isinstance(each, Mapping) and each]
    tried = {name for each in options for name in each}
    along = {
        value: accuracies
        for curve in curves
        if curve.plan.parameter in tried
        for known, by_value in zip(curve.plan.rows, curve.accuracy, strict=True)
        if (known.method, known.state) == (row.method, state)
        for value, accuracies in zip(curve.values, by_value.mean(axis=0), strict=True)
    }
    default, chosen, *others = _shared_trials([*accuracy.mean(axis=1), *along.values()])
    means = {v: float(x.mean()) for v, x in zip(along, others, strict=True) if len(x)}
    best = max(means, key=means.__getitem__, default=None)
    return {
        "benchmark": plan.benchmark,
        "title": plan.title,
        "method": row.method,
        "display_name": row.method_name,
        "state": state if method_class(row.method).uses_source else ALONE,
        "default": mean_sd(default)[0],
        "selected": mean_sd(chosen)[0],
        "hindsight": np.nan if best is None else means[best],
        "hindsight_value": "" if best is None else value_text(best),
        "chosen": _value_counts(options),
        "trials": len(default),
    }


def _shared_trials(rows: Sequence[Floats]) -> list[Floats]:
    n_trials = min(map(len, rows))
    whole = np.isfinite([row[:n_trials] for row in rows]).all(axis=0)
    return [row[:n_trials][whole] for row in rows]


def _value_counts(chosen: Sequence[Mapping[str, Any]]) -> str:
    found = Counter(", ".join(map(value_text, options.values())) for options in chosen)
    return ", ".join(f"{value}: {found[value]}" for value in sorted(found, key=float))


def _verdicts(comparisons: pd.DataFrame, row: Row) -> dict[str, str]:
    keys = {"verdict": row.method, "selected_verdict": row.key}
    if not method_class(row.method).uses_source:
        return dict.fromkeys(keys, "")
    return {name: verdict_of(of_method(comparisons, key)) for name, key in keys.items()}
