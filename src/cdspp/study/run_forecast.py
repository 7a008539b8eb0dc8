"""The fits of the next run, and why: the same sentences in plan, status and runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cdspp.core.names import FitKey
from cdspp.core.provenance import file_digest
from cdspp.core.records import MISSING, OTHER_CODE, TRIALS, record_mismatch
from cdspp.core.wording import counted, duration, listed
from cdspp.study.files import SCORES
from cdspp.study.fit_jobs import cell_cost, fit_jobs
from cdspp.study.model import Study
from cdspp.study.specifications import Specifications
from cdspp.study.stale import FOLLOWS, fit_file, last_write

NAMED = 3  # methods in a sentence


class Cause(NamedTuple):
    """A reason to fit, the methods that it concerns, their fits and seconds.

    Of another number of trials that needs no fit, it concerns benchmarks.
    """

    reason: str
    methods: tuple[str, ...]
    fits: int
    seconds: float


class RunForecast(NamedTuple):
    """The fits of a study, one per trial: those that are kept, and causes of others.

    The `copying` jobs, by their first fits, only copy trials from other batches. Of the
    other jobs, `cells` are benchmark, setting and method of what they fit.
    """

    kept: int
    causes: tuple[Cause, ...]
    copying: frozenset[FitKey] = frozenset()
    cells: frozenset[tuple[str, str, str]] = frozenset()

    def __str__(self) -> str:
        """Return a line for each cause, and the number of fits that are kept."""
        kept = f"; {counted(self.kept, 'fit')} kept" if self.kept else ""
        if not self.causes:
            return f"All {counted(self.kept, 'fit')} are up to date."
        lines = [
            f"{_names(cause.methods)}: {cause.reason}: {counted(cause.fits, 'fit')}, "
            f"{duration(cause.seconds)}"
            for cause in self.causes
        ]
        return "\n".join([*lines[:-1], f"{lines[-1]}{kept}."])

    def methods(self, fits: Iterable[FitKey]) -> list[str]:
        """Return the methods of which some of these `fits`, of any task, are made."""
        made = (fit.method for fit in fits if _cell(fit) in self.cells)
        return [*dict.fromkeys(made)]


def _cell(fit: FitKey) -> tuple[str, str, str]:
    return fit.benchmark, fit.setting, fit.method


def _names(methods: Sequence[str]) -> str:
    few = len(methods) <= NAMED
    return listed(methods) if few else counted(len(methods), "method")


def run_forecast(
    study: Study,
    stale_files: Mapping[str, str],
    specifications: Specifications | None = None,
) -> RunForecast:
    """Return the largest number of fits that a run would make, by cause.

    A fit that follows from other files is kept after all if these come out equal.
    """
    known = specifications or Specifications(study)
    kept, existing = 0, _KeptTrials(study, known, stale_files)
    copied, to_fit = set[FitKey](), set[FitKey]()
    fits: dict[tuple[str, str], int] = defaultdict(int)  # by reason and method
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for key in chain.from_iterable(map(study.fits, study.benchmarks)):
        file, n_trials = fit_file(study, key), len(study.fit_trials(key))
        reason = stale_files.get(file, "" if last_write(file) else MISSING)
        n_left = n_trials if reason else 0
        if reason == MISSING:
            n_left -= len(existing.of(key))
            copied |= set() if n_left else {key}
        kept += n_trials - n_left
        if n_left:
            to_fit.add(key)
            fits[reason, key.method] += n_left
            seconds[reason, key.method] += n_left * cell_cost(study, key).seconds
    causes = []
    for reason in dict.fromkeys(reason for reason, _ in fits):
        cells = [cell for cell in fits if cell[0] == reason]
        methods = tuple(method for _, method in cells)
        total = sum(seconds[cell] for cell in cells)
        n_fits = sum(fits[cell] for cell in cells)
        causes.append(Cause(reason, methods, n_fits, total))
    copying = (
        job[0]
        for job in (fit_jobs(study) if copied else ())
        if to_fit.isdisjoint(job) and not copied.isdisjoint(job)
    )
    causes += _rescored(study, stale_files, {key.benchmark for key in to_fit})
    by_cost = sorted(causes, key=lambda cause: -cause.seconds)
    made = frozenset(map(_cell, to_fit))
    return RunForecast(kept, tuple(by_cost), frozenset(copying), made)


def _rescored(
    study: Study, stale_files: Mapping[str, str], fitted: Collection[str]
) -> list[Cause]:
    """Return benchmarks without new fits whose number of trials changed, as causes."""
    benchmarks: dict[str, list[str]] = defaultdict(list)
    for name in (name for name in study.benchmarks if name not in fitted):
        scores = SCORES.format(study=study.name, benchmark=name)
        if (reason := stale_files.get(scores, "")).startswith(f"{TRIALS} "):
            benchmarks[reason].append(name)
    return [Cause(why, tuple(found), 0, 0.0) for why, found in benchmarks.items()]


class _KeptTrials:
    """Finds the trials that a job keeps, in files with batches of any size."""

    def __init__(
        self, study: Study, specifications: Specifications, stale_files: Collection[str]
    ) -> None:
        self._study, self._specifications = study, specifications
        self._stale_files = frozenset(stale_files)
        self._digests: dict[str, str] = dict.fromkeys(stale_files, "")

    def of(self, key: FitKey) -> set[int]:
        """Return the trials of a missing or incomplete file that a job keeps."""
        file = fit_file(self._study, key)
        if not any(Path(file).parent.glob("*.json")):
            return set()
        # Imported here: it imports scikit-learn, and few forecasts need it.
        from cdspp.stages.fit import (
            Fit,
            files_of_block,
            on_device,
            sound_trials,
            usable_blocks,
        )

        expected = self._specifications.expected_fits(key.benchmark)
        made_of = expected.of(file)
        fit, kept = Fit.specified(file, made_of), set[int]()
        # A GPU need not be in the machine that plans.
        fit = fit if self._study.gpus else on_device(fit, 0)
        inputs = {name: self._digest(path) for name, path in made_of.inputs.items()}
        for path, record in usable_blocks(fit, inputs):
            splits = files_of_block(expected.of(path).inputs)
            if not any(map(self._is_outdated, splits)):
                kept |= {trial["trial"] for trial in sound_trials(record)}
        return kept.intersection(made_of.trials)

    def _digest(self, file: str) -> str:
        if file not in self._digests:
            self._digests[file] = file_digest(file) if Path(file).is_file() else ""
        return self._digests[file]

    def _is_outdated(self, split: str) -> bool:
        """Return whether a split exists and a run would draw another."""
        if not Path(split).is_file():
            return False
        expected = self._specifications.of(split)
        follows = not self._stale_files.isdisjoint(expected.inputs.values())
        return follows or bool(record_mismatch(split, expected, self._digests))


def reasons_of_run(
    stale_files: Mapping[str, str], unrecorded: Sequence[str], fits: RunForecast
) -> Iterator[str]:
    """Yield sentences on the files that a run would remake, and why."""
    if unrecorded:
        files = f"{counted(len(unrecorded), 'existing file')}, such as {unrecorded[0]}"
        what = "A run remakes them, and keeps fits with equal inputs"
        yield f"Snakemake has no record of {files}. {what}."
    files_of_reasons: dict[str, list[str]] = defaultdict(list)
    told = {FOLLOWS, *(cause.reason for cause in fits.causes if not cause.fits)}
    for file, reason in stale_files.items():
        if reason not in told and "/fits/" not in file:
            files_of_reasons[reason].append(file)
    for reason, (first, *others) in files_of_reasons.items():
        more = f" and {counted(len(others), 'more file')}" if others else ""
        yield f"{first}{more}: {reason}."
    yield str(fits)
    if fits.copying:
        yield (
            f"{counted(len(fits.copying), 'fit job')} will fit nothing, but copy "
            "trials from files of other batches, such as 1-10 for 1-5."
        )


def remake_question(fits: RunForecast) -> str:
    """Return the cost of fits for which only code changed; empty if there are none."""
    found = [cause for cause in fits.causes if cause.reason == OTHER_CODE]
    if not found:
        return ""
    return (
        f"{counted(found[0].fits, 'fit')} would be made again only because code "
        f"changed, in about {duration(found[0].seconds)}. Nothing was run. To make "
        "them again, run cdspp run --remake; to keep them if a sample that is fitted "
        "again is equal in every bit, run cdspp run --accept; to keep them in any "
        "case, use the version of the code that made them."
    )
