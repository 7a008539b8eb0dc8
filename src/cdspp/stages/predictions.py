"""Predictions of rows that have no label, from the trials of a method on a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from cdspp.core.files import write_csv
from cdspp.core.names import PathLike, task_domains
from cdspp.stages.artifacts import labels_by_id, read_fit


def vote(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return for each row the label that most trials predict, ties to the first name.

    `predictions` are rows with `FIT_COLUMNS` of one method on one task; the last
    iteration of each trial counts. The result is sorted by `id`: `predicted`, the share
    of `trials` that agree (`agreement`), and their mean `confidence`, NaN where the
    method has none.
    """
    last = predictions.groupby("trial")["iteration"].transform("max")
    rows = predictions[predictions["iteration"] == last]
    votes = rows.groupby(["id", "predicted"])["confidence"].agg(["size", "mean"])
    votes = votes.reset_index().sort_values(
        ["id", "size", "predicted"], ascending=[True, False, True]
    )
    trials = rows.groupby("id").size()
    best = votes.drop_duplicates("id").set_index("id")
    best = best.assign(trials=trials, agreement=best["size"] / trials)
    found = best.rename(columns={"mean": "confidence"}).reset_index()
    return found[["id", "predicted", "agreement", "trials", "confidence"]]


def write_predictions(
    *, fits: Iterable[PathLike], labels: Iterable[PathLike], outputs: Sequence[PathLike]
) -> None:
    """Write what each method predicts for the rows of its target without a label.

    `fits` are the predictions of the main run, `labels` files ``<domain>.parquet``, one
    for each target domain; a CSV file is written for each
    ``.../<benchmark>/<task>/<method>.csv`` of `outputs`.
    """
    known = {Path(path).stem: labels_by_id(path) for path in labels}
    blocks: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in fits:
        fit = read_fit(path)
        rows, task = pd.DataFrame(fit.columns), fit.key.task
        target = known[task_domains(task).target]
        missing = [not target.get(name) for name in rows["id"]]
        blocks.setdefault((task, fit.key.method), []).append(rows[missing])
    for output in map(Path, outputs):
        cell_rows = blocks[output.parent.name, output.stem]
        write_csv(output, vote(pd.concat(cell_rows, ignore_index=True)))
