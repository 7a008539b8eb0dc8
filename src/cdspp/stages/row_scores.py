"""Scores of single test rows: the basis of standard errors over rows.

One NPZ file a benchmark holds, for the last iteration of every fit, a matrix of trials
by rows of the target domain, and for every task the class of each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cdspp.core.files import atomic, read_arrays
from cdspp.core.names import PathLike, task_domains
from cdspp.stages.artifacts import FitFile

_CLASSES = "classes"
_UNTESTED = -1


class RowScoreWriter:
    """Collects the fits of a benchmark and writes which rows they predict rightly.

    `truth` has the label of each id by target domain, empty where it has none.
    """

    def __init__(self, truth: Mapping[str, Mapping[str, str]]) -> None:
        # By id: its place among the rows that have a label, and that label.
        self._rows: dict[str, dict[str, tuple[int, str]]] = {}
        for domain, labels in truth.items():
            known = enumerate((key, label) for key, label in labels.items() if label)
            self._rows[domain] = {key: (place, label) for place, (key, label) in known}
        self._trials: dict[tuple[str, str, str], dict[int, NDArray[np.int8]]] = {}

    def add(self, fit: FitFile) -> None:
        """Add the last iteration of each trial of a fit."""
        key, columns = fit.key, fit.columns
        known = self._rows[task_domains(key.task).target]
        cell = self._trials.setdefault((key.setting, key.task, key.method), {})
        for number in np.unique(columns["trial"]):
            here = columns["trial"] == number
            here &= columns["iteration"] == columns["iteration"][here].max()
            found = np.full(len(known), _UNTESTED, dtype=np.int8)
            rows = zip(columns["id"][here], columns["predicted"][here], strict=True)
            for name, predicted in rows:
                if name in known:
                    place, label = known[name]
                    found[place] = predicted == label
            cell[int(number)] = found

    def write(self, path: PathLike) -> None:
        """Write the NPZ file."""
        arrays: dict[str, NDArray[np.int32] | NDArray[np.int8]] = {}
        for (setting, task, method), trials in sorted(self._trials.items()):
            known = self._rows[task_domains(task).target]
            if f"{_CLASSES}/{task}" not in arrays:
                labels = np.array([label for _, label in known.values()], dtype=object)
                codes = np.unique(labels, return_inverse=True)[1]
                arrays[f"{_CLASSES}/{task}"] = codes.astype(np.int32)
            shape = (max(trials, default=0), len(known))
            dense = np.full(shape, _UNTESTED, dtype=np.int8)
            for number, found in trials.items():
                dense[number - 1] = found
            arrays[f"{setting}/{task}/{method}"] = dense
        with atomic(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)


class RowScores:
    """Which rows the fits of a benchmark predict rightly, as `RowScoreWriter` wrote it.

    Every method raises DataError where the file is missing or damaged.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = Path(path)

    @cached_property
    def _arrays(self) -> dict[str, NDArray[np.int8]]:
        return read_arrays(self._path, "scores by row (NPZ)")

    def cells(self) -> list[tuple[str, str, str]]:
        """Return setting, task and method of all fits that are scored, sorted."""
        keys = [tuple(key.split("/")) for key in self._arrays]
        return sorted((key[0], key[1], key[2]) for key in keys if key[0] != _CLASSES)

    def classes(self, task: str) -> NDArray[np.int8]:
        """Return the class code of each row of a task's target domain."""
        return self._arrays[f"{_CLASSES}/{task}"]

    def right(self, setting: str, task: str, method: str) -> NDArray[np.float64]:
        """Return 1 where a row is predicted rightly, 0 where not, NaN where untested.

        A line a trial, a column a row; no line where the method did not run there.
        """
        found = self._arrays.get(f"{setting}/{task}/{method}")
        if found is None:
            return np.empty((0, len(self.classes(task))))
        return np.where(found == _UNTESTED, np.nan, found.astype(np.float64))
