"""Time and memory of an answer of `compare`, by rows, columns, labels and classes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import Rows, Size, Work, measure
from cdspp.analysis.compare import compare
from cdspp.methods.base import UNLABELLED

__all__ = ["SHAPES", "Shape", "bench_cost", "prepare"]

N_SHARED = 3
ANSWER, RIVAL = "answer", "rival"


class Shape(NamedTuple):
    """A target: labelled rows, rows in all, columns and classes."""

    n_labelled: int = 100
    n_rows: int = 5000
    n_columns: int = 20
    n_classes: int = 5


# From the first, one number changes at a time.
SHAPES = (
    Shape(),
    Shape(n_labelled=15),
    Shape(n_labelled=1000),
    Shape(n_rows=500),
    Shape(n_rows=2000),
    Shape(n_rows=50_000),
    Shape(n_columns=500),
    Shape(n_labelled=300, n_classes=100),
)
LIMIT = 3600.0


def prepare(name: str, size: Size, rows: Rows) -> Work:
    """Return the work to time: the answer, or scikit-learn's own cross-validation."""
    run = {ANSWER: _answer, RIVAL: _cross_validate}[name]

    def work() -> Mapping[str, Any]:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(rows)
        return {"processor": time.process_time() - start}

    return work


def _answer(rows: Rows) -> None:
    """Compare the candidates, with three shared columns."""
    shared = [(column, column) for column in range(N_SHARED)]
    source = replace(rows.source(), shared_columns=shared)
    compare(rows.X_target, rows.y_target, source=source)


def _cross_validate(rows: Rows) -> None:
    """Cross-validate two pipelines on the labelled rows, then fit both on all."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    labelled = rows.y_target != UNLABELLED
    X, y = rows.X_target[labelled], rows.y_target[labelled]
    n_folds = min(5, int(np.unique(y, return_counts=True)[1].min()))
    for model in (LogisticRegression(max_iter=1000), RandomForestClassifier()):
        pipeline = make_pipeline(StandardScaler(), model)
        cross_val_score(pipeline, X, y, cv=n_folds)
        pipeline.fit(X, y).predict(rows.X_target)


def bench_cost(
    shapes: Sequence[Shape] = SHAPES,
    *,
    progress: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Measure answers in processes of their own with one thread.

    Parameters
    ----------
    shapes : sequence of Shape
        Targets; each source has 500 rows and 50 columns.
    progress : callable, optional
        Receives a line of text before each measurement.

    Returns
    -------
    list of dict
        The fields of the shape, the seconds of the `processor` and of the clock
        (`seconds`), `peak_memory_mb`, and the processor seconds of the `rival`.
    """
    costs = []
    for shape in shapes:
        n_unlabelled = shape.n_rows - shape.n_labelled
        sizes = shape.n_labelled, n_unlabelled, shape.n_columns
        size = Size("own", shape.n_classes, 500, 50, *sizes)
        progress(", ".join(f"{k[2:]} {v}" for k, v in shape._asdict().items()))
        cost = measure(f"{__name__}:{ANSWER}", size, limit=LIMIT)
        rival = measure(f"{__name__}:{RIVAL}", size, limit=LIMIT)
        costs.append({**shape._asdict(), **cost, "rival": rival["processor"]})
    return costs
