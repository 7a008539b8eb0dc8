"""The command that downloads published data, or lists what a study downloads."""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cdspp.cli import command
from cdspp.cli.study import read_study
from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import OFFLINE, DataError
from cdspp.core.wording import counted
from cdspp.study.files import workflow_folder

log = logging.getLogger(__name__)

FETCHED = {"fetched", "weights"}  # inputs of features that are downloaded


def _fetch(arguments: Namespace) -> str:
    from cdspp.datasets.catalogue import load_catalogue

    catalogue = arguments.catalogue or workflow_folder() / "resources/datasets.yaml"
    if arguments.list:
        return _download_list(arguments.list, catalogue, arguments.mirror)
    entries = load_catalogue(catalogue).items()
    datasets = {k: entry["resources"] for k, entry in entries if entry.get("resources")}
    name = arguments.dataset
    if name is None:
        return "\n".join(f"{key:20}{' '.join(each)}" for key, each in datasets.items())
    if name not in datasets:
        hint = did_you_mean(name, datasets)
        raise DataError(f"no published data set {name!r}{hint} List: cdspp fetch.")
    return _fetched(name, arguments.resource or datasets[name], catalogue, arguments)


def _fetched(
    name: str, resources: Iterable[str], catalogue: Path, arguments: Namespace
) -> str:
    """Fetch resources of a data set; return their records."""
    from cdspp.datasets.base import record_path
    from cdspp.datasets.fetch import NAME_FOLDER, UnreachableError
    from cdspp.datasets.resources import download_table, fetch_resource

    lines, faults, offline = list[str](), list[str](), list[Path]()
    options = {"catalogue": catalogue, "mirror": arguments.mirror}
    for resource in resources:
        output = record_path(arguments.data, name, resource)
        try:
            fetch_resource(dataset=name, resource=resource, output=output, **options)
            lines.append(f"{name}, {resource}: {output}")
        except UnreachableError:
            offline.append(output)
            faults.append(resource)
        except DataError as error:
            log.error("%s", error)
            faults.append(resource)
    if faults:
        message = f"{name}: could not fetch {', '.join(faults)}"
        if not offline:
            raise DataError(f"{message}. The lines above say why.")
        table = download_table(catalogue, offline, arguments.mirror)
        log.error("\n%s\n", "\n".join(table))
        remedy = f"Put the files of the table below a folder FOLDER, and {NAME_FOLDER}"
        raise DataError(f"{message}: {OFFLINE}. {remedy}.")
    return "\n".join(lines)


def _download_list(files: Sequence[str], catalogue: Path, mirror: str | None) -> str:
    """Return a table of the downloads that a study lacks."""
    from cdspp.datasets.fetch import NAME_FOLDER
    from cdspp.datasets.resources import download_table
    from cdspp.study.files import files_before_fits
    from cdspp.study.specifications import Specifications

    study = read_study(files)
    inputs_of, features = Specifications(study).of, files_before_fits(study)["features"]
    inputs = (inputs_of(path).inputs for path in features)
    records = [each[key] for each in inputs for key in FETCHED & each.keys()]
    place = mirror or study.config.get("mirror")
    table = download_table(catalogue, map(Path, dict.fromkeys(records)), place)
    if not table:
        return f"{study.name}: all files to download are in data/ or in the mirror."
    head = f"{study.name} downloads {counted(len(table) - 1, 'file')}. Without a"
    head += f" network, put each below a folder FOLDER, and {NAME_FOLDER}."
    return "\n".join([head, "", *table])


def add_commands(commands: Any) -> None:
    """Add the command."""
    command.add_command(commands, "fetch", _fetch, command.STUDY_EXTRA)
