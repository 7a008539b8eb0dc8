"""What a fit costs: rough seconds and memory, for schedulers and for plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cdspp.base import HeterogeneousClassifier

__all__ = ["Cost", "Size", "fit_cost"]

MIB = 2.0**20
# Resident memory of a job that has imported the library, and with torch.
START_UP_MB, TORCH_MB = 250.0, 350.0
# The rows as read (float32), as float64, their subsets and a normalised copy.
COPIES = 4


@dataclass(frozen=True)
class Size:
    """The size of a problem: classes, rows and features of both domains."""

    name: str
    n_classes: int
    n_source: int
    d_source: int
    n_labelled: int
    n_unlabelled: int
    d_target: int

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


class Cost(NamedTuple):
    """Processor seconds of one fit on one thread, and peak memory of its process."""

    seconds: float
    megabytes: float


def fit_cost(method: type[HeterogeneousClassifier], size: Size) -> Cost:
    """Estimate the cost of one fit of a method, within a factor of about two.

    Parameters
    ----------
    method : type
        The estimator's class; its `work` gives what it adds to the data itself.
    size : Size
        Size of the problem.
    """
    values = size.n_source * size.d_source + size.n_target * size.d_target
    seconds, more = method.work(size)
    start = START_UP_MB + (TORCH_MB if method.needs_torch else 0.0)
    return Cost(seconds, start + COPIES * 8 * values / MIB + more)
