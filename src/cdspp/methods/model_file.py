"""A fitted model in a file of arrays and JSON, which is read without running code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from cdspp import __version__
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.names import NO_SCALE
from cdspp.core.scaling import Scaling
from cdspp.core.storage import Packer, read_parts, unpack, write_parts
from cdspp.methods import method_class
from cdspp.methods.base import HeterogeneousClassifier

__all__ = ["check_keepable", "load_model", "read_model", "save_model"]

FORMAT, SCHEMA = "cdspp model", 1
WHAT = "a model that `cdspp fit --model` wrote"
_ESTIMATOR = "method"


def check_keepable(model: HeterogeneousClassifier) -> None:
    """Refuse a model that could not be kept, or would be of no use; fitted or not.

    Raises
    ------
    DataError
        The method is transductive, or an option is an object.
    """
    name = type(model).__name__
    if model.transductive:
        raise DataError(
            f"{name} is transductive: it labels the rows of the fit and no others, so "
            "a kept model could predict nothing. Choose another method."
        )
    try:
        Packer().pack(model.get_params(deep=False), f"{name}")
    except DataError as error:
        raise DataError(
            f"{error} Give this option as number or text, or keep the model by joblib."
        ) from error


def save_model(
    path: str | os.PathLike[str],
    model: HeterogeneousClassifier,
    extras: Mapping[str, Any] | None = None,
) -> None:
    """Keep a fitted model: one NPZ file of its arrays, with a tree in JSON.

    Parameters
    ----------
    path : path
        The file to write.
    model : HeterogeneousClassifier
        A fitted estimator.
    extras : mapping, optional
        What else is to be kept: text, numbers, arrays, classes marked as storable.

    Raises
    ------
    DataError
        The method is transductive, or an option is an object.
    """
    check_is_fitted(model)
    check_keepable(model)
    packer = Packer(_parts)
    content = {"model": model, "extras": dict(extras or {})}
    tree = packer.pack(content, type(model).__name__)
    head = {"format": FORMAT, "schema": SCHEMA, "version": __version__}
    write_parts(path, {**head, "content": tree}, packer.arrays)


def load_model(path: str | os.PathLike[str]) -> HeterogeneousClassifier:
    """Load what `save_model` or ``cdspp fit --model`` kept; no code of the file runs.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    HeterogeneousClassifier
        The fitted estimator; it predicts as it did.

    Raises
    ------
    DataError
        The file is missing, damaged, another kind of file or of a later schema, or its
        model was fitted on rows that ``cdspp fit --scale`` had scaled.
    """
    model, extras = read_model(path)
    scaling = extras.get("scaling")
    if isinstance(scaling, Scaling) and scaling.kind != NO_SCALE:
        raise DataError(
            f"{path}: the model was fitted with --scale {scaling.kind}, so bare rows "
            "would be predicted wrongly. Use `cdspp predict`."
        )
    return model


def read_model(
    path: str | os.PathLike[str],
) -> tuple[HeterogeneousClassifier, dict[str, Any]]:
    """Return the model of a file and what else was kept with it.

    Raises
    ------
    DataError
        As for `load_model`, but for the scale.
    """
    tree, arrays = read_parts(path, WHAT)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise DataError(f"{path}: not {WHAT}.")
    if tree.get("schema") != SCHEMA:
        raise DataError(
            f"{path}: kept by cdspp {tree.get('version')} in schema "
            f"{tree.get('schema')}, this version reads {SCHEMA}. Update cdspp, or fit "
            "again."
        )
    try:
        # Its module knows the classes of which the model is made.
        method_class(tree["content"]["dict"]["model"][_ESTIMATOR]["identifier"])
        found = unpack(tree["content"], arrays, {_ESTIMATOR: _estimator})
        model, extras = found["model"], found["extras"]
    except (ConfigError, DataError, LookupError, TypeError) as error:
        raise DataError(f"{path}: a damaged model ({error}). Fit again.") from error
    if not isinstance(model, HeterogeneousClassifier) or not isinstance(extras, dict):
        raise DataError(f"{path}: a damaged model. Fit again.")
    return model, extras


def _parts(value: Any) -> tuple[str, dict[str, Any]] | None:
    """Take an estimator apart: options, and what the fit has set."""
    if not isinstance(value, HeterogeneousClassifier):
        return None
    options = value.get_params(deep=False)
    fitted = {k: v for k, v in vars(value).items() if k not in options}
    parts = {"identifier": value.identifier, "options": options, "fitted": fitted}
    return _ESTIMATOR, parts


def _estimator(parts: dict[str, Any]) -> HeterogeneousClassifier:
    cls = method_class(parts["identifier"])
    model = cls(**parts["options"])
    for name, value in parts["fitted"].items():
        if hasattr(cls, name):  # a method or a property is not to be put aside
            raise DataError(f"{cls.__name__} has an attribute {name} of its own")
        setattr(model, name, value)
    return model
