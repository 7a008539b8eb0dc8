"""Labels as they are given: which rows have one, and of which kind they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["UNLABELLED", "check_classes", "check_same_kind", "find_labelled", "plain"]

UNLABELLED = -1


def find_labelled(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which entries are labels; refuse the text "-1", which is none."""
    if y.dtype.kind in "UO" and any(isinstance(v, str) and v == "-1" for v in y):
        raise ValueError(
            'y holds the text "-1", which is not the mark of an unlabelled row. Use an '
            "object array with the integer -1: np.array([...], dtype=object)."
        )
    if y.dtype.kind == "O":
        unlabelled = [not isinstance(v, str) and v == UNLABELLED for v in y]
        return ~np.array(unlabelled, dtype=bool)
    if y.dtype.kind == "U":
        return np.ones(len(y), dtype=bool)
    return np.asarray(y != UNLABELLED)


def plain(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels of an object array in their own type (text or integer)."""
    return np.asarray(y.tolist()) if y.dtype.kind == "O" else y


def check_classes(y: NDArray[Any]) -> None:
    """Refuse labels that are no classes; one or two of each class are usual here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater")
        check_classification_targets(y)


def check_same_kind(y_target: NDArray[Any], y_source: NDArray[Any]) -> None:
    """Refuse text in one domain and numbers in the other."""
    if (y_target.dtype.kind == "U") != (y_source.dtype.kind == "U"):
        raise ValueError(
            f"Target labels have type {y_target.dtype} and source labels "
            f"{y_source.dtype}. Use text for both or numbers for both."
        )
