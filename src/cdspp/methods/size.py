"""The size of a problem, the expected cost of a fit, and the warning of a large one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdspp.core.discovery import defaults_of
from cdspp.core.errors import CostWarning
from cdspp.core.memory import available_megabytes, memory_text
from cdspp.core.wording import duration

__all__ = ["LONG_SECONDS", "Size", "expected_cost", "warn_of_cost"]

LONG_SECONDS = 30.0
ALWAYS_FREE = 64.0  # megabytes: fewer than importing this package takes


@dataclass(frozen=True)
class Size:
    """Classes, rows and features of both domains, and the stored share of features."""

    name: str
    n_classes: int
    n_source: int
    d_source: int
    n_labelled: int
    n_unlabelled: int
    d_target: int
    density: float = 1.0

    @property
    def n_target(self) -> int:
        """Target rows, labelled and unlabelled."""
        return self.n_labelled + self.n_unlabelled


def expected_cost(
    method: type[Any], size: Size, options: Mapping[str, Any]
) -> tuple[float, float]:
    """Return about how many seconds a fit takes on one thread, and MB beside data.

    Options that `cost` of the class takes count; `max_iter` multiplies the seconds.
    """
    taken = defaults_of(method.cost)
    chosen = {name: value for name, value in options.items() if name in taken}
    seconds, megabytes = method.cost(size, **chosen)
    usual = defaults_of(method).get("max_iter")
    share = options.get("max_iter", usual) / usual if usual else 1.0
    return share * seconds, megabytes


def warn_of_cost(size: Size, seconds: float, megabytes: float) -> None:
    """Warn where the fit that `size` names may take long, or more than free memory."""
    texts = []
    there = available_megabytes() if megabytes > ALWAYS_FREE else None
    if there is not None and megabytes > there:
        free = f"{memory_text(there)} are free"
        texts.append(f"need about {memory_text(megabytes)} of memory, of which {free}")
    if seconds >= LONG_SECONDS:
        texts.append(f"take about {duration(seconds)} on one core")
    for cost in texts:
        warnings.warn(
            f"{size.name} is expected to {cost}, for {size.n_source} source and "
            f"{size.n_target} target rows. Leave rows or features out, or choose "
            "another method.",
            CostWarning,
            stacklevel=4,
        )
