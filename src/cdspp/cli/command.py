"""How every command of `cdspp` is declared."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from typing import Any

from cdspp.core.errors import ConfigError

__all__ = ["add_command", "missing_package", "need_package", "positive_integer"]

# The smallest extra that brings a package which only some commands and methods use.
EXTRAS = {
    **dict.fromkeys(("jinja2", "markupsafe", "matplotlib"), "report"),
    **dict.fromkeys(("pyarrow", "yaml"), "report"),
    **dict.fromkeys(("torch", "torchvision", "PIL"), "networks"),
    **dict.fromkeys(("cv2", "jsonschema", "pooch"), "workflow"),
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
