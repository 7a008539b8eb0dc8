"""The command `cdspp verify`: whether what lies there is what was computed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from cdspp.cli.command import add_command
from cdspp.cli.study_files import read_study

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

With a study file in place of the folder, called in the folder of the run, each fit is
compared with the study as well: options, seed, code, features and splits.

  cdspp verify mine.yaml
"""
STUDY_FILES = (".yaml", ".yml", ".json")


def _verify(arguments: argparse.Namespace) -> str:
    from cdspp.analysis.verify import verify

    if Path(arguments.study).suffix in STUDY_FILES:
        from cdspp.study.fit_jobs import expected_fits

        study = read_study([arguments.study])
        expected = {name: expected_fits(study, name) for name in study.benchmarks}
        found = verify(Path("results", study.name), expected)
    else:
        found = verify(arguments.study)
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
        "study",
        metavar="RESULTS_FOLDER|STUDY_FILE",
        help="for instance results/embedded, or mine.yaml",
    )
