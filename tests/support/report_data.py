"""Synthetic studies: plans by the real builder, score files, fits and projections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from support.result_files import (
    RECORDED,
    RECORDED_OF_TRIAL,
    write_fit,
    write_fit_record,
    write_labels,
)

from cdspp.analysis.source_help import gains_over_comparators
from cdspp.analysis.summary import Summary, summarise
from cdspp.core.names import NO_SOURCE, SIZE_MATCHED, role_domains
from cdspp.methods import method_class
from cdspp.paper.plugin import Paper
from cdspp.report.tables.source_help import build_task_table
from cdspp.report.tables.table import to_csv
from cdspp.stages.formats import FIT_COLUMNS, SCORE_COLUMNS, write_rows
from cdspp.study.model import Benchmark, Method, Study, StudyDataset
from cdspp.study.plan import BenchmarkPlan, Row, plan_of
from cdspp.study.settings import with_settings

Entries = Sequence[Mapping[str, Any]]

RESOURCES = Path(__file__).parents[2] / "resources"
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
# Difference in accuracy between a source state and the real source.
STATES = {
    NO_SOURCE: -0.005,
    SIZE_MATCHED: -0.004,
    "swapped-classes": -0.01,
    "permuted-labels": 0.0,
    "class-noise": -0.005,
    "noise": 0.005,
}
# Source states of the reference; without a source it is the method target-only.
CONTROLS = ("target-only", *(state for state in STATES if state != NO_SOURCE))
DIGIT_TASKS = ("print_sketch", "sketch_photo", "photo_tilted", "tilted_print")
FEW = ("svm-t", "cdspp-sup", "cdspp", "cdspp-pca")
RECORD = {
    **RECORDED,
    "versions": {"python": "3.11.9", "numpy": "2.4.6"},
    "platform": {"machine": "x86_64", "cpus": 8, "system": "Linux"},
    "seed": 7,
    "numeric_threads": 1,
}
MEASURED = {"seconds": 0.5, "cpu_seconds": 0.5, "peak_memory_mb": 300.0}


def make_plan(
    *,
    benchmark: str = "digits",
    tasks: Sequence[str] = DIGIT_TASKS,
    methods: Sequence[str] = FEW,
    states: Sequence[str] = tuple(STATES),
    own_states: Mapping[str, Sequence[str]] | None = None,
    target_only: bool = True,
    trials: int = 10,
    shortened: Mapping[str, int] | None = None,
    fewer_tasks: Mapping[str, int] | None = None,
    settings: Entries = (),
    curves: Entries = (),
    paper: Mapping[str, Any] | None = None,
    smallest: Mapping[str, int] | None = None,
    reference: str = "cdspp",
    **facets: Any,
) -> BenchmarkPlan:
    """Build the plan of a benchmark; `shortened` gives methods fewer trials.

    Every method with a source runs in `states`, or in its `own_states`; `target_only`
    is the reference without a source, if both are requested. `fewer_tasks` are the
    first tasks. `settings` and `curves` are entries of a configuration, `paper` its
    keys on the paper, and `printed` that of the benchmark; `smallest` is the class size
    of a domain (100 by default), `facets` are other fields of the benchmark.
    """
    entry = _benchmark(benchmark, tasks, facets)
    alone = target_only and NO_SOURCE in states and "cdspp" in methods
    run = (*methods, *(["target-only"] if alone else []))
    fewer, some, chosen = shortened or {}, fewer_tasks or {}, own_states or {}
    sourced = {name: method_class(name).uses_source for name in run}
    entries = {
        name: Method(
            name,
            {},
            fewer.get(name, trials),
            {benchmark: entry.tasks[: some.get(name)]},
            name in fewer,
            states=tuple(chosen.get(name, states)) if sourced[name] else (),
            bridges=tuple(sorted(method_class(name).bridges)),
        )
        for name in run
    }
    study = Study(
        name="embedded",
        seed=7,
        trials=trials,
        block_size=10,
        numeric_threads=1,
        datasets={entry.dataset: _dataset(entry, smallest or {})},
        views={},
        benchmarks={benchmark: entry},
        methods=entries,
        reference=reference,
        baseline="svm-t",
        settings={},
        states=tuple(states),
    )
    keys = dict(paper or {})
    own = {"id": benchmark, "printed": keys.pop("printed", None)}
    config, plugin = {"benchmarks": [own], **keys}, _paper()
    more = plugin.settings(config, study.benchmarks)
    study = with_settings({"settings": settings, "curves": curves}, study, more)
    plans = {"paper": plugin.plan(study, config, benchmark)}
    return plan_of(replace(study, plugins={benchmark: plans}), benchmark)


@cache
def _paper() -> Paper:
    return Paper(RESOURCES)


def _benchmark(
    identifier: str, tasks: Sequence[str], facets: Mapping[str, Any]
) -> Benchmark:
    usual = {
        "title": identifier.capitalize(),
        "summary": "Handwritten digits in four styles, SIFT words to AlexNet.",
        "dataset": identifier,
        "source_view": "words",
        "target_view": "net",
        "labels": {"source": 20, "target": 3},
        "showcase": tasks[0] if tasks else "",
    }
    return Benchmark(identifier=identifier, tasks=tuple(tasks), **{**usual, **facets})


def _dataset(benchmark: Benchmark, smallest: Mapping[str, int]) -> StudyDataset:
    """Return a data set with ten classes of equal size in each domain."""
    roles = role_domains(benchmark.tasks).values()
    domains = {domain for each in roles for domain in each}
    sizes = {d: dict.fromkeys("0123456789", smallest.get(d, 100)) for d in domains}
    paired = benchmark.bridge.get("paired_rows", 0)
    return StudyDataset(benchmark.dataset, "images", sizes, paired=paired)


def score_rows(
    plan: BenchmarkPlan,
    *,
    source_helps: float = 0.0,
    failed: Sequence[tuple[str, str, int]] = (),
    missing: Sequence[tuple[str, str, int]] = (),
    collapsed: Sequence[str] = (),
) -> pd.DataFrame:
    """Draw scores for every row of a plan.

    `failed` and `missing` name (key, task, trial); rows that `collapsed` say so and
    have 0.1.
    """
    rng = np.random.default_rng(len(plan.tasks))
    rows: list[tuple[Any, ...]] = []
    for place, task in enumerate(plan.tasks):
        base = 0.78 - 0.05 * (place % 4)
        luck = rng.normal(0, 0.018, size=plan.n_trials)
        for row in plan.rows:
            if row.tasks and task not in row.tasks:
                continue
            gain, steps = _look(row)
            if row.key in ("cdspp", "cdspp-pca"):
                gain += source_helps * (1 + place % 2) / 2
            for trial in range(1, row.n_trials + 1):
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
                    state = (status, row.key in collapsed and not lost)
                    rows.append((*cell, *state, 420, value, value - 0.004, value))
    return scores_frame(rows)


def scores_frame(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Return rows of a score file as the data frame that is read from it."""
    kinds = {kind: kind for kind in ("int32", "float64", "bool")}
    kinds["string"] = "object"
    frame = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    return frame.astype({name: kinds[kind] for name, kind in SCORE_COLUMNS.items()})


def draw_summary(plan: BenchmarkPlan, **options: Any) -> Summary:
    """Draw scores for a plan and arrange them; options of `score_rows`."""
    return summarise(score_rows(plan, **options), plan)


def place_of(summary: Summary, key: str) -> int:
    return [row.key for row in summary.rows].index(key)


def draw_comparisons(plan: BenchmarkPlan, **options: Any) -> pd.DataFrame:
    """Draw scores for a plan and compare its methods; options of `score_rows`."""
    return gains_over_comparators(score_rows(plan, **options), plan)


def _look(row: Row) -> tuple[float, int]:
    """Return the gain of a row over the baseline, and its number of iterations."""
    method = "cdspp" if row.method == "target-only" else row.method
    _, _, gain, steps = METHODS.get(method, ("", False, 0.0, 1))
    return gain + STATES.get(row.source, 0.0), steps


def write_scores(path: Path, plan: BenchmarkPlan, **options: Any) -> Path:
    write_rows(path, SCORE_COLUMNS, score_rows(plan, **options))
    return path


def write_comparisons(path: Path, scores: pd.DataFrame, plan: BenchmarkPlan) -> Path:
    """Write the gains of a plan's methods as the CSV table of a benchmark."""
    table = build_task_table(gains_over_comparators(scores, plan), plan)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_csv(table), encoding="utf-8")
    return path


def write_sample_scores(path: Path, scores: pd.DataFrame) -> Path:
    """Write which of 420 rows of ten classes are correct, in line with the scores."""
    rng, arrays = np.random.default_rng(0), {}
    names = ["setting", "task", "method", "trial"]
    last = scores.sort_values([*names, "iteration"]).drop_duplicates(names, keep="last")
    for cell in last.itertuples():
        key = f"{cell.setting}/{cell.task}/{cell.method}"
        trials = arrays.setdefault(key, [])
        trials += [np.full(420, -1)] * (cell.trial - 1 - len(trials))
        if np.isfinite(cell.accuracy):
            right = np.arange(420) < round(420 * cell.accuracy)
            trials.append(rng.permutation(right))
        arrays[f"classes/{cell.task}"] = np.arange(420) % 10
    np.savez(path, **{k: np.array(v, dtype=np.int32) for k, v in arrays.items()})
    return path


def write_showcase(
    folder: Path,
    *,
    classes: Sequence[str] = tuple("0123456789"),
    each: int = 40,
    steps: int = 5,
) -> dict[str, Any]:
    """Write labels, fits of two trials and projections of one task; return their paths.

    The last of the `steps` in the projections is the final fit.
    """
    rng = np.random.default_rng(3)
    fits = [
        (trial, step, f"t-{name}-{i}", classes[place - (rng.random() < 0.4 / step)])
        for trial in (1, 2)
        for step in range(1, steps + 1)
        for place, name in enumerate(classes)
        for i in range(3, each)
    ]
    columns = [name for name in FIT_COLUMNS if name != "confidence"]
    frame = pd.DataFrame(fits, columns=columns).assign(confidence=0.9)
    fit = folder / "showcase/main/s_t/cdspp/1-2.parquet"
    write_fit(fit, frame)
    _write_projections(folder / "projections.npz", classes, each, steps)
    return {
        "fits": [fit],
        "subspace": folder / "projections.npz",
        "source_labels": write_labels(folder / "s.parquet", "s", classes, each // 2),
        "target_labels": write_labels(folder / "t.parquet", "t", classes, each),
    }


def _write_projections(
    path: Path, classes: Sequence[str], each: int, steps: int
) -> None:
    rng = np.random.default_rng(4)
    angles = 2 * np.pi * np.arange(len(classes)) / len(classes)
    groups = ["source"] * (each // 2) + ["labelled"] * 3 + ["unlabelled"] * (each - 3)
    numbers = [*range(each // 2), *range(each)]
    rows = []
    for step, place in product(range(1, steps + 1), range(len(classes))):
        centre = np.cos(angles[place]), np.sin(angles[place])
        for group, i in zip(groups, numbers, strict=True):
            name = f"{'s' if group == 'source' else 't'}-{classes[place]}-{i}"
            xy = rng.normal(centre, 0.08 if group == "source" else 0.5 / step)
            # Each step labels one more sample per class correctly.
            guess = classes[place if i >= 3 + steps - step else place - 1]
            rows.append((step, group, name, xy, guess * (group == "unlabelled")))
    names = ("iteration", "group", "id", "xy", "predicted")
    columns = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
    np.savez(path, final_fit=np.bool_(True), **columns)


def write_fit_records(
    folder: Path, plan: BenchmarkPlan, *, failed: str = ""
) -> list[Path]:
    """Write one fit record per method and task; method `failed` fails in trial 2."""
    paths = []
    for task, row in product(plan.tasks, plan.main_rows):
        trials = [
            {"trial": trial, "status": "ok", "reason": "", **MEASURED}
            | {"collapsed": "", **RECORDED_OF_TRIAL}
            for trial in range(1, 6)
        ]
        if row.key == failed:
            trials[1] |= {"status": "failed", "reason": "no <pairs> left"}
        place = folder / "fits" / plan.benchmark / "main" / task / row.key
        place.mkdir(parents=True, exist_ok=True)
        paths.append(place / "1-5.json")
        predictions = paths[-1].with_suffix(".parquet")
        predictions.touch()
        write_fit_record(predictions, {}, {**RECORD, "trials": trials})
    return paths
