"""What a finished study found, as data frames."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.summary import read_scores, score_files
from cdspp.report.tables.claims.claims import CLAIM_COLUMNS
from cdspp.stages.artifacts import read_csv

__all__ = ["Results", "load_results"]


@dataclass(frozen=True, eq=False)
class Results:
    """What a study found.

    Attributes
    ----------
    scores : DataFrame
        Accuracy by benchmark, setting, task, method, trial and iteration, with the
        status of the trial, whether it has collapsed, and its number of test samples.
    fits : DataFrame
        Outcome of every fit: status and reason, seconds, memory.
    comparisons : DataFrame
        By benchmark, method and task: what the method gains over the baseline and over
        itself in every other source state, and the verdict on its source.
    claims : DataFrame
        What the paper claims, with a verdict and its numbers by benchmark, what it
        claims of time at the end; empty in a study that does not ask (``paper:
        false``).
    """

    scores: pd.DataFrame
    fits: pd.DataFrame
    comparisons: pd.DataFrame
    claims: pd.DataFrame


def load_results(folder: str | os.PathLike[str]) -> Results:
    """Load what a study found.

    Parameters
    ----------
    folder : path
        ``results/<study>``.

    Returns
    -------
    Results
        Data frames; accuracies and gains are fractions.

    Raises
    ------
    DataError
        The folder has no scores, or a table is missing.
    """
    root = Path(folder)
    scores = {file.stem: read_scores(file) for file in score_files(root)}
    tables = [root / f"tables/source-help_{name}.csv" for name in scores]
    records = sorted(root.glob("fits/**/[!.]*.json"))
    return Results(
        scores=pd.concat(scores, names=["benchmark"]).reset_index(level=0),
        fits=read_fit_records(records).outcomes,
        comparisons=pd.concat(map(read_comparisons, tables), ignore_index=True),
        claims=_claims(root / "tables/claims.csv", root / "timings/time-claims.csv"),
    )


def _claims(*paths: Path) -> pd.DataFrame:
    found = [read_csv(path, CLAIM_COLUMNS) for path in paths if path.is_file()]
    none = pd.DataFrame(columns=list(CLAIM_COLUMNS))
    return pd.concat(found or [none], ignore_index=True)
