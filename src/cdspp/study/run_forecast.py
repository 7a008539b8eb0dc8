"""What a run would do, and why: the same sentences in plan, status and runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cdspp.core.names import trials_of_block
from cdspp.core.records import OTHER_CODE
from cdspp.core.wording import counted, duration, listed
from cdspp.study.fit_jobs import cell_cost
from cdspp.study.model import Study
from cdspp.study.stale import FOLLOWS, fit_file, last_write

MISSING = "not computed yet"
NAMED = 3  # methods in a sentence


class Cause(NamedTuple):
    """A reason to fit, the methods that it concerns, their fits and seconds."""

    reason: str
    methods: tuple[str, ...]
    fits: int
    seconds: float


class RunForecast(NamedTuple):
    """The fits of a study, one per trial: those that are kept, and causes of others."""

    kept: int
    causes: tuple[Cause, ...]

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


def _names(methods: Sequence[str]) -> str:
    few = len(methods) <= NAMED
    return listed(methods) if few else counted(len(methods), "method")


def run_forecast(study: Study, stale_files: Mapping[str, str]) -> RunForecast:
    """Return the largest number of fits that a run would make, by cause.

    A fit that follows from other files is kept after all if these come out equal.
    """
    kept = 0
    fits: dict[tuple[str, str], int] = defaultdict(int)  # by reason and method
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for key in chain.from_iterable(map(study.fits, study.benchmarks)):
        file, trials = fit_file(study, key), {*trials_of_block(key.block)}
        reason = stale_files.get(file, "")
        n_left = len(trials) if reason else 0
        if not reason and not last_write(file):
            reason, blocks = MISSING, Path(file).parent.glob("[0-9]*-*[0-9].parquet")
            # Trials in blocks of another size are kept.
            others = (trials_of_block(b.stem) for b in blocks if last_write(str(b)))
            n_left = len(trials.difference(*others))
        kept += len(trials) - n_left
        if n_left:
            fits[reason, key.method] += n_left
            seconds[reason, key.method] += n_left * cell_cost(study, key).seconds
    causes = []
    for reason in dict.fromkeys(reason for reason, _ in fits):
        cells = [cell for cell in fits if cell[0] == reason]
        methods = tuple(method for _, method in cells)
        total = sum(seconds[cell] for cell in cells)
        n_fits = sum(fits[cell] for cell in cells)
        causes.append(Cause(reason, methods, n_fits, total))
    return RunForecast(kept, tuple(sorted(causes, key=lambda cause: -cause.seconds)))


def reasons_of_run(
    stale_files: Mapping[str, str], unrecorded: Sequence[str], fits: RunForecast
) -> Iterator[str]:
    """Yield sentences on the files that a run would remake, and why."""
    if unrecorded:
        files = f"{counted(len(unrecorded), 'existing file')}, such as {unrecorded[0]}"
        what = "A run remakes them, and keeps fits with equal inputs"
        yield f"Snakemake has no record of {files}. {what}."
    files_of_reasons: dict[str, list[str]] = defaultdict(list)
    for file, reason in stale_files.items():
        if reason != FOLLOWS and "/fits/" not in file:
            files_of_reasons[reason].append(file)
    for reason, (first, *others) in files_of_reasons.items():
        more = f" and {counted(len(others), 'more file')}" if others else ""
        yield f"{first}{more}: {reason}."
    yield str(fits)


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
