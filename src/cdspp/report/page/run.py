"""The part of the report that says what was run: records of fits, versions, time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from cdspp.analysis.fit_records import FitRecord
from cdspp.core.jobs import processor_time
from cdspp.core.wording import DASH
from cdspp.report.tables.table import Cell, Line, Table

__all__ = [
    "failed_trials",
    "run_facts",
    "time_table",
]


def run_facts(
    records: Sequence[FitRecord], study: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """State the run as pairs of a name and a value; unknown ones are left out."""
    trials = [trial for record in records for trial in record.trials]
    failed = sum(trial.get("status") != "ok" for trial in trials)
    facts = [
        ("Study", study.get("study")),
        ("Seed", study.get("seed", _common(records, "seed"))),
        ("Trials", study.get("trials")),
        (
            "Numeric threads",
            study.get("numeric_threads", _common(records, "numeric_threads")),
        ),
        (
            "Fits",
            f"{len(trials)} in {len(records)} jobs, {failed} failed"
            if trials
            else None,
        ),
        ("Time in fits", _duration(sum(_number(t, "seconds") for t in trials))),
        ("Start-up", _start_up(study.get("logs", ()))),
        ("Versions", _listed(study.get("versions") or _common(records, "versions"))),
        ("Hardware", _listed(study.get("hardware") or _common(records, "platform"))),
    ]
    return [(name, str(value)) for name, value in facts if value not in (None, "")]


def failed_trials(records: Sequence[FitRecord], names: Mapping[str, str]) -> list[str]:
    """List failed trials with their reasons; `names` as for `time_table`."""
    return [
        f"{record.benchmark}, {record.setting}, {record.task}, "
        f"{names.get(record.method, record.method)}, trial {trial.get('trial')}: "
        f"{trial.get('reason') or 'no reason recorded'}"
        for record in records
        for trial in record.trials
        if trial.get("status") != "ok"
    ]


def time_table(records: Sequence[FitRecord], names: Mapping[str, str]) -> Table:
    """Build the table of time and memory by method and setting.

    Parameters
    ----------
    records : sequence of FitRecord
        The fits.
    names : mapping of str to str
        Printed names by method.
    """
    groups: dict[tuple[str, str], list[FitRecord]] = {}
    for record in records:
        groups.setdefault((record.method, record.setting), []).append(record)
    lines = [
        _time_line(names.get(method, method), setting, members)
        for (method, setting), members in groups.items()
    ]
    return Table(
        name="time",
        title="Time and memory of the fits",
        caption="Start-up of the jobs not included; memory: the highest of any trial.",
        columns=(
            "Method",
            "Setting",
            "Fits",
            "Failed",
            "Median s",
            "Total s",
            "Peak MB",
        ),
        lines=tuple(lines),
        fields=(),
        text_columns=2,
        headings=True,
    )


def _time_line(printed: str, setting: str, members: Sequence[FitRecord]) -> Line:
    trials = [trial for record in members for trial in record.trials]
    seconds = [_number(trial, "seconds") for trial in trials]
    memory = max((_number(t, "peak_memory_mb") for t in trials), default=math.nan)
    failed = sum(trial.get("status") != "ok" for trial in trials)
    cells = (
        Cell(printed, name=True),
        Cell(setting),
        Cell(str(len(trials)), value=len(trials)),
        Cell(str(failed), value=failed),
        _cell(median(seconds) if seconds else math.nan, "{:.2f}"),
        _cell(sum(seconds), "{:.1f}"),
        _cell(memory, "{:.0f}"),
    )
    return Line(cells)


def _start_up(logs: Sequence[str]) -> str | None:
    spent = processor_time(logs)
    if not spent.total:
        return None
    share = f"{100 * spent.start_up / spent.total:.0f} % of the CPU time of all jobs"
    return f"{share} ({_duration(spent.start_up)} of {_duration(spent.total)})"


def _common(records: Sequence[FitRecord], key: str) -> Any:
    """Return the value of `key` in the records, all values where they differ."""
    values: list[Any] = []
    for record in records:
        value = record.content.get(key)
        if value is not None and value not in values:
            values.append(value)
    return values[0] if len(values) == 1 else values or None


def _listed(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_listed(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(str(_listed(item)) for item in value)
    return None if value is None else str(value)


def _number(record: Mapping[str, Any], key: str) -> float:
    value = record.get(key)
    return float(value) if isinstance(value, (int, float)) else 0.0


def _cell(value: float, form: str) -> Cell:
    return Cell(DASH if math.isnan(value) else form.format(value), value=value)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
