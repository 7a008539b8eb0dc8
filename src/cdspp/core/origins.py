"""The origin of a file that a study makes: a record beside it tells what made it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.core.provenance import file_digest
from cdspp.core.whole_files import read_json, write_json

NO_RECORD = "the record beside it, of what made it, is missing or damaged"


def origin_path(path: PathLike) -> Path:
    """Return where the record of a file lies."""
    return Path(f"{os.fspath(path)}.json")


def record_origin(path: PathLike, made_of: str, inputs: Mapping[str, str]) -> None:
    """Write the record of a file: its path and digest, its recipe and its inputs.

    `made_of` is a digest of options, seed and code, `inputs` has digests by path.
    """
    known = {"file": Path(path).as_posix(), "sha256": file_digest(path)}
    recipe = {"made_of": made_of, "inputs": dict(inputs)}
    write_json(origin_path(path), {**known, **recipe})


def check_origins(digests: Mapping[str, str]) -> None:
    """Raise DataError where a file, by path, has another digest than in its record."""
    for path, digest in digests.items():
        if not origin_path(path).is_file():
            continue
        if wrong := _denied(path, _read_origin(path), digest):
            raise DataError(f"{path}: {wrong}. Delete it and run the study again.")


def origin_fault(path: PathLike, known: dict[str, str], job: str = "") -> str:
    """Say how a file, or an input of it, is not as its record has it; empty if it is.

    A file that is older than its record is not read again. Inputs that are gone or at
    fault themselves are not compared. `known` keeps the digests of inputs from one call
    to the next. A `job`, as text, has to name the file's recipe.
    """
    if (record := _read_origin(path)) is None:
        return NO_RECORD
    old = os.stat(path).st_ctime_ns <= origin_path(path).stat().st_ctime_ns
    if wrong := _denied(path, record, record["sha256"] if old else file_digest(path)):
        return wrong
    for name, digest in record["inputs"].items():
        if name not in known:
            made = origin_path(name).is_file()
            sound = Path(name).is_file() and not (made and origin_fault(name, known))
            known[name] = file_digest(name) if sound else ""
        if known[name] not in ("", digest):
            return f"it was made of another {name} than lies there now"
    if job and record["made_of"] not in job:
        return "other options, another seed or other code made it"
    return ""


def _read_origin(path: PathLike) -> dict[str, Any] | None:
    try:
        record = read_json(origin_path(path))
    except DataError:
        return None
    kinds = {"file": str, "sha256": str, "made_of": str, "inputs": dict}
    whole = isinstance(record, dict) and all(
        isinstance(record.get(name), kind) for name, kind in kinds.items()
    )
    return record if whole else None


def _denied(path: PathLike, record: Mapping[str, Any] | None, digest: str) -> str:
    """Say how a file with this digest is not that of the record beside it."""
    if record is None:
        return NO_RECORD
    if record["file"] != Path(path).as_posix():
        return f"the record beside it is of {record['file']}"
    if record["sha256"] != digest:
        return f"it is not the file that {origin_path(path).name} beside it is of"
    return ""
