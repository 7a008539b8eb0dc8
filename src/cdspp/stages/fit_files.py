"""The files of fits: what each is made of, and that none counts that is anything else.

A fit is made of a recipe, which the configuration decides, and of files. Its record
says of both, and of its predictions, so that a reader can compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, PathLike, fit_key, task_domains, trials_of_block
from cdspp.core.provenance import file_digest, ids_digest, numeric, versions
from cdspp.core.whole_files import read_json, write_json
from cdspp.stages.artifacts import FIT_COLUMNS, read_rows

# The keys that a record and each of its trials must have to be checked.
RECORDED = (
    *(*FitKey._fields, "dataset", "overlap", "inputs", "predictions", "trials"),
    *("made_of", "versions", "digest"),
)
RECORDED_OF_TRIAL = ("trial", "status", "collapsed", "rounds", "tested", "test_ids")
# Files of a block, of which the digest `read` of a trial covers its part.
OF_BLOCKS = frozenset({"source_split", "target_split", "pairs", "prior"})
SAME = ("made_of", "dataset", "overlap", "benchmark", "setting", "task", "method")


def content_digest(content: Any) -> str:
    """Return a digest of a tree of lists, mappings, numbers and texts."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def fit_recipe(seed: int, numeric_threads: int, member: Mapping[str, Any]) -> str:
    """Return a digest of all that decides predictions, beside task, block and files.

    `member` has the fields of `cdspp.stages.fit.Fit` but for its files.
    """
    return content_digest([seed, numeric_threads, dict(member)])


def input_files(patterns: Mapping[str, str], key: FitKey) -> dict[str, str]:
    """Return the files that a fit reads, by the patterns of its method and setting.

    Those of a second source have its number in their names: `source_features_2`.
    """
    sources, target = task_domains(key.task)
    files = {}
    for name, pattern in patterns.items():
        path = pattern.replace("{target}", target).replace("{block}", key.block)
        each = sources if "{source}" in path else sources[:1]
        for number, source in enumerate(each, start=1):
            numbered = name if number == 1 else f"{name}_{number}"
            files[numbered] = path.replace("{source}", source)
    return files


def unnumbered(name: str) -> str:
    """Return the name of an input without the number of its source, if it has one."""
    return name.rstrip("_0123456789")


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

    def wrong(self, key: FitKey, record: Mapping[str, Any]) -> str:
        """Say how recipe or files of a fit differ; empty where both are as expected.

        A file that is gone is not compared: a run makes it again.
        """
        cell = f"{key.setting}/{key.method}"
        recipe, place = self._expected.recipes.get(cell, ("", 0))
        if record["made_of"] != recipe:
            return (
                "other options, another seed or other code than the study has made it"
            )
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
    """Write the record of a fit, with a digest of its content."""
    write_json(path, {**record, "digest": _seal(record)})


def _seal(record: Mapping[str, Any]) -> str:
    return content_digest({name: record[name] for name in record if name != "digest"})


def read_record(path: PathLike) -> dict[str, Any]:
    """Read the record of a fit, and check it against its path.

    DataError: the record is damaged, of an older version, or of another fit.
    """
    file = Path(path)
    known = _checked(file, read_json(file), RECORDED)
    key = fit_key(file)
    texts = [str(known[name]) for name in key._fields]
    if texts != list(key):
        wrong = f"it is the record of {'/'.join(texts)}"
        raise _refused(file, f"expected that of {'/'.join(key)}, but {wrong}")
    if known["digest"] != _seal(known):
        raise _refused(file, "it was changed: its digest is not of what it says")
    trials = known["trials"]
    for trial in trials if isinstance(trials, list) else [trials]:
        _checked(file, trial, RECORDED_OF_TRIAL)
    found = [trial["trial"] for trial in trials]
    try:
        expected = [*trials_of_block(key.block)]
    except ValueError as error:
        wrong = f"expected trials as its name, such as 1-5, but it is {key.block!r}"
        raise _refused(file, wrong) from error
    if found != expected:
        wrong = f"expected the trials {key.block}, but it tells of {found}"
        raise _refused(file, wrong)
    return known


def read_fit(path: PathLike) -> FitFile:
    """Read the predictions of a fit, and check them against its record and path.

    DataError: predictions or record are damaged, have changed or belong to another fit;
    the trials are not those of the block; or the predicted samples are not exactly the
    test samples of their trial, once each a round.
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
    """Yield fits as `read_fit` reads them; DataError where one is not as expected.

    Such is one that a job of an earlier run made, which ended late.
    """
    known = None if expected is None else ExpectedFits(expected)
    for path in paths:
        fit = read_fit(path)
        if known and (text := known.wrong(fit.key, fit.record)):
            raise _refused(fit.path, text)
        yield fit


def is_made(
    predictions: PathLike, record: PathLike, content: Mapping[str, Any]
) -> bool:
    """Whether the files of a fit are whole and made of what they would be now."""
    try:
        found = read_record(record)
        same = all(found[name] == value for name, value in content.items())
        same = same and numeric(found["versions"]) == numeric(versions())
        same = same and not any(trial["crashed"] for trial in found["trials"])
        return same and bool(found["predictions"] == file_digest(predictions))
    # Missing, damaged, or written by an older version.
    except (OSError, ValueError, KeyError, TypeError):
        return False


class DoneTrials:
    """The trials of a block that other blocks of the fit hold, made of the same.

    Blocks share out work among jobs, and are no part of a result: with more trials in a
    study, or blocks of another size, only new trials are fitted. `record` is that of
    the block; `content` has its recipe and files.
    """

    def __init__(self, record: PathLike, content: Mapping[str, Any]) -> None:
        self._own = Path(record)
        self._ours = {*trials_of_block(self._own.stem)}
        self._fits: dict[tuple[int, str], FitFile] = {}
        for path, trials in sorted(self._blocks().items()):
            if trials & self._ours and (fit := _made_alike(path, content)):
                sound = (each for each in fit.record["trials"] if not each["crashed"])
                keys = ((each["trial"], each.get("read", "")) for each in sound)
                self._fits |= dict.fromkeys(keys, fit)

    def get(self, trial: int, read: str) -> tuple[Any, dict[str, list[Any]]] | None:
        """Return outcome and rows of a trial; `read` is the digest of all it reads."""
        if (fit := self._fits.get((trial, read))) is None:
            return None
        [outcome] = [each for each in fit.record["trials"] if each["trial"] == trial]
        here = fit.columns["trial"] == trial
        return outcome, {name: fit.columns[name][here].tolist() for name in FIT_COLUMNS}

    def remove_covered(self) -> None:
        """Remove blocks that share trials with this one, once all theirs are elsewhere.

        Blocks of one size share none, so that no other job of the run needs these.
        """
        blocks = self._blocks()
        blocks.pop(self._own, None)
        apart = (trials for trials in blocks.values() if not trials & self._ours)
        covered = self._ours.union(*apart)
        for path, trials in blocks.items():
            if trials & self._ours and trials <= covered:
                path.unlink(missing_ok=True)
                path.with_suffix(".parquet").unlink(missing_ok=True)

    def _blocks(self) -> dict[Path, set[int]]:
        paths = self._own.parent.glob("[0-9]*-*[0-9].json")
        return {path: {*trials_of_block(path.stem)} for path in paths}


def _made_alike(record: Path, content: Mapping[str, Any]) -> FitFile | None:
    """Read another block of a fit, if it is whole and made of the same."""
    try:
        former = read_record(record)
        alike = _of_any_block(former) == _of_any_block(content)
        if alike and numeric(former["versions"]) == numeric(versions()):
            return read_fit(record.with_suffix(".parquet"))
    except (DataError, OSError, KeyError, TypeError):  # or removed by another job
        pass
    return None


def _of_any_block(record: Mapping[str, Any]) -> dict[str, Any]:
    inputs = {
        name: digest
        for name, digest in record["inputs"].items()
        if unnumbered(name) not in OF_BLOCKS
    }
    return {"inputs": inputs, **{name: record[name] for name in SAME}}


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


def _checked(file: Path, content: Any, needed: Sequence[str]) -> dict[str, Any]:
    known: dict[str, Any] = content if isinstance(content, dict) else {}
    if lacking := [name for name in needed if name not in known]:
        wrong = f"it does not tell {', '.join(lacking)}, so it is of an older version"
        raise _refused(file, f"{wrong} or of another kind")
    return known


def _refused(file: Path, wrong: str) -> DataError:
    other = file.with_suffix(".json" if file.suffix == ".parquet" else ".parquet")
    return DataError(
        f"{file}: {wrong}. Delete it and {other.name} beside it, and run the study "
        "again."
    )
