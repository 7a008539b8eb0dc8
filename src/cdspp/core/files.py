"""Files of the project: written whole, as JSON and NPZ, with a record next to each.

Objects of a model are kept as JSON and arrays, and come back without running code.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import re
import socket
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.lib import format as npy

from cdspp.core.errors import DataError, out_of_memory, short_message, write_errors
from cdspp.core.names import FitKey, PathLike
from cdspp.core.provenance import file_digest
from cdspp.core.run_lock import check_run, lock_file

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Builders = Mapping[str, Callable[[dict[str, Any]], Any]]

# Errors at reading a file that is cut short, of another kind, or handmade.
BROKEN = (
    *(OSError, ValueError, TypeError, LookupError, EOFError),
    *(zlib.error, zipfile.BadZipFile, NotImplementedError),
)
HOST = f"{zlib.crc32(socket.gethostname().encode()):08x}"
A_MOMENT, A_DAY = 1.0, 86400.0  # seconds: longer than a new file is without its lock

# The folder of a job that takes its files from storage, above data and results.
STORED = re.compile(r"\A\.snakemake/storage/.*/(?=(?:data|results)/)")

_KINDS: dict[str, type] = {}  # of `storable`, by name
_FORMER = {"Round": "Iteration"}  # names in models of release 0.2
_TREE = "tree"


@contextmanager
def atomic(file: PathLike) -> Iterator[Path]:
    """Yield a temporary path beside a file; rename it to that on success.

    Temporary files without a lock, whose writers were killed, are removed. Errors are
    those of `write_errors`, and StaleJobError in a job whose run has ended.
    """
    target = Path(file)
    if target.is_symlink():  # which stays, so that both names have the new content
        target = target.resolve()
    with write_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        for path in target.parent.glob(f".{glob.escape(target.name)}.cdspp-????????-*"):
            # Locks of another machine may be unseen here, so that a day has to pass.
            least = A_MOMENT if f".cdspp-{HOST}-" in path.name else A_DAY
            with suppress(OSError), path.open("r+b") as stream:
                lock_file(stream, wait=False)
                if time.time() - path.stat().st_mtime > least:
                    path.unlink()
        prefix, suffix = f".{target.name}.cdspp-{HOST}-", target.suffix
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=suffix)
        temporary = Path(name)
        held = [handle]
        try:
            lock_file(handle)
        except OSError:  # no lock to keep, and Windows renames no open file
            os.close(held.pop())
        try:
            yield temporary
            check_run()
            temporary.chmod(0o644)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
            for handle in held:
                os.close(handle)


def same_file(path: PathLike, other: PathLike) -> bool:
    """Return whether two paths lead to the same existing file, perhaps by links."""
    both = os.path.exists(path) and os.path.exists(other)
    return both and os.path.samefile(path, other)


def write_json(path: PathLike, value: Any) -> None:
    """Write a JSON file, keys sorted, for people to read."""
    text = json.dumps(value, indent=2, sort_keys=True) + "\n"
    with atomic(path) as temporary:
        temporary.write_bytes(text.encode())


def write_csv(path: PathLike, table: pd.DataFrame) -> None:
    """Write a table as CSV, without its index, whatever the ending of the file."""
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n", compression=None)


def read_json(path: PathLike) -> Any:
    """Read a JSON file; DataError where it is missing, damaged or something else."""
    what = "a JSON file"
    content = b""
    try:
        content = Path(path).read_bytes()
        return json.loads(content)
    except OSError as error:
        raise unreadable(path, what, f"{error.strerror}") from error
    except (ValueError, RecursionError) as error:
        cut = content.startswith((b"{", b"["))
        wrong = f"it is damaged: {error}" if cut else _opening(content)
        raise unreadable(path, what, wrong) from error


def read_arrays(path: PathLike, what: str) -> dict[str, np.ndarray]:
    """Read all arrays of an NPZ file, or raise DataError: expected `what`, but ..."""
    check_opening(path, what, b"PK\x03\x04")  # as any ZIP file opens
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except BROKEN as error:
        raise unreadable(path, what, f"it is damaged or foreign: {error}") from error


def check_opening(path: PathLike, what: str, opening: bytes) -> None:
    """Refuse a file that is missing, or no `what` by its first bytes (DataError)."""
    try:
        with Path(path).open("rb") as stream:
            found = stream.read(64)
    except OSError as error:
        raise unreadable(path, what, f"{error.strerror}") from error
    if not found.startswith(opening):
        raise unreadable(path, what, _opening(found))


def _opening(found: bytes) -> str:
    """Say what a file of another kind is, by its first bytes."""
    if not found:
        return "it is empty"
    if found.lstrip()[:5].lower() in (b"<!doc", b"<html", b"<head", b"<?xml"):
        return "it is a web page"
    return f"it begins with {found[:8]!r}"


def unreadable(path: PathLike, what: str, wrong: str, remedy: str = "") -> DataError:
    """Return the error of a file: the expected kind, the fault, the remedy."""
    again = "Delete it and run" if Path(path).exists() else "Run"
    remedy = remedy or f"{again} the study again, which makes it anew."
    return DataError(f"{path}: expected {what}, but {wrong.rstrip('.')}. {remedy}")


class Record(NamedTuple):
    """What made a file: its recipe, the digests of its inputs, its own digest.

    `inputs` are by path, of fits by name; `release` wrote records of another form.
    """

    file: str
    made_of: str
    inputs: Mapping[str, str]
    sha256: str
    extra: Mapping[str, Any]
    release: str = ""

    @property
    def trials(self) -> Sequence[Mapping[str, Any]]:
        """The records of the trials of a fit."""
        trials: Sequence[Mapping[str, Any]] = self.extra["trials"]
        return trials


class Expected(NamedTuple):
    """The recipe that a file should have, and its inputs by name, where not by path."""

    made_of: str
    inputs: Mapping[str, str] = {}


OLDER = "0.2.0"  # the release whose records have another form
NO_RECORD = "the record beside it, of what made it, is missing or damaged"
CHANGED_RECORD = "the record beside it was changed: its digest is not of what it says"
OTHER_RECIPE = "other options, another seed or other code made it"
OTHER_CODE = "other code made it"
MADE_BY_OLDER = f"cdspp {OLDER} made it"


def content_digest(content: Any) -> str:
    """Return a digest of a tree of lists, mappings, numbers and texts."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def recipe(choices: Any, code: str) -> str:
    """Return the recipe of a file: digests of options and seed, and of code."""
    return f"{content_digest(choices)}:{content_digest(code)}"


def record_path(path: PathLike) -> Path:
    """Return where the record of a file lies: that of a fit has its name."""
    file = Path(path)
    is_fit = file.parts[-6:-5] == ("fits",) and file.suffix == ".parquet"
    return file.with_suffix(".json") if is_fit else Path(f"{os.fspath(path)}.json")


def write_record(
    path: PathLike,
    made_of: str,
    inputs: Mapping[str, str],
    extra: Mapping[str, Any] = {},
) -> None:
    """Write the record of a file that is there, with a digest of the record itself."""
    content: dict[str, Any] = {"file": Path(path).as_posix(), "made_of": made_of}
    content |= {"inputs": {**inputs}, "sha256": file_digest(path), "extra": {**extra}}
    write_json(record_path(path), {**content, "digest": content_digest(content)})


def read_record(path: PathLike) -> Record:
    """Read the record of a file; DataError where it is damaged, or of another file."""
    record, wrong = _find_record(path)
    if record is None:
        raise refused(path, wrong)
    return record


def refused(path: PathLike, wrong: str) -> DataError:
    """Return the error of a file that is not what its record says."""
    beside = record_path(path).name
    remedy = f"Delete it and {beside} beside it, and run the study again."
    return DataError(f"{path}: {wrong}. {remedy}")


def fault(
    path: PathLike,
    expected: Expected | None = None,
    known: dict[str, str] | None = None,
    *,
    record: Record | None = None,
) -> str:
    """Say how a file is not what its record says, or not as expected; empty if it is.

    A file that is older than its record is not read again, unless the clock went back,
    and an input that is gone is not compared. `known` has digests by path, empty ones
    of files to leave out, and keeps those of inputs from one call to the next.
    """
    wrong = ""
    if record is None:
        record, wrong = _find_record(path)
    if record is None:
        return wrong
    digests = {} if known is None else known
    name, beside = os.fspath(path), record_path(path)
    if name not in digests:
        old = os.stat(path).st_ctime_ns <= beside.stat().st_ctime_ns <= time.time_ns()
        digests[name] = record.sha256 if old else file_digest(path)
    if digests[name] != record.sha256:
        return f"it is not the file that {beside.name} beside it is of"
    if expected is None:
        return ""
    for input_, place in (expected.inputs or {n: n for n in record.inputs}).items():
        if place not in digests:
            digests[place] = file_digest(place) if Path(place).is_file() else ""
        if digests[place] not in ("", record.inputs.get(input_)):
            return f"it was made of another {place} than lies there now"
    if record.made_of == expected.made_of:
        return ""
    choices, _, code = record.made_of.partition(":")
    if code and expected.made_of.startswith(f"{choices}:"):
        return OTHER_CODE
    return MADE_BY_OLDER if record.release else OTHER_RECIPE


def _find_record(path: PathLike) -> tuple[Record | None, str]:
    """Return the record of a file, or None and what is wrong with it."""
    try:
        content = read_json(record_path(path))
        seal = content.pop("digest", "")
        if "extra" in content:
            record = Record(**content)
        elif "predictions" in content:  # of a fit, as the release `OLDER` wrote it
            extra = dict(content)
            key = FitKey._make(str(extra.pop(name)) for name in FitKey._fields)
            names = ("made_of", "inputs", "predictions")
            made_of, inputs, sha256 = (extra.pop(name) for name in names)
            file = f"{'/'.join(key)}.parquet"
            record = Record(file, made_of, inputs, sha256, extra, release=OLDER)
        else:  # of another file of that release
            record = Record(**content, extra={}, release=OLDER)
    except (DataError, AttributeError, KeyError, TypeError):
        return None, NO_RECORD
    if [type(part) for part in record[:5]] != [str, str, dict, str, dict]:
        return None, NO_RECORD
    if not STORED.match(os.fspath(path)):  # a copy, or what no storage ever held
        inputs = {STORED.sub("", name): sha for name, sha in record.inputs.items()}
        record = record._replace(file=STORED.sub("", record.file), inputs=inputs)
    # The older release sealed records of fits alone.
    if seal != content_digest(content) and (seal or not record.release):
        return None, CHANGED_RECORD
    if Path(record.file).parts[-5:] != Path(path).parts[-5:]:
        return None, f"the record beside it is of {record.file}"
    return record, ""


def storable(cls: type[T]) -> type[T]:
    """Mark a data class as one that `Packer` takes, under the name of the class."""
    assert cls.__name__ not in _KINDS
    _KINDS[cls.__name__] = cls
    return cls


class Packer:
    """Turns objects into a tree for JSON, beside the arrays that it refers to.

    For an object of another class, `other` returns a key for `unpack` and its parts.
    """

    def __init__(
        self, other: Callable[[Any], tuple[str, Any] | None] = lambda value: None
    ) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._other = other

    def pack(self, value: Any, where: str) -> Any:
        """Return the tree of an object; DataError says `where` a class is not taken."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "O":  # an array of objects would be pickled
                content = self.pack(value.ravel().tolist(), where)["list"]
                return {"objects": content, "shape": list(value.shape)}
            name = f"array-{len(self.arrays)}"
            self.arrays[name] = value
            return {"array": name}
        if isinstance(value, list | tuple):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.pack(x, f"{where}[{k}]") for k, x in enumerate(value)]}
        if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
            return {"dict": self._named(value, where)}
        if is_dataclass(value) and _KINDS.get(type(value).__name__) is type(value):
            content = {f.name: getattr(value, f.name) for f in fields(value)}
            return {"kind": type(value).__name__, "fields": self._named(content, where)}
        if found := self._other(value):
            key, content = found
            return {key: self._named(content, where)}
        fault = f"{where} is a {type(value).__name__}"
        raise DataError(f"{fault}, which cannot be kept as numbers and text.")

    def _named(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        return {name: self.pack(x, f"{where}.{name}") for name, x in values.items()}


def unpack(tree: Any, arrays: Mapping[str, np.ndarray], other: Builders) -> Any:
    """Return the object of a tree and its arrays; DataError where the tree is none.

    `other` makes objects of other classes of their named parts, by key.
    """

    def named(parts: Mapping[str, Any]) -> dict[str, Any]:
        return {name: back(part) for name, part in parts.items()}

    def back(node: Any) -> Any:
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise TypeError("a list without a kind")
            return node
        for key, content in node.items():
            if key in ("list", "tuple"):
                return {"list": list, "tuple": tuple}[key](map(back, content))
            if key in ("dict", *other):
                return other.get(key, dict)(named(content))
        if "kind" in node:
            kind = str(_FORMER.get(node["kind"], node["kind"]))
            return _KINDS[kind](**named(node["fields"]))
        if "objects" in node:
            found = np.empty(len(node["objects"]), dtype=object)
            found[:] = [back(part) for part in node["objects"]]
            return found.reshape(node["shape"])
        return arrays[node["array"]] if "array" in node else float(node["float"])

    try:
        return back(tree)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"not what was kept ({error}).") from error


def write_parts(path: PathLike, tree: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a tree and its arrays as one NPZ file, the tree as JSON in it."""
    text = json.dumps(tree, sort_keys=True, allow_nan=False)
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **{_TREE: np.asarray(text), **arrays})


def read_parts(path: PathLike, what: str) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the tree and the arrays of a file; DataError where it is not `what`."""
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file.")
    names: set[str] = set()

    def note(node: dict[str, Any]) -> dict[str, Any]:
        names.add(str(node.get("array")))
        return node

    try:
        with zipfile.ZipFile(path) as archive:
            text = str(_array(archive, _TREE))
            tree = json.loads(text, object_hook=note)
            known = {info.filename.removesuffix(".npy") for info in archive.filelist}
            return tree, {name: _array(archive, name) for name in names & known}
    except Exception as error:  # of NumPy, zipfile, JSON
        if out_of_memory(error):
            raise
        wrong = f"not {what}, or damaged ({short_message(error)})"
        raise DataError(f"{path}: {wrong}.") from error


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Return an array that takes as many bytes as the file has for it, uncompressed."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        headers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, _, dtype = headers[npy.read_magic(stream)](stream)
        stated = math.prod(shape) * dtype.itemsize + stream.tell()
        stored = info.compress_type == zipfile.ZIP_STORED
        if not stored or stated != info.file_size or not dtype.itemsize:
            raise ValueError(f"{name} of shape {shape} in {info.compress_size} bytes")
        stream.seek(0)
        return npy.read_array(stream, allow_pickle=False)
