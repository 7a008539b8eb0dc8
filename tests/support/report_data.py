"""Synthetic studies: layouts, score files, fits and projections as the stages write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cdspp.core.artifacts import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    write_json,
    write_rows,
)

__all__ = [
    "make_layout",
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
CONTROLS = {
    "target-only": ("target-only", "main", "target-only", 0.07),
    "placebo": ("placebo", "placebo", "cdspp", 0.075),
    "noise": ("noise", "noise", "cdspp", 0.08),
}
DIGIT_TASKS = ("print_sketch", "sketch_photo", "photo_tilted", "tilted_print")
FEW = ("svm-t", "cdspp-sup", "cdspp", "cdspp-pca")


def make_layout(
    *,
    benchmark: str = "digits",
    title: str = "Digits",
    tasks: Sequence[str] = DIGIT_TASKS,
    methods: Sequence[str] = FEW,
    controls: Sequence[str] = tuple(CONTROLS),
    trials: int = 10,
    shortened: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Build a layout; `shortened` maps methods to their smaller number of trials."""
    fewer = shortened or {}
    return {
        "study": "embedded",
        "benchmark": benchmark,
        "title": title,
        "summary": "Handwritten digits in four styles, SIFT words to AlexNet.",
        "tasks": list(tasks),
        "methods": [
            {
                "id": name,
                "printed": METHODS[name][0],
                "supervised": METHODS[name][1],
                "shortened": name in fewer,
                "trials": fewer.get(name, trials),
            }
            for name in methods
        ],
        "controls": [
            dict(
                zip(
                    ("key", "printed", "setting", "method"),
                    (key, *CONTROLS[key][:3]),
                    strict=True,
                )
            )
            for key in controls
        ],
        "baseline": "svm-t",
        "reference": "cdspp",
        "trials": trials,
        "labels": {"source": 20, "target": 3},
        "showcase": {"task": tasks[0], "method": "cdspp", "trial": 1},
    }


def score_rows(
    layout: Mapping[str, Any],
    *,
    source_helps: float = 0.0,
    failed: Sequence[tuple[str, str, int]] = (),
    missing: Sequence[tuple[str, str, int]] = (),
    collapsed: Sequence[str] = (),
) -> dict[str, list[Any]]:
    """Draw scores for every cell.

    `failed` and `missing` name (key, task, trial); rows that `collapsed` have 0.1.
    """
    rng = np.random.default_rng(len(layout["tasks"]))
    cells = [
        (entry["id"], "main", entry["id"], entry["trials"], *METHODS[entry["id"]][2:])
        for entry in layout["methods"]
    ] + [
        (
            c["key"],
            c["setting"],
            c["method"],
            layout["trials"],
            CONTROLS[c["key"]][3],
            5,
        )
        for c in layout["controls"]
    ]
    rows: dict[str, list[Any]] = {name: [] for name in SCORE_COLUMNS}
    for place, task in enumerate(layout["tasks"]):
        base = 0.78 - 0.05 * (place % 4)
        luck = rng.normal(0, 0.018, size=layout["trials"])
        for key, setting, method, trials, gain, steps in cells:
            if key.startswith("cdspp") and setting == "main" and key != "cdspp-sup":
                gain += source_helps * (1 + place % 2) / 2
            for trial in range(1, trials + 1):
                noise = rng.normal(0, 0.008)
                if (key, task, trial) in missing:
                    continue
                lost = (key, task, trial) in failed
                last = base + gain + luck[trial - 1] + noise
                for step in range(1, 2 if lost else steps + 1):
                    value = last - 0.03 * (1 - step / steps)
                    value = 0.1 if key in collapsed else min(value, 1.0)
                    value = float("nan") if lost else value
                    record = (setting, task, method, trial, step)
                    status = "failed" if lost else "ok"
                    numbers = (status, 420, value, value - 0.004)
                    for name, item in zip(rows, (*record, *numbers), strict=True):
                        rows[name].append(item)
    return rows


def write_scores(path: Path, layout: Mapping[str, Any], **options: Any) -> Path:
    """Write drawn scores as a score file."""
    write_rows(path, SCORE_COLUMNS, score_rows(layout, **options))
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
    folder: Path, layout: Mapping[str, Any], *, failed: str = ""
) -> list[Path]:
    """Write one fit record a method and task; method `failed` loses trial 2."""
    paths = []
    for task in layout["tasks"]:
        for entry in layout["methods"]:
            name = entry["id"]
            cell = Path(layout["benchmark"]) / "main" / task / name / "1-5.json"
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
