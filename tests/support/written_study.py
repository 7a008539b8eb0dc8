"""A synthetic study on disk, and everything of its outline written from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from support.domain_files import CLASSES, write_block, write_domain
from support.report_data import (
    score_rows,
    scores_frame,
    write_fit_records,
    write_showcase,
)

from cdspp.core.artifacts import SCORE_COLUMNS, write_rows
from cdspp.report.figures.benchmark import draw_benchmark
from cdspp.report.figures.curves import draw_curves
from cdspp.report.figures.samples import draw_showcase
from cdspp.report.figures.source_help import draw_source_help
from cdspp.report.outline import outline_names
from cdspp.report.tables.benchmark import write_benchmark_tables, write_overview
from cdspp.report.tables.claims.claims import write_claims
from cdspp.report.tables.contents import write_contents
from cdspp.report.tables.curves import write_curve_tables
from cdspp.report.tables.deviations import write_deviations
from cdspp.report.tables.gains import write_gains
from cdspp.report.tables.overlap import write_overlap
from cdspp.report.tables.printed import write_printed
from cdspp.report.tables.times import write_times
from cdspp.study.plan import BenchmarkPlan

__all__ = ["FORMS", "PICTURES", "WrittenStudy"]

FORMS = (".csv", ".md", ".tex", ".html")
PICTURES = (".svg", ".png")
RESOURCES = Path(__file__).parents[2] / "resources"


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

    def _write_scores(self, plan: BenchmarkPlan) -> Path:
        """Write scores of the main run, and equal ones of every value of a curve."""
        rows = [
            (entry.setting, task, row.method, trial, 1, "ok", 420, 0.7, 0.7)
            for curve in plan.curves
            for entry in curve.values
            for task in curve.tasks
            for row in curve.rows
            for trial in range(1, curve.trials_asked + 1)
        ]
        path = self.folder / "scores" / f"{plan.benchmark}.parquet"
        drawn = score_rows(plan, **self.changes.get(plan.benchmark, {}))
        write_rows(path, SCORE_COLUMNS, pd.concat([drawn, scores_frame(rows)]))
        return path

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

    def write_tables(self) -> Path:
        """Write every table in every form; return their folder."""
        for name in self.names("table"):
            self.write_table(name, [self._path("tables", name, form) for form in FORMS])
        return self.folder / "tables"

    def draw_figures(self) -> Path:
        """Draw every figure; return their folder."""
        for name in self.names("figure"):
            outputs = [self._path("figures", name, suffix) for suffix in PICTURES]
            self.draw_figure(name, outputs)
        return self.folder / "figures"

    def _path(self, room: str, name: str, suffix: str) -> Path:
        return self.folder / room / f"{name}{suffix}"

    def write_table(self, name: str, outputs: Sequence[Path]) -> None:
        """Write the outputs as the job of this table would."""
        kind, _, benchmark = name.partition("_")
        if benchmark:
            self._of_benchmark(kind.partition("-")[0], benchmark, outputs)
            return
        every: dict[str, Any] = {"plans": self.plans, "outputs": outputs}
        paper = RESOURCES / "paper"
        writers: dict[str, Callable[[], None]] = {
            "overview": lambda: write_overview(scores=self.scores, **every),
            "gains": lambda: write_gains(scores=self.scores, **every),
            "claims": lambda: write_claims(
                scores=self.scores, records=self.records, **every
            ),
            "deviations": lambda: write_deviations(
                scores=self.scores, deviations=paper / "deviations.yaml", **every
            ),
            "printed": lambda: write_printed(scores=self.scores, paper=paper, **every),
            "times": lambda: write_times(records=self.records, paper=paper, **every),
        }
        writers[name]()

    def _of_benchmark(self, kind: str, benchmark: str, outputs: Sequence[Path]) -> None:
        plan, scores = self._plan(benchmark)
        given: dict[str, Any] = {"plan": plan, "outputs": outputs}
        room = self.folder / "data" / plan.dataset
        splits = sorted((room / benchmark).glob("splits/*/*/*.parquet"))
        writers: dict[str, Callable[[], None]] = {
            "curve": lambda: write_curve_tables(scores=scores, **given),
            "overlap": lambda: write_overlap(splits=splits, **given),
            "contents": lambda: write_contents(
                labels=sorted(room.glob("*.parquet")),
                features=sorted(room.glob("*.npz")),
                splits=splits,
                **given,
            ),
        }
        scored = lambda: write_benchmark_tables(scores=scores, **given)  # noqa: E731
        writers.get(kind, scored)()

    def draw_figure(self, name: str, outputs: Sequence[Path]) -> None:
        """Draw the outputs as the job of this figure would."""
        kind, _, benchmark = name.partition("_")
        if not benchmark:
            draw_source_help(scores=self.scores, plans=self.plans, outputs=outputs)
            return
        plan, scores = self._plan(benchmark)
        if kind in ("labels", "sensitivity"):
            draw_curves(scores=scores, plan=plan, outputs=outputs)
        elif kind in ("subspace", "confusion"):
            paths = write_showcase(self.folder / benchmark, classes=CLASSES, each=6)
            draw_showcase(plan=plan, outputs=outputs, **paths)
        else:
            draw_benchmark(scores=scores, plan=plan, outputs=outputs)

    def _plan(self, benchmark: str) -> tuple[BenchmarkPlan, Path]:
        pairs = zip(self.plans, self.scores, strict=True)
        return next(pair for pair in pairs if pair[0].benchmark == benchmark)
