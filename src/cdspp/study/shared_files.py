"""Files that the studies of a folder share: their users, an index of features.

Paths of shared files contain a digest of data and options, so that variants of a study
exist side by side.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cdspp.core.errors import DataError, SchemaError
from cdspp.core.files import write_csv
from cdspp.core.names import feature_names
from cdspp.core.records import Record, read_record, record_path, recorded_file
from cdspp.core.wording import counted
from cdspp.study.files import INDEX, LABELS
from cdspp.study.stale import REPORT_PAGE, read_digests

KINDS = ("features", "labels", "codebooks")  # folders of results/ that studies share
STAGES = ("splits", "test-shares", "fits", "subspace", "scores")  # have records
FEATURES_INDEX = "features/index.csv"  # in results/
COLUMNS = (
    *("file", "labels", "dataset", "domain", "view", "extractor", "options", "scale"),
    *("based_on", "studies"),
)
NAMED = 5  # damaged records in a message
_DIGEST = re.compile(r"(.+)-[0-9a-f]{8}")


class SharedFile(NamedTuple):
    """A shared file, or the index that represents a folder of own data.

    `place` is the file or folder to remove, `linked` whether a link leads to it. A file
    may be gone and leave its record.
    """

    path: str
    place: str
    record: Record
    linked: bool

    @property
    def parts(self) -> list[Path]:
        """The existing files of which it consists."""
        if self.place != self.path:
            return [path for path in Path(self.place).rglob("*") if not path.is_dir()]
        return [*filter(os.path.lexists, (Path(self.path), record_path(self.path)))]

    @property
    def size(self) -> int:
        """The bytes on the disk."""
        return sum(path.lstat().st_size for path in self.parts)

    @property
    def last_use(self) -> float:
        """The last time that it was read or written, as far as the disk records it."""
        record = record_path(self.path)  # was read just now
        files = [path for path in self.parts if path != record] or [record]
        states = [path.lstat() for path in files]
        return max(max(state.st_atime, state.st_mtime) for state in states)


class Usage(NamedTuple):
    """The shared files of a folder: those in use by path, and the others.

    `studies` are the folders of results that were read, `unfinished` those of them that
    have no report. Of files behind a `link`, none counts as unused.
    """

    used: frozenset[str]
    unused: tuple[SharedFile, ...]
    studies: tuple[str, ...]
    unfinished: tuple[str, ...]
    links: tuple[str, ...]


def shared_features(files: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield data set, domain and view of paths of features, with those of labels."""
    for file in files:
        *_, kind, data, name = Path(file).parts
        if kind == "features" and name.count(".") == 2:
            domain, view = feature_names(name)
            labels = LABELS.format(data=data, domain=domain).removeprefix("results/")
            yield {
                "dataset": _without_digest(data),
                "domain": domain,
                "view": view,
                "features": file,
                "labels": labels,
            }


def _without_digest(name: str) -> str:
    match = _DIGEST.fullmatch(name)
    return match[1] if match else name


def find_usage(keep: Iterable[str] = ()) -> Usage:
    """Return which shared files of the working folder its results refer to.

    Files in `keep`, and all files from which a used file was made, are used, too.
    DataError: records are damaged, or of another version of the library.
    """
    problems: list[str] = []
    shared = [*_shared_files(problems)]
    references = _References(shared)
    studies = [*_studies(problems)]
    for root in studies:
        references.add_study(root, problems)
    if problems:
        names = "\n  - ".join(problems[:NAMED])
        more = f"\n  - and {len(problems) - NAMED} more" * (len(problems) > NAMED)
        fault = f"{counted(len(problems), 'record')} cannot be read, so it is unknown"
        raise DataError(f"{fault} which files are in use:\n  - {names}{more}")
    linked = [file.path for file in shared if file.linked]
    used = references.close({*keep, *linked})
    return Usage(
        frozenset(file.path for file in shared if file.path in used),
        tuple(file for file in shared if file.path not in used),
        tuple(root.name for root in studies),
        tuple(root.name for root in studies if not (root / REPORT_PAGE).is_file()),
        tuple(dict.fromkeys(filter(None, map(_link, linked)))),
    )


def _studies(problems: list[str]) -> Iterator[Path]:
    """Yield folders of results, also behind links: their references count."""
    for path in (Path("results"), *sorted(Path("results").glob("[!.]*"))):
        if path.is_symlink() and not path.exists():
            problems.append(f"{path} leads to {os.readlink(path)}, which is missing")
        elif path.is_dir() and path.name not in ("results", *KINDS):
            yield path


class _References:
    """The shared files to which records refer; `found` has their paths."""

    def __init__(self, shared: Iterable[SharedFile]) -> None:
        self.found: set[str] = set()
        self._records = {file.path: file.record for file in shared}

    def add_study(self, root: Path, problems: list[str]) -> None:
        """Add the references of the report and the records of a study."""
        if (root / REPORT_PAGE).is_file():
            try:
                names = read_digests(root).files
            except (DataError, SchemaError) as error:
                problems.append(str(error))
                return
            self.found |= {f"results/{name}" for name in names}
        for file in chain.from_iterable(_recorded_files(root / s) for s in STAGES):
            if record := _read(file, problems):
                self.found |= {*record.places.values()}

    def close(self, more: Iterable[str]) -> set[str]:
        """Return all used files: also those from which used ones were made."""
        self.found |= {*more}
        done: set[str] = set()
        while ahead := self.found - done:
            done |= ahead
            for path in ahead & self._records.keys():
                self.found |= {*self._records[path].places.values()}
        return self.found


def _shared_files(problems: list[str]) -> Iterator[SharedFile]:
    """Yield features, labels, codebooks and the indexes of own data."""
    for kind in KINDS:
        found = [*Path("results", kind).glob("[!.]*/[!.]*")]
        names = {str(path) for path in found if path.suffix in (".npz", ".parquet")}
        names |= {recorded_file(path) for path in found if path.suffix == ".json"}
        for path in sorted(names):
            if record := _read(path, problems):
                yield SharedFile(path, path, record, bool(_link(path)))
    for folder in sorted(Path("data").glob("[!.]*")):
        path = INDEX.format(data=folder.name)
        is_own = _DIGEST.fullmatch(folder.name) and not any(folder.glob("*.fetched.*"))
        if not is_own or not record_path(path).is_file():
            continue  # downloaded, generated, or a folder of the user
        record = _read(path, problems)
        if record is not None and record.options.get("own"):
            yield SharedFile(path, str(folder), record, bool(_link(path)))


def _recorded_files(folder: Path) -> Iterator[str]:
    """Yield the files of a folder that have a record, also behind links."""
    for place, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".json") and not name.startswith("."):
                yield recorded_file(Path(place, name))


def _link(path: str) -> str:
    """Return the first part of a relative path that is a link; empty without one."""
    above = [Path(path), *Path(path).parents][::-1]
    return next((str(place) for place in above if place.is_symlink()), "")


def _read(path: str, problems: list[str]) -> Record | None:
    try:
        return read_record(path, moved=True)
    except (DataError, SchemaError) as error:
        problems.append(str(error).rstrip("."))
        return None


def remove(files: Iterable[SharedFile]) -> None:
    """Remove shared files, their records, and folders that are then empty."""
    for file in files:
        place = Path(file.place)
        if file.place != file.path:
            shutil.rmtree(place)
            continue
        place.unlink(missing_ok=True)
        record_path(place).unlink(missing_ok=True)
        with suppress(OSError):  # other files remain in it
            place.parent.rmdir()
    if not write_features_index():
        Path("results", FEATURES_INDEX).unlink(missing_ok=True)
    for kind in KINDS:
        with suppress(OSError):
            Path("results", kind).rmdir()


def write_features_index(results: Path = Path("results")) -> bool:
    """Write the table of all features, next to them; return whether there are any.

    It has a line per file: data set, domain and view, the options of the view, the file
    on which it is based, and the studies whose report names it.
    """
    studies = _studies_by_file(results)
    paths = sorted((results / "features").glob("[!.]*/[!.]*.npz"))
    names = {path.relative_to(results.parent).as_posix(): path for path in paths}
    records: dict[str, Record] = {}
    for name, path in names.items():
        with suppress(DataError, SchemaError):
            records[name] = read_record(path, moved=True)
    if not records:
        return False
    rows = []
    for entry in shared_features(records):
        file = entry.pop("features")
        record = records[file]
        base = record.places.get("view", "")
        users = " ".join(studies.get(file, ()))
        entry["labels"] = f"{results.name}/{entry['labels']}"
        values = {key: record.options.get(key, "") for key in ("extractor", "scale")}
        values["options"] = json.dumps(record.options.get("options", {}))
        rows.append({"file": file, "based_on": base, "studies": users} | entry | values)
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    write_csv(results / FEATURES_INDEX, table)
    return True


def _studies_by_file(results: Path) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for page in sorted(results.glob(f"[!.]*/{REPORT_PAGE}")):
        root = page.parents[1]
        with suppress(DataError, SchemaError):  # a damaged report names no file
            for name in read_digests(root).files:
                found[f"{results.name}/{name}"].append(root.name)
    return found
