"""Resources of published data sets: fetched, unpacked, verified, and recorded.

A resource is what the catalogue lets one download together. It names ways to get it:
plain files, members of an archive, a tree of images in an archive, or Parquet files of
images. The ways are tried in order until one succeeds. Where a file holds many samples,
the resource says how files of them are made (`cdspp.datasets.made_files`).
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import DataError
from cdspp.core.whole_files import write_json
from cdspp.datasets.archives import extract, matches
from cdspp.datasets.catalogue import load_catalogue
from cdspp.datasets.fetch import (
    KEPT,
    RemoteFile,
    chosen_mirror,
    fetch_file,
    in_mirror,
    sole_user,
    verify_file,
)
from cdspp.datasets.image_files import (
    FOLDER,
    ImageSet,
    ManifestRow,
    check_parquet,
    manifest_rows,
    write_parquet_images,
)
from cdspp.datasets.made_files import make_files

__all__ = ["ManifestRow", "fetch_resource", "manifest_rows"]

log = logging.getLogger(__name__)

ARCHIVES = "archives"
MOST_BYTES = 8 * 2**30  # of members together; features of Office-Home have 0.5 GB
KEYS_OF_WAYS = {
    "files": (),
    "archive": ("inner", "members", "tree", "folders"),
    "parquet": ("folders",),
}


@dataclass(frozen=True)
class _Way:
    """One way to a resource: what is downloaded, and what becomes of it."""

    kind: str
    downloads: tuple[RemoteFile, ...]
    members: Mapping[str, str]
    inner: str | None
    tree: str | None
    folders: Mapping[str, str]

    @property
    def gives_images(self) -> bool:
        return self.kind == "parquet" or self.tree is not None

    @property
    def files(self) -> dict[str, RemoteFile]:
        """Files it gives by path, with what is known of each; images not among them."""
        if self.kind == "files":
            return {file.name: file for file in self.downloads}
        return {name: RemoteFile.from_entry({"name": name}) for name in self.members}


@dataclass(frozen=True)
class _Resource:
    """A resource of the catalogue, where it is to be, and where to look first."""

    ways: Sequence[_Way]
    files: Mapping[str, RemoteFile]
    images: ImageSet | None
    folder: Path
    work: Path
    mirror: str | None

    @property
    def archives(self) -> Path:
        return self.folder.parent / ARCHIVES


def fetch_resource(
    *,
    dataset: str,
    resource: str,
    catalogue: str | Path,
    output: str | Path,
    mirror: str | None = None,
) -> None:
    """Put a resource of a data set in place and record where it came from.

    What is complete already is kept. Archives are kept in the folder ``archives``
    beside that of the data set, because other resources may need them. `mirror` is the
    folder or address to try first; CDSPP_MIRROR unless given.

    The record `output` is JSON in the folder of the data set with `dataset`,
    `resource`, `files` (paths relative to the folder), `origin` (address of each
    download) and, for images, texts and tables, `images` (by domain: paths in the
    published order, of a table the one of its rows).

    DataError says that the catalogue has no such resource, or lists why no way
    succeeded. There is no record then, and nothing that is not whole.
    """
    record = Path(output)
    entry = _named(load_catalogue(catalogue), dataset, f"{catalogue}: no data set")
    where, what = f"{catalogue}, {dataset}", f"{dataset}, resource {resource}"
    resources = entry.get("resources", {})
    resource_entry = _named(resources, resource, f"{where}: no resource")
    work = record.parent / f".{resource}.partial"
    try:
        wanted = _read_resource(entry, resource_entry, Path(catalogue), work, mirror)
    except DataError as error:
        raise DataError(f"{where}, resource {resource}: {error}") from error
    content: dict[str, Any] = {"dataset": dataset, "resource": resource}
    with sole_user(record):
        try:
            if (origin := _kept(wanted)) is None:
                record.unlink(missing_ok=True)
                origin = _try_ways(wanted, what)
            found = {}
            if wanted.images is not None:
                found = wanted.images.check(wanted.folder)
            elif "make" in resource_entry:
                record.unlink(missing_ok=True)
                found = make_files(resource_entry["make"], entry, wanted.folder, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        content["origin"] = origin
        content |= {"images": found} if found else {}
        content["files"] = sorted({*wanted.files, *chain.from_iterable(found.values())})
        write_json(record, content)
    log.info("%s: all of %d files are there", what, len(content["files"]))


def _named(entries: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in entries:
        raise DataError(f"{what} {name!r}{did_you_mean(name, entries)}")
    return entries[name]


def _read_resource(
    entry: Mapping[str, Any],
    resource_entry: Mapping[str, Any],
    catalogue: Path,
    work: Path,
    mirror: str | None,
) -> _Resource:
    _check_keys(resource_entry, ("ways", "manifest", "make"))
    ways = [_read_way(way) for way in resource_entry.get("ways", [])]
    if not ways:
        raise DataError("there is no way to get it.")
    # What one way says of a file holds for the same file from another.
    files = dict(pair for way in ways for pair in way.files.items())
    files |= {n: f for way in ways if way.kind == "files" for n, f in way.files.items()}
    with_images = {way.gives_images for way in ways}
    if len(with_images) > 1 or any(set(way.files) != set(files) for way in ways):
        raise DataError("its ways give different files.")
    images = None
    if with_images == {True}:
        rows: list[ManifestRow] = []
        if "manifest" in resource_entry:
            rows = manifest_rows(catalogue.parent / resource_entry["manifest"])
        images = ImageSet(entry["classes"], entry["class_sizes"], rows)
        for way in ways:
            images.domains_by(way.folders)
    mirror = chosen_mirror(mirror)
    # A way all of whose downloads lie in a mirror needs no network: it goes first.
    ways.sort(key=lambda way: not all(in_mirror(f, mirror) for f in way.downloads))
    return _Resource(ways, files, images, work.parent, work, mirror)


def _read_way(way: Mapping[str, Any]) -> _Way:
    kinds = [kind for kind in KEYS_OF_WAYS if kind in way]
    if len(kinds) != 1:
        one = ", ".join(KEYS_OF_WAYS)
        raise DataError(f"a way needs exactly one of {one}; got {', '.join(way)}.")
    kind = kinds[0]
    _check_keys(way, (kind, *KEYS_OF_WAYS[kind]))
    if kind == "archive" and ("members" in way) == ("tree" in way):
        raise DataError("an archive needs either members or tree.")
    entries = [way[kind]] if kind == "archive" else way[kind]
    return _Way(
        kind,
        tuple(RemoteFile.from_entry(entry) for entry in entries),
        way.get("members", {}),
        way.get("inner"),
        way.get("tree"),
        way.get("folders", {}),
    )


def _check_keys(given: Mapping[str, Any], known: Collection[str]) -> None:
    for key in given:
        if key not in known:
            raise DataError(f"unknown key {key!r}{did_you_mean(key, known)}")


def _kept(resource: _Resource) -> dict[str, str] | None:
    """Return the origins, if everything is there and is what it should be."""
    try:
        if resource.images is not None:
            resource.images.check(resource.folder)
            return {FOLDER: KEPT}
        for name, file in resource.files.items():
            if not (resource.folder / name).is_file():
                raise DataError(f"{name}: not there yet.")
            verify_file(resource.folder / name, file)
    except DataError as error:
        log.info("%s: to be fetched: %s", resource.folder.name, error)
        return None
    return dict.fromkeys(resource.files, KEPT)


def _try_ways(resource: _Resource, what: str) -> dict[str, str]:
    follow = {"files": _by_files, "archive": _by_archive, "parquet": _by_parquet}
    reasons: list[str] = []
    for way in resource.ways:
        shutil.rmtree(resource.work, ignore_errors=True)
        try:
            return follow[way.kind](way, resource)
        except DataError as error:
            reasons.append(f"Way {len(reasons) + 1}, {way.kind}: {error}")
            if len(reasons) < len(resource.ways):
                log.warning("%s: %s", what, reasons[-1])
    raise DataError("\n".join([f"{what}: could not be had.", *reasons]))


def _by_files(way: _Way, resource: _Resource) -> dict[str, str]:
    return {
        file.name: fetch_file(file, resource.folder / file.name, mirror=resource.mirror)
        for file in way.downloads
    }


def _by_archive(way: _Way, resource: _Resource) -> dict[str, str]:
    (archive,) = way.downloads
    path = resource.archives / archive.name
    take = partial(
        _take_images if way.tree is not None else _take_members, way, resource
    )
    # Known by its checksum, an archive stays even if it lacks a member: no other copy
    # would have it. Of any other the next place may have a better one.
    accept = None if archive.digests else take
    origin = fetch_file(archive, path, mirror=resource.mirror, accept=accept)
    if archive.digests:
        take(path)
    return {archive.name: origin}


def _take_images(way: _Way, resource: _Resource, path: Path) -> None:
    images = resource.images
    assert images is not None
    assert way.tree is not None
    name = way.downloads[0].name
    place = images.wanted(way.tree, way.folders)
    extract(path, resource.work / "out", place, images.most_bytes, name=name)
    _move_images(images, resource, name)


def _move_images(images: ImageSet, resource: _Resource, name: str) -> None:
    """Put the images in place of those that were there, once they are complete."""
    made = resource.work / "out"
    try:
        images.check(made)
    except DataError as error:
        raise type(error)(f"{name}: {error}") from error
    shutil.rmtree(resource.folder / FOLDER, ignore_errors=True)
    (made / FOLDER).rename(resource.folder / FOLDER)


def _take_members(way: _Way, resource: _Resource, path: Path) -> None:
    name = way.downloads[0].name
    if way.inner is not None:
        outer = resource.work / "outer"
        _extract_all(path, outer, {"inner": way.inner}, name)
        path, name = outer / "inner", f"{name}, {way.inner}"
    made = resource.work / "out"
    _extract_all(path, made, way.members, name)
    for member, file in resource.files.items():
        verify_file(made / member, file)
    for member in resource.files:
        target = resource.folder / member
        target.parent.mkdir(parents=True, exist_ok=True)
        (made / member).replace(target)


def _extract_all(
    archive: Path, folder: Path, members: Mapping[str, str], name: str
) -> None:
    """Unpack one member for each pattern; DataError where there is none, or several."""
    seen: list[str] = []

    def place(member: str) -> str | None:
        seen.append(member)
        return next((to for to, form in members.items() if matches(member, form)), None)

    taken = extract(archive, folder, place, MOST_BYTES, name=name)
    for to, pattern in members.items():
        if to not in taken:
            like = [path for path in seen if Path(path).name == Path(pattern).name]
            some = ", ".join((like or seen)[:3])
            message = f"{name}: no member is like {pattern!r}"
            raise DataError(f"{message}; there are {len(seen)}, for instance {some}.")


def _by_parquet(way: _Way, resource: _Resource) -> dict[str, str]:
    images = resource.images
    assert images is not None
    paths = [resource.archives / file.name for file in way.downloads]
    origin = {}
    for file, path in zip(way.downloads, paths, strict=True):
        accept = partial(check_parquet, name=file.name)
        origin[file.name] = fetch_file(
            file, path, mirror=resource.mirror, accept=accept
        )
    try:
        write_parquet_images(paths, resource.work / "out", images, way.folders)
        _move_images(images, resource, ", ".join(origin))
    except DataError:
        for file, path in zip(way.downloads, paths, strict=True):
            if not file.digests:
                path.unlink()
        raise
    return origin
