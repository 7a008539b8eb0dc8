"""The check of a finished study: its files against records, scores and digests."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from cdspp.analysis.fit_records import (
    accepted_text,
    job_data,
    mixed_fits_text,
    sample_faults,
)
from cdspp.analysis.summary import read_scores, score_files
from cdspp.core import names
from cdspp.core.errors import DataError
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.core.records import TRIALS, Record, read_record
from cdspp.core.wording import counted
from cdspp.stages import formats
from cdspp.stages.score import score_fit
from cdspp.study.stale import FOLLOWS, changed_files, read_digests

Trial = tuple[str, str, str, int]  # setting, task, method, trial
Rows = list[tuple[Any, ...]]

FIT_INPUTS = ("source_features", "target_features", "source_split", "target_split")
# Files that a report names, as patterns in the folder of the study.
REPORT_FILES = {name: f"{name}/[!.]*" for name in ("tables", "figures", "timings")}
REPORT_FILES["predictions"] = "predictions/*/*/[!.]*"
REMEDY = "Delete it and its record, and run the study again."
NOT_COMPARED = (
    " Not compared with the present study file, tables and code: run cdspp verify "
    "STUDY_FILE in the folder of the run to compare them."
)


def verify(
    folder: names.PathLike, stale: Mapping[str, str] | None = None
) -> tuple[list[str], str, dict[str, int]]:
    """Compare the files of ``results/<study>``; return faults, the result, and counts.

    Fits are checked against records, paths, features and splits; scores against fits
    and labels; all files of the report against the digests next to it. `stale` has the
    outdated files of a study (`cdspp.study.stale`).
    """
    root = Path(folder)  # ``.``, for instance, has no name
    root = root.resolve() if root.name in ("", "..") else root
    files = score_files(root)
    changed = dict(changed_files(root))
    stated: Mapping[str, str] = {}
    with suppress(DataError):  # missing or damaged: reported as a change
        stated = read_digests(root).files
    faults, records = list[str](), list[Record]()
    n_fits = n_trials = 0
    for file in files:
        fits = _CheckedFits(root, file.stem, changed, stated.values())
        n_fits += len(fits.sound)
        n_trials += sum(len(rows) for _, rows in fits.sound)
        records += fits.check_scores(file)
        faults += fits.faults
    since = {k: v for k, v in (stale or {}).items() if v != FOLLOWS}
    first = [f"{path}: {text}. Run the study again." for path, text in since.items()]
    first += (f"{path}: {text}." for path, text in changed.items())
    jobs = [*map(job_data, records)]
    faults += [*sample_faults(jobs, root), mixed_fits_text(jobs)]
    faults = [*filter(None, dict.fromkeys([*first, *faults]))]
    counts = {"fits": n_fits, "trials": n_trials, "score_files": len(files)}
    counts |= {"digests": len(stated), "unscored_fits": n_fits - len(records)}
    result = counted(len(faults), "difference") if faults else "all as computed"
    text = _counts_text(counts, result)
    accepted = accepted_text(jobs)
    text += f" {accepted}" if accepted else ""
    text += _unchecked(root, stated) + (NOT_COMPARED if stale is None else "")
    return faults, text, counts


def _counts_text(counts: Mapping[str, int], result: str) -> str:
    fits = f"{counted(counts['fits'], 'fit')} ({counted(counts['trials'], 'trial')})"
    scores = f"{counted(counts['score_files'], 'file')} of scores"
    digests = f"{counted(counts['digests'], 'digest')} in the report"
    text = f"Checked {fits}, {scores}, {digests}: {result}."
    if unused := counts["unscored_fits"]:
        text += f" {counted(unused, 'fit')} of these without a score."
    return text


def _unchecked(root: Path, stated: Iterable[str]) -> str:
    checked = {root.parent / name for name in stated}
    rest = {
        kind: sum(path not in checked for path in root.glob(pattern))
        for kind, pattern in REPORT_FILES.items()
    }
    text = ", ".join(f"{counted(n, 'file')} of {kind}" for kind, n in rest.items() if n)
    return f" Not checked, because not listed in the report: {text}." if text else ""


class _CheckedFits:
    """Records and scores by trial of `sound` fits; `doubtful` are trials of others.

    A fit is sound if its inputs have the digests `stated` in the report; labels that
    changed since then give no scores.
    """

    def __init__(
        self, root: Path, name: str, changed: Container[Path], stated: Iterable[str]
    ) -> None:
        self.sound: list[tuple[Record, dict[Trial, Rows]]] = []
        self.doubtful: set[Trial] = set()
        self.faults: list[str] = []
        self._stated, self._results = set(stated), root.parent
        self._splits = _by_digest((root / "splits" / name).rglob("[!.]*.parquet"))
        shares = _by_digest((root / "test-shares" / name).rglob("[!.]*.parquet"))
        split_kinds = ("source_split", "target_split", "pairs")
        self._places = dict.fromkeys(split_kinds, self._splits) | {"prior": shares}
        find = (root.parent / "features").glob
        self._features = cache(lambda name: _by_digest(find(f"{name}/[!.]*.npz")))
        self._labels = cache(formats.labels_by_id)
        self._tested = cache(self._test_ids)
        fits = (root / "fits" / name).glob("*/*/*/[!.]*.*")
        # A record without predictions is a separate fault.
        for file in sorted({path.with_suffix(".parquet") for path in fits}):
            self._read(file, changed)

    def _read(self, file: Path, changed: Container[Path]) -> None:
        key = names.fit_key(file)
        try:
            fit = formats.read_fit(file)
            self._check(fit)
            labels = self._results / "labels" / fit.record.extra["dataset"]
            labels /= f"{names.task_domains(key.task).target}.parquet"
            if labels not in changed:
                rows = _by_trial(score_fit(fit, self._labels(labels)))
                self.sound.append((fit.record, rows))
                return
        except DataError as error:
            self.faults.append(str(error))
        with suppress(ValueError):  # not the name of a batch
            trials = names.trials_of_block(key.block)
            self.doubtful |= {(*key[1:4], trial) for trial in trials}

    def _check(self, fit: formats.FitFile) -> None:
        inputs = {**dict.fromkeys(FIT_INPUTS, "none"), **fit.record.inputs}
        for name, digest in inputs.items():
            if digest in self._stated or name == "predictions":
                continue  # the report states digests of external files
            place = self._places.get(formats.input_kind(name))
            if digest not in (place or self._features(fit.record.extra["dataset"])):
                input_text = f"its {name} (sha256 {digest[:12]})"
                why = "they were changed, or the fit used other data"
                fault = f"is not among the present files: {why}"
                raise DataError(f"{fit.path}: {input_text} {fault}. {REMEDY}")
        sources = (n for n in inputs if formats.input_kind(n) == "source_split")
        splits = inputs["target_split"], *(inputs[name] for name in sources)
        if not {*splits} <= self._splits.keys():
            return
        tested = self._tested(splits, fit.record.options["overlap"])
        for result in fit.record.trials:
            if tested.get(result["trial"]) != result["test_ids"]:
                where = f"{fit.path}: trial {result['trial']}"
                fault = "its test samples are not those of the split"
                raise DataError(f"{where}: {fault}. {REMEDY}")

    def _test_ids(self, splits: tuple[str, ...], overlap: str) -> dict[int, str]:
        """Return digests of test samples by trial; the first split is the target's."""
        paths = map(self._splits.__getitem__, splits)
        target, *sources = (formats.read_frame(p, formats.SPLIT_COLUMNS) for p in paths)
        digests = {}
        for trial, rows in target.groupby("trial"):
            tested = rows["id"][rows["role"] == names.UNLABELLED_ROLE]
            for split in sources if overlap == "exclude" else ():
                tested = tested[~tested.isin(split["id"][split["trial"] == trial])]
            digests[trial] = ids_digest(tested)
        return digests

    def check_scores(self, file: Path) -> list[Record]:
        """Return the records of the fits behind scores; add faults of the scores."""
        try:
            scores = read_scores(file)
        except DataError as error:
            self.faults.append(str(error))
            return []
        by_trial = _by_trial(scores.itertuples(index=False, name=None))
        sound = [*_asked_trials(self.sound, _trials_of_scores(file))]
        complete = [rows for _, rows in sound if rows.keys() <= by_trial.keys()]
        covered = set[Trial]().union(*complete)
        records = []
        expected: dict[Trial, list[Rows]] = defaultdict(list)
        for record, rows in sound:
            scored = rows.keys() & by_trial.keys()
            # Of a batch of another size, only some trials are scored.
            if scored and (len(scored) == len(rows) or scored - covered):
                records.append(record)
                for trial, of_trial in rows.items():
                    expected[trial].append(of_trial)
        wrong: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for trial in sorted(expected.keys() | by_trial.keys(), key=repr):
            scored_rows = by_trial.get(trial, [])
            if trial not in self.doubtful and scored_rows not in expected[trial]:
                text = _difference(scored_rows, next(iter(expected[trial]), []))
                wrong[trial[:3]].append(f"trial {trial[3]}: {text}")
        for cell, (first, *others) in wrong.items():
            more = f" (and {counted(len(others), 'trial')} more)" if others else ""
            remedy = "Delete it, and the fit with its record, and run the study again."
            self.faults.append(f"{file}: {'/'.join(cell)}, {first}{more}. {remedy}")
        return records


def _trials_of_scores(file: Path) -> dict[tuple[str, ...], int]:
    """Return the number of trials by setting and method that scores have, if known."""
    with suppress(DataError, KeyError, TypeError):  # or of an earlier version
        fits = read_record(file).options["fits"]
        return {tuple(name.split("/")): each[TRIALS] for name, each in fits.items()}
    return {}


def _asked_trials(
    fits: Iterable[tuple[Record, dict[Trial, Rows]]],
    n_trials: Mapping[tuple[str, ...], int],
) -> Iterator[tuple[Record, dict[Trial, Rows]]]:
    """Yield fits without the trials that the study did not ask for."""
    for record, rows in fits:
        key = names.fit_key(record.file)
        if (n := n_trials.get((key.setting, key.method))) is None:
            yield record, rows
        else:
            yield record.first_trials(n), {k: v for k, v in rows.items() if k[3] <= n}


def _by_digest(files: Iterable[Path]) -> dict[str, Path]:
    return {file_digest(path): path for path in sorted(files)}


def _by_trial(rows: Iterable[tuple[Any, ...]]) -> dict[Trial, Rows]:
    """Return rows of scores by trial, with None for missing numbers."""
    by_trial: dict[Trial, Rows] = defaultdict(list)
    for row in rows:
        by_trial[row[:4]].append(tuple(None if x != x else x for x in row))
    return dict(by_trial)


def _difference(scored: Sequence[Any], expected: Sequence[Any]) -> str:
    if not expected:
        return "there are scores, but no fit"
    if len(scored) != len(expected):
        return f"expected {counted(len(expected), 'row')}, got {len(scored)}"
    pairs = (
        (name, row[4], value, other)
        for row, fitted in zip(scored, expected, strict=True)
        for name, value, other in zip(formats.SCORE_COLUMNS, row, fitted, strict=True)
        if value != other
    )
    name, iteration, *values = next(pairs)
    actual, given = ("none" if value is None else value for value in values)
    return f"iteration {iteration}: {name} {actual}, but fit and labels yield {given}"
