"""Make the files of this folder that follow from published ones, and from them alone.

    python resources/generate.py manifest --images office-caltech-10-images.tar.gz
    python resources/generate.py splits --folder cdspp-hda

``manifest`` lists the photographs of a data set with size and git blob id, in the
order of the published files (domains and classes as in the catalogue, files by name):
the list by which a download is verified. ``splits`` reads the masks that the authors of
the paper stored, and writes the digests with which a study compares its own draws. The
catalogue says where archive and masks are published.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.files import atomic, write_json
from cdspp.datasets.archives import extract
from cdspp.datasets.catalogue import load_catalogue
from cdspp.datasets.fetch import RemoteFile, digest_of, verify_file
from cdspp.datasets.published import packed_digest

RESOURCES = Path(__file__).parent
MANIFEST_HEADER = "path\tsize\tgit_blob\n"
MOST_BYTES = 4 * 2**30
MASKS = {
    "office-caltech-10": "office10-dataSplits.mat",
    "office-home": "officeHome-dataSplits.mat",
    "nus-imagenet": "tag2image-dataSplits.mat",
    "mrc": "text-dataSplits.mat",
}
VARIABLES = {"source": "sourceDataSplits", "target": "dataSplits"}

Entry = Mapping[str, Any]


def main() -> None:
    """Run the subcommand that the command line names."""
    catalogue = load_catalogue(RESOURCES / "datasets.yaml")
    listed = [n for n, e in catalogue.items() if "images" in e.get("resources", {})]
    parser = argparse.ArgumentParser(description="Make the generated resources.")
    commands = parser.add_subparsers(dest="command", required=True)
    manifest = commands.add_parser("manifest", help="list a data set's photographs")
    manifest.add_argument("--images", type=Path, required=True, help="the archive")
    manifest.add_argument("--dataset", choices=listed, default=listed[0])
    splits = commands.add_parser("splits", help="digest the authors' masks")
    splits.add_argument("--folder", type=Path, required=True, help="the .mat files")
    for command in (manifest, splits):
        command.add_argument("--output", type=Path, help="where to write instead")
    given = parser.parse_args()
    try:
        if given.command == "manifest":
            output = given.output or RESOURCES / f"manifests/{given.dataset}.tsv"
            write_manifest(given.images, catalogue[given.dataset], output)
        else:
            output = given.output or RESOURCES / "published-splits.json"
            write_json(output, stored_digests(given.folder, catalogue))
    except DataError as error:
        parser.exit(1, f"{error}\n")


def write_manifest(images: Path, entry: Entry, output: Path) -> None:
    """Write path, size and git blob id of every photograph in `images`.

    Parameters
    ----------
    images : Path
        The published archive, or a folder that holds the folders of the domains.
    entry : mapping
        The data set's entry in the catalogue.
    output : Path
        File of tab-separated columns under one line of headings.

    Raises
    ------
    DataError
        A class has not as many files as the catalogue says.
    """
    way = entry["resources"]["images"]["ways"][0]
    with tempfile.TemporaryDirectory() as temporary:
        tree = images
        if not images.is_dir():
            tree = Path(temporary)
            extract(
                images,
                tree,
                lambda member: _below(member, way["tree"]),
                MOST_BYTES,
                name=images.name,
            )
        lines = [
            f"{place}\t{file.stat().st_size}\t{digest_of(file, 'git_blob')}\n"
            for place, file in _photographs(tree, entry, way.get("folders", {}))
        ]
    with atomic(output) as partial:
        partial.write_text(MANIFEST_HEADER + "".join(lines), encoding="utf-8")


def _below(member: str, tree: str) -> str | None:
    """Return the last three parts of ``<tree>/<domain>/<class>/<file>``, or None."""
    path = PurePosixPath(member)
    inside = len(path.parts) > 3 and fnmatchcase(str(path.parents[2]), tree)
    return "/".join(path.parts[-3:]) if inside else None


def _photographs(
    tree: Path, entry: Entry, folders: Mapping[str, str]
) -> Iterator[tuple[str, Path]]:
    for domain, sizes in entry["class_sizes"].items():
        for label, size in zip(entry["classes"], sizes, strict=True):
            folder = tree / folders.get(domain, domain) / label
            files = sorted(folder.glob("*"), key=attrgetter("name"))
            if len(files) != size:
                raise DataError(
                    f"{folder.relative_to(tree)}: expected {size} photographs of "
                    f"{domain}, {label}, got {len(files)}. Take the published archive, "
                    "or the folder in it that holds the domains."
                )
            for file in files:
                yield f"images/{domain}/{label}/{file.name}", file


def stored_digests(folder: Path, catalogue: Mapping[str, Entry]) -> dict[str, Any]:
    """Return the digests of the stored masks, by data set, role and domain.

    Parameters
    ----------
    folder : Path
        Folder of the authors' four files of masks.
    catalogue : mapping
        The catalogue, with the checksums of these files.

    Raises
    ------
    ChecksumError
        A file is not the published one.
    DataError
        A file is missing.
    """
    (way,) = catalogue["published-splits"]["resources"]["masks"]["ways"]
    files = {entry["name"]: RemoteFile.from_entry(entry) for entry in way["files"]}
    digests = {}
    for dataset, name in MASKS.items():
        if not (folder / name).is_file():
            raise DataError(
                f"{folder}: there is no {name}. The catalogue's entry published-splits "
                "says where the four files of masks are published."
            )
        verify_file(folder / name, files[name])
        digests[dataset] = _digests(folder / name, catalogue[dataset])
    return digests


def _digests(path: Path, entry: Entry) -> dict[str, dict[str, Any]]:
    """Digest one file: a cell a trial, in it a cell a domain, empty if not in use."""
    from scipy.io import loadmat

    content = loadmat(path)
    roles: dict[str, dict[str, Any]] = {}
    for role, variable in VARIABLES.items():
        trials = [trial.ravel() for trial in content[variable].ravel()]
        roles[role] = {}
        for place, domain in enumerate(entry["class_sizes"]):
            stored = [trial[place] for trial in trials if place < trial.size]
            if stored and stored[0].size:
                roles[role][domain] = {
                    "per_class": entry["protocol"][role],
                    "n": stored[0].size,
                    "sha256": packed_digest(np.vstack(stored)),
                }
    return roles


if __name__ == "__main__":
    main()
