"""Scores as arrays: by row, task and trial, and along the values of a curve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import AVERAGE, LABELS, MAIN, PathLike, Paths
from cdspp.methods.bridge import PAIRS
from cdspp.stages.formats import SCORE_COLUMNS, read_frame
from cdspp.study.plan import STATE, VARIANT, BenchmarkPlan, CurvePlan, Plans, Row
from cdspp.study.settings import in_state

Floats = NDArray[np.float64]
Tasks = tuple[str, ...]
# If a larger share of fits is degenerate, a row has no result.
MOST_COLLAPSED = 0.1
_TITLES = {
    LABELS: "labelled target samples per class",
    PAIRS: "paired rows without a label",
    "alpha": "weight of the regulariser, alpha",
    "n_components": "dimension of the subspace, d",
    "max_iter": "number of iterations, T",
}
_ARRAYS = ("accuracy", "class_accuracy", "macro_f1", "by_iteration", "collapsed")


def mean_sd(values: ArrayLike) -> tuple[float, float]:
    """Return mean and standard deviation (n - 1) of trials; NaN if too few."""
    numbers = present(values)
    mean = float(numbers.mean()) if numbers.size else float("nan")
    sd = float(numbers.std(ddof=1)) if numbers.size > 1 else float("nan")
    return mean, sd


def present(values: ArrayLike) -> Floats:
    """Return the finite numbers as a vector."""
    array = np.asarray(values, dtype=np.float64)
    return array[np.isfinite(array)]


def n_present(values: ArrayLike) -> int:
    """Count the finite numbers; for scores by trial, the trials that ran."""
    return int(present(values).size)


def with_average(tasks: Tasks, values: Floats) -> tuple[Tasks, Floats]:
    """Append the average over several tasks, of the trials that every task has."""
    if len(tasks) < 2:
        return tasks, values
    average = values.mean(axis=1, keepdims=True)
    return (*tasks, AVERAGE), np.concatenate([values, average], axis=1)


@dataclass(frozen=True, eq=False)
class Summary:
    """Final scores, by row, task and trial; NaN (not degenerate) if missing or failed.

    `class_accuracy` is the balanced accuracy; `by_iteration` has all `iterations`.
    """

    plan: BenchmarkPlan
    rows: tuple[Row, ...]
    tasks: Tasks
    iterations: NDArray[np.int64]
    accuracy: Floats
    class_accuracy: Floats
    macro_f1: Floats
    by_iteration: Floats
    collapsed: NDArray[np.bool_]

    def place(self, role: str) -> int | None:
        """Return the position of the main run's method of a role, or None."""
        roles = [(row.role, row.setting) for row in self.rows]
        return roles.index((role, MAIN)) if (role, MAIN) in roles else None

    def with_average(self, values: Floats) -> tuple[Tasks, Floats]:
        """Return tasks and `values` of rows by tasks, with the average appended."""
        return with_average(self.tasks, values)

    def unusable(self, row: int, task: str) -> bool:
        """Return whether too many fits of a row are degenerate, on one or all tasks."""
        in_task = [task not in self.tasks or task == other for other in self.tasks]
        finite = np.isfinite(self.accuracy[row, in_task])
        collapsed = self.collapsed[row, in_task][finite]
        return bool(collapsed.size and collapsed.mean() > MOST_COLLAPSED)

    def of_all_tasks(self) -> Summary:
        """Leave out settings that run only some of the tasks."""
        counts, rows = np.isfinite(self.accuracy).sum(axis=2), enumerate(self.rows)
        return self.of_rows(i for i, r in rows if r.kind != VARIANT or counts[i].all())

    def of_rows(self, places: Iterable[int]) -> Summary:
        """Keep the rows at these positions."""
        positions = list(places)
        rows = tuple(self.rows[i] for i in positions)
        arrays = {name: getattr(self, name)[positions] for name in _ARRAYS}
        return replace(self, rows=rows, **arrays)

    def iterative(self) -> list[int]:
        """Return the positions of rows with more than one iteration on some task."""
        n_steps = np.isfinite(self.by_iteration).sum(axis=3)
        return [row for row in range(len(self.rows)) if (n_steps[row] > 1).any()]


def score_files(folder: Path) -> list[Path]:
    """Return the score files of ``results/<study>`` by name; DataError without any."""
    files = sorted(folder.glob("scores/[!.]*.parquet"))
    if not files:
        fault = "expected the folder of a study with scores in it, but it has none"
        remedy = "Run the study first, for instance by cdspp run."
        raise DataError(f"{folder}: {fault}. {remedy}")
    return files


def read_scores(path: PathLike) -> pd.DataFrame:
    """Read a score file: one row per setting, task, method, trial and iteration."""
    return read_frame(path, SCORE_COLUMNS)


def read_summaries(scores: Paths, plans: Plans) -> list[Summary]:
    """Read the score files of several benchmarks, in the order of their plans."""
    pairs = zip(map(read_scores, scores), plans, strict=True)
    return [summarise(*pair) for pair in pairs]


def summarise(
    scores: pd.DataFrame, plan: BenchmarkPlan, rows: Sequence[Row] | None = None
) -> Summary:
    """Arrange a score file by the rows that a plan shows, or by given ones."""
    shown = plan.shown_rows if rows is None else tuple(rows)
    usable = _usable_scores(scores, shown, plan.tasks)
    limits = np.array([row.n_trials for row in shown], dtype=np.int64)
    # Files may have more trials than the study asks for.
    usable = usable[usable["trial"].to_numpy() <= limits[usable["row"]]]
    iterations, step = np.unique(usable["iteration"], return_inverse=True)
    n_trials = int(max([1, *limits]))
    shape = (len(shown), len(plan.tasks), n_trials)
    by_iteration = np.full((*shape, len(iterations)), np.nan)
    by_iteration[(*_indices(usable), step)] = usable["accuracy"]
    return Summary(
        plan,
        shown,
        plan.tasks,
        iterations.astype(np.int64),
        _last_iteration(usable, "accuracy", shape),
        _last_iteration(usable, "mean_class_accuracy", shape),
        _last_iteration(usable, "macro_f1", shape),
        by_iteration,
        _last_iteration(usable, "collapsed", shape) == 1.0,  # NaN is not
    )


def last_scores(
    scores: pd.DataFrame,
    rows: Sequence[Row],
    tasks: Sequence[str],
    n_trials: int,
    *,
    column: str = "accuracy",
) -> Floats:
    """Return final scores, by row, task and trial, NaN if missing or failed."""
    usable = _usable_scores(scores, rows, tasks)
    shape = (len(rows), len(tasks), n_trials)
    return _last_iteration(usable[usable["trial"] <= n_trials], column, shape)


def _usable_scores(
    scores: pd.DataFrame, rows: Sequence[Row], tasks: Sequence[str]
) -> pd.DataFrame:
    cells = {(row.setting, row.method): place for place, row in enumerate(rows)}
    settings, methods = ({key[i] for key in cells} for i in range(2))
    scores = scores[scores["setting"].isin(settings) & scores["method"].isin(methods)]
    pairs = zip(scores["setting"], scores["method"], strict=True)
    placed = scores.assign(
        row=np.array([cells.get(pair, -1) for pair in pairs], dtype=np.int64),
        place=pd.Index(tasks).get_indexer(pd.Index(scores["task"])),
    )
    counts = (placed["status"] == "ok") & np.isfinite(placed["accuracy"])
    usable = placed[counts & (placed["row"] >= 0) & (placed["place"] >= 0)]
    return usable.sort_values("iteration", kind="stable")


def _indices(scores: pd.DataFrame) -> tuple[NDArray[np.int64], ...]:
    row, place, trial = (scores[name].to_numpy() for name in ("row", "place", "trial"))
    return row, place, trial - 1


def _last_iteration(rows: pd.DataFrame, column: str, shape: tuple[int, ...]) -> Floats:
    values = np.full(shape, np.nan)
    # Sorted by iteration, so the last assignment to a cell is its last iteration.
    values[_indices(rows)] = rows[column]
    return values


@dataclass(frozen=True, eq=False)
class CurveScores:
    """Final accuracies by row, task, value and trial; NaN if missing or failed."""

    plan: CurvePlan
    accuracy: Floats
    collapsed: NDArray[np.bool_]

    @property
    def values(self) -> tuple[float, ...]:
        """The values, ascending."""
        return tuple(float(entry.value) for entry in self.plan.values)

    @property
    def in_states(self) -> bool:
        """True if methods also run along it under controls."""
        return any(row.kind == STATE for row in self.plan.rows)

    @property
    def main(self) -> float | None:
        """The value of the main run, if it is one of the values."""
        main = [float(e.value) for e in self.plan.values if e.setting == MAIN]
        return main[0] if main else None

    def with_average(self) -> tuple[Tasks, Floats]:
        """Return tasks and accuracy, with the average appended if there are several."""
        return with_average(self.plan.tasks, self.accuracy)

    def unusable(self) -> NDArray[np.bool_]:
        """Return by row, task and value whether too many fits are degenerate."""
        bad, total = self.collapsed.sum(axis=3), np.isfinite(self.accuracy).sum(axis=3)
        if len(self.plan.tasks) > 1:
            sums = (counts.sum(axis=1, keepdims=True) for counts in (bad, total))
            bad, total = map(np.hstack, zip((bad, total), sums, strict=True))
        return np.asarray(bad > MOST_COLLAPSED * total)


def arrange_curves(scores: pd.DataFrame, plan: BenchmarkPlan) -> list[CurveScores]:
    """Arrange a score file by the curves of a plan."""
    found = []
    for curve in plan.curves:
        collapsed = _arrange(scores, curve, "collapsed") == 1.0  # NaN is not
        found.append(CurveScores(curve, _arrange(scores, curve, "accuracy"), collapsed))
    return found


def _arrange(scores: pd.DataFrame, curve: CurvePlan, column: str) -> Floats:
    by_value = []
    for step in curve.values:
        rows = [replace(r, setting=in_state(step.setting, r.state)) for r in curve.rows]
        size = curve.n_trials
        final = last_scores(scores, rows, curve.tasks, size, column=column)
        final[:, [task not in step.tasks for task in curve.tasks]] = np.nan
        by_value.append(final)
    arranged = np.stack(by_value, axis=2)
    for row, of_row in zip(curve.rows, arranged, strict=True):
        of_row[..., row.n_trials :] = np.nan
    return arranged


def parameter_title(parameter: str) -> str:
    """Return the title of the parameter that varies along a curve."""
    return _TITLES.get(parameter, parameter.replace("_", " "))


def value_text(value: float) -> str:
    """Return a value in its shortest form."""
    return f"{value:g}"
