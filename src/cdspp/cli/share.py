"""`cdspp cite` and `cdspp bundle`: what a finished study rests on, and all of it."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_command, add_force, check_outputs
from cdspp.core.errors import DataError
from cdspp.core.provenance import file_digest
from cdspp.core.whole_files import atomic
from cdspp.core.wording import counted
from cdspp.study.workflow_files import workflow_folder

if TYPE_CHECKING:
    from cdspp.analysis.fit_records import FitRecords

__all__ = ["add_share", "unpacked"]

FOLDER, FOLDER_HELP = "RESULTS_FOLDER", "for instance results/embedded"
CITE_HELP = """\
Prints the publication of each method, data set and package behind the fits. For your
own method, give its references by the key `cites` of its entry in the study file.

example:
  cdspp cite results/embedded > references.bib
"""
BUNDLE_HELP = """\
Packs configuration, package versions, features, labels, splits, fits, scores, tables,
figures, report and references of a study into one archive. Its recipient checks it with
`cdspp verify mine.zip`, and repeats the study from its study.json. Of published data it
holds the features and labels in use: check their licences before you pass it on.

example:
  cdspp bundle results/mine
"""
README = """\
The study {name}, packed by cdspp {version}.

study.json        the configuration: cdspp run study.json --cores 8
requirements.txt  the versions of the packages that made the fits
references.bib    publications of its methods, data sets and packages
results/          features, labels, splits, fits, scores, tables, figures, report

cdspp verify {archive}    checks everything that the report rests on and shows
"""


def add_share(commands: Any) -> None:
    """Add ``cdspp cite`` and ``cdspp bundle`` to the commands."""
    text = "print the publications of a study's methods, data and packages as BibTeX"
    cite = add_command(commands, "cite", _cite, text, CITE_HELP)
    cite.add_argument("folder", type=Path, metavar=FOLDER, help=FOLDER_HELP)
    text = "pack a finished study into one archive that others can check"
    bundle = add_command(commands, "bundle", _bundle, text, BUNDLE_HELP)
    bundle.add_argument("folder", type=Path, metavar=FOLDER, help=FOLDER_HELP)
    note = "the archive (<study>.zip)"
    bundle.add_argument("--output", type=Path, metavar="FILE", help=note)
    add_force(bundle)


def _records(folder: Path) -> FitRecords:
    from cdspp.analysis.fit_records import read_fit_records, records_of

    return read_fit_records(records_of(folder))


def _cite(arguments: argparse.Namespace) -> str:
    return _references(arguments.folder, _records(arguments.folder))


def _references(folder: Path, records: FitRecords) -> str:
    from cdspp.analysis.references import read_bibliography, references_of
    from cdspp.datasets.catalogue import load_catalogue

    resources = workflow_folder() / "resources"
    bibliography = read_bibliography(resources / "references.bib")
    catalogue = load_catalogue(resources / "datasets.yaml")
    return references_of(folder, records, bibliography, catalogue)


def _bundle(arguments: argparse.Namespace) -> str:
    from cdspp.analysis.references import configuration_as_run
    from cdspp.core.version import VERSION

    folder = arguments.folder.resolve()
    configuration = json.dumps(configuration_as_run(folder), indent=2)
    output = arguments.output or Path(f"{folder.name}.zip")
    check_outputs(arguments, [output], [folder])
    names = {"name": folder.name, "version": VERSION, "archive": output.name}
    records = _records(folder)
    texts = {
        "README.txt": README.format(**names),
        "study.json": configuration + "\n",
        "requirements.txt": _requirements(records),
        "references.bib": _references(folder, records) + "\n",
    }
    files = dict(_files_of(folder))
    with atomic(output) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(f"{folder.name}/{name}"), text)
        for path, name in files.items():
            archive.write(path, f"{folder.name}/results/{name}", zipfile.ZIP_DEFLATED)
    size = f"{output.stat().st_size / 1e6:.0f} MB"
    packed = f"{output}: {counted(len(files) + len(texts), 'file')}, {size}"
    return f"{packed}, sha256 {file_digest(output)}\nTo check it: cdspp verify {output}"


def _requirements(records: FitRecords) -> str:
    pins = sorted({pin for job in records.jobs for pin in job["versions"].items()})
    python = ", ".join(version for name, version in pins if name == "python")
    others = (f"{n}=={v.partition('+')[0]}" for n, v in pins if n != "python")
    return "\n".join([f"# Python {python}", *others, ""])


def _files_of(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield what lies in results of a study's files and of those it rests on."""
    from cdspp.analysis.digests import REPORT, read_digests

    results = folder.parent
    own = sorted(path for path in folder.rglob("[!.]*") if path.is_file())
    rests_on = [results / name for name in read_digests(folder / REPORT)]
    for path in dict.fromkeys([*own, *rests_on]):
        if path.is_file() and path.is_relative_to(results) and ".." not in path.parts:
            yield path, path.relative_to(results).as_posix()


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """Yield the folder ``results/<study>`` of an archive, unpacked for a while."""
    from cdspp.datasets.archives import extract

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "bundle")
        room = shutil.disk_usage(temporary).free
        extract(archive, folder, lambda name: name, room, name=str(archive))
        reports = list(folder.glob("*/results/*/report/index.html"))
        if len(reports) != 1:
            raise DataError(
                f"{archive}: expected an archive that cdspp bundle made, with one "
                f"study and its report, got {counted(len(reports), 'report')}."
            )
        yield reports[0].parents[1]
