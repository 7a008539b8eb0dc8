"""The memory still available to a process, and results that it caches."""

import ctypes
import hashlib
import os
import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from cdspp.core.errors import DataError

T = TypeVar("T")

MACHINE = Path("/proc/meminfo")
# Options of glibc's mallopt.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
# The control groups of this process, and the folder of all groups.
OWN_GROUPS, GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
# Number of cached results: a graph or components of both domains for each trial of a
# batch, or for each fold of five trials. The least recently used ones are dropped.
MAX_CACHED = 64

_cache: ContextVar[OrderedDict[Any, Any] | None] = ContextVar("cache", default=None)


def keep_freed_memory() -> None:
    """Have glibc reuse the memory that this process frees, and never return it.

    The outputs of a network's layers are large and short-lived. Otherwise, the kernel
    would clear the same pages again at every step of training.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, -1)


def available_megabytes() -> float | None:
    """Return the memory that machine and process groups leave free, if known."""
    amounts = []
    for line in _text(OWN_GROUPS).splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            root, names = GROUPS, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root = GROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        own = root / path.lstrip("/")
        for folder in (own, *own.parents):
            limit, used = (_text(folder / name).strip() for name in names)
            if limit.isdecimal() and used.isdecimal():  # "max" means no limit
                # File cache counts as used, but can be freed.
                state = _text(folder / "memory.stat")
                spare = re.search(r"^inactive_file (\d+)", state, re.M)
                idle = int(spare[1]) if spare else 0
                amounts.append((int(limit) - int(used) + idle) / 2**20)
    if free := re.search(r"^MemAvailable: +(\d+)", _text(MACHINE), re.M):
        amounts.append(int(free[1]) / 2**10)
    elif sys.platform != "win32":  # such as macOS: total memory is better than none
        with suppress(OSError, ValueError):
            pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
            amounts.append(pages / 2**20)
    return min(amounts, default=None)


def memory_text(megabytes: float) -> str:
    """Return megabytes as text, in MB or GB."""
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1024 else f"{megabytes:.0f} MB"


def require_memory(n_values: int, subject: str, remedy: str) -> None:
    """Raise DataError if `subject`, of `n_values` numbers, exceeds the free memory."""
    free, needed = available_megabytes(), 8 * n_values / 2**20
    if free is not None and needed > free:
        fault = f"{subject} needs about {memory_text(needed)} of memory"
        raise DataError(f"{fault}, but only {memory_text(free)} is free. {remedy}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


@contextmanager
def shared_results() -> Iterator[None]:
    """Let `computed_once` cache its results until the end of the block."""
    token = _cache.set(OrderedDict())
    try:
        yield
    finally:
        _cache.reset(token)


def computed_once(compute: Callable[..., T], X: Any, *options: Any) -> T:
    """Return ``compute(X, *options)``, within `shared_results` once for equal bytes.

    Callers share the result and must not change it. The digest of `X`, an array or a
    sparse matrix in CSR format, costs O(n d): `compute` should take much longer.
    """
    cache = _cache.get()
    if cache is None:
        return compute(X, *options)
    digest = hashlib.sha256()
    for part in (X.data, X.indices, X.indptr) if issparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).data)
    key = (compute, digest.digest(), X.shape, X.dtype.str, options)
    if key not in cache:
        cache[key] = compute(X, *options)
        if len(cache) > MAX_CACHED:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]  # type: ignore[no-any-return]
