"""The command `cdspp inspect`: what is believed of files before anything is fitted."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cdspp.analysis.inspection import (
    Inspection,
    doubt_lines,
    inspect_file,
    values_text,
    wrapped,
)
from cdspp.cli import command, rows
from cdspp.core.errors import ConfigError, refusals
from cdspp.core.labels import (
    class_table,
    require_common,
    require_distinct,
    require_used,
)
from cdspp.core.outputs import together
from cdspp.core.wording import aligned
from cdspp.datasets import table_rows
from cdspp.datasets.table_bridge import shared_columns


def _inspect(arguments: Namespace) -> str:
    paths: list[Path] = arguments.file
    command.check_outputs([arguments.page], paths, force=arguments.force)
    folders = [path for path in paths if path.is_dir()]
    if folders and len(paths) > 1:
        fault = f"{folders[0]} is a folder, whose domains are inspected together"
        raise ConfigError(f"cdspp inspect: {fault}. Name only it, or only files.")
    found: list[Any] = []
    if folders:
        from cdspp.analysis.folder_inspection import inspect_folder

        found.append(inspect_folder(paths[0], arguments.keep_label))
    else:
        found += _inspect_tables(paths, arguments)
    shared = _shared(*found) if len(found) == 2 else {}
    if arguments.page:
        _write_page(arguments, found, shared)
    if arguments.json:
        content: dict[str, Any] = {"files": [each.to_dict() for each in found]}
        return command.json_text(content | ({"both": shared} if shared else {}))
    page = [f"Page: {arguments.page}"] if arguments.page else []
    return "\n".join([*_lines(found, shared), *page]).rstrip()


def _inspect_tables(paths: Sequence[Path], arguments: Namespace) -> list[Inspection]:
    roles = ("source", "target", *[""] * len(paths))
    found = [
        inspect_file(
            path,
            rows.columns_of(arguments, role),
            impute=arguments.impute,
            of_source=role == "source",
        )
        for path, role in zip(paths, roles, strict=False)
    ]
    tables = [each.rows for each in found]
    table_rows.require_dropped(arguments.drop, tables)
    seen = frozenset[str]().union(*(each.label_column.seen for each in tables))
    require_used(seen, map(str, paths))
    return found


def _shared(one: Inspection, other: Inspection) -> dict[str, Any]:
    """Return what a source and a target are believed to share, suitable for JSON."""
    source, target = one.rows, other.rows
    places, _, _ = shared_columns(None, source, target)
    pairs = [(source.features[i], target.features[j]) for i, j in places or ()]
    ranges = [
        {column["name"]: values_text(column) for column in each.beliefs["columns"]}
        for each in (one, other)
    ]
    labels = {each.path: [*filter(None, each.labels)] for each in (target, source)}
    checks: list[Callable[[], object]] = [lambda: require_distinct(labels)]
    if all(labels.values()):
        labelled = source.without_declared()
        checks.append(lambda: require_common(labels, "--map-labels FILE"))
        checks.append(lambda: labelled.require_labels(of_all=True))
    doubtful = [source.copy_note(target) or target.copy_note(source)]
    doubtful += rows.unit_notes(source, target, places or [])
    doubtful += rows.column_suggestions(source, target, places or [])
    doubtful += rows.id_suggestions(source, target)
    return {
        "columns": [
            {"source": a, "target": b, "ranges": [ranges[0][a], ranges[1][b]]}
            for a, b in pairs
        ],
        "classes": {each.rows.path: each.beliefs["labels"] for each in (one, other)},
        "refused": [*refusals(*checks)],
        "doubtful": [text.removeprefix("note: ") for text in doubtful if text],
    }


def _lines(found: Sequence[Any], shared: dict[str, Any]) -> Iterator[str]:
    for each in found:
        yield from each.lines()
        yield ""
        left = range(len(each.grid()[0]))
        yield from (f"  {line}" for line in aligned(each.grid(), left))
        yield ""
    if shared:
        yield from _shared_lines(shared)


def _shared_lines(shared: dict[str, Any]) -> Iterator[str]:
    """Yield the classes of both files, and the columns that they share."""
    paths = [*shared["classes"]]
    yield from wrapped(f"{paths[0]} as the source, {paths[1]} as the target:")
    if any(shared["classes"].values()):
        yield f"  classes{class_table(shared['classes'])}"
    yield from doubt_lines(shared["refused"], shared["doubtful"])
    if shared["columns"]:
        heads = ["shared column", "source", "target"]
        cells = [[of["source"], *of["ranges"]] for of in shared["columns"]]
        yield from (f"  {line}" for line in aligned([heads, *cells], range(3)))
    else:
        yield "  no column has the same name in both"


def _write_page(arguments: Namespace, found: Sequence[Any], shared: Any) -> None:
    from cdspp.report.page.page import write_inspection

    command.need_package("jinja2", "--page")
    views: list[tuple[str, list[str]]] = []
    if found[0].beliefs.get("kind") == "images" and not found[0].refused:
        from cdspp.analysis.folder_inspection import pictures

        views += pictures(found[0].data)
    parts = [("\n".join(each.lines()), each.grid()) for each in found]
    if shared:
        parts.append(("\n".join(_shared_lines(shared)), []))
    with together([arguments.page], replace=arguments.force):
        write_inspection(parts, views, arguments.page)


def add_commands(commands: Any) -> None:
    """Add ``cdspp inspect``."""
    command.add_command(commands, "inspect", _inspect)
