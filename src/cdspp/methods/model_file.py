"""Files of fitted models: arrays and JSON, which are loaded without running code."""

import os
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from cdspp.core.discovery import load_class
from cdspp.core.errors import DataError, out_of_memory, short_message
from cdspp.core.files import Packer, read_parts, unpack, write_parts
from cdspp.core.names import NO_SCALE, PathLike
from cdspp.core.records import schema_error
from cdspp.core.scaling import Scaling
from cdspp.core.version import VERSION
from cdspp.methods import is_builtin, method_class
from cdspp.methods.base import HeterogeneousClassifier
from cdspp.methods.classifiers import CLASSIFIERS
from cdspp.methods.external import class_path
from cdspp.methods.shared.machines import LinearMachine, require
from cdspp.methods.shared.rules import Forest
from cdspp.methods.vote import Vote

FORMAT, SCHEMA = "cdspp model", 1
KIND = "a model that `cdspp fit --model` wrote"
_ESTIMATOR, _SPARSE, _CLASSIFIER = "method", "csr", "classifier"


class MissingClassError(DataError):
    """The file has a model of an external class that the caller did not pass."""


def check_savable(model: HeterogeneousClassifier) -> None:
    """Refuse a model, fitted or not, that cannot be saved or would be useless."""
    name = type(model).__name__
    if model.transductive:
        raise DataError(
            f"{name} is transductive: it labels only the rows of its fit, so a saved "
            "model could predict nothing. Choose another method."
        )
    if isinstance(model, Vote):
        for member_name, member in model.members:
            try:
                _check_member(member)
            except DataError as error:
                fault = f"{name}: the member {member_name}: {error}"
                raise DataError(fault) from error
        return
    if wrapped := getattr(type(model), "wrapped_class", None):
        raise DataError(
            f"{name} has an object of {class_path(wrapped)}, which is not an array. "
            "Save it with joblib, or derive the class from "
            "cdspp.methods.base.HeterogeneousClassifier."
        )
    options = model.get_params(deep=False)
    try:
        for option, value in options.items():
            if isinstance(value, Mapping) and "class" in value:
                raise DataError(f"{name}.{option} names the class {value['class']}.")
        Packer(_split_object).pack(options, name)
    except DataError as error:
        raise DataError(
            f"{error} Give this option as number or text, or save the model by joblib."
        ) from error


def _check_member(member: Any) -> None:
    if not isinstance(member, HeterogeneousClassifier):
        raise DataError(f"it is a {class_path(type(member))}, no method of cdspp.")
    check_savable(member)


def save_model(
    path: PathLike,
    model: HeterogeneousClassifier,
    extras: Mapping[str, Any] | None = None,
) -> None:
    """Save a fitted model in one NPZ file: its arrays, and the rest as JSON.

    Parameters
    ----------
    path : path
        The file to write.
    model : HeterogeneousClassifier
        A fitted estimator.
    extras : mapping, optional
        Further text, numbers, arrays and storable objects to save.

    Raises
    ------
    DataError
        The method is transductive, or an option is an object.
    """
    check_is_fitted(model)
    check_savable(model)
    packer = Packer(_split_object)
    content = {"model": model, "extras": dict(extras or {})}
    tree = packer.pack(content, type(model).__name__)
    head = {"format": FORMAT, "schema": SCHEMA, "version": VERSION}
    write_parts(path, {**head, "content": tree}, packer.arrays)


def load_model(
    path: PathLike, *, class_: type | None = None
) -> HeterogeneousClassifier:
    """Load a model of `save_model` or ``cdspp fit --model``; this runs no code.

    Parameters
    ----------
    path : path
        The file.
    class_ : type, optional
        The class of an external model, because a file never chooses what to import.

    Returns
    -------
    HeterogeneousClassifier
        The fitted estimator; it predicts as before.

    Raises
    ------
    DataError
        The file is missing, damaged or of another kind; its model has another external
        class; or ``cdspp fit --scale`` scaled the rows.
    SchemaError
        Another version of the library wrote the file in a schema unknown to this one.
    """
    model, extras = read_model(path, class_=class_)
    scaling = extras.get("scaling")
    if isinstance(scaling, Scaling) and scaling.kind != NO_SCALE:
        raise DataError(
            f"{path}: the model was fitted with --scale {scaling.kind}, so predictions "
            "for unscaled rows would be wrong. Use `cdspp predict`."
        )
    return model


def read_model(
    path: PathLike, *, class_: type | None = None
) -> tuple[HeterogeneousClassifier, dict[str, Any]]:
    """Return the model of a file, of any scale, and the extras saved with it."""
    tree, arrays = read_parts(path, KIND)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise DataError(f"{path}: not {KIND}.")
    if tree.get("schema") != SCHEMA:
        schema, version = tree.get("schema"), tree.get("version")
        raise schema_error(path, schema, version, SCHEMA, "fit again")
    try:
        # Importing its module registers the classes of its parts.
        _class_of(path, class_, tree["content"]["dict"]["model"][_ESTIMATOR])
        builders: dict[str, Any] = {
            _ESTIMATOR: partial(_rebuild, path, class_),
            _SPARSE: _sparse_rows,
            _CLASSIFIER: _classifier,
        }
        content = unpack(tree["content"], arrays, builders)
        model, extras = content["model"], content["extras"]
        _check_model(model, extras, os.path.getsize(path))
    except Exception as error:  # an edited file may cause any error
        if isinstance(error, MissingClassError) or out_of_memory(error):
            raise
        fault = f"damaged model ({short_message(error)}). Fit again."
        raise DataError(f"{path}: {fault}") from error
    return model, extras


def _check_model(
    model: HeterogeneousClassifier, extras: Mapping[str, Any], n_bytes: int
) -> None:
    """Check the options, and that the model can predict rows of the fit's width."""
    scaling = extras.get("scaling", Scaling(NO_SCALE, model.n_features_in_))
    if not 0 < scaling.n_features <= n_bytes:  # each feature has numbers in the file
        raise ValueError(f"{scaling.n_features} features")
    model._validate_params()
    check_savable(model)  # else a file could name what a later fit would import
    for part in vars(model).values():
        if isinstance(part, LinearMachine | Forest):
            n_classes = len(model.classes_)
            require(part.n_classes == n_classes, "classes that are not in the fit")
    if isinstance(model, Vote):
        _check_vote(model, n_bytes)
    elif not is_builtin(type(model)):
        return
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (2, 3):  # two sizes, to detect arrays that suit only one
            rows = scaling.apply(np.ones((n, scaling.n_features)))
            if np.shape(model.predict(rows)) != (n,):
                raise ValueError("no label for each row")


def _check_vote(vote: Vote, n_bytes: int) -> None:
    """Check the members of a vote, which see the target and classes as it does."""
    known = len(vote.classes_)
    names, weights = vote.members_.keys(), vote.weights_
    if not names or names != vote.scalings_.keys() or names != weights.keys():
        raise ValueError("members without a scaling or a weight")
    if min(weights.values()) < 0 or abs(sum(weights.values()) - 1.0) > 1e-9:
        raise ValueError("weights of members do not add up to one")
    for name, member in vote.members_.items():
        scaling = vote.scalings_[name]
        if isinstance(member, Vote) or not isinstance(member, HeterogeneousClassifier):
            raise TypeError(f"the member {name} is no method")
        if scaling.n_features != vote.n_features_in_:
            raise ValueError(f"the member {name} has {scaling.n_features} features")
        if not np.isin(member.classes_, np.arange(known)).all():
            raise ValueError(f"the member {name} has other classes")
        _check_model(member, {"scaling": scaling}, n_bytes)


def _split_object(value: Any) -> tuple[str, dict[str, Any]] | None:
    """Return key and parts of sparse rows, or options and fitted values of a model."""
    if issparse(value):
        names = ("data", "indices", "indptr")
        arrays = {name: getattr(value, name) for name in names}
        return _SPARSE, {**arrays, "shape": list(value.shape)}
    for name, (path, _) in CLASSIFIERS.items():
        if _is_of_class(value, path):
            return _CLASSIFIER, {"name": name, "options": value.get_params(deep=False)}
    if not isinstance(value, HeterogeneousClassifier):
        return None
    options = value.get_params(deep=False)
    fitted = {k: v for k, v in vars(value).items() if k not in options}
    # A variant differs from its class only in the defaults of its options.
    cls = vars(type(value)).get("variant_of", type(value))
    parts = {"identifier": cls.identifier, "options": options, "fitted": fitted}
    if not (is_builtin(cls) or cls is Vote):
        parts["class"] = class_path(cls)
    return _ESTIMATOR, parts


def _is_of_class(value: Any, path: str) -> bool:
    """Return whether a value is of a class of scikit-learn; this imports nothing."""
    package, _, name = path.partition(":")
    cls = type(value)
    return cls.__name__ == name and cls.__module__.startswith(package)


def _classifier(parts: Mapping[str, Any]) -> Any:
    """Return an unfitted classifier of scikit-learn with the options of a file."""
    return load_class(CLASSIFIERS[parts["name"]][0])(**parts["options"])


def _class_of(
    path: PathLike, class_: type | None, parts: Mapping[str, Any]
) -> type[HeterogeneousClassifier]:
    """Return the class of a model, which the caller must pass if it is external."""
    if "class" not in parts and parts["identifier"] == Vote.identifier:
        return Vote
    if "class" not in parts:
        return method_class(parts["identifier"])
    class_name = "none" if class_ is None else class_path(class_)
    if class_ is None or class_name != parts["class"]:
        raise MissingClassError(
            f"{path}: the model has the external class {parts['class']}, but the class "
            f"given is {class_name}. Import it, and pass it: load_model(path, "
            "class_=...)."
        )
    return class_


def _sparse_rows(parts: Mapping[str, Any]) -> csr_array:
    arrays = parts["data"], parts["indices"], parts["indptr"]
    rows = csr_array(arrays, shape=tuple(parts["shape"]))
    rows.check_format(full_check=True)  # damaged indices would leave their arrays
    return rows


def _rebuild(
    path: PathLike, class_: type | None, parts: Mapping[str, Any]
) -> HeterogeneousClassifier:
    cls = _class_of(path, class_, parts)
    model = cls(**parts["options"])
    for name, value in parts["fitted"].items():
        if hasattr(cls, name):  # a file must not replace a method or a property
            raise DataError(f"{cls.__name__} already has an attribute {name}")
        setattr(model, name, value)
    return model
