"""The command `cdspp`: its parser, its output, and its end where it fails."""

from __future__ import annotations

import argparse
import io
import logging
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

from cdspp.cli import fit_predict
from cdspp.cli.command import add_command, missing_package
from cdspp.core.errors import (
    DiskFullError,
    MethodFailed,
    NotWritableError,
    out_of_memory,
    out_of_memory_text,
)
from cdspp.core.labels import keep_labels
from cdspp.core.version import VERSION

DESCRIPTION = """\
Heterogeneous domain adaptation: a labelled source domain helps to label a target domain
that has few labels and other features.
"""

# ConfigError and DataError are ValueErrors, like scikit-learn's own.
USER_ERRORS = (DiskFullError, MethodFailed, NotWritableError, OSError, ValueError)
LESS_MEMORY = "Leave rows or features out, or take another method, and run again."


def _methods(arguments: argparse.Namespace) -> str:
    from cdspp.methods import available, method_class

    grid = []
    for name in available():
        found = method_class(name)
        shown = found.display_name
        if found.supervised:
            shown += " *"
        if found.needs_torch:
            shown += " (torch)"
        summary = (found.__doc__ or "").strip().splitlines()[0]
        grid.append([name, shown, summary])
    widths = [max(map(len, column)) + 2 for column in zip(*grid, strict=True)]
    lines = [f"{a:{widths[0]}}{b:{widths[1]}}{text}" for a, b, text in grid]
    lines += ["", "* supervised: learns from labelled rows alone"]
    return "\n".join([*lines, "(torch) needs torch: pip install 'cdspp[networks]'"])


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser: of one command, if that is on tables, or of all.

    Commands on studies import more, for which a fit of tables would wait.
    """
    parser = argparse.ArgumentParser(
        prog="cdspp",
        description=DESCRIPTION,
        epilog=fit_predict.FILES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cdspp {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    if words[:1] == ["fit"]:
        fit_predict.add_fit(commands)
        return parser
    if words[:1] == ["predict"]:
        fit_predict.add_predict(commands)
        return parser
    from cdspp.cli import compare, fetch, init, run, share, study

    add_command(commands, "methods", _methods, "list the methods, with identifiers")
    fit_predict.add_fit(commands)
    fit_predict.add_predict(commands)
    compare.add_compare(commands)
    fetch.add_fetch(commands)
    init.add_init(commands)
    study.add_plan(commands)
    run.add_run(commands)
    study.add_study_commands(commands)
    share.add_share(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code (2 where the user is mistaken)."""
    words, rest = list(sys.argv[1:] if argv is None else argv), list[str]()
    if words[:1] == ["run"]:
        from cdspp.cli.run import split_rest

        words, rest = split_rest(words)
    parser = _parser(words)
    parser.set_defaults(snakemake=rest)
    return run_command(parser, words)


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run the command that the arguments name, as `add_command` added it."""
    for stream in (sys.stdout, sys.stderr):  # a name may be of other bytes or letters
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    arguments = parser.parse_args(argv)
    try:
        with _notes_once(), keep_labels(*getattr(arguments, "keep_label", ())):
            text = arguments.run(arguments)
        _print(text)
    except USER_ERRORS as error:
        return _refuse(parser.prog, str(error))
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        return _refuse(parser.prog, f"{out_of_memory_text(error)} {LESS_MEMORY}")
    except ModuleNotFoundError as error:
        if (remedy := missing_package(error, arguments.extra)) is None:
            raise
        return _refuse(parser.prog, remedy)
    return 0


@contextmanager
def _notes_once() -> Iterator[None]:
    """Print each warning once, with its count and without its place in the code."""
    counts = Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = cast("Any", lambda said, *_: counts.update([str(said)]))
        try:
            yield
        finally:
            for said, n in counts.items():
                more = f" ({n} times)" if n > 1 else ""
                sys.stderr.write(f"note: {' '.join(said.split())}{more}\n")


def _print(text: str) -> None:
    """Print the answer; OSError, once, where the stream takes none."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError as error:
        # What is left in the stream would be tried again as the process ends.
        with suppress(OSError, ValueError):
            sys.stdout.close()
        raise OSError(f"the answer cannot be printed ({error.strerror})") from error


def _refuse(program: str, message: str) -> int:
    """Print an error on one line, several faults on one each; cut very long words."""
    head, *faults = (
        " ".join(w if len(w) <= 300 else f"{w[:60]}..." for w in part.split())
        for part in message.split("\n  - ")
    )
    listed = ("\n  - " if len(faults) > 1 else " ").join([head, *faults])
    sys.stderr.write(f"{program}: error: {listed}\n")
    return 2
