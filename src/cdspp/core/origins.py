"""The origin of a file that a study makes: a record beside it tells what made it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.core.provenance import file_digest
from cdspp.core.whole_files import read_json, write_json

__all__ = ["origin_fault", "origin_path", "read_checked", "record_origin"]


def origin_path(path: PathLike) -> Path:
    """Return where the record of a file lies."""
    return Path(f"{os.fspath(path)}.json")


def record_origin(path: PathLike, made_of: str, inputs: Mapping[str, str]) -> None:
    """Write the record of a file: its path and digest, its recipe and its inputs.

    `made_of` is a digest of options, seed and code, `inputs` has digests by path.
    """
    told = {"file": Path(path).as_posix(), "sha256": file_digest(path)}
    write_json(origin_path(path), {**told, "made_of": made_of, "inputs": dict(inputs)})


def read_checked(files: Iterable[PathLike]) -> dict[str, str]:
    """Return the digest of each file by path; DataError where its record denies it."""
    found = {os.fspath(path): file_digest(path) for path in files}
    for path, digest in found.items():
        if origin_path(path).is_file() and (wrong := _denied(path, digest)):
            raise DataError(f"{path}: {wrong}. Delete it and run the study again.")
    return found


def origin_fault(path: PathLike, known: dict[str, str]) -> str:
    """Say how a file, or an input of it, is not as its record has it; empty if it is.

    A file that is older than its record is not read again. Inputs that are gone or at
    fault themselves are not compared. `known` keeps the digests of inputs from one call
    to the next.
    """
    record = origin_path(path)
    if not record.is_file():
        return "no record beside it tells what made it"
    old = os.stat(path).st_ctime_ns <= record.stat().st_ctime_ns
    if wrong := _denied(path, None if old else file_digest(path)):
        return wrong
    for name, digest in read_json(record)["inputs"].items():
        if name not in known:
            made = origin_path(name).is_file()
            sound = Path(name).is_file() and not (made and origin_fault(name, known))
            known[name] = file_digest(name) if sound else ""
        if known[name] not in ("", digest):
            return f"it was made of another {name} than lies there now"
    return ""


def _denied(path: PathLike, digest: str | None) -> str:
    """Say how a file, or its `digest`, is not that of the record beside it."""
    try:
        told: Any = read_json(origin_path(path))
        names = ("file", "sha256", "made_of", "inputs")
        file, expected, *_ = (told[name] for name in names)
    except (DataError, LookupError, TypeError):
        return "the record beside it is damaged"
    if file != Path(path).as_posix():
        return f"the record beside it is of {file}"
    if digest not in (None, expected):
        return f"it is not the file that {origin_path(path).name} beside it is of"
    return ""
