"""What was run: fits and failures, versions, time, digests of what was read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from cdspp.analysis.failures import failure_text
from cdspp.analysis.fit_records import FitRecords
from cdspp.core.jobs import processor_time
from cdspp.core.wording import DASH
from cdspp.report.tables.table import Cell, Line, Table, html_name, to_fragment
from cdspp.study.model import RunDescription
from cdspp.study.plan import BenchmarkPlan

__all__ = ["Run", "build_time_table", "describe_run"]

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Run:
    """What the page says of a run.

    Attributes
    ----------
    description, digests, cites : sequence of (str, str)
        Names and values: of the run, of the files behind the page, and what to cite
        for methods.
    failed : str
        How many fits failed, as a sentence; empty where none did.
    mixed : str
        By which versions fits were made, as a sentence; empty where by one.
    failures : sequence of str
        A line a failed trial.
    time_table : str
        Time and memory by method, as HTML; empty without fits.
    config : str
        The configuration as JSON.
    """

    description: Pairs
    failed: str
    mixed: str
    failures: Sequence[str]
    time_table: str
    digests: Pairs
    cites: Pairs
    config: str


def describe_run(
    records: FitRecords,
    plans: Sequence[BenchmarkPlan],
    study: RunDescription,
    digests: Pairs = (),
) -> Run:
    """Say what was run, where, for how long, and what failed.

    Parameters
    ----------
    records : FitRecords
        The fits.
    plans : sequence of BenchmarkPlan
        The benchmarks, whose rows name the methods.
    study : RunDescription
        What the study says of itself.
    digests : sequence of (str, str)
        Names and digests of the files behind the page (`cdspp.analysis.digests`).
    """
    names = {
        row.method: row.display_name
        for plan in plans
        for row in plan.rows
        if row.key == row.method
    }
    time_table = ""
    if len(records.outcomes):
        fragment = to_fragment(build_time_table(records.outcomes, names))
        time_table = Markup('<figure class="table" id="table-time">\n{}\n</figure>')
        time_table = time_table.format(Markup(fragment))
    return Run(
        description=_description(records, study),
        failed=failure_text(records.outcomes),
        mixed=records.mixed,
        failures=[_failure(trial, names) for trial in records.failed.itertuples()],
        time_table=time_table,
        digests=digests,
        cites=[
            (Markup(html_name(names.get(entry["id"], entry["id"]))), entry["cites"])
            for entry in study.config.get("methods", [])
            if "cites" in entry
        ],
        config=json.dumps(study.config, indent=2, ensure_ascii=False, default=str),
    )


def build_time_table(outcomes: pd.DataFrame, names: Mapping[str, str]) -> Table:
    """Build the table of time and memory by method, over all settings.

    Parameters
    ----------
    outcomes : DataFrame
        Of the fits.
    names : mapping of str to str
        Display names by method.
    """
    groups = outcomes.groupby("method", sort=False)
    return Table(
        name="time",
        title="Time and memory of the fits",
        caption=(
            "All settings together. Start-up of the jobs not included; memory: the "
            "highest of any trial."
        ),
        columns=(
            "Method",
            "Fits",
            "Failed",
            "Median s",
            "Total s",
            "Peak MB",
        ),
        lines=tuple(
            _time_line(names.get(method, method), group) for method, group in groups
        ),
        headings=True,
    )


def _time_line(name: str, outcomes: pd.DataFrame) -> Line:
    failed = int((outcomes["status"] != "ok").sum())
    return Line(
        (
            Cell(name, name=True),
            Cell(str(len(outcomes)), value=len(outcomes)),
            Cell(str(failed), value=failed),
            _cell(outcomes["seconds"].median(), "{:.2f}"),
            _cell(outcomes["seconds"].sum(min_count=1), "{:.1f}"),
            _cell(outcomes["peak_memory_mb"].max(), "{:.0f}"),
        )
    )


def _description(records: FitRecords, study: RunDescription) -> Pairs:
    """State the run as pairs of a name and a value; unknown ones are left out."""
    outcomes = records.outcomes
    fits = f"{len(outcomes)} in {len(records.jobs)} jobs, {len(records.failed)} failed"
    pairs = [
        ("Study", study.name),
        ("Seed", study.config.get("seed")),
        ("Trials", study.config.get("trials")),
        ("Numeric threads", study.config.get("numeric_threads")),
        ("Fits", fits if len(outcomes) else None),
        ("Time in fits", _duration(outcomes["seconds"].sum())),
        ("Start-up", _start_up(study.logs)),
        ("Versions", _listed(records.common("versions"))),
        ("Hardware", _listed(records.common("platform"))),
    ]
    return [(name, str(value)) for name, value in pairs if value not in (None, "")]


def _failure(trial: Any, names: Mapping[str, str]) -> str:
    return (
        f"{trial.benchmark}, {trial.setting}, {trial.task}, "
        f"{names.get(trial.method, trial.method)}, trial {trial.trial}: "
        f"{trial.reason or 'no reason recorded'}"
    )


def _start_up(logs: Sequence[str]) -> str | None:
    spent = processor_time(logs)
    if not spent.total:
        return None
    share = f"{100 * spent.start_up / spent.total:.0f} % of the CPU time of all jobs"
    return f"{share} ({_duration(spent.start_up)} of {_duration(spent.total)})"


def _listed(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_listed(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(str(_listed(item)) for item in value)
    return None if value is None else str(value)


def _cell(value: float, form: str) -> Cell:
    return Cell(DASH if math.isnan(value) else form.format(value), value=value)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
