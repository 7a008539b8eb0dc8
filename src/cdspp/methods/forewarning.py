"""What is said before a fit: that it needs more memory than there is."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from cdspp.core.errors import CostWarning
from cdspp.core.file_rows import FileRows
from cdspp.core.memory import available_megabytes, told_memory

if TYPE_CHECKING:
    from cdspp.methods.base import HeterogeneousClassifier, Problem

__all__ = ["ProblemSize", "warn_of_memory"]


class ProblemSize(NamedTuple):
    """Classes, rows and features of a problem, as `work` of a method asks for them."""

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


def warn_of_memory(model: HeterogeneousClassifier, problem: Problem) -> None:
    """Warn where a fit is expected to need more memory than is free.

    Rows that stay in their file are left out: who reads those refuses by itself.

    Parameters
    ----------
    model : HeterogeneousClassifier
        The estimator; its `work` tells what a fit takes beside the rows.
    problem : Problem
        What it is about to be fitted to.

    Warns
    -----
    CostWarning
        With both numbers. The estimate is within a factor of about two.
    """
    parts = problem.X_source, problem.X_labelled, problem.X_unlabelled
    if any(isinstance(rows, FileRows) for rows in parts):
        return
    n_source, d_source = problem.X_source.shape
    n_unlabelled, d_target = problem.X_unlabelled.shape
    size = ProblemSize(
        n_classes=problem.n_classes,
        n_source=n_source,
        d_source=d_source,
        n_labelled=len(problem.y_labelled),
        n_unlabelled=n_unlabelled,
        d_target=d_target,
    )
    _, needed = model.work(size)
    there = available_megabytes()
    if there is None or needed <= there:
        return
    told = (
        f"{type(model).__name__} is expected to need about {told_memory(needed)} of "
        f"memory for {size.n_source} source and {size.n_target} target rows, and "
        f"{told_memory(there)} are free. Leave rows or features out, or choose another "
        "method."
    )
    warnings.warn(told, CostWarning, stacklevel=3)
