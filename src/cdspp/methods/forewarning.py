"""What is said before a fit: that it needs much time, or more memory than there is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cdspp.core.errors import CostWarning
from cdspp.core.file_rows import FileRows
from cdspp.core.memory import available_megabytes, told_memory
from cdspp.core.wording import duration
from cdspp.methods.size import Size, expected_work

if TYPE_CHECKING:
    from cdspp.methods.base import HeterogeneousClassifier, Problem

__all__ = ["LONG_SECONDS", "warn_of_cost"]

# Shorter fits need no word.
LONG_SECONDS = 30.0
# Megabytes that are not looked for: less than importing this package takes.
ALWAYS_FREE = 64.0


def warn_of_cost(model: HeterogeneousClassifier, problem: Problem) -> None:
    """Warn where a fit is expected to take long, or more memory than is free.

    Memory is not told of rows that stay in their file: who reads those refuses by
    itself.

    Parameters
    ----------
    model : HeterogeneousClassifier
        The estimator; its `work` tells what a fit takes beside the rows.
    problem : Problem
        What it is about to be fitted to.

    Warns
    -----
    CostWarning
        With the numbers. The estimates are within a factor of about two.
    """
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
    seconds, needed = expected_work(type(model), size, model.get_params(deep=False))
    parts = problem.X_source, problem.X_labelled, problem.X_unlabelled
    if any(isinstance(rows, FileRows) for rows in parts):
        needed = 0.0
    for told in _costs(seconds, needed):
        warnings.warn(
            f"{size.name} is expected to {told}, for {size.n_source} source and "
            f"{size.n_target} target rows. Leave rows or features out, or choose "
            "another method.",
            CostWarning,
            stacklevel=3,
        )


def _costs(seconds: float, needed: float) -> Iterator[str]:
    """Yield what is too much."""
    there = available_megabytes() if needed > ALWAYS_FREE else None
    if there is not None and needed > there:
        free = f"{told_memory(there)} are free"
        yield f"need about {told_memory(needed)} of memory, of which {free}"
    if seconds >= LONG_SECONDS:
        yield f"take about {duration(seconds)} on one core"
