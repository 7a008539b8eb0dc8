"""`cdspp cite` and `cdspp constraints`: publications of a study, tested packages."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from cdspp.cli.command import add_command
from cdspp.cli.study import warn_if_changed
from cdspp.study.files import workflow_folder

PINS = "envs/requirements.txt"


def _cite(arguments: Namespace) -> str:
    from cdspp.analysis import fit_records
    from cdspp.datasets.catalogue import load_catalogue

    resources, folder = workflow_folder() / "resources", arguments.folder
    warn_if_changed(folder)
    records = fit_records.read_fit_records(fit_records.record_files(folder))
    bibliography = fit_records.read_bibliography(resources / "references.bib")
    catalogue = load_catalogue(resources / "datasets.yaml")
    return fit_records.references_of(folder, records, bibliography, catalogue)


def _constraints(arguments: Namespace) -> str:
    lines = (workflow_folder() / PINS).read_text(encoding="utf-8").splitlines()
    return "\n".join(line.split()[0] for line in lines if "==" in line)


def add_commands(commands: Any) -> None:
    """Add the commands on publications and packages."""
    add_command(commands, "cite", _cite)
    add_command(commands, "constraints", _constraints)
