"""How every command of `cdspp` is declared."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from cdspp.core.errors import ConfigError

__all__ = [
    "add_command",
    "add_force",
    "check_outputs",
    "missing_package",
    "need_package",
    "positive_integer",
]

# The smallest extra that brings a package which only some commands and methods use.
EXTRAS = {
    **dict.fromkeys(("jinja2", "markupsafe", "matplotlib"), "report"),
    **dict.fromkeys(("pyarrow", "yaml"), "report"),
    **dict.fromkeys(("torch", "torchvision", "PIL"), "networks"),
    **dict.fromkeys(("cv2", "jsonschema", "requests", "urllib3"), "workflow"),
}


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], str],
    text: str,
    epilog: str = "",
    extra: str | None = None,
) -> argparse.ArgumentParser:
    """Add a command and return its parser.

    Parameters
    ----------
    commands : object
        What `argparse.ArgumentParser.add_subparsers` returned.
    name : str
        What the user types.
    run : callable
        Takes the parsed arguments and returns what to print.
    text : str
        What the command does, in one line.
    epilog : str, default=""
        What its help says below the arguments, with the line breaks given.
    extra : str, optional
        What to install where it lacks a package, if one that brings the package alone
        is not enough for it.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=text,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, extra=extra)
    return parser


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets a command replace files."""
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is there"
    )


def check_outputs(
    arguments: argparse.Namespace,
    writes: Iterable[str | Path],
    reads: Iterable[str | Path],
) -> None:
    """Refuse to write over a file, before anything is computed.

    Parameters
    ----------
    arguments : Namespace
        Those of a command with `add_force`.
    writes, reads : iterable of str or Path
        Files, or names of options that hold files; what is written may be a folder.

    Raises
    ------
    ConfigError
        An output is an input or another output, by its path or by a link, is a folder
        that holds one, or is there without ``--force``.
    """
    taken = [*_files(arguments, reads)]
    for path in _files(arguments, writes):
        for other in taken:
            if _covers(path, other):
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
        yield from map(
            Path, found if isinstance(found, list) else filter(None, [found])
        )


def _covers(path: Path, other: Path) -> bool:
    """Whether a path is that of another file, or of a folder that it is in."""
    place = other.resolve()
    linked = path.exists() and other.exists() and path.samefile(other)
    return linked or path.resolve() in (place, *place.parents)


def positive_integer(text: str) -> int:
    """Return the value of an argument that must be an integer above zero.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return int(text)


def need_package(package: str, what: str, extra: str | None = None) -> None:
    """Refuse what needs a package that is not installed.

    Parameters
    ----------
    package : str
        As it is imported.
    what : str
        What needs it.
    extra : str, optional
        What to install, by default the smallest extra that brings the package.

    Raises
    ------
    ConfigError
        It is not there; the message says how to install it.
    """
    if importlib.util.find_spec(package) is None:
        raise ConfigError(_install(package, what, extra))


def missing_package(error: ModuleNotFoundError, extra: str | None = None) -> str | None:
    """Say how to install the optional package that an import lacked, if it is one."""
    package = (error.name or "").partition(".")[0]
    return _install(package, "this", extra) if package in EXTRAS else None


def _install(package: str, what: str, extra: str | None) -> str:
    extra = f"cdspp[{extra or EXTRAS[package]}]"
    return f"{what} needs {package}, which is not installed: pip install '{extra}'"
