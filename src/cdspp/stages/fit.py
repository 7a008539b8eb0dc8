"""Methods on one task for one block of trials: the fit stage."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import cdspp.core.light_sklearn  # noqa: F401
from cdspp.core.errors import CollapseWarning, MethodFailed
from cdspp.core.faults import crash_words, stops_job
from cdspp.core.jobs import log_ready
from cdspp.core.labels import keep_labels
from cdspp.core.names import fit_key
from cdspp.core.provenance import (
    Usage,
    file_digest,
    hardware,
    ids_digest,
    limit_threads,
    measured,
    numeric,
    versions,
)
from cdspp.core.reuse import sharing
from cdspp.core.seeding import integer_seed
from cdspp.core.whole_files import read_json
from cdspp.methods import make, method_class, seed_option
from cdspp.methods.base import HeterogeneousClassifier, Round, SourceDomain
from cdspp.methods.collapse import find_collapse
from cdspp.stages.artifacts import (
    FIT_COLUMNS,
    SHARE_COLUMNS,
    read_rows,
    write_rows,
)
from cdspp.stages.expected import fit_recipe
from cdspp.stages.fit_files import is_sealed, write_record
from cdspp.stages.selection import select_options
from cdspp.stages.source_states import SourceState
from cdspp.stages.trial_reuse import DoneTrials, trial_digest
from cdspp.stages.trials import TaskFiles, Trial, read_trials

__all__ = ["Fit", "TaskBlock", "fit_block"]

PathLike = str | os.PathLike[str]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fit:
    """One fit of a job: what sets it apart, and where it is written.

    Attributes
    ----------
    method : str
        Name of the method.
    code : str
        Digest of the code that makes its predictions.
    predictions : path
        Parquet file with `cdspp.stages.artifacts.FIT_COLUMNS`, one row a test sample,
        round and trial.
    record : path
        JSON file: what the fit is of, of which inputs, a digest of the Parquet file,
        seconds, memory, versions, seed, and status, reason and test samples per trial.
        A trial that the method cannot do has failed; one in which it stopped with any
        other error of its own has also crashed.
    options : mapping
        Options in place of the method's defaults.
    source : mapping
        State of the source, as `cdspp.stages.source_states.SourceState` takes it.
    overlap : {"exclude", "keep"}
        As for `cdspp.stages.trials.read_trials`.
    grid : mapping
        Values by option of which a trial selects (`cdspp.stages.selection`); the record
        tells which.
    bridge : mapping
        What it uses of what both domains share, as for `read_trials`.
    """

    method: str
    code: str
    predictions: PathLike
    record: PathLike
    options: Mapping[str, Any]
    source: Mapping[str, Any]
    overlap: str
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bridge: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskBlock:
    """What the fits of a job share.

    Attributes
    ----------
    files : TaskFiles
        What to read.
    benchmark, task, block : str
        Names; but for the block they seed the random numbers, together with method and
        trial.
    seed : int
        The study's seed.
    numeric_threads : int
        Threads of the linear algebra libraries.
    """

    files: TaskFiles
    benchmark: str
    task: str
    block: str
    seed: int
    numeric_threads: int

    def axes(self, trial: int) -> tuple[int, str, str, int]:
        """Return what the random numbers of a trial belong to."""
        return self.seed, self.benchmark, self.task, trial

    def inputs(self) -> dict[str, str]:
        """Return the digest of each file that the fits read."""
        files = vars(self.files).items()
        return {name: file_digest(path) for name, path in files if path is not None}


def fit_block(task_block: TaskBlock, fits: Sequence[Fit]) -> None:
    """Make the fits of a job: methods on a task and block, in several settings.

    A fit whose files are there and whose record says that they are made of the same
    inputs, options and code, by the same versions of packages, is kept as it is, so
    that a job with one more method or setting computes that one alone. Trials that are
    there in other blocks are taken over. One that crashed is made again.

    Parameters
    ----------
    task_block : TaskBlock
        What the fits share.
    fits : sequence of Fit
        Each gives the bytes that it would give alone.

    Raises
    ------
    DataError
        As of `read_trials`. A method that crashes costs its own trial alone.
    """
    # All of them before the limit, which only loaded libraries obey.
    methods = [method_class(fit.method) for fit in fits]
    if any(method.needs_torch for method in methods):
        import_module("torch")
    log_ready()
    inputs = task_block.inputs()
    with limit_threads(task_block.numeric_threads):
        # By method, so that no time recorded of one is less for another's work.
        for _, settings in groupby(fits, key=attrgetter("method")):
            with sharing():
                for fit in settings:
                    _fit_or_keep(task_block, fit, inputs)


def _fit_or_keep(task_block: TaskBlock, fit: Fit, inputs: Mapping[str, str]) -> None:
    """Make a fit, unless its files are there and made of the same."""
    content = _identity(task_block, fit, inputs)
    if _is_there(fit, content):
        log.info("%s is there, made of the same", fit.predictions)
        os.utime(fit.predictions)
        os.utime(fit.record)
    else:
        log.info("%s", fit.predictions)
        _make_fit(task_block, fit, content)


def _identity(
    task_block: TaskBlock, fit: Fit, inputs: Mapping[str, str]
) -> dict[str, Any]:
    """Return what a record says of a fit before it is made: what it is, made of what.

    The path of a fit repeats some of it, so that a file in another one's place is
    found out (`cdspp.stages.fit_files`).
    """
    files = ("predictions", "record")
    member = {name: value for name, value in vars(fit).items() if name not in files}
    return {
        "benchmark": task_block.benchmark,
        "setting": fit_key(fit.record).setting,
        "task": task_block.task,
        "method": fit.method,
        "block": task_block.block,
        "dataset": Path(task_block.files.target_features).absolute().parent.name,
        "overlap": fit.overlap,
        "inputs": dict(inputs),
        "made_of": fit_recipe(task_block.seed, task_block.numeric_threads, member),
    }


def _is_there(fit: Fit, content: Mapping[str, Any]) -> bool:
    """Whether the files of a fit are whole and made of what they would be now."""
    try:
        record = read_json(fit.record)
        same = all(record[name] == value for name, value in content.items())
        same = same and numeric(record["versions"]) == numeric(versions())
        same = same and is_sealed(record)
        same = same and not any(trial["crashed"] for trial in record["trials"])
        return same and bool(record["predictions"] == file_digest(fit.predictions))
    # Missing, damaged, or written before records said so.
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _make_fit(task_block: TaskBlock, fit: Fit, content: Mapping[str, Any]) -> None:
    """Fit every trial of a block and write predictions and record."""
    rows: dict[str, list[Any]] = {name: [] for name in FIT_COLUMNS}
    outcomes: list[dict[str, Any]] = []
    run = _taken(task_block, content["setting"]) or partial(_run, task_block, fit)
    trials = read_trials(
        task_block.files,
        overlap=fit.overlap,
        bridge=fit.bridge,
        keep_sparse=bool(fit.bridge) and method_class(fit.method).accepts_sparse,
    )
    done = DoneTrials(fit.record, content, versions())
    for trial in trials:
        read = _read_by(task_block, trial)
        if found := done.get(trial.number, read):
            outcome, known = found
            for name, values in known.items():
                rows[name] += values
        else:
            with keep_labels(*trial.classes):  # what means no label is left out before
                outcome, rounds = run(trial)
            outcome |= {"rounds": len(rounds), "tested": len(trial.test_ids)}
            outcome |= {"test_ids": ids_digest(trial.test_ids), "read": read}
            _append(rows, trial, rounds)
        outcomes.append(outcome)
    write_rows(fit.predictions, FIT_COLUMNS, rows)
    record = {**content, "predictions": file_digest(fit.predictions)}
    record |= {"seed": task_block.seed, "numeric_threads": task_block.numeric_threads}
    record |= {"trials": outcomes, "versions": versions(), "platform": hardware()}
    write_record(fit.record, record)
    done.remove_covered()


def _read_by(task_block: TaskBlock, trial: Trial) -> str:
    """Return a digest of what a trial reads of the files of its block."""
    ids = trial.source_ids, trial.labelled_ids, trial.test_ids, trial.paired_ids
    prior = _prior(task_block.files.prior, trial.number)
    labels = np.asarray(trial.source.y), np.asarray(trial.labelled.y)
    return trial_digest([*ids, *labels, [] if prior is None else prior])


def _run(
    task_block: TaskBlock, fit: Fit, trial: Trial
) -> tuple[dict[str, Any], Sequence[Round]]:
    """Fit a method to a trial; return what its record says, and its rounds."""
    state, axes = SourceState(**fit.source), task_block.axes(trial.number)
    given = _given(fit.method, axes, task_block.files.prior)
    build = partial(make, fit.method, **{**given, **fit.options})
    chosen = select_options(build, trial, state, axes, fit.grid) if fit.grid else {}
    source = state.of(trial.source, trial.labelled, *axes)
    outcome, rounds = _fit_trial(partial(build, **chosen), trial, source)
    return outcome | ({"selected": chosen} if fit.grid else {}), rounds


def _taken(
    task_block: TaskBlock, setting: str
) -> Callable[[Trial], tuple[dict[str, Any], Sequence[Round]]] | None:
    """Return what takes predictions made elsewhere; None where a method makes them."""
    path = task_block.files.predictions
    if path is None:
        return None
    # Not above: it needs pandas, with which a fit would start a second later.
    from cdspp.stages.foreign import foreign_round, read_foreign

    names = {"benchmark": task_block.benchmark, "task": task_block.task}
    predictions = read_foreign(path, setting=setting, **names)

    def take(trial: Trial) -> tuple[dict[str, Any], Sequence[Round]]:
        outcome: dict[str, Any] = {"trial": trial.number, "status": "ok", "reason": ""}
        outcome |= {"collapsed": "", "crashed": False}
        outcome |= dict.fromkeys(Usage().as_dict())  # measured elsewhere, if at all
        try:
            answer = foreign_round(predictions, trial, path)
        except MethodFailed as failure:
            return outcome | {"status": "failed", "reason": str(failure)}, []
        n_classes = len({*np.asarray(trial.labelled.y)})
        collapse = find_collapse(answer.prediction, n_classes, rows={})
        return outcome | {"collapsed": collapse.kind}, [answer]

    return take


def _given(
    method: str, axes: tuple[int, str, str, int], prior: PathLike | None
) -> dict[str, Any]:
    """Return the options that a trial decides: the seed, and what a prior file says."""
    given: dict[str, Any] = {**seed_option(method, integer_seed(method, *axes))}
    shares = _prior(prior, axes[-1])
    return given if shares is None else {**given, "prior": shares}


def _prior(path: PathLike | None, trial: int) -> Any:
    """Return the shares of the classes in a trial, where a method is told them."""
    if path is None:
        return None
    rows = read_rows(path, SHARE_COLUMNS)
    # Classes are in sorted order there, as in a fit.
    return rows["share"][rows["trial"] == trial]


def _fit_trial(
    build: Callable[[], HeterogeneousClassifier],
    trial: Trial,
    source: SourceDomain | None,
) -> tuple[dict[str, Any], Sequence[Round]]:
    """Fit one trial; a crash of the method is its outcome, not the end of the job."""
    status, reason, collapsed, crashed = "ok", "", "", False
    rounds: Sequence[Round] = []
    with measured() as usage, warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # recorded instead
        try:
            model = build().fit(trial.X, trial.y, source=source)
            _check_rounds(model.history_, trial)
            rounds, collapsed = model.history_, model.collapsed_
        except MethodFailed as failure:
            status, reason = "failed", str(failure)
        except Exception as error:
            if stops_job(error):
                raise
            status, reason, crashed = "failed", crash_words(error), True
            log.exception("trial %d: the method crashed", trial.number)
    log.info("trial %d: %s %s (%.2f s)", trial.number, status, reason, usage.seconds)
    if collapsed:
        log.warning("trial %d has collapsed: %s", trial.number, collapsed)
    outcome = {"trial": trial.number, "status": status, "reason": reason}
    outcome |= {"collapsed": collapsed, "crashed": crashed}
    return {**outcome, **usage.as_dict()}, rounds


def _check_rounds(rounds: Sequence[Round], trial: Trial) -> None:
    """Check that a method gives what can be written: a known label for every row."""
    labels, n = trial.classes, len(trial.test_ids)
    for entry in rounds:
        sizes = {len(entry.prediction)}
        sizes |= {n if entry.confidence is None else len(entry.confidence)}
        if sizes != {n} or not labels.issuperset(entry.prediction.tolist()):
            raise ValueError(
                f"iteration {entry.iteration}: expected one of the {len(labels)} "
                f"labels for each of {n} unlabelled rows, but it gives something else"
            )


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
