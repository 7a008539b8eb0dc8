"""What a fit reads: views and splits of a task, trial by trial."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import LABELLED
from cdspp.methods.base import UNLABELLED, SourceDomain
from cdspp.stages.artifacts import SPLIT_COLUMNS, read_features, read_rows

__all__ = ["TaskFiles", "Trial", "read_trials"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial of a task: what a fit may see.

    Attributes
    ----------
    number : int
        Number of the trial, from 1.
    X : ndarray of shape (n_target, d_t)
        Target rows.
    y : object ndarray of shape (n_target,)
        Their labels, -1 where unlabelled.
    test_ids : ndarray of str
        Ids of the unlabelled rows, in their order.
    source : SourceDomain
        Labelled source rows.
    source_ids, labelled_ids : ndarray of str
        Ids of the source rows and the labelled target rows.
    """

    number: int
    X: NDArray[Any]
    y: NDArray[Any]
    test_ids: NDArray[Any]
    source: SourceDomain
    source_ids: NDArray[Any]
    labelled_ids: NDArray[Any]

    @property
    def labelled(self) -> SourceDomain:
        """The labelled target rows."""
        known = np.array([label != UNLABELLED for label in self.y])
        return SourceDomain(self.X[known], self.y[known])


@dataclass(frozen=True)
class TaskFiles:
    """What a fit reads of a task: two views and two splits, and no test label.

    The one exception is `prior`, where a study asks for it.

    Attributes
    ----------
    source_features, target_features : path
        NPZ files of the views; neither holds a label.
    source_split, target_split : path
        Parquet files of a block's splits; test samples have no label there.
    prior : path, optional
        Parquet file of the shares of the classes by trial, for a method that is told
        them (`cdspp.stages.shares`).
    """

    source_features: PathLike
    target_features: PathLike
    source_split: PathLike
    target_split: PathLike
    prior: PathLike | None = None


def read_trials(files: TaskFiles, *, overlap: str = "exclude") -> Iterator[Trial]:
    """Yield the trials of a block.

    Source and target may be views of the same samples, as in a task within one domain.

    Parameters
    ----------
    files : TaskFiles
        What to read.
    overlap : {"exclude", "keep"}, default="exclude"
        Whether unlabelled target samples that are labelled source samples of the same
        trial, under the same id, are left out.

    Raises
    ------
    DataError
        A file is damaged, or features and splits are not of the same samples.
    """
    source = read_features(files.source_features)
    target = read_features(files.target_features)
    drawn = read_rows(files.source_split, SPLIT_COLUMNS)
    given = read_rows(files.target_split, SPLIT_COLUMNS)
    _check_ids(drawn, source.ids, files.source_features)
    _check_ids(given, target.ids, files.target_features)
    X_source, X_target = _dense(source.X), _dense(target.X)
    for number in np.unique(given["trial"]):
        left = {k: v[drawn["trial"] == number] for k, v in drawn.items()}
        right = {k: v[given["trial"] == number] for k, v in given.items()}
        labelled = right["role"] == LABELLED
        if overlap == "exclude":
            kept = labelled | ~np.isin(right["id"].astype(str), left["id"].astype(str))
            right = {k: v[kept] for k, v in right.items()}
            labelled = labelled[kept]
        y = right["label"].copy()
        y[~labelled] = UNLABELLED
        yield Trial(
            number=int(number),
            X=X_target[right["row"]],
            y=y,
            test_ids=right["id"][~labelled],
            source=SourceDomain(X_source[left["row"]], left["label"]),
            source_ids=left["id"],
            labelled_ids=right["id"][labelled],
        )


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _check_ids(
    split: Mapping[str, NDArray[Any]],
    ids: NDArray[Any],
    path: PathLike,
) -> None:
    rows = split["row"]
    if rows.max(initial=-1) >= len(ids) or np.any(ids[rows] != split["id"].astype(str)):
        raise DataError(
            f"{path}: its rows are not those that the splits were drawn from. Delete "
            "the features of this domain and run again."
        )
