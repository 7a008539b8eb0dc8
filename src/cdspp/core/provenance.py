"""The origin of a result: digests, versions, hardware, time and memory."""

import hashlib
import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from cdspp.core.names import PathLike

PACKAGE = "cdspp"
INSTALLED = {"site-packages", "dist-packages"}
NUMERIC = ("numpy", "scipy", "scikit-learn", "torch")
REPORTED = (*NUMERIC, "pyarrow", "cdspp")
# Wall-clock and processor seconds of a block, and its process's peak memory so far.
USAGE = ("seconds", "cpu_seconds", "peak_memory_mb")


def peak_memory_mb() -> float:
    """Return the largest resident memory of this process so far, in MB.

    NaN if the system does not report it.
    """
    try:
        import resource
    except ImportError:
        return math.nan
    peak: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Measure the block; the yielded mapping has the numbers of `USAGE` at its end."""
    usage: dict[str, float] = {}
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield usage
    finally:
        times = time.perf_counter() - wall, time.process_time() - cpu
        for name, value in zip(USAGE, (*times, peak_memory_mb()), strict=True):
            usage[name] = round(value, 4)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute numbers."""
    known = {name: installed_version(name) for name in REPORTED}
    return {"python": platform.python_version()} | {k: v for k, v in known.items() if v}


def library_version() -> str:
    """Return the version of this library, without an import of its module.

    Digests of code follow imports, and must not depend on the version.
    """
    version: str = sys.modules[PACKAGE].__version__
    return version


def numeric_versions(installed: Mapping[str, str]) -> dict[str, str]:
    """Return the versions that affect predictions."""
    return {name: installed[name] for name in NUMERIC if name in installed}


@cache
def installed_version(name: str) -> str:
    """Return the version of an installed package, empty if there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


@cache
def hardware() -> dict[str, Any]:
    """Return the operating system and processor of this machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
    }


def file_digest(path: PathLike) -> str:
    """Return the sha256 digest of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def ids_digest(ids: Iterable[str]) -> str:
    """Return a digest of ids, independent of order; a repeated id counts repeatedly."""
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()
