"""The command that writes a study file for own data."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cdspp.cli import command
from cdspp.cli.study import read_study
from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError, DataError, problems_text
from cdspp.core.names import REFERENCE
from cdspp.core.wording import counted, listed
from cdspp.study.files import study_command, workflow_folder

if TYPE_CHECKING:
    from cdspp.datasets.table_bridge import ColumnSuggestion
    from cdspp.datasets.table_files import Columns
    from cdspp.datasets.table_rows import DomainRows

OF_TABLES = ("label", "id", "drop", "unlabelled", "map-labels")
NEEDED = "expected small letters and digits, joined by single hyphens"
# Labelled samples per class, if there are enough.
MOST_SOURCE, MOST_TARGET = 20, 3
# Methods that a new study adds, by what its tables share. Either adds CDSPP+bridge.
BRIDGE_METHODS = {
    "shared_columns": ("shared-columns", "shared-columns-plus"),
    "paired_rows": ("paired-map-plus",),
}
Sizes = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class StudyData:
    """Images, texts or tables for a new study; `sizes` has source and target first.

    Source and target share columns of the same name (`equal`) or of a `similar` one,
    and `n_paired` unlabelled ids are in all tables; `bridge` lists methods for these.
    """

    kind: str
    sizes: Sizes
    entry: Mapping[str, Any]
    remarks: tuple[str, ...]
    bridge: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    similar: tuple[ColumnSuggestion, ...] = ()
    n_paired: int = 0

    def __str__(self) -> str:
        """Describe the data in lines."""
        domains = counted(len(self.sizes), "domain")
        common = set.intersection(*map(set, self.sizes.values()))
        classes = f"{counted(len(common), 'class')} in common"
        head = f"{self.entry['id']}: {self.kind}, {domains}, {classes}"
        return "\n".join([head, *(f"  {line}" for line in self.remarks)])

    def labels(self) -> dict[str, int]:
        """Return labelled samples per class; half of the target's are for testing."""
        source, target, *_ = self.sizes.values()
        return {
            "source": min(MOST_SOURCE, max(source.values(), default=1)),
            "target": max(1, min(MOST_TARGET, min(target.values(), default=2) // 2)),
        }


def valid_id(text: str) -> str:
    """Return the valid domain name nearest to a text: lab-a for "Lab A"."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def read_folder(name: str, folder: str, keep_labels: Sequence[str] = ()) -> StudyData:
    """Read a folder, as `FolderDataset` does; DataError lists invalid names."""
    from cdspp.analysis.folder_inspection import domain_text
    from cdspp.datasets import FolderDataset

    data = FolderDataset(name, folder, keep_labels=keep_labels)
    sizes, faults = data.contents(), list[str]()
    lines = [domain_text(data, domain) for domain in sizes]
    for domain, class_sizes in sizes.items():
        if valid_id(domain) != domain:
            hint = f", for instance {valid_id(domain)}" if valid_id(domain) else ""
            path = Path(folder) / domain
            faults.append(f"{path}: {NEEDED}. Rename the folder{hint}.")
        class_sizes.pop("", None)
    if faults:
        raise DataError(problems_text(folder, faults))
    entry = {"id": name, "folder": folder}
    return StudyData(data.kind, sizes, entry, (*lines, *data.notes()))


def read_tables(
    name: str, tables: Sequence[tuple[str, str]], columns: Sequence[Columns]
) -> StudyData:
    """Read source, target and other tables, each with its domain and format.

    DataError lists invalid names and files that cannot be read.
    """
    from cdspp.cli.rows import class_notes
    from cdspp.core.labels import require_distinct, require_used
    from cdspp.datasets.table_rows import classes_explained, require_dropped

    names = [valid_id(title) for title, _ in tables]
    paths = [path for _, path in tables]
    faults = [*_table_faults(tables, names)]
    faults = [problems_text("--table", faults)] if faults else []
    rows_of = _read_rows(paths, columns, faults)
    require_dropped(columns[0].drop, rows_of)
    seen = frozenset[str]().union(*(rows.label_column.seen for rows in rows_of))
    require_used(seen, paths)
    with classes_explained(rows_of):
        require_distinct({rows.path: rows.labels for rows in rows_of})
    counts = (Counter(sorted(filter(None, rows.labels))) for rows in rows_of)
    keys = ("label", "id", *command.FORMATS)
    entry: dict[str, Any] = {
        "id": name,
        "tables": dict(zip(names, paths, strict=True)),
        "columns": _nonempty({key: _by_domain(key, names, columns) for key in keys}),
        "drop": list(columns[0].drop),
        "impute": not all(np.isfinite(rows.X).all() for rows in rows_of),
    }
    lines = map(_table_text, tables, names, rows_of)
    notes, bridge = _bridge(rows_of)
    notes += class_notes(*rows_of)
    sizes = dict(zip(names, counts, strict=True))
    return StudyData("tables", sizes, _nonempty(entry), (*lines, *notes), **bridge)


def _read_rows(
    paths: Sequence[str], columns: Sequence[Columns], faults: list[str]
) -> list[DomainRows]:
    """Read the rows of all tables; DataError lists all faults, the known ones first."""
    from cdspp.analysis.inspection import inspect_file
    from cdspp.datasets.table_rows import file_error

    rows_of = []
    for place, (path, how) in enumerate(zip(paths, columns, strict=True)):
        try:
            found = inspect_file(path, how, impute=True, of_source=not place)
            if found.refused:
                raise file_error(path, found.refused, found.rows.facts)
            rows_of.append(found.rows)
        except DataError as error:
            faults.append(str(error))
    if faults:
        raise DataError("\n".join(faults))
    return rows_of


def _table_text(table: tuple[str, str], domain: str, rows: DomainRows) -> str:
    title, path = table
    place = path if domain == title else f"{title}, {path}"
    text = rows.description(f"{domain} ({place})")
    if n_missing := int((~np.isfinite(rows.X)).sum()):
        text += f", {counted(n_missing, 'number')} missing, to be imputed"
    return text


def _bridge(tables: Sequence[DomainRows]) -> tuple[list[str], dict[str, Any]]:
    """Return what all tables share, as notes, and what the first two may share."""
    from cdspp.datasets import table_bridge
    from cdspp.methods.bridge import PAIRS, SHARED

    table_pairs = combinations(tables, 2)
    pairs = [table_bridge.shared_columns(None, *pair)[:2] for pair in table_pairs]
    shared = (pairs[0][0] if all(places for places, _ in pairs) else None) or []
    similar = table_bridge.propose_columns(tables[0], tables[1], shared)
    blank = ({k for k, y in zip(t.ids, t.labels, strict=True) if not y} for t in tables)
    n_paired = len(table_bridge.common_ids(*tables).intersection(*blank))
    kinds = [SHARED] if shared or similar else []
    kinds += [PAIRS] if n_paired and not shared else []
    methods = [name for kind in kinds for name in BRIDGE_METHODS[kind]]
    return [note.partition(" (--")[0] for _, note in pairs if shared], {
        "bridge": (*methods, "cdspp-bridge") if methods else (),
        "equal": tuple(tables[0].features[place] for place, _ in shared),
        "similar": tuple(similar),
        "n_paired": n_paired,
    }


def _nonempty(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value}


def _by_domain(
    key: str, names: Sequence[str], columns: Sequence[Columns]
) -> str | dict[str, str]:
    """Return the format common to all domains, or one per domain; empty by default."""
    default = getattr(type(columns[0]), key)
    values = [getattr(column_format, key) for column_format in columns]
    if len({*values}) == 1:
        return "" if values[0] == default else str(values[0])
    pairs = zip(names, values, strict=True)
    return {name: str(value) for name, value in pairs if value != default}


def _table_faults(
    tables: Sequence[tuple[str, str]], names: Sequence[str]
) -> Iterator[str]:
    for (title, path), domain in zip(tables, names, strict=True):
        if not domain:
            yield f"{title}={path}: {NEEDED}, got {title!r}. Choose a name."
    for domain, count in Counter(filter(None, names)).items():
        if count > 1:
            yield f"{count} domains would be named {domain}. Rename one."


def study_text(
    data: StudyData, methods: Sequence[Any] = (), reference: str | None = None
) -> str:
    """Return the study file for some data, with their name."""
    import jinja2

    from cdspp.study.config import merge_presets

    keys = {"preset": "quick", "add": list(methods)}
    default = merge_presets(keys, workflow_folder())[0][REFERENCE]
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(workflow_folder() / "resources/init"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["flow"] = _yaml_value
    source, target, *_ = data.sizes
    return templates.get_template("study.yaml.j2").render(
        name=data.entry["id"],
        data=data,
        more=list(methods),
        reference=reference or default,
        source=source,
        task=f"{source}_{target}",
        pairs=["_".join(pair) for pair in permutations(data.sizes, 2)],
    )


def _yaml_value(value: object) -> str:
    """Return a value in one line of YAML, quoted if needed."""
    import yaml

    style: dict[str, Any] = {"default_flow_style": True, "width": float("inf")}
    text = yaml.safe_dump([value], allow_unicode=True, sort_keys=False, **style)
    return str(text).strip()[1:-1]


def _init(arguments: Namespace) -> str:
    from cdspp.core.outputs import atomic, together

    command.need_package("jinja2", "cdspp init", command.STUDY_EXTRA)
    name, path = arguments.name, Path(f"{arguments.name}.yaml")
    if not name or valid_id(name) != name:
        raise ConfigError(f"cdspp init: name of the study: {NEEDED}, got {name!r}.")
    tables = [Path(file) for _, file in arguments.table or ()]
    command.check_outputs([path], tables, force=arguments.force)
    data = _read_data(arguments)
    text = study_text(data, arguments.method, arguments.reference)
    with together([path], replace=arguments.force), atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        try:
            study = read_study([temporary])
        except ConfigError as error:
            raise ConfigError(f"{path} was not written: {error}") from error
    source, target, *_ = data.sizes
    return (
        f"{data}\n"
        f"Source: {source}, target: {target}. Others: --source, --target\n"
        f"Reference: {study.reference}. Others: --reference\n"
        f"Written: {path}. Forecast of its cost: cdspp plan {path}\n"
        f"Next: {study_command([path])}"
    )


def _read_data(arguments: Namespace) -> StudyData:
    from cdspp.cli.rows import columns_of

    if arguments.table:
        names = {table: valid_id(table[0]) for table in arguments.table}
        order = _in_order(list(names.values()), arguments)
        tables = sorted(names, key=lambda table: order.index(names[table]))
        roles = ("source", "target", *[""] * (len(tables) - 2))
        columns = [columns_of(arguments, role) for role in roles]
        data = read_tables(arguments.name, tables, columns)
    elif any(vars(arguments)[name.replace("-", "_")] for name in OF_TABLES):
        fault = f"{listed([f'--{name}' for name in OF_TABLES])} are for tables"
        raise ConfigError(f"cdspp init: {fault}; omit them with --folder.")
    else:
        data = read_folder(arguments.name, arguments.folder, arguments.keep_label)
        order = _in_order(list(data.sizes), arguments)
        data = replace(data, sizes={domain: data.sizes[domain] for domain in order})
    rules = {"unlabelled": arguments.unlabelled, "map_labels": arguments.map_labels}
    entry = {**data.entry, "keep_labels": arguments.keep_label, **rules}
    return replace(data, entry=_nonempty(entry))


def _in_order(domains: Sequence[str], arguments: Namespace) -> list[str]:
    """Return source, target and the other domains; by default in their order."""
    source, target = arguments.source, arguments.target
    if len(domains) < 2:
        needs = "expected at least two domains, a source and a target, got"
        raise DataError(f"{arguments.name}: {needs} {', '.join(domains) or 'none'}.")
    for option, domain in (("source", source), ("target", target)):
        if domain is not None and domain not in domains:
            message = f"cdspp init: --{option} must be one of {', '.join(domains)}"
            hint = did_you_mean(domain, domains)
            raise ConfigError(f"{message}, got {domain!r}{hint}")
    if source is not None and source == target:
        raise ConfigError(f"cdspp init: source and target are both {source}.")
    candidates = (name for name in domains if name not in (source, target))
    pair = [source or next(candidates), target or next(candidates)]
    return [*dict.fromkeys([*pair, *domains])]


def _table(text: str) -> tuple[str, str]:
    domain, sign, path = text.partition("=")
    if not sign:
        domain, path = Path(text.removesuffix(".gz")).stem, text
    if not domain or not path:
        raise ArgumentTypeError(f"expected DOMAIN=FILE or FILE, got {text!r}")
    return domain, path


def _method(text: str) -> str | dict[str, str]:
    """Return the entry of a method: its identifier, or a class by import path."""
    name, _, place = text.rpartition("=")
    if ":" not in place:
        return text
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", place.rpartition(":")[2])
    return {"id": valid_id(name or words), "class": place}


def add_commands(commands: Any) -> None:
    """Add the command."""
    converters = {"table": _table, "method": _method}
    command.add_command(commands, "init", _init, command.STUDY_EXTRA, **converters)
