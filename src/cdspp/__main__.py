"""The command `cdspp`: the library from the shell."""

from __future__ import annotations

import argparse
import ast
import logging
import sys
from collections.abc import Sequence
from typing import Any

from cdspp import __version__
from cdspp.cli.bench import add_bench
from cdspp.core.errors import DataError, DiskFullError, MethodFailed

__all__ = ["main"]

DESCRIPTION = """\
Heterogeneous domain adaptation: label a target domain of which few rows are labelled,
with the help of a labelled source domain that has other features.
"""

FILES = """\
input files:
  CSV with a header: a column `label` (empty or -1 where a row is unlabelled),
  optionally a column `id`; every other column is a feature. Or NPZ with a matrix X,
  optionally y (-1 where unlabelled) and ids. Source and target may differ in number
  and meaning of their features; the classes are matched by their labels.

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

FETCH_HELP = """\
Downloads and verifies what a published data set consists of, for instance on a login
node; a study that runs later finds everything in place. Without a name it lists what
there is. Files that are there and whole are kept. A folder or address given as mirror,
or in the environment variable CDSPP_MIRROR, is tried before the published places.

examples:
  cdspp fetch
  cdspp fetch office-caltech-10 surf googlenet-webcam
  cdspp fetch mrc --mirror /media/datasets
"""

PLAN_HELP = """\
Jobs, fits, core-hours and memory by method, from the cost model; needs no data. Call it
where the Snakefile is, with the study files that --configfile would get.

example:
  cdspp plan resources/studies/paper.yaml
"""

# ConfigError and DataError are ValueErrors, like scikit-learn's own.
USER_ERRORS = (DiskFullError, MethodFailed, OSError, ValueError)


def _methods(arguments: argparse.Namespace) -> str:
    from cdspp.methods import available, method_class

    lines = []
    for name in available():
        found = method_class(name)
        star = " *" if found.supervised else ""
        summary = (found.__doc__ or "").strip().splitlines()[0]
        lines.append(f"{name:14}{found.display_name + star:14}{summary}")
    return "\n".join([*lines, "", "* supervised: learns from labelled rows alone"])


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
    from cdspp.cli.tabular import read_table, write_predictions
    from cdspp.core.artifacts import atomic
    from cdspp.methods import make, option_defaults

    options = dict(arguments.option)
    if "random_state" in option_defaults(arguments.method):
        options.setdefault("random_state", 0)
    model = make(arguments.method, **options)
    target = read_table(arguments.target)
    source = read_table(arguments.source).as_source() if arguments.source else None
    y = target.target_labels()
    model.fit(target.X, y, source=source)
    last = model.history_[-1]
    ids = [name for name, label in zip(target.ids, y, strict=True) if label == -1]
    write_predictions(arguments.output, ids, last.prediction, last.confidence)
    if arguments.model:
        import joblib

        with atomic(arguments.model) as temporary:
            joblib.dump({"model": model, "features": target.features}, temporary)
    return f"{len(ids)} predictions: {arguments.output}"


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
    from cdspp.cli.tabular import read_table, write_predictions

    model, features = _load_model(arguments.model)
    target = read_table(arguments.target)
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


def _fetch(arguments: argparse.Namespace) -> str:
    from cdspp.core.discovery import did_you_mean
    from cdspp.datasets.base import record_path
    from cdspp.datasets.catalogue import load_catalogue
    from cdspp.datasets.resources import fetch_resource

    entries = load_catalogue(arguments.catalogue)
    known = {name: entry.get("resources", {}) for name, entry in entries.items()}
    known = {name: resources for name, resources in known.items() if resources}
    name = arguments.dataset
    if name is None:
        return "\n".join(f"{key:20}{' '.join(found)}" for key, found in known.items())
    if name not in known:
        hint = did_you_mean(name, known)
        raise DataError(f"nothing is published as {name!r}{hint} See cdspp fetch.")
    lines, faults = [], []
    for resource in arguments.resource or known[name]:
        output = record_path(arguments.data, name, resource)
        try:
            fetch_resource(
                dataset=name,
                resource=resource,
                catalogue=arguments.catalogue,
                mirror=arguments.mirror,
                output=output,
            )
            lines.append(f"{name}, {resource}: {output}")
        except DataError as error:
            logging.getLogger(__name__).error("%s", error)
            faults.append(resource)
    if faults:
        count = f"{len(faults)} of {len(faults) + len(lines)} resources"
        message = f"{name}: {count} could not be had: {', '.join(faults)}"
        raise DataError(f"{message}. The reasons stand above.")
    return "\n".join(lines)


def _plan(arguments: argparse.Namespace) -> str:
    from cdspp.study.config import load_study, merge_files
    from cdspp.study.cost import forecast_text

    study = load_study(
        merge_files(["config.yaml", *arguments.file]),
        schema="workflow/schemas/config.schema.yaml",
        catalogue="resources/datasets.yaml",
        paper="resources/paper",
    )
    return forecast_text(study)


def _summary(arguments: argparse.Namespace) -> str:
    from cdspp.report.page.page import headline

    return headline(arguments.folder)


def _add(commands: Any, name: str, run: Any, text: str, epilog: str = "") -> Any:
    parser = commands.add_parser(
        name,
        help=text,
        description=text,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cdspp",
        description=DESCRIPTION,
        epilog=FILES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cdspp {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add(commands, "methods", _methods, "list the methods")
    _add_fit(commands)
    _add_predict(commands)
    _add_fetch(commands)
    add_bench(commands, _add)
    plan = _add(commands, "plan", _plan, "estimate what a study costs", PLAN_HELP)
    plan.add_argument("file", nargs="*", metavar="STUDY_FILE")
    summary = _add(commands, "summary", _summary, "print the headline of a study")
    summary.add_argument(
        "folder", metavar="RESULTS_FOLDER", help="for instance results/embedded"
    )
    return parser


def _add_fit(commands: Any) -> None:
    text = "fit a method and predict the unlabelled target rows"
    fit = _add(commands, "fit", _fit, text, FILES + "\n" + FIT_EXAMPLES)
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


def _add_predict(commands: Any) -> None:
    text = "predict target rows with a model that `cdspp fit --model` kept"
    predict = _add(commands, "predict", _predict, text, FILES + "\n" + PREDICT_EXAMPLES)
    predict.add_argument("--model", required=True, metavar="FILE", help="the model")
    predict.add_argument("--target", required=True, metavar="FILE", help="target rows")
    predict.add_argument("--output", required=True, metavar="FILE", help="CSV to write")


def _add_fetch(commands: Any) -> None:
    fetch = _add(commands, "fetch", _fetch, "download published data", FETCH_HELP)
    fetch.add_argument("dataset", nargs="?", metavar="DATASET")
    fetch.add_argument(
        "resource", nargs="*", metavar="RESOURCE", help="all of them by default"
    )
    fetch.add_argument(
        "--data",
        default="data",
        metavar="FOLDER",
        help="where to put the files (%(default)s, as the study expects)",
    )
    fetch.add_argument(
        "--mirror", metavar="PLACE", help="folder or address to try first"
    )
    fetch.add_argument(
        "--catalogue",
        default="resources/datasets.yaml",
        metavar="FILE",
        help="what is where (%(default)s)",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code (2 where the user is mistaken)."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    arguments = _parser().parse_args(argv)
    try:
        text = arguments.run(arguments)
    except USER_ERRORS as error:
        message = " ".join(str(error).split())
        sys.stderr.write(f"cdspp: error: {message}\n")
        return 2
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
