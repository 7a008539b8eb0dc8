"""The commands `cdspp fit` and `cdspp predict`: a method on the user's own files."""

from __future__ import annotations

import argparse
import ast
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_command
from cdspp.core.errors import DataError

if TYPE_CHECKING:
    from cdspp.cli.tabular import DomainRows

__all__ = ["FILES", "add_fit", "add_predict"]

FILES = """\
input files:
  CSV with a header: a column `label` (empty, -1, NA or ? where a row is unlabelled),
  optionally a column `id` (a first column without a name is one); every other column is
  a feature. Or NPZ with a matrix X, optionally y (-1 where unlabelled) and ids. Source
  and target may differ in number and meaning of their features; the classes are matched
  by their labels.

output file:
  CSV with the columns id, predicted, confidence (empty where the method has none).
"""

FIT_EXAMPLES = """\
examples:
  cdspp fit --source photos.csv --target sketches.csv --output predictions.csv
  cdspp fit --method svm-t --option strategy=ovo --option l2=true \\
      --target sketches.npz --output predictions.csv --model svm.joblib
"""

PREDICT_EXAMPLES = """\
examples:
  cdspp predict --model cdspp.joblib --target more-sketches.csv --output predictions.csv

A model file is a pickle: load only files that you trust.
"""


def _option(text: str) -> tuple[str, Any]:
    """Parse ``name=value``; the value is a number, true, false, none or text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(
            f"expected NAME=VALUE, for instance alpha=10, got {text!r}"
        )
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def _fit(arguments: argparse.Namespace) -> str:
    from cdspp.cli.tabular import read_domain, write_predictions
    from cdspp.core.artifacts import atomic
    from cdspp.methods import make, option_defaults

    options = dict(arguments.option)
    if "random_state" in option_defaults(arguments.method):
        options.setdefault("random_state", 0)
    model = make(arguments.method, **options)
    target = read_domain(arguments.target)
    rows = read_domain(arguments.source) if arguments.source else None
    y = target.target_labels()
    told = _told(target, rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(target.X, y, source=None if rows is None else rows.as_source())
    told += [f"note: {warning.message}" for warning in caught]
    last = model.history_[-1]
    ids = [name for name, label in zip(target.ids, y, strict=True) if label == -1]
    write_predictions(arguments.output, ids, last.prediction, last.confidence)
    if arguments.model:
        import joblib

        with atomic(arguments.model) as temporary:
            joblib.dump({"model": model, "features": target.features}, temporary)
    if not ids:
        told.append("note: every target row has a label, so there is none to predict.")
    told.append(f"{len(ids)} predictions: {arguments.output}")
    return "\n".join(told)


def _told(target: DomainRows, source: DomainRows | None) -> list[str]:
    """Say what was read: rows, labels, features, and the classes in common."""
    if source is None:
        return [target.told("target")]
    ours, theirs = ({x for x in rows.labels if x} for rows in (target, source))
    common = f"{len(ours & theirs)} in common"
    return [target.told("target"), f"{source.told('source')}; classes: {common}"]


def _load_model(path: str) -> tuple[Any, tuple[str, ...]]:
    import pickle

    import joblib

    from cdspp.methods.base import HeterogeneousClassifier

    wrong = f"{path}: not a model that `cdspp fit --model` wrote."
    try:
        stored = joblib.load(path)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file.") from error
    except (
        pickle.UnpicklingError,
        ValueError,
        KeyError,
        EOFError,
        IndexError,
    ) as error:
        raise DataError(wrong) from error
    if not isinstance(stored, dict) or not isinstance(
        stored.get("model"), HeterogeneousClassifier
    ):
        raise DataError(wrong)
    return stored["model"], stored["features"]


def _shortened(names: Sequence[str]) -> str:
    return f"{', '.join(names[:5])}{', ...' * (len(names) > 5)} ({len(names)})"


def _predict(arguments: argparse.Namespace) -> str:
    from cdspp.cli.tabular import read_domain, write_predictions

    model, features = _load_model(arguments.model)
    target = read_domain(arguments.target)
    if features and target.features and features != target.features:
        raise DataError(
            f"{target.path}: the feature columns are not those that the model was "
            f"fitted on. Expected {_shortened(features)}, got "
            f"{_shortened(target.features)}."
        )
    predicted = model.predict(target.X)
    confidence = None
    if hasattr(model, "predict_proba"):
        confidence = model.predict_proba(target.X).max(axis=1)
    write_predictions(arguments.output, target.ids, predicted, confidence)
    return f"{len(predicted)} predictions: {arguments.output}"


def add_fit(commands: Any) -> None:
    """Add ``cdspp fit`` to the commands."""
    text = "fit a method and predict the unlabelled target rows"
    fit = add_command(commands, "fit", _fit, text, FILES + "\n" + FIT_EXAMPLES)
    fit.add_argument(
        "--method", default="cdspp", help="see `cdspp methods` (%(default)s)"
    )
    fit.add_argument(
        "--option",
        action="append",
        default=[],
        type=_option,
        metavar="NAME=VALUE",
        help="an option of the method, for instance alpha=1; may be repeated",
    )
    fit.add_argument(
        "--source",
        metavar="FILE",
        help="labelled source rows; without it the labelled target rows serve",
    )
    fit.add_argument("--target", required=True, metavar="FILE", help="target rows")
    fit.add_argument("--output", required=True, metavar="FILE", help="CSV to write")
    fit.add_argument(
        "--model", metavar="FILE", help="also keep the model, for `predict`"
    )


def add_predict(commands: Any) -> None:
    """Add ``cdspp predict`` to the commands."""
    text = "predict target rows with a model that `cdspp fit --model` kept"
    predict = add_command(
        commands, "predict", _predict, text, FILES + "\n" + PREDICT_EXAMPLES
    )
    predict.add_argument("--model", required=True, metavar="FILE", help="the model")
    predict.add_argument("--target", required=True, metavar="FILE", help="target rows")
    predict.add_argument("--output", required=True, metavar="FILE", help="CSV to write")
