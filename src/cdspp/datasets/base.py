"""The interface of every data set, and the index of its files."""

import hashlib
import re
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.errors import (
    ConfigError,
    DataError,
    DiskFullError,
    NotWritableError,
    write_errors,
)
from cdspp.core.files import read_json, write_json
from cdspp.core.labels import class_table
from cdspp.core.provenance import file_digest

__all__ = ["ROWS_NAME", "Dataset", "Index", "Sample", "opaque_id", "read_index"]

Cache = str | Path | None  # file that stores digests of the user's files

INDEX_NAME = "index.json"
RECORD = ".fetched.json"  # ends the name of a fetched resource's record
ROWS_NAME = "rows.npz"  # file of a domain whose samples are rows of a table
KINDS = ("images", "texts", "features", "tables")


class Sample(NamedTuple):
    """One sample of a domain.

    Equal `id`s mean the same object, also across domains. `path` is that of its file,
    relative to the data set's folder; it is empty for a row of a table or published
    matrix, and for a fetched file. `label` is empty for an unlabelled sample of the
    user.
    `position` is its place in the published files of its domain, or in the folder. A
    `paired` sample has a partner of the same id in another domain and no label, and is
    neither a source nor a target sample.
    """

    id: str
    path: str
    label: str
    position: int = 0
    paired: bool = False


@dataclass(frozen=True)
class Index:
    """The files of a data set.

    The samples of each domain are in the order of the rows of its features, with paired
    samples last. Paths are relative to `root`, which is the user's folder if files stay
    there. `kind` is "features" if there are only published matrices; `versions` are
    those of the packages that made the files, `digests` those of ids, labels and
    content by domain.
    """

    dataset: str
    kind: str
    classes: tuple[str, ...]
    domains: Mapping[str, tuple[Sample, ...]]
    root: Path
    versions: Mapping[str, str]
    digests: Mapping[str, str] = field(default_factory=dict)

    def samples(self, domain: str) -> tuple[Sample, ...]:
        """Return the samples of `domain`; DataError if there is no such domain."""
        if domain not in self.domains:
            message = f"data set {self.dataset} has no domain {domain!r}"
            raise DataError(f"{message}; it has {', '.join(self.domains)}.")
        return self.domains[domain]

    def ids(self, domain: str) -> list[str]:
        """Return the ids of `domain`, in order."""
        return [sample.id for sample in self.samples(domain)]

    def files(self, domain: str) -> list[Path]:
        """Return the paths of the files of `domain`, in order."""
        return [self.root / sample.path for sample in self.samples(domain)]

    def unpaired(self, domain: str) -> list[Sample]:
        """Return the samples of `domain` that may be source and target samples."""
        return [sample for sample in self.samples(domain) if not sample.paired]

    def labels(self, domain: str) -> list[str]:
        """Return the class names of the samples of `domain`, in order."""
        return [sample.label for sample in self.samples(domain)]

    def positions(self, domain: str) -> list[int]:
        """Return the positions of the samples of `domain` in its published files."""
        return [sample.position for sample in self.samples(domain)]

    def digest(self, domain: str, *, rows: bool = True) -> str:
        """Return a digest of the present ids, labels and files of `domain`.

        A table of `rows` is included unless it was published: a published table is a
        resource with its own record, and may appear before or after the index.
        """
        digest = hashlib.sha256()
        for sample in self.samples(domain):
            content = file_digest(self.root / sample.path) if sample.path else ""
            line = f"{sample.id} {sample.label} {sample.position} {content}\n"
            digest.update(line.encode())
        if rows and (table := self.root / domain / ROWS_NAME).is_file():
            digest.update(table.read_bytes())
        return digest.hexdigest()

    def check(self, domain: str) -> None:
        """Raise DataError if the files of `domain` differ from the index."""
        digest = self.digests.get(domain)
        if not any(self.digest(domain, rows=rows) == digest for rows in (True, False)):
            raise DataError(
                f"data set {self.dataset}, domain {domain}: its files no longer match "
                f"{INDEX_NAME}. Run the study again; if that does not help, delete "
                f"data/{self.dataset}/{INDEX_NAME} first."
            )

    def class_sizes(self, domain: str) -> list[int]:
        """Return the number of samples per class of `domain`, in class order."""
        counts = Counter(sample.label for sample in self.unpaired(domain))
        return [counts[name] for name in self.classes]


class Dataset(ABC):
    """A data set that can write its files into a folder.

    A subclass sets the class attributes and writes its files in `generate`.
    """

    identifier: str  #: Name in configuration and paths.
    kind: str  #: Kind of the files, "images", "texts", "features" or "tables".
    domains: tuple[str, ...]  #: Names of the domains.
    classes: tuple[str, ...]  #: Names of the classes, in order.
    packages: tuple[str, ...] = ()  #: Distributions whose versions affect the content.
    n_paired: int = 0  #: Number of paired rows, the same in every domain.
    user_folder: Path | None = None  #: The user's folder, if the files stay there.
    #: Whether `generate` returns the positions of the samples instead of their order.
    keeps_positions: bool = False

    @abstractmethod
    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Write the files below ``folder/<domain>`` and return the samples."""

    def contents(self) -> dict[str, dict[str, int]]:
        """Return the class sizes by domain, before any file exists.

        External data sets must return them; the catalogue has those of the package.
        """
        raise ConfigError(f"{type(self).__name__} needs contents(): sizes of classes.")

    def check_contents(self, index: Index | None = None) -> None:
        """Check `contents`, and that an index agrees with them.

        ConfigError refuses an invalid kind or name, DataError different samples.
        """
        sizes = self.contents()
        if self.kind not in KINDS:
            raise ConfigError(f"kind must be one of {KINDS}, got {self.kind!r}.")
        for domain in sizes:
            check_identifier("domain name", domain)
        classes = {label for counts in sizes.values() for label in counts}
        if {*sizes} != {*self.domains} or not classes <= {*self.classes}:
            expected = f"class sizes by domain, of {self.domains} and {self.classes}"
            raise ConfigError(f"contents() must return {expected}, got {sizes}.")
        if index is None:
            return
        for domain in index.domains:
            counts = Counter(sample.label for sample in index.unpaired(domain))
            if counts != Counter(sizes[domain]):
                fault = f"contents() says {sizes[domain]}, but generate() made"
                where = f"data set {self.identifier}, domain {domain}"
                raise DataError(f"{where}: {fault} {dict(counts)}.")

    def notes(self) -> Sequence[str]:
        """Return notes on the files for the user."""
        return ()

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages that determine the content."""
        return {name: metadata.version(name) for name in self.packages}

    def fingerprint(self) -> str:
        """Return a digest of what determines the samples besides code; maybe empty."""
        return ""

    def prepare(self, folder: str | Path) -> Index:
        """Write all files into `folder`, ``index.json`` last; return the index.

        The files are written to a folder next to it, which is moved once complete.
        """
        target = Path(folder)
        temporary = target.parent / f".{target.name}.partial"
        with write_errors(target / INDEX_NAME):
            target.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()
            try:
                index = self._index(temporary, self.generate(temporary))
                _check_index(index, of_user=self.user_folder is not None)
                content = _as_json(index)
                if self.user_folder is not None:
                    content["root"] = self.user_folder.as_posix()
                (target / INDEX_NAME).unlink(missing_ok=True)
                for path in sorted(temporary.iterdir()):
                    shutil.rmtree(target / path.name, ignore_errors=True)
                    path.rename(target / path.name)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            write_json(target / INDEX_NAME, content)
        return read_index(target)

    def _index(self, folder: Path, samples: Mapping[str, Sequence[Sample]]) -> Index:
        domains = {}
        for name in self.domains:
            rows = samples[name]
            if not self.keeps_positions:
                rows = [each._replace(position=k) for k, each in enumerate(rows)]
            # Ordered by id, so that neither an id nor a row number reveals the class.
            domains[name] = tuple(sorted(rows, key=lambda each: (each.paired, each)))
        header = self.identifier, self.kind, self.classes
        return Index(*header, domains, self.user_folder or folder, self.versions())


def opaque_id(text: str) -> str:
    """Return a short stable id that hides `text`, such as a class name.

    >>> opaque_id("photo/mug/frame_0001.jpg")
    '43a1e5961b31'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_index(path: str | Path) -> Index:
    """Read an index, or that of a folder; DataError if it contradicts its files."""
    file = Path(path)
    file = file / INDEX_NAME if file.is_dir() else file
    content = read_json(file)
    try:
        rows = {domain["name"]: domain["samples"] for domain in content["domains"]}
        domains = {k: tuple(Sample(**row) for row in of) for k, of in rows.items()}
        header = content["dataset"], content["kind"], tuple(content["classes"])
        root = Path(content.get("root", file.parent))
        digests = {each["name"]: each["sha256"] for each in content["domains"]}
        index = Index(*header, domains, root, content["versions"], digests)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{file}: not a data set's index ({error!r}). Prepare it again."
        raise DataError(message) from error
    _check_index(index, of_user="root" in content)
    return index


def record_path(data: str | Path, dataset: str, resource: str) -> Path:
    """Return the path of a fetched resource's record, below the folder `data`."""
    return Path(data) / dataset / f"{resource}{RECORD}"


def digests_path(data: str | Path | None, dataset: str) -> Path | None:
    """Return the path of the cache of digests of the user's files, below `data`."""
    return None if data is None else Path(data) / dataset / "digests.json"


def file_digests(files: Sequence[Path], cache: Cache = None) -> dict[str, str]:
    """Return a digest of the content of each file, by its path."""
    return cached_facts(files, cache, file_digest)


def cached_facts(
    files: Sequence[Path], cache: Cache, fact: Callable[[Path], Any]
) -> dict[str, Any]:
    """Return a fact on the content of each file, a value for JSON, by its path.

    The JSON file `cache` caches the facts of the last call: a file is read again unless
    its size, times and location on the disk are unchanged. The modification time alone
    could be forged, and the location alone could be reused.
    """
    cached, entries = read_cache(cache), dict[str, list[Any]]()
    for path in files:
        status, entry = path.stat(), cached.get(str(path), [])
        state = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        same = isinstance(entry, list) and entry[:-1] == state
        entries[str(path)] = entry if same else [*state, fact(path)]
    if entries != cached:
        write_cache(cache, entries)
    return {path: content for path, (*_, content) in entries.items()}


def read_cache(path: Cache) -> dict[str, Any]:
    """Return the content of a JSON file, or an empty one if it is damaged."""
    with suppress(OSError, ValueError):
        if path is not None and isinstance(content := read_json(path), dict):
            return content
    return {}


def write_cache(path: Cache, content: Mapping[str, Any]) -> None:
    """Write content for `read_cache`, if the folder is writable."""
    with suppress(NotWritableError, DiskFullError):
        if path is not None:
            write_json(path, content)


def read_fetched(path: str | Path) -> Mapping[str, Any]:
    """Read a record of `files`, which must exist, and of `images` by domain."""
    file = Path(path)
    record: Mapping[str, Any] = read_json(file)
    try:
        paths = [file.parent / name for name in record["files"]]
    except (KeyError, TypeError) as error:
        message = f"{file}: not the record of fetched files ({error!r})."
        raise DataError(f"{message} Delete it and fetch again.") from error
    for fetched_path in paths:
        if not fetched_path.is_file():
            message = f"{fetched_path}: the fetched file is missing."
            raise DataError(f"{message} Delete {file} and fetch again.")
    return record


def _check_index(index: Index, *, of_user: bool) -> None:
    where, kinds = f"data set {index.dataset}", ", ".join(KINDS)
    if index.kind not in KINDS:
        raise DataError(f"{where}: kind must be one of {kinds}, got {index.kind!r}.")
    for part, names in (("classes", index.classes), ("domains", index.domains)):
        if not names or len(set(names)) != len(names):
            raise DataError(f"{where}: {part} must be distinct names, got {names}.")
    blank = {""} if of_user or index.kind == "tables" else set()
    for domain, samples in index.domains.items():
        name = f"{where}, domain {domain}"
        if any(sample.label for sample in samples if sample.paired):
            raise DataError(f"{name} has labelled paired rows, expected no label.")
        labels = {sample.label for sample in samples if not sample.paired}
        if unknown := ", ".join(sorted(labels - {*index.classes} - blank)):
            raise DataError(f"{name} has samples of unknown classes: {unknown}.")
        for repeated, count in Counter(sample.id for sample in samples).items():
            if count > 1:
                raise DataError(f"{name} has the id {repeated!r} more than once.")
        for sample in samples:
            if sample.path and not (index.root / sample.path).is_file():
                message = f"{name}: the file {index.root / sample.path} is missing."
                raise DataError(f"{message} Prepare the data set again.")


def _as_json(index: Index) -> dict[str, Any]:
    # A list, because a JSON object does not keep the order of its keys.
    domains = []
    for name, samples in index.domains.items():
        rows = [sample._asdict() for sample in samples]
        domains.append({"name": name, "samples": rows, "sha256": index.digest(name)})
    content = {k: v for k, v in vars(index).items() if k not in ("root", "digests")}
    return content | {"domains": domains}


def unlabelled_note(
    place: object, sizes: Mapping[str, int], what: str, words: str = ""
) -> Iterator[str]:
    """Yield a note on samples without a label; `words` are what some have instead."""
    if "" in sizes:
        text = f"{sizes['']} of {sum(sizes.values())} {what} have no label"
        text += f" ({words} among them)" if words else ""
        yield f"{place}: {text}; as a target they are predicted."


def unshared_classes(where: str, sizes: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return a table of the classes of the user's data, if some domains lack any."""
    classes = {d: {k: n for k, n in of.items() if k} for d, of in sizes.items()}
    if len({frozenset(names) for names in classes.values()}) == 1:
        return []
    return [f"{where}: some domains lack classes:{class_table(classes)}"]


def check_identifier(role: str, name: object) -> None:
    """Raise ConfigError unless a user's name can be part of a path."""
    is_text = isinstance(name, str)  # YAML reads the word no as false
    if not is_text or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(name)):
        expected = "small letters and digits, joined by single hyphens"
        expected += "" if is_text else ", in quotes"
        raise ConfigError(f"{role} {name!r} must be {expected}.")
