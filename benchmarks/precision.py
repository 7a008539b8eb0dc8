"""Labels, accuracy and time of CDSPP in single and in double precision."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.cli.study import read_study, task_blocks
from cdspp.core.errors import DataError
from cdspp.core.names import MAIN, PathLike, task_domains
from cdspp.methods import make
from cdspp.stages.formats import labels_by_id
from cdspp.stages.trials import Trial, read_trials
from cdspp.study.files import LABELS

__all__ = ["bench_precision", "precision_table"]

METHODS = ("cdspp", "cdspp-sup", "target-only")
PRECISIONS = ("float64", "float32")


def bench_precision(
    studies: Sequence[PathLike], progress: Callable[[str], None] = lambda text: None
) -> pd.DataFrame:
    """Fit every task and trial of studies in both precisions, with default options.

    Parameters
    ----------
    studies : sequence of path
        Study files whose features and splits exist.
    progress : callable, optional
        Receives a line of text before each task.

    Returns
    -------
    fits : DataFrame
        A row per fit: study, benchmark, task, trial, method, number of test rows,
        number of labels that differ, and for each precision accuracy and seconds.
    """
    rows = []
    for path in studies:
        study = read_study([path])
        for benchmark, entry in study.benchmarks.items():
            for task, files in task_blocks(study, benchmark):
                missing = [name for name in files.values() if not Path(name).is_file()]
                if missing:
                    raise DataError(f"{missing[0]}: no such file. Run {path} first.")
                progress(f"{study.name}: {benchmark}, {task}")
                domain = task_domains(task).target
                truth = labels_by_id(
                    LABELS.format(dataset=entry.dataset, domain=domain)
                )
                for trial in read_trials(files, overlap=study.overlap(benchmark, MAIN)):
                    place = study.name, benchmark, task, trial.number
                    rows += [(*place, *fit) for fit in _fits(trial, truth)]
    columns = ["study", "benchmark", "task", "trial", "method", "rows", "differ"]
    columns += [
        f"{measure} {p}" for p in PRECISIONS for measure in ("accuracy", "seconds")
    ]
    return pd.DataFrame(rows, columns=columns)


def _fits(trial: Trial, truth: Any) -> Iterator[tuple[Any, ...]]:
    expected = np.array([truth[name] for name in trial.test_ids], object)
    unlabelled = trial.y == -1
    for method in METHODS:
        labels, numbers = [], []
        for precision in PRECISIONS:
            model = make(method, dtype=precision)
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(trial.X, trial.y, source=list(trial.sources))
            seconds = time.perf_counter() - start
            labels.append(model.transduction_[unlabelled])
            numbers += [float(np.mean(labels[-1] == expected)), seconds]
        differ = int(np.sum(labels[0] != labels[1]))
        yield (method, len(expected), differ, *numbers)


def precision_table(fits: pd.DataFrame) -> str:
    """Return the fits of `bench_precision` as a table by benchmark and method."""
    head = f"{'benchmark':24}{'method':13}{'fits':>6}{'labels that differ':>20}"
    lines = [head + f"{'accuracy':>10}{'single':>9}{'seconds ratio':>15}"]
    for (study, benchmark, method), rows in fits.groupby(
        ["study", "benchmark", "method"], sort=False
    ):
        double, single = (100 * rows[f"accuracy {p}"].mean() for p in PRECISIONS)
        seconds = [rows[f"seconds {p}"].sum() for p in PRECISIONS]
        share = 100 * rows["differ"].sum() / rows["rows"].sum()
        lines.append(
            f"{f'{study}/{benchmark}':24}{method:13}{len(rows):>6}{share:>18.3f} %"
            f"{double:>10.2f}{single:>9.2f}{seconds[1] / seconds[0]:>15.2f}"
        )
    return "\n".join(lines) + "\n"
