"""The command `cdspp`: its parser, its output, and its exit on errors."""

import logging
import re
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from pathlib import PurePath
from typing import NoReturn

from cdspp.cli.command import AS_WRITTEN, help_text, warnings_as_notes
from cdspp.core import errors, removed
from cdspp.core.discovery import nearest
from cdspp.core.labels import label_rules
from cdspp.core.screen import guard_screen
from cdspp.core.version import VERSION

DESCRIPTION = """\
Heterogeneous domain adaptation: predict the labels of a target domain with few labels,
with the help of a labelled source domain that has other features.
"""

# ConfigError and DataError are ValueErrors, like scikit-learn's own.
USER_ERRORS = (errors.DiskFullError, errors.NotWritableError, OSError, ValueError)
LESS_MEMORY = "Leave rows or features out, or use another method, and run again."
# The commands of each module, in the order of the help.
MODULES = {
    "fit_predict": ("methods", "fit", "predict"),
    "inspect": ("inspect",),
    "compare": ("compare",),
    "fetch": ("fetch",),
    "init": ("init",),
    "run": ("plan", "run"),
    "clean": ("clean",),
    "study": ("status", "summary", "verify", "export-splits"),
    "references": ("cite", "constraints"),
}


class Parser(ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print an error and exit with code 2."""
        sys.exit(_print_error(self.prog, f"{message}. Help: {self.prog} --help"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code (2 for an error of the user)."""
    guard_screen()
    words, snakemake_words = list(sys.argv[1:] if argv is None else argv), list[str]()
    if words[:1] == ["run"] and "--" in words:  # the rest goes to Snakemake
        place = words.index("--")
        words, snakemake_words = words[:place], words[place + 1 :]
    parser = Parser("cdspp", description=DESCRIPTION, formatter_class=AS_WRITTEN)
    parser.epilog = help_text("files")
    parser.add_argument("--version", action="version", version=f"cdspp {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    if fault := _removal_text(words):
        return _print_error(parser.prog, fault)
    # Commands on studies import more, which would delay a fit of tables.
    modules = [name for name, names in MODULES.items() if words and words[0] in names]
    for name in modules or MODULES:
        import_module(f"cdspp.cli.{name}").add_commands(commands)
    if fault := _unknown_name(parser, commands.choices, words):
        return _print_error(parser.prog, fault)
    parser.set_defaults(snakemake=snakemake_words)
    return run_command(parser, words)


def _removal_text(words: Sequence[str]) -> str:
    """Return the message on the first removed name; empty if there is none."""
    command, *others = words or [""]
    if remedy := removed.COMMANDS.get(command):
        return removed.removal_text(f"the command {command}", remedy)
    for word in others:
        option = word.partition("=")[0]
        if remedy := removed.OPTIONS.get((command, option)):
            return removed.removal_text(f"{command}: the option {option}", remedy)
        ending = PurePath(word).suffix
        if remedy := removed.FILES.get((command, ending)):
            return removed.removal_text(f"{command}: reading {ending} files", remedy)
    return ""


def _unknown_name(
    parser: ArgumentParser, commands: Mapping[str, ArgumentParser], words: Sequence[str]
) -> str:
    """Return the message on a command or option that does not exist; else nothing."""
    call, first = [parser.prog], 0
    if words and not words[0].startswith("-"):
        if words[0] not in commands:
            return _correction(call, "command", commands, words, 0)
        call, parser, first = [*call, words[0]], commands[words[0]], 1
    known = parser._option_string_actions
    end = words.index("--") if "--" in words else len(words)
    for place in range(first, end):
        name = words[place].partition("=")[0]
        is_option = name.startswith("--") and " " not in name  # as argparse decides
        if is_option and not any(option.startswith(name) for option in known):
            return _correction(call, "option", known, words, place)
    return ""


def _correction(
    call: Sequence[str],
    kind: str,
    known: Collection[str],
    words: Sequence[str],
    place: int,
) -> str:
    name, *value = words[place].partition("=")
    message = f"{' '.join(call)} has no {kind} {name!r}"
    if close := nearest(name, known):
        corrected = [*words[:place], "".join([close, *value]), *words[place + 1 :]]
        line = shlex.join([call[0], *corrected])
        return f"{message}: did you mean {close!r}? Type: {line}"
    return f"{message}. To see them all: {shlex.join([*call, '--help'])}"


def run_command(parser: ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run the command that the arguments name."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    arguments = parser.parse_args(argv)
    try:
        with warnings_as_notes(sys.stderr.writelines), _label_rules(arguments):
            text = arguments.run(arguments)
        try:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        except OSError as error:
            # Otherwise Python would write the rest of the stream again at exit.
            with suppress(OSError, ValueError):
                sys.stdout.close()
            fault = f"the answer cannot be printed ({error.strerror})"
            raise OSError(fault) from error
    except (errors.MethodFailed, *USER_ERRORS) as error:
        ours = isinstance(error, (errors.ConfigError, errors.DataError))
        text = str(error) if ours else " ".join(str(error).split())
        return _print_error(parser.prog, text)
    except (MemoryError, RuntimeError) as error:
        if not errors.out_of_memory(error):
            raise
        text = errors.out_of_memory_text(error)
        return _print_error(parser.prog, f"{text} {LESS_MEMORY}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in errors.EXTRAS:
            raise
        remedy = errors.install_hint(package, "this", arguments.extra)
        return _print_error(parser.prog, remedy)
    return 0


def _label_rules(arguments: Namespace) -> AbstractContextManager[None]:
    """Return the rules for labels that options give."""
    kept, unlabelled = (
        getattr(arguments, name, ()) for name in ("keep_label", "unlabelled")
    )
    renamed: dict[str, str] = {}
    if path := getattr(arguments, "map_labels", None):
        from cdspp.datasets.table_files import read_class_map

        renamed = read_class_map(path)
    return label_rules(kept, unlabelled, renamed)


def _print_error(program: str, message: str) -> int:
    """Print an error; cut very long words."""
    text = re.sub(r"(\S{60})\S{240,}", r"\1...", message.strip())
    sys.stderr.write(f"{program}: error: {text}\n")
    return 2
