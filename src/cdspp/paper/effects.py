"""Runs the other way: what a deviation changes, and what a choice does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from cdspp.analysis.paired import paired_gain
from cdspp.analysis.summary import Floats, accuracy_of, mean_sd, n_present
from cdspp.core.names import MAIN
from cdspp.methods import method_class
from cdspp.paper.accuracy import EXACT, Printed, printed_verdict
from cdspp.paper.readings import PaperPlan, ReadingPlan
from cdspp.study.plan import BenchmarkPlan, Row

__all__ = ["measure_choices", "reading_values"]


_COLUMNS = (
    "choice",
    "benchmark",
    "title",
    "method",
    "display_name",
    "effect",
    "low",
    "high",
    "tasks",
    "trials",
    "cells",
    "exact",
    "exact_otherwise",
)


def reading_values(scores: pd.DataFrame, entry: ReadingPlan) -> Floats:
    """Return the accuracies of a method run the other way, and of its main run.

    Parameters
    ----------
    scores : DataFrame
        The score file of the benchmark.
    entry : ReadingPlan
        Which method and setting, on which tasks and trials.

    Returns
    -------
    ndarray of shape (2, n_tasks, n_trials)
        The other way first; NaN where a trial is missing.
    """
    rows = [
        Row(setting, setting, setting, entry.method, entry.trials_asked)
        for setting in (entry.setting, MAIN)
    ]
    return accuracy_of(scores, rows, entry.tasks, entry.trials_asked)


def measure_choices(
    scores: Sequence[pd.DataFrame], plans: Sequence[BenchmarkPlan], printed: Printed
) -> pd.DataFrame:
    """Measure what each choice behind the printed numbers changes.

    Parameters
    ----------
    scores : sequence of DataFrame
        Score files, in the order of `plans`.
    plans : sequence of BenchmarkPlan
        The benchmarks; `choices` names what is run without a choice.
    printed : Printed
        What the paper prints.

    Returns
    -------
    DataFrame
        By choice, benchmark and method: `effect`, the accuracy with the choice minus
        the one without, averaged over tasks and trials, with its 95 % interval over
        trials (`low`, `high`); how many of its printed `cells` are met exactly with the
        choice (`exact`) and without it (`exact_otherwise`).
    """
    found = [
        _measured(frame, plan, entry, printed)
        for frame, plan in zip(scores, plans, strict=True)
        for entry in PaperPlan.of(plan).choices
    ]
    return pd.DataFrame(found, columns=list(_COLUMNS))


def _measured(
    scores: pd.DataFrame, plan: BenchmarkPlan, entry: ReadingPlan, printed: Printed
) -> dict[str, object]:
    name = method_class(entry.method).display_name
    values = reading_values(scores, entry)
    otherwise, main = values.mean(axis=1)
    gain = paired_gain(main, otherwise)
    cells = printed.cells
    cells = cells[
        (cells["benchmark"] == PaperPlan.of(plan).printed) & (cells["method"] == name)
    ]
    asked = cells.set_index("task").reindex(entry.tasks).dropna(subset="printed_mean")
    exact_otherwise, exact = (
        sum(
            _is_exact(of_setting[entry.tasks.index(cell.Index)], cell)
            for cell in asked.itertuples()
        )
        for of_setting in values
    )
    size = (gain.gain, gain.low, gain.high, len(entry.tasks), gain.trials)
    names = (entry.identifier, plan.benchmark, plan.title, entry.method, name)
    told = (*names, *size, len(asked), exact, exact_otherwise)
    return dict(zip(_COLUMNS, told, strict=True))


def _is_exact(values: Floats, cell: Any) -> bool:
    ours = (*mean_sd(values), n_present(values))
    return printed_verdict(cell.printed_mean, cell.printed_sd, *ours) == EXACT
