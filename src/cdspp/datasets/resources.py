"""Resources of published data sets: fetched, unpacked, verified, and recorded.

A resource is a part of a data set that is fetched as a unit, by the first of several
methods that succeeds: as files, from an archive, or from Parquet files of images. A
published file of many samples is split into files of texts or rows. Forms of `make`:

``format: lists``
    `file` is JSON: lists of ``[text, class]``, of which `lists` names those to use.
``format: columns``
    `file` names one file per domain, one row per line: numbers separated by commas, or
    ``?`` if missing. They are `columns` and, last, the code of the class; higher codes
    also mean the last class. In the columns `no_zero`, zeros mark missing numbers.
"""

import logging
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import OFFLINE, DataError, problems_text, write_errors
from cdspp.core.files import read_json, write_json
from cdspp.core.outputs import atomic
from cdspp.core.wording import aligned, shortened
from cdspp.datasets import fetch, image_files
from cdspp.datasets.archives import extract, matches
from cdspp.datasets.base import RECORD, ROWS_NAME
from cdspp.datasets.catalogue import load_catalogue, mismatch, refuse_unknown_keys
from cdspp.datasets.fetch import Check, RemoteFile, UnreachableError, in_mirror
from cdspp.datasets.image_files import FOLDER, ImageSet, manifest_rows

Entry = Mapping[str, Any]
Paths = dict[str, list[str]]

log = logging.getLogger(__name__)

ARCHIVES = "archives"
TEXTS, BOTH = "texts", "paired"
MOST_MISSING = 0.5  # share of a domain's rows; columns with more are dropped
MOST_BYTES = 8 * 2**30  # total of members; Office-Home's features have 0.5 GB
KEYS_OF_WAYS = {
    "files": (),
    "archive": ("inner", "members", "tree", "folders"),
    "parquet": ("folders",),
}


@dataclass(frozen=True)
class _FetchMethod:
    """One method of fetching a resource: downloads, and how they become its files."""

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
    """Fetch a resource of a data set, unless it is complete, and record it.

    Archives stay in the folder ``archives`` next to that of the data set, because other
    resources may need them. `mirror`, by default CDSPP_MIRROR, is tried first.

    The record `output` has `files` (relative to its folder), the `origin` of each
    download and, for images, texts and tables, `images` (by domain, in the published
    order). DataError lists why every method failed; no record is written then.
    """
    record, title = Path(output), f"{dataset}, resource {resource}"
    work = record.parent / f".{resource}.partial"
    source = _resource(catalogue, dataset, resource, work, mirror)
    with fetch.file_lock(record):
        try:
            try:
                paths = source.check()
                origin = dict.fromkeys(source.files or [FOLDER], fetch.KEPT)
            except (DataError, OSError) as error:
                log.info("%s: fetching (%s)", title, getattr(error, "strerror", error))
                record.unlink(missing_ok=True)
                origin = source.get(title)
                paths = source.check()
            if source.make:
                record.unlink(missing_ok=True)
                paths = make_files(source.make, source.entry, source.folder, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        files = sorted({*source.files, *chain.from_iterable(paths.values())})
        content = {"dataset": dataset, "resource": resource, "origin": origin}
        images = {"images": paths} if paths else {}
        write_json(record, {**content, **images, "files": files})
    log.info("%s: all %d files exist", title, len(files))


def _resource(
    catalogue: str | Path, dataset: str, resource: str, work: Path, mirror: str | None
) -> "_Resource":
    entry = _entry_of(load_catalogue(catalogue), dataset, f"{catalogue}: no data set")
    where, resources = f"{catalogue}, {dataset}", entry.get("resources", {})
    resource_entry = _entry_of(resources, resource, f"{where}: no resource")
    try:
        return _Resource(entry, resource_entry, Path(catalogue), work, mirror)
    except DataError as error:
        raise DataError(f"{where}, resource {resource}: {error}") from error


def download_table(
    catalogue: str | Path, records: Iterable[Path], mirror: str | None = None
) -> list[str]:
    """Return lines of a table: the files that resources lack, below a mirror.

    They are those of the first method of each resource without its record.
    """
    rows = {"file": ["file", "bytes", "digest", "address"]}
    for record in records:
        names = record.parent.name, record.name.removesuffix(RECORD)
        if not record.is_file():
            source = _resource(catalogue, *names, record.parent / ".work", mirror)
            rows |= {row[0]: row for row in source.missing()}
    return aligned([*rows.values()], left=(0, 2, 3)) if len(rows) > 1 else []


def _entry_of(entries: Entry, name: str, fault: str) -> Any:
    if name not in entries:
        raise DataError(f"{fault} {name!r}{did_you_mean(name, entries)}")
    return entries[name]


def _read_way(way: Entry) -> _FetchMethod:
    kind, *others = [kind for kind in KEYS_OF_WAYS if kind in way] or [""]
    if others or not kind:
        choices = ", ".join(KEYS_OF_WAYS)
        fault = f"each entry of `ways` needs exactly one of {choices}"
        raise DataError(f"{fault}; got {', '.join(way)}.")
    refuse_unknown_keys(way, (kind, *KEYS_OF_WAYS[kind]))
    if kind == "archive" and ("members" in way) == ("tree" in way):
        raise DataError("an archive needs either members or tree.")
    entries = [way[kind]] if kind == "archive" else way[kind]
    downloads = tuple(map(RemoteFile.from_entry, entries))
    return _FetchMethod(kind, downloads, **{k: way[k] for k in way if k != kind})


class _Resource:
    """A resource of the catalogue, its folder, and the place to search first."""

    def __init__(
        self, entry: Entry, spec: Entry, catalogue: Path, work: Path, mirror: str | None
    ) -> None:
        refuse_unknown_keys(spec, ("ways", "manifest", "make"))
        ways = [_read_way(way) for way in spec.get("ways", [])]
        if not ways:
            raise DataError("the entry has no `ways` to fetch its files.")
        # Checks of a file given for one method also apply in the others.
        file_ways = [way for way in ways if way.kind == "files"]
        files = dict(pair for way in [*ways, *file_ways] for pair in way.files.items())
        with_images = {way.kind == "parquet" or way.tree is not None for way in ways}
        if len(with_images) > 1 or any(set(way.files) != set(files) for way in ways):
            raise DataError("its ways yield different files; they must be the same.")
        self.images = None
        if with_images == {True}:
            manifest = spec.get("manifest")
            rows = manifest_rows(catalogue.parent / manifest) if manifest else []
            self.images = ImageSet(entry["classes"], entry["class_sizes"], rows)
            for way in ways:
                self.images.domains_by(way.folders)
        self.entry, self.make = entry, spec.get("make")
        self.files, self.folder, self.work = files, work.parent, work
        self.mirror = mirror = mirror or os.environ.get("CDSPP_MIRROR")
        # A method whose downloads are all in a mirror needs no network: it comes first.
        ways.sort(key=lambda way: not all(in_mirror(f, mirror) for f in way.downloads))
        self.ways = ways

    def check(self) -> dict[str, list[str]]:
        """Return the images by domain; an error names missing and different files."""
        if self.images is not None:
            return self.images.check(self.folder)
        for name, file in self.files.items():
            fetch.verify_file(self.folder / name, file)
        return {}

    def get(self, title: str) -> dict[str, str]:
        reasons, is_offline = list[str](), True
        for way in self.ways:
            shutil.rmtree(self.work, ignore_errors=True)
            try:
                if way.kind == "files":
                    return {f.name: self._fetch(f, self.folder) for f in way.downloads}
                fetch_way = self._archive if way.kind == "archive" else self._parquet
                return fetch_way(way)
            except DataError as error:
                reasons.append(f"Way {len(reasons) + 1}, {way.kind}: {error}")
                is_offline &= isinstance(error, UnreachableError)
                if len(reasons) < len(self.ways) and not is_offline:
                    log.warning("%s: %s", title, reasons[-1])
        if is_offline:
            files = shortened([path for path, *_ in self.missing()])
            remedy = f"Put {files} into a mirror; cdspp fetch --list STUDY prints more"
            raise UnreachableError(f"{title}: {OFFLINE}. {remedy}.")
        raise DataError(problems_text(f"{title} could not be fetched", reasons))

    def missing(self) -> Iterator[list[str]]:
        """Yield path, size, digest and address of files that the mirror lacks."""
        pinned = self.images.manifest if self.images else self.files.values()
        of_content = bool(pinned) and all(file.digests for file in pinned)
        for file in self.ways[0].downloads:
            digests = [f"{kind} {value}" for kind, value in file.digests.items()]
            digests.append("of its content" if of_content else "none: nothing pins it")
            if not in_mirror(file, self.mirror):
                size, address = str(file.size or "unknown"), (*file.urls, "none")[0]
                yield [file.mirror_path, size, digests[0], address]

    def _fetch(self, file: RemoteFile, root: Path, accept: Check | None = None) -> str:
        path = root / file.name
        return fetch.fetch_file(file, path, mirror=self.mirror, accept=accept)

    def _archive(self, way: _FetchMethod) -> dict[str, str]:
        (archive,) = way.downloads
        folder, take = self.folder.parent / ARCHIVES, partial(self._take, way)
        # An archive with a checksum stays even if it lacks a member, because any other
        # copy would lack it too. Without a checksum, the next copy may be better.
        origin = self._fetch(archive, folder, None if archive.digests else take)
        if archive.digests:
            take(folder / archive.name)
        return {archive.name: origin}

    def _take(self, way: _FetchMethod, path: Path) -> None:
        name, out = way.downloads[0].name, self.work / "out"
        if self.images is not None and way.tree is not None:
            place = self.images.placement(way.tree, way.folders)
            extract(path, out, place, self.images.most_bytes, name=name)
            self.images.move(out, self.folder, name)
            return
        if way.inner is not None:
            outer = self.work / "outer"
            _extract_all(path, outer, {"inner": way.inner}, name)
            path, name = outer / "inner", f"{name}, {way.inner}"
        _extract_all(path, out, way.members, name)
        for member, file in self.files.items():
            fetch.verify_file(out / member, file)
        for member in self.files:
            target = self.folder / member
            target.parent.mkdir(parents=True, exist_ok=True)
            (out / member).replace(target)

    def _parquet(self, way: _FetchMethod) -> dict[str, str]:
        assert self.images is not None
        folder, origin = self.folder.parent / ARCHIVES, {}
        for file in way.downloads:
            check = partial(image_files.check_parquet, name=file.name)
            origin[file.name] = self._fetch(file, folder, check)
        paths, out = [folder / name for name in origin], self.work / "out"
        try:
            image_files.write_parquet_images(paths, out, self.images, way.folders)
            self.images.move(out, self.folder, ", ".join(origin))
        except DataError:
            for file, path in zip(way.downloads, paths, strict=True):
                if not file.digests:
                    path.unlink()
            raise
        return origin


def _extract_all(archive: Path, folder: Path, members: Entry, name: str) -> None:
    """Unpack one member per pattern; DataError if there is none, or several."""
    present: list[str] = []

    def place(member: str) -> str | None:
        present.append(member)
        return next((to for to, form in members.items() if matches(member, form)), None)

    extracted = extract(archive, folder, place, MOST_BYTES, name=name)
    for to, pattern in members.items():
        if to not in extracted:
            message = f"{name}: no member matches {pattern!r}"
            raise DataError(f"{message}; there are {shortened(present)}.")


def make_files(make: Entry, entry: Entry, folder: Path, work: Path) -> Paths:
    """Write the files of the samples from those that were fetched into `folder`.

    `make` is that of the `entry`, `work` a folder for unfinished files. Returns paths
    by domain, of texts as published, or of the single file of rows.
    """
    if make["format"] == "lists":
        return _make_texts(make, entry, folder, work)
    return {name: [_make_rows(make, entry, folder, name)] for name in make["file"]}


def _make_texts(make: Entry, entry: Entry, folder: Path, work: Path) -> Paths:
    """Write ``texts/<domain>/<number>.txt``, and those of pairs once, as ``paired``."""
    path = folder / make["file"]
    texts_of = _split_texts(path, make["lists"], entry)
    counts = Counter(chain.from_iterable(texts_of.values()))
    if repeated := [text for text, n in counts.items() if n > 1]:
        raise mismatch(path, f"the text {repeated[0]!r} occurs more than once")
    paths = {}
    with write_errors(folder / TEXTS):
        for part, texts in texts_of.items():
            (work / TEXTS / part).mkdir(parents=True)
            paths[part] = [f"{TEXTS}/{part}/{k:05d}.txt" for k in range(len(texts))]
            for name, text in zip(paths[part], texts, strict=True):
                (work / name).write_text(text + "\n", encoding="utf-8")
        shutil.rmtree(folder / TEXTS, ignore_errors=True)
        (work / TEXTS).rename(folder / TEXTS)
    paired = paths.pop(BOTH)
    return {domain: names + paired for domain, names in paths.items()}


def _split_texts(path: Path, lists: Sequence[str], entry: Entry) -> Paths:
    """Assign the first texts of a class to the pairs, the rest to domains in turn."""
    content, texts = read_json(path), Paths((name, []) for name in entry["classes"])
    try:
        for text, label in chain.from_iterable(content[name] for name in lists):
            texts[label].append(str(text))
    except (LookupError, TypeError, ValueError) as error:
        expected = f"lists {', '.join(lists)} of texts with known classes"
        raise mismatch(path, f"expected {expected}, got {error!r}") from error
    sizes, n_paired = entry["class_sizes"], entry.get("paired", 0)
    parts = Paths((name, []) for name in (*sizes, BOTH))
    for number, (label, candidates) in enumerate(texts.items()):
        n_both = n_paired // len(texts) + (number < n_paired % len(texts))
        parts[BOTH] += candidates[:n_both]
        for side, (domain, counts) in enumerate(sizes.items()):
            selection = candidates[n_both + side :: len(sizes)][: counts[number]]
            if len(selection) < counts[number]:
                expected = f"expected {counts[number]} of class {label} for {domain}"
                raise mismatch(path, f"{expected}, got {len(selection)}")
            parts[domain] += selection
    return parts


def _make_rows(make: Entry, entry: Entry, folder: Path, domain: str) -> str:
    """Write the rows of a domain, class by class; means replace missing numbers."""
    path, names = folder / make["file"][domain], np.array(make["columns"], np.str_)
    rows = np.array(list(_numbers(path, len(names) + 1)))
    X, codes = rows[:, :-1], np.minimum(rows[:, -1], len(entry["classes"]) - 1)
    counts = [int(np.sum(codes == code)) for code in range(len(entry["classes"]))]
    expected = list(entry["class_sizes"][domain])
    if counts != expected or len(rows) != sum(counts):
        sizes = f"class sizes {counts} in {len(rows)} rows"
        raise mismatch(path, f"expected class sizes {expected}, got {sizes}")
    X[(X == 0) & np.isin(names, make["no_zero"])] = np.nan
    complete_enough = np.isnan(X).mean(axis=0) <= MOST_MISSING
    X = X[np.argsort(codes, kind="stable")][:, complete_enough]
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    with atomic(folder / domain / ROWS_NAME) as temporary:
        np.savez(temporary, X=X, features=names[complete_enough])
    return f"{domain}/{ROWS_NAME}"


def _numbers(path: Path, width: int) -> Iterator[list[float]]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        cells = line.split(",")
        try:
            values = [np.nan if cell == "?" else float(cell) for cell in cells]
        except ValueError as error:
            raise mismatch(path, f"line {number}: not a number ({error})") from error
        if len(values) != width:
            expected = f"line {number}: expected {width} numbers"
            raise mismatch(path, f"{expected}, got {len(values)}")
        yield values
