"""A synthetic study on disk, and all of its outline made by the workflow's scripts."""

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
    score_rows,
    scores_frame,
    write_comparisons,
    write_fit_records,
    write_row_scores,
    write_showcase,
)
from support.result_files import CLASSES, write_domain, write_splits

from cdspp.report.outline import ItemJob, item_jobs, outline_names
from cdspp.report.page.page import write_report
from cdspp.stages.artifacts import SCORE_COLUMNS, write_rows
from cdspp.study.model import RunDescription
from cdspp.study.plan import BenchmarkPlan
from cdspp.study.settings import in_state

TABLE_FORMS = (".csv", ".md", ".tex", ".html")
FIGURE_FORMS = (".svg", ".png", ".pdf")
FORMS = {"table": TABLE_FORMS, "figure": FIGURE_FORMS, "timing": TABLE_FORMS}
WORKFLOW = Path(__file__).parents[2] / "workflow"


@dataclass
class WrittenStudy:
    """Scores, fits, labels, features and splits of some plans, below one folder."""

    folder: Path
    plans: Sequence[BenchmarkPlan]
    changes: Mapping[str, Mapping[str, Any]]  # options of `score_rows` by benchmark
    failed: str = ""

    def __post_init__(self) -> None:
        """Write what tables and figures are made from."""
        self.scores = {plan.benchmark: self._write_scores(plan) for plan in self.plans}
        self.records = [
            path
            for plan in self.plans
            for path in write_fit_records(self.folder, plan, failed=self.failed)
        ]
        for plan in self.plans:
            self._write_domains(plan)

    def _write_scores(self, plan: BenchmarkPlan) -> Path:
        """Write scores of the main run, and equal ones of every value of a curve."""
        rows = [
            (setting, task, row.method, trial, 1, "ok", False, 420, 0.7, 0.7, 0.7)
            for curve in plan.curves
            for entry in curve.values
            for task in curve.tasks
            for row in curve.rows
            for setting in [in_state(entry.setting, row.state)]
            for trial in range(1, curve.trials_asked + 1)
        ]
        path = self.folder / "scores" / f"{plan.benchmark}.parquet"
        drawn = score_rows(plan, **self.changes.get(plan.benchmark, {}))
        scores = pd.concat([drawn, scores_frame(rows)])
        write_rows(path, SCORE_COLUMNS, scores)
        write_row_scores(path.with_suffix(".npz"), drawn)
        write_comparisons(self._comparisons(plan), scores, plan)
        return path

    def _comparisons(self, plan: BenchmarkPlan) -> Path:
        return self.folder / "compared" / f"{plan.benchmark}.csv"

    def _write_domains(self, plan: BenchmarkPlan) -> None:
        """Write labels, both views and one trial of every domain of a plan."""
        room = self.folder / "data" / plan.dataset
        for domain in dict.fromkeys(part for t in plan.tasks for part in t.split("_")):
            for view in plan.views.values():
                write_domain(room, domain, view, each=4, width=5)
            write_splits(room / plan.benchmark / "splits", domain, 4, {1: 0})

    def names(self, kind: str) -> list[str]:
        return outline_names(kind, self.plans)

    def make(self, kind: str, forms: Sequence[str] = ()) -> Path:
        """Make every table or figure, by default in every form; return their folder."""
        folder = self.folder / f"{kind}s"
        for job in self.jobs(kind):
            chosen = forms or FORMS[kind]
            outputs = [folder / f"{name}{f}" for name in job.captions for f in chosen]
            self._run(job, outputs)
        return folder

    def make_one(self, kind: str, name: str, outputs: Sequence[Path]) -> None:
        """Write the outputs by the job that makes a table or figure."""
        self._run(next(j for j in self.jobs(kind) if name in j.captions), outputs)

    def jobs(self, kind: str) -> list[ItemJob]:
        return [job for job in item_jobs(self.plans) if job.kind == kind]

    def _records(self, plan: BenchmarkPlan) -> list[Path]:
        return [path for path in self.records if plan.benchmark in path.parts]

    def _inputs(self, name: str, plan: BenchmarkPlan) -> list[Path]:
        scores, room = self.scores[plan.benchmark], self.folder / "data" / plan.dataset
        if name in ("fits", "subspace", "source_labels", "target_labels"):
            shown = self.folder / plan.benchmark
            found = write_showcase(shown, classes=CLASSES, each=6)[name]
            return found if isinstance(found, list) else [found]
        return {
            "scores": [scores],
            "rows": [scores.with_suffix(".npz")],
            "comparisons": [self._comparisons(plan)],
            "selection": [self.folder / "tables" / "selection.csv"],
            **dict.fromkeys(("records", "selecting_records"), self._records(plan)),
            "labels": sorted(room.glob("*.parquet")),
            "features": sorted(room.glob("*.npz")),
            "splits": sorted((room / plan.benchmark).glob("splits/*/*/*.parquet")),
        }[name]

    def _run(self, job: ItemJob, outputs: Sequence[Path]) -> None:
        """Run the script of the workflow with what Snakemake would hand it."""
        named = {
            name: [path for plan in job.plans for path in self._inputs(name, plan)]
            for name in job.maker.inputs
        }
        params = SimpleNamespace(
            maker=job.maker.function,
            plans=[asdict(plan) for plan in job.plans],
            resources=dict.fromkeys(job.maker.resources, "digest"),
        )
        snakemake = SimpleNamespace(
            input=_Inputs(named),
            params=params,
            output=outputs,
            log=[self.folder / "job.log"],
            scriptdir=WORKFLOW / "scripts",
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
    def __init__(self, named: Mapping[str, list[Path]]) -> None:
        super().__init__(path for found in named.values() for path in found)
        self.items = named.items


def write_page(
    plans: Sequence[BenchmarkPlan],
    output: Path,
    *,
    tables: Sequence[Path] = (),
    figures: Sequence[Path] = (),
    records: Sequence[Path] = (),
    files: Sequence[Path] = (),
    **description: Any,
) -> None:
    """Write a page of these tables, figures and records of fits."""
    numbers = {"seed": 7, "trials": 10, "numeric_threads": 1}
    usual = {"name": "embedded", "config": numbers | description.pop("config", {})}
    write_report(
        plans=plans,
        tables=tables,
        figures=figures,
        records=records,
        study=RunDescription(**(usual | description)),
        output=output,
        files=files,
    )
