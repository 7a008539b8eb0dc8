"""The folder of a small study whose every file follows from the one before."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from support.report_data import make_plan
from support.result_files import CLASSES, write_domain, write_fit, write_splits

from cdspp.analysis.summary import read_scores, summarise
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.report.tables.benchmark import build_benchmark_tables, build_overview
from cdspp.report.tables.table import to_csv
from cdspp.stages.artifacts import FIT_COLUMNS
from cdspp.stages.score import write_scores
from cdspp.study.plan import Row

TASKS = ("web_photo", "photo_web")
EACH = 6


class VerifiedStudy:
    """Features, labels, splits, fits, scores and tables of one benchmark."""

    def __init__(self, results: Path) -> None:
        self.results, self.root = results, results / "shop"
        self.plan = make_plan(
            benchmark="goods",
            tasks=TASKS,
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
            for task in TASKS:
                self.write_fit(row, task)
        self.write_scores()
        self.write_tables()

    def split(self, role: str, domain: str) -> Path:
        return self.root / f"splits/goods/main/{role}/{domain}/1-2.parquet"

    def fit(self, method: str = "cdspp", task: str = TASKS[0]) -> Path:
        return self.root / f"fits/goods/main/{task}/{method}/1-2.parquet"

    def write_fit(self, row: Row, task: str, trials: tuple[int, ...] = (1, 2)) -> None:
        """Write a fit and its record; other trials than these have failed."""
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
            "source_features": self.results / f"features/goods/{source}.net.npz",
            "target_features": self.results / f"features/goods/{target}.net.npz",
            "source_split": self.split("source", source),
            "target_split": self.split("target", target),
        }
        inputs = {name: file_digest(file) for name, file in files.items()}
        frame = pd.DataFrame(rows, columns=list(FIT_COLUMNS))
        tested = {t: own["id"].unique().tolist() for t, own in frame.groupby("trial")}
        outcomes = {
            trial: {"tested": len(ids), "test_ids": ids_digest(ids)}
            for trial, ids in tested.items()
        }
        made = frame[frame["trial"].isin(trials)]
        write_fit(path, made, outcomes, inputs=inputs)

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
