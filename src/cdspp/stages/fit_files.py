"""The files of fits: what each is made of, and that none counts that is anything else.

A fit is made of a recipe, which the configuration decides, and of files. Its record
says of both, and of its predictions, so that a reader can compare.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, fit_key, trials_of_block
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.core.whole_files import read_json, write_json
from cdspp.stages.artifacts import FIT_COLUMNS, read_rows

__all__ = [
    "Expected",
    "ExpectedFits",
    "FitFile",
    "fit_recipe",
    "input_files",
    "is_sealed",
    "read_expected_fits",
    "read_fit",
    "read_record",
    "rows_by_round",
    "write_record",
]

PathLike = str | os.PathLike[str]

# What a record and each of its trials must tell to be checked.
TOLD = (
    *(*FitKey._fields, "dataset", "overlap", "inputs", "predictions", "trials"),
    *("made_of", "versions", "digest"),
)
TOLD_OF_TRIAL = ("trial", "status", "collapsed", "rounds", "tested", "test_ids")


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def fit_recipe(seed: int, numeric_threads: int, member: Mapping[str, Any]) -> str:
    """Return a digest of what decides predictions, beside task, block and files.

    `member` has the fields of `cdspp.stages.fit.Fit` but for its files.
    """
    return _digest([seed, numeric_threads, dict(member)])


def input_files(patterns: Mapping[str, str], key: FitKey) -> dict[str, str]:
    """Return the files that a fit reads, by the patterns of its method and setting."""
    source, target = key.task.split("_")
    files = {}
    for name, pattern in patterns.items():
        path = pattern.replace("{source}", source).replace("{target}", target)
        files[name] = path.replace("{block}", key.block)
    return files


class Expected(NamedTuple):
    """The fits of a benchmark, as a configuration has them.

    `recipes` has, by ``<setting>/<method>``, the recipe and the place of its files in
    `inputs`: paths by the names of `cdspp.stages.trials.TaskFiles`, in which
    ``{source}``, ``{target}`` and ``{block}`` stand for those of a fit.
    """

    recipes: Mapping[str, tuple[str, int]]
    inputs: Sequence[Mapping[str, str]]


class ExpectedFits:
    """Compares records of fits with a configuration and the files that lie there."""

    def __init__(self, expected: Expected) -> None:
        self._expected = Expected(*expected)
        self._digests: dict[str, str] = {}

    def has(self, key: FitKey) -> bool:
        """Whether a configuration has the method of a fit in its setting."""
        return f"{key.setting}/{key.method}" in self._expected.recipes

    def wrong_recipe(self, key: FitKey, record: Mapping[str, Any]) -> str:
        """Say how the recipe of a fit differs; nothing where it is as expected."""
        recipe, _ = self._expected.recipes.get(f"{key.setting}/{key.method}", ("", 0))
        if record.get("made_of") == recipe:
            return ""
        return "other options, another seed or other code than the study has made it"

    def wrong(self, key: FitKey, record: Mapping[str, Any]) -> str:
        """Say how recipe or files of a fit differ; nothing where both are as expected.

        A file that is gone is not compared: a run makes it again.
        """
        if told := self.wrong_recipe(key, record):
            return told
        _, place = self._expected.recipes[f"{key.setting}/{key.method}"]
        for name, path in input_files(self._expected.inputs[place], key).items():
            if path not in self._digests:
                there = Path(path).is_file()
                self._digests[path] = file_digest(path) if there else ""
            digest = self._digests[path]
            if digest and record["inputs"].get(name) != digest:
                return f"it is made of another {name} than {path} is now"
        return ""


@dataclass(frozen=True, eq=False)
class FitFile:
    """A fit that was read: predictions by `FIT_COLUMNS`, and its record."""

    path: Path
    key: FitKey
    columns: Mapping[str, NDArray[Any]]
    record: Mapping[str, Any]


def write_record(path: PathLike, record: Mapping[str, Any]) -> None:
    """Write the record of a fit, with a digest of all that it says."""
    write_json(path, {**record, "digest": _seal(record)})


def is_sealed(record: Mapping[str, Any]) -> bool:
    """Whether a record says what it did when it was written."""
    return bool(record["digest"] == _seal(record))


def _seal(record: Mapping[str, Any]) -> str:
    return _digest({name: value for name, value in record.items() if name != "digest"})


def read_record(path: PathLike) -> dict[str, Any]:
    """Read the record of a fit, and check it against its path.

    The path ends in ``<benchmark>/<setting>/<task>/<method>/<block>.json``. It raises
    DataError where the record is damaged or of an older version, or of another fit.
    """
    file = Path(path)
    record = read_json(file)
    known = record if isinstance(record, dict) else {}
    _check_told(file, known, TOLD)
    key = fit_key(file)
    told = [str(known[name]) for name in key._fields]
    if told != list(key):
        wrong = f"it is the record of {'/'.join(told)}"
        raise _refused(file, f"expected that of {'/'.join(key)}, but {wrong}")
    if not is_sealed(known):
        raise _refused(file, "it was changed: its digest is not of what it says")
    trials = known["trials"]
    for trial in trials if isinstance(trials, list) else [trials]:
        _check_told(file, trial if isinstance(trial, dict) else {}, TOLD_OF_TRIAL)
    found = [trial["trial"] for trial in trials]
    if found != _trials(file, key.block):
        wrong = f"expected the trials {key.block}, but it tells of {found}"
        raise _refused(file, wrong)
    return known


def read_fit(path: PathLike) -> FitFile:
    """Read the predictions of a fit, and check them against its record and path.

    The record lies beside it, as JSON. It raises DataError where one of both is damaged
    or belongs to another fit; where the trials are not those of the block, or predicted
    samples not exactly the test samples of their trial, once each a round; or where the
    file has changed since it was written.
    """
    file = Path(path)
    record = read_record(file.with_suffix(".json"))
    columns = read_rows(file, FIT_COLUMNS)
    _check_rows(file, columns, record["trials"])
    if file_digest(file) != record["predictions"]:
        wrong = "its content is not what its record has the digest of"
        raise _refused(file, f"{wrong}: it was changed, or is of another fit")
    return FitFile(file, fit_key(file), columns, record)


def read_expected_fits(
    paths: Iterable[PathLike], expected: Expected | None
) -> Iterator[FitFile]:
    """Yield the fits of files, each as `read_fit` reads it, and as is expected.

    Where `expected` is None, what they are made of is not compared. DataError else
    where one is made of anything else, as by a job of an earlier run that ended late.
    """
    known = None if expected is None else ExpectedFits(expected)
    for path in paths:
        fit = read_fit(path)
        if known and (told := known.wrong(fit.key, fit.record)):
            raise _refused(fit.path, told)
        yield fit


def _check_rows(
    file: Path,
    columns: Mapping[str, NDArray[Any]],
    outcomes: Sequence[Mapping[str, Any]],
) -> None:
    expected = [o["trial"] for o in outcomes if o["rounds"] and o["tested"]]
    found = np.unique(columns["trial"]).tolist()
    if found != expected:
        wrong = f"but there are {found}"
        raise _refused(file, f"expected predictions of the trials {expected}, {wrong}")
    for outcome in outcomes:
        if outcome["trial"] in expected:
            here = columns["trial"] == outcome["trial"]
            ids, rounds = columns["id"][here], columns["iteration"][here]
            _check_trial(file, ids, rounds, outcome)


def _check_trial(
    file: Path, ids: NDArray[Any], iterations: NDArray[Any], outcome: Mapping[str, Any]
) -> None:
    """Check that each round of a trial predicts exactly the test samples, once each."""
    trial, tested = outcome["trial"], outcome["tested"]
    rounds = rows_by_round(iterations)
    if len(rounds) != outcome["rounds"]:
        expected = f"trial {trial}: expected {outcome['rounds']} iterations"
        raise _refused(file, f"{expected}, but there are {len(rounds)}")
    checked = np.empty(0, dtype=object)
    for number, rows in rounds.items():
        found = ids[rows]
        # Rounds have one order, so that most need no digest.
        if np.array_equal(found, checked):
            continue
        if len(found) != tested or ids_digest(found) != outcome["test_ids"]:
            where = f"trial {trial}, iteration {number}"
            expected = f"expected the {tested} test samples of the split, once each"
            got = f"got {len(found)} rows of {len(set(found))} samples"
            raise _refused(file, f"{where}: {expected}, but {got}")
        checked = found


def rows_by_round(iterations: NDArray[Any]) -> dict[int, NDArray[np.intp]]:
    """Return the places of the rows of each iteration, in time linear in the rows."""
    order = np.argsort(iterations, kind="stable")
    numbers, starts = np.unique(iterations[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))


def _check_told(file: Path, told: Mapping[str, Any], needed: Sequence[str]) -> None:
    if lacking := [name for name in needed if name not in told]:
        wrong = f"it does not tell {', '.join(lacking)}, so it is of an older version"
        raise _refused(file, f"{wrong} or of another kind")


def _trials(file: Path, block: str) -> list[int]:
    try:
        return list(trials_of_block(block))
    except ValueError as error:
        wrong = f"expected trials as its name, such as 1-5, but it is {block!r}"
        raise _refused(file, wrong) from error


def _refused(file: Path, wrong: str) -> DataError:
    other = file.with_suffix(".json" if file.suffix == ".parquet" else ".parquet")
    return DataError(
        f"{file}: {wrong}. Delete it and {other.name} beside it, and run the study "
        "again."
    )
