"""The command `cdspp verify`: whether what lies there is what was computed."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from cdspp.cli.command import add_command

__all__ = ["add_verify"]

VERIFY_HELP = """\
Computes nothing that takes long: every fit is checked against its record, its path, the
features and the splits that it was made of; scores are counted again from fits and
labels, and the numbers of the tables accuracy, class-accuracy and overview (CSV) from
scores; all that the report rests on and shows, from labels to figures, is compared
with the digests that it states. Each difference is one line; the exit code is 1 where
there is one, else 0. What the report says beside is not checked.

example:
  cdspp verify results/embedded
"""


def _verify(arguments: argparse.Namespace) -> str:
    from cdspp.analysis.verify import verify

    found = verify(arguments.folder)
    text = "\n".join([*found.faults, found.told])
    if not found.faults:
        return text
    sys.stdout.write(text + "\n")
    sys.exit(1)


def add_verify(commands: Any) -> None:
    """Add ``cdspp verify`` to the commands."""
    command = add_command(
        commands,
        "verify",
        _verify,
        "check fits, scores and what follows",
        VERIFY_HELP,
    )
    command.add_argument(
        "folder", metavar="RESULTS_FOLDER", help="for instance results/embedded"
    )
