"""A folder of the user: ``<domain>/<class>/<file>``, or files with a file of labels."""

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from cdspp.core.errors import DataError
from cdspp.core.labels import keep_labels as kept_labels
from cdspp.core.labels import require_distinct, require_used
from cdspp.core.wording import counted, shortened
from cdspp.datasets import base
from cdspp.datasets.base import Cache, Dataset, Sample
from cdspp.datasets.folder_layout import KEEP, UNLABELLED, read_domain, visible
from cdspp.datasets.pixels import check_images, header_notes, read_header

__all__ = ["SUFFIXES", "FolderDataset"]

log = logging.getLogger(__name__)

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff")
TEXTS = (".csv", ".htm", ".html", ".md", ".rst", ".tex", ".txt", ".xml")
CODE = (".c", ".cpp", ".go", ".h", ".java", ".jl", ".js", ".m", ".py", ".r", ".rs")
HEADERS = "headers.json"  # cache of what the headers of images say
SUFFIXES = {"images": {*IMAGES, ".webp"}, "texts": {*TEXTS, *CODE}}


class FolderDataset(Dataset):
    """Files sorted into ``<domain>/<class>/``; hidden files are skipped.

    Files in ``<domain>/unlabelled/`` are unlabelled samples, whose ids are their paths.
    A domain may instead have its files in one folder, with ``labels.csv`` that names
    the labelled ones. The kind of most files is that of the data set; others are
    skipped. In the folder `paired` of each domain, files of equal names, whatever their
    suffix, describe one object of unknown class. `keep_labels` are classes that differ
    from others only in capitals or are called unlabelled; `cache` stores digests of the
    files.

    ConfigError refuses a name that no path can have; DataError a missing folder, an
    empty class, a faulty file of labels, or a paired file not in a domain.
    """

    keys = ("folder", "paired", "keep_labels")

    def __init__(
        self,
        identifier: str,
        folder: str | Path,
        cache: Cache = None,
        paired: str | None = None,
        keep_labels: Sequence[str] = (),
    ) -> None:
        base.check_identifier("data set name", identifier)
        self.identifier, self.folder = identifier, Path(folder)
        self.user_folder = self.folder
        self.cache, self.paired = cache, paired
        self.domains = tuple(_subfolders(self.folder))
        places = ((domain, self.folder / domain) for domain in self.domains)
        self._files = {d: read_domain(at, paired, keep_labels) for d, at in places}
        self._classes_of = {d: files.classes() for d, files in self._files.items()}
        with kept_labels(*keep_labels):
            require_distinct(self._classes_of)
            found = frozenset[str]().union(*self._classes_of.values())
            require_used(found, self._classes_of)
        self.classes = tuple(sorted(set().union(*self._classes_of.values())))
        groups = chain.from_iterable(files.groups for files in self._files.values())
        all_files = [*chain.from_iterable(group.files for group in groups)]
        self.kind = self._most_common_kind(all_files)
        self.skipped = [path for path in all_files if _kind(path) != self.kind]
        self._samples = {domain: self._as_samples(domain) for domain in self.domains}
        self._paths = [*chain.from_iterable(map(self.paths_of, self.domains))]
        pairs = {d: {s.id for s in ss if s.paired} for d, ss in self._samples.items()}
        paired_ids = set.union(*pairs.values())
        self.n_paired = len(paired_ids)
        for domain, ids in pairs.items():
            if self.paired and (ids != paired_ids or not ids):
                fault = f"has {len(ids)} of the {self.n_paired} paired objects"
                path = self.folder / domain / self.paired
                raise DataError(f"{path}: {fault}. Give each a file in every domain.")

    @property
    def facts(self) -> dict[str, str]:
        """Facts on the classes of each file of labels."""
        return {domain: files.note for domain, files in self._files.items()}

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Return the samples; DataError names all undecodable images."""
        for note in self.notes():
            log.warning("%s", note)
        if self.kind == "images":
            check_images({domain: self.paths_of(domain) for domain in self.domains})
        return self._samples

    def notes(self) -> list[str]:
        """Return notes on files and classes for the user."""
        kind = f"skipped, not {self.kind} by suffix"
        strays = chain.from_iterable(files.strays for files in self._files.values())
        notes = self._left_out("file", kind, self.skipped)
        notes += self._left_out("path", "left out, no file of a class folder", strays)
        for domain, sizes in self.contents().items():
            notes += base.unlabelled_note(self.folder / domain, sizes, self.kind)
        notes += filter(None, self.facts.values())
        if any(files.has_unlabelled_folder() for files in self._files.values()):
            what = f"files in a folder named {UNLABELLED} have no label"
            notes.append(f"{self.folder}: {what}. If it is a class, {KEEP}.")
        if self.kind == "images":
            notes += self._header_notes()
        return notes + base.unshared_classes(str(self.folder), self.contents())

    def paths_of(self, domain: str) -> list[Path]:
        """Return the files of a domain."""
        return [self.folder / sample.path for sample in self._samples[domain]]

    def _header_notes(self) -> Iterator[str]:
        memory = None if self.cache is None else Path(self.cache).with_name(HEADERS)
        headers = base.cached_facts(self._paths, memory, read_header)
        for domain in self.domains:
            place = self.folder / domain
            paths = self.paths_of(domain)
            named = {str(p.relative_to(place)): headers[str(p)] for p in paths}
            yield from header_notes(place, named)

    def _left_out(self, noun: str, what: str, paths: Iterable[Path]) -> list[str]:
        names = [path.relative_to(self.folder).as_posix() for path in paths]
        text = f"{counted(len(names), noun)} {what}: {shortened(names, 5)}"
        return [f"{self.folder}: {text}"] if names else []

    def contents(self) -> dict[str, dict[str, int]]:
        """Return the number of files per class and domain; "" counts unlabelled."""
        contents = {}
        for domain, samples in self._samples.items():
            labels = Counter(sample.label for sample in samples if not sample.paired)
            contents[domain] = dict(sorted(labels.items()))
        return contents

    def fingerprint(self) -> str:
        """Return a digest of the files' paths, content and labels, not their times."""
        digests = base.file_digests(self._paths, self.cache).values()
        samples = chain.from_iterable(self._samples.values())
        text = ""
        for sample, content in zip(samples, digests, strict=True):
            # A class folder is part of the path.
            in_path = sample.paired or f"/{sample.label}/" in sample.path
            label = "" if in_path else f" label {sample.label!r}"
            text += f"{sample.path} {content}{label}\n"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _most_common_kind(self, files: Sequence[Path]) -> str:
        counts = Counter(kind for path in files if (kind := _kind(path)))
        if not counts:
            suffixes = " ".join(sorted(set().union(*SUFFIXES.values())))
            message = f"{self.folder}: no file is an image or a text by its suffix"
            raise DataError(f"{message}. Known suffixes: {suffixes}.")
        return counts.most_common(1)[0][0]

    def _as_samples(self, domain: str) -> list[Sample]:
        samples = []
        for group in self._files[domain].groups:
            for path in group.of_kind(self.kind, SUFFIXES[self.kind]):
                name = relative = path.relative_to(self.folder).as_posix()
                if group.paired:
                    name = base.opaque_id(f"{self.paired}/{path.stem}")
                elif group.label:  # a path may contain it
                    name = base.opaque_id(relative)
                sample = Sample(name, relative, group.label, paired=group.paired)
                samples.append(sample)
        return samples


def _kind(path: Path) -> str | None:
    suffix = path.suffix.lower()
    return next((kind for kind, names in SUFFIXES.items() if suffix in names), None)


def _subfolders(folder: Path) -> list[str]:
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder.")
    if names := [path.name for path in visible(folder) if path.is_dir()]:
        return names
    raise DataError(f"{folder} has no domain folder (<domain>/<class>/<file>).")
