"""The files of a domain in the user's folder: class folders, or a file of labels."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cdspp.core.discovery import nearest
from cdspp.core.errors import DataError
from cdspp.core.labels import keep_labels, read_label_column
from cdspp.core.wording import counted, shortened
from cdspp.datasets.table_files import Columns, read_file
from cdspp.datasets.table_model import TEXT, Table, explained

__all__ = ["KEEP", "LABEL_FILE", "UNLABELLED", "DomainFiles", "Group", "read_domain"]

UNLABELLED = "unlabelled"  # name of the folder of unlabelled samples
LABEL_FILE, FILE, LABEL = "labels.csv", "file", "label"  # and its columns
SPELLINGS = {UNLABELLED, "unlabeled"}
KEEP = "name it with --keep-label, in a study with keep_labels"


class Group(NamedTuple):
    """Files with the same label, or none (""); `place` is a folder or file of labels.

    A folder of a class, of unlabelled samples or of pairs must have files (`required`).
    """

    label: str
    files: Sequence[Path]
    place: Path
    required: bool = True
    paired: bool = False

    def of_kind(self, kind: str, suffixes: Collection[str]) -> list[Path]:
        """Return the files with these suffixes.

        DataError: there is none, or a file of labels names another file.
        """
        of_kind = [path for path in self.files if path.suffix.lower() in suffixes]
        if self.place.is_file() and len(of_kind) < len(self.files):
            others = [path.name for path in self.files if path not in of_kind]
            fault = f"names {counted(len(others), 'file')}, not {kind} by suffix"
            text = f"{fault}: {shortened(others, 5)}. Leave these rows out."
            raise DataError(f"{self.place}: {text}")
        if self.required and not of_kind:
            name = "class folder" if self.label else "folder"
            remedy = "" if self.label else " Put some directly into it, or remove it."
            raise DataError(f"{self.place}: the {name} has no {kind}.{remedy}")
        return of_kind


class DomainFiles(NamedTuple):
    """Files of a domain by label, and paths that are not a file of any group.

    `note` explains the labels of a file of labels: its guessed encoding.
    """

    groups: Sequence[Group]
    strays: Sequence[Path]
    note: str = ""

    def classes(self) -> set[str]:
        """Return the names of the classes."""
        return {group.label for group in self.groups} - {""}

    def has_unlabelled_folder(self) -> bool:
        """Return whether there is a folder of unlabelled samples."""
        return any(g.required and not (g.label or g.paired) for g in self.groups)


def visible(folder: Path) -> list[Path]:
    """Return the paths in a folder that are not hidden; DataError if not UTF-8."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    for path in paths:
        try:
            path.name.encode()
        except UnicodeEncodeError as error:
            fault = f"the name {ascii(path.name)} is not UTF-8"
            raise DataError(f"{folder}: {fault}. Rename it.") from error
    return paths


def read_domain(
    folder: Path, paired: str | None = None, kept: Sequence[str] = ()
) -> DomainFiles:
    """Return the files of a domain: in class folders, or named by a file of labels.

    Files in the folder `UNLABELLED`, and those that `LABEL_FILE` does not name, have no
    label; `paired` is the name of the folder of pairs, and `kept` are classes even if
    they are called unlabelled. DataError: no sample has a label, the name of a folder
    is doubtful, or there are both class folders and a file of labels.
    """
    entries, label_file = visible(folder), folder / LABEL_FILE
    folders = [path for path in entries if path.is_dir()]
    groups = [_folder_group(path, paired, kept) for path in folders]
    strays = [path for path in entries if path not in folders]
    note = ""
    if label_file.is_file():
        if names := [group.label for group in groups if group.label]:
            fault = f"expected class folders or {LABEL_FILE}, got both"
            remedy = f"Move {LABEL_FILE}, or the folders, out of it"
            raise DataError(f"{folder}: {fault} ({shortened(names)}). {remedy}.")
        files = [path for path in strays if path.is_file() and path != label_file]
        strays = [path for path in strays if not path.is_file()]
        flat, note = _flat_groups(label_file, files, kept)
        groups = [*flat, *groups]
    elif not folders:
        of_labels = f"<domain>/{LABEL_FILE} with the columns {FILE} and {LABEL}"
        expected = f"<domain>/<class>/<file>, or {of_labels} next to the files"
        raise DataError(f"{folder} has no class folder ({expected}).")
    inside = [part for path in folders for part in visible(path) if not part.is_file()]
    content = DomainFiles(groups, [*strays, *inside], note)
    if content.has_unlabelled_folder() and not content.classes():
        remedy = f"Add a folder per class, or if {UNLABELLED} is a class, {KEEP}"
        raise DataError(f"{folder}: no sample has a label. {remedy}.")
    return content


def _folder_group(folder: Path, paired: str | None, kept: Sequence[str]) -> Group:
    name, files = folder.name, [path for path in visible(folder) if path.is_file()]
    if name == paired or not _means_unlabelled(name, kept):
        label = "" if name == paired else name
        return Group(label, files, folder, paired=name == paired)
    if name != UNLABELLED:
        fault = f"expected the name {UNLABELLED} for files without a label"
        remedy = f"Rename the folder, or if it is a class, {KEEP}"
        raise DataError(f"{folder}: {fault}. {remedy}.")
    return Group("", files, folder)


def _means_unlabelled(name: str, kept: Sequence[str]) -> bool:
    return name not in kept and name.strip().casefold() in SPELLINGS


def _flat_groups(
    path: Path, files: Sequence[Path], kept: Sequence[str]
) -> tuple[list[Group], str]:
    by_label = defaultdict[str, list[Path]](list)
    table = _label_table(path)
    try:
        labels = _labels_by_file(path, table, files, kept)
    except DataError as error:
        raise DataError(explained(str(error), table.facts, TEXT)) from error
    for file in files:
        by_label[labels.get(file, "")].append(file)
    rest = Group("", by_label.pop("", []), path.parent, required=False)
    note = "; ".join(f"{path}: {fact.text}" for fact in table.facts)
    return [*(Group(k, by_label[k], path) for k in sorted(by_label)), rest], note


def _labels_by_file(
    path: Path, table: Table, files: Sequence[Path], kept: Sequence[str]
) -> Mapping[Path, str]:
    """Return the label of each file that a file of labels names."""
    names, cells = [*table.cells[FILE]], [*table.cells[LABEL]]
    places = [*map(table.place, range(len(names)))]
    with keep_labels(*kept):
        labels = read_label_column(cells).labels
    _require_labels(path, [*zip(places, names, cells, labels, strict=True)], kept)
    by_name = {unicodedata.normalize("NFC", file.name): file for file in files}
    by_name |= {file.name: file for file in files}
    keys = ((n, unicodedata.normalize("NFC", n.strip())) for n in names)
    found = [by_name.get(name) or by_name.get(key) for name, key in keys]
    if rows := [k for k, file in enumerate(found) if file is None]:
        texts = []
        for k in rows[:4]:
            hint = nearest(names[k], [*by_name])
            text = f"{places[k]}, {names[k]!r}"
            texts.append(f"{text} (may be {hint!r})" if hint else text)
        fault = f"{counted(len(rows), 'row')} of no file: {shortened(texts)}"
        expected = f"Expected names of files in {path.parent}, with their suffix"
        raise DataError(f"{path}: {fault}. {expected}.")
    counts = Counter(file.name for file in found if file)
    if repeated := [f"{name} ({n} rows)" for name, n in counts.items() if n > 1]:
        fault = f"more than one row of the same file: {shortened(repeated)}"
        raise DataError(f"{path}: {fault}. Keep one row of each.")
    return {file: k for file, k in zip(found, labels, strict=True) if file}


def _require_labels(
    path: Path, rows: Sequence[tuple[str, str, str, str]], kept: Sequence[str]
) -> None:
    """Raise DataError if rows of a file of labels have no label."""
    blank = [row for row in rows if not row[-1] or _means_unlabelled(row[-1], kept)]
    if not blank:
        return
    texts = [f"{place}, {name!r}" for place, name, *_ in blank]
    words = [*dict.fromkeys(repr(cell) for *_, cell, _ in blank if cell.strip())]
    read_as = f" (read as unlabelled: {shortened(words)})" if words else ""
    fault = f"{counted(len(blank), 'row')} without a label{read_as}"
    remedy = "Label them, or leave the rows out: other files are unlabelled."
    remedy += f" If {words[0]} is a class, {KEEP}." if words else ""
    raise DataError(f"{path}: {fault}: {shortened(texts)}. {remedy}")


def _label_table(path: Path) -> Table:
    """Return a file of labels, with one column of files and one of labels."""
    try:
        table = read_file(path, Columns(label=LABEL))
    except DataError as error:
        text = str(error).replace("Name its encoding with --encoding, or save", "Save")
        raise DataError(f"{path}: {text}") from error
    header = list(table.cells)
    for name in (FILE, LABEL):
        if header.count(name) != 1:
            fault = f"expected one column {name!r}, got {shortened(header, 5)}"
            remedy = f"Name the columns {FILE} and {LABEL}, or rename the file"
            raise DataError(f"{path}: {fault}. {remedy}.")
    if not len(table.cells):
        raise DataError(f"{path}: expected a row per labelled file, got none.")
    return table
