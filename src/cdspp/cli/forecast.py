"""What a fit will cost, said before it runs; a sign of life while it does."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cdspp.core.errors import DataError
from cdspp.core.memory import available_megabytes, told_memory
from cdspp.core.wording import duration
from cdspp.methods.size import LONG_SECONDS

if TYPE_CHECKING:
    from cdspp.datasets.table_rows import DomainRows
    from cdspp.study.cost import Cost

__all__ = ["expected_cost", "refuse_memory", "told_while"]

log = logging.getLogger(__name__)


def expected_cost(
    method: str,
    target: DomainRows,
    source: DomainRows | None,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Cost:
    """Return what one fit of a method on rows of files is expected to cost."""
    from cdspp.methods import method_class
    from cdspp.study.cost import Size, fit_cost

    n_labelled = sum(map(bool, target.labels))
    given = source or target
    labelled = {label for rows in (target, given) for label in rows.labels if label}
    size = Size(
        name=target.path,
        n_classes=len(labelled),
        n_source=len(source.labels) if source else n_labelled,
        d_source=given.X.shape[1],
        n_labelled=n_labelled,
        n_unlabelled=len(target.labels) - n_labelled,
        d_target=target.X.shape[1],
    )
    return fit_cost(method_class(method), size, options)


def refuse_memory(method: str, cost: Cost, other_words: str) -> None:
    """Refuse a fit that needs more memory than there is.

    Parameters
    ----------
    method : str
        Its identifier.
    cost : Cost
        What it is expected to cost.
    other_words : str
        What to do instead, beside another method or fewer rows.

    Raises
    ------
    DataError
        With both numbers.
    """
    there = available_megabytes()
    if there is None or cost.megabytes <= there:
        return
    raise DataError(
        f"{method} would need about {told_memory(cost.megabytes)} of memory for so "
        f"many rows, and {told_memory(there)} are free. Leave rows or features out "
        f"(--scale pca keeps 50), choose another method, or {other_words}."
    )


@contextmanager
def told_while(what: str, seconds: float) -> Iterator[None]:
    """Say how long something is expected to take, if long, and where it stands.

    Parameters
    ----------
    what : str
        What runs within the block.
    seconds : float
        How long it is expected to.
    """
    started, over = time.monotonic(), threading.Event()

    def tell() -> None:
        while not over.wait(LONG_SECONDS):
            spent = time.monotonic() - started
            log.info("%s: %s of about %s", what, duration(spent), duration(seconds))

    if seconds >= LONG_SECONDS:
        log.info("%s: about %s on one core", what, duration(seconds))
    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
