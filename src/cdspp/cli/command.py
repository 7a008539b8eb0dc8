"""Shared parts of the commands: options, outputs, optional packages."""

import argparse
import importlib.util
import json
import os
import sys
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cdspp.core import names
from cdspp.core.errors import ConfigError, install_hint
from cdspp.core.files import same_file
from cdspp.core.outputs import exists_text, mode_of

STUDY_EXTRA = "workflow"
HELP = Path(__file__).with_name("help")
# Format options of a table, in addition to its columns of labels and identifiers.
FORMATS = ("encoding", "decimal", "categories", "dates", "date_format", "vectorise")
JSON_VERSION = 2  # raised if a key of --json disappears or changes meaning
# Choices of options, by the name of the option.
CHOICES: dict[str, Sequence[str]] = {
    "--scale": (*names.SCALES, names.STANDARDISE_EACH),
    "--categories": names.CATEGORIES[1:],
    "--dates": names.DATES[1:],
    "--vectorise": names.VECTORISERS,
    "--decimal": (".", ","),
}
AS_WRITTEN = argparse.RawDescriptionHelpFormatter
Run = Callable[[argparse.Namespace], str]
Given = Iterable[names.PathLike | None]  # files of options, None for omitted options


def help_text(*names: str) -> str:
    """Return the existing files ``help/<name>.txt``, separated by blank lines."""
    files = filter(Path.is_file, (HELP / f"{name}.txt" for name in names))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def positive_integer(text: str) -> int:
    """Return an argument that must be a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return int(text)


CONVERTERS = {"number": positive_integer, "integer": int, "path": Path}


@cache
def command_texts() -> dict[str, Any]:
    """Return the content of ``help/options.toml``: texts and options of commands."""
    return tomllib.loads((HELP / "options.toml").read_text(encoding="utf-8"))


def add_command(
    commands: Any, name: str, run: Run, extra: str = "", **converters: Any
) -> None:
    """Add a command with its options; `converters` are those of this command only.

    A missing package is in `extra`, or else in the smallest extra that has it.
    """
    text = command_texts()[name]
    parser_options = {"help": text["text"], "description": text["text"]}
    parser_options |= {"usage": text.get("usage"), "formatter_class": AS_WRITTEN}
    epilog = help_text(*text.get("pages", [name]))
    parser = commands.add_parser(name, epilog=epilog, **parser_options)
    parser.set_defaults(run=run, extra=extra)
    one_of, group = text.get("one_of", ()), parser
    if one_of:
        group = parser.add_mutually_exclusive_group(required=True)
    for option, settings in _options(text.get("options", {})):
        if kind := settings.get("type"):
            settings["type"] = {**CONVERTERS, **converters}[kind]
        place = group if option in one_of else parser
        place.add_argument(option, **settings)


def _options(options: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield options, including those of groups, with the arguments of argparse."""
    texts = command_texts()
    for name, settings in options.items():
        if members := texts["groups"].get(name):
            yield from _options(dict.fromkeys(members, settings))
            continue
        entry = {**texts["shared"].get(name, {}), **settings}
        entry["help"] = entry["help"].replace("{part}", entry.pop("part", ""))
        if isinstance(entry.get("metavar"), list):
            entry["metavar"] = tuple(entry["metavar"])
        if name in CHOICES:
            entry["choices"] = CHOICES[name]
        yield name, entry


def exit_if_failed(text: str, *, failed: object) -> str:
    """Print an answer and exit with code 1 if a command failed, else return it."""
    if failed:
        sys.stdout.write(f"{text}\n")
        sys.exit(1)
    return text


def json_text(content: Mapping[str, Any]) -> str:
    """Return the text that a command prints with --json."""
    versioned = {"schema_version": JSON_VERSION, **content}
    text = json.dumps(versioned, indent=2, sort_keys=True, allow_nan=False)
    return text.replace("\x7f", "\\u007f")  # the only one that JSON does not escape


def check_outputs(outputs: Given, inputs: Given, *, force: bool) -> None:
    """Refuse outputs that replace an input, or a file without --force (ConfigError).

    `outputs.together` decides the latter again when the files are complete.
    """
    earlier_paths = [Path(path) for path in inputs if path]
    for path in [Path(output) for output in outputs if output]:
        for other in earlier_paths:
            place = other.resolve()
            holds = path.resolve() in (place, *place.parents)
            if holds or same_file(path, other):
                fault = "which this command also reads or writes. Choose another name."
                raise ConfigError(f"{path} would replace {other}, {fault}")
        if os.path.lexists(path) and not force:
            raise ConfigError(exists_text(path))
        mode_of(path)
        earlier_paths.append(path)


@contextmanager
def warnings_as_notes(write_lines: Callable[[list[str]], object]) -> Iterator[None]:
    """Pass on each warning of the block as one line, with its count if repeated."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            counts = Counter(_in_one_line(str(item.message)) for item in caught)
            for text, n in counts.items():
                times = f" ({n} times)" if n > 1 else ""
                write_lines([f"note: {text}{times}\n"])


def _in_one_line(message: str) -> str:
    """Return a message in one line, except for the lines of a table."""
    text, *table = message.split("\n    ")
    return "\n    ".join([" ".join(text.split()), *table])


def need_package(package: str, purpose: str, extra: str = "") -> None:
    """Raise ConfigError, naming the extra to install, if a package is missing."""
    if importlib.util.find_spec(package) is None:
        raise ConfigError(install_hint(package, purpose, extra))
