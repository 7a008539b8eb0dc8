"""Cross-validation where most rows have no label: leave those to the fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold

from cdspp.methods.labels import read_labels
from cdspp.methods.problem import Int


class LabelledKFold(StratifiedKFold):
    """Stratified folds of the labelled rows; unlabelled ones are in every training set.

    Pass it as `cv` to `cross_val_score` or `GridSearchCV`. The method has to predict
    new rows: a transductive one cannot predict held-out rows.

    Parameters
    ----------
    n_splits : int, default=3
        Number of folds; no class may have fewer labelled rows.
    shuffle : bool, default=True
        Whether rows are shuffled within their class first.
    random_state : int, default=0
        Seed of the shuffle.

    Examples
    --------
    >>> import numpy as np
    >>> from cdspp.methods.selection import LabelledKFold
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
        if y is None:
            raise ValueError("LabelledKFold needs y, to know which rows are labelled.")
        labels, labelled = read_labels(y)
        classes, counts = np.unique(labels, return_counts=True)
        if not len(classes):
            raise ValueError("LabelledKFold: no row has a label. Label some rows.")
        if (least := counts.min()) < self.n_splits:
            raise ValueError(
                f"LabelledKFold: {self.n_splits} folds need as many labelled rows of "
                f"each class, and class {classes[counts.argmin()]} has {least}. Lower "
                "n_splits or label more rows."
            )
        rows, rest = np.flatnonzero(labelled), np.flatnonzero(~labelled)
        for train, test in super().split(rows, labels):
            yield np.sort(np.concatenate([rows[train], rest])), rows[test]


def labelled_accuracy(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: Any = None
) -> float:
    """Return the accuracy on the labelled rows: a scorer for any splitter.

    Parameters
    ----------
    estimator : object
        A fitted estimator.
    X, y : array-like
        Rows and their labels; the score ignores unlabelled rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of all rows.

    Returns
    -------
    float
        NaN where no row has a label.
    """
    labels, labelled = read_labels(y)
    if not len(labels):
        return float("nan")
    rows = X[labelled] if hasattr(X, "shape") else np.asarray(X)[labelled]
    weights = None if sample_weight is None else np.asarray(sample_weight)[labelled]
    right = np.asarray(estimator.predict(rows)) == labels
    return float(np.average(right, weights=weights))
