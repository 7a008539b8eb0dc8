"""What tables, figures and report must know of a benchmark: its layout, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cdspp.methods import method_class
from cdspp.study import MAIN, REFERENCE, Setting, Study, Sweep

__all__ = ["benchmark_layout"]

BASELINE, TARGET_ONLY = "svm-t", "target-only"
AS_IS = "as-is"


def benchmark_layout(study: Study, benchmark: str) -> dict[str, Any]:
    """Return the layout of a benchmark.

    Parameters
    ----------
    study : Study
        The study.
    benchmark : str
        Name of one of its benchmarks.

    Returns
    -------
    dict
        Tasks, rows (methods, controls, other settings), curves, placebos, measured
        deviations, and facts of the protocol; nothing but JSON.
    """
    facts = study.benchmarks[benchmark]
    ran = study.setting_methods(benchmark, MAIN)
    layout: dict[str, Any] = {
        "study": study.name,
        "benchmark": benchmark,
        "dataset": facts.dataset,
        "title": facts.title,
        "summary": facts.summary,
        "tasks": list(facts.tasks),
        "methods": _methods(study, (name for name in ran if name != TARGET_ONLY), MAIN),
        "controls": _controls(study, benchmark),
        "variants": _variants(study, benchmark),
        "placebos": _placebos(study, benchmark),
        "curves": _curves(study, benchmark),
        "deviations": _deviations(study, benchmark),
        "baseline": BASELINE,
        "reference": REFERENCE,
        "trials": study.trials,
        "labels": dict(sorted(facts.labels.items())),
        "views": {"source": facts.source_view, "target": facts.target_view},
        "protocol": facts.protocol,
        "overlap": facts.overlap,
    }
    if REFERENCE in ran:
        showcase = {"task": facts.showcase, "method": REFERENCE, "trial": 1}
        layout["showcase"] = showcase
    if facts.printed is not None:
        layout["printed"] = facts.printed
    return layout


def _methods(study: Study, names: Iterable[str], setting: str) -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "printed": method_class(name).printed,
            "supervised": method_class(name).supervised,
            "shortened": study.methods[name].shortened,
            "trials": study.setting_trials(setting, name),
        }
        for name in names
    ]


def _controls(study: Study, benchmark: str) -> list[dict[str, Any]]:
    """Return the controls: without the source, and with a changed one."""
    rows = []
    if TARGET_ONLY in study.setting_methods(benchmark, MAIN):
        rows.append(_row(TARGET_ONLY, MAIN, TARGET_ONLY))
    for setting in _other_settings(study, benchmark):
        methods = study.setting_methods(benchmark, setting.identifier)
        if setting.source != AS_IS and REFERENCE in methods:
            rows.append(_row(setting.identifier, setting.identifier, REFERENCE))
    return rows


def _variants(study: Study, benchmark: str) -> list[dict[str, Any]]:
    """Return every other setting and method, for a block of its own."""
    shown_elsewhere = set(study.deviations.values())
    shown_elsewhere |= {name for sweep in study.sweeps for name in _settings(sweep)}
    return [
        _named_row(method, setting.identifier)
        for setting in _other_settings(study, benchmark)
        if setting.source == AS_IS and setting.identifier not in shown_elsewhere
        for method in study.setting_methods(benchmark, setting.identifier)
    ]


def _settings(sweep: Sweep) -> set[str]:
    return {name for points in sweep.points.values() for _, name in points}


def _placebos(study: Study, benchmark: str) -> list[dict[str, Any]]:
    """Return every method that ran on a changed source."""
    return [
        _named_row(method, setting.identifier) | {"source": setting.source}
        for setting in _other_settings(study, benchmark)
        if setting.source != AS_IS
        for method in study.setting_methods(benchmark, setting.identifier)
    ]


def _curves(study: Study, benchmark: str) -> list[dict[str, Any]]:
    facts = study.benchmarks[benchmark]
    target = facts.tasks[0].split("_")[1]
    curves = []
    for sweep in study.sweeps:
        methods = [m for m in sweep.methods if benchmark in study.methods[m].benchmarks]
        if not (points := sweep.points.get(benchmark)) or not methods:
            continue
        rows = _methods(study, methods, MAIN)
        tasks = sweep.tasks[benchmark]
        dropped = sweep.dropped[benchmark]
        curves.append(
            {
                "id": sweep.identifier,
                "parameter": sweep.parameter,
                "tasks": list(tasks),
                "trials": sweep.trials,
                "n_classes": len(study.datasets[facts.dataset].class_sizes[target]),
                "methods": [
                    row | {"trials": min(row["trials"], sweep.trials)} for row in rows
                ],
                "points": [
                    {
                        "value": value,
                        "setting": setting,
                        "tasks": [t for t in tasks if (value, t) not in dropped],
                    }
                    for value, setting in points
                ],
                "dropped": [{"value": value, "task": t} for value, t in dropped],
            }
        )
    return curves


def _deviations(study: Study, benchmark: str) -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "setting": setting,
            "method": method,
            "printed": method_class(method).printed,
            "tasks": list(study.setting_tasks(benchmark, setting)),
            "trials": study.setting_trials(setting, method),
        }
        for name, setting in study.deviations.items()
        if study.setting_tasks(benchmark, setting)
        for method in study.setting_methods(benchmark, setting)
    ]


def _other_settings(study: Study, benchmark: str) -> list[Setting]:
    return [
        setting
        for name, setting in study.settings.items()
        if name != MAIN and study.setting_tasks(benchmark, name)
    ]


def _named_row(method: str, setting: str) -> dict[str, Any]:
    cls = method_class(method)
    printed = {"printed": f"{cls.printed}, {setting}", "supervised": cls.supervised}
    return _row(f"{method}, {setting}", setting, method) | printed


def _row(key: str, setting: str, method: str) -> dict[str, Any]:
    return {"key": key, "printed": key, "setting": setting, "method": method}
