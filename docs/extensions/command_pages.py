"""The page of commands: name, purpose, example and options, from the parser."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from unittest.mock import patch

import yaml
from rst import heading, indented, list_table, plain

from cdspp.analysis.comparison import SCHEMA_VERSION
from cdspp.cli.command import JSON_VERSION
from cdspp.cli.main import main
from cdspp.core.wording import sentence

__all__ = ["EXIT_CODES", "command_parsers", "examples", "json_keys", "pages", "parser"]

TEXTS = "docs/extensions/commands.yaml"
KEYS = "docs/extensions/json_keys.yaml"
INTRODUCTION = """\
``cdspp COMMAND --help`` prints the same texts and options. The `exit codes`_ are at the
end.
"""
FILES = "Files"
# What a command returns to the shell; tests/cli has a case of each.
EXIT_CODES = {
    0: "done",
    1: "a difference, or a failure with --strict",
    2: "a mistake of the user",
    130: "Ctrl-C",
}
EVERY = "every command"
OF_SNAKEMAKE = "Snakemake's: 1 where a job failed, 128 + n where signal n ended it"
DEFECT = "a defect of ``cdspp`` itself, with a traceback"
OF_JSON = """\
``--json`` prints one JSON object to stdout and nothing else; notes go to stderr, and
the exit code is that of the text. ``cdspp compare --json FILE`` prints its text and
writes the object to a file. Each object has ``schema_version``, which rises where a key
goes or means something else; new keys may come at any time. A point leads into an
object, or into the objects of a list.
"""
STRICT = re.compile(r"exit with code 1 if (.*)")
EXAMPLES = re.compile(r"^examples?:\n((?:  .*\n?)+)", re.M)


class _Found(Exception):
    """Carries the parser of the command out of it."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of `cdspp` as the command itself makes it."""

    def stop(found: argparse.ArgumentParser, *_: object) -> None:
        raise _Found(found)

    with patch.object(argparse.ArgumentParser, "parse_args", stop):
        try:
            main([])
        except _Found as found:
            return found.args[0]
    raise RuntimeError("the command has read no arguments")


def command_parsers(
    whole: argparse.ArgumentParser,
) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    [group] = [a for a in whole._actions if isinstance(a, argparse._SubParsersAction)]
    return group.choices


def _purposes(whole: argparse.ArgumentParser) -> dict[str, str]:
    """Return what each command does, in the words of ``cdspp --help``."""
    [group] = [a for a in whole._actions if isinstance(a, argparse._SubParsersAction)]
    return {action.dest: str(action.help) for action in group._choices_actions}


def examples(found: argparse.ArgumentParser) -> str:
    """Return the lines of the examples that the help of a command ends with."""
    blocks = EXAMPLES.findall(f"{found.epilog or ''}\n")
    return "\n".join(re.sub(r"^  ", "", block.rstrip(), flags=re.M) for block in blocks)


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of the page."""
    texts = yaml.safe_load((root / TEXTS).read_text(encoding="utf-8"))
    whole = parser()
    commands = command_parsers(whole)
    if texts.keys() != commands.keys():
        differing = sorted(texts.keys() ^ commands.keys())
        raise ValueError(f"{TEXTS} and the parser differ in {', '.join(differing)}.")
    purposes = _purposes(whole)
    rows = [["Command", "Purpose"]]
    rows += [[_link(name), _code(purposes[name])] for name in texts]
    parts = [heading("Commands"), INTRODUCTION, list_table(rows, classes="")]
    files = (whole.epilog or "").strip()
    for name, text in texts.items():
        parts += _section(name, purposes[name], text, commands[name], files)
    parts += [*_exit_codes(commands), *_json(json_keys(root))]
    parts += [heading(FILES, "-"), *_paragraphs(files)]
    yield "commands.rst", "\n".join(parts)


def _exit_codes(commands: Mapping[str, argparse.ArgumentParser]) -> Iterator[str]:
    """Yield the table of exit codes; the parser knows where --strict makes one."""
    strict: dict[str, list[str]] = {}
    for name, found in commands.items():
        for action in found._actions:
            if "--strict" in action.option_strings:
                [part] = STRICT.findall(found._get_formatter()._expand_help(action))
                strict.setdefault(part, []).append(_link(name))
    yield ".. _exit-codes:\n"
    yield heading("Exit codes", "-")
    rows = [["Code", "Where", "Command"], ["0", EXIT_CODES[0], EVERY]]
    rows += [["1", "a difference", _link("verify")]]
    rows += [["1", f"``--strict``: {p}", ", ".join(n)] for p, n in strict.items()]
    rows += [["1", DEFECT, EVERY], ["2", EXIT_CODES[2], EVERY]]
    rows += [["130", EXIT_CODES[130], EVERY]]
    yield list_table([*rows, ["any", OF_SNAKEMAKE, _link("run")]], classes="")


def json_keys(root: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the keys of each command that prints JSON, and what they hold."""
    keys = yaml.safe_load((root / KEYS).read_text(encoding="utf-8"))
    versions = dict.fromkeys(keys, JSON_VERSION) | {"compare": SCHEMA_VERSION}
    return {
        name: {"schema_version": str(versions[name]), **found}
        for name, found in keys.items()
    }


def _json(keys: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the section on JSON: its keys by command."""
    yield heading("JSON", "-")
    yield OF_JSON
    for name, found in keys.items():
        yield _raw(f"<details class='options'><summary>Keys of {name}</summary>")
        rows = [[f"``{key}``", text] for key, text in found.items()]
        yield list_table([["Key", "Content"], *rows])
        yield _raw("</details>")


def _link(name: str) -> str:
    return f":ref:`cdspp-{name}`"


def _section(
    name: str, purpose: str, text: str, found: argparse.ArgumentParser, files: str
) -> Iterator[str]:
    """Yield the section of a command: purpose, example, text, folded options."""
    yield f".. _cdspp-{name}:\n"
    yield heading(f"cdspp {name}", "-")
    yield f"{_code(sentence(purpose))}.\n"
    yield f".. code-block:: shell\n\n{indented(examples(found) or f'cdspp {name}')}\n"
    yield text
    epilog = found.epilog or ""
    yield from _paragraphs(EXAMPLES.sub("", epilog.replace(files, "")))
    if files in epilog:
        yield f"The section `{FILES}`_ describes input and output.\n"
    if len(found._actions) > 1:
        yield _raw(f"<details class='options'><summary>Options of {name}</summary>")
        yield f".. program:: cdspp {name}\n"
        yield from _options(found)
        yield _raw("</details>")


def _raw(html: str) -> str:
    return f".. raw:: html\n\n   {html}\n"


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help; a line with a colon heads what follows it."""
    for part in re.split(r"\n\s*\n", text.strip()):
        head, _, rest = part.partition("\n")
        if head.endswith(":") and rest.startswith("  "):
            yield f".. rubric:: {head[:-1].capitalize()}\n"
            part = rest
        if part.lstrip().startswith("cdspp "):
            lines = dedent(part).strip()
            yield f".. code-block:: shell\n\n{indented(lines)}\n"
        elif part.strip():
            yield f"{_code(' '.join(part.split()))}\n"


def _code(text: str) -> str:
    """Return text with its options, and what stands between backquotes, as code."""
    parts = re.split(r"`([^`]+)`|(?<!\S)(--(?:[a-z][\w-]*)?(?:=[\w-]+)?)", text)
    parts = [part for part in parts if part is not None]
    parts[::2] = map(plain, parts[::2])
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)


def _options(found: argparse.ArgumentParser) -> Iterator[str]:
    """Yield an entry for each argument: its name, and what its help says."""
    formatter = found._get_formatter()
    for action in found._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        name = formatter._format_action_invocation(action)
        yield f".. option:: {name}\n"
        if action.help:
            said = formatter._expand_help(action)
            needed = " Required." * (action.required and bool(action.option_strings))
            yield indented(_code(f"{said[:1].upper()}{said[1:]}.{needed}")) + "\n"
