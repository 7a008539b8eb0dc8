"""How many fits of a study failed, in a sentence that nobody misses."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from cdspp.analysis.summary import read_scores
from cdspp.core.wording import counted

__all__ = ["failure_text", "failures_of_scores"]

_FIT = ["benchmark", "setting", "task", "method", "trial"]


def failure_text(outcomes: pd.DataFrame) -> str:
    """Say how many fits failed, and of which methods; nothing where none did.

    Parameters
    ----------
    outcomes : DataFrame
        With benchmark, setting, task, method, trial and status; one row a fit or more.

    Examples
    --------
    >>> import pandas as pd
    >>> fit = {"benchmark": "b", "setting": "main", "task": "a_b", "method": "pa"}
    >>> states = {1: "ok", 2: "failed"}
    >>> fits = [fit | {"trial": n, "status": s} for n, s in states.items()]
    >>> failure_text(pd.DataFrame(fits))
    '1 of 2 fits failed (pa 1).'
    """
    fits = outcomes.drop_duplicates(_FIT)
    failed = fits[fits["status"] != "ok"]
    if failed.empty:
        return ""
    numbers = failed.groupby("method", sort=False).size().items()
    methods = ", ".join(f"{method} {number}" for method, number in numbers)
    return f"{len(failed)} of {counted(len(fits), 'fit')} failed ({methods})."


def failures_of_scores(paths: Iterable[str | os.PathLike[str]]) -> str:
    """Say how many fits failed, by the score files of a study that are there.

    Parameters
    ----------
    paths : iterable of path
        ``scores/<benchmark>.parquet``.

    Raises
    ------
    DataError
        A file is damaged or holds something else.
    """
    files = [path for path in map(Path, paths) if path.is_file()]
    scores = [read_scores(path).assign(benchmark=path.stem) for path in files]
    return failure_text(pd.concat(scores)) if scores else ""
