"""A folder of one's own: ``<domain>/<class>/<file>``, as ImageFolder has it."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cdspp.core.errors import DataError
from cdspp.core.labels import keep_labels as kept_labels
from cdspp.core.labels import require_distinct
from cdspp.core.wording import counted
from cdspp.datasets.base import (
    Dataset,
    Index,
    Sample,
    check_identifier,
    lonely_classes,
    opaque_id,
)
from cdspp.datasets.own_files import check_images, file_digests

__all__ = ["SUFFIXES", "FolderDataset"]

log = logging.getLogger(__name__)

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff")
TEXTS = (".csv", ".htm", ".html", ".md", ".rst", ".tex", ".txt", ".xml")
CODE = (".c", ".cpp", ".go", ".h", ".java", ".jl", ".js", ".m", ".py", ".r", ".rs")
SUFFIXES: Mapping[str, frozenset[str]] = {
    "images": frozenset({*IMAGES, ".webp"}),
    "texts": frozenset({*TEXTS, *CODE}),
}
NAMED = 5  # of files in a sentence


class FolderDataset(Dataset):
    """Files sorted into ``<domain>/<class>/``; hidden files are left out.

    The kind of most files is that of the data set; others are skipped.

    Parameters
    ----------
    identifier : str
        Name of the data set in configuration and paths.
    folder : path
        Folder that holds one folder per domain.
    memory : path, optional
        Where digests of the files are kept from one `fingerprint` to the next.
    paired : str, optional
        Name of the folder in each domain that holds paired files: those of one name,
        whatever their suffix, describe one object, of no known class.
    keep_labels : sequence of str, optional
        Classes that differ from others in capitals alone.

    Raises
    ------
    ConfigError
        The identifier cannot be part of a path.
    DataError
        No such folder, an empty class, as many images as texts, or a paired file that
        is not in every domain.
    """

    keys = ("folder", "paired", "keep_labels")

    def __init__(
        self,
        identifier: str,
        folder: str | Path,
        memory: str | Path | None = None,
        paired: str | None = None,
        keep_labels: Sequence[str] = (),
    ) -> None:
        check_identifier("data set name", identifier)
        self.identifier = identifier
        self.folder = Path(folder)
        self.memory = memory
        self.paired = paired
        self.domains = tuple(_subfolders(self.folder, "domain"))
        found = {d: _subfolders(self.folder / d, "class") for d in self.domains}
        with kept_labels(*keep_labels):
            require_distinct(found)
        self._classes_of = found
        self.classes = tuple(
            sorted({name for names in found.values() for name in names} - {paired})
        )
        files = self._files()
        self.kind = self._most_common_kind(files)
        self.skipped = [path for path in files if _kind(path) != self.kind]
        self._samples = {name: self._list_domain(name) for name in self.domains}
        self.n_paired = self._count_pairs()

    def _count_pairs(self) -> int:
        found = {d: {s.id for s in ss if s.paired} for d, ss in self._samples.items()}
        every = set.union(*found.values())
        for domain, ids in found.items():
            if self.paired and (ids != every or not ids):
                raise DataError(
                    f"{self.folder / domain / self.paired}: has {len(ids)} of the "
                    f"{len(every)} paired objects. Give a file of each in every domain."
                )
        return len(every)

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Return the samples; the files stay where they are.

        Raises
        ------
        DataError
            Images cannot be decoded; all of them are named.
        """
        for note in self.notes():
            log.warning("%s", note)
        if self.kind == "images":
            check_images(self._paths())
        return self._samples

    def index(self, root: Path, samples: Mapping[str, Sequence[Sample]]) -> Index:
        """Return the index of the samples, whose files stay in the user's folder."""
        return replace(super().index(root, samples), root=self.folder)

    def notes(self) -> list[str]:
        """Return what the user should know: files that are skipped, classes missing."""
        classes = {
            domain: [name for name in names if name != self.paired]
            for domain, names in self._classes_of.items()
        }
        told = lonely_classes(str(self.folder), classes)
        return [*self._skipped_note(), *told]

    def _skipped_note(self) -> list[str]:
        if not self.skipped:
            return []
        names = [p.relative_to(self.folder).as_posix() for p in self.skipped]
        told = ", ".join(names[:NAMED]) + ", ..." * (len(names) > NAMED)
        skipped = f"{counted(len(names), 'file')} skipped, not {self.kind} by suffix"
        return [f"{self.folder}: {skipped}: {told}"]

    def contents(self) -> dict[str, dict[str, int]]:
        """Return the number of files of each class by domain, in order."""
        return {
            domain: dict(
                sorted(Counter(s.label for s in samples if not s.paired).items())
            )
            for domain, samples in self._samples.items()
        }

    def fingerprint(self) -> str:
        """Return a digest of the files' paths and content; their times do not count."""
        digest = hashlib.sha256()
        digests = file_digests(self._paths(), self.memory).values()
        for path, content in zip(self._names(), digests, strict=True):
            digest.update(f"{path} {content}\n".encode())
        return digest.hexdigest()[:16]

    def _names(self) -> list[str]:
        return [s.path for found in self._samples.values() for s in found]

    def _paths(self) -> list[Path]:
        return [self.folder / name for name in self._names()]

    def _files(self) -> list[Path]:
        """Return the files of all classes in all domains; none may be empty."""
        files = []
        for domain in self.domains:
            for label in self._classes_of[domain]:
                folder = self.folder / domain / label
                found = [path for path in _visible(folder) if path.is_file()]
                if not found:
                    raise DataError(f"{folder}: the class folder holds no files.")
                files += found
        return files

    def _most_common_kind(self, files: Sequence[Path]) -> str:
        counts = Counter(kind for path in files if (kind := _kind(path)))
        if not counts:
            known = " ".join(sorted(frozenset().union(*SUFFIXES.values())))
            message = f"{files[0]}: neither an image nor a text by its suffix"
            raise DataError(f"{message}, as all others; known are {known}.")
        [(first, most), *others] = counts.most_common()
        if others and others[0][1] == most:
            message = f"{self.folder} holds {most} {first} and {most} {others[0][0]}"
            raise DataError(f"{message}; keep one kind only.")
        return first

    def _list_domain(self, domain: str) -> list[Sample]:
        samples = []
        for label in self._classes_of[domain]:
            folder = self.folder / domain / label
            files = [path for path in _visible(folder) if path.is_file()]
            kept = [path for path in files if _kind(path) == self.kind]
            if not kept:
                raise DataError(f"{folder}: the class folder holds no {self.kind}.")
            for path in kept:
                paired = label == self.paired
                relative = path.relative_to(self.folder).as_posix()
                name = f"{label}/{path.stem}" if paired else relative
                known = "" if paired else label
                samples.append(Sample(opaque_id(name), relative, known, paired=paired))
        return samples


def _kind(path: Path) -> str | None:
    suffix = path.suffix.lower()
    return next((kind for kind, known in SUFFIXES.items() if suffix in known), None)


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _subfolders(folder: Path, what: str) -> list[str]:
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder.")
    names = [path.name for path in _visible(folder) if path.is_dir()]
    if not names:
        raise DataError(f"{folder} holds no {what} folder (<domain>/<class>/<file>).")
    return names
