"""The parts of the commands of `cdspp`: shared options, outputs, optional packages."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from cdspp.core.errors import ConfigError
from cdspp.core.files import same_file
from cdspp.core.names import CATEGORIES, DATES, SCALES, STANDARDISE_EACH, VECTORISERS

# The smallest extra that brings a package which only some commands and methods use.
EXTRAS = {
    **dict.fromkeys(("jinja2", "markupsafe", "matplotlib"), "report"),
    **dict.fromkeys(("pyarrow", "yaml"), "report"),
    **dict.fromkeys(("torch", "torchvision", "PIL"), "networks"),
    "ot": "transport",
    "skrub": "tables",
    **dict.fromkeys(("cv2", "jsonschema", "requests", "urllib3"), "workflow"),
}
STUDY_EXTRA = "workflow"
# How a table is read, in addition to its columns of labels and identifiers.
FORMATS = ("encoding", "decimal", "categories", "dates", "date_format", "vectorise")
Run = Callable[[argparse.Namespace], str]


def add_command(
    commands: Any, name: str, run: Run, text: str, epilog: str = "", extra: str = ""
) -> argparse.ArgumentParser:
    """Add a command; a package that lacks is in `extra`, or the smallest with it."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=text,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, extra=extra)
    return parser


def add_study_command(
    commands: Any, name: str, run: Run, text: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a command on a study, whose files are its first arguments."""
    parser = add_command(commands, name, run, text, epilog, STUDY_EXTRA)
    note = "by default the embedded study; a later file overrides earlier ones"
    parser.add_argument("file", nargs="*", metavar="STUDY_FILE", help=note)
    return parser


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets a command replace files."""
    text = "overwrite an existing file"
    parser.add_argument("--force", action="store_true", help=text)


def add_strict(parser: argparse.ArgumentParser, what: str = "fits failed") -> None:
    """Add the option that makes a failure, which is reported, one of the command."""
    text = f"exit with code 1 where {what}"
    parser.add_argument("--strict", action="store_true", help=text)


def answer(text: str, *, failed: object) -> str:
    """Return what a command answers; print it and exit with code 1 where it failed."""
    if failed:
        sys.stdout.write(f"{text}\n")
        sys.exit(1)
    return text


def add_columns(
    parser: argparse.ArgumentParser,
    metavar: str = "NAME",
    hint: str = "; among arrays see below",
    *,
    of_fit: bool = True,
) -> None:
    """Add the options on columns and labels of a file, or of the two of a fit."""
    add = parser.add_argument
    names = (("label", "labels"), ("id", "identifiers"))
    for name, what in names:
        text = f"the column of the {what} ({name}{hint})"
        add(f"--{name}", metavar=metavar, help=text)
    text = (
        "a column to leave out: its name, a pattern (site*), or a kind: text, dates or "
        "constant; may be repeated"
    )
    add("--drop", action="append", default=[], metavar=metavar, help=text)
    if of_fit:
        text = "encode text: a column for each value, or the share of rows that have it"
        add("--categories", choices=CATEGORIES[1:], help=text)
        text = "encode dates: days since 1970, or year, month, day and weekday"
        add("--dates", choices=DATES[1:], help=text)
        text = "a library that encodes text and dates: skrub's TableVectorizer"
        add("--vectorise", choices=VECTORISERS, help=text)
        text = "format of ambiguous dates, for instance %%d/%%m/%%Y"
        add("--date-format", metavar="FORMAT", help=text)
    text = "decimal sign of numbers that may be thousands, such as 1.234"
    add("--decimal", choices=(".", ","), help=text)
    text = "encoding of text files (UTF-8, else UTF-16 or Windows-1252, with a note)"
    add("--encoding", metavar="NAME", help=text)
    text = (
        "read LABEL as a class, although it looks like a missing label (NA) or "
        "differs from another class in capitals alone; may be repeated"
    )
    add("--keep-label", action="append", default=[], metavar="LABEL", help=text)
    for role in ("source", "target") if of_fit else ():
        for name, what in names:
            text = f"the column of the {what} in the {role} alone"
            add(f"--{role}-{name}", metavar="NAME", help=text)


def add_impute(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets numbers be missing."""
    text = "replace missing and infinite numbers by the mean of their column"
    parser.add_argument("--impute", action="store_true", help=text)


def add_joining(parser: argparse.ArgumentParser, scale: str) -> None:
    """Add the options on reading and joining the files of two domains."""
    add = parser.add_argument
    text = (
        "columns with the same meaning and unit in both files: none, or same-names and "
        "pairs a=b,c=d*10 of a source column and a target column, perhaps times the "
        "number that brings it to the source's unit (same-names where there are any)"
    )
    add("--shared", metavar="HOW", help=text)
    text = (
        "two files of objects described in both ways, one with the columns of each "
        "domain; identifiers join them, or else the order of rows; they need no labels"
    )
    add("--paired", nargs=2, metavar=("SOURCE_FILE", "TARGET_FILE"), help=text)
    add_columns(parser)
    add_impute(parser)
    text = (
        "scale the features of each file: rows to unit length, columns to mean 0 and "
        "deviation 1 (shared columns by the source, or with standardise-each by each "
        "file), or to at most 50 principal components (%(default)s)"
    )
    add("--scale", choices=(*SCALES, STANDARDISE_EACH), default=scale, help=text)


def add_labelled(parser: argparse.ArgumentParser, what: str = "") -> None:
    """Add the option that reads rows to label again, with labels filled in."""
    text = f"{what}these labels join the fit; of several files, the oldest first"
    add = parser.add_argument
    add("--labelled", action="append", default=[], metavar="FILE", help=text)


def check_outputs(
    arguments: argparse.Namespace,
    writes: Iterable[str | Path],
    reads: Iterable[str | Path],
) -> None:
    """Raise ConfigError before an output replaces an input, or a file without --force.

    Both lists hold files, or names of options that do.
    """
    taken = [*_files(arguments, reads)]
    for path in _files(arguments, writes):
        for other in taken:
            place = other.resolve()
            holds = path.resolve() in (place, *place.parents)
            if holds or same_file(path, other):
                raise ConfigError(
                    f"{path} would replace {other}, which the same command reads or "
                    "writes. Choose another name."
                )
        if os.path.lexists(path) and not arguments.force:
            raise ConfigError(
                f"{path} is there already. Choose another name, or replace it by "
                "--force."
            )
        taken.append(path)


def _files(arguments: argparse.Namespace, what: Iterable[str | Path]) -> Iterator[Path]:
    for each in what:
        found = vars(arguments)[each] if isinstance(each, str) else each
        listed = found if isinstance(found, list) else filter(None, [found])
        yield from map(Path, listed)


def positive_integer(text: str) -> int:
    """Return the value of an argument that must be an integer above zero."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return int(text)


def need_package(package: str, what: str, extra: str = "") -> None:
    """Raise ConfigError, with the extra to install, where a package lacks."""
    if importlib.util.find_spec(package) is None:
        raise ConfigError(_install(package, what, extra))


def missing_package(error: ModuleNotFoundError, extra: str) -> str | None:
    """Return how to install the optional package that an import lacked, if it did."""
    package = (error.name or "").partition(".")[0]
    return _install(package, "this", extra) if package in EXTRAS else None


def _install(package: str, what: str, extra: str) -> str:
    extra = f"cdspp[{extra or EXTRAS[package]}]"
    return f"{what} needs {package}, which is not installed: pip install '{extra}'"
