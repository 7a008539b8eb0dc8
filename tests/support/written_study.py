"""A synthetic study on disk, and all of its outline made by the workflow's scripts."""

from __future__ import annotations

import logging
import runpy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
from support.domain_files import CLASSES, write_block, write_domain
from support.report_data import (
    score_rows,
    scores_frame,
    write_comparisons,
    write_fit_records,
    write_row_scores,
    write_showcase,
)

from cdspp.report.outline import outline_names
from cdspp.report.page.page import write_report
from cdspp.stages.artifacts import SCORE_COLUMNS, write_rows
from cdspp.study.model import RunDescription
from cdspp.study.plan import BenchmarkPlan
from cdspp.study.settings import in_state

TABLE_FORMS = (".csv", ".md", ".tex", ".html")
FIGURE_FORMS = (".svg", ".png", ".pdf")
FORMS = {"table": TABLE_FORMS, "figure": FIGURE_FORMS, "timing": TABLE_FORMS}
# By the opening of a name, where it is not one of the other tables of a benchmark.
SCRIPTS = {
    "table": {"curve": "curve_tables", "overlap": "overlap", "contents": "contents"},
    "figure": {
        "source": "source_help_figure",
        "selection": "selection_figure",
        "labels": "curve_figures",
        "sensitivity": "curve_figures",
        "subspace": "showcase_figures",
        "confusion": "showcase_figures",
    },
    "timing": {},
}
# By the name of a table of all benchmarks, where its script has another.
SCRIPTS_OF_ALL = {
    "source-help": "source_help",
    "claims-overview": "claims",
    "time-claims": "time_claims",
    "printed-methods": "printed",
    "printed-choices": "printed_choices",
}
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
        self.scores = [self._write_scores(plan) for plan in self.plans]
        self.records = [
            path
            for plan in self.plans
            for path in write_fit_records(self.folder, plan, failed=self.failed)
        ]
        for plan in self.plans:
            self._write_domains(plan)
        pairs = zip(self.plans, self.scores, strict=True)
        self.pairs = {pair[0].benchmark: pair for pair in pairs}

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
        """Return the file of what a benchmark's methods gain."""
        return self.folder / "compared" / f"{plan.benchmark}.csv"

    def _write_domains(self, plan: BenchmarkPlan) -> None:
        """Write labels, both views and one trial of every domain of a plan."""
        room = self.folder / "data" / plan.dataset
        for domain in dict.fromkeys(part for t in plan.tasks for part in t.split("_")):
            for view in plan.views.values():
                write_domain(room, domain, view, each=4, width=5)
            names = [f"{domain}-{c}-{i}" for c in CLASSES for i in range(4)]
            source = [(1, name, "source", name.split("-")[1]) for name in names]
            rows = [(1, n, "labelled", n.split("-")[1]) for n in names if n[-1] == "0"]
            rows += [(1, name, "unlabelled", None) for name in names if name[-1] != "0"]
            write_block(room / plan.benchmark, "source", domain, "1-1", source)
            write_block(room / plan.benchmark, "target", domain, "1-1", rows)

    def names(self, kind: str) -> list[str]:
        """Return the names of all its tables or figures."""
        return outline_names(kind, self.plans)

    def make(self, kind: str, forms: Sequence[str] = ()) -> Path:
        """Make every table or figure, by default in every form; return their folder.

        What one job of the workflow makes, one run of its script makes.
        """
        folder = self.folder / f"{kind}s"
        jobs: dict[tuple[str, str], list[str]] = {}
        for name in self.names(kind):
            jobs.setdefault(_job(kind, name), []).append(name)
        for names in jobs.values():
            chosen = forms or FORMS[kind]
            outputs = [folder / f"{name}{f}" for name in names for f in chosen]
            self.make_one(kind, names[0], outputs)
        return folder

    def make_one(self, kind: str, name: str, outputs: Sequence[Path]) -> None:
        """Write the outputs with the script of the job that makes a table or figure."""
        script, benchmark = _job(kind, name)
        plan: BenchmarkPlan | Sequence[BenchmarkPlan] = self.plans
        inputs: dict[str, Any] = {"scores": self.scores, "records": self.records}
        inputs |= {"comparisons": [self._comparisons(plan) for plan in self.plans]}
        inputs |= {"rows": [path.with_suffix(".npz") for path in self.scores]}
        if benchmark:
            plan, scores = self.pairs[benchmark]
            room = self.folder / "data" / plan.dataset
            inputs |= {"scores": scores, "labels": sorted(room.glob("*.parquet"))}
            inputs |= {"rows": scores.with_suffix(".npz")}
            inputs |= {"features": sorted(room.glob("*.npz"))}
            splits = sorted((room / benchmark).glob("splits/*/*/*.parquet"))
            inputs |= {"splits": splits}
        if script == "showcase_figures":
            inputs = write_showcase(self.folder / benchmark, classes=CLASSES, each=6)
        if name == "source-states":  # the opening chart is of the same job
            chart = [path.with_stem("source-help") for path in outputs]
            outputs = [*outputs, *chart]
        given = inputs["splits"] if script == "overlap" else inputs
        if script == "selection_figure":
            given = [self.folder / "tables" / "selection.csv"]
        self._run(script, given, plan, outputs)

    def _run(
        self,
        script: str,
        inputs: Mapping[str, Any] | Sequence[Path],
        plan: BenchmarkPlan | Sequence[BenchmarkPlan],
        outputs: Sequence[Path],
    ) -> None:
        """Run a script of the workflow with what Snakemake would hand it."""
        params: dict[str, Any] = (
            {"plan": plan.as_dict()}
            if isinstance(plan, BenchmarkPlan)
            else {"plans": [each.as_dict() for each in plan]}
        )
        snakemake = SimpleNamespace(
            input=_Inputs(inputs) if isinstance(inputs, Mapping) else inputs,
            params=SimpleNamespace(**params),
            output=outputs,
            log=[self.folder / "job.log"],
            scriptdir=WORKFLOW / "scripts",
        )
        path = WORKFLOW / "scripts" / f"{script}.py"
        loggers = [logging.getLogger(name) for name in ("cdspp", "py.warnings")]
        before = [list(logger.handlers) for logger in loggers]
        try:
            runpy.run_path(str(path), {"snakemake": snakemake})
        finally:
            for logger, handlers in zip(loggers, before, strict=True):
                logger.handlers = handlers
            logging.captureWarnings(False)


class _Inputs(list[Path]):
    """All inputs, and those of each name, as Snakemake has them."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        self.__dict__.update(named)
        for found in named.values():
            self += found if isinstance(found, list) else [found]


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
        fit_records=records,
        study=RunDescription(**(usual | description)),
        output=output,
        files=files,
    )


def _job(kind: str, name: str) -> tuple[str, str]:
    """Return script and benchmark of the job that makes a table or figure."""
    stem, _, benchmark = name.partition("_")
    if not benchmark and kind != "figure":
        return SCRIPTS_OF_ALL.get(name, name), ""
    return SCRIPTS[kind].get(stem.partition("-")[0], f"benchmark_{kind}s"), benchmark
