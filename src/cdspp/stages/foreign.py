"""Predictions made elsewhere, taken for a trial as if a method had made them here."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.core.errors import DataError, MethodFailed
from cdspp.core.names import MAIN
from cdspp.core.provenance import Usage
from cdspp.core.wording import counted
from cdspp.methods.base import UNLABELLED, Round
from cdspp.methods.collapse import find_collapse
from cdspp.stages.trials import Trial

__all__ = ["COLUMNS", "foreign_places", "read_foreign", "take_trial"]

PathLike = str | os.PathLike[str]

COLUMNS = ("task", "trial", "id", "predicted")
# Those of one benchmark, or of the main run, need not say so.
NARROWER = ("benchmark", "setting")


def foreign_places(path: PathLike) -> dict[str, list[Any]]:
    """Return which tasks, trials, benchmarks and settings a file has predictions of.

    That is, distinct values by column: `task`, `trial` (integers), `benchmark`,
    `setting`; none of a column that is not there. The file is CSV unless it is Parquet.
    It raises DataError where there is no such file, it is damaged or lacks a column, or
    a trial is not a number.
    """
    names = ("task", *NARROWER)
    found = _read(path, ("trial", *names))
    trials = _numbers(path, found["trial"], "int64")
    texts = found.reindex(columns=list(names)).dropna(axis=1, how="all").astype("str")
    places = {name: texts[name].unique().tolist() for name in texts}
    return dict.fromkeys(names, []) | places | {"trial": trials.unique().tolist()}


def _read(path: PathLike, names: Collection[str]) -> pd.DataFrame:
    """Read those of some columns that are there; of CSV all are texts."""
    try:
        if _is_parquet(path):
            import pyarrow.parquet as pq

            found = list(pq.read_schema(path).names)
        else:
            found = list(pd.read_csv(path, nrows=0).columns)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: expected a Parquet or CSV file of predictions ({error})."
        ) from error
    if lacking := [name for name in COLUMNS if name not in found]:
        raise DataError(
            f"{path}: lacks {', '.join(lacking)}. Expected the columns "
            f"{', '.join(COLUMNS)}, perhaps {', '.join(NARROWER)} and confidence."
        )
    kept = [name for name in found if name in names]
    if _is_parquet(path):
        return pd.read_parquet(path, columns=kept)
    return pd.read_csv(path, usecols=kept, dtype="str", keep_default_na=False)


def _numbers(path: PathLike, values: pd.Series, kind: str) -> pd.Series:
    try:
        return values.astype(kind)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{path}: expected a number in each row of {values.name}, got {error}."
        ) from error


def read_foreign(
    path: PathLike, *, benchmark: str, setting: str, task: str
) -> pd.DataFrame:
    """Read the predictions of a task, with their confidence, NaN where none is told.

    A file without the column `setting` is of the main run, one without `benchmark` of
    each that has the task. DataError as of `foreign_places`, or where a confidence is
    not a number.
    """
    found = _read(path, (*COLUMNS, *NARROWER, "confidence"))
    wanted = {"benchmark": benchmark, "setting": setting, "task": task}
    for name, value in wanted.items():
        if name in found:
            found = found[found[name].astype("str") == value]
    if "setting" not in found and setting != MAIN:
        found = found.iloc[:0]
    found = found if "confidence" in found else found.assign(confidence=np.nan)
    kinds = {"trial": "int64", "confidence": "float64"}
    numbers = {name: _numbers(path, found[name], kinds[name]) for name in kinds}
    texts = {name: found[name].astype("str") for name in ("id", "predicted")}
    return found.assign(**numbers, **texts)


def take_trial(
    predictions: pd.DataFrame, path: PathLike, trial: Trial
) -> tuple[dict[str, Any], list[Round]]:
    """Return what a record says of a trial, and its one round.

    The predictions are those of `read_foreign`, from the file at `path`.
    """
    outcome: dict[str, Any] = {"trial": trial.number, "status": "ok", "reason": ""}
    outcome |= {"collapsed": "", "crashed": False}
    outcome |= dict.fromkeys(Usage().as_dict())  # measured elsewhere, if at all
    try:
        answer = _round(predictions, path, trial)
    except MethodFailed as failure:
        return outcome | {"status": "failed", "reason": str(failure)}, []
    n_classes = len({*np.asarray(trial.labelled.y)})
    collapse = find_collapse(answer.prediction, n_classes, rows={})
    return outcome | {"collapsed": collapse.kind}, [answer]


def _round(predictions: pd.DataFrame, path: PathLike, trial: Trial) -> Round:
    """Return the predictions of a trial in the order of its unlabelled rows.

    Samples that the trial does not test are left out. It raises MethodFailed where
    there is none of this trial, and DataError where a row that it tests has none or
    several, or one of an unknown label.
    """
    here = predictions[predictions["trial"] == trial.number]
    if here.empty:
        name = Path(path).name
        raise MethodFailed(f"{name} has no predictions of trial {trial.number}")
    here = here[here["id"].isin(trial.test_ids.tolist())]
    where = f"{path}: trial {trial.number}"
    if (twice := here["id"].duplicated()).any():
        name = here["id"][twice].iloc[0]
        raise DataError(f"{where}: {name} is predicted more than once; keep one row.")
    here = here.set_index("id").reindex(trial.test_ids)
    if (without := here["predicted"].isna()).any():
        raise DataError(
            f"{where}: {counted(int(without.sum()), 'unlabelled row')} of {len(here)} "
            f"without a prediction, {here.index[without][0]} first. Expected one for "
            "each that cdspp export-splits names."
        )
    known = {str(label) for label in [*np.asarray(trial.source.y), *trial.y]} - {
        str(UNLABELLED)
    }
    if unknown := set(here["predicted"]) - known:
        raise DataError(
            f"{where}: {sorted(unknown)[0]!r} is no class. Expected "
            f"{', '.join(sorted(known))}."
        )
    confidence = here["confidence"].to_numpy(dtype=np.float64)
    return Round(1, here["predicted"].to_numpy(dtype=object), confidence)


def _is_parquet(path: PathLike) -> bool:
    return Path(path).suffix == ".parquet"
