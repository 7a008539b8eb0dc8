"""Scores: predictions meet the labels of the test samples, here and nowhere before."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import PathLike, task_domains
from cdspp.stages.artifacts import (
    SCORE_COLUMNS,
    ExpectedFits,
    FitFile,
    labels_by_id,
    read_expected_fits,
    rows_by_round,
    write_rows,
)
from cdspp.stages.row_scores import RowScoreWriter

log = logging.getLogger(__name__)

UNSCORED = -1


def accuracies(truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[float, ...]:
    """Return accuracy, its mean over the classes, and the mean F1 over the classes.

    The classes are those of `truth`.
    """
    right = truth == predicted
    classes, codes = np.unique(truth, return_inverse=True)
    sizes, hits = np.bincount(codes), np.bincount(codes, weights=right)
    given = np.array([np.count_nonzero(predicted == label) for label in classes])
    f1 = 2 * hits / (sizes + given)
    return float(right.mean()), float((hits / sizes).mean()), float(f1.mean())


def write_scores(
    *,
    fits: Iterable[PathLike],
    labels: Iterable[PathLike],
    output: PathLike,
    rows: PathLike,
    expected: ExpectedFits | None = None,
) -> None:
    """Score every prediction of a benchmark, per iteration, and each row of the last.

    `labels` are files ``<domain>.parquet``, one for each target domain. `output` gets
    `SCORE_COLUMNS`, sorted by the first five: a failed trial has one row without
    accuracies; a collapsed one is marked in all of its rows. `rows` gets the scores of
    rows (`cdspp.stages.row_scores`). DataError as of `read_expected_fits`, or where a
    predicted sample has no label.
    """
    truth = {Path(path).stem: labels_by_id(path) for path in labels}
    scored: list[tuple[Any, ...]] = []
    by_row = RowScoreWriter(truth)
    for fit in read_expected_fits(fits, expected):
        scored += score_fit(fit, truth[task_domains(fit.key.task).target])
        by_row.add(fit)
    scored.sort(key=lambda row: row[:5])
    log.info("scored %d rows", len(scored))
    by_row.write(rows)
    columns = {name: [row[k] for row in scored] for k, name in enumerate(SCORE_COLUMNS)}
    write_rows(output, SCORE_COLUMNS, columns)


def score_fit(fit: FitFile, truth: Mapping[str, str]) -> list[tuple[Any, ...]]:
    """Return rows of `SCORE_COLUMNS`, one a trial and iteration of a fit.

    `truth` has the label of each id of the target domain, empty where it has none;
    DataError: a predicted sample is not in it.
    """
    columns = fit.columns
    try:
        labels, predicted = _coded(columns, truth)
    except KeyError:
        unknown = [key for key in columns["id"] if key not in truth]
        raise DataError(
            f"{fit.path}: {len(unknown)} predicted samples have no label, the first is "
            f"{unknown[0]}. Delete it and the labels of its target, and run the study "
            "again."
        ) from None
    # Rows of a table without a label are predicted, and not scored.
    known = labels != UNSCORED
    labels, predicted = labels[known], predicted[known]
    trials, iterations = (columns[name][known] for name in ("trial", "iteration"))
    key = (fit.key.setting, fit.key.task, fit.key.method)
    rows: list[tuple[Any, ...]] = []
    for outcome in fit.record.trials:
        number, status = outcome["trial"], outcome["status"]
        state = (status, bool(outcome["collapsed"]))
        of_trial = np.flatnonzero(trials == number)
        if status != "ok":
            rows.append((*key, number, 0, *state, 0, *[np.nan] * 3))
        if not len(of_trial):
            continue
        for iteration, places in rows_by_round(iterations[of_trial]).items():
            here = of_trial[places]
            scores = accuracies(labels[here], predicted[here])
            rows.append((*key, number, iteration, *state, len(here), *scores))
    return rows


def _coded(
    columns: Mapping[str, NDArray[Any]], truth: Mapping[str, str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return labels and predictions as codes, which are quicker to compare."""
    known = sorted({*truth.values()} - {""})
    codes = defaultdict(lambda: UNSCORED, zip(known, range(len(known)), strict=True))
    of_id = {key: codes[label] for key, label in truth.items()}
    pairs = (of_id, columns["id"]), (codes, columns["predicted"])
    labels, predicted = (np.fromiter(map(c.__getitem__, v), np.intp) for c, v in pairs)
    return labels, predicted
