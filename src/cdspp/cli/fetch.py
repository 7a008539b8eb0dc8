"""The command `cdspp fetch`: published data, downloaded and verified."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from cdspp.cli.command import STUDY_EXTRA, add_command
from cdspp.core.errors import DataError
from cdspp.study.files import workflow_folder

log = logging.getLogger(__name__)

FETCH_HELP = """\
Downloads and verifies the files of a published data set, for instance on a login node;
a study that runs later finds them in place. Without a name it lists all data sets. It
keeps complete files. It looks first in a mirror, a folder or address named here or in
the environment variable CDSPP_MIRROR, then at the published addresses.

examples:
  cdspp fetch
  cdspp fetch office-caltech-10 surf googlenet-webcam
  cdspp fetch mrc --mirror /media/datasets
"""


def _fetch(arguments: argparse.Namespace) -> str:
    from cdspp.core.discovery import did_you_mean
    from cdspp.datasets.base import record_path
    from cdspp.datasets.catalogue import load_catalogue
    from cdspp.datasets.resources import fetch_resource

    catalogue = arguments.catalogue or workflow_folder() / "resources/datasets.yaml"
    entries = load_catalogue(catalogue)
    found = {name: entry.get("resources") for name, entry in entries.items()}
    known = {name: resources for name, resources in found.items() if resources}
    name = arguments.dataset
    if name is None:
        return "\n".join(f"{key:20}{' '.join(each)}" for key, each in known.items())
    if name not in known:
        hint = did_you_mean(name, known)
        raise DataError(f"nothing is published as {name!r}{hint} See cdspp fetch.")
    lines, faults = [], []
    places = {"catalogue": catalogue, "mirror": arguments.mirror}
    for resource in arguments.resource or known[name]:
        output = record_path(arguments.data, name, resource)
        try:
            fetch_resource(dataset=name, resource=resource, output=output, **places)
            lines.append(f"{name}, {resource}: {output}")
        except DataError as error:
            log.error("%s", error)
            faults.append(resource)
    if faults:
        count = f"{len(faults)} of {len(faults) + len(lines)} resources"
        message = f"{name}: {count} could not be fetched: {', '.join(faults)}"
        raise DataError(f"{message}. The lines above say why.")
    return "\n".join(lines)


def add_fetch(commands: Any) -> None:
    """Add ``cdspp fetch`` to the commands."""
    text = "download published data"
    fetch = add_command(commands, "fetch", _fetch, text, FETCH_HELP, STUDY_EXTRA)
    add = fetch.add_argument
    add("dataset", nargs="?", metavar="DATASET", help="a name from the list")
    add("resource", nargs="*", metavar="RESOURCE", help="parts of it; by default all")
    note = "where to put the files (%(default)s, as the study expects)"
    add("--data", default="data", metavar="FOLDER", help=note)
    add("--mirror", metavar="PLACE", help="folder or address to look in first")
    add("--catalogue", metavar="FILE", help="a catalogue of your own")
