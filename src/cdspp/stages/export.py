"""What another program needs to predict what a study tests: splits, and features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from cdspp.core.whole_files import atomic
from cdspp.stages.artifacts import read_features
from cdspp.stages.foreign import COLUMNS
from cdspp.stages.trials import TaskFiles, Trial, read_trials

__all__ = ["export_benchmark"]

README = """\
splits.csv has what each trial of a task may use: the role of a sample (source,
labelled, unlabelled), its id, its domain, and its label unless it is unlabelled.
features/ has the rows of a domain by id, in columns x0, x1 and so on, a file a view:
source rows are from the view {source}, target rows from {target}.

Predict every unlabelled sample of every task and trial, and write a Parquet or CSV file
with the columns {columns} (and confidence, if there is one). It
becomes a row of the study as a method: {{id: theirs, predictions: theirs.csv}}.
"""


def export_benchmark(
    folder: Path, blocks: Iterable[tuple[str, TaskFiles]], overlap: str
) -> int:
    """Write splits and features of a benchmark; no label of a test sample is in them.

    ``splits.csv``, ``features/*.parquet`` and ``README.txt`` are of each task with what
    its fits read, block by block. It returns the number of trials, over all tasks.
    """
    tables, views = [], dict[str, str]()
    for task, files in blocks:
        domains = dict(zip(("source", "target"), task.split("_"), strict=True))
        views |= {role: str(vars(files)[f"{role}_features"]) for role in domains}
        for role in domains:
            _write_features(folder, Path(vars(files)[f"{role}_features"]))
        for trial in read_trials(files, overlap=overlap):
            tables.append(_split(trial, domains).assign(task=task))
    with atomic(folder / "splits.csv") as temporary:
        pd.concat(tables).to_csv(temporary, index=False)
    names = {role: Path(view).stem.partition(".")[2] for role, view in views.items()}
    with atomic(folder / "README.txt") as temporary:
        told = README.format(columns=", ".join(COLUMNS), **names)
        temporary.write_text(told, encoding="utf-8")
    return len(tables)


def _split(trial: Trial, domains: Mapping[str, str]) -> pd.DataFrame:
    parts = (
        ("source", trial.source_ids, np.asarray(trial.source.y), domains["source"]),
        ("labelled", trial.labelled_ids, trial.labelled.y, domains["target"]),
        ("unlabelled", trial.test_ids, "", domains["target"]),
    )
    names = ("role", "id", "label", "domain")
    frames = [pd.DataFrame(dict(zip(names, part, strict=True))) for part in parts]
    found = pd.concat(frames).assign(trial=trial.number)
    return found[["trial", "role", "domain", "id", "label"]]


def _write_features(folder: Path, path: Path) -> None:
    output = folder / "features" / f"{path.stem}.parquet"
    if output.is_file() and output.stat().st_mtime > path.stat().st_mtime:
        return
    features = read_features(path)
    X = features.X if isinstance(features.X, np.ndarray) else features.X.toarray()
    columns = {f"x{number}": column for number, column in enumerate(X.T)}
    with atomic(output) as temporary:
        pd.DataFrame({"id": features.ids.astype("str"), **columns}).to_parquet(
            temporary, index=False
        )
