"""Files of the project, as JSON, CSV or NPZ.

Objects of a model are stored as JSON and arrays, and are restored without running code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.lib import format as npy

from cdspp.core.errors import DataError, out_of_memory, short_message
from cdspp.core.names import PathLike
from cdspp.core.outputs import atomic

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Builders = Mapping[str, Callable[[dict[str, Any]], Any]]

# Errors from reading a file that is truncated, of another kind, or hand-edited.
READ_ERRORS = (
    *(OSError, ValueError, TypeError, LookupError, EOFError),
    *(zlib.error, zipfile.BadZipFile, NotImplementedError),
)

_STORABLE: dict[str, type] = {}  # classes marked by `storable`, by name
_TREE = "tree"


def same_file(path: PathLike, other: PathLike) -> bool:
    """Return whether two paths lead to the same existing file, possibly by links."""
    both_exist = os.path.exists(path) and os.path.exists(other)
    return both_exist and os.path.samefile(path, other)


def write_json(path: PathLike, value: Any) -> None:
    """Write a JSON file with sorted keys, for people to read."""
    text = json.dumps(value, indent=2, sort_keys=True) + "\n"
    with atomic(path) as temporary:
        temporary.write_bytes(text.encode())


def write_csv(path: PathLike, table: pd.DataFrame) -> None:
    """Write a table as CSV without its index, whatever the suffix of the file."""
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n", compression=None)


def read_json(path: PathLike) -> Any:
    """Read a JSON file; DataError if it is missing, damaged or not JSON."""
    kind = "a JSON file"
    content = b""
    try:
        content = Path(path).read_bytes()
        return json.loads(content)
    except OSError as error:
        raise read_error(path, kind, f"{error.strerror}") from error
    except (ValueError, RecursionError) as error:
        is_json = content.startswith((b"{", b"["))
        problem = f"it is damaged: {error}" if is_json else _describe_opening(content)
        raise read_error(path, kind, problem) from error


def read_arrays(path: PathLike, kind: str) -> dict[str, np.ndarray]:
    """Read all arrays of an NPZ file; DataError says that `kind` was expected."""
    check_opening(path, kind, b"PK\x03\x04")  # the first bytes of any ZIP file
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except READ_ERRORS as error:
        raise read_error(path, kind, f"it is damaged: {error}") from error


def check_opening(path: PathLike, kind: str, opening: bytes) -> None:
    """Raise DataError if a file is missing, or its first bytes do not fit `kind`."""
    try:
        with Path(path).open("rb") as stream:
            first_bytes = stream.read(64)
    except OSError as error:
        raise read_error(path, kind, f"{error.strerror}") from error
    if not first_bytes.startswith(opening):
        raise read_error(path, kind, _describe_opening(first_bytes))


def _describe_opening(content: bytes) -> str:
    """Describe a file of another kind by its first bytes."""
    if not content:
        return "it is empty"
    if content.lstrip()[:5].lower() in (b"<!doc", b"<html", b"<head", b"<?xml"):
        return "it is a web page"
    return f"it begins with {content[:8]!r}"


def read_error(path: PathLike, kind: str, problem: str, remedy: str = "") -> DataError:
    """Return the error for a file: the expected kind, the fault, the remedy."""
    command = "Delete it and run" if Path(path).exists() else "Run"
    remedy = remedy or f"{command} the study again to remake it."
    return DataError(f"{path}: expected {kind}, but {problem.rstrip('.')}. {remedy}")


def content_digest(content: Any) -> str:
    """Return a digest of a tree of lists, mappings, numbers and texts."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def storable(cls: type[T]) -> type[T]:
    """Mark a data class as one that `Packer` stores, under the name of the class."""
    assert cls.__name__ not in _STORABLE
    _STORABLE[cls.__name__] = cls
    return cls


class Packer:
    """Turns objects into a tree for JSON and the arrays to which the tree refers.

    For an object of another class, `split` returns a key for `unpack` and its parts.
    """

    def __init__(
        self, split: Callable[[Any], tuple[str, Any] | None] = lambda value: None
    ) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._split = split

    def pack(self, value: Any, place: str) -> Any:
        """Return the tree of an object; DataError says where it cannot be."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "O":  # NumPy would pickle an array of objects
                content = self.pack(value.ravel().tolist(), place)["list"]
                return {"objects": content, "shape": list(value.shape)}
            name = f"array-{len(self.arrays)}"
            self.arrays[name] = value
            return {"array": name}
        if isinstance(value, list | tuple):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.pack(x, f"{place}[{k}]") for k, x in enumerate(value)]}
        if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
            return {"dict": self._items(value, place)}
        if is_dataclass(value) and _STORABLE.get(type(value).__name__) is type(value):
            content = {f.name: getattr(value, f.name) for f in fields(value)}
            return {"kind": type(value).__name__, "fields": self._items(content, place)}
        if parts := self._split(value):
            key, content = parts
            return {key: self._items(content, place)}
        fault = f"{place} is a {type(value).__name__}"
        raise DataError(f"{fault}, which cannot be saved as numbers and text.")

    def _items(self, values: Mapping[str, Any], place: str) -> dict[str, Any]:
        return {name: self.pack(x, f"{place}.{name}") for name, x in values.items()}


def unpack(tree: Any, arrays: Mapping[str, np.ndarray], builders: Builders) -> Any:
    """Return the object of a tree and its arrays; DataError if the tree is invalid.

    `builders` build objects of other classes from their named parts, by key.
    """

    def rebuild_mapping(parts: Mapping[str, Any]) -> dict[str, Any]:
        return {name: rebuild(part) for name, part in parts.items()}

    def rebuild(node: Any) -> Any:
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise TypeError("a list without a kind")
            return node
        for key, content in node.items():
            if key in ("list", "tuple"):
                return {"list": list, "tuple": tuple}[key](map(rebuild, content))
            if key in ("dict", *builders):
                return builders.get(key, dict)(rebuild_mapping(content))
        if "kind" in node:
            return _STORABLE[node["kind"]](**rebuild_mapping(node["fields"]))
        if "objects" in node:
            array = np.empty(len(node["objects"]), dtype=object)
            array[:] = [rebuild(part) for part in node["objects"]]
            return array.reshape(node["shape"])
        return arrays[node["array"]] if "array" in node else float(node["float"])

    try:
        return rebuild(tree)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"invalid content ({error}).") from error


def write_parts(path: PathLike, tree: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a tree and its arrays as one NPZ file that holds the tree as JSON."""
    text = json.dumps(tree, sort_keys=True, allow_nan=False)
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **{_TREE: np.asarray(text), **arrays})


def read_parts(path: PathLike, kind: str) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the tree and the arrays of a file; DataError if it is not `kind`."""
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file.")
    names: set[str] = set()

    def collect_name(node: dict[str, Any]) -> dict[str, Any]:
        names.add(str(node.get("array")))
        return node

    try:
        with zipfile.ZipFile(path) as archive:
            text = str(_array(archive, _TREE))
            tree = json.loads(text, object_hook=collect_name)
            members = {info.filename.removesuffix(".npy") for info in archive.filelist}
            used = sorted(names & members)
            return tree, {name: _array(archive, name) for name in used}
    except Exception as error:  # from NumPy, zipfile or JSON
        if out_of_memory(error):
            raise
        problem = f"not {kind}, or damaged: {short_message(error)}"
        raise DataError(f"{path}: {problem}.") from error


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Return an array, after checking that its size equals that of its member."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        headers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, _, dtype = headers[npy.read_magic(stream)](stream)
        stated_size = math.prod(shape) * dtype.itemsize + stream.tell()
        is_stored = info.compress_type == zipfile.ZIP_STORED
        if not is_stored or stated_size != info.file_size or not dtype.itemsize:
            raise ValueError(f"{name} of shape {shape} in {info.compress_size} bytes")
        stream.seek(0)
        return npy.read_array(stream, allow_pickle=False)
