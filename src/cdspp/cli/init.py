"""Commands before a study: fetch published data, write a study file for own data."""

from __future__ import annotations

import logging
import re
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cdspp.cli import command
from cdspp.cli.study import read_study
from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.labels import no_common_class, require_distinct
from cdspp.core.names import REFERENCE
from cdspp.core.wording import counted
from cdspp.study.files import study_command, workflow_folder

if TYPE_CHECKING:
    from cdspp.datasets.table_bridge import ColumnSuggestion
    from cdspp.datasets.table_files import Columns
    from cdspp.datasets.table_rows import DomainRows

NEEDED = "expected small letters and digits, joined by single hyphens"
# Labelled samples per class, if there are enough.
MOST_SOURCE, MOST_TARGET = 20, 3
# Methods that a new study adds if its tables share columns.
BRIDGE_METHODS = ("shared-columns", "shared-columns-plus", "cdspp-bridge")
Sizes = Mapping[str, Mapping[str, int]]
Direction = tuple[str | None, str | None]  # source and target, None by default


@dataclass(frozen=True)
class StudyData:
    """Images, texts or tables for a new study; `sizes` has source and target first.

    `bridge` lists methods for the `equal` columns, those with the same name, if the
    tables share any. Others are `similar`; `n_paired` unlabelled ids are in all tables.
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
        classes = f"{counted(len(_common_classes(self.sizes)), 'class')} in common"
        head = f"{self.entry['id']}: {self.kind}, {domains}, {classes}"
        return "\n".join([head, *(f"  {line}" for line in self.remarks)])

    def labels(self) -> dict[str, int]:
        """Return labelled samples per class; half of the target's are for testing."""
        source, target, *_ = self.sizes.values()
        return {
            "source": min(MOST_SOURCE, max(source.values())),
            "target": min(MOST_TARGET, min(target.values()) // 2),
        }


def valid_id(text: str) -> str:
    """Return the valid domain name nearest to a text: lab-a for "Lab A"."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def read_folder(name: str, folder: str, direction: Direction) -> StudyData:
    """Read a folder ``<domain>/<class>/<file>``; DataError lists all faults."""
    from cdspp.datasets import FolderDataset

    data = FolderDataset(name, folder)
    sizes, lines, faults = data.contents(), [], list[str]()
    for domain in sizes:
        if valid_id(domain) != domain:
            hint = f", for instance {valid_id(domain)}" if valid_id(domain) else ""
            path = Path(folder) / domain
            faults.append(f"{path}: {NEEDED}. Rename the folder{hint}.")
    _raise_faults(folder, [*faults, *_size_faults(sizes, direction)])
    for domain, class_sizes in sizes.items():
        numbers = class_sizes.values()
        extremes = dict.fromkeys([min(numbers), max(numbers)])
        per_class = f"{' to '.join(map(str, extremes))} per class"
        lines.append(f"{domain}: {sum(numbers)} {data.kind}, {per_class}")
    entry = {"id": name, "folder": folder}
    return StudyData(data.kind, sizes, entry, (*lines, *data.notes()))


def read_tables(
    name: str,
    tables: Sequence[tuple[str, str]],
    columns: Sequence[Columns],
    direction: Direction = (None, None),
) -> StudyData:
    """Read tables, each with its domain and format; DataError lists all faults."""
    from cdspp.datasets.table_rows import gather_rows, read_domain, require_dropped

    names = [valid_id(title) for title, _ in tables]
    paths = [path for _, path in tables]
    rows_of, faults = gather_rows(read_domain, zip(paths, columns, strict=True))
    faults = [*_table_faults(tables, names), *faults]
    try:
        require_dropped(() if faults else columns[0].drop, rows_of)
    except DataError as error:
        faults.append(str(error))
    _raise_faults(name, faults)
    counts = (Counter(sorted(filter(None, rows.labels))) for rows in rows_of)
    sizes = dict(zip(names, counts, strict=True))
    require_distinct(sizes)
    faults = [*_size_faults(sizes, direction)]
    if all(sizes.values()) and not _common_classes(sizes):
        faults += no_common_class(sizes) or ["no class occurs in all tables"]
    _raise_faults(name, faults)
    lines = map(_table_text, tables, names, rows_of)
    keys = ("label", "id", *command.FORMATS)
    entry: dict[str, Any] = {
        "id": name,
        "tables": dict(zip(names, paths, strict=True)),
        "columns": _nonempty({key: _by_domain(key, names, columns) for key in keys}),
        "drop": list(columns[0].drop),
        "impute": not all(np.isfinite(rows.X).all() for rows in rows_of),
    }
    order = [rows_of[names.index(k)] for k in _in_order(names, direction) if k in names]
    notes, bridge = _bridge(order)
    return StudyData("tables", sizes, _nonempty(entry), (*lines, *notes), **bridge)


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

    table_pairs = combinations(tables, 2)
    pairs = [table_bridge.shared_columns(None, *pair)[:2] for pair in table_pairs]
    shared = (pairs[0][0] if all(places for places, _ in pairs) else None) or []
    notes = [note.partition(" (--")[0] for _, note in pairs] if shared else []
    blank = ({k for k, y in zip(t.ids, t.labels, strict=True) if not y} for t in tables)
    return notes, {
        "bridge": BRIDGE_METHODS if shared else (),
        "equal": tuple(tables[0].features[place] for place, _ in shared),
        "similar": tuple(table_bridge.propose_columns(tables[0], tables[1], shared)),
        "n_paired": len(table_bridge.common_ids(*tables).intersection(*blank)),
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
            yield f"--table {title}={path}: {NEEDED}, got {title!r}. Choose a name."
    for domain, count in Counter(filter(None, names)).items():
        if count > 1:
            yield f"--table: {count} domains would be named {domain}. Rename one."


def _size_faults(sizes: Sizes, direction: Direction) -> Iterator[str]:
    if len(sizes) < 2:
        domains = ", ".join(sizes) or "none"
        yield f"expected at least two domains, a source and a target, got {domains}."
    for domain, classes in sizes.items():
        if not classes:
            yield f"{domain}: no labelled row. Name the label column with --label."
        elif len(classes) < 2:
            yield f"{domain}: expected at least two classes, got {', '.join(classes)}."
    for target in _in_order(sizes, direction)[1:2]:
        small = [label for label, size in sizes.get(target, {}).items() if size < 2]
        if small:
            needs = "two labelled samples per class, one of them to test"
            yield f"{target}: a target needs {needs}; {', '.join(small)} has one."


def _common_classes(sizes: Sizes) -> set[str]:
    return set.intersection(*map(set, sizes.values())) if sizes else set()


def _raise_faults(name: str, faults: Sequence[str]) -> None:
    if faults:
        lines = "\n".join(f"  - {fault}" for fault in faults)
        lines = lines.replace(": --impute", ", to be imputed")  # which init requests
        raise DataError(f"{name}: {counted(len(faults), 'problem')}:\n{lines}")


def study_text(
    name: str,
    data: StudyData,
    methods: Sequence[Any] = (),
    reference: str | None = None,
) -> str:
    """Return the study file for some data; its benchmark has the study's name."""
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
        name=name,
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
    from cdspp.core.files import atomic

    command.need_package("jinja2", "cdspp init", command.STUDY_EXTRA)
    name, path = arguments.name, Path(f"{arguments.name}.yaml")
    if not name or valid_id(name) != name:
        raise ConfigError(f"cdspp init: name of the study: {NEEDED}, got {name!r}.")
    tables = [Path(file) for _, file in arguments.table or ()]
    command.check_outputs([path], tables, force=arguments.force)
    data = _read_data(arguments)
    for option in ("source", "target"):
        domain = getattr(arguments, option)
        if domain is not None and domain not in data.sizes:
            message = f"cdspp init: --{option} must be one of {', '.join(data.sizes)}"
            hint = did_you_mean(domain, data.sizes)
            raise ConfigError(f"{message}, got {domain!r}{hint}")
    if arguments.source is not None and arguments.source == arguments.target:
        raise ConfigError(f"cdspp init: source and target are both {arguments.source}.")
    order = _in_order(data.sizes, (arguments.source, arguments.target))
    data = replace(data, sizes={domain: data.sizes[domain] for domain in order})
    source, target, *_ = order
    text = study_text(name, data, arguments.method, arguments.reference)
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        try:
            study = read_study([temporary])
        except ConfigError as error:
            raise ConfigError(f"{path} was not written: {error}") from error
    return (
        f"{data}\n"
        f"Source: {source}, target: {target}. Others: --source, --target\n"
        f"Reference: {study.reference}. Others: --reference\n"
        f"Written: {path}. Forecast of its cost: cdspp plan {path}\n"
        f"Next: {study_command([path])}"
    )


def _read_data(arguments: Namespace) -> StudyData:
    from cdspp.cli.rows import columns_of

    direction = arguments.source, arguments.target
    if arguments.table:
        domains = [valid_id(title) for title, _ in arguments.table]
        order = _in_order(domains, direction)
        roles = dict(zip(order, ("source", "target"), strict=False))
        columns = [columns_of(arguments, roles.get(name, "")) for name in domains]
        data = read_tables(arguments.name, arguments.table, columns, direction)
    elif arguments.label or arguments.id or arguments.drop:
        fault = "--label, --id and --drop are for tables"
        raise ConfigError(f"cdspp init: {fault}; omit them with --folder.")
    else:
        data = read_folder(arguments.name, arguments.folder, direction)
    entry = {**data.entry, "keep_labels": arguments.keep_label}
    return replace(data, entry=_nonempty(entry))


def _in_order(domains: Iterable[str], direction: Direction) -> list[str]:
    """Return source, target and the other domains; by default in their order."""
    source, target = direction
    candidates = (name for name in domains if name not in (source, target))
    pair = [source or next(candidates, ""), target or next(candidates, "")]
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


def _fetch(arguments: Namespace) -> str:
    from cdspp.datasets.base import record_path
    from cdspp.datasets.catalogue import load_catalogue
    from cdspp.datasets.resources import fetch_resource

    catalogue = arguments.catalogue or workflow_folder() / "resources/datasets.yaml"
    entries = load_catalogue(catalogue).items()
    datasets = {k: entry["resources"] for k, entry in entries if entry.get("resources")}
    name = arguments.dataset
    if name is None:
        return "\n".join(f"{key:20}{' '.join(each)}" for key, each in datasets.items())
    if name not in datasets:
        hint = did_you_mean(name, datasets)
        raise DataError(f"no published data set {name!r}{hint} List: cdspp fetch.")
    lines, faults = [], []
    options = {"catalogue": catalogue, "mirror": arguments.mirror}
    for resource in arguments.resource or datasets[name]:
        output = record_path(arguments.data, name, resource)
        try:
            fetch_resource(dataset=name, resource=resource, output=output, **options)
            lines.append(f"{name}, {resource}: {output}")
        except DataError as error:
            logging.getLogger(__name__).error("%s", error)
            faults.append(resource)
    if faults:
        message = f"{name}: could not fetch {', '.join(faults)}"
        raise DataError(f"{message}. The lines above say why.")
    return "\n".join(lines)


def add_commands(commands: Any) -> None:
    """Add the commands that come before a study."""
    command.add_command(commands, "fetch", _fetch, command.STUDY_EXTRA)
    converters = {"table": _table, "method": _method}
    command.add_command(commands, "init", _init, command.STUDY_EXTRA, **converters)
