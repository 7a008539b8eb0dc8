"""The fit stage: methods on one task for one batch of trials."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import groupby, product
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import cdspp.core.light_sklearn  # noqa: F401
from cdspp.core import devices, errors, jobs, memory, provenance, run_lock, seeding
from cdspp.core.discovery import defaults_of
from cdspp.core.errors import CollapseWarning, DataError, MethodFailed
from cdspp.core.labels import keep_labels
from cdspp.core.linalg import MAX_DENSE
from cdspp.core.names import PathLike, fit_key, trials_of_block
from cdspp.core.records import (
    Record,
    Specification,
    changes,
    record_path,
    write_record,
)
from cdspp.methods import make_seeded, method_class
from cdspp.methods.base import HeterogeneousClassifier, Iteration, SourceDomain
from cdspp.methods.source_vote import SourceVote
from cdspp.stages import formats
from cdspp.stages.source_states import SourceState
from cdspp.stages.trials import TaskFiles, Trial, read_trials

# Fields of a record that a successful trial lacks, and its iterations.
TrialResult = tuple[dict[str, Any], Sequence[Iteration]]
# Files of a batch; the digest `read` of a trial covers its part of them.
OF_BLOCKS = frozenset({"source_split", "target_split", "pairs", "prior"})
BLOCKS = "[0-9]*-*[0-9].json"  # records of a fit

FOLDS = 3  # number of folds of the labelled rows, to select options
Grid = Mapping[str, Sequence[Any]]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fit:
    """One fit of a job: its options, and the file of its `predictions`.

    The file has `FIT_COLUMNS`, one row per test sample, iteration and trial. `source`
    has the parameters of `SourceState`; `overlap` and `bridge` are as in `read_trials`.
    A trial selects from the values of `grid` by option (`select_options`). `made_of`
    has the same options as values for its record.
    """

    predictions: PathLike
    made_of: Specification
    method: str
    options: Mapping[str, Any]
    source: Mapping[str, Any]
    overlap: str
    seed: int
    numeric_threads: int
    grid: Grid = field(default_factory=dict)
    bridge: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def specified(cls, predictions: PathLike, made_of: Specification) -> Fit:
        """Return the fit of a specification, with the trials of its batch."""
        made_of = made_of.of_block(Path(predictions).stem)
        return cls(predictions, made_of, **made_of.arguments)


@dataclass(frozen=True)
class JobInputs:
    """Files and task shared by the fits of a job, and the GPUs it requests."""

    files: TaskFiles
    benchmark: str
    task: str
    gpus: int = 0


def fit_block(job_inputs: JobInputs, fits: Sequence[Fit]) -> None:
    """Run the fits of a job: methods on a task and batch, in several settings.

    A fit with the same inputs, options, code and package versions is kept, so that a
    job with an additional method or setting computes only that one; likewise a trial,
    from another batch or not needed now. Each fit has the same bytes as in a job of its
    own. A trial that the method cannot fit counts as failed; one that stops with any
    other error is marked, to be fitted again. DataError as in `read_trials`;
    ConfigError: a network finds no GPU although the job requests one.
    """
    files = job_inputs.files.items()
    with loaded_methods(fits):
        inputs = {name: run_lock.input_digest(path) for name, path in files}
        # Grouped by method, so that recorded times do not profit from another's work.
        for _, settings in groupby(fits, key=attrgetter("method")):
            with memory.shared_results():
                for fit in settings:
                    placed = on_device(fit, job_inputs.gpus)
                    if _is_current(placed, inputs):
                        log.info("%s exists, with equal inputs", fit.predictions)
                        os.utime(fit.predictions)
                        os.utime(record_path(fit.predictions))
                    else:
                        log.info("%s", fit.predictions)
                        _write_fit(job_inputs, placed, inputs)


@contextmanager
def loaded_methods(fits: Sequence[Fit]) -> Iterator[None]:
    """Load the methods of fits, and limit the threads of the fits in the block."""
    # Load all of them before the limit, which affects only loaded libraries.
    methods = [method_class(fit.method) for fit in fits]
    if any(method.needs_torch for method in methods):
        import_module("torch")
        memory.keep_freed_memory()
    jobs.log_ready()
    with devices.limit_threads(fits[0].numeric_threads):
        yield


def refit_trial(
    job_inputs: JobInputs, fit: Fit, number: int
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Fit one trial again; return its record and rows, and write nothing.

    Call it within `loaded_methods`. Its numbers are those of `fit_block`. KeyError: the
    files of the batch have no such trial; other errors as in `fit_block`.
    """
    run_trial, trials = _trials(job_inputs, on_device(fit, job_inputs.gpus), {number})
    for trial in trials:
        with memory.shared_results():
            return _new_trial(run_trial, trial, trial.digest())
    raise KeyError(number)


def device_of_fit(fit: Fit, gpus: int) -> str:
    """Return the device of a fit in a job that requests `gpus` GPUs, for a record."""
    return _device(on_device(fit, gpus))


def on_device(fit: Fit, gpus: int) -> Fit:
    """Return the fit with ``auto`` replaced by the device that its job requests."""
    method = method_class(fit.method)
    options = {**defaults_of(method), **fit.options}
    if not method.needs_torch or options.get("device") != devices.AUTO:
        return fit
    return replace(fit, options={**fit.options, "device": devices.device_of_job(gpus)})


def _is_current(fit: Fit, inputs: Mapping[str, str]) -> bool:
    path = fit.predictions
    record = _current_record(path, fit)
    if record is None or record.inputs != inputs or not os.path.isfile(path):
        return False
    if changes(record, fit.made_of._replace(inputs={})):
        return False  # it lacks trials
    unexpected = any(trial["crashed"] for trial in record.trials)
    return not unexpected and record.sha256 == provenance.file_digest(path)


def _current_record(path: PathLike, fit: Fit) -> Record | None:
    """Return a record if options, code, versions and device are those of the fit."""
    device = fit.options.get("device")
    with suppress(DataError):
        record = formats.read_fit_record(path)
        numeric_versions, here = provenance.numeric_versions, provenance.versions()
        is_equal = numeric_versions(record.extra["versions"]) == numeric_versions(here)
        if device is not None:
            on_processor = record.extra["device"] == devices.PROCESSOR
            is_equal = is_equal and on_processor == (device == devices.PROCESSOR)
        if is_equal and not changes(record, fit.made_of._replace(inputs={}, trials=())):
            return record
    return None


def _trials(
    job_inputs: JobInputs, fit: Fit, numbers: Container[int] | None
) -> tuple[Callable[[Trial], TrialResult], Iterator[Trial]]:
    """Return the function that fits a trial, and trials of the block, or all."""
    files = job_inputs.files
    run_trial: Callable[[Trial], TrialResult] = partial(_run_trial, job_inputs, fit)
    if "predictions" in files:
        # Not at the top: it needs pandas, which would delay each fit by a second.
        from cdspp.stages.external import external_reader

        key = fit_key(fit.predictions)
        places = {"benchmark": job_inputs.benchmark, "task": job_inputs.task}
        run_trial = external_reader(files["predictions"], setting=key.setting, **places)
    arguments: dict[str, Any] = {"overlap": fit.overlap, "bridge": fit.bridge}
    if method_class(fit.method).accepts_sparse:
        arguments["max_dense"] = 0 if fit.bridge else MAX_DENSE
    return run_trial, read_trials(files, numbers=numbers, **arguments)


def _write_fit(job_inputs: JobInputs, fit: Fit, inputs: Mapping[str, str]) -> None:
    earlier, needed = DoneTrials(fit, inputs), {*fit.made_of.trials}
    numbers = needed | earlier.numbers if needed else None
    run_trial, trials = _trials(job_inputs, fit, numbers)
    rows: dict[str, list[Any]] = {name: [] for name in formats.FIT_COLUMNS}
    results = []
    for trial in trials:
        read = trial.digest()
        result = earlier.get(trial.number, read)
        if result is None and needed and trial.number not in needed:
            continue  # an earlier one, of other samples
        result = result or _new_trial(run_trial, trial, read)
        results.append(result[0])
        for name, values in result[1].items():
            rows[name] += values
    formats.write_rows(fit.predictions, formats.FIT_COLUMNS, rows)
    dataset = Path(job_inputs.files["target_features"]).absolute().parent.name
    extra: dict[str, Any] = {"dataset": dataset, "trials": results}
    extra["device"] = _device(fit)
    extra |= {"versions": provenance.versions(), "platform": provenance.hardware()}
    places = {name: os.fspath(path) for name, path in job_inputs.files.items()}
    digests = {places[name]: digest for name, digest in inputs.items()}
    made_of = fit.made_of._replace(inputs=places)
    write_record(fit.predictions, made_of, digests, extra)
    earlier.remove_covered()


def _new_trial(
    run_trial: Callable[[Trial], TrialResult], trial: Trial, read: str
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    with keep_labels(*trial.classes):  # missing labels are removed before
        fields, iterations = run_trial(trial)
    n = len(trial.test_ids)
    result = {"trial": trial.number, "status": "ok", "reason": "", "collapsed": ""}
    result |= {"crashed": False, **dict.fromkeys(provenance.USAGE), **fields}
    result |= {"rounds": len(iterations), "tested": n, "read": read}
    result["test_ids"] = provenance.ids_digest(trial.test_ids)
    rows: dict[str, list[Any]] = {name: [] for name in formats.FIT_COLUMNS}
    for entry in iterations:
        confidence = entry.confidence
        rows["trial"] += [trial.number] * n
        rows["iteration"] += [entry.iteration] * n
        rows["id"] += trial.test_ids.tolist()
        rows["predicted"] += entry.prediction.tolist()
        missing = [np.nan] * n
        rows["confidence"] += missing if confidence is None else confidence.tolist()
    return result, rows


def _device(fit: Fit) -> str:
    if not method_class(fit.method).needs_torch:
        return devices.PROCESSOR
    return devices.device_name(str(fit.options.get("device", "")))


class DoneTrials:
    """The finished trials of a fit, from its files with batches of any size.

    Batches only divide work among jobs and are no part of a result: with more trials in
    a study, or batches of another size, only new trials are fitted.
    """

    def __init__(self, fit: Fit, inputs: Mapping[str, str]) -> None:
        self._path = Path(fit.predictions)
        self._fits: dict[tuple[int, str], formats.FitFile] = {}
        for other, record in usable_blocks(fit, inputs):
            with suppress(DataError, OSError):  # damaged, or removed by another job
                fit_file = formats.read_fit(other)
                keys = ((each["trial"], each["read"]) for each in sound_trials(record))
                self._fits |= dict.fromkeys(keys, fit_file)

    @property
    def numbers(self) -> set[int]:
        """The numbers of the trials."""
        return {number for number, _ in self._fits}

    def get(self, trial: int, key: str) -> tuple[Any, dict[str, list[Any]]] | None:
        """Return record and rows of a trial; `key` is the digest of all its inputs."""
        if (fit := self._fits.get((trial, key))) is None:
            return None
        [result] = [each for each in fit.record.trials if each["trial"] == trial]
        in_trial = fit.columns["trial"] == trial
        return result, {k: v[in_trial].tolist() for k, v in fit.columns.items()}

    def remove_covered(self) -> None:
        """Remove batches that share trials with this one, if all are elsewhere."""
        overlapping = {path: _trials_in(path) for path in _blocks(self._path)}
        kept_trials = overlapping.pop(self._path)
        # Batches of one size share no trials, so no other job of the run needs these.
        for path in _blocks(self._path, overlap=False):
            kept_trials |= _trials_in(path)
        for path, trials in overlapping.items():
            if trials <= kept_trials:
                record_path(path).unlink(missing_ok=True)
                path.unlink(missing_ok=True)


def usable_blocks(fit: Fit, inputs: Mapping[str, str]) -> Iterator[tuple[Path, Record]]:
    """Yield the batches, of any size, with the trials that a job keeps for a fit.

    They have its options, code, package versions and device, and `inputs`, digests by
    name, as far as these are of no batch. A job compares those of batches by trial.
    """
    for path in filter(Path.is_file, _blocks(Path(fit.predictions))):
        record = _current_record(path, fit)
        if record and _shared_inputs(record.inputs) == _shared_inputs(inputs):
            yield path, record


def sound_trials(record: Record) -> list[Mapping[str, Any]]:
    """Return the trials of a fit without those that stopped with another error."""
    return [trial for trial in record.trials if not trial["crashed"]]


def _blocks(fit: Path, *, overlap: bool = True) -> list[Path]:
    """Return the files of a fit that share trials with a batch by name, or do not."""
    in_block = {*trials_of_block(fit.stem)}
    files = (record.with_suffix(".parquet") for record in fit.parent.glob(BLOCKS))
    return sorted(
        path
        for path in files
        if in_block.isdisjoint(trials_of_block(path.stem)) != overlap
    )


def _trials_in(path: Path) -> set[int]:
    with suppress(DataError):  # damaged: all that its name says
        return {trial["trial"] for trial in formats.read_fit_record(path).trials}
    return {*trials_of_block(path.stem)}


def files_of_block(inputs: Mapping[str, str]) -> list[str]:
    """Return those inputs of a fit, by name, that belong to its batch."""
    return [v for k, v in inputs.items() if formats.input_kind(k) in OF_BLOCKS]


def _shared_inputs(inputs: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in inputs.items() if formats.input_kind(k) not in OF_BLOCKS}


def _run_trial(job_inputs: JobInputs, fit: Fit, trial: Trial) -> TrialResult:
    """Fit one trial; an unexpected error ends the trial, not the job."""
    axes = fit.seed, job_inputs.benchmark, job_inputs.task, trial.number
    state = SourceState(**fit.source)
    options = {} if trial.prior is None else {"prior": trial.prior}
    options |= fit.options
    seed = seeding.integer_seed(fit.method, *axes)
    build = partial(make_seeded, fit.method, seed, **options)
    selection = select_options(build, trial, state, axes, fit.grid) if fit.grid else {}
    sources = state.of_all(trial.sources, trial.labelled, axes)
    result: dict[str, Any] = {"selected": selection} if fit.grid else {}
    iterations: Sequence[Iteration] = []
    with provenance.measured() as usage, warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # recorded instead
        warnings.simplefilter("ignore", errors.NoSourceWarning)  # a control is without
        try:
            model = fit_sources(partial(build, **selection), trial, sources)
            _check_iterations(model.history_, trial)
            iterations, result["collapsed"] = model.history_, model.collapsed_
        except MethodFailed as failure:
            result |= {"status": "failed", "reason": str(failure)}
        except Exception as error:
            if errors.stops_job(error):
                raise
            reason = errors.unexpected_error_text(error)
            result |= {"status": "failed", "reason": reason, "crashed": True}
            log.exception("trial %d: an unexpected error of the method", trial.number)
    status = result.get("status", "ok"), result.get("reason", "")
    log.info("trial %d: %s %s (%.2f s)", trial.number, *status, usage["seconds"])
    if collapsed := result.get("collapsed"):
        log.warning("trial %d: degenerate fit: %s", trial.number, collapsed)
    return result | usage, iterations


def _check_iterations(iterations: Sequence[Iteration], trial: Trial) -> None:
    labels, n = trial.classes, len(trial.test_ids)
    for entry in iterations:
        sizes = {len(entry.prediction)}
        sizes |= {n if entry.confidence is None else len(entry.confidence)}
        if sizes != {n} or not labels.issuperset(entry.prediction.tolist()):
            text = f"one of the {len(labels)} labels for each of {n} unlabelled rows"
            fault = f"expected {text}, but the method returned something else"
            raise ValueError(f"iteration {entry.iteration}: {fault}")


def grid_options(grid: Grid) -> list[dict[str, Any]]:
    """Return all combinations of the values of a grid, in its order."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def select_options(
    build: Callable[..., HeterogeneousClassifier],
    trial: Trial,
    state: SourceState,
    axes: tuple[int, str, str, int],
    grid: Grid,
) -> dict[str, Any]:
    """Return the options of a grid that best predict held-out labelled rows.

    Stratified folds of the labelled target rows are equal for all methods and
    controls of a trial; a held-out row is in no fit, nor in a source built from
    labelled rows. No test label is used.

    Among equally good options it returns the method's own if possible, else the first;
    it returns none if a class has fewer than two labelled rows, or if every fit fails.
    `build` returns the method with other options; `axes` are seed, benchmark, task and
    trial. It costs up to `FOLDS` fits per point of the grid.
    """
    # Imported here: it takes a tenth of a second, and most fits select nothing.
    from cdspp.methods.folds import LabelledKFold

    _, counts = np.unique(trial.labelled.y, return_counts=True)
    n_folds = min(FOLDS, int(counts.min()))
    if n_folds < 2:
        return {}
    seed = seeding.integer_seed("selection", *axes) % 2**31
    folds = LabelledKFold(n_folds, random_state=seed)
    points = grid_options(grid)
    n_correct = np.zeros(len(points))
    for train, test in folds.split(trial.X, trial.y):
        training = replace(trial, X=trial.X[train], y=trial.y[train])
        sources = state.of_all(trial.sources, training.labelled, axes)
        for place, point in enumerate(points):
            with warnings.catch_warnings(action="ignore", category=CollapseWarning):
                try:
                    model = fit_sources(partial(build, **point), training, sources)
                except MethodFailed:
                    n_correct[place] = -np.inf
                    continue
            hits = model.predict(trial.X[test]) == trial.y[test]
            n_correct[place] += np.count_nonzero(hits)
    if np.isneginf(n_correct).all():
        return {}
    usual = build().get_params()
    best = [p for p, n in zip(points, n_correct, strict=True) if n == n_correct.max()]
    ours = (p for p in best if all(usual[name] == value for name, value in p.items()))
    return next(ours, best[0])


def fit_sources(
    build: Callable[[], HeterogeneousClassifier],
    trial: Trial,
    sources: list[SourceDomain],
) -> HeterogeneousClassifier | SourceVote:
    """Fit to all sources, by a vote of fits if a method takes only one source."""
    model = build()
    if len(sources) < 2:
        return model.fit(trial.X, trial.y, source=next(iter(sources), None))
    if model.uses_source and not model.several_sources:
        return SourceVote(model).fit(trial.X, trial.y, source=sources)
    return model.fit(trial.X, trial.y, source=sources)
