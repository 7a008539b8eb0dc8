"""One method on one task for one block of trials: the fit stage, and its subspace."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.artifacts import (
    FIT_COLUMNS,
    SHARE_COLUMNS,
    SPLIT_COLUMNS,
    read_features,
    read_rows,
    write_json,
    write_rows,
)
from cdspp.core.errors import DataError, MethodFailed
from cdspp.core.jobs import log_ready
from cdspp.core.names import LABELLED
from cdspp.core.provenance import (
    hardware,
    limit_threads,
    measured,
    versions,
)
from cdspp.core.seeding import generator, integer_seed
from cdspp.methods import make, method_class, option_defaults
from cdspp.methods.base import UNLABELLED, HeterogeneousClassifier, Round, SourceDomain

__all__ = ["SOURCE_CHANGES", "TaskFiles", "Trial", "fit_block", "read_trials"]

PathLike = str | os.PathLike[str]

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial of a task: what a fit may see.

    Attributes
    ----------
    number : int
        Number of the trial, from 1.
    X : ndarray of shape (n_target, d_t)
        Target rows.
    y : object ndarray of shape (n_target,)
        Their labels, -1 where unlabelled.
    test_ids : ndarray of str
        Ids of the unlabelled rows, in their order.
    source : SourceDomain
        Labelled source rows.
    source_ids, labelled_ids : ndarray of str
        Ids of the source rows and the labelled target rows.
    """

    number: int
    X: NDArray[Any]
    y: NDArray[Any]
    test_ids: NDArray[Any]
    source: SourceDomain
    source_ids: NDArray[Any]
    labelled_ids: NDArray[Any]


def _unchanged(source: SourceDomain, rng: np.random.Generator) -> SourceDomain:
    return source


def _permuted_labels(source: SourceDomain, rng: np.random.Generator) -> SourceDomain:
    return SourceDomain(source.X, rng.permutation(np.asarray(source.y)))


def _noise(source: SourceDomain, rng: np.random.Generator) -> SourceDomain:
    shape = np.shape(source.X)
    return SourceDomain(np.abs(rng.standard_normal(shape)), source.y)


SOURCE_CHANGES: Mapping[
    str, Callable[[SourceDomain, np.random.Generator], SourceDomain]
] = {"as-is": _unchanged, "permuted-labels": _permuted_labels, "noise": _noise}


@dataclass(frozen=True)
class TaskFiles:
    """What a fit reads of a task: two views and two splits, and no test label.

    The one exception is `prior`, where a study asks for it.

    Attributes
    ----------
    source_features, target_features : path
        NPZ files of the views; neither holds a label.
    source_split, target_split : path
        Parquet files of a block's splits; test samples have no label there.
    prior : path, optional
        Parquet file of the shares of the classes by trial, for a method that is told
        them (`cdspp.stages.shares`).
    """

    source_features: PathLike
    target_features: PathLike
    source_split: PathLike
    target_split: PathLike
    prior: PathLike | None = None


def read_trials(files: TaskFiles, *, overlap: str = "exclude") -> Iterator[Trial]:
    """Yield the trials of a block.

    Source and target may be views of the same samples, as in a task within one domain.

    Parameters
    ----------
    files : TaskFiles
        What to read.
    overlap : {"exclude", "keep"}, default="exclude"
        Whether unlabelled target samples that are labelled source samples of the same
        trial, under the same id, are left out.

    Raises
    ------
    DataError
        A file is damaged, or features and splits are not of the same samples.
    """
    source = read_features(files.source_features)
    target = read_features(files.target_features)
    drawn = read_rows(files.source_split, SPLIT_COLUMNS)
    given = read_rows(files.target_split, SPLIT_COLUMNS)
    _check_ids(drawn, source.ids, files.source_features)
    _check_ids(given, target.ids, files.target_features)
    X_source, X_target = _dense(source.X), _dense(target.X)
    for number in np.unique(given["trial"]):
        left = {k: v[drawn["trial"] == number] for k, v in drawn.items()}
        right = {k: v[given["trial"] == number] for k, v in given.items()}
        labelled = right["role"] == LABELLED
        if overlap == "exclude":
            kept = labelled | ~np.isin(right["id"].astype(str), left["id"].astype(str))
            right = {k: v[kept] for k, v in right.items()}
            labelled = labelled[kept]
        y = right["label"].copy()
        y[~labelled] = UNLABELLED
        yield Trial(
            number=int(number),
            X=X_target[right["row"]],
            y=y,
            test_ids=right["id"][~labelled],
            source=SourceDomain(X_source[left["row"]], left["label"]),
            source_ids=left["id"],
            labelled_ids=right["id"][labelled],
        )


def fit_block(
    *,
    method: str,
    options: Mapping[str, Any],
    source_change: str,
    overlap: str,
    files: TaskFiles,
    predictions: PathLike,
    record: PathLike,
    benchmark: str,
    task: str,
    block: str,
    seed: int,
    numeric_threads: int,
) -> None:
    """Fit a method on every trial of a block and write predictions and a record.

    Parameters
    ----------
    method : str
        Identifier of the method.
    options : mapping
        Options in place of the method's defaults.
    source_change : {"as-is", "permuted-labels", "noise"}
        What is done to the source before the fit, for the controls.
    overlap : {"exclude", "keep"}
        As for `read_trials`.
    files : TaskFiles
        What to read.
    predictions : path
        Parquet file with `cdspp.core.artifacts.FIT_COLUMNS`, one row a test sample,
        round and trial.
    record : path
        JSON file: seconds, memory, versions, seed, and status and reason per trial.
    benchmark, task, block : str
        Names; they seed the random numbers together with the trial.
    seed : int
        The study's seed.
    numeric_threads : int
        Threads of the linear algebra libraries.
    """
    rows: dict[str, list[Any]] = {name: [] for name in FIT_COLUMNS}
    outcomes: list[dict[str, Any]] = []
    if method_class(method).needs_torch:
        import_module("torch")  # before the limit, which only loaded libraries obey
    log_ready()
    with limit_threads(numeric_threads):
        for trial in read_trials(files, overlap=overlap):
            axes = (seed, benchmark, task, trial.number)
            source = SOURCE_CHANGES[source_change](
                trial.source, generator(source_change, *axes)
            )
            given = _given(method, axes, files.prior)
            estimator = make(method, **{**given, **options})
            outcome, rounds = _fit_trial(estimator, trial, source)
            outcomes.append(outcome)
            _append(rows, trial, rounds)
    write_rows(predictions, FIT_COLUMNS, rows)
    content = {"method": method, "block": block, "seed": seed}
    content |= {"numeric_threads": numeric_threads, "trials": outcomes}
    content |= {"versions": versions(), "platform": hardware()}
    write_json(record, content)


def _given(
    method: str, axes: tuple[int, str, str, int], prior: PathLike | None
) -> dict[str, Any]:
    """Return the options that a trial decides: the seed, and what a prior file says."""
    given: dict[str, Any] = {}
    if "random_state" in option_defaults(method):
        given["random_state"] = integer_seed(method, *axes)
    if prior is not None:
        rows = read_rows(prior, SHARE_COLUMNS)
        # Classes are in sorted order there, as in a fit.
        given["prior"] = rows["share"][rows["trial"] == axes[-1]]
    return given


def _fit_trial(
    estimator: HeterogeneousClassifier, trial: Trial, source: SourceDomain
) -> tuple[dict[str, Any], Sequence[Round]]:
    status, reason = "ok", ""
    rounds: Sequence[Round] = []
    with measured() as usage:
        try:
            rounds = estimator.fit(trial.X, trial.y, source=source).history_
        except MethodFailed as failure:
            status, reason = "failed", str(failure)
    log.info("trial %d: %s %s (%.2f s)", trial.number, status, reason, usage.seconds)
    outcome = {"trial": trial.number, "status": status, "reason": reason}
    return {**outcome, **usage.as_dict()}, rounds


def _append(rows: dict[str, list[Any]], trial: Trial, rounds: Sequence[Round]) -> None:
    n = len(trial.test_ids)
    for entry in rounds:
        confidence = (
            np.full(n, np.nan) if entry.confidence is None else entry.confidence
        )
        rows["trial"] += [trial.number] * n
        rows["iteration"] += [entry.iteration] * n
        rows["id"] += trial.test_ids.tolist()
        rows["predicted"] += entry.prediction.tolist()
        rows["confidence"] += confidence.tolist()


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _check_ids(
    split: Mapping[str, NDArray[Any]],
    ids: NDArray[Any],
    path: PathLike,
) -> None:
    rows = split["row"]
    if rows.max(initial=-1) >= len(ids) or np.any(ids[rows] != split["id"].astype(str)):
        raise DataError(
            f"{path}: its rows are not those that the splits were drawn from. Delete "
            "the features of this domain and run again."
        )
