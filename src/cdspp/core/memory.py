"""How much memory a process may still use, and what is refused for the lack of it."""

from __future__ import annotations

import os
from pathlib import Path

from cdspp.core.errors import DataError

__all__ = ["available_megabytes", "require_memory", "told_memory"]

# Where a control group bounds the memory of its processes, and what they use of it.
GROUP = Path("/sys/fs/cgroup")


def available_megabytes() -> float | None:
    """Return the memory that a process may still use, None where it is not known."""
    found = (_free_memory(), _group_memory())
    return min((value for value in found if value is not None), default=None)


def told_memory(megabytes: float) -> str:
    """Return megabytes in words.

    >>> told_memory(300), told_memory(3 * 1024)
    ('300 MB', '3.0 GB')
    """
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1024 else f"{megabytes:.0f} MB"


def require_memory(n_values: int, what: str, remedy: str) -> None:
    """Raise DataError, from `what` to `remedy`, if so many numbers do not fit in."""
    there, needed = available_megabytes(), 8 * n_values / 2**20
    if there is not None and needed > there:
        raise DataError(
            f"{what} needs about {told_memory(needed)} of memory, and "
            f"{told_memory(there)} are free. {remedy}"
        )


def _free_memory() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        values = dict(line.split(":", 1) for line in lines)
        return int(values["MemAvailable"].split()[0]) / 2**10
    except (OSError, ValueError, KeyError):
        pass
    try:  # no such file but on Linux; what is there in all is better than nothing
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, ValueError, AttributeError):
        return None


def _group_memory() -> float | None:
    try:
        limit, used = (
            int((GROUP / name).read_text(encoding="ascii"))
            for name in ("memory.max", "memory.current")
        )
    except (OSError, ValueError):  # no group, or no limit: "max"
        return None
    return (limit - used) / 2**20
