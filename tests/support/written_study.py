"""Synthetic studies on disk: drawn scores with all tables, or consistent files."""

from __future__ import annotations

import logging
import runpy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
from support.report_data import (
    make_plan,
    score_rows,
    scores_frame,
    write_comparisons,
    write_fit_records,
    write_sample_scores,
    write_showcase,
)
from support.result_files import CLASSES, write_domain, write_fit, write_splits

from cdspp.analysis.pairwise import compare_pairwise
from cdspp.analysis.summary import read_scores, summarise
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.report.making import group_values
from cdspp.report.page.page import write_report
from cdspp.report.registry import ItemGroup, ItemJob, item_jobs, names_of_kind
from cdspp.report.tables.benchmark import build_benchmark_tables, build_overview
from cdspp.report.tables.source_help import build_pairwise_table
from cdspp.report.tables.table import to_csv
from cdspp.stages.formats import FIT_COLUMNS, SCORE_COLUMNS, write_rows
from cdspp.stages.score import write_scores
from cdspp.study.model import RunDescription
from cdspp.study.plan import BenchmarkPlan, Row
from cdspp.study.settings import in_state

TABLE_FORMS = (".csv", ".md", ".tex")
FIGURE_FORMS = (".svg", ".pdf")
FORMS = {"table": TABLE_FORMS, "figure": FIGURE_FORMS, "timing": TABLE_FORMS}
WORKFLOW = Path(__file__).parents[2] / "workflow"
VERIFIED_TASKS = ("web_photo", "photo_web")
EACH = 6  # samples of a class in a verified study


@dataclass
class WrittenStudy:
    """Scores, fits, labels, features and splits of some plans, below one folder."""

    folder: Path
    plans: Sequence[BenchmarkPlan]
    changes: Mapping[str, Mapping[str, Any]]  # options of `score_rows` by benchmark
    failed: str = ""
    style: str = "two-columns"  # of figures

    def __post_init__(self) -> None:
        """Write the inputs of tables and figures."""
        self.scores = {plan.benchmark: self._write_scores(plan) for plan in self.plans}
        self.records = [
            path
            for plan in self.plans
            for path in write_fit_records(self.folder, plan, failed=self.failed)
        ]
        for plan in self.plans:
            self._write_domains(plan)

    def _write_scores(self, plan: BenchmarkPlan) -> Path:
        """Write scores of the main run, and the same scores for all curve values."""
        rows = [
            (setting, task, row.method, trial, 1, "ok", False, 420, 0.7, 0.7, 0.7)
            for curve in plan.curves
            for entry in curve.values
            for task in curve.tasks
            for row in curve.rows
            for setting in [in_state(entry.setting, row.state)]
            for trial in range(1, curve.n_trials + 1)
        ]
        path = self.folder / "scores" / f"{plan.benchmark}.parquet"
        drawn = score_rows(plan, **self.changes.get(plan.benchmark, {}))
        scores = pd.concat([drawn, scores_frame(rows)])
        write_rows(path, SCORE_COLUMNS, scores)
        write_sample_scores(path.with_suffix(".npz"), drawn)
        write_comparisons(self._comparisons(plan), scores, plan)
        pairs = build_pairwise_table(compare_pairwise(scores, plan), plan)
        self._pairwise(plan).write_text(to_csv(pairs), encoding="utf-8")
        return path

    def _comparisons(self, plan: BenchmarkPlan) -> Path:
        return self.folder / "compared" / f"{plan.benchmark}.csv"

    def _pairwise(self, plan: BenchmarkPlan) -> Path:
        return self.folder / "compared" / f"{plan.benchmark}-pairs.csv"

    def _write_domains(self, plan: BenchmarkPlan) -> None:
        """Write labels, both views and one trial of every domain of a plan."""
        room = self.folder / "data" / plan.dataset
        for domain in dict.fromkeys(part for t in plan.tasks for part in t.split("_")):
            for view in plan.views.values():
                write_domain(room, domain, view, each=4, width=5)
            write_splits(room / plan.benchmark / "splits", domain, 4, {1: 0})

    def names(self, kind: str) -> list[str]:
        return names_of_kind(kind, self.plans)

    def make(self, kind: str, forms: Sequence[str] = ()) -> Path:
        """Make every table or figure, by default in every form; return their folder."""
        folder = self.folder / f"{kind}s"
        for job, group in self.groups(kind):
            chosen = forms or FORMS[kind]
            outputs = [folder / f"{name}{f}" for name in group.captions for f in chosen]
            self._run(job, group, outputs)
        return folder

    def make_one(self, kind: str, name: str, outputs: Sequence[Path]) -> None:
        """Write the outputs by the job that makes a table or figure."""
        self._run(*next(g for g in self.groups(kind) if name in g[1].captions), outputs)

    def groups(self, kind: str) -> list[tuple[ItemJob, ItemGroup]]:
        """Return the groups of items of a kind, each after its job."""
        pairs = ((job, group) for job in item_jobs(self.plans) for group in job.groups)
        return [(job, group) for job, group in pairs if group.kind == kind]

    def _inputs(self, name: str, plan: BenchmarkPlan) -> list[Path]:
        scores, room = self.scores[plan.benchmark], self.folder / "data" / plan.dataset
        if name in ("fits", "subspace", "source_labels", "target_labels"):
            shown = self.folder / plan.benchmark
            path = write_showcase(shown, classes=CLASSES, each=6)[name]
            return path if isinstance(path, list) else [path]
        records = [path for path in self.records if plan.benchmark in path.parts]
        return {
            "scores": [scores],
            "rows": [scores.with_suffix(".npz")],
            "comparisons": [self._comparisons(plan)],
            "pairwise": [self._pairwise(plan)],
            "records": records,
            "labels": sorted(room.glob("*.parquet")),
            "features": sorted(room.glob("*.npz")),
            "splits": sorted((room / plan.benchmark).glob("splits/*/*/*.parquet")),
        }[name]

    def _run(self, job: ItemJob, group: ItemGroup, outputs: Sequence[Path]) -> None:
        """Run the script of the workflow with the objects that Snakemake passes."""
        named = {
            name: [path for plan in job.plans for path in self._inputs(name, plan)]
            for name in group.maker.inputs
        }
        record = self.folder / "items.json"
        record.unlink(missing_ok=True)
        values = group_values(group, WORKFLOW.parent / "resources", self.style)
        values = {**values, "names": [path.stem for path in outputs]}
        snakemake = SimpleNamespace(
            input=_Inputs(named),
            params=SimpleNamespace(
                groups=[values],
                plans=[asdict(plan) for plan in job.plans],
            ),
            output=SimpleNamespace(shown=outputs, record=record),
            log=[self.folder / "job.log"],
        )
        loggers = [logging.getLogger(name) for name in ("cdspp", "py.warnings")]
        before = [list(logger.handlers) for logger in loggers]
        try:
            path = WORKFLOW / "scripts" / "show.py"
            runpy.run_path(str(path), {"snakemake": snakemake})
        finally:
            for logger, handlers in zip(loggers, before, strict=True):
                logger.handlers = handlers
            logging.captureWarnings(False)


class _Inputs(list[Path]):
    """Inputs as Snakemake passes them: a list, and lists by name."""

    def __init__(self, named: Mapping[str, list[Path]]) -> None:
        super().__init__(path for paths in named.values() for path in paths)
        self.keys, self.of_name = named.keys, named

    def __getitem__(self, name: Any) -> Any:
        return self.of_name[name]


def write_page(plans: Sequence[BenchmarkPlan], output: Path, **given: Any) -> None:
    """Write a page of the tables, figures, records of fits and files that are given."""
    names = ("tables", "figures", "records", "files")
    parts = {name: given.pop(name, ()) for name in names}
    numbers = {"seed": 7, "trials": 10, "numeric_threads": 1}
    usual = {"name": "embedded", "config": numbers | given.pop("config", {})}
    study = RunDescription(**(usual | given))
    write_report(plans=plans, output=output, study=study, **parts)


class VerifiedStudy:
    """A small study in which each file follows from earlier ones, down to tables."""

    def __init__(self, results: Path) -> None:
        self.results, self.root = results, results / "shop"
        self.plan = make_plan(
            benchmark="goods",
            tasks=VERIFIED_TASKS,
            methods=("svm-t", "cdspp"),
            states=("none", "noise"),
            trials=2,
        )
        for domain in ("web", "photo"):
            features = results / "features/goods"
            labels = results / f"labels/goods/{domain}.parquet"
            write_domain(features, domain, "net", EACH, width=3, labels=labels)
            write_splits(self.root / "splits/goods/main", domain, EACH, {1: 1, 2: 2})
        for row in self.plan.rows:
            for task in VERIFIED_TASKS:
                self.write_fit(row, task)
        self.write_scores()
        self.write_tables()

    def split(self, role: str, domain: str) -> Path:
        return self.root / f"splits/goods/main/{role}/{domain}/1-2.parquet"

    def fit(self, method: str = "cdspp", task: str = VERIFIED_TASKS[0]) -> Path:
        return self.root / f"fits/goods/main/{task}/{method}/1-2.parquet"

    def write_fit(self, row: Row, task: str, trials: tuple[int, ...] = (1, 2)) -> None:
        """Write a fit and its record; all trials except `trials` have failed."""
        source, target = task.split("_")
        path = self.root / f"fits/goods/{row.setting}/{task}/{row.method}/1-2.parquet"
        rows = [
            (trial, step, f"{target}-{c}-{i}", self._guess(row, c, i, trial, step), 0.5)
            for trial in (1, 2)
            for step in (1, 2)
            for c in CLASSES
            for i in range(EACH)
            if i != trial
        ]
        files = {
            "source_features": self.results / f"features/goods/{source}.net-1f.npz",
            "target_features": self.results / f"features/goods/{target}.net-1f.npz",
            "source_split": self.split("source", source),
            "target_split": self.split("target", target),
        }
        inputs = {name: file_digest(file) for name, file in files.items()}
        frame = pd.DataFrame(rows, columns=list(FIT_COLUMNS))
        tested = {t: own["id"].unique().tolist() for t, own in frame.groupby("trial")}
        results = {
            trial: {"tested": len(ids), "test_ids": ids_digest(ids)}
            for trial, ids in tested.items()
        }
        predictions = frame[frame["trial"].isin(trials)]
        write_fit(path, predictions, results, inputs=inputs)

    def _guess(self, row: Row, name: str, i: int, trial: int, step: int) -> str:
        place = self.plan.rows.index(row)
        wrong = (3 * i + place + trial) % 5 < 3 - step
        return CLASSES[CLASSES.index(name) - wrong]

    @property
    def scores(self) -> Path:
        return self.root / "scores/goods.parquet"

    def write_scores(self) -> None:
        fits = sorted(self.root.glob("fits/goods/**/1-2.parquet"))
        labels = sorted(self.results.glob("labels/goods/*.parquet"))
        rows = self.scores.with_suffix(".npz")
        write_scores(fits=fits, labels=labels, output=self.scores, rows=rows)

    def table(self, name: str) -> Path:
        return self.root / "tables" / f"{name}.csv"

    def write_tables(self) -> None:
        summary = summarise(read_scores(self.scores), self.plan)
        for table in (*build_benchmark_tables(summary), build_overview([summary])):
            self.table(table.name).parent.mkdir(exist_ok=True)
            self.table(table.name).write_text(to_csv(table))
