"""The check of a finished study: its files against records, scores and digests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from cdspp.analysis.fit_records import mixed_versions
from cdspp.analysis.summary import read_scores, score_files
from cdspp.core import names
from cdspp.core.errors import DataError
from cdspp.core.files import MADE_BY_OLDER, OLDER, Record
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.core.wording import counted
from cdspp.stages import artifacts
from cdspp.stages.score import score_fit
from cdspp.study.stale import FOLLOWS, changed_files, read_stated

Trial = tuple[str, str, str, int]  # setting, task, method, trial
Rows = list[tuple[Any, ...]]

# Reasons to make a file again that are no faults of the file.
NO_FAULT = (FOLLOWS, MADE_BY_OLDER)
# The inputs of every fit.
FIT_INPUTS = ("source_features", "target_features", "source_split", "target_split")
# Files that a report names, as patterns in the folder of the study.
REPORT_FILES = {name: f"{name}/[!.]*" for name in ("tables", "figures", "timings")}
REPORT_FILES["predictions"] = "predictions/*/*/[!.]*"
NO_STUDY = (
    " Not compared with a study file, or with tables and code as they are now: cdspp "
    "verify STUDY_FILE does that, in the folder of the run."
)


def verify(
    folder: names.PathLike, stale: Mapping[str, str] | None = None
) -> tuple[list[str], str]:
    """Compare the files of ``results/<study>``; return faults, and what was checked.

    Fits are checked against records, paths, features and splits; scores against fits
    and labels; all files of the report against the digests beside it. `stale` has the
    files that are not what a study asks for now (`cdspp.study.stale`).
    """
    root = Path(folder)  # ``.``, for instance, is not the folder's name
    root = root.resolve() if root.name in ("", "..") else root
    files = score_files(root)
    changed = dict(changed_files(root))
    stated: Mapping[str, str] = {}
    with suppress(DataError):  # none, or damaged, which is among the changes
        stated = read_stated(root).files
    faults, records = list[str](), list[Record]()
    n_fits = n_trials = 0
    for file in files:
        fits = _CheckedFits(root, file.stem, changed, stated.values())
        n_fits += len(fits.rows)
        n_trials += sum(map(len, fits.rows.values()))
        scored, wrong = _check_scores(file, fits)
        records += scored
        faults += wrong
    # What everything else rests on comes first.
    since = {k: v for k, v in (stale or {}).items() if v not in NO_FAULT}
    first = [f"{path}: {text}. Run the study again." for path, text in since.items()]
    first += (f"{path}: {text}." for path, text in changed.items())
    mixed = mixed_versions(record.extra for record in records)
    faults = [*filter(None, dict.fromkeys([*first, *faults, mixed]))]
    checked = [
        f"{counted(n_fits, 'fit')} ({counted(n_trials, 'trial')})",
        f"{counted(len(files), 'file')} of scores",
        f"{counted(len(stated), 'digest')} in the report",
    ]
    older = any(record.release for record in records)
    sound = f"made by {OLDER}, intact" if older else "all as computed"
    result = counted(len(faults), "difference") if faults else sound
    text = f"Checked {', '.join(checked)}: {result}."
    if unused := n_fits - len(records):
        text += f" {counted(unused, 'fit')} of these in no score."
    text += _unchecked(root, stated) + (NO_STUDY if stale is None else "")
    return faults, text


def _check_scores(file: Path, fits: _CheckedFits) -> tuple[list[Record], list[str]]:
    """Return the records of the fits that a file of scores is of, and all faults."""
    try:
        scores = read_scores(file)
    except DataError as error:
        return [], [*fits.faults, str(error)]
    found = _by_trial(scores.itertuples(index=False, name=None))
    by_fit = fits.rows.items()
    whole = {key for key, rows in by_fit if rows and rows.keys() <= found.keys()}
    covered = {trial for key in whole for trial in fits.rows[key]}
    # Blocks of another size are scored in part.
    parts = {key for key, rows in by_fit if (rows.keys() & found.keys()) - covered}
    used = sorted(whole | parts)
    faults = [*fits.faults, *_score_faults(file, fits, used, found)]
    return [fits.records[key] for key in used], faults


def _unchecked(root: Path, stated: Iterable[str]) -> str:
    """Count the files of tables, figures and the like that the report does not name."""
    checked = {root.parent / name for name in stated}
    left = {
        kind: sum(path not in checked for path in root.glob(pattern))
        for kind, pattern in REPORT_FILES.items()
    }
    text = ", ".join(f"{counted(n, 'file')} of {kind}" for kind, n in left.items() if n)
    return f" Not checked, since the report does not name them: {text}." if text else ""


class _CheckedFits:
    """Scores by trial and records of sound fits; `doubtful` are trials of other ones.

    A fit made of files as they were at the report, whose digests are `stated`, is
    sound, and labels that changed since score none.
    """

    def __init__(
        self, root: Path, name: str, changed: Container[Path], stated: Iterable[str]
    ) -> None:
        self.rows: dict[names.FitKey, dict[Trial, Rows]] = {}
        self.records: dict[names.FitKey, Record] = {}
        self.doubtful: set[Trial] = set()
        self.faults: list[str] = []
        self._stated, self._results = set(stated), root.parent
        self._splits, shares = (
            _by_digest((root / kind / name).rglob("[!.]*.parquet"))
            for kind in ("splits", "test-shares")
        )
        names = ("source_split", "target_split", "pairs")
        self._places = dict.fromkeys(names, self._splits) | {"prior": shares}
        find = (root.parent / "features").glob
        self._features = cache(lambda name: _by_digest(find(f"{name}/[!.]*.npz")))
        self._labels = cache(artifacts.labels_by_id)
        self._tested = cache(self._test_ids)
        fits = (root / "fits" / name).glob("*/*/*/[!.]*.*")
        # A record without predictions is a fault of its own.
        for file in sorted({path.with_suffix(".parquet") for path in fits}):
            self._read(file, changed)

    def _read(self, file: Path, changed: Container[Path]) -> None:
        key = names.fit_key(file)
        try:
            fit = artifacts.read_fit(file)
            self._check(fit)
            target = f"{names.task_domains(key.task).target}.parquet"
            labels = self._results.joinpath(
                "labels", fit.record.extra["dataset"], target
            )
            if labels not in changed:
                self.rows[key] = _by_trial(score_fit(fit, self._labels(labels)))
                self.records[key] = fit.record
        except DataError as error:
            self.faults.append(str(error))
        if key not in self.rows:
            with suppress(ValueError):  # no block has such a name
                numbers, cell = names.trials_of_block(key.block), key[1:4]
                self.doubtful |= {(*cell, number) for number in numbers}

    def _check(self, fit: artifacts.FitFile) -> None:
        """Raise DataError where features, splits or test samples are others by now."""
        inputs = {**dict.fromkeys(FIT_INPUTS, "none"), **fit.record.inputs}
        for name, digest in inputs.items():
            if digest in self._stated or name == "predictions":
                continue  # the report states the digests of files made elsewhere
            place = self._places.get(artifacts.unnumbered(name))
            if digest not in (place or self._features(fit.record.extra["dataset"])):
                raise DataError(
                    f"{fit.path}: its {name} (sha256 {digest[:12]}) is not among the "
                    "files that lie there: they were changed, or it is a fit of other "
                    "data. Delete it and its record and run the study again."
                )
        named = (
            name for name in inputs if artifacts.unnumbered(name) == "source_split"
        )
        splits = inputs["target_split"], *(inputs[name] for name in named)
        if not {*splits} <= self._splits.keys():
            return
        tested = self._tested(splits, fit.record.extra["overlap"])
        for outcome in fit.record.trials:
            if tested.get(outcome["trial"]) != outcome["test_ids"]:
                raise DataError(
                    f"{fit.path}: trial {outcome['trial']}: its test samples are not "
                    "those of the split. Delete it and its record and run the study "
                    "again."
                )

    def _test_ids(self, splits: tuple[str, ...], overlap: str) -> dict[int, str]:
        """Return digests of test samples by trial; the first split is the target's."""
        paths = map(self._splits.__getitem__, splits)
        given, *drawn = (
            artifacts.read_frame(path, artifacts.SPLIT_COLUMNS) for path in paths
        )
        found = {}
        for trial, rows in given.groupby("trial"):
            tested = rows["id"][rows["role"] == names.UNLABELLED_ROLE]
            for split in drawn if overlap == "exclude" else ():
                tested = tested[~tested.isin(split["id"][split["trial"] == trial])]
            found[trial] = ids_digest(tested)
        return found


def _by_digest(files: Iterable[Path]) -> dict[str, Path]:
    return {file_digest(path): path for path in sorted(files)}


def _by_trial(rows: Iterable[tuple[Any, ...]]) -> dict[Trial, Rows]:
    """Return rows of scores by trial; numbers that are missing are None."""
    found: dict[Trial, Rows] = defaultdict(list)
    for row in rows:
        found[row[:4]].append(tuple(None if x != x else x for x in row))
    return dict(found)


def _score_faults(
    file: Path,
    fits: _CheckedFits,
    used: Iterable[names.FitKey],
    found: dict[Trial, Rows],
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
        first = expected[trial][0] if expected[trial] else []
        wrong[trial[:3]].append(f"trial {trial[3]}: {_difference(here, first)}")
    for cell, texts in wrong.items():
        others = f" (and {counted(len(texts) - 1, 'trial')} more)" if texts[1:] else ""
        yield (
            f"{file}: {'/'.join(cell)}, {texts[0]}{others}. Delete it, and the fit "
            "with its record, and run the study again."
        )


def _difference(found: Sequence[Any], expected: Sequence[Any]) -> str:
    if not expected:
        return "it has scores, but no fit"
    if len(found) != len(expected):
        return f"expected {counted(len(expected), 'row')}, but there are {len(found)}"
    pairs = (
        (name, row[4], value, other)
        for row, fitted in zip(found, expected, strict=True)
        for name, value, other in zip(artifacts.SCORE_COLUMNS, row, fitted, strict=True)
        if value != other
    )
    name, iteration, *values = next(pairs)
    here, given = ("none" if value is None else value for value in values)
    return f"iteration {iteration}: {name} {here}, but fit and labels give {given}"
