"""How large a problem is, and what a method takes for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdspp.core.discovery import defaults_of

__all__ = ["Size", "expected_work"]


@dataclass(frozen=True)
class Size:
    """The size of a problem: classes, rows and features of both domains.

    `density` is the share of the features of a row that are stored, one of dense rows.
    """

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

    def __str__(self) -> str:
        """Describe the size in one line."""
        return (
            f"{self.name}: {self.n_classes} classes, source {self.n_source} x "
            f"{self.d_source}, target {self.n_labelled} labelled + "
            f"{self.n_unlabelled} unlabelled x {self.d_target}"
        )


def expected_work(
    method: type[Any], size: Size, options: Mapping[str, Any]
) -> tuple[float, float]:
    """Return about how many seconds a fit takes on one thread, and MB beside data.

    Parameters
    ----------
    method : type
        The estimator's class; its `work` says so for its default options.
    size : Size
        Size of the problem.
    options : mapping
        Options in place of defaults. Those count that `work` takes, and `max_iter`, to
        which the seconds are proportional.
    """
    taken, defaults = defaults_of(method.work), defaults_of(method)
    chosen = {name: value for name, value in options.items() if name in taken}
    seconds, megabytes = method.work(size, **chosen)
    usual = defaults.get("max_iter")
    share = options.get("max_iter", usual) / usual if usual else 1.0
    return share * seconds, megabytes
