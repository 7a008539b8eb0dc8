"""Study files as commands read them, and `cdspp plan`, `summary`, `verify`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_command, add_study_command
from cdspp.cli.share import unpacked
from cdspp.study.workflow_files import PathLike, found_file, workflow_folder

if TYPE_CHECKING:
    from cdspp.study.layers import Layers
    from cdspp.study.model import Study

__all__ = ["add_plan", "add_summary_and_verify", "read_layers", "read_study"]

log = logging.getLogger(__name__)

PLAN_HELP = """\
Jobs, fits, core-hours and memory by method, from the cost model. It does not need data
that are still to be downloaded.

example:
  cdspp plan resources/studies/paper.yaml
"""
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

An archive of `cdspp bundle` is checked as the folder in it.
"""
STUDY_FILES = (".yaml", ".yml", ".json")


def read_layers(files: Sequence[PathLike]) -> Layers:
    """Return the keys of a study from its files and from those that ship."""
    from cdspp.study.layers import layered, merge_files

    place = workflow_folder()
    return layered(
        merge_files([found_file(file) for file in files]),
        base=place / "config.yaml",
        presets=place / "resources/presets",
        beside="config.yaml",
    )


def read_study(files: Sequence[PathLike]) -> Study:
    """Return the study of some files, by default the embedded one.

    What is left out is logged. ConfigError lists every fault found.
    """
    from cdspp.study.config import load_study

    layers, place = read_layers(files), workflow_folder()
    for note in layers.notes:
        log.warning("%s", note)
    study = load_study(
        layers.config,
        schema=place / "workflow/schemas/config.schema.yaml",
        catalogue=place / "resources/datasets.yaml",
        resources=place / "resources",
        inherited=layers.inherited,
    )
    for note in study.notes:
        log.warning("%s", note)
    return study


def _plan(arguments: argparse.Namespace) -> str:
    from cdspp.study.fit_jobs import forecast_text

    return forecast_text(read_study(arguments.file))


def _summary(arguments: argparse.Namespace) -> str:
    from cdspp.report.page.headline import headline

    return headline(arguments.folder)


def _verify(arguments: argparse.Namespace) -> str:
    from cdspp.analysis.verify import verify

    if Path(arguments.study).suffix in STUDY_FILES:
        from cdspp.study.fit_jobs import expected_fits

        study = read_study([arguments.study])
        expected = {name: expected_fits(study, name) for name in study.benchmarks}
        found = verify(Path("results", study.name), expected)
    elif Path(arguments.study).suffix == ".zip":
        with unpacked(Path(arguments.study)) as folder:
            found = verify(folder)
    else:
        found = verify(arguments.study)
    text = "\n".join([*found.faults, found.told])
    if not found.faults:
        return text
    sys.stdout.write(text + "\n")
    sys.exit(1)


def add_plan(commands: Any) -> None:
    """Add ``cdspp plan`` to the commands."""
    add_study_command(commands, "plan", _plan, "estimate what a study costs", PLAN_HELP)


def add_summary_and_verify(commands: Any) -> None:
    """Add ``cdspp summary`` and ``cdspp verify`` to the commands."""
    text, told = "print the headline of a study", "for instance results/embedded"
    summary = add_command(commands, "summary", _summary, text)
    summary.add_argument("folder", metavar="RESULTS_FOLDER", help=told)
    text = "check fits, scores and what follows"
    verify = add_command(commands, "verify", _verify, text, VERIFY_HELP)
    told = "for instance results/embedded, mine.yaml or mine.zip"
    verify.add_argument("study", metavar="RESULTS_FOLDER|STUDY_FILE|ARCHIVE", help=told)
