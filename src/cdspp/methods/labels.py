"""Labels as users pass them: reading and checks, and scores of labelled rows."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from cdspp.core.errors import ClassWarning, LabelWarning
from cdspp.core.labels import (
    ALIKE,
    MINUS_ONE,
    UNLABELLED,
    as_text,
    class_list,
    class_table,
    is_missing,
    kept_labels,
    label_text,
    missing_markers,
    near_duplicates,
    no_common_class,
    one_class,
)

# Type checkers take a list of texts and None for no array.
Labels = ArrayLike | Sequence[Any]


def read_labels(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the labels of labelled rows, and a mask of these rows.

    ``None``, NaN, pandas' ``NA``, blank text, -1 and masked entries mark unlabelled
    rows. So do words such as "NA", with a warning, because they may be classes (see
    `cdspp.keep_labels`). Text mixed with numbers, and the text "-1", are refused.
    """
    if isinstance(y, np.ma.MaskedArray):
        y = y.tolist()  # None where masked
    elif isinstance(y, (list, tuple)):
        y = [None if value is np.ma.masked else value for value in y]
    rows = list, tuple, np.ndarray
    if hasattr(y, "isna") and hasattr(y, "to_numpy") and y.ndim == 1:
        is_numeric = getattr(y.dtype, "kind", "O") in "biuf" and not y.isna().any()
        y = y.to_numpy() if is_numeric else y.to_numpy(dtype=object)
    elif isinstance(y, list) and not any(isinstance(value, rows) for value in y):
        numbers = all(isinstance(v, (int, float, np.number, np.bool_)) for v in y)
        objects = np.empty(len(y), dtype=object)  # else NumPy turns NaN into text
        objects[:] = y
        y = np.asarray(y) if numbers and len(y) else objects
    if issparse(y):
        raise ValueError("y: expected an array or list of labels, got a sparse matrix.")
    array: NDArray[Any] = column_or_1d(y, warn=True)
    if is_text := array.dtype.kind in "OSU":
        entries = array.tolist()
        labelled = ~np.array([is_missing(value) for value in entries], dtype=bool)
        if not labelled.all() and (words := missing_markers(entries)):
            warnings.warn(
                f"read as unlabelled: {words}. If such a word is a class, fit inside "
                "`with cdspp.keep_labels(word):`.",
                LabelWarning,
                stacklevel=3,
            )
    elif array.dtype.kind == "f":
        labelled = ~np.isnan(array) & (array != UNLABELLED)
    else:
        labelled = np.asarray(array != UNLABELLED)
    values = array[labelled]
    return (_of_one_kind(values) if is_text else values), labelled


def _of_one_kind(values: NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array of their own type; refuse mixtures and the text -1."""
    labels = [as_text(v) if isinstance(v, bytes) else v for v in values.tolist()]
    texts = [isinstance(value, str) for value in labels]
    if any(texts) and not all(texts):
        text, number = labels[texts.index(True)], labels[texts.index(False)]
        raise ValueError(
            f"y mixes text and numbers: {text!r} and {number!r} are both labels. Use "
            "only text or only numbers."
        )
    if MINUS_ONE in {*labels} - kept_labels():
        raise ValueError(
            'y contains the text "-1". Mark unlabelled rows with None or the integer '
            "-1 in an object array: np.array([...], dtype=object). If it is a class, "
            'fit inside `with cdspp.keep_labels("-1"):`.'
        )
    return np.asarray(labels)


def check_classes(y: NDArray[Any], name: str = "y") -> None:
    """Refuse labels that are not classes; warn of different spellings of a class."""
    if y.dtype.kind == "U":  # any text is a class; scikit-learn's check would be slow
        if pairs := near_duplicates({name: {*y.tolist()}}):
            warnings.warn(_similar_labels(pairs), LabelWarning, stacklevel=4)
        return
    with ignore_few_rows():
        check_classification_targets(y)


@contextmanager
def ignore_few_rows() -> Iterator[None]:
    """Silence scikit-learn's warning that few rows per class look like regression."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater")
        yield


def in_form_of(target: NDArray[Any], source: NDArray[Any]) -> NDArray[Any]:
    """Return source labels, text or booleans, as the target writes the same classes.

    TRUE equals True, and a letter with a separate accent the composed letter.
    """
    if not {target.dtype.kind, source.dtype.kind} <= {"U", "b"}:
        return source
    forms = {label_text(label): label for label in np.unique(target).tolist()}
    classes, codes = np.unique(source, return_inverse=True)
    # Outer blanks are no form: they are refused like capitals.
    texts = [str(label) for label in classes.tolist()]
    names = [
        forms.get(label_text(label), label) if text == text.strip() else label
        for label, text in zip(classes.tolist(), texts, strict=True)
    ]
    return np.asarray(names)[codes] if names else source


def compare_classes(
    target: NDArray[Any], source: NDArray[Any], name: str, *, several: bool = False
) -> None:
    """Refuse classes that cannot be matched, and warn of those in only one domain.

    If labelled rows must be of `several` classes, a single class is refused as well.
    `name` is the name of the estimator, for messages.
    """
    if (target.dtype.kind == "U") != (source.dtype.kind == "U"):
        raise ValueError(
            f"Target labels have type {target.dtype} and source labels "
            f"{source.dtype}. Use text for both, or numbers for both."
        )
    places = {"y": target.tolist(), "source.y": source.tolist()}
    classes, source_classes = ({*labels} for labels in places.values())
    extra = {"target": classes - source_classes, "source": source_classes - classes}
    pairs = near_duplicates(extra)
    if pairs := [pair for pair in pairs if "(target)" in pair and "(source)" in pair]:
        raise ValueError(_similar_labels(pairs))
    for fault in no_common_class(places):
        raise ValueError(f"{name}: {fault}")
    if several and len(classes) == 1 < len(source_classes):
        context = f"source.y has {class_list(source_classes)}"
        raise ValueError(f"{name}: {one_class('y', target[0], context)}")
    if any(extra.values()):
        text = f"{name}: some classes are in one domain only"
        warnings.warn(f"{text}:{class_table(places)}", ClassWarning, stacklevel=3)


def _similar_labels(pairs: Sequence[str]) -> str:
    return (
        f"{ALIKE}: {'; '.join(pairs)}. Spell them alike, or if both are classes, fit "
        "inside `with cdspp.keep_labels(name):`."
    )


def labelled_accuracy(
    estimator: Any, X: Any, y: Labels, sample_weight: Any = None
) -> float:
    """Return the accuracy on the labelled rows; a scorer for model selection.

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
        The accuracy; NaN if no row has a label.
    """
    labels, labelled = read_labels(y)
    if not len(labels):
        return float("nan")
    rows = X[labelled] if hasattr(X, "shape") else np.asarray(X)[labelled]
    weights = None if sample_weight is None else np.asarray(sample_weight)[labelled]
    is_correct = np.asarray(estimator.predict(rows)) == labels
    return float(np.average(is_correct, weights=weights))
