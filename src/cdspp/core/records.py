"""Records: the specification of a file, next to it, and how the present one differs."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.errors import DataError, SchemaError
from cdspp.core.files import content_digest, read_json, write_json
from cdspp.core.names import PathLike, trials_of_block
from cdspp.core.provenance import file_digest, library_version

# The folder of a job that takes its files from storage, above data and results.
STORED = re.compile(r"\A\.snakemake/storage/.*/(?=(?:data|results)/)")

SCHEMA = 1  # of records, and of the digests behind a report
ELSEWHERE = "run the study in another folder"
NO_RECORD = "the record of its origin, next to it, is missing or damaged"
CHANGED_RECORD = "the record next to it was edited: its own digest does not match"
OTHER = "other "  # and a name: its value is too long to show
OTHER_CODE = "it was made by other code"
OTHER_INPUTS = "it was made from other kinds of files"
MISSING = "not computed yet"
DEFAULTS, TRIALS = "defaults", "trials"
Moved = Callable[[str, str], str]
# In the record of a trial: its origin and a sample; also the folder of samples.
ACCEPTED = "accepted"
NO_VALUE, LONGEST, NAMED = "none", 40, 3  # of values and changes in a reason


def _moved(old: str, new: str) -> str:
    return f"it was made from {old}, not from {new}"


class Specification(NamedTuple):
    """The inputs, options and code that determine a file.

    `inputs` are files of the study by name, `options` are values for JSON, `own_files`
    are digests of the user's files by path, and `code` is a digest of the code. The
    option `defaults`, if any, has values for what `options` among the options lacks.
    A fit must have the `trials`, and keeps others of earlier runs; if empty, all.
    """

    inputs: Mapping[str, str] = {}
    options: Mapping[str, Any] = {}
    own_files: Mapping[str, str] = {}
    code: str = ""
    trials: Sequence[int] = ()

    def of_block(self, block: str) -> Specification:
        """Return the specification of one batch of a fit."""
        in_block = trials_of_block(block)
        return self._replace(trials=[t for t in self.trials if t in in_block])

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the function that writes the file: options as given."""
        return {key: value for key, value in self.options.items() if key != DEFAULTS}


class Record(NamedTuple):
    """The origin of a file: its specification, and digests of inputs and content.

    `inputs` has the digests of the inputs and `places` their paths, by name.
    """

    file: str
    inputs: Mapping[str, str]
    places: Mapping[str, str]
    options: Mapping[str, Any]
    own_files: Mapping[str, str]
    code: str
    sha256: str
    extra: Mapping[str, Any]

    @property
    def trials(self) -> Sequence[Mapping[str, Any]]:
        """The records of a fit's trials."""
        trials: Sequence[Mapping[str, Any]] = self.extra["trials"]
        return trials

    def first_trials(self, n_trials: int) -> Record:
        """Return the record of a fit with its trials up to a number."""
        trials = [trial for trial in self.trials if trial["trial"] <= n_trials]
        return self._replace(extra={**self.extra, "trials": trials})


def with_schema(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file with its schema and the version of this library."""
    return {**content, "schema": SCHEMA, "version": library_version()}


def without_schema(path: PathLike, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file of `with_schema`; SchemaError if it is of another.

    KeyError: it has no schema.
    """
    rest = dict(content)
    schema, version = rest.pop("schema"), rest.pop("version")
    if schema != SCHEMA:
        raise schema_error(path, schema, version, SCHEMA, ELSEWHERE)
    return rest


def schema_error(
    path: PathLike, schema: Any, version: Any, known: int, remedy: str
) -> SchemaError:
    """Return the error for a file of another schema than the `known` one."""
    other = f"written by cdspp {version} in schema {schema}"
    here = f"cdspp {library_version()} reads schema {known}"
    return SchemaError(f"{path}: {other}; {here}. Use that version, or {remedy}.")


def record_path(path: PathLike) -> Path:
    """Return the path of a file's record; the record of a fit has the fit's name."""
    file = Path(path)
    if _is_among_fits(file) and file.suffix == ".parquet":
        return file.with_suffix(".json")
    return Path(f"{os.fspath(path)}.json")


def recorded_file(record: Path) -> str:
    """Return the file that a record describes, by the path of the record."""
    return str(record.with_suffix(".parquet" if _is_among_fits(record) else ""))


def _is_among_fits(file: Path) -> bool:
    return file.parts[-6:-5] == ("fits",)


def write_record(
    path: PathLike,
    specification: Specification,
    digests: Mapping[str, str],
    extra: Mapping[str, Any] = {},
) -> None:
    """Write the record of an existing file, with a digest of the record itself.

    `digests` has those of its inputs, by path.
    """
    inputs, options, own_files, code, _ = specification
    found = {name: digests[os.fspath(file)] for name, file in inputs.items()}
    places = {name: STORED.sub("", os.fspath(file)) for name, file in inputs.items()}
    content: dict[str, Any] = {"file": Path(path).as_posix(), "inputs": found}
    content |= {"places": places, "options": options}
    content |= {"own_files": own_files, "code": code, "sha256": file_digest(path)}
    content = with_schema(_as_json({**content, "extra": {**extra}}))
    write_json(record_path(path), {**content, "digest": content_digest(content)})


def read_record(path: PathLike, *, moved: bool = False) -> Record:
    """Read the record of a file; DataError if it is damaged or of another file.

    The file may have been `moved` since. SchemaError: a version of the library wrote it
    in a schema unknown to this one.
    """
    record, problem = _find_record(path, moved=moved)
    if record is None:
        raise record_error(path, problem)
    return record


def record_error(path: PathLike, problem: str) -> DataError:
    """Return the error for a file that does not match its record."""
    record_name = record_path(path).name
    remedy = f"Delete it and {record_name} next to it, and run the study again."
    return DataError(f"{path}: {problem}. {remedy}")


def record_mismatch(
    path: PathLike,
    expected: Specification | None = None,
    cache: dict[str, str] | None = None,
    *,
    record: Record | None = None,
    moved: Moved = _moved,
) -> str:
    """Return how a file differs from its record or the specification; empty if equal.

    A file older than its record is read again only if the clock went back. `cache` maps
    paths to digests, empty for files to skip, and caches the digests of inputs between
    calls; `moved` is as in `changes`.
    """
    problem = ""
    if record is None:
        record, problem = _find_record(path)
    if record is None:
        return problem
    digests = {} if cache is None else cache
    file, sidecar = os.fspath(path), record_path(path)
    if file not in digests:
        old = os.stat(path).st_ctime_ns <= sidecar.stat().st_ctime_ns <= time.time_ns()
        digests[file] = record.sha256 if old else file_digest(path)
    if digests[file] != record.sha256:
        return f"it differs from the file that {sidecar.name}, next to it, describes"
    return "" if expected is None else changes(record, expected, digests, moved)


def changes(
    record: Record,
    expected: Specification,
    digests: dict[str, str] | None = None,
    moved: Moved = _moved,
) -> str:
    """Return what changed since a file was made, in the user's words; else empty.

    Inputs are compared if there are expected ones, but not those that are missing in
    their place; `digests` caches theirs by path, empty for files to skip. For an input
    that is now another file, `moved` returns why, from its old and its new path.
    """
    digests = {} if digests is None else digests
    for name, place in expected.inputs.items():
        if place not in digests:
            digests[place] = file_digest(place) if Path(place).is_file() else ""
        if digests[place] == record.inputs.get(name):
            continue
        old = record.places.get(name, place)
        if not f"/{old}".endswith(f"/{place}"):  # a module's files have a prefix
            return moved(old, place)
        if digests[place]:
            return f"it was made from another {place} than the present one"
    before, now = _in_force(record.options), _in_force(_as_json(expected.options))
    options = [*dict.fromkeys(_changed_values(before, now))]
    files = {*record.own_files.items()} ^ {*expected.own_files.items()}
    options += [f"another {name}" for name in dict.fromkeys(n for n, _ in files)]
    if options:
        more = f" and {len(options) - NAMED} more" if len(options) > NAMED else ""
        return ", ".join(options[:NAMED]) + more
    if expected.inputs and record.inputs.keys() != expected.inputs.keys():
        return OTHER_INPUTS
    if record.code != expected.code:
        return OTHER_CODE
    trials = {trial["trial"] for trial in record.trials} if expected.trials else set()
    return "" if trials.issuperset(expected.trials) else MISSING


def _in_force(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options in which defaults stand where nothing else is given."""
    if DEFAULTS not in options:
        return {**options}
    given = {**options[DEFAULTS], **options["options"]}
    return {**options, DEFAULTS: {}, "options": given}


def _as_json(content: Any) -> Any:
    """Return content as it is read from JSON: lists for tuples, text for keys."""
    return json.loads(json.dumps(content))


def _changed_values(old: Any, new: Any, name: str = "") -> Iterator[str]:
    """Yield each value that changed, by its innermost key."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = [
            text
            for key in sorted({*old, *new})
            for text in _changed_values(
                old.get(key, NO_VALUE), new.get(key, NO_VALUE), key
            )
        ]
        unnamed = len(found) > NAMED and all(text.startswith(OTHER) for text in found)
        yield from [f"{len(found)} {OTHER}{name}"] if unnamed and name else found
    elif old != new:
        texts = [_shown(value) for value in (old, new)]
        is_short = max(map(len, texts)) <= LONGEST
        yield f"{name} {' -> '.join(texts)}" if is_short else f"{OTHER}{name}"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value)


def _find_record(path: PathLike, *, moved: bool = False) -> tuple[Record | None, str]:
    try:
        content = read_json(record_path(path))
        digest = content.pop("digest", "")
        record = Record(**without_schema(record_path(path), content))
    except (DataError, AttributeError, KeyError, TypeError):
        return None, NO_RECORD
    if [type(part) for part in record] != [str, dict, dict, dict, dict, str, str, dict]:
        return None, NO_RECORD
    if not STORED.match(os.fspath(path)):  # a copy, or a file that was never in storage
        record = record._replace(file=STORED.sub("", record.file))
    if digest != content_digest(content):
        return None, CHANGED_RECORD
    if moved:
        return record, ""
    if Path(record.file).parts[-5:] != Path(path).parts[-5:]:
        return None, f"the record next to it describes {record.file}"
    return record, ""
