"""Tables of the user: a data set with a file per domain, and a file as a data frame."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.files import content_digest
from cdspp.core.labels import label_rules, require_distinct, require_used
from cdspp.core.wording import counted, shortened
from cdspp.datasets import base, table_rows
from cdspp.datasets.base import Cache, Dataset, Sample
from cdspp.datasets.table_faults import with_arguments
from cdspp.datasets.table_files import Columns, read_class_map
from cdspp.datasets.table_rows import DomainRows

if TYPE_CHECKING:
    import pandas as pd

    from cdspp.datasets.table_encoder import TableEncoder

__all__ = ["LabelledTable", "TablesDataset", "read_table"]


class TablesDataset(Dataset):
    """A table or arrays per domain, read by `cdspp.datasets.table_rows.read_domain`.

    The classes are the labels of all domains; a domain may lack some, and unlabelled
    rows are predicted, not scored. With `paired`, rows whose id is in every table are
    the same object instead, and neither source nor target rows.

    `columns` are the names of the columns of labels and ids, and the encodings of
    others, one value for all domains or one each, as in `Columns`; `drop` names columns
    to leave out; with `impute`, missing numbers become column means; `keep_labels` are
    classes, as in `cdspp.keep_labels`, `unlabelled` words mean no label, and the file
    `map_labels` renames labels, as in `table_files.read_class_map`. The JSON file
    `cache` stores digests of the files, and a file next to it their content.
    ConfigError: a name fits no path.
    """

    kind = "tables"

    def __init__(
        self,
        identifier: str,
        tables: Mapping[str, str | Path],
        *,
        columns: Mapping[str, Any] | None = None,
        drop: Sequence[str] = (),
        impute: bool = False,
        paired: bool = False,
        keep_labels: Sequence[str] = (),
        unlabelled: Sequence[str] = (),
        map_labels: str | Path | None = None,
        cache: Cache = None,
    ) -> None:
        base.check_identifier("data set name", identifier)
        for domain in tables:
            base.check_identifier("domain name", domain)
        self.identifier = identifier
        self.tables = {domain: Path(path).absolute() for domain, path in tables.items()}
        self.domains = tuple(tables)
        self.columns, self.drop, self.impute = dict(columns or {}), tuple(drop), impute
        self.cache, self.paired = cache, paired
        self.kept_labels, self.unlabelled = tuple(keep_labels), tuple(unlabelled)
        self.class_map = read_class_map(map_labels) if map_labels else {}

    @property
    def n_paired(self) -> int:  # type: ignore[override]
        """Number of paired rows, the same in every table."""
        return int(self._summary["paired"])

    @property
    def features(self) -> dict[str, list[str]]:
        """Names of the features by domain."""
        return dict(self._summary["features"])

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the classes, sorted."""
        names = {name for sizes in self.contents().values() for name in sizes}
        return tuple(sorted(names - {""}))

    @property
    def undecided(self) -> dict[str, int]:
        """Numbers of labels -1 by domain, which a source may not have."""
        return dict(self._summary["undecided"])

    @property
    def facts(self) -> dict[str, str]:
        """Facts on the classes of each table that its cells do not show."""
        return dict(self._summary["facts"])

    def contents(self) -> dict[str, dict[str, int]]:
        """Return the number of rows per class and domain; "" counts unlabelled rows."""
        return dict(self._summary["contents"])

    def notes(self) -> list[str]:
        """Return notes on rows, ids and classes for the user."""
        contents, notes = self.contents(), list[str]()
        for name, sizes in contents.items():
            words = self._summary["unlabelled"][name]
            notes += base.unlabelled_note(self.tables[name], sizes, "rows", words)
        notes += base.unshared_classes(self.identifier, contents)
        notes += self._summary["notes"]
        if shared := self._summary["shared"]:
            notes.append(
                f"{self.identifier}: {counted(shared, 'id')} in more than one table: "
                "treated as the same object, and not tested if its label is in the "
                "source (overlap: exclude). Give other ids if that is not so."
            )
        return notes

    def fingerprint(self) -> str:
        """Return a digest of the files' content and of the options of reading."""
        for path in self.tables.values():
            if not path.is_file():
                raise DataError(f"{path}: no such file.")
        digests = base.file_digests(list(self.tables.values()), self.cache)
        keys = [list(self.tables), self.columns, self.drop, self.impute, self.paired]
        rules = [self.unlabelled, self.class_map]
        keys += [self.kept_labels, *(rules if any(rules) else ())]
        return content_digest([list(digests.values()), keys])[:16]

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Write the features of each domain, and return its rows."""
        samples, pairs = {}, self._pairs
        for name, rows in self._rows.items():
            (folder / name).mkdir()
            # Columns fitted to one table get a name of their own, which no other table
            # shares.
            specific = {k: f"{k} ({name} only)" for k in rows.table_specific}
            names = [specific.get(feature, feature) for feature in rows.features]
            features = np.asarray(names, dtype=np.str_)
            np.savez(folder / name / base.ROWS_NAME, X=rows.X, features=features)
            # Equal ids mean the same object, so rows without ids get distinct ones.
            ids = rows.ids if rows.has_ids else [f"{name}-{k}" for k in rows.ids]
            samples[name] = [
                Sample(id_, "", label, paired=not label and id_ in pairs)
                for id_, label in zip(ids, rows.labels, strict=True)
            ]
        return samples

    @cached_property
    def _pairs(self) -> set[str]:
        if not self.paired:
            return set()
        tables = self._rows.values()
        if not all(rows.has_ids for rows in tables):
            fault = f"data set {self.identifier}: paired rows need ids in every table"
            remedy = "Name their column (columns: {id: ...}), or leave out paired."
            raise DataError(f"{fault}. {remedy}")
        unlabelled = [{*r.ids} - {*compress(r.ids, r.labels)} for r in tables]
        if not (common := set.intersection(*unlabelled)):
            fault = f"data set {self.identifier}: no unlabelled row has its id in every"
            remedy = "so no rows are paired. Add such rows, or leave out paired."
            raise DataError(f"{fault} table, {remedy}")
        return common

    @cached_property
    def _summary(self) -> dict[str, Any]:
        """Numbers of rows by class, and of shared ids; stored in `cache`, if given."""
        cache = self.cache and Path(self.cache).with_name("contents.json")
        fingerprint, summary = self.fingerprint(), base.read_cache(cache)
        if summary.get("fingerprint") == fingerprint and "facts" in summary:
            return summary
        rows, pairs = self._rows, self._pairs
        sizes = {name: Counter(part.labels) for name, part in rows.items()}
        for counts in sizes.values():
            counts[""] -= len(pairs)
        ids = Counter(id_ for part in rows.values() if part.has_ids for id_ in part.ids)
        columns = Counter(name for part in rows.values() for name in part.features)
        specific = frozenset[str]().union(*(k.table_specific for k in rows.values()))
        unshared = [k for k in columns if k in specific and columns[k] > 1]
        notes = [
            one.copy_note(other) or other.copy_note(one)
            for one, other in combinations(rows.values(), 2)
        ]
        doubts = ((name, text) for name, part in rows.items() for text in part.doubts)
        notes += (_with_study_keys(f"{self.tables[k]}: {text}.") for k, text in doubts)
        if unshared:
            what = f"shared_columns leaves out {shortened(unshared)}"
            notes.insert(0, f"{self.identifier}: {what}: {table_rows.TABLE_SPECIFIC}")
        summary = {
            "fingerprint": fingerprint,
            "contents": {k: dict(sorted((+n).items())) for k, n in sizes.items()},
            "unlabelled": {k: part.label_column.unlabelled for k, part in rows.items()},
            "facts": {
                name: _with_study_keys(table_rows.explain_classes("", [part]).strip())
                for name, part in rows.items()
            },
            "undecided": {k: part.label_column.undecided for k, part in rows.items()},
            "shared": sum(n > 1 for name, n in ids.items() if name not in pairs),
            "paired": len(pairs),
            "notes": [*filter(None, notes)],
            "features": {name: list(part.features) for name, part in rows.items()},
        }
        base.write_cache(cache or None, summary)
        return summary

    @cached_property
    def _rows(self) -> dict[str, DomainRows]:
        table_rows.require_two_files(self.tables)
        try:
            rules = self.kept_labels, self.unlabelled, self.class_map
            with label_rules(*rules):
                tables, faults = table_rows.gather_rows(self._read, zip(self.tables))
                if faults:
                    raise DataError("\n".join(faults))
                rows = dict(zip(self.tables, tables, strict=True))
                columns = [part.label_column.seen for part in tables]
                paths = map(str, self.tables.values())
                require_used(frozenset[str]().union(*columns), paths)
                with table_rows.classes_explained(tables):
                    require_distinct({k: part.labels for k, part in rows.items()})
            table_rows.require_dropped(self.drop, tables)
        except DataError as error:
            raise DataError(_with_study_keys(str(error))) from error
        return rows

    def _read(self, domain: str) -> DomainRows:
        path = self.tables[domain]
        options: dict[str, Any] = {
            key: value.get(domain) if isinstance(value, Mapping) else value
            for key, value in self.columns.items()
        }
        # Labels are in every table; rows of some tables may be unnamed.
        columns = Columns(**options, drop=self.drop, required=("label",))
        complete = partial(table_rows.complete, impute=self.impute)
        checks = complete, _require_labels, DomainRows.require_distinct_ids
        return complete(table_rows.read_domain(path, columns, None, *checks))


def _require_labels(rows: DomainRows) -> None:
    """Raise DataError if the column of labels has none; a missing one is named."""
    if rows.label:
        rows.require_labels()


# Options of the commands as keys of a study file, in the order of the replacements.
STUDY_KEYS = {
    r"--keep-label \(in a study keep_labels\)|--keep-label": "keep_labels",
    r"--unlabelled": "unlabelled",
    r"--map-labels": "map_labels:",
    r"--(categories|dates|decimal|encoding)": r"columns.\1",
    r"--date-format": "columns.date_format",
    r"--(label|id) (?!and |name )([^\s,.;]+)": r"columns: {\1: \2}",
    r"--(label|id)": r"columns.\1",
    r"--drop ('[^']*'|[^\s,.;]+)": r"drop: [\1]",
    r"--drop": "drop",
    r"--impute": "impute: true",
}


def _with_study_keys(message: str) -> str:
    """Return a message on tables with keys of a study file instead of options."""
    for option, key in STUDY_KEYS.items():
        message = re.sub(option, key, message)
    return message


@dataclass(frozen=True, eq=False, repr=False)
class LabelledTable:
    """Rows of a file, in the form that `fit` and `SourceDomain` take.

    `X` (n, d) has the features as numbers, with names, and `y` labels as text, empty
    for unlabelled rows; `ids` are the row numbers from 1 if the file has none;
    `notes` is one line on rows, labels, and how the columns were read; `encoder` has
    the encoding of the columns and is None for files of arrays.
    """

    X: pd.DataFrame
    y: NDArray[Any]
    ids: list[str]
    notes: str
    encoder: TableEncoder | None

    def __repr__(self) -> str:
        """Show the notes and the first rows."""
        return f"{self.notes}\n{self.X.head()}"


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    impute: bool = False,
    categories: str = "error",
    dates: str = "error",
    date_format: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    vectorise: str | None = None,
    encoder: TableEncoder | None = None,
) -> LabelledTable:
    r"""Read a table as the commands do.

    Parameters
    ----------
    path : path
        CSV, TSV, Parquet, Arrow, XLSX, NPZ, NPY, safetensors or .mat.
    label, id : str, optional
        Columns of labels and identifiers, `label` and `id` by default.
    drop : sequence of str, default=()
        Names, patterns (``site*``) or kinds (text, dates, constant) to leave out.
    impute : bool, default=False
        Whether missing numbers become the mean of their column.
    categories, dates, date_format, decimal, vectorise
        As in `TableEncoder`.
    encoding : str, optional
        Encoding of text; by default UTF-8, else UTF-16 or Windows-1252, as `notes` say.
    encoder : TableEncoder, optional
        Encoder of an earlier table with the same columns, for rows to predict.

    Returns
    -------
    LabelledTable
        Features, labels, identifiers and notes.

    Raises
    ------
    DataError
        The file is missing, malformed or empty, or a column cannot be read; the message
        names every such column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from cdspp import read_table
    >>> text = "age;site;kind\n41,5;A;cat\n52;B;\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "lab.csv")
    ...     _ = path.write_text(text)
    ...     table = read_table(path, label="kind", categories="one-hot")
    >>> list(table.X.columns), table.y.tolist()
    (['age', 'site=A', 'site=B'], ['cat', ''])
    """
    import pandas as pd

    required = tuple(k for k, name in {"label": label, "id": id}.items() if name)
    encodings = categories, dates, date_format, vectorise
    columns = Columns(label, id, tuple(drop), required, encoding, decimal, *encodings)
    try:
        complete = partial(table_rows.complete, impute=impute)
        rows = complete(table_rows.read_domain(path, columns, encoder, complete))
    except DataError as error:
        raise DataError(with_arguments(str(error))) from error
    y = np.array(rows.labels, dtype=object)
    X = pd.DataFrame(rows.X, columns=list(rows.features) or None)
    notes = rows.description(str(path))
    return LabelledTable(X, y, list(rows.ids), notes, rows.encoder)
