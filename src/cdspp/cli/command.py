"""Shared parts of the commands: options, outputs, optional packages."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cdspp.core import names
from cdspp.core.errors import EXTRAS, ConfigError, to_install
from cdspp.core.files import same_file

STUDY_EXTRA = "workflow"
# Format options of a table, in addition to its columns of labels and identifiers.
FORMATS = ("encoding", "decimal", "categories", "dates", "date_format", "vectorise")
JSON_VERSION = 1  # raised if a key of --json disappears or changes meaning
FLAG: dict[str, Any] = {"action": "store_true"}
SCALES = (*names.SCALES, names.STANDARDISE_EACH)
REPEATED: dict[str, Any] = {"action": "append", "default": []}
# Help text and settings of options of several commands, which fill in {part}.
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "file": (
        "study files (the embedded study); later files override earlier ones",
        {"nargs": "*", "metavar": "STUDY_FILE"},
    ),
    "--force": ("overwrite an existing file", FLAG),
    "--json": ("print the result as JSON", FLAG),
    "--strict": ("exit with code 1 if {part}", FLAG),
    "--labelled": (
        "{part}add these labels to the fit; may be repeated, oldest first",
        {**REPEATED, "metavar": "FILE"},
    ),
    "--shared": (
        "columns with the same meaning and unit in both files: none, or same-names and "
        "pairs a=b,c=d*10 of a source and a target column, optionally times a factor "
        "that converts to the source's unit (same-names, if there are any)",
        {"metavar": "HOW"},
    ),
    "--paired": (
        "two files of objects described in both ways, one with the columns of each "
        "domain, matched by identifiers or else by row order; they need no labels",
        {"nargs": 2, "metavar": ("SOURCE_FILE", "TARGET_FILE")},
    ),
    "--label": ("the label column (label{part})", {"metavar": "NAME"}),
    "--id": ("the identifier column (id{part})", {"metavar": "NAME"}),
    "--drop": (
        "a column to leave out: a name, a pattern (site*), or a kind: text, dates or "
        "constant; may be repeated",
        {**REPEATED, "metavar": "NAME"},
    ),
    "--categories": (
        "encode text: one column per value, or the share of rows that have the value",
        {"choices": names.CATEGORIES[1:]},
    ),
    "--dates": (
        "encode dates: days since 1970, or year, month, day and weekday",
        {"choices": names.DATES[1:]},
    ),
    "--vectorise": (
        "encode text and dates by a library: skrub's TableVectorizer",
        {"choices": names.VECTORISERS},
    ),
    "--date-format": (
        "format of ambiguous dates, such as %%d/%%m/%%Y",
        {"metavar": "FORMAT"},
    ),
    "--decimal": (
        "decimal sign of ambiguous numbers, such as 1.234",
        {"choices": (".", ",")},
    ),
    "--encoding": (
        "encoding of text files (UTF-8, else UTF-16 or Windows-1252, with a note)",
        {"metavar": "NAME"},
    ),
    "--keep-label": (
        "read LABEL as a class, although it looks like a missing label (NA) or "
        "differs from another class only in capitals; may be repeated",
        {**REPEATED, "metavar": "LABEL"},
    ),
    "--impute": (
        "replace missing and infinite numbers by the mean of their column",
        FLAG,
    ),
    "--scale": (
        "scale the features of each file: rows to unit length, columns to mean 0 and "
        "deviation 1 (shared columns by the source, or with standardise-each by each "
        "file), or to at most 50 principal components (%(default)s)",
        {"choices": SCALES, "default": names.STANDARDISE},
    ),
}
for _role in ("source", "target"):
    for _name, _what in (("label", "label"), ("id", "identifier")):
        _text = f"the {_what} column of the {_role} only"
        OPTIONS[f"--{_role}-{_name}"] = (_text, {"metavar": "NAME"})
# Columns and labels of one file, and reading options for the two files of a fit.
COLUMNS = ("--label", "--id", "--drop")
TEXTS = ("--decimal", "--encoding", "--keep-label")
OF_FIT = (
    *("--categories", "--dates", "--vectorise", "--date-format", *TEXTS),
    *("--source-label", "--source-id", "--target-label", "--target-id"),
)
JOINING = ("--shared", "--paired", *COLUMNS, *OF_FIT, "--impute", "--scale")
ARRAYS = "; for arrays see below"  # after the default names of columns
AS_WRITTEN = argparse.RawDescriptionHelpFormatter
Run = Callable[[argparse.Namespace], str]
Given = Iterable[names.PathLike | None]  # files of options, None for omitted options


def help_text(*names: str) -> str:
    """Return the existing files ``help/<name>.txt``, separated by blank lines."""
    files = (Path(__file__).with_name("help") / f"{name}.txt" for name in names)
    return "\n".join(
        file.read_text(encoding="utf-8") for file in files if file.is_file()
    )


def add_command(
    commands: Any, name: str, run: Run, text: str, epilog: str = "", extra: str = ""
) -> argparse.ArgumentParser:
    """Add a command, by default with the help text of its name.

    A missing package is in `extra`, or else in the smallest extra that has it.
    """
    shown = {"description": text, "formatter_class": AS_WRITTEN}
    shown["epilog"] = epilog or help_text(name)
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, **shown)
    parser.set_defaults(run=run, extra=extra)
    return parser


def add_options(
    parser: argparse.ArgumentParser, *options: str, part: str = "", **settings: Any
) -> None:
    """Add `OPTIONS`; `part` completes their texts, `settings` override theirs."""
    for option in options:
        text, known = OPTIONS[option]
        parser.add_argument(option, help=text.format(part=part), **known | settings)


def answer(text: str, *, failed: object) -> str:
    """Return the answer of a command; if it failed, print it and exit with code 1."""
    if failed:
        sys.stdout.write(f"{text}\n")
        sys.exit(1)
    return text


def json_text(content: Mapping[str, Any]) -> str:
    """Return the text that a command prints with --json."""
    versioned = {"schema_version": JSON_VERSION, **content}
    return json.dumps(versioned, indent=2, sort_keys=True, allow_nan=False)


def check_outputs(writes: Given, reads: Given, *, force: bool) -> None:
    """Refuse outputs that replace an input, or a file without --force (ConfigError)."""
    taken = [Path(path) for path in reads if path]
    for path in [Path(each) for each in writes if each]:
        for other in taken:
            place = other.resolve()
            holds = path.resolve() in (place, *place.parents)
            if holds or same_file(path, other):
                fault = "which the same command reads or writes. Choose another name."
                raise ConfigError(f"{path} would replace {other}, {fault}")
        if os.path.lexists(path) and not force:
            remedy = "Choose another name, or replace it by --force."
            raise ConfigError(f"{path} already exists. {remedy}")
        taken.append(path)


@contextmanager
def warnings_as_notes(take: Callable[[list[str]], object]) -> Iterator[None]:
    """Pass on each warning of the block as one line, with its count if repeated."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            counts = Counter(" ".join(str(each.message).split()) for each in caught)
            for text, n in counts.items():
                times = f" ({n} times)" if n > 1 else ""
                take([f"note: {text}{times}\n"])


def positive_integer(text: str) -> int:
    """Return an argument that must be a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return int(text)


def need_package(package: str, what: str, extra: str = "") -> None:
    """Raise ConfigError, naming the extra to install, if a package is missing."""
    if importlib.util.find_spec(package) is None:
        raise ConfigError(to_install(package, what, extra))


def missing_package(error: ModuleNotFoundError, extra: str) -> str | None:
    """Return how to install the optional package that an import lacked, if any."""
    package = (error.name or "").partition(".")[0]
    return to_install(package, "this", extra) if package in EXTRAS else None
