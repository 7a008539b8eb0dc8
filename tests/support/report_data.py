"""Synthetic studies: plans by the real builder, score files, fits and projections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.core.artifacts import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    write_json,
    write_rows,
)
from cdspp.study.model import Benchmark, Method, Setting, Study, StudyDataset
from cdspp.study.plan import BenchmarkPlan, plan_of
from cdspp.study.settings import curve_of, curve_settings, setting_of

__all__ = [
    "make_plan",
    "make_study",
    "score_rows",
    "write_fit_records",
    "write_labels",
    "write_scores",
    "write_showcase",
]

METHODS = {
    "svm-t": ("SVM_t", True, 0.00, 1),
    "hfa": ("HFA", True, 0.01, 1),
    "cdls-sup": ("CDLS_sup", True, 0.03, 1),
    "dama-sup": ("DAMA_sup", True, 0.02, 1),
    "cdspp-sup": ("CDSPP_sup", True, 0.03, 1),
    "dama": ("DAMA", False, 0.02, 1),
    "shfa": ("SHFA", False, 0.04, 1),
    "cdls": ("CDLS", False, 0.06, 5),
    "pa": ("PA", False, 0.05, 5),
    "tit": ("TIT", False, 0.07, 5),
    "stn": ("STN", False, 0.06, 5),
    "ddacl": ("DDACL", False, 0.08, 5),
    "ssan": ("SSAN", False, 0.09, 5),
    "dama-plus": ("DAMA+", False, 0.06, 5),
    "cdspp": ("CDSPP", False, 0.075, 5),
    "cdspp-pca": ("CDSPP+PCA", False, 0.07, 5),
}
# What a control does to the source, and what it gains here over the baseline.
CONTROLS = {"target-only": 0.07, "placebo": 0.075, "noise": 0.08}
SOURCES = {"placebo": "permuted-labels", "noise": "noise"}
DIGIT_TASKS = ("print_sketch", "sketch_photo", "photo_tilted", "tilted_print")
FEW = ("svm-t", "cdspp-sup", "cdspp", "cdspp-pca")


def make_study(
    *,
    benchmark: str = "digits",
    title: str = "Digits",
    dataset: str = "",
    tasks: Sequence[str] = DIGIT_TASKS,
    methods: Sequence[str] = FEW,
    controls: Sequence[str] = tuple(CONTROLS),
    trials: int = 10,
    shortened: Mapping[str, int] | None = None,
    settings: Sequence[Mapping[str, Any]] = (),
    curves: Sequence[Mapping[str, Any]] = (),
    deviations: Mapping[str, Setting] | None = None,
    smallest: Mapping[str, int] | None = None,
    **facets: Any,
) -> Study:
    """Build a study of one benchmark; `shortened` gives methods fewer trials.

    `settings` and `curves` are entries of a configuration, `smallest` the size of the
    classes of a domain (100 by default), `facets` other fields of the benchmark.
    """
    fewer = shortened or {}
    known = _dataset(dataset or benchmark, tasks, smallest or {})
    entry = _benchmark(benchmark, title, known.identifier, tasks, facets)
    run = [*methods, *(c for c in controls if c not in SOURCES)]
    made = {
        name: Method(name, {}, fewer.get(name, trials), (benchmark,), name in fewer)
        for name in run
    }
    benchmarks, datasets = {benchmark: entry}, {known.identifier: known}
    sources = [*_sources(controls, methods), *settings]
    named = [curve_of(curve, benchmarks, made, datasets, trials) for curve in curves]
    every = [
        Setting("main", tuple(run), {benchmark: entry.tasks}),
        *(setting_of(setting, benchmarks) for setting in sources),
        *(setting for curve in named for setting in curve_settings(curve)),
        *(deviations or {}).values(),
    ]
    return Study(
        name="embedded",
        seed=7,
        trials=trials,
        block_size=10,
        numeric_threads=1,
        partial=False,
        datasets=datasets,
        views={},
        benchmarks=benchmarks,
        methods=made,
        settings={setting.identifier: setting for setting in every},
        curves=tuple(named),
        deviations={n: s.identifier for n, s in (deviations or {}).items()},
    )


def _dataset(
    identifier: str, tasks: Sequence[str], smallest: Mapping[str, int]
) -> StudyDataset:
    """Return a data set of ten classes a domain, equally large in each."""
    domains = dict.fromkeys(part for task in tasks for part in task.split("_"))
    sizes = {d: dict.fromkeys("0123456789", smallest.get(d, 100)) for d in domains}
    return StudyDataset(identifier, "images", sizes)


def _benchmark(
    identifier: str,
    title: str,
    dataset: str,
    tasks: Sequence[str],
    facets: Mapping[str, Any],
) -> Benchmark:
    usual = {
        "summary": "Handwritten digits in four styles, SIFT words to AlexNet.",
        "source_view": "words",
        "target_view": "net",
        "labels": {"source": 20, "target": 3},
        "showcase": tasks[0] if tasks else "",
    }
    return Benchmark(
        identifier=identifier,
        title=title,
        dataset=dataset,
        tasks=tuple(tasks),
        **{**usual, **facets},
    )


def _sources(controls: Sequence[str], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return entries of the settings that change the source of the reference."""
    return [
        {"id": control, "source": SOURCES[control], "methods": ["cdspp"]}
        for control in controls
        if control in SOURCES and "cdspp" in methods
    ]


def make_plan(**options: Any) -> BenchmarkPlan:
    """Build the plan of `make_study`, which takes the same options."""
    study = make_study(**options)
    return plan_of(study, next(iter(study.benchmarks)))


def score_rows(
    plan: BenchmarkPlan,
    *,
    source_helps: float = 0.0,
    failed: Sequence[tuple[str, str, int]] = (),
    missing: Sequence[tuple[str, str, int]] = (),
    collapsed: Sequence[str] = (),
) -> pd.DataFrame:
    """Draw scores for every row that a plan shows.

    `failed` and `missing` name (key, task, trial); rows that `collapsed` have 0.1.
    """
    rng = np.random.default_rng(len(plan.tasks))
    rows: list[tuple[Any, ...]] = []
    for place, task in enumerate(plan.tasks):
        base = 0.78 - 0.05 * (place % 4)
        luck = rng.normal(0, 0.018, size=plan.trials_asked)
        for row in plan.shown_rows:
            gain, steps = _look(row.key, row.method)
            if row.key in ("cdspp", "cdspp-pca"):
                gain += source_helps * (1 + place % 2) / 2
            for trial in range(1, row.trials_asked + 1):
                noise = rng.normal(0, 0.008)
                if (row.key, task, trial) in missing:
                    continue
                lost = (row.key, task, trial) in failed
                last = base + gain + luck[trial - 1] + noise
                for step in range(1, 2 if lost else steps + 1):
                    value = min(last - 0.03 * (1 - step / steps), 1.0)
                    value = 0.1 if row.key in collapsed else value
                    value = float("nan") if lost else value
                    cell = (row.setting, task, row.method, trial, step)
                    status = "failed" if lost else "ok"
                    rows.append((*cell, status, 420, value, value - 0.004))
    return scores_frame(rows)


def scores_frame(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return rows of a score file as what is read from it."""
    kinds = {"string": "object", "int32": "int32", "float64": "float64"}
    frame = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    return frame.astype({name: kinds[kind] for name, kind in SCORE_COLUMNS.items()})


def _look(key: str, method: str) -> tuple[float, int]:
    """Return what a row gains over the baseline, and its iterations."""
    if key in CONTROLS:
        return CONTROLS[key], 5
    return METHODS[method][2], METHODS[method][3]


def write_scores(path: Path, plan: BenchmarkPlan, **options: Any) -> Path:
    """Write drawn scores as a score file."""
    write_rows(path, SCORE_COLUMNS, score_rows(plan, **options))
    return path


def write_labels(path: Path, prefix: str, classes: Sequence[str], each: int) -> Path:
    """Write `each` samples a class as a labels file."""
    pairs = [(f"{prefix}-{c}-{i}", c) for c in classes for i in range(each)]
    values = {"id": [p[0] for p in pairs], "label": [p[1] for p in pairs]}
    values["position"] = range(len(pairs))
    write_rows(path, LABEL_COLUMNS, values)
    return path


def write_showcase(
    folder: Path,
    *,
    classes: Sequence[str] = tuple("0123456789"),
    each: int = 40,
    steps: int = 5,
    trials: int = 2,
) -> dict[str, Any]:
    """Write labels, fits and projections of one task; return their paths.

    The last of the `steps` in the projections is the final fit.
    """
    rng = np.random.default_rng(3)
    source = write_labels(folder / "source.parquet", "s", classes, each // 2)
    target = write_labels(folder / "target.parquet", "t", classes, each)
    fit: dict[str, list[Any]] = {name: [] for name in FIT_COLUMNS}
    for trial in range(1, trials + 1):
        for step in range(1, steps + 1):
            for place, name in enumerate(classes):
                for i in range(3, each):
                    wrong = rng.random() < 0.4 / step
                    guess = classes[(place + 1) % len(classes)] if wrong else name
                    row = (trial, step, f"t-{name}-{i}", guess, 0.9)
                    for column, item in zip(fit, row, strict=True):
                        fit[column].append(item)
    write_rows(folder / "1-2.parquet", FIT_COLUMNS, fit)
    _write_projections(folder / "projections.npz", classes, each, steps)
    return {
        "fits": [folder / "1-2.parquet"],
        "subspace": folder / "projections.npz",
        "source_labels": source,
        "target_labels": target,
    }


def _write_projections(
    path: Path, classes: Sequence[str], each: int, steps: int
) -> None:
    rng = np.random.default_rng(4)
    angles = 2 * np.pi * np.arange(len(classes)) / len(classes)
    centres = np.column_stack([np.cos(angles), np.sin(angles)])
    names = ("iteration", "group", "id", "xy", "predicted")
    parts: dict[str, list[Any]] = {name: [] for name in names}
    for step in range(1, steps + 1):
        for place, name in enumerate(classes):
            for i in range(each // 2 + each):
                source = i < each // 2
                j = i if source else i - each // 2
                group = "source" if source else "labelled" if j < 3 else "unlabelled"
                spread = 0.08 if source else 0.5 / step
                parts["iteration"].append(step)
                parts["group"].append(group)
                parts["id"].append(f"{'s' if source else 't'}-{name}-{j}")
                parts["xy"].append(centres[place] + rng.normal(0, spread, 2))
                right = j >= 3 + steps - step
                guess = name if right else classes[place - 1]
                parts["predicted"].append(guess if group == "unlabelled" else "")
    columns = {name: np.asarray(values) for name, values in parts.items()}
    np.savez(path, final_fit=np.bool_(True), **columns)


def write_fit_records(
    folder: Path, plan: BenchmarkPlan, *, failed: str = ""
) -> list[Path]:
    """Write one fit record a method and task; method `failed` loses trial 2."""
    paths = []
    for task in plan.tasks:
        for row in plan.main_rows:
            name = row.key
            cell = Path(plan.benchmark) / "main" / task / name / "1-5.json"
            trials = [
                {
                    "trial": trial,
                    "status": "failed" if name == failed and trial == 2 else "ok",
                    "reason": "no <pairs> left"
                    if name == failed and trial == 2
                    else "",
                    "seconds": 0.5,
                    "cpu_seconds": 0.5,
                    "peak_memory_mb": 300.0,
                }
                for trial in range(1, 6)
            ]
            record = {
                "method": name,
                "block": "1-5",
                "versions": {"python": "3.11.9", "numpy": "2.4.6"},
                "platform": {"machine": "x86_64", "cpus": 8, "system": "Linux"},
                "seed": 7,
                "numeric_threads": 1,
                "trials": trials,
            }
            write_json(folder / "fits" / cell, record)
            paths.append(folder / "fits" / cell)
    return paths
