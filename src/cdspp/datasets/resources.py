"""Resources of published data sets: fetched, unpacked, verified, and recorded.

A resource is a part of a data set that is fetched as one, in the first of several ways
that succeeds: as files, from an archive, or from Parquet files of images.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import DataError
from cdspp.core.files import write_json
from cdspp.datasets import fetch, image_files
from cdspp.datasets.archives import extract, matches
from cdspp.datasets.catalogue import load_catalogue, refuse_unknown_keys
from cdspp.datasets.fetch import Check, RemoteFile, in_mirror
from cdspp.datasets.image_files import FOLDER, ImageSet, manifest_rows
from cdspp.datasets.made_files import make_files

Entry = Mapping[str, Any]

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
    """One way to a resource: downloads, and how they give its files."""

    kind: str
    downloads: tuple[RemoteFile, ...]
    members: Mapping[str, str] = field(default_factory=dict)
    inner: str | None = None
    tree: str | None = None
    folders: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, RemoteFile]:
        if self.kind == "files":
            return {file.name: file for file in self.downloads}
        return {name: RemoteFile.from_entry({"name": name}) for name in self.members}


def fetch_resource(
    *,
    dataset: str,
    resource: str,
    catalogue: str | Path,
    output: str | Path,
    mirror: str | None = None,
) -> None:
    """Put a resource of a data set in place, unless it is complete, and record it.

    Archives stay in the folder ``archives`` beside that of the data set, because other
    resources may need them. `mirror`, by default CDSPP_MIRROR, is tried first.

    The record `output` has `files` (relative to its folder), the `origin` of each
    download and, for images, texts and tables, `images` (by domain, in the published
    order). DataError lists why no way succeeded; there is no record then.
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
    with fetch.sole_user(record):
        try:
            try:
                found = wanted.check()
                origin = dict.fromkeys(wanted.files or [FOLDER], fetch.KEPT)
            except (DataError, OSError) as error:
                log.info("%s: fetching (%s)", what, getattr(error, "strerror", error))
                record.unlink(missing_ok=True)
                origin = wanted.get(what)
                found = wanted.check()
            if "make" in resource_entry:
                record.unlink(missing_ok=True)
                found = make_files(resource_entry["make"], entry, wanted.folder, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        files = sorted({*wanted.files, *chain.from_iterable(found.values())})
        content = {"dataset": dataset, "resource": resource, "origin": origin}
        images = {"images": found} if found else {}
        write_json(record, {**content, **images, "files": files})
    log.info("%s: all of %d files are there", what, len(files))


def _named(entries: Entry, name: str, what: str) -> Any:
    if name not in entries:
        raise DataError(f"{what} {name!r}{did_you_mean(name, entries)}")
    return entries[name]


def _read_resource(
    entry: Entry, resource_entry: Entry, catalogue: Path, work: Path, mirror: str | None
) -> _Resource:
    refuse_unknown_keys(resource_entry, ("ways", "manifest", "make"))
    ways = [_read_way(way) for way in resource_entry.get("ways", [])]
    if not ways:
        raise DataError("there is no way to get it.")
    # What one way says of a file holds for the same file from another.
    files = dict(pair for way in ways for pair in way.files.items())
    files |= {n: f for way in ways if way.kind == "files" for n, f in way.files.items()}
    with_images = {way.kind == "parquet" or way.tree is not None for way in ways}
    if len(with_images) > 1 or any(set(way.files) != set(files) for way in ways):
        raise DataError("its ways give different files.")
    images = None
    if with_images == {True}:
        manifest = resource_entry.get("manifest")
        rows = manifest_rows(catalogue.parent / manifest) if manifest else []
        images = ImageSet(entry["classes"], entry["class_sizes"], rows)
        for way in ways:
            images.domains_by(way.folders)
    mirror = mirror or os.environ.get("CDSPP_MIRROR")
    # A way all of whose downloads lie in a mirror needs no network: it goes first.
    ways.sort(key=lambda way: not all(in_mirror(f, mirror) for f in way.downloads))
    return _Resource(ways, files, images, work.parent, work, mirror)


def _read_way(way: Entry) -> _Way:
    kind, *others = [kind for kind in KEYS_OF_WAYS if kind in way] or [""]
    if others or not kind:
        one = ", ".join(KEYS_OF_WAYS)
        raise DataError(f"a way needs exactly one of {one}; got {', '.join(way)}.")
    refuse_unknown_keys(way, (kind, *KEYS_OF_WAYS[kind]))
    if kind == "archive" and ("members" in way) == ("tree" in way):
        raise DataError("an archive needs either members or tree.")
    entries = [way[kind]] if kind == "archive" else way[kind]
    downloads = tuple(map(RemoteFile.from_entry, entries))
    return _Way(kind, downloads, **{key: way[key] for key in way if key != kind})


@dataclass(frozen=True)
class _Resource:
    """A resource of the catalogue, where it is to be, and where to look first."""

    ways: Sequence[_Way]
    files: Mapping[str, RemoteFile]
    images: ImageSet | None
    folder: Path
    work: Path
    mirror: str | None

    def check(self) -> dict[str, list[str]]:
        """Return the images by domain; an error says what is not there, or differs."""
        if self.images is not None:
            return self.images.check(self.folder)
        for name, file in self.files.items():
            fetch.verify_file(self.folder / name, file)
        return {}

    def get(self, what: str) -> dict[str, str]:
        reasons: list[str] = []
        for way in self.ways:
            shutil.rmtree(self.work, ignore_errors=True)
            try:
                if way.kind == "files":
                    return {f.name: self._fetch(f, self.folder) for f in way.downloads}
                follow = self._archive if way.kind == "archive" else self._parquet
                return follow(way)
            except DataError as error:
                reasons.append(f"Way {len(reasons) + 1}, {way.kind}: {error}")
                if len(reasons) < len(self.ways):
                    log.warning("%s: %s", what, reasons[-1])
        raise DataError("\n".join([f"{what}: could not be fetched.", *reasons]))

    def _fetch(self, file: RemoteFile, root: Path, accept: Check | None = None) -> str:
        path = root / file.name
        return fetch.fetch_file(file, path, mirror=self.mirror, accept=accept)

    def _archive(self, way: _Way) -> dict[str, str]:
        (archive,) = way.downloads
        folder, take = self.folder.parent / ARCHIVES, partial(self._take, way)
        # Known by its checksum, an archive stays even if it lacks a member: no other
        # copy would have it. Of any other the next place may have a better one.
        origin = self._fetch(archive, folder, None if archive.digests else take)
        if archive.digests:
            take(folder / archive.name)
        return {archive.name: origin}

    def _take(self, way: _Way, path: Path) -> None:
        name, made = way.downloads[0].name, self.work / "out"
        if self.images is not None and way.tree is not None:
            place = self.images.wanted(way.tree, way.folders)
            extract(path, made, place, self.images.most_bytes, name=name)
            self.images.move(made, self.folder, name)
            return
        if way.inner is not None:
            outer = self.work / "outer"
            _extract_all(path, outer, {"inner": way.inner}, name)
            path, name = outer / "inner", f"{name}, {way.inner}"
        _extract_all(path, made, way.members, name)
        for member, file in self.files.items():
            fetch.verify_file(made / member, file)
        for member in self.files:
            target = self.folder / member
            target.parent.mkdir(parents=True, exist_ok=True)
            (made / member).replace(target)

    def _parquet(self, way: _Way) -> dict[str, str]:
        assert self.images is not None
        folder, origin = self.folder.parent / ARCHIVES, {}
        for file in way.downloads:
            check = partial(image_files.check_parquet, name=file.name)
            origin[file.name] = self._fetch(file, folder, check)
        paths, made = [folder / name for name in origin], self.work / "out"
        try:
            image_files.write_parquet_images(paths, made, self.images, way.folders)
            self.images.move(made, self.folder, ", ".join(origin))
        except DataError:
            for file, path in zip(way.downloads, paths, strict=True):
                if not file.digests:
                    path.unlink()
            raise
        return origin


def _extract_all(archive: Path, folder: Path, members: Entry, name: str) -> None:
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
