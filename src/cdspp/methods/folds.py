"""Folds of labelled rows; not with the labels, because most fits select nothing."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold

from cdspp.core.linalg import Int
from cdspp.methods.labels import read_labels


class LabelledKFold(StratifiedKFold):
    """Stratified folds of labelled rows; unlabelled rows are in every training set.

    Pass it as `cv` to `cross_val_score` or `GridSearchCV`. The method must be able to
    predict new rows, which transductive methods cannot.

    Parameters
    ----------
    n_splits : int, default=3
        Number of folds; every class needs as many labelled rows.
    shuffle : bool, default=True
        Whether to shuffle the rows of each class first.
    random_state : int, default=0
        Seed of the shuffle.

    Examples
    --------
    >>> import numpy as np
    >>> from cdspp.methods.folds import LabelledKFold
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> train, test = next(LabelledKFold(2, shuffle=False).split(np.eye(6), y))
    >>> train.tolist(), test.tolist()
    ([1, 3, 4, 5], [0, 2])
    """

    def __init__(
        self, n_splits: int = 3, *, shuffle: bool = True, random_state: int | None = 0
    ) -> None:
        seed = random_state if shuffle else None
        super().__init__(n_splits, shuffle=shuffle, random_state=seed)

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: Any = None
    ) -> Iterator[tuple[Int, Int]]:
        """Yield the rows of the training and the test part of each fold.

        ValueError: a class has fewer labelled rows than there are folds.
        """
        labels, labelled = read_labels(y)
        classes, counts = np.unique(labels, return_counts=True)
        if not len(classes):
            raise ValueError("LabelledKFold: no row has a label. Label some rows.")
        if (smallest := counts.min()) < self.n_splits:
            raise ValueError(
                f"LabelledKFold: {self.n_splits} folds need as many labelled rows per "
                f"class, but class {classes[counts.argmin()]} has {smallest}. Lower "
                "n_splits, or label more rows."
            )
        rows, unlabelled = np.flatnonzero(labelled), np.flatnonzero(~labelled)
        for train, test in super().split(rows, labels):
            yield np.sort(np.concatenate([rows[train], unlabelled])), rows[test]
