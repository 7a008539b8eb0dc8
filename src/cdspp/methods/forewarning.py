"""What is said before a fit: that it needs more memory than there is."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from cdspp.core.errors import CostWarning
from cdspp.core.file_rows import FileRows
from cdspp.core.memory import available_megabytes, told_memory
from cdspp.methods.size import Size

if TYPE_CHECKING:
    from cdspp.methods.base import HeterogeneousClassifier, Problem

__all__ = ["warn_of_memory"]


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
    size = Size(
        name=type(model).__name__,
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
        f"{size.name} is expected to need about {told_memory(needed)} of "
        f"memory for {size.n_source} source and {size.n_target} target rows, and "
        f"{told_memory(there)} are free. Leave rows or features out, or choose another "
        "method."
    )
    warnings.warn(told, CostWarning, stacklevel=3)
