"""Progress of a study by its files: fits done, failed, running and missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.errors import DataError
from cdspp.core.jobs import FINISHED, READY
from cdspp.core.names import MAIN, FitKey
from cdspp.core.run_lock import RunLock, read_run_locks
from cdspp.stages.formats import read_fit_record
from cdspp.study.files import FIT, FIT_LOG, SUBSPACE
from cdspp.study.fit_jobs import fit_jobs
from cdspp.study.model import Study

STATES = DONE, FAILED, RUNNING, MISSING = ("done", "failed", "running", "missing")

# Last message of `cdspp.core.jobs` in a log: ready, finished, or the failure.
OF_JOB = re.compile(r"^\d{4}-\S+ \S+ cdspp\.core\.jobs (.*)$", re.M)


class Failure(NamedTuple):
    """A failed job or fit, and the log with more details."""

    what: str
    reason: str
    log: str


@dataclass(frozen=True, eq=False)
class Progress:
    """Progress of a study.

    `fits` counts, by benchmark and method, trials in each of `STATES`; `to_repeat` are
    the files to remake after an unexpected error, `stopped` the logs of jobs that were
    killed, or ran out of memory. The `runs` of this folder are active, or on other
    machines.
    """

    fits: dict[tuple[str, str], Counter[str]]
    failures: list[Failure] = field(default_factory=list)
    to_repeat: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    runs: Sequence[RunLock] = ()

    def state_of(self, log: JobLog) -> str:
        """Return the state of fits that a job lacks: running, failed or missing."""
        if log.state == RUNNING:
            living = [run.started for run in self.runs if run.lives]
            # A log older than the run is that of a killed job.
            return RUNNING if living and log.written >= min(living) else MISSING
        return log.state


@dataclass(frozen=True)
class JobLog:
    """State of a job by its log (missing if it has none), and its last write."""

    path: str
    state: str = MISSING
    reason: str = ""
    written: float = 0.0


def study_progress(study: Study) -> Progress:
    """Return the progress of a study by its files in the working folder."""
    runs = [run for run in read_run_locks() if run.lives is not False]
    pairs = ((b, key.method) for b in study.benchmarks for key in study.fits(b))
    progress = Progress({pair: Counter[str]() for pair in pairs}, runs=runs)
    for fits_of_job in fit_jobs(study):
        _add_fits(progress, study, fits_of_job)
    fit_logs = Path("logs", study.name, "fits")
    for place in map(Path, study.logs()):
        for path in [place] if place.is_file() else sorted(place.rglob("*.log")):
            if not path.is_relative_to(fit_logs):
                log = read_log(path.as_posix())
                _add_job(progress, log, "/".join(path.with_suffix("").parts[1:]))
    return progress


def _add_fits(progress: Progress, study: Study, fits: list[FitKey]) -> None:
    log = read_log(FIT_LOG.format(study=study.name, **fits[0]._asdict()))
    state, whole = progress.state_of(log), True
    for key in fits:
        counter = progress.fits[key.benchmark, key.method]
        file = FIT.format(study=study.name, **key._asdict())
        wanted, trials = study.fit_trials(key), list[Mapping[str, Any]]()
        with suppress(DataError):  # damaged: remade
            if Path(f"{file}.parquet").is_file():
                record = read_fit_record(f"{file}.parquet")
                trials = [each for each in record.trials if each["trial"] in wanted]
        if len(trials) < len(wanted):
            rest = MISSING if state == DONE else state
            counter[rest] += len(wanted) - len(trials)
            whole = False
        if not trials:
            continue
        whole = whole and Path(f"{file}.json").stat().st_mtime >= log.written
        failed = [trial["reason"] for trial in trials if trial["status"] != "ok"]
        counter[FAILED] += len(failed)
        counter[DONE] += len(trials) - len(failed)
        of = f"{key.benchmark} {key.task} {key.block}, {key.method} in {key.setting}"
        for reason, number in Counter(failed).items():
            what = f"{of}, {number} of its trials"
            progress.failures.append(Failure(what, reason, log.path))
        if any(trial.get("crashed") for trial in trials):
            progress.to_repeat.extend(_outputs(study, key, file))
    if not whole:
        methods = ", ".join(dict.fromkeys(key.method for key in fits))
        benchmark, _, task, _, block = fits[0]
        _add_job(progress, log, f"{benchmark} {task} {block}, {methods}")


def _add_job(progress: Progress, log: JobLog, what: str) -> None:
    if log.state == FAILED:
        progress.failures.append(Failure(what, log.reason, log.path))
    elif log.state == RUNNING and progress.state_of(log) == MISSING:
        progress.stopped.append(log.path)


def _outputs(study: Study, key: FitKey, file: str) -> Iterator[str]:
    yield f"{file}.json"
    cell = key.setting, key.method, key.task
    showcase = MAIN, study.shown_method(), study.benchmarks[key.benchmark].showcase
    if cell == showcase and key.block == study.showcase_blocks()[0]:
        yield SUBSPACE.format(study=study.name, **key._asdict())


def read_log(path: str) -> JobLog:
    """Return the final state of a job by its log."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        written = Path(path).stat().st_mtime
    except FileNotFoundError:
        return JobLog(path)
    *_, last = [None, *OF_JOB.finditer(text)]
    if last is None or READY.match(last[1]):
        return JobLog(path, RUNNING, "", written)
    if FINISHED.match(last[1]):
        return JobLog(path, DONE, "", written)
    reason_lines = text[last.start(1) :].strip().splitlines()
    reason = reason_lines[-1] if reason_lines[0] == "failed" else " ".join(reason_lines)
    state = RUNNING if reason == KeyboardInterrupt.__name__ else FAILED
    return JobLog(path, state, reason, written)
