"""The files of fits as they are read: none counts that is not what its record says."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, fit_key, trials_of_block
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.core.whole_files import read_json, write_json
from cdspp.stages.artifacts import FIT_COLUMNS, read_rows
from cdspp.stages.expected import Expected, ExpectedFits

__all__ = [
    "FitFile",
    "is_sealed",
    "read_expected_fits",
    "read_fit",
    "read_record",
    "rows_by_round",
    "write_record",
]

# What a record and each of its trials must tell to be checked.
TOLD = (
    *(*FitKey._fields, "dataset", "overlap", "inputs", "predictions", "trials"),
    *("made_of", "versions", "digest"),
)
TOLD_OF_TRIAL = ("trial", "status", "collapsed", "rounds", "tested", "test_ids")


@dataclass(frozen=True, eq=False)
class FitFile:
    """A fit that was read.

    Attributes
    ----------
    path : Path
        Its predictions.
    key : FitKey
        What it is of.
    columns : mapping
        Predictions, by `cdspp.stages.artifacts.FIT_COLUMNS`.
    record : mapping
        What the fit stage says of it.
    """

    path: Path
    key: FitKey
    columns: Mapping[str, NDArray[Any]]
    record: Mapping[str, Any]


def write_record(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Write the record of a fit, with a digest of all that it says."""
    write_json(path, {**record, "digest": _seal(record)})


def is_sealed(record: Mapping[str, Any]) -> bool:
    """Whether a record says what it did when it was written."""
    return bool(record["digest"] == _seal(record))


def _seal(record: Mapping[str, Any]) -> str:
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the record of a fit, and check it against its path.

    Parameters
    ----------
    path : path
        ``.../<benchmark>/<setting>/<task>/<method>/<block>.json``.

    Raises
    ------
    DataError
        It is damaged or of an older version, or belongs to another fit.
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
        raise _refused(
            file, f"expected the trials {key.block}, but it tells of {found}"
        )
    return known


def read_fit(path: str | os.PathLike[str]) -> FitFile:
    """Read the predictions of a fit, and check them against its record and path.

    Parameters
    ----------
    path : path
        ``.../<benchmark>/<setting>/<task>/<method>/<block>.parquet``; the record lies
        beside it.

    Raises
    ------
    DataError
        One of both is damaged or belongs to another fit; the trials are not those of
        the block, or predicted samples not exactly the test samples of their trial,
        once each a round; or the file has changed since it was written.
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
    paths: Iterable[str | os.PathLike[str]], expected: Expected | None
) -> Iterator[FitFile]:
    """Yield the fits of files, each as `read_fit` reads it, and as is expected.

    Parameters
    ----------
    paths : iterable of path
        Parquet files of predictions.
    expected : Expected or None
        What they have to be made of; None checks nothing of it.

    Raises
    ------
    DataError
        As of `read_fit`; or one is made of anything else, as by a job of an earlier run
        that ended late.
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
    file: Path,
    ids: NDArray[Any],
    iterations: NDArray[Any],
    outcome: Mapping[str, Any],
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
        wrong = f"it does not tell {', '.join(lacking)}"
        raise _refused(
            file, f"{wrong}, so it is of an older version or of another kind"
        )


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
