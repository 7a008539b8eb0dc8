"""What methods take: processor seconds of three trials, and what the paper printed."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml

from cdspp.core.names import MAIN, REFERENCE
from cdspp.stages.artifacts import SHIPPED, read_csv
from cdspp.study.plan import BenchmarkPlan

__all__ = [
    "TIMED_TRIALS",
    "PaperTimes",
    "measure_times",
    "paper_seconds",
    "paper_times",
]

PathLike = str | os.PathLike[str]
PaperTimes = Mapping[str, Mapping[str, float]]

TIMED_TRIALS = 3  # that the seconds are told for, as the paper does
_COLUMNS = (
    "benchmark",
    "title",
    "row",
    "display_name",
    "supervised",
    "shortened",
    "seconds",
    "ratio",
    "trials",
    "failed",
    "tasks",
    "n_tasks",
    "paper_seconds",
    "paper_ratio",
)
_TYPES = {"method": "str", "benchmark": "str", "seconds_all_tasks": "float64"}


def measure_times(
    outcomes: pd.DataFrame,
    plans: Sequence[BenchmarkPlan],
    paper: PaperTimes | None = None,
) -> pd.DataFrame:
    """Return the time of every method on every benchmark, in table order.

    Parameters
    ----------
    outcomes : DataFrame
        Of the fits (`cdspp.analysis.fit_records`); those of the setting ``main`` count.
    plans : sequence of BenchmarkPlan
        The benchmarks.
    paper : mapping, optional
        What `paper_times` returned.

    Returns
    -------
    DataFrame
        By benchmark and row: processor `seconds` of three trials over all tasks, from
        the mean of all that ran (NaN unless every task ran), and their `ratio` to those
        of the reference; `trials` measured in every task that ran; trials that
        `failed`, over all tasks; `tasks` with a measured trial, of `n_tasks`; what the
        paper prints.
    """
    main = outcomes[outcomes["setting"] == MAIN]
    found = [_of_benchmark(main, plan, paper or {}) for plan in plans]
    return pd.concat(found, ignore_index=True).reindex(columns=list(_COLUMNS))


def paper_times(folder: PathLike, plans: Sequence[BenchmarkPlan]) -> PaperTimes:
    """Return the printed seconds, by benchmark of ours and display name of a method.

    Parameters
    ----------
    folder : path
        Holds ``computation_time.csv``, and ``benchmarks.yaml``, where `time` names the
        rows of the former.
    plans : sequence of BenchmarkPlan
        The benchmarks; `printed` names the paper's benchmark, where there is one.
    """
    seconds = paper_seconds(Path(folder, "computation_time.csv"))
    known = yaml.safe_load(Path(folder, "benchmarks.yaml").read_text(encoding="utf-8"))
    return {
        plan.benchmark: seconds[known[plan.printed]["time"]]
        for plan in plans
        if plan.printed
    }


def paper_seconds(path: PathLike) -> dict[str, dict[str, float]]:
    """Read the computation times of the paper: seconds by benchmark and method.

    Raises
    ------
    DataError
        The file is missing or has other columns.
    """
    found = read_csv(path, _TYPES, SHIPPED)
    return {
        str(name): dict(zip(group["method"], group["seconds_all_tasks"], strict=True))
        for name, group in found.groupby("benchmark", sort=False)
    }


def _of_benchmark(
    outcomes: pd.DataFrame, plan: BenchmarkPlan, paper: PaperTimes
) -> pd.DataFrame:
    here = outcomes[outcomes["benchmark"] == plan.benchmark]
    printed = paper.get(plan.benchmark, {})
    times = pd.DataFrame(
        {
            "benchmark": plan.benchmark,
            "title": plan.title,
            "row": row.key,
            "display_name": row.display_name,
            "supervised": row.supervised,
            "shortened": row.shortened,
            **_measured(here[here["method"] == row.method], plan.tasks),
            "n_tasks": len(plan.tasks),
            "paper_seconds": printed.get(row.method_name, math.nan),
        }
        for row in plan.main_rows
    )
    if times.empty:
        return times
    unit = times[[row.role == REFERENCE for row in plan.main_rows]].squeeze()
    for name, ratio in (("seconds", "ratio"), ("paper_seconds", "paper_ratio")):
        own = float(unit[name]) if len(unit) else math.nan
        times[ratio] = times[name] / (own or math.nan)
    return times


def _measured(outcomes: pd.DataFrame, tasks: Sequence[str]) -> dict[str, float]:
    """Sum up a method's trials over the tasks of a benchmark."""
    ok = outcomes["status"] == "ok"
    spent = outcomes[ok].groupby("task")["cpu_seconds"].apply(list).to_dict()
    ran = [spent[task] for task in tasks if task in spent]
    each = (TIMED_TRIALS * sum(seconds) / len(seconds) for seconds in ran)
    return {
        "seconds": sum(each) if ran and len(ran) == len(tasks) else math.nan,
        "trials": min(map(len, ran), default=0),
        "failed": int((~ok).sum()),
        "tasks": len(ran),
    }
