"""What was run: fits and failures, versions, time, digests of what was read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from cdspp.analysis.fit_records import FitRecords, failure_text, mixed_versions
from cdspp.core.jobs import processor_time
from cdspp.core.wording import duration
from cdspp.report.tables.table import Cell, Table, number_cell, to_fragment
from cdspp.study.model import RunDescription
from cdspp.study.plan import Plans


def describe_run(
    records: FitRecords, plans: Plans, study: RunDescription
) -> dict[str, Any]:
    """Describe a run as the page shows it: jobs, failures, time, versions."""
    rows = [row for plan in plans for row in plan.rows if row.key == row.method]
    names = {row.method: row.display_name for row in rows}
    outcomes = records.outcomes
    table = to_fragment(_time_table(outcomes, names)) if len(outcomes) else ""
    return {
        "description": _description(records, study),
        "failed": failure_text(outcomes),
        "mixed": mixed_versions(records.jobs),
        "names": names,
        "failures": list(records.failed.itertuples()),
        "time_table": Markup(table),
        "config": json.dumps(study.config, indent=2, ensure_ascii=False, default=str),
    }


def _time_table(outcomes: pd.DataFrame, names: Mapping[str, str]) -> Table:
    fits = outcomes.assign(failed=outcomes["status"] != "ok")
    found = fits.groupby("method", sort=False).agg(
        fits=("status", "size"),
        failed=("failed", "sum"),
        median=("seconds", "median"),
        total=("seconds", lambda seconds: seconds.sum(min_count=1)),
        peak=("peak_memory_mb", "max"),
    )
    columns: dict[str, Callable[[Any], Cell]] = {
        "Method": lambda method: Cell(names.get(method.Index, method.Index), name=True),
        "Fits": lambda method: number_cell(method.fits),
        "Failed": lambda method: number_cell(method.failed),
        "Median s": lambda method: number_cell(method.median, "{:.2f}"),
        "Total s": lambda method: number_cell(method.total, "{:.1f}"),
        "Peak MB": lambda method: number_cell(method.peak, "{:.0f}"),
    }
    return Table.of(
        "time",
        "Time and memory of the fits",
        "All settings together. Start-up of the jobs not included; memory: the highest "
        "of any trial.",
        columns,
        found.itertuples(),
    )


def _description(records: FitRecords, study: RunDescription) -> list[tuple[str, str]]:
    """Return the run as pairs of a name and a value; unknown ones are left out."""
    outcomes = records.outcomes
    fits = f"{len(outcomes)} in {len(records.jobs)} jobs, {len(records.failed)} failed"
    pairs = [
        ("Study", study.name),
        ("Seed", study.config.get("seed")),
        ("Trials", study.config.get("trials")),
        ("Numeric threads", study.config.get("numeric_threads")),
        ("Fits", fits if len(outcomes) else None),
        ("Time in fits", duration(outcomes["seconds"].sum())),
        ("Start-up", _start_up(study.logs)),
        ("Versions", _listed(records.common("versions"))),
        ("Hardware", _listed(records.common("platform"))),
    ]
    return [(name, str(value)) for name, value in pairs if value not in (None, "")]


def _start_up(logs: Sequence[str]) -> str | None:
    spent = processor_time(logs)
    if not spent.total:
        return None
    share = f"{100 * spent.start_up / spent.total:.0f} % of the CPU time of all jobs"
    return f"{share} ({duration(spent.start_up)} of {duration(spent.total)})"


def _listed(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_listed(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(str(_listed(item)) for item in value)
    return None if value is None else str(value)
