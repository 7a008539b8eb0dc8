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
from cdspp.core.names import PathLike, fit_key
from cdspp.core.provenance import (
    file_digest,
    hardware,
    ids_digest,
    limit_threads,
    measured,
    versions,
)
from cdspp.core.reuse import sharing
from cdspp.core.run_marks import input_digest
from cdspp.core.seeding import integer_seed
from cdspp.methods import make_seeded, method_class
from cdspp.methods.base import HeterogeneousClassifier, Round, SourceDomain
from cdspp.stages.artifacts import FIT_COLUMNS, SHARE_COLUMNS, read_rows, write_rows
from cdspp.stages.fit_files import (
    DoneTrials,
    content_digest,
    fit_recipe,
    is_made,
    write_record,
)
from cdspp.stages.selection import fitted, select_options
from cdspp.stages.source_states import SourceState
from cdspp.stages.trials import TaskFiles, Trial, read_trials

Made = tuple[dict[str, Any], Sequence[Round]]  # a trial in the record; its rounds

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fit:
    """One fit of a job: what sets it apart, and where it is written.

    `code` is a digest of the code that makes the predictions: a Parquet file with
    `FIT_COLUMNS`, one row a test sample, round and trial. In the record, a JSON file,
    a trial that the method cannot do has failed; one in which it stopped with any other
    error of its own has also crashed.

    `options` stand in place of the method's defaults, `source` has the parameters of
    `SourceState`, `overlap` and `bridge` are as for `read_trials`. A trial selects from
    the values of `grid` by option (`cdspp.stages.selection`).
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

    Seed, benchmark, task, method and trial seed the random numbers.
    """

    files: TaskFiles
    benchmark: str
    task: str
    block: str
    seed: int
    numeric_threads: int


def fit_block(task_block: TaskBlock, fits: Sequence[Fit]) -> None:
    """Make the fits of a job: methods on a task and block, in several settings.

    A fit that is made of the same inputs, options, code and versions of packages is
    kept, so that a job with one more method or setting computes that one alone; so is a
    trial of another block, unless it crashed. Each fit gives the bytes that it would
    give alone. DataError as of `read_trials`; a method that crashes costs its own trial
    alone.
    """
    # All of them before the limit, which only loaded libraries obey.
    methods = [method_class(fit.method) for fit in fits]
    if any(method.needs_torch for method in methods):
        import_module("torch")
    log_ready()
    files = task_block.files.by_name().items()
    inputs = {name: input_digest(path) for name, path in files}
    with limit_threads(task_block.numeric_threads):
        # By method, so that no time recorded of one is less for another's work.
        for _, settings in groupby(fits, key=attrgetter("method")):
            with sharing():
                for fit in settings:
                    content = _identity(task_block, fit, inputs)
                    if is_made(fit.predictions, fit.record, content):
                        log.info("%s is there, made of the same", fit.predictions)
                        os.utime(fit.predictions)
                        os.utime(fit.record)
                    else:
                        log.info("%s", fit.predictions)
                        _make_fit(task_block, fit, content)


def _identity(
    task_block: TaskBlock, fit: Fit, inputs: Mapping[str, str]
) -> dict[str, Any]:
    """Return what a record says before the fit; its path repeats some, as a check."""
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


def _make_fit(task_block: TaskBlock, fit: Fit, content: Mapping[str, Any]) -> None:
    rows: dict[str, list[Any]] = {name: [] for name in FIT_COLUMNS}
    outcomes: list[dict[str, Any]] = []
    run = _taken(task_block, content["setting"]) or partial(_run, task_block, fit)
    trials = read_trials(
        task_block.files,
        overlap=fit.overlap,
        bridge=fit.bridge,
        keep_sparse=bool(fit.bridge) and method_class(fit.method).accepts_sparse,
    )
    done = DoneTrials(fit.record, content)
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
    """Return a digest of the ids, labels and shares that a trial reads, in order."""
    ids = trial.source_ids, trial.labelled_ids, trial.test_ids, trial.paired_ids
    prior = _prior(task_block.files.prior, trial.number).get("prior", ())
    labels = trial.source_labels, np.asarray(trial.labelled.y)
    parts = [*ids, *labels, prior]
    return content_digest([[str(value) for value in part] for part in parts])


def _taken(task_block: TaskBlock, setting: str) -> Callable[[Trial], Made] | None:
    """Return a reader of predictions made elsewhere; None where a method is fitted."""
    path = task_block.files.predictions
    if path is None:
        return None
    # Not above: it needs pandas, with which a fit would start a second later.
    from cdspp.stages.foreign import read_foreign, take_trial

    names = {"benchmark": task_block.benchmark, "task": task_block.task}
    predictions = read_foreign(path, setting=setting, **names)
    return partial(take_trial, predictions, path)


def _run(task_block: TaskBlock, fit: Fit, trial: Trial) -> Made:
    axes = task_block.seed, task_block.benchmark, task_block.task, trial.number
    state = SourceState(**fit.source)
    options = {**_prior(task_block.files.prior, trial.number), **fit.options}
    seed = integer_seed(fit.method, *axes)
    build = partial(make_seeded, fit.method, seed, **options)
    chosen = select_options(build, trial, state, axes, fit.grid) if fit.grid else {}
    sources = state.of_all(trial.sources, trial.labelled, axes)
    outcome, rounds = _fit_trial(partial(build, **chosen), trial, sources)
    return outcome | ({"selected": chosen} if fit.grid else {}), rounds


def _prior(path: PathLike | None, trial: int) -> dict[str, Any]:
    """Return the shares of the classes in a trial as an option, classes sorted."""
    if path is None:
        return {}
    rows = read_rows(path, SHARE_COLUMNS)
    return {"prior": rows["share"][rows["trial"] == trial]}


def _fit_trial(
    build: Callable[[], HeterogeneousClassifier],
    trial: Trial,
    sources: list[SourceDomain],
) -> Made:
    """Fit one trial; a crash of the method is its outcome, not the end of the job."""
    status, reason, collapsed, crashed = "ok", "", "", False
    rounds: Sequence[Round] = []
    with measured() as usage, warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # recorded instead
        try:
            model = fitted(build, trial, sources)
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
        given = entry.confidence
        rows["trial"] += [trial.number] * n
        rows["iteration"] += [entry.iteration] * n
        rows["id"] += trial.test_ids.tolist()
        rows["predicted"] += entry.prediction.tolist()
        rows["confidence"] += [np.nan] * n if given is None else given.tolist()
