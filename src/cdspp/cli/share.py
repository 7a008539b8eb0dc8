"""`cdspp cite` and `cdspp bundle`: the sources of a finished study, and its archive."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_command, check_outputs
from cdspp.core.errors import DataError
from cdspp.core.files import atomic, read_json, record_path
from cdspp.core.provenance import file_digest, own_modules
from cdspp.core.wording import counted
from cdspp.datasets.archives import DAMAGE_ERRORS, damage_error, extract
from cdspp.datasets.base import read_cache
from cdspp.study.files import workflow_folder

if TYPE_CHECKING:
    from cdspp.analysis.fit_records import FitRecords

PINS = "envs/requirements.txt"
Check = Callable[[Path], dict[str, Any]]
SUMS = "SHA256SUMS"
TEXTS = ("README.txt", "study.json", "requirements.txt", "references.bib")
README_OMISSIONS = """
To run it, add these files, which the archive does not contain (sha256, path):
"""
OMISSIONS = "Not packed, but needed to run the study again (--with-inputs packs them):"
LONGEST = 1 << 26  # largest list of members, in bytes
LISTED = 20  # unpacked files that the command lists


def _records(folder: Path) -> FitRecords:
    from cdspp.analysis.fit_records import read_fit_records, record_files

    return read_fit_records(record_files(folder))


def _cite(arguments: Namespace) -> str:
    return _references(arguments.folder, _records(arguments.folder))


def _references(folder: Path, records: FitRecords) -> str:
    from cdspp.analysis.fit_records import read_bibliography, references_of
    from cdspp.datasets.catalogue import load_catalogue

    resources = workflow_folder() / "resources"
    bibliography = read_bibliography(resources / "references.bib")
    catalogue = load_catalogue(resources / "datasets.yaml")
    return references_of(folder, records, bibliography, catalogue)


def _bundle(arguments: Namespace) -> str:
    from cdspp.core.version import VERSION
    from cdspp.study.stale import read_digests

    folder = arguments.folder.resolve()
    digests, root = read_digests(folder), folder.parents[1]
    output = arguments.output or Path(f"{folder.name}.zip")
    check_outputs([output], [folder], force=arguments.force)
    listed = (Path(os.path.normpath(folder.parent / name)) for name in digests.files)
    paths = dict.fromkeys([*sorted(folder.rglob("[!.]*")), *listed])
    inside = (path for path in paths if path.is_file() and path.is_relative_to(root))
    files = {path.relative_to(root).as_posix(): path for path in inside}
    with chdir(root):  # paths of the study are relative to it
        inputs = {p: d for p, d in _inputs(digests.configuration) if p not in files}
        for path, digest in [*inputs.items()] if arguments.with_inputs else []:
            place = os.path.normpath(path)
            if not place.startswith(("/", "..")) and _digest(path) == digest:
                files[place] = root / path
                del inputs[path]
    omissions = [f"{digest}  {path}" for path, digest in inputs.items()]
    records, names = _records(folder), {"name": folder.name, "version": VERSION}
    needs = "\n".join([README_OMISSIONS, *omissions, ""]) if omissions else ""
    readme = (workflow_folder() / "resources/bundle/README.txt").read_text("utf-8")
    texts = (
        readme.format(**names, archive=output.name, needs=needs),
        json.dumps(digests.configuration, indent=2) + "\n",
        _requirements(records),
        _references(folder, records) + "\n",
    )
    _write(output, folder.name, dict(zip(TEXTS, texts, strict=True)), files)
    count = counted(len(files) + len(texts) + 1, "file")
    size = f"{output.stat().st_size / 1e6:.0f} MB"
    lines = [f"{output}: {count}, {size}, sha256 {file_digest(output)}"]
    if omissions:
        lines += [OMISSIONS, *omissions[:LISTED]]
    if len(omissions) > LISTED:
        lines += [f"and {len(omissions) - LISTED} more, which its README.txt lists"]
    return "\n".join([*lines, f"To check it: cdspp verify {output}"])


def _write(
    output: Path, name: str, texts: Mapping[str, str], files: Mapping[str, Path]
) -> None:
    digests = {place: hashlib.sha256(text.encode()) for place, text in texts.items()}
    lines = [f"{digest.hexdigest()}  {place}\n" for place, digest in digests.items()]
    lines += [f"{file_digest(path)}  {place}\n" for place, path in files.items()]
    with atomic(output) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for place, text in {**texts, SUMS: "".join(lines)}.items():
            archive.writestr(zipfile.ZipInfo(f"{name}/{place}"), text)
        for place, path in files.items():
            archive.write(path, f"{name}/{place}", zipfile.ZIP_DEFLATED)


def _inputs(configuration: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield path and sha256 of the user's files that a study reads in this folder.

    The digests of tables are those of the run, even if the tables are gone.
    """
    from cdspp.study.files import INDEX

    keys = "datasets", "methods", "views"
    datasets, methods, views = (configuration.get(key, []) for key in keys)
    records = (read_cache(record_path(INDEX.format(dataset=d["id"]))) for d in datasets)
    digests = {k: v for record in records for k, v in record.get("inputs", {}).items()}
    folders = (Path(d["folder"]).rglob("[!.]*") for d in datasets if "folder" in d)
    entries = (*datasets, *methods, *views)
    class_paths = (entry.get("class", entry.get("extractor", "")) for entry in entries)
    modules = sorted({name.partition(":")[0] for name in class_paths if ":" in name})
    options = (entry for view in views for entry in view.get("options", {}).values())
    paths = [*digests, *(p for d in datasets for p in d.get("tables", {}).values())]
    paths += map(os.path.relpath, (*chain(*folders), *own_modules(modules)))
    paths += [method.get("predictions", "") for method in methods]
    for path in dict.fromkeys(p for p in (*paths, *options) if isinstance(p, str)):
        if digest := digests.get(path) or _digest(path):
            yield path, digest


def _digest(path: str) -> str:
    return file_digest(path) if os.path.isfile(path) else ""


def _requirements(records: FitRecords) -> str:
    pins = sorted({pin for job in records.jobs for pin in job["versions"].items()})
    python = ", ".join(version for name, version in pins if name == "python")
    requirements = (f"{n}=={v.partition('+')[0]}" for n, v in pins if n != "python")
    return "\n".join([f"# Python {python}", *requirements, ""])


def verify_archive(archive: Path, check: Check) -> dict[str, Any]:
    """Check the members of an archive, then unpack the study temporarily and check it.

    Only listed members whose digests agree are unpacked, into at most half of the free
    disk space. Returns the result of `check` for the folder ``results/<study>``.
    """
    from cdspp.study.stale import read_digests

    with tempfile.TemporaryDirectory() as temporary:
        limit = shutil.disk_usage(temporary).free // 2
        try:
            members, faults, checked = _check_members(archive, limit)
        except DAMAGE_ERRORS as error:
            raise damage_error(str(archive), error) from error
        if faults:
            result = f"{checked} The study in the archive was not checked."
            content = {"differences": faults, "result": result, "failures": ""}
            return {**content, "checked": None}
        folder = Path(temporary, "bundle")
        placement = dict(zip(members, members, strict=True)).get
        extract(archive, folder, placement, limit, name=str(archive))
        reports = list(folder.glob("*/results/*/report/index.html"))
        if len(reports) != 1:
            expected = "an archive of cdspp bundle, with one study and its report"
            got = counted(len(reports), "report")
            raise DataError(f"{archive}: expected {expected}, got {got}.")
        root = reports[0].parents[1]
        content = check(root)
        with suppress(DataError):  # `check` has reported it
            digests = read_digests(root)
            configuration = read_json(root.parents[1] / "study.json")
            if configuration != digests.configuration:
                fault = f"{archive}: study.json is not the study of the report."
                content["differences"] = [*content["differences"], fault]
    return {**content, "result": f"{checked} {content['result']}"}


def _check_members(archive: Path, limit: int) -> tuple[set[str], list[str], str]:
    with zipfile.ZipFile(archive) as zip_file:
        sizes = {info.filename: info.file_size for info in zip_file.infolist()}
        if (total := sum(sizes.values())) > limit:
            fault = f"its members take {total} bytes, more than half of the free space"
            remedy = f"({limit}). Nothing was unpacked. Set TMPDIR to a larger disk."
            raise DataError(f"{archive}: {fault} {remedy}")
        lists = [name for name in sizes if name.partition("/")[2] == SUMS]
        if not lists:
            fault = f"expected an archive of cdspp bundle, with a list {SUMS}, got none"
            raise DataError(f"{archive}: {fault}. Pack the study again.")
        top = min(lists).partition("/")[0]
        with zip_file.open(f"{top}/{SUMS}") as member:
            lines = member.read(LONGEST).decode().splitlines()
        expected = {f"{top}/{line[66:]}": line[:64] for line in lines}
        digests = dict.fromkeys(sizes.keys() - {f"{top}/{SUMS}"}, "")
        for name in digests.keys() & expected:  # no other member is read
            with zip_file.open(name) as member:
                digest = hashlib.file_digest(member, "sha256")  # type: ignore[arg-type]
                digests[name] = digest.hexdigest()
    changed = sorted({name for name, _ in expected.items() ^ digests.items()})
    faults = [f"{archive}: {name} is not as in the list {SUMS}." for name in changed]
    result = counted(len(faults), "difference") if faults else "all members as listed"
    text = f"Compared {counted(len(expected), 'member')} with {SUMS}: {result}."
    return {*expected}, faults, text


def _constraints(arguments: Namespace) -> str:
    lines = (workflow_folder() / PINS).read_text(encoding="utf-8").splitlines()
    return "\n".join(line.split()[0] for line in lines if "==" in line)


def add_commands(commands: Any) -> None:
    """Add the commands on a finished study and its sources."""
    add_command(commands, "cite", _cite)
    add_command(commands, "bundle", _bundle)
    add_command(commands, "constraints", _constraints)
