"""Methods on one task for one block of trials: the fit stage."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
from cdspp.core.files import Record, record_path, write_record
from cdspp.core.labels import keep_labels
from cdspp.core.names import PathLike, fit_key, trials_of_block
from cdspp.methods import make_seeded, method_class
from cdspp.methods.base import HeterogeneousClassifier, Iteration, SourceDomain
from cdspp.methods.cost import MAX_DENSE
from cdspp.methods.source_vote import SourceVote
from cdspp.stages import formats
from cdspp.stages.source_states import SourceState
from cdspp.stages.trials import TaskFiles, Trial, read_trials

# What its record has beyond a trial that went well, and its iterations.
TrialResult = tuple[dict[str, Any], Sequence[Iteration]]
# Files of a block, of which the digest `read` of a trial covers its part.
OF_BLOCKS = frozenset({"source_split", "target_split", "pairs", "prior"})

FOLDS = 3  # of the labelled rows of a trial that selects options
Grid = Mapping[str, Sequence[Any]]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fit:
    """One fit of a job: what sets it apart, and the file of its `predictions`.

    The file has `FIT_COLUMNS`, one row a test sample, iteration and trial. `code` is a
    digest of the code that makes it, `source` has the parameters of `SourceState`,
    `overlap` and `bridge` are as for `read_trials`. A trial selects from the values of
    `grid` by option (`select_options`).
    """

    method: str
    code: str
    predictions: PathLike
    options: Mapping[str, Any]
    source: Mapping[str, Any]
    overlap: str
    grid: Grid = field(default_factory=dict)
    bridge: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JobInputs:
    """Files, task and seed that the fits of a job share, and the GPUs it requests."""

    files: TaskFiles
    benchmark: str
    task: str
    seed: int
    numeric_threads: int
    gpus: int = 0


def fit_block(job_inputs: JobInputs, fits: Sequence[Fit]) -> None:
    """Make the fits of a job: methods on a task and block, in several settings.

    A fit that is made of the same inputs, options, code and versions of packages is
    kept, so that a job with one more method or setting computes only that one; so is a
    trial of another block. Each fit gives the bytes that it would give in a job of its
    own. A trial that the method cannot do has failed, one in which it stops with any
    other error is marked, and is fitted again. DataError as of `read_trials`;
    ConfigError: a network has no GPU, which the job requests.
    """
    # All of them before the limit, which only loaded libraries obey.
    methods = [method_class(fit.method) for fit in fits]
    if any(method.needs_torch for method in methods):
        import_module("torch")
    jobs.log_ready()
    files = job_inputs.files.items()
    inputs = {name: run_lock.input_digest(path) for name, path in files}
    seed, threads = job_inputs.seed, job_inputs.numeric_threads
    with provenance.limit_threads(threads):
        # By method, so that no time recorded of one is less for another's work.
        for _, settings in groupby(fits, key=attrgetter("method")):
            with memory.shared_results():
                for fit in settings:
                    made_of = formats.fit_recipe(seed, threads, vars(fit))
                    placed = _on_device(fit, job_inputs.gpus)
                    if _is_current(placed, made_of, inputs):
                        log.info("%s is there, made of the same", fit.predictions)
                        os.utime(fit.predictions)
                        os.utime(record_path(fit.predictions))
                    else:
                        log.info("%s", fit.predictions)
                        _write_fit(job_inputs, placed, made_of, inputs)


def _on_device(fit: Fit, gpus: int) -> Fit:
    """Return the fit with the device that its job requests in place of ``auto``."""
    method = method_class(fit.method)
    options = {**defaults_of(method), **fit.options}
    if not method.needs_torch or options.get("device") != devices.AUTO:
        return fit
    return replace(fit, options={**fit.options, "device": devices.device_of_job(gpus)})


def _is_current(fit: Fit, made_of: str, inputs: Mapping[str, str]) -> bool:
    path = fit.predictions
    record = _current_record(path, made_of, fit.options.get("device"))
    if record is None or record.inputs != inputs or not os.path.isfile(path):
        return False
    unexpected = any(trial["crashed"] for trial in record.trials)
    return not unexpected and record.sha256 == provenance.file_digest(path)


def _current_record(path: PathLike, made_of: str, device: Any) -> Record | None:
    """Return the record of a fit by these versions, on this `device` if it has one."""
    with suppress(DataError):
        record = formats.read_fit_record(path)
        numeric, here = provenance.numeric, provenance.versions()
        alike = numeric(record.extra["versions"]) == numeric(here)
        if device is not None:
            ran_here = record.extra.get("device") == devices.PROCESSOR
            alike = alike and ran_here == (device == devices.PROCESSOR)
        if alike and record.made_of == made_of:
            return record
    return None


def _write_fit(
    job_inputs: JobInputs, fit: Fit, made_of: str, inputs: Mapping[str, str]
) -> None:
    files = job_inputs.files
    run: Callable[[Trial], TrialResult] = partial(_run_trial, job_inputs, fit)
    if "predictions" in files:
        # Not above: it needs pandas, with which a fit would start a second later.
        from cdspp.stages.external import external_reader

        key = fit_key(fit.predictions)
        places = {"benchmark": job_inputs.benchmark, "task": job_inputs.task}
        run = external_reader(files["predictions"], setting=key.setting, **places)
    how: dict[str, Any] = {"overlap": fit.overlap, "bridge": fit.bridge}
    if method_class(fit.method).accepts_sparse:
        how["max_dense"] = 0 if fit.bridge else MAX_DENSE
    trials = read_trials(files, **how)
    done = DoneTrials(fit, made_of, inputs)
    rows: dict[str, list[Any]] = {name: [] for name in formats.FIT_COLUMNS}
    results = []
    for trial in trials:
        read = trial.digest()
        result = done.get(trial.number, read) or _new_trial(run, trial, read)
        results.append(result[0])
        for name, values in result[1].items():
            rows[name] += values
    formats.write_rows(fit.predictions, formats.FIT_COLUMNS, rows)
    dataset = Path(files["target_features"]).absolute().parent.name
    extra: dict[str, Any] = {"dataset": dataset, "overlap": fit.overlap}
    extra |= {"trials": results, "device": _device(fit), "seed": job_inputs.seed}
    extra |= {"numeric_threads": job_inputs.numeric_threads}
    extra |= {"versions": provenance.versions(), "platform": provenance.hardware()}
    write_record(fit.predictions, made_of, inputs, extra)
    done.remove_covered()


def _new_trial(
    run: Callable[[Trial], TrialResult], trial: Trial, read: str
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    with keep_labels(*trial.classes):  # what means no label is left out before
        found, iterations = run(trial)
    n = len(trial.test_ids)
    result = {"trial": trial.number, "status": "ok", "reason": "", "collapsed": ""}
    result |= {"crashed": False, **dict.fromkeys(provenance.USAGE), **found}
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
    """The trials of a fit that its files hold by now, in blocks of any size.

    Blocks share out work among jobs, and are no part of a result: with more trials in a
    study, or blocks of another size, only new trials are fitted.
    """

    def __init__(self, fit: Fit, made_of: str, inputs: Mapping[str, str]) -> None:
        self._own, device = Path(fit.predictions), fit.options.get("device")
        self._ours = {*trials_of_block(self._own.stem)}
        self._fits: dict[tuple[int, str], formats.FitFile] = {}
        for other, trials in sorted(self._blocks().items()):
            ours = trials & self._ours
            record = _current_record(other, made_of, device) if ours else None
            if not record or _shared_inputs(record.inputs) != _shared_inputs(inputs):
                continue
            with suppress(DataError, OSError):  # damaged, or removed by another job
                found = formats.read_fit(other)
                sound = (each for each in found.record.trials if not each["crashed"])
                keys = ((each["trial"], each.get("read", "")) for each in sound)
                self._fits |= dict.fromkeys(keys, found)

    def get(self, trial: int, read: str) -> tuple[Any, dict[str, list[Any]]] | None:
        """Return record and rows of a trial; `read` is the digest of all it reads."""
        if (fit := self._fits.get((trial, read))) is None:
            return None
        [result] = [each for each in fit.record.trials if each["trial"] == trial]
        here = fit.columns["trial"] == trial
        return result, {k: v[here].tolist() for k, v in fit.columns.items()}

    def remove_covered(self) -> None:
        """Remove blocks that share trials with this one, once all are elsewhere."""
        blocks = self._blocks()
        blocks.pop(self._own, None)
        # Blocks of one size share none, so that no other job of the run needs these.
        apart = (trials for trials in blocks.values() if not trials & self._ours)
        covered = self._ours.union(*apart)
        for path, trials in blocks.items():
            if trials & self._ours and trials <= covered:
                record_path(path).unlink(missing_ok=True)
                path.unlink(missing_ok=True)

    def _blocks(self) -> dict[Path, set[int]]:
        records = self._own.parent.glob("[0-9]*-*[0-9].json")
        paths = (record.with_suffix(".parquet") for record in records)
        return {path: {*trials_of_block(path.stem)} for path in paths}


def _shared_inputs(inputs: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in inputs.items() if formats.unnumbered(k) not in OF_BLOCKS}


def _run_trial(job_inputs: JobInputs, fit: Fit, trial: Trial) -> TrialResult:
    """Fit one trial; an unexpected error ends the trial, not the job."""
    axes = job_inputs.seed, job_inputs.benchmark, job_inputs.task, trial.number
    state = SourceState(**fit.source)
    options = {} if trial.prior is None else {"prior": trial.prior}
    options |= fit.options
    seed = seeding.integer_seed(fit.method, *axes)
    build = partial(make_seeded, fit.method, seed, **options)
    chosen = select_options(build, trial, state, axes, fit.grid) if fit.grid else {}
    sources = state.of_all(trial.sources, trial.labelled, axes)
    result: dict[str, Any] = {"selected": chosen} if fit.grid else {}
    iterations: Sequence[Iteration] = []
    with provenance.measured() as usage, warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # recorded instead
        try:
            model = fitted(partial(build, **chosen), trial, sources)
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
    ended = result.get("status", "ok"), result.get("reason", "")
    log.info("trial %d: %s %s (%.2f s)", trial.number, *ended, usage["seconds"])
    if collapsed := result.get("collapsed"):
        log.warning("trial %d has collapsed: %s", trial.number, collapsed)
    return result | usage, iterations


def _check_iterations(iterations: Sequence[Iteration], trial: Trial) -> None:
    labels, n = trial.classes, len(trial.test_ids)
    for entry in iterations:
        sizes = {len(entry.prediction)}
        sizes |= {n if entry.confidence is None else len(entry.confidence)}
        if sizes != {n} or not labels.issuperset(entry.prediction.tolist()):
            each = f"one of the {len(labels)} labels for each of {n} unlabelled rows"
            fault = f"expected {each}, but it gives something else"
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
    """Return the options of a grid that predict held-out labelled rows best.

    Stratified folds of the labelled target rows are equal for all methods and source
    states of a trial; a held-out row is in no fit, nor in the source of a state made of
    labelled rows. No test label takes part.

    Of equally good options it returns the method's own, where they are among them, else
    the first; none with fewer than two labelled rows in a class, or where every fit
    fails. `build` returns the method with options in place of its own; `axes` are seed,
    benchmark, task, trial. It costs up to `FOLDS` fits a point of the grid.
    """
    # Imported here: it takes a tenth of a second, and most fits select nothing.
    from cdspp.methods.labels import LabelledKFold

    _, counts = np.unique(trial.labelled.y, return_counts=True)
    n_folds = min(FOLDS, int(counts.min()))
    if n_folds < 2:
        return {}
    seed = seeding.integer_seed("selection", *axes) % 2**31
    folds = LabelledKFold(n_folds, random_state=seed)
    points = grid_options(grid)
    right = np.zeros(len(points))
    for train, test in folds.split(trial.X, trial.y):
        training = replace(trial, X=trial.X[train], y=trial.y[train])
        sources = state.of_all(trial.sources, training.labelled, axes)
        for place, point in enumerate(points):
            with warnings.catch_warnings(action="ignore", category=CollapseWarning):
                try:
                    model = fitted(partial(build, **point), training, sources)
                except MethodFailed:
                    right[place] = -np.inf
                    continue
            hits = model.predict(trial.X[test]) == trial.y[test]
            right[place] += np.count_nonzero(hits)
    if np.isneginf(right).all():
        return {}
    own = build().get_params()
    best = [p for p, n in zip(points, right, strict=True) if n == right.max()]
    ours = (p for p in best if all(own[name] == value for name, value in p.items()))
    return next(ours, best[0])


def fitted(
    build: Callable[[], HeterogeneousClassifier],
    trial: Trial,
    sources: list[SourceDomain],
) -> HeterogeneousClassifier | SourceVote:
    """Fit to all sources, by a vote of fits where a method takes only one."""
    model = build()
    if len(sources) < 2:
        return model.fit(trial.X, trial.y, source=next(iter(sources), None))
    if model.uses_source and not model.several_sources:
        return SourceVote(model).fit(trial.X, trial.y, source=sources)
    return model.fit(trial.X, trial.y, source=sources)
