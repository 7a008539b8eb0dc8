"""What lies in a folder or in tables that a study is to be made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.labels import require_distinct
from cdspp.core.wording import counted

if TYPE_CHECKING:
    from cdspp.datasets.table_files import Columns
    from cdspp.datasets.table_rows import DomainRows

__all__ = ["FoundData", "as_name", "look_at_folder", "look_at_tables"]

NEEDED = "expected small letters and digits, joined by single hyphens"
# Labelled samples per class, where there are as many.
MOST_SOURCE, MOST_TARGET = 20, 3

Sizes = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class FoundData:
    """What was found.

    Attributes
    ----------
    kind : {"images", "texts", "tables"}
        What the samples are.
    sizes : mapping
        Labelled samples of each class, by domain; the source first, then the target.
    entry : mapping
        The data set as a study file has it.
    told : tuple of str
        A line a domain.
    """

    kind: str
    sizes: Sizes
    entry: Mapping[str, Any]
    told: tuple[str, ...]

    def __str__(self) -> str:
        """Say what was found, in lines."""
        common = len(_common(self.sizes))
        domains = counted(len(self.sizes), "domain")
        classes = f"{counted(common, 'class')} in common"
        head = f"{self.entry['id']}: {self.kind}, {domains}, {classes}"
        return "\n".join([head, *(f"  {line}" for line in self.told)])

    def labels(self) -> dict[str, int]:
        """Return labelled samples per class for the first domain and the second.

        At most half of the smallest class of the target is labelled, so that as many
        are tested.
        """
        source, target, *_ = self.sizes.values()
        return {
            "source": min(MOST_SOURCE, max(source.values())),
            "target": min(MOST_TARGET, min(target.values()) // 2),
        }


def as_name(text: str) -> str:
    """Return the name of a domain nearest to a text.

    Examples
    --------
    >>> as_name("Lab A"), as_name("field_2")
    ('lab-a', 'field-2')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def look_at_folder(name: str, folder: str) -> FoundData:
    """Look at a folder ``<domain>/<class>/<file>``.

    Parameters
    ----------
    name : str
        Name of the data set.
    folder : str
        Its path.

    Raises
    ------
    DataError
        A study cannot be made of it; the message lists why.
    """
    from cdspp.datasets import FolderDataset

    found = FolderDataset(name, folder)
    sizes = found.contents()
    _refuse(folder, [*_name_faults(folder, sizes), *_size_faults(sizes)])
    told = [f"{d}: {_size_text(each, found.kind)}" for d, each in sizes.items()]
    entry = {"id": name, "folder": folder}
    return FoundData(found.kind, sizes, entry, (*told, *found.notes()))


def look_at_tables(
    name: str, tables: Sequence[tuple[str, str]], columns: Columns
) -> FoundData:
    """Look at tables, one a domain, the source first.

    Parameters
    ----------
    name : str
        Name of the data set.
    tables : sequence of (str, str)
        What each domain is called, and its file.
    columns : Columns
        What the columns are called.

    Raises
    ------
    DataError
        A study cannot be made of them; the message lists why.
    """
    names = [as_name(given) for given, _ in tables]
    read, unread = _read(tables, columns)
    faults = [*_table_faults(tables, names), *unread]
    _refuse(name, faults or _drop_faults(columns, read))
    sizes = {d: _class_sizes(rows) for d, rows in zip(names, read, strict=True)}
    require_distinct(sizes)
    _refuse(name, [*_size_faults(sizes), *_common_faults(sizes)])
    holes = sum(int((~np.isfinite(rows.X)).sum()) for rows in read)
    paths = (path for _, path in tables)
    return FoundData(
        "tables",
        sizes,
        _entry(name, dict(zip(names, paths, strict=True)), columns, impute=holes > 0),
        tuple(_told(*found) for found in zip(tables, names, read, strict=True)),
    )


def _read(
    tables: Sequence[tuple[str, str]], columns: Columns
) -> tuple[list[DomainRows], list[str]]:
    """Return the rows of the tables, and why some cannot be read."""
    from cdspp.datasets.table_rows import read_domain

    rows, faults = [], []
    for _, path in tables:
        try:
            rows.append(read_domain(path, columns))
        except DataError as error:
            faults.append(str(error))
    return rows, faults


def _table_faults(
    tables: Sequence[tuple[str, str]], names: Sequence[str]
) -> Iterator[str]:
    """Yield the tables whose domains have no name of their own."""
    for (given, path), domain in zip(tables, names, strict=True):
        if not domain:
            yield f"--table {given}={path}: {NEEDED}, got {given!r}. Choose a name."
    for domain, count in Counter(filter(None, names)).items():
        if count > 1:
            yield f"--table: {count} domains would be called {domain}. Name them apart."


def _drop_faults(columns: Columns, read: Sequence[DomainRows]) -> list[str]:
    """Return that a column to leave out is in none of the tables."""
    from cdspp.datasets.table_rows import require_dropped

    try:
        require_dropped(columns.drop, read)
    except DataError as error:
        return [str(error)]
    return []


def _class_sizes(rows: DomainRows) -> dict[str, int]:
    return dict(sorted(Counter(label for label in rows.labels if label).items()))


def _entry(
    name: str, tables: Mapping[str, str], columns: Columns, *, impute: bool
) -> dict[str, Any]:
    """Return the data set as a study file has it, without keys that say nothing."""
    named = {"label": columns.label, "id": columns.id}
    entry: dict[str, Any] = {
        "id": name,
        "tables": dict(tables),
        "columns": {key: value for key, value in named.items() if value},
        "drop": list(columns.drop),
        "impute": impute,
    }
    return {key: value for key, value in entry.items() if value}


def _told(table: tuple[str, str], domain: str, rows: DomainRows) -> str:
    given, path = table
    holes = int((~np.isfinite(rows.X)).sum())
    role = f"{domain} ({path})" if domain == given else f"{domain} ({given}, {path})"
    end = f", {counted(holes, 'number')} missing, to be imputed" if holes else ""
    return f"{rows.told(role)}{end}"


def _name_faults(folder: str, sizes: Sizes) -> Iterator[str]:
    """Yield the folders whose names cannot be those of domains."""
    for domain in sizes:
        if as_name(domain) != domain:
            hint = f", for instance {as_name(domain)}" if as_name(domain) else ""
            yield f"{Path(folder) / domain}: {NEEDED}. Rename the folder{hint}."


def _size_faults(sizes: Sizes) -> Iterator[str]:
    """Yield what a study from the first domain to the second lacks."""
    if len(sizes) < 2:
        domains = ", ".join(sizes) or "none"
        yield f"expected two domains or more, a source and a target, got {domains}."
    for domain, classes in sizes.items():
        if not classes:
            yield f"{domain}: no labelled row. Name the column of labels by --label."
        elif len(classes) < 2:
            yield f"{domain}: expected two classes or more, got {', '.join(classes)}."
    target = [*sizes, "", ""][1]
    small = [label for label, size in sizes.get(target, {}).items() if size < 2]
    if small:
        yield (
            f"{target}: a target needs two labelled samples of every class, one of "
            f"them to test; {', '.join(small)} has one."
        )


def _common_faults(sizes: Sizes) -> Iterator[str]:
    if all(sizes.values()) and not _common(sizes):
        yield (
            "the tables have no class in common. Expected equal labels: "
            + "; ".join(f"{d} has {', '.join(found)}" for d, found in sizes.items())
        )


def _common(sizes: Sizes) -> set[str]:
    return set.intersection(*map(set, sizes.values())) if sizes else set()


def _size_text(sizes: Mapping[str, int], kind: str) -> str:
    ends = dict.fromkeys([min(sizes.values()), max(sizes.values())])
    each = " to ".join(map(str, ends))
    return f"{sum(sizes.values())} {kind}, {each} a class"


def _refuse(what: str, faults: Sequence[str]) -> None:
    if faults:
        noun = "problem" if len(faults) == 1 else "problems"
        lines = "\n".join(f"  - {fault}" for fault in faults)
        raise DataError(f"{what}: {len(faults)} {noun}:\n{lines}")
