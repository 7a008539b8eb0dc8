"""A folder of the user: ``<domain>/<class>/<file>``, as for ImageFolder."""

import hashlib
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from cdspp.core.errors import DataError
from cdspp.core.labels import keep_labels as kept_labels
from cdspp.core.labels import require_distinct
from cdspp.core.wording import counted, shortened
from cdspp.datasets import base
from cdspp.datasets.base import Cache, Dataset, Sample

__all__ = ["SUFFIXES", "FolderDataset", "check_images"]

log = logging.getLogger(__name__)

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff")
TEXTS = (".csv", ".htm", ".html", ".md", ".rst", ".tex", ".txt", ".xml")
CODE = (".c", ".cpp", ".go", ".h", ".java", ".jl", ".js", ".m", ".py", ".r", ".rs")
SUFFIXES = {"images": {*IMAGES, ".webp"}, "texts": {*TEXTS, *CODE}}
SHRINK = 8  # largest reduction when decoding JPEG files, for speed


class FolderDataset(Dataset):
    """Files sorted into ``<domain>/<class>/``; hidden files are skipped.

    The kind of most files is that of the data set; others are skipped. In the folder
    `paired` of each domain, files of equal names, whatever their suffix, describe one
    object of unknown class. `keep_labels` are classes that differ from others only in
    capitals; `cache` stores digests of the files.

    ConfigError refuses a name that no path can have; DataError a missing folder, an
    empty class, or a paired file not in a domain.
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
        self.domains = tuple(_subfolders(self.folder, "domain"))
        labels = {d: _subfolders(self.folder / d, "class") for d in self.domains}
        with kept_labels(*keep_labels):
            require_distinct(labels)
        self._classes_of = {d: {*names} - {paired} for d, names in labels.items()}
        self.classes = tuple(sorted(set().union(*self._classes_of.values())))
        folders = [(domain, label) for domain in labels for label in labels[domain]]
        paths = {place: _visible(self.folder.joinpath(*place)) for place in folders}
        files = {place: [*filter(Path.is_file, paths[place])] for place in folders}
        all_files = [*chain(*files.values())]
        self.kind = self._most_common_kind(all_files)
        self.skipped = [path for path in all_files if _kind(path) != self.kind]
        self._samples = self._as_samples(files)
        samples = chain.from_iterable(self._samples.values())
        self._paths = [self.folder / sample.path for sample in samples]
        pairs = {d: {s.id for s in ss if s.paired} for d, ss in self._samples.items()}
        paired_ids = set.union(*pairs.values())
        self.n_paired = len(paired_ids)
        for domain, ids in pairs.items():
            if self.paired and (ids != paired_ids or not ids):
                fault = f"has {len(ids)} of the {self.n_paired} paired objects"
                path = self.folder / domain / self.paired
                raise DataError(f"{path}: {fault}. Give each a file in every domain.")

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Return the samples; DataError names all undecodable images."""
        for note in self.notes():
            log.warning("%s", note)
        if self.kind == "images":
            check_images(self._paths)
        return self._samples

    def notes(self) -> list[str]:
        """Return notes on skipped files and missing classes for the user."""
        notes = base.unshared_classes(str(self.folder), self._classes_of)
        if self.skipped:
            names = [p.relative_to(self.folder).as_posix() for p in self.skipped]
            skipped = f"{counted(len(names), 'file')} skipped, not {self.kind}"
            text = shortened(names, 5)
            notes.insert(0, f"{self.folder}: {skipped} by suffix: {text}")
        return notes

    def contents(self) -> dict[str, dict[str, int]]:
        """Return the number of files per class and domain, in order."""
        return {
            domain: dict(sorted(Counter(s.label for s in samples if s.label).items()))
            for domain, samples in self._samples.items()
        }

    def fingerprint(self) -> str:
        """Return a digest of the files' paths and content, not their times."""
        digests = base.file_digests(self._paths, self.cache).items()
        entries = ((Path(k).relative_to(self.folder).as_posix(), v) for k, v in digests)
        text = "".join(f"{name} {content}\n" for name, content in entries)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _most_common_kind(self, files: Sequence[Path]) -> str:
        counts = Counter(kind for path in files if (kind := _kind(path)))
        if not counts:
            suffixes = " ".join(sorted(set().union(*SUFFIXES.values())))
            message = f"{self.folder}: no file is an image or a text by its suffix"
            raise DataError(f"{message}. Known suffixes: {suffixes}.")
        return counts.most_common(1)[0][0]

    def _as_samples(
        self, files: Mapping[tuple[str, str], Sequence[Path]]
    ) -> dict[str, list[Sample]]:
        samples: dict[str, list[Sample]] = {domain: [] for domain in self.domains}
        for (domain, label), paths in files.items():
            of_kind = [path for path in paths if _kind(path) == self.kind]
            if not of_kind:
                folder = self.folder / domain / label
                raise DataError(f"{folder}: the class folder has no {self.kind}.")
            paired = label == self.paired
            for path in of_kind:
                relative = path.relative_to(self.folder).as_posix()
                name = base.opaque_id(f"{label}/{path.stem}" if paired else relative)
                label_ = "" if paired else label
                samples[domain].append(Sample(name, relative, label_, paired=paired))
        return samples


def _kind(path: Path) -> str | None:
    suffix = path.suffix.lower()
    return next((kind for kind, names in SUFFIXES.items() if suffix in names), None)


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _subfolders(folder: Path, what: str) -> list[str]:
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder.")
    if names := [path.name for path in _visible(folder) if path.is_dir()]:
        return names
    raise DataError(f"{folder} has no {what} folder (<domain>/<class>/<file>).")


def check_images(files: Sequence[Path]) -> None:
    """Read all images once, before any fit; DataError names damaged ones."""
    faults = [str(path) for path in files if not _is_readable(path)]
    if faults:
        message = f"{len(faults)} of {len(files)} images cannot be read"
        raise DataError(f"{message}: {shortened(faults, 20)}. Replace or remove them.")


def _is_readable(path: Path) -> bool:
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.format == "PNG":
                image.verify()  # checksums are faster than decoding
            else:
                # A truncated image may have an intact header.
                width, height = (max(1, side // SHRINK) for side in image.size)
                image.draft("L", (width, height))
                image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True
