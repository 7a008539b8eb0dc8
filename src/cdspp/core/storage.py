"""Objects as JSON and arrays in a file, and back, without running code of the file.

It takes numbers, text, arrays, collections of these and classes marked by `storable`.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.lib import format as npy

from cdspp.core.errors import DataError
from cdspp.core.faults import brief, out_of_memory
from cdspp.core.names import PathLike
from cdspp.core.whole_files import atomic

T = TypeVar("T")

_KINDS: dict[str, type] = {}
_TREE = "tree"


def storable(cls: type[T]) -> type[T]:
    """Mark a data class as one that `Packer` takes, under the name of the class."""
    assert cls.__name__ not in _KINDS
    _KINDS[cls.__name__] = cls
    return cls


class Packer:
    """Turns objects into a tree for JSON, beside the arrays that it refers to.

    For an object of another class, `other` returns the key under which `unpack` finds
    it and its parts, or None.
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
        raise DataError(
            f"{where} is a {type(value).__name__}, which cannot be kept as numbers and "
            "text."
        )

    def _named(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        return {name: self.pack(x, f"{where}.{name}") for name, x in values.items()}


def unpack(
    tree: Any,
    arrays: Mapping[str, np.ndarray],
    other: Mapping[str, Callable[[dict[str, Any]], Any]],
) -> Any:
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
            return _KINDS[node["kind"]](**named(node["fields"]))
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
        parts: dict[str, Any] = {_TREE: np.asarray(text), **arrays}
        np.savez(stream, **parts)


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
        raise DataError(f"{path}: not {what}, or damaged ({brief(error)}).") from error


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
