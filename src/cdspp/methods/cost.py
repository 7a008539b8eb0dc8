"""The size of a problem, the expected cost of a fit, and warnings of large costs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from scipy import sparse

from cdspp.core.discovery import defaults_of
from cdspp.core.errors import CostWarning
from cdspp.core.linalg import MAX_DENSE
from cdspp.core.memory import available_megabytes, memory_text
from cdspp.core.wording import duration

if TYPE_CHECKING:
    from cdspp.methods.problem import Problem

LONG_SECONDS = 30.0
ALWAYS_FREE = 64.0  # megabytes, less than importing this package takes
MIB = 2.0**20
# Resident memory of a job that has imported the library, and with torch.
START_UP_MB, TORCH_MB = 250.0, 350.0
# The rows as read (float32), as float64, their subsets and a normalised copy.
COPIES = 4


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


class Cost(NamedTuple):
    """Processor seconds on one thread, and peak memory of the process."""

    seconds: float
    megabytes: float


def fit_cost(
    method: type[Any],
    size: Size,
    options: Mapping[str, Any] = MappingProxyType({}),
    *,
    with_data: bool = True,
) -> Cost:
    """Estimate the cost of one fit of a method, within a factor of about two.

    The `cost` of its class estimates what a fit adds to the data. The estimate uses
    `max_iter`, which multiplies the seconds, and the `options` that `cost` takes;
    `with_data` adds the memory of the imported library and of the data.
    """
    accepted = defaults_of(method.cost)
    chosen = {name: value for name, value in options.items() if name in accepted}
    seconds, megabytes = method.cost(size, **chosen)
    default = defaults_of(method).get("max_iter")
    share = options.get("max_iter", default) / default if default else 1.0
    if not with_data:
        return Cost(share * seconds, megabytes)
    values: float = size.n_source * size.d_source + size.n_target * size.d_target
    if method.accepts_sparse and (method.bridges or values > MAX_DENSE):
        values *= size.density
    start = START_UP_MB + (TORCH_MB if method.needs_torch else 0.0)
    return Cost(share * seconds, start + COPIES * 8 * values / MIB + megabytes)


def warn_of_cost(model: Any, problem: Problem) -> None:
    """Warn if a fit is expected to take long, or more memory than is free."""
    sources = [X for X, _ in problem.sources]
    rows: list[Any] = [*sources, problem.X_labelled, problem.X_unlabelled]
    n_unlabelled, d_target = problem.X_unlabelled.shape
    size = Size(
        name=type(model).__name__,
        n_classes=problem.n_classes,
        n_source=sum(X.shape[0] for X in sources),
        d_source=max(X.shape[1] for X in sources),
        n_labelled=len(problem.y_labelled),
        n_unlabelled=n_unlabelled,
        d_target=d_target,
        density=max(
            X.nnz / max(X.shape[0] * X.shape[1], 1) if sparse.issparse(X) else 1.0
            for X in rows
        ),
    )
    options, texts = model.get_params(deep=False), []
    cost = fit_cost(type(model), size, options, with_data=False)
    if cost.megabytes > ALWAYS_FREE:
        free = available_megabytes()
        if free is not None and cost.megabytes > free:
            needed = f"need about {memory_text(cost.megabytes)} of memory"
            texts.append(f"{needed}, but only {memory_text(free)} is free")
    if cost.seconds >= LONG_SECONDS:
        texts.append(f"take about {duration(cost.seconds)} on one core")
    for text in texts:
        warnings.warn(
            f"{size.name} is expected to {text}, for {size.n_source} source and "
            f"{size.n_target} target rows. Leave rows or features out, or choose "
            "another method.",
            CostWarning,
            stacklevel=3,
        )
