"""The numbers of finished studies behind sentences of README and documentation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.verdicts import QUARTILES, standard_error_ratios
from cdspp.analysis.source_help import by_default, on_average, read_comparisons
from cdspp.core.errors import DataError
from cdspp.core.names import AVERAGE, PathLike

__all__ = ["KEYS", "Number", "read_numbers", "study_numbers", "write_numbers"]

KEYS = ["benchmark", "row", "what"]


class Number(NamedTuple):
    """A number or verdict of a study: of a row on a benchmark, averaged over tasks."""

    benchmark: str
    row: str
    what: str
    value: Any


def write_numbers(folder: PathLike, output: PathLike) -> Path:
    """Write ``<study>.csv`` below `output`, with the numbers of a finished study."""
    frame = pd.DataFrame(study_numbers(folder), columns=[*KEYS, "value"])
    frame["value"] = [f"{v:.6f}" if isinstance(v, float) else v for v in frame["value"]]
    path = Path(output, f"{Path(folder).resolve().name}.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False, lineterminator="\n")
    return path


def read_numbers(path: PathLike) -> dict[tuple[str, str, str], str]:
    """Return the numbers of a study, as text, by benchmark, row and quantity."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {(n.benchmark, n.row, n.what): n.value for n in frame.itertuples()}


def study_numbers(folder: PathLike) -> Iterator[Number]:
    """Yield accuracies, gains, verdicts and curves of a finished study.

    DataError: the folder has no overview, or no scores per sample.
    """
    tables = Path(folder, "tables")
    if not (tables / "overview.csv").is_file():
        raise DataError(f"{tables} has no overview.csv. Run the study first: cdspp run")
    for entry in _read(tables / "overview.csv"):
        if entry.trials:
            yield Number(entry.benchmark, entry.row, "accuracy", entry.mean)
            yield Number(entry.benchmark, entry.row, "trials", entry.trials)
    yield from _gains(read_comparisons(tables / "source-help.csv"))
    for path in sorted(tables.glob("source-help_*.csv")):
        yield from _own_verdicts(read_comparisons(path))
    for path in sorted(tables.glob("curve-*.csv")):
        for entry in _read(path):
            if entry.trials and entry.task != AVERAGE:
                what = f"{entry.curve} {entry.value:g} on {entry.task}"
                yield Number(entry.benchmark, entry.row, what, entry.mean)
    for kind, ratios in standard_error_ratios(folder).items():
        yield Number("", "", f"standard errors, {kind}: number", len(ratios))
        for share in QUARTILES if ratios else ():
            what = f"standard errors, {kind}: {share:g}"
            yield Number("", "", what, float(np.quantile(ratios, share)))


def _read(path: Path) -> Iterator[Any]:
    yield from pd.read_csv(path).astype(object).fillna("").itertuples()


def _gains(matrix: pd.DataFrame) -> Iterator[Number]:
    """Yield gains over every comparator, and verdicts corrected for the methods."""
    by_benchmark = (rows for _, rows in matrix.groupby("benchmark", sort=False))
    for group in chain.from_iterable(map(by_default, by_benchmark)):
        first = group.iloc[0]
        if not group["state"].any():
            continue
        for name in ("verdict", "reason", "accuracy_verdict", "balanced_verdict"):
            yield Number(first["benchmark"], first["row"], name, first[name])
        for entry in group.itertuples():
            place = first["benchmark"], first["row"]
            yield Number(*place, f"gain over {entry.comparator}", entry.gain)
            yield Number(
                *place, f"accuracy in {entry.comparator}", entry.comparator_accuracy
            )


def _own_verdicts(comparisons: pd.DataFrame) -> Iterator[Number]:
    """Yield the verdict on each method by itself, and numbers of tasks by verdict."""
    for group in by_default(comparisons):
        first = on_average(group).iloc[0]
        if not group["state"].any():
            continue
        place = first["benchmark"], first["row"]
        for name in ("verdict", "reason"):
            yield Number(*place, f"own {name}", first[name])
        tasks = group[group["task"] != AVERAGE].drop_duplicates("task")
        for word, count in tasks["verdict"].value_counts(sort=False).items():
            yield Number(*place, f"tasks: {word}", count)
