"""What a run would do, and why: the same sentences in plan, status and runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, trials_of_block
from cdspp.core.records import OTHER_CODE, record_mismatch
from cdspp.core.wording import counted, duration, listed
from cdspp.stages.formats import ExpectedFits, read_fit_record
from cdspp.study.fit_jobs import cell_cost, fit_jobs
from cdspp.study.model import Study
from cdspp.study.specifications import Specifications
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
    """The fits of a study, one per trial: those that are kept, and causes of others.

    The `copying` jobs, by their first fits, only copy trials from other blocks. Of the
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
    kept, other_blocks = 0, _OtherBlocks(study, known, stale_files)
    copied, to_fit = set[FitKey](), set[FitKey]()
    fits: dict[tuple[str, str], int] = defaultdict(int)  # by reason and method
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for key in chain.from_iterable(map(study.fits, study.benchmarks)):
        file, trials = fit_file(study, key), {*trials_of_block(key.block)}
        reason = stale_files.get(file, "")
        n_left = len(trials) if reason else 0
        if not reason and not last_write(file):
            done, reason = other_blocks.trials(key)
            n_left = len(trials - done)
            copied |= set() if n_left else {key}
        kept += len(trials) - n_left
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
    by_cost = sorted(causes, key=lambda cause: -cause.seconds)
    made = frozenset(map(_cell, to_fit))
    return RunForecast(kept, tuple(by_cost), frozenset(copying), made)


class _OtherBlocks:
    """Finds the trials of a missing file in the files of other blocks."""

    def __init__(
        self,
        study: Study,
        specifications: Specifications,
        stale_files: Mapping[str, str],
    ) -> None:
        self._study, self._specifications = study, specifications
        self._stale_files = stale_files
        self._expected: dict[str, ExpectedFits] = {}
        self._digests: dict[str, str] = {}
        self._splits: dict[str, str] = {}

    def trials(self, key: FitKey) -> tuple[set[int], str]:
        """Return the trials that a job keeps, and why it fits the others."""
        if key.benchmark not in self._expected:
            expected = self._specifications.expected_fits(key.benchmark)
            self._expected[key.benchmark] = expected
        done, wanted = set[int](), {*trials_of_block(key.block)}
        reason, folder = "", Path(fit_file(self._study, key)).parent
        blocks = sorted(folder.glob("[0-9]*-*[0-9].parquet"))
        for path in (b for b in blocks if wanted & {*trials_of_block(b.stem)}):
            with suppress(DataError):  # damaged: its trials are fitted again
                record = read_fit_record(path)
                found = {t["trial"] for t in record.trials if not t["crashed"]} & wanted
                problem = self._mismatch(path) if found else ""
                done |= set() if problem else found
                reason = reason or problem
        return done, reason if reason and not done else MISSING

    def _mismatch(self, path: Path) -> str:
        """Return why the trials of a block are outdated; empty if they are not."""
        expected = self._expected[path.parts[-5]].of(path)
        if not self._stale_files.keys().isdisjoint(expected.inputs.values()):
            return FOLLOWS
        for file in expected.inputs.values():
            # Splits of this block, whose records no other check reads.
            if Path(file).stem == path.stem and Path(file).is_file():
                if file not in self._splits:
                    of_split = self._specifications.of(file)
                    self._splits[file] = record_mismatch(file, of_split, self._digests)
                if self._splits[file]:
                    return self._splits[file]
        return record_mismatch(path, expected, self._digests)


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
    if fits.copying:
        yield (
            f"{counted(len(fits.copying), 'fit job')} will fit nothing, but copy "
            "trials from files of other blocks, such as 1-10 for 1-5. These files "
            "keep trials that the study no longer asks for, in case it does again."
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
