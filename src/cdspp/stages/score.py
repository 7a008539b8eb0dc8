"""Scores: only this stage compares predictions with the labels of test samples.

Standard errors over rows need the scores of rows. One NPZ file per benchmark holds, for
the last iteration of every fit, a matrix of trials by rows of the target domain, and
for every task the class of each row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.files import read_arrays, write_csv
from cdspp.core.names import PathLike, task_domains
from cdspp.core.outputs import atomic
from cdspp.stages import formats
from cdspp.stages.formats import SCORE_COLUMNS, FitFile

if TYPE_CHECKING:
    import pandas as pd

UNSCORED = -1
ONE_CLASS = "one class"  # a kind of degenerate fit of `cdspp.methods.problem`
_CLASSES = "classes"


def accuracies(truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[float, ...]:
    """Return accuracy, balanced accuracy and mean F1, over the classes of `truth`."""
    is_correct = truth == predicted
    classes, codes = np.unique(truth, return_inverse=True)
    sizes, hits = np.bincount(codes), np.bincount(codes, weights=is_correct)
    given = np.array([np.count_nonzero(predicted == label) for label in classes])
    f1 = 2 * hits / (sizes + given)
    return float(is_correct.mean()), float((hits / sizes).mean()), float(f1.mean())


def write_scores(
    *,
    fits: Iterable[PathLike],
    labels: Iterable[PathLike],
    output: PathLike,
    rows: PathLike,
    expected: formats.ExpectedFits | None = None,
) -> None:
    """Score every prediction of a benchmark, per iteration, and each row of the last.

    `labels` are files ``<domain>.parquet``, one per target domain. `output` receives
    `SCORE_COLUMNS`, sorted by the first five: a failed trial has one row without
    accuracies. `rows` receives the scores of rows (`SampleScores`). DataError as in
    `read_fit`, or if a predicted sample has no label.
    """
    truth = {Path(path).stem: formats.labels_by_id(path) for path in labels}
    table: list[tuple[Any, ...]] = []
    per_sample, digests = SampleScoreWriter(truth), dict[str, str]()
    for path in fits:
        fit = formats.read_fit(path, expected and expected.of(path), digests)
        table += score_fit(fit, truth[task_domains(fit.key.task).target])
        per_sample.add(fit)
    table.sort(key=lambda row: row[:5])
    per_sample.write(rows)
    columns = {name: [row[k] for row in table] for k, name in enumerate(SCORE_COLUMNS)}
    formats.write_rows(output, SCORE_COLUMNS, columns)


def score_fit(fit: FitFile, truth: Mapping[str, str]) -> list[tuple[Any, ...]]:
    """Return rows of `SCORE_COLUMNS`, one per trial and iteration of a fit.

    `truth` maps each id of the target domain to its label, empty if unlabelled.
    """
    columns, classes = fit.columns, sorted({*truth.values()} - {""})
    # Labels and predictions as codes, which are faster to compare.
    codes = defaultdict(lambda: UNSCORED, {c: k for k, c in enumerate(classes)})
    of_id = {key: codes[label] for key, label in truth.items()}
    try:
        labels = np.fromiter(map(of_id.__getitem__, columns["id"]), np.intp)
    except KeyError:
        unknown = [key for key in columns["id"] if key not in truth]
        fault = f"{len(unknown)} predicted samples have no label, first"
        remedy = "Delete it and the labels of its target, and run the study again."
        raise DataError(f"{fit.path}: {fault} {unknown[0]}. {remedy}") from None
    predicted = np.fromiter(map(codes.__getitem__, columns["predicted"]), np.intp)
    # Unlabelled rows of a table are predicted, but not scored.
    is_labelled = labels != UNSCORED
    labels, predicted = labels[is_labelled], predicted[is_labelled]
    trials, iterations = (columns[name][is_labelled] for name in ("trial", "iteration"))
    key = (fit.key.setting, fit.key.task, fit.key.method)
    rows: list[tuple[Any, ...]] = []
    for result in fit.record.trials:
        number, status = result["trial"], result["status"]
        of_trial = np.flatnonzero(trials == number)
        last = of_trial[iterations[of_trial] == iterations[of_trial].max(initial=0)]
        kind = result["collapsed"]
        state = (status, is_degenerate(kind, labels[last], predicted[last]))
        if status != "ok":
            rows.append((*key, number, 0, *state, 0, *[np.nan] * 3))
        if not len(of_trial):
            continue
        by_iteration = formats.rows_by_iteration(iterations[of_trial])
        for iteration, places in by_iteration.items():
            places_of_rows = of_trial[places]
            scores = accuracies(labels[places_of_rows], predicted[places_of_rows])
            rows.append((*key, number, iteration, *state, len(places_of_rows), *scores))
    return rows


def is_degenerate(
    kind: str, labels: NDArray[np.intp], predicted: NDArray[np.intp]
) -> bool:
    """Return whether a fit is degenerate, from the kind that it noted, or empty.

    A fit that predicts one class for nearly all rows is right if they are of it.
    """
    if kind != ONE_CLASS or not len(labels):
        return bool(kind)
    from cdspp.methods.problem import LARGEST_SHARE  # its import takes long

    classes, sizes = np.unique(predicted, return_counts=True)
    share = float((labels == classes[sizes.argmax()]).mean())
    return share < LARGEST_SHARE


class SampleScoreWriter:
    """Collects the fits of a benchmark and writes the correctly predicted rows.

    `truth` maps target domains to the label of each id, empty if unlabelled.
    """

    def __init__(self, truth: Mapping[str, Mapping[str, str]]) -> None:
        self._labels: dict[str, dict[str, str]] = {}
        for domain, labels in truth.items():
            self._labels[domain] = {k: label for k, label in labels.items() if label}
        self._trials: dict[tuple[str, str, str], dict[int, NDArray[np.int8]]] = {}

    def add(self, fit: FitFile) -> None:
        """Add the last iteration of each trial of a fit."""
        key, columns = fit.key, fit.columns
        labels = self._labels[task_domains(key.task).target]
        cell = self._trials.setdefault((key.setting, key.task, key.method), {})
        for number in np.unique(columns["trial"]):
            mask = columns["trial"] == number
            mask &= columns["iteration"] == columns["iteration"][mask].max()
            rows = zip(columns["id"][mask], columns["predicted"][mask], strict=True)
            predicted = dict(rows)
            scores = (
                predicted[name] == label if name in predicted else UNSCORED
                for name, label in labels.items()
            )
            cell[int(number)] = np.fromiter(scores, np.int8, len(labels))

    def write(self, path: PathLike) -> None:
        """Write the NPZ file."""
        arrays: dict[str, NDArray[np.int32] | NDArray[np.int8]] = {}
        for (setting, task, method), trials in sorted(self._trials.items()):
            labels = self._labels[task_domains(task).target]
            if f"{_CLASSES}/{task}" not in arrays:
                classes = np.array([*labels.values()], dtype=object)
                codes = np.unique(classes, return_inverse=True)[1]
                arrays[f"{_CLASSES}/{task}"] = codes.astype(np.int32)
            shape = (max(trials, default=0), len(labels))
            dense = np.full(shape, UNSCORED, dtype=np.int8)
            for number, scores in trials.items():
                dense[number - 1] = scores
            arrays[f"{setting}/{task}/{method}"] = dense
        with atomic(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)


class SampleScores:
    """The correctly predicted rows of a benchmark, as written by `SampleScoreWriter`.

    Every method raises DataError if the file is missing or damaged.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = Path(path)

    @cached_property
    def _arrays(self) -> dict[str, NDArray[np.int8]]:
        return read_arrays(self._path, "scores per sample (NPZ)")

    def cells(self) -> list[tuple[str, str, str]]:
        """Return setting, task and method of all scored fits, sorted."""
        keys = [tuple(key.split("/")) for key in self._arrays]
        return sorted((key[0], key[1], key[2]) for key in keys if key[0] != _CLASSES)

    def classes(self, task: str) -> NDArray[np.int8]:
        """Return the class code of each row of a task's target domain."""
        return self._arrays[f"{_CLASSES}/{task}"]

    def right(self, setting: str, task: str, method: str) -> NDArray[np.float64]:
        """Return 1 for correctly predicted rows, 0 for others, NaN for untested rows.

        Rows are trials, columns are target rows; no row if the method did not run.
        """
        scores = self._arrays.get(f"{setting}/{task}/{method}")
        if scores is None:
            return np.empty((0, len(self.classes(task))))
        return np.where(scores == UNSCORED, np.nan, scores.astype(np.float64))


def vote(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return for each row the label that most trials predict; ties by name.

    `predictions` are rows with `FIT_COLUMNS` of one method on one task; the last
    iteration of each trial counts. The result is sorted by `id`: `predicted`, the share
    of `trials` that agree (`agreement`), and their mean `confidence`, NaN if the method
    has none.
    """
    last = predictions.groupby("trial")["iteration"].transform("max")
    rows = predictions[predictions["iteration"] == last]
    votes = rows.groupby(["id", "predicted"])["confidence"].agg(["size", "mean"])
    order = ["id", "size", "predicted"]
    votes = votes.reset_index().sort_values(order, ascending=[True, False, True])
    trials = rows.groupby("id").size()
    winners = votes.drop_duplicates("id").set_index("id")
    winners = winners.assign(trials=trials, agreement=winners["size"] / trials)
    table = winners.rename(columns={"mean": "confidence"}).reset_index()
    return table[["id", "predicted", "agreement", "trials", "confidence"]]


def write_predictions(
    *,
    fits: Iterable[PathLike],
    labels: Iterable[PathLike],
    outputs: Sequence[PathLike],
    expected: formats.ExpectedFits | None = None,
) -> None:
    """Write the predictions of each method for the unlabelled rows of its target.

    `labels` and `expected` are as in `write_scores`; a CSV file is written for each
    ``.../<benchmark>/<task>/<method>.csv`` of `outputs`.
    """
    import pandas as pd

    truth = {Path(path).stem: formats.labels_by_id(path) for path in labels}
    blocks: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in fits:
        fit = formats.read_fit(path, expected and expected.of(path))
        rows, task = pd.DataFrame(fit.columns), fit.key.task
        target = truth[task_domains(task).target]
        is_unlabelled = [not target.get(name) for name in rows["id"]]
        blocks.setdefault((task, fit.key.method), []).append(rows[is_unlabelled])
    for output in map(Path, outputs):
        cell_rows = blocks[output.parent.name, output.stem]
        write_csv(output, vote(pd.concat(cell_rows, ignore_index=True)))
