"""Whether what lies in the folder of a study is what was computed."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdspp.analysis.digests import REPORT, changed_files, read_digests
from cdspp.analysis.fit_inputs import FitInputs
from cdspp.analysis.fit_records import mixed_versions
from cdspp.analysis.summary import read_scores, score_files
from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, fit_key, trials_of_block
from cdspp.core.wording import counted
from cdspp.stages.artifacts import SCORE_COLUMNS
from cdspp.stages.fit_files import Expected, ExpectedFits, read_fit
from cdspp.stages.score import score_fit

__all__ = ["Verified", "verify"]

Trial = tuple[str, str, str, int]  # setting, task, method, trial
Rows = list[tuple[Any, ...]]

# What a report names, as it lies in the folder of the study.
MADE = {
    "tables": "tables/[!.]*",
    "figures": "figures/[!.]*",
    "timings": "timings/[!.]*",
    "predictions": "predictions/*/*/[!.]*",
}


@dataclass(frozen=True)
class Verified:
    """What was found.

    Attributes
    ----------
    faults : tuple of str
        What differs, a sentence or two each.
    told : str
        One line: what was checked, and with which result.
    """

    faults: tuple[str, ...]
    told: str


@dataclass
class _Fits:
    """What the fits of a benchmark give.

    Attributes
    ----------
    rows : mapping
        By fit, the rows of scores that it gives, by trial.
    records : mapping
        By fit, what its record says.
    doubtful : set
        The trials of fits that are refused.
    faults : list of str
        Why they are.
    """

    rows: dict[FitKey, dict[Trial, Rows]] = field(default_factory=dict)
    records: dict[FitKey, Mapping[str, Any]] = field(default_factory=dict)
    doubtful: set[Trial] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def verify(
    folder: str | os.PathLike[str], expected: Mapping[str, Expected] | None = None
) -> Verified:
    """Compare the files of a study with each other.

    Fits are checked against their records, their paths, and the features and splits
    beside them; scores against fits and labels; and all that the report rests on and
    shows, tables and figures among it, against the digests that it states. Fits of
    settings that the study no longer has are checked too, and counted apart.

    Parameters
    ----------
    folder : path
        ``results/<study>``; features and labels are expected beside it, in
        ``results/features`` and ``results/labels``.
    expected : mapping of str to Expected, optional
        By benchmark, what fits have to be made of; paths refer to the working folder.

    Raises
    ------
    DataError
        The folder has no scores.
    """
    root = _named(Path(folder))
    files = score_files(root)
    stated = read_digests(root / REPORT)
    changed = dict(changed_files(root, stated))
    faults: list[str] = []
    n_fits = n_trials = unused = 0
    jobs: list[Mapping[str, Any]] = []
    for file in files:
        fits = _read_fits(root, file.stem, changed, stated)
        faults += _unexpected(fits, (expected or {}).get(file.stem))
        faults += fits.faults
        n_fits += len(fits.rows)
        n_trials += sum(map(len, fits.rows.values()))
        try:
            scores = read_scores(file)
        except DataError as error:
            faults.append(str(error))
            continue
        found = _by_trial(scores.itertuples(index=False, name=None))
        used = _used(fits, found)
        jobs += [fits.records[key] for key in used]
        unused += len(fits.rows) - len(used)
        faults += _score_faults(file, fits, used, found)
    # What everything else rests on comes first.
    first = (f"{path}: {told}." for path, told in changed.items())
    mixed = filter(None, [mixed_versions(jobs)])
    faults = list(dict.fromkeys([*first, *faults, *mixed]))
    checked = [
        f"{counted(n_fits, 'fit')} ({counted(n_trials, 'trial')})",
        f"{counted(len(files), 'file')} of scores",
        f"{counted(len(stated), 'digest')} in the report",
    ]
    apart = f" {counted(unused, 'fit')} of these in no score." * bool(unused)
    result = counted(len(faults), "difference") if faults else "all as computed"
    told = f"Checked {', '.join(checked)}: {result}.{apart}"
    return Verified(tuple(faults), told + _unchecked(root, stated))


def _named(folder: Path) -> Path:
    """Return a path that ends in the folder's name, as that of ``.`` does not."""
    return folder.resolve() if folder.name in ("", "..") else folder


def _unchecked(root: Path, stated: Iterable[str]) -> str:
    """Say which files nothing was compared with: other ones, that no report names."""
    checked = {root.parent / name for name in stated}
    left = {
        kind: sum(path not in checked for path in root.glob(pattern))
        for kind, pattern in MADE.items()
    }
    told = ", ".join(f"{counted(n, 'file')} of {kind}" for kind, n in left.items() if n)
    return f" Not checked, since the report does not name them: {told}." * bool(told)


def _read_fits(
    root: Path, benchmark: str, changed: Container[Path], stated: Mapping[str, str]
) -> _Fits:
    """Read the fits of a benchmark and score those that are as their records say.

    Features, splits and labels that changed since the report are named already. A fit
    made of what they were is sound, and labels that changed score none.
    """
    found = _Fits()
    inputs = FitInputs(root, benchmark, set(stated.values()))
    place = root / "fits" / benchmark
    # A record without predictions is a fault of its own.
    files = {path.with_suffix(".parquet") for path in place.glob("*/*/*/[!.]*.*")}
    for file in sorted(files):
        key = fit_key(file)
        try:
            fit = read_fit(file)
            inputs.check(fit)
            if inputs.label_file(fit) in changed:
                found.doubtful |= set(_trials(key))
                continue
            found.rows[key] = _by_trial(score_fit(fit, inputs.labels(fit)))
            found.records[key] = fit.record
        except DataError as error:
            found.faults.append(str(error))
            found.doubtful |= set(_trials(key))
    return found


def _unexpected(fits: _Fits, expected: Expected | None) -> Iterator[str]:
    """Yield a sentence a fit that a configuration has otherwise."""
    if expected is None:
        return
    known = ExpectedFits(expected)
    for key, record in fits.records.items():
        if known.has(key) and (told := known.wrong(key, record)):
            yield f"{'/'.join(key)}: {told}. Run the study again."


def _trials(key: FitKey) -> Iterator[Trial]:
    try:
        numbers = trials_of_block(key.block)
    except ValueError:  # named as no block is
        return
    for number in numbers:
        yield key.setting, key.task, key.method, number


def _by_trial(rows: Iterable[tuple[Any, ...]]) -> dict[Trial, Rows]:
    """Return rows of scores by trial; numbers that are missing are None."""
    found: dict[Trial, Rows] = defaultdict(list)
    for row in rows:
        values = (None if value != value else value for value in row)
        found[row[:4]].append(tuple(values))
    return dict(found)


def _used(fits: _Fits, found: dict[Trial, Rows]) -> set[FitKey]:
    """Return the fits that the scores are of.

    Blocks of another size, or of trials that are asked for no longer, may lie beside
    those of the study: a fit of which the scores have some trials only is used where
    no other one has these.
    """
    whole = {
        key for key, rows in fits.rows.items() if rows and rows.keys() <= set(found)
    }
    covered = {trial for key in whole for trial in fits.rows[key]}
    for key, rows in fits.rows.items():
        if (rows.keys() & set(found)) - covered:
            whole.add(key)
    return whole


def _score_faults(
    file: Path, fits: _Fits, used: set[FitKey], found: dict[Trial, Rows]
) -> Iterator[str]:
    """Yield a sentence a setting, task and method with scores that no fit gives."""
    expected: dict[Trial, list[Rows]] = defaultdict(list)
    for key in used:
        for trial, rows in fits.rows[key].items():
            expected[trial].append(rows)
    wrong: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for trial in sorted(expected.keys() | found.keys(), key=repr):
        here = found.get(trial, [])
        if trial in fits.doubtful or here in expected[trial]:
            continue
        several = expected[trial] or [[]]
        wrong[trial[:3]].append(f"trial {trial[3]}: {_difference(here, several[0])}")
    for cell, texts in wrong.items():
        others = f" (and {counted(len(texts) - 1, 'trial')} more)" * (len(texts) > 1)
        yield (
            f"{file}: {'/'.join(cell)}, {texts[0]}{others}. Delete it, and the fit "
            "with its record, and run the study again."
        )


def _difference(found: Sequence[Any], expected: Sequence[Any]) -> str:
    """Say how rows of a trial differ from those that its fit gives."""
    if not expected:
        return "it has scores, but no fit"
    if len(found) != len(expected):
        return f"expected {counted(len(expected), 'row')}, but there are {len(found)}"
    pairs = (
        (name, row[4], value, other)
        for row, fitted in zip(found, expected, strict=True)
        for name, value, other in zip(SCORE_COLUMNS, row, fitted, strict=True)
        if value != other
    )
    name, iteration, value, other = next(pairs)
    where = f"iteration {iteration}: {name}"
    return f"{where} {_shown(value)}, but fit and labels give {_shown(other)}"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
