"""How every command of `cdspp` is declared."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["add_command", "positive_integer"]


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], str],
    text: str,
    epilog: str = "",
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
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=text,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
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
