"""What is said before a fit: that it needs much time, or more memory than there is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from cdspp.core.errors import CostWarning
from cdspp.core.memory import available_megabytes, told_memory
from cdspp.core.wording import duration
from cdspp.methods.size import Size

__all__ = ["LONG_SECONDS", "warn_of_cost"]

# Shorter fits need no word.
LONG_SECONDS = 30.0
# Megabytes that are not looked for: less than importing this package takes.
ALWAYS_FREE = 64.0


def warn_of_cost(size: Size, seconds: float, megabytes: float) -> None:
    """Warn where a fit is expected to take long, or more memory than is free.

    Parameters
    ----------
    size : Size
        Of the problem, with the name of what is about to be fitted to it.
    seconds, megabytes : float
        What the fit is expected to take, within a factor of about two.

    Warns
    -----
    CostWarning
        With the numbers.
    """
    for told in _costs(seconds, megabytes):
        warnings.warn(
            f"{size.name} is expected to {told}, for {size.n_source} source and "
            f"{size.n_target} target rows. Leave rows or features out, or choose "
            "another method.",
            CostWarning,
            stacklevel=4,
        )


def _costs(seconds: float, needed: float) -> Iterator[str]:
    """Yield what is too much."""
    there = available_megabytes() if needed > ALWAYS_FREE else None
    if there is not None and needed > there:
        free = f"{told_memory(there)} are free"
        yield f"need about {told_memory(needed)} of memory, of which {free}"
    if seconds >= LONG_SECONDS:
        yield f"take about {duration(seconds)} on one core"
