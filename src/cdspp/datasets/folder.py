"""A folder of one's own: ``<domain>/<class>/<file>``, as ImageFolder has it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cdspp.core.errors import ConfigError, DataError
from cdspp.datasets.base import Dataset, Index, Sample, opaque_id

__all__ = ["SUFFIXES", "FolderDataset"]

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff")
TEXTS = (".csv", ".htm", ".html", ".md", ".rst", ".tex", ".txt", ".xml")
CODE = (".c", ".cpp", ".go", ".h", ".java", ".jl", ".js", ".m", ".py", ".r", ".rs")
SUFFIXES: Mapping[str, frozenset[str]] = {
    "images": frozenset({*IMAGES, ".webp"}),
    "texts": frozenset({*TEXTS, *CODE}),
}


class FolderDataset(Dataset):
    """Files sorted into ``<domain>/<class>/``; hidden files are left out.

    Parameters
    ----------
    identifier : str
        Name of the data set in configuration and paths.
    folder : path
        Folder that holds one folder per domain.

    Raises
    ------
    ConfigError
        The identifier cannot be part of a path.
    DataError
        No such folder, an empty class, a class that a domain lacks, or files of
        different kinds.
    """

    def __init__(self, identifier: str, folder: str | Path) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", identifier):
            message = f"data set name {identifier!r} must be small letters and digits"
            raise ConfigError(f"{message}, joined by single hyphens.")
        self.identifier = identifier
        self.folder = Path(folder).absolute()
        self.domains = tuple(_subfolders(self.folder, "domain"))
        self.classes = self._common_classes()
        self._samples = {name: self._list_domain(name) for name in self.domains}
        self.kind = self._kind()

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Return the samples; the files stay where they are."""
        return self._samples

    def scan(self) -> Index:
        """Return what the folder holds, without writing anything."""
        return self.index(self.folder, self._samples)

    def fingerprint(self) -> str:
        """Return a digest of the files' paths, sizes and times of change."""
        digest = hashlib.sha256()
        for path in (s.path for samples in self._samples.values() for s in samples):
            found = Path(path).stat()
            digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
        return digest.hexdigest()[:16]

    def _common_classes(self) -> tuple[str, ...]:
        found = {d: _subfolders(self.folder / d, "class") for d in self.domains}
        classes = sorted({name for names in found.values() for name in names})
        for domain, names in found.items():
            if missing := [name for name in classes if name not in names]:
                message = f"{self.folder / domain}: class {missing[0]} is missing"
                raise DataError(f"{message}; every domain needs the same classes.")
        return tuple(classes)

    def _list_domain(self, domain: str) -> list[Sample]:
        samples = []
        for label in self.classes:
            folder = self.folder / domain / label
            files = [p for p in _visible(folder) if p.is_file()]
            if not files:
                raise DataError(f"{folder}: the class folder holds no files.")
            for path in files:
                relative = path.relative_to(self.folder).as_posix()
                samples.append(Sample(opaque_id(relative), str(path), label))
        return samples

    def _kind(self) -> str:
        first: tuple[str, str] | None = None
        for sample in (s for samples in self._samples.values() for s in samples):
            suffix = Path(sample.path).suffix.lower()
            kind = next((k for k, known in SUFFIXES.items() if suffix in known), None)
            if kind is None:
                known = " ".join(sorted(frozenset().union(*SUFFIXES.values())))
                message = f"{sample.path}: neither an image nor a text by its suffix"
                raise DataError(f"{message}; known are {known}.")
            first = first or (kind, sample.path)
            if kind != first[0]:
                message = f"{self.folder} mixes {first[0]} ({first[1]}) and {kind}"
                raise DataError(f"{message} ({sample.path}); keep one kind only.")
        assert first is not None
        return first[0]


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _subfolders(folder: Path, what: str) -> list[str]:
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder.")
    names = [path.name for path in _visible(folder) if path.is_dir()]
    if not names:
        raise DataError(f"{folder} holds no {what} folder (<domain>/<class>/<file>).")
    return names
