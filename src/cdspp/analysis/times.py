"""What methods take: processor seconds of three trials, beside printed ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from cdspp.core.names import MAIN, REFERENCE
from cdspp.study.plan import BenchmarkPlan

__all__ = ["TIMED_TRIALS", "measure_times"]

TIMED_TRIALS = 3  # that the seconds are told for, as the paper does
_COLUMNS = (
    *("benchmark", "title", "row", "display_name", "supervised", "shortened"),
    *("seconds", "ratio", "trials", "failed", "tasks", "n_tasks"),
    *("paper_seconds", "paper_ratio"),
)


def measure_times(
    outcomes: pd.DataFrame,
    plans: Sequence[BenchmarkPlan],
    printed: Mapping[str, Mapping[str, float]] | None = None,
) -> pd.DataFrame:
    """Return the time of every method on every benchmark, in table order.

    Outcomes are those of `cdspp.analysis.fit_records`, of which the setting ``main``
    counts; `printed` has seconds by benchmark and display name of a method.

    The frame has by benchmark and row: processor `seconds` of three trials over all
    tasks, from the mean of all that ran (NaN unless every task ran), and their `ratio`
    to those of the reference; `trials` measured in every task that ran; trials that
    `failed`, over all tasks; `tasks` with a measured trial, of `n_tasks`; what is
    printed elsewhere.
    """
    main = outcomes[outcomes["setting"] == MAIN]
    found = [
        _of_benchmark(main, plan, (printed or {}).get(plan.benchmark, {}))
        for plan in plans
    ]
    return pd.concat(found, ignore_index=True).reindex(columns=list(_COLUMNS))


def _of_benchmark(
    outcomes: pd.DataFrame, plan: BenchmarkPlan, printed: Mapping[str, float]
) -> pd.DataFrame:
    here = outcomes[outcomes["benchmark"] == plan.benchmark]
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
    known = ok & outcomes["cpu_seconds"].notna()  # of predictions made elsewhere none
    spent = outcomes[known].groupby("task")["cpu_seconds"].apply(list).to_dict()
    ran = [spent[task] for task in tasks if task in spent]
    each = (TIMED_TRIALS * sum(seconds) / len(seconds) for seconds in ran)
    return {
        "seconds": sum(each) if ran and len(ran) == len(tasks) else math.nan,
        "trials": min(map(len, ran), default=0),
        "failed": int((~ok).sum()),
        "tasks": len(ran),
    }
