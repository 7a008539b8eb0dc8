"""Published images, ``images/<domain>/<class>/<file>``: complete or refused."""

import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from cdspp.core.errors import DataError, raise_write_error
from cdspp.datasets.archives import Placement, matches
from cdspp.datasets.fetch import RemoteFile, verify_file
from cdspp.datasets.folder import SUFFIXES

Names = Mapping[str, str]  # different names of the domains' folders

FOLDER = "images"
HEADER = ["path", "size", "git_blob"]
COLUMNS = ("image.bytes", "image.path", "domain", "label")
NUMBERED = re.compile(r"\d{5}\.jpg")
IMAGE_BYTES = 20_000_000  # exceeds every photograph of a benchmark
BATCH_ROWS = 64


def manifest_rows(path: str | Path) -> list[RemoteFile]:
    """Read a manifest: a header, then path, size and git blob id, tab-separated."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as a manifest ({error}).") from error
    if not lines or lines[0].split("\t") != HEADER:
        expected = ", ".join(HEADER)
        raise DataError(f"{path}: expected a header line {expected}, tab-separated.")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != len(HEADER) or not cells[1].isdecimal():
            message = f"{path}: line {number}: expected path, size and git blob id"
            raise DataError(f"{message}, got {line!r}.")
        rows.append(RemoteFile(cells[0], size=int(cells[1]), git_blob=cells[2]))
    return rows


@dataclass(frozen=True)
class ImageSet:
    """The images that a data set must have; without a manifest, only their number."""

    classes: Sequence[str]
    class_sizes: Mapping[str, Sequence[int]]
    manifest: Sequence[RemoteFile] = ()

    @property
    def most_bytes(self) -> int:
        """An upper limit of the bytes of all images together."""
        if self.manifest:
            return sum(row.size or 0 for row in self.manifest)
        return IMAGE_BYTES * sum(map(sum, self.class_sizes.values()))

    def domains_by(self, folders: Names) -> dict[str, str]:
        """Return the domains by their lower-case names in an archive or folder."""
        if unknown := sorted(set(folders) - set(self.class_sizes)):
            message = f"folders: unknown domain {unknown[0]!r}"
            raise DataError(f"{message}; known are {', '.join(self.class_sizes)}.")
        return {folders.get(name, name).casefold(): name for name in self.class_sizes}

    def placement(self, tree: str, folders: Names) -> Placement:
        """Return a function for `extract` that places the images in a folder.

        `tree` is the folder's pattern, `folders` has other names of domains' folders.
        """
        domains = self.domains_by(folders)
        names = {row.name for row in self.manifest}

        def place(member: str) -> str | None:
            path = PurePosixPath(member)
            if len(path.parts) < 3 or not matches("/".join(path.parts[:-3]), tree):
                return None
            domain, label = domains.get(path.parts[-3].casefold()), path.parts[-2]
            inside = f"{FOLDER}/{domain}/{label}/{path.name}"
            valid = inside in names
            if not self.manifest:
                is_image = path.suffix.lower() in SUFFIXES["images"]
                valid = is_image and domain is not None and label in self.classes
            return inside if valid else None

        return place

    def check(self, root: Path) -> dict[str, list[str]]:
        """Check the images below `root`; return paths by domain, as published."""
        files = filter(Path.is_file, (root / FOLDER).rglob("[!.]*"))
        names = {path.relative_to(root).as_posix() for path in files}
        if missing := [row.name for row in self.manifest if row.name not in names]:
            message = f"{len(missing)} of {len(self.manifest)} images are missing"
            raise DataError(f"{message}, the first is {missing[0]}.")
        for row in self.manifest:
            verify_file(root / row.name, row)
        by_folder = defaultdict(list)
        for path in sorted(names):  # by code points, like UTF-8 bytes
            by_folder[str(PurePosixPath(path).parent)].append(path)
        ordered: dict[str, list[str]] = {}
        for domain, sizes in self.class_sizes.items():
            ordered[domain] = []
            for label, size in zip(self.classes, sizes, strict=True):
                paths = by_folder.pop(f"{FOLDER}/{domain}/{label}", [])
                if len(paths) != size:
                    message = f"domain {domain}, class {label}: expected {size} images"
                    raise DataError(f"{message}, got {len(paths)}.")
                ordered[domain] += paths
        for folder in by_folder:
            raise DataError(f"{folder}: no folder of a class of the data set.")
        return ordered

    def move(self, folder: Path, root: Path, name: str) -> None:
        """Move complete images to `root`, replacing existing ones."""
        try:
            self.check(folder)
        except DataError as error:
            raise type(error)(f"{name}: {error}") from error
        shutil.rmtree(root / FOLDER, ignore_errors=True)
        (folder / FOLDER).rename(root / FOLDER)


def check_parquet(path: Path, name: str) -> None:
    """Raise DataError, with that name, unless `path` is a Parquet file of images."""
    with _open_parquet(path, name, path) as file:
        columns = [column.path for column in file.schema]
    if missing := [column for column in COLUMNS if column not in columns]:
        message = f"{name}: no column {', '.join(missing)}"
        raise DataError(f"{message}; there are {', '.join(columns)}.")


def write_parquet_images(
    paths: Sequence[Path], root: Path, images: ImageSet, folders: Names
) -> None:
    """Write the images of Parquet files as ``images/<domain>/<class>/<file>``.

    Files are named by ``image.path`` if all paths of a class are distinct and consist
    of five digits and ``.jpg``, else ``00001.jpg``, ... in the order of the rows.
    """
    by_folder = defaultdict(list)
    rows = [row for path in paths for row in _rows(path, images, folders)]
    for folder, name in rows:
        by_folder[folder].append(name)
    for folder, names in by_folder.items():
        if len(set(names)) < len(names) or not all(map(NUMBERED.fullmatch, names)):
            by_folder[folder] = [f"{k:05d}.jpg" for k in range(1, len(names) + 1)]
    names_left = {folder: iter(names) for folder, names in by_folder.items()}
    places = (f"{folder}/{next(names_left[folder])}" for folder, _ in rows)
    for path in paths:
        with _open_parquet(path, path.name, root) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=["image.bytes"]):
                for image in batch.column("image").to_pylist():
                    if not image or not image["bytes"]:
                        raise DataError(f"{path.name}: a row has no image.")
                    target = root / next(places)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(image["bytes"])


def _rows(path: Path, images: ImageSet, folders: Names) -> Iterator[tuple[str, str]]:
    domains = images.domains_by(folders)
    with _open_parquet(path, path.name, path) as file:
        table = file.read(columns=list(COLUMNS[1:])).to_pylist()
    for row in table:
        label: Any = row["label"]
        if isinstance(label, int) and 0 <= label < len(images.classes):
            label = images.classes[label]
        domain = domains.get(str(row["domain"]).casefold())
        if domain is None or label not in images.classes:
            got = f"unknown domain {row['domain']!r}, label {row['label']!r}"
            expected = f"the domains {', '.join(domains)} and a class or its place"
            raise DataError(f"{path.name}: {got}; expected {expected}.")
        name = PurePosixPath((row["image"] or {}).get("path") or "").name
        yield f"{FOLDER}/{domain}/{label}", name


@contextmanager
def _open_parquet(path: Path, name: str, output: Path) -> Iterator[Any]:
    """Open a Parquet file; its errors mention `name`, errors of the disk `output`."""
    import pyarrow.lib
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            yield file
    except (OSError, pyarrow.lib.ArrowException) as error:
        if isinstance(error, OSError):
            raise_write_error(error, output)
        raise DataError(f"{name}: damaged, or not a Parquet file ({error}).") from error
