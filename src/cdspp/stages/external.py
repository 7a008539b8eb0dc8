"""External programs as methods: the inputs they read, and their predictions."""

from collections.abc import Callable, Collection, Container, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.core.errors import DataError
from cdspp.core.files import write_csv
from cdspp.core.names import MAIN, PathLike, feature_names, task_domains
from cdspp.core.outputs import atomic
from cdspp.core.wording import counted
from cdspp.methods.base import UNLABELLED, Iteration
from cdspp.methods.problem import find_collapse
from cdspp.stages.formats import read_features
from cdspp.stages.trials import TaskFiles, Trial, read_trials, source_features

COLUMNS = ("task", "trial", "id", "predicted")
# Files of one benchmark, or of the main run, need not have these columns.
NARROWER = ("benchmark", "setting")


def export_benchmark(
    folder: Path,
    blocks: Iterable[tuple[str, TaskFiles]],
    overlap: str,
    trials: Container[int] | None = None,
) -> int:
    """Write splits and features of a benchmark, without labels of test samples.

    `blocks` has each task with the files of its fits. Returns the number of trials
    over all tasks; only `trials` are written, or all.
    """
    tables, views, exported = [], dict[str, str](), set[Path]()
    for task, files in blocks:
        of_sources = [Path(files[name]) for name in source_features(files)]
        target = Path(files["target_features"])
        views |= {"source": str(of_sources[0]), "target": str(target)}
        for path in (*of_sources, target):
            if path in exported:
                continue
            exported.add(path)
            output = folder / "features" / f"{'.'.join(feature_names(path))}.parquet"
            features = read_features(path)
            X = features.X
            X = X if isinstance(X, np.ndarray) else X.toarray()
            columns = {f"x{number}": column for number, column in enumerate(X.T)}
            rows = pd.DataFrame({"id": features.ids.astype("str"), **columns})
            with atomic(output) as temporary:
                rows.to_parquet(temporary, index=False)
        for trial in read_trials(files, numbers=trials, overlap=overlap):
            tables.append(_split(trial, task))
    write_csv(folder / "splits.csv", pd.concat(tables))
    names = {role: feature_names(view)[1] for role, view in views.items()}
    text = Path(__file__).with_name("export-readme.txt").read_text("utf-8")
    with atomic(folder / "README.txt") as temporary:
        temporary.write_text(text.format(columns=", ".join(COLUMNS), **names), "utf-8")
    return len(tables)


def _split(trial: Trial, task: str) -> pd.DataFrame:
    domains, target = task_domains(task)
    of_sources = zip(trial.ids_of_sources, trial.sources, domains, strict=True)
    parts = [
        *(("source", ids, np.asarray(s.y), domain) for ids, s, domain in of_sources),
        ("labelled", trial.labelled_ids, trial.labelled.y, target),
        ("unlabelled", trial.test_ids, "", target),
    ]
    names = ("role", "id", "label", "domain")
    frames = [pd.DataFrame(dict(zip(names, part, strict=True))) for part in parts]
    table = pd.concat(frames).assign(trial=trial.number, task=task)
    return table[["trial", "role", "domain", "id", "label", "task"]]


def external_places(path: PathLike) -> dict[str, list[Any]]:
    """Return the distinct tasks, trials, benchmarks and settings of predictions.

    The result has none of a column that the file lacks. DataError: the file is missing
    or damaged or lacks a required column, or a trial is not a number.
    """
    names = ("task", *NARROWER)
    table = _read(path, ("trial", *names))
    trials = _numbers(path, table["trial"], "int64")
    texts = table.reindex(columns=list(names)).dropna(axis=1, how="all").astype("str")
    places = {name: texts[name].unique().tolist() for name in texts}
    return dict.fromkeys(names, []) | places | {"trial": trials.unique().tolist()}


def _read(path: PathLike, names: Collection[str]) -> pd.DataFrame:
    """Read those named columns that the file has; a CSV file gives texts."""
    parquet = Path(path).suffix == ".parquet"
    try:
        if parquet:
            import pyarrow.parquet as pq

            names_in_file = list(pq.read_schema(path).names)
        else:
            names_in_file = list(pd.read_csv(path, nrows=0).columns)
    except (OSError, ValueError) as error:
        wrong = f"expected a Parquet or CSV file of predictions ({error})."
        raise DataError(f"{path}: {wrong}") from error
    if lacking := [name for name in COLUMNS if name not in names_in_file]:
        others = f"perhaps {', '.join(NARROWER)} and confidence"
        expected = f"Expected the columns {', '.join(COLUMNS)}, {others}."
        raise DataError(f"{path}: lacks {', '.join(lacking)}. {expected}")
    columns = [name for name in names_in_file if name in names]
    if parquet:
        return pd.read_parquet(path, columns=columns)
    return pd.read_csv(path, usecols=columns, dtype="str", keep_default_na=False)


def _numbers(path: PathLike, values: pd.Series, kind: str) -> pd.Series:
    try:
        return values.astype(kind)
    except (TypeError, ValueError) as error:
        wrong = f"expected a number in each row of {values.name}, got {error}."
        raise DataError(f"{path}: {wrong}") from error


def external_reader(
    path: PathLike, *, benchmark: str, setting: str, task: str
) -> Callable[[Trial], tuple[dict[str, Any], list[Iteration]]]:
    """Return a function that reads a trial's predictions and returns its iteration.

    Without the column `setting` a file belongs to the main run, without `benchmark` to
    each benchmark with the task. DataError as in `external_places`, or if a confidence
    is not a number; from the function, if an unlabelled row of the trial has no
    prediction or several, or one that is not a class.
    """
    table = _read(path, (*COLUMNS, *NARROWER, "confidence"))
    cell = {"benchmark": benchmark, "setting": setting, "task": task}
    for name, value in cell.items():
        if name in table:
            table = table[table[name].astype("str") == value]
    if "setting" not in table and setting != MAIN:
        table = table.iloc[:0]
    table = table if "confidence" in table else table.assign(confidence=np.nan)
    kinds = {"trial": "int64", "confidence": "float64"}
    numbers = {name: _numbers(path, table[name], kinds[name]) for name in kinds}
    texts = {name: table[name].astype("str") for name in ("id", "predicted")}
    return partial(_read_trial, table.assign(**numbers, **texts), path)


def _read_trial(
    predictions: pd.DataFrame, path: PathLike, trial: Trial
) -> tuple[dict[str, Any], list[Iteration]]:
    rows = predictions[predictions["trial"] == trial.number]
    if rows.empty:
        reason = f"{Path(path).name} has no predictions of trial {trial.number}"
        return {"status": "failed", "reason": reason}, []
    rows = rows[rows["id"].isin(trial.test_ids.tolist())]
    where = f"{path}: trial {trial.number}"
    if (is_repeated := rows["id"].duplicated()).any():
        name = rows["id"][is_repeated].iloc[0]
        raise DataError(f"{where}: {name} is predicted more than once; keep one row.")
    rows = rows.set_index("id").reindex(trial.test_ids)
    if (is_missing := rows["predicted"].isna()).any():
        lacking = f"{counted(int(is_missing.sum()), 'unlabelled row')} of {len(rows)}"
        fault = f"{lacking} without a prediction, first {rows.index[is_missing][0]}"
        expected = "Expected one for each row that cdspp export-splits lists."
        raise DataError(f"{where}: {fault}. {expected}")
    classes = {str(label) for label in [*np.asarray(trial.source.y), *trial.y]}
    classes -= {str(UNLABELLED)}
    if unknown := set(rows["predicted"]) - classes:
        expected = f"Expected {', '.join(sorted(classes))}, spelt as in splits.csv."
        raise DataError(f"{where}: {sorted(unknown)[0]!r} is not a class. {expected}")
    predicted = rows["predicted"].to_numpy(dtype=object)
    confidence = rows["confidence"].to_numpy(dtype=np.float64)
    n_classes = len({*np.asarray(trial.labelled.y)})
    collapsed = find_collapse(predicted, n_classes, rows={}).kind
    return {"collapsed": collapsed}, [Iteration(1, predicted, confidence)]
