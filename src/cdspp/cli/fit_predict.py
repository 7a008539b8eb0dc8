"""The list of methods, and `cdspp fit` and `cdspp predict` on the user's files."""

from __future__ import annotations

import ast
import json
import shlex
import textwrap
import warnings
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.cli import command
from cdspp.core.errors import (
    ClassWarning,
    ConfigError,
    CostWarning,
    DataError,
    UnitWarning,
)
from cdspp.core.labels import require_used
from cdspp.core.names import PathLike
from cdspp.core.outputs import together
from cdspp.core.wording import aligned, counted

if TYPE_CHECKING:
    from cdspp.datasets.table_rows import DomainRows

Reason = Mapping[str, Any]  # method, choice and labelled rows, stored in a model
LastFit = tuple[Reason, Mapping[str, str]]  # and its predictions by identifier

# Headings of the list of methods: what source and target must have in common. A method
# belongs to the last one that it needs.
NEEDS = {
    "target labels": "No source: labels in the target only",
    "labels": "Labels only",
    "shared columns": "Shared columns, and labels",
    "paired rows": "Paired rows, and labels",
}
METHODS_NOTE = """\
* supervised: learns only from labelled rows
torch: pip install 'cdspp[networks]', POT: 'cdspp[transport]'"""
METHODS_WIDTH = 100


def _methods(arguments: Namespace) -> str:
    from cdspp.methods import available, method_class, needs

    rows: list[dict[str, Any]] = [
        {
            "method": name,
            "display_name": method.display_name,
            "supervised": method.supervised,
            "needs": needs(name),
            "summary": (method.__doc__ or "").strip().splitlines()[0],
        }
        for name in available()
        for method in [method_class(name)]
    ]
    if arguments.json:
        return command.json_text({"methods": rows})
    return "\n".join([*_by_needs(rows), METHODS_NOTE])


def _by_needs(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a heading and the methods, in aligned columns, for each kind of need."""
    for need, heading in NEEDS.items():
        yield f"{heading}:"
        grid, summaries = [], []
        for row in rows:
            needs = row["needs"]
            if [each for each in NEEDS if each in needs][-1] != need:
                continue
            title = row["display_name"] + " *" * row["supervised"]
            packages = ", ".join(each for each in needs if each not in NEEDS)
            grid.append([f"  {row['method']}", title, packages])
            summaries.append(row["summary"].replace(f" ({row['display_name']})", ""))
        lines = aligned(grid, left=range(3))
        width = max(map(len, lines)) + 2
        for line, summary in zip(lines, summaries, strict=True):
            first, *more = textwrap.wrap(summary, METHODS_WIDTH - width)
            yield line.ljust(width) + first
            yield from (" " * width + text for text in more)
        yield ""


def _option(text: str) -> tuple[str, Any]:
    """Parse ``name=value``; the value is a number, true, false, none or text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        expected = "expected NAME=VALUE, for instance alpha=10"
        raise ArgumentTypeError(f"{expected}, got {text!r}")
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not a literal
        return name, value


def _fit(arguments: Namespace) -> str:
    from cdspp.cli.rows import write_predictions

    inputs = [arguments.source, arguments.target, *arguments.labelled]
    inputs += arguments.paired or []
    outputs = [arguments.output, arguments.model]
    command.check_outputs(outputs, inputs, force=arguments.force)
    previous = last_fit(arguments.model, arguments.output) if arguments.model else None
    fit = _fit_method if arguments.method else _fit_vote
    fitted = fit(arguments)
    texts, model, target = fitted.texts, fitted.model, fitted.target
    if arguments.strict and (collapse := getattr(model, "collapsed_", "")):
        fault = f"--strict: the fit is degenerate ({collapse}); no file written"
        return command.exit_if_failed("\n".join([*texts, fault]), failed=True)
    ids = [target.ids[row] for row in fitted.rows]
    labels = model.transduction_[fitted.rows]
    n_labelled = len(target.ids) - len(ids)
    reason = {"date": date.today().isoformat(), "labelled": n_labelled, **fitted.choice}
    if previous is not None:
        texts += changes(previous, reason, dict(zip(ids, labels, strict=True)))
    with together(outputs, replace=arguments.force):
        write_predictions(arguments.output, ids, labels, fitted.confidence)
        if arguments.model:
            _save_model(arguments, model, target, fitted.scaling, reason)
            texts.append(f"model: {arguments.model}")
    if not ids:
        texts.append("note: every target row has a label: there is nothing to predict.")
    texts.append(f"{counted(len(ids), 'prediction')}: {arguments.output}")
    return "\n".join([*texts, *_next_step(arguments, model)])


class _Fitted(NamedTuple):
    """A fitted model, the target as read, and the positions of the rows to predict."""

    model: Any
    target: DomainRows
    rows: NDArray[np.intp]
    confidence: Any
    choice: dict[str, str]
    texts: list[str]
    scaling: Any = None  # None: the model scales rows itself


def _fit_vote(arguments: Namespace) -> _Fitted:
    """Fit the vote of `cdspp compare`; DataError: a member cannot be saved."""
    from cdspp.cli.compare import compare_files
    from cdspp.methods import make

    if arguments.option:
        raise ConfigError("--option needs --method, because options differ by method.")
    _check_model_file(arguments, map(make, arguments.candidate))
    options = vars(arguments) | {"method": arguments.candidate, "rows_to_label": ""}
    words = Namespace(**options)
    result, target, head = compare_files(words, fits_all_rows=not arguments.anyway)
    with command.warnings_as_notes(head.extend):
        model = result.estimator
    rows = np.sort(result.rows_to_label["row"].to_numpy())
    choice = {"method": "vote", "choice": f"by cdspp compare: {result.lines[0]}"}
    return _Fitted(model, target, rows, None, choice, [*head, *result.lines])


def _fit_method(arguments: Namespace) -> _Fitted:
    """Fit the method of --method."""
    from cdspp.cli import rows

    if arguments.candidate:
        raise ConfigError("--candidate is for a fit of the vote. Leave --method out.")
    model = _model(arguments)
    raw_target, source_rows, bridge, notes = rows.read_domains(arguments, model.bridges)
    if arguments.labelled:
        raw_target = rows.join_labels(raw_target, source_rows, arguments.labelled)
    scaled_tables = rows.scale_domains(arguments.scale, raw_target, source_rows, bridge)
    target, source_rows, source, scaling = scaled_tables
    texts = [target.description(f"target {target.path}")]
    if source_rows is not None:
        texts.append(source_rows.description(f"source {source_rows.path}", target))
    texts += [*notes, *_fit_model(arguments, model, target, source_rows, source)]
    unlabelled = np.flatnonzero([not label for label in target.labels])
    choice = {"method": arguments.method, "choice": "by --method"}
    confidence = model.history_[-1].confidence
    return _Fitted(model, raw_target, unlabelled, confidence, choice, texts, scaling)


def _model(arguments: Namespace) -> Any:
    from cdspp.methods import make_seeded

    model = make_seeded(arguments.method, 0, **dict(arguments.option))
    model._validate_params()
    if model.needs_torch:
        command.need_package("torch", f"the method {arguments.method}")
    _check_model_file(arguments, [model])
    return model


def _check_model_file(arguments: Namespace, models: Iterable[Any]) -> None:
    """Refuse a model file that could not hold the models or the rows' encoding."""
    if not arguments.model:
        return
    from cdspp.datasets.table_encoder import NOT_SAVABLE
    from cdspp.methods.model_file import check_savable

    for model in models:
        check_savable(model)
    if arguments.vectorise:
        raise ConfigError(NOT_SAVABLE)


def _fit_model(
    arguments: Namespace,
    model: Any,
    target: DomainRows,
    source_rows: DomainRows | None,
    source: Any,
) -> list[str]:
    """Fit the model, unless it needs too much memory; return its warnings as notes."""
    from cdspp.cli import rows

    method, options = arguments.method, dict(arguments.option)
    remedy = "" if arguments.anyway else "try it with --anyway"
    cost = rows.expected_cost(method, target, source_rows, options, remedy=remedy)
    notes = list[str]()
    with command.warnings_as_notes(notes.extend):
        warnings.simplefilter("always")
        for category in (ClassWarning, CostWarning, UnitWarning):  # reported here
            warnings.simplefilter("ignore", category)
        with rows.log_progress(method, cost.seconds):
            model.fit(target.X, target.labels, source=source)
    return [note.rstrip() for note in notes]


def _next_step(arguments: Namespace, model: Any) -> list[str]:
    """Return the command that predicts new rows, if the method can."""
    if getattr(model, "transductive", False) or arguments.vectorise:
        return []
    if not arguments.model:
        return ["To label new rows later, fit again with --model FILE --force"]
    advice = "Once more rows have labels, fit again with --force to see what changes"
    files = ["--model", arguments.model, "--target", "new.csv", "--output", "more.csv"]
    if arguments.impute:
        files.append("--impute")
    if arguments.decimal:
        files += ["--decimal", arguments.decimal]
    return [f"To label new rows: {shlex.join(['cdspp', 'predict', *files])}", advice]


def _save_model(
    arguments: Namespace, model: Any, target: DomainRows, scaling: Any, reason: Reason
) -> None:
    from cdspp.cli.rows import columns_of
    from cdspp.methods.model_file import save_model

    columns = columns_of(arguments, "target")
    extras = {
        "features": target.features,
        **({} if scaling is None else {"scaling": scaling}),
        "means": target.X.mean(axis=0),
        "ranges": np.array([target.X.min(axis=0), target.X.max(axis=0)]),
        "columns": (columns.label, columns.id, columns.drop),
        "encoder": json.dumps(target.encoder.to_dict()) if target.encoder else "",
        "reason": json.dumps(reason),
    }
    save_model(arguments.model, model, extras)


def last_fit(model: PathLike, output: PathLike) -> LastFit | None:
    """Return the previous fit of the same command, if there was one."""
    import pandas as pd

    from cdspp.methods.model_file import read_model

    try:
        table = pd.read_csv(output, dtype=str, keep_default_na=False)
        predictions = dict(zip(table["id"], table["predicted"], strict=True))
        reason, _ = read_reason(model, read_model(model)[1])
    except (DataError, KeyError, OSError, ValueError):  # no fit, or other files
        return None
    return (reason, predictions) if reason else None


def read_reason(path: PathLike, extras: Mapping[str, Any]) -> tuple[Reason, str]:
    """Return the reason for a model's method, and a line on it.

    Both are empty if the library saved the model.

    DataError: it is damaged.
    """
    text = extras.get("reason")
    try:
        reason = json.loads(text) if isinstance(text, str) and text else {}
        if not reason or not isinstance(reason, dict):
            return {}, ""
        rows = counted(int(reason["labelled"]), "labelled row")
        fit_text = f"{reason['method']}, fitted on {reason['date']} to {rows}"
        return reason, f"model: {fit_text}; chosen {reason['choice']}"
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: damaged model ({error}). Fit again.") from error


def changes(
    previous: LastFit, reason: Reason, predictions: Mapping[str, Any]
) -> Iterator[str]:
    """Yield lines on changes since the last fit: labels, method, predictions."""
    old, labels = previous
    common = [name for name in predictions if name in labels]
    n_changed = sum(str(predictions[name]) != labels[name] for name in common)
    new = reason["method"]
    method = f"still {new}" if old["method"] == new else f"{old['method']} to {new}"
    labelled = f"{old['labelled']} to {reason['labelled']} labelled rows"
    share = f"{n_changed} of {counted(len(common), 'prediction')} changed"
    yield f"Since {old['date']}: {labelled}; {method}; {share}."
    if old["choice"] != reason["choice"]:
        yield f"Then: {old['choice']} Now: {reason['choice']}"


def _predict(arguments: Namespace) -> str:
    from cdspp.cli.rows import drift_notes, scaled, write_predictions
    from cdspp.datasets.table_rows import complete
    from cdspp.methods.model_file import read_model
    from cdspp.methods.problem import find_collapse

    reads = [arguments.model, arguments.target]
    command.check_outputs([arguments.output], reads, force=arguments.force)
    model, extras = read_model(arguments.model)
    raw_target = _read_target(arguments, extras)
    raw_target, notes = _with_columns_of_fit(raw_target, model, extras)
    options = {"impute": arguments.impute, "means": extras.get("means")}
    target = complete(raw_target, **options, fitted=True)
    notes += drift_notes(target, extras.get("ranges"), np.size(model.transduction_))
    if "scaling" in extras:  # missing if the library saved the model
        target = scaled(target, extras["scaling"])
    predicted = model.predict(target.X)
    confidence = None
    if hasattr(model, "predict_proba"):
        confidence = model.predict_proba(target.X).max(axis=1)
    _, line = read_reason(arguments.model, extras)
    texts = [*filter(None, [line]), target.description(f"target {target.path}"), *notes]
    if collapse := find_collapse(predicted, len(model.classes_), {}).sentence:
        texts.append(f"note: the model {collapse}")
        if arguments.strict:
            fault = "--strict: predictions are degenerate (one class); no file written"
            return command.exit_if_failed("\n".join([*texts, fault]), failed=True)
    with together([arguments.output], replace=arguments.force):
        write_predictions(arguments.output, target.ids, predicted, confidence)
    predictions = counted(len(predicted), "prediction")
    return "\n".join([*texts, f"{predictions}: {arguments.output}"])


def _with_columns_of_fit(
    target: DomainRows, model: Any, extras: Mapping[str, Any]
) -> tuple[DomainRows, list[str]]:
    """Return rows with the columns of the fit, by name if both have names."""
    from cdspp.datasets.table_bridge import select_features

    if target.places and not extras.get("encoder"):
        target.require_names()
    names = extras.get("features") or tuple(getattr(model, "feature_names_in_", ()))
    if names and target.features:
        return select_features(target, names, "the model"), []
    lacks = "the model" if target.features else target.path
    note = f"note: {lacks} has no column names: columns are matched by position."
    if len(names) == target.X.shape[1]:
        target = replace(target, features=tuple(names))
    return target, [note]


def _read_target(arguments: Namespace, extras: Mapping[str, Any]) -> DomainRows:
    """Return rows to predict; column names given at the fit are the default.

    DataError: the contents of the model are damaged.
    """
    from cdspp.datasets.table_encoder import TableEncoder
    from cdspp.datasets.table_files import Columns
    from cdspp.datasets.table_rows import complete, read_domain, require_dropped

    try:
        label, id_, drop = extras.get("columns", (None, None, ()))
        "".join([*extras.get("features", ()), *drop, label or "", id_ or ""])  # text
        text = extras.get("encoder")
        encoder = TableEncoder.from_dict(json.loads(text)) if text else None
        for name, n_axes in (("means", 1), ("ranges", 2)):
            part = extras.get(name)
            if part is not None and (part.ndim, part.dtype.kind) != (n_axes, "f"):
                raise TypeError(f"{name} are not numbers")
    except (AttributeError, TypeError, ValueError) as error:
        fault = f"damaged model ({error})"
        raise DataError(f"{arguments.model}: {fault}. Fit again.") from error
    required = tuple(name for name in ("label", "id") if getattr(arguments, name))
    names = arguments.label or label, arguments.id or id_, (*arguments.drop, *drop)
    columns = Columns(*names, required, arguments.encoding, arguments.decimal)
    fitted = encoder and not arguments.impute
    checks = [partial(complete, fitted=True)] if fitted else []
    rows = read_domain(arguments.target, columns, encoder, *checks)
    require_dropped(arguments.drop, [rows])
    require_used(rows.label_column.seen, [rows.path])
    return rows


def add_commands(commands: Any) -> None:
    """Add the commands on methods."""
    command.add_command(commands, "methods", _methods)
    command.add_command(commands, "fit", _fit, option=_option)
    command.add_command(commands, "predict", _predict)
