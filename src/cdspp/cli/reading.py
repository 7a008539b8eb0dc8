"""What the commands on one's own files share: options of reading, rows, a summary."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from cdspp.core.names import NO_SCALE, SCALES

if TYPE_CHECKING:
    from cdspp.datasets.table_rows import DomainRows

__all__ = [
    "add_bridge",
    "add_column_options",
    "add_reading",
    "add_scale",
    "bridge_of",
    "read_both",
    "tell",
]


def add_reading(command: argparse.ArgumentParser) -> None:
    """Add the options that say how files are read."""
    add_column_options(command, "NAME", "; among arrays see below")
    command.add_argument(
        "--impute",
        action="store_true",
        help="numbers that are missing or not finite become the mean of their column",
    )


def add_column_options(
    command: argparse.ArgumentParser, metavar: str, hint: str = ""
) -> None:
    """Add the options that say what columns and labels of a file are."""
    for name, what in (("label", "labels"), ("id", "identifiers")):
        command.add_argument(
            f"--{name}",
            metavar=metavar,
            help=f"the column of the {what} ({name}{hint})",
        )
    command.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar=metavar,
        help="a column to leave out; may be repeated",
    )
    command.add_argument(
        "--keep-label",
        action="append",
        default=[],
        metavar="LABEL",
        help="a class as it is written, though it looks like a missing label (NA) or "
        "differs from another in capitals alone; may be repeated",
    )


def add_scale(command: argparse.ArgumentParser, default: str = NO_SCALE) -> None:
    """Add the option that says how features are scaled."""
    command.add_argument(
        "--scale",
        choices=SCALES,
        default=default,
        help="of the features of each file: rows of unit length, columns of mean 0 and "
        "deviation 1, or at most 50 principal components (%(default)s)",
    )


def add_bridge(command: argparse.ArgumentParser) -> None:
    """Add the options that say what both files share besides labels."""
    command.add_argument(
        "--shared",
        metavar="HOW",
        help="columns of one meaning and unit in both files: same-names, none, or "
        "pairs a=b,c=d of a source column and a target column (same-names where the "
        "files have any)",
    )
    command.add_argument(
        "--paired",
        nargs=2,
        metavar=("SOURCE_FILE", "TARGET_FILE"),
        help="objects described in both ways, in the columns of either file: joined by "
        "their identifiers, or row by row where there are none; no label is needed",
    )


def bridge_of(
    arguments: argparse.Namespace,
    target: DomainRows,
    source: DomainRows | None,
    kinds: Collection[str],
) -> tuple[dict[str, Any], list[str]]:
    """Return what both files share besides labels, and what is to be said of it.

    `kinds` are the parts of a bridge that are of use.
    """
    from cdspp.datasets.table_bridge import read_pairs, shared_columns
    from cdspp.methods.bridge import PAIRS, SHARED

    told: list[str] = []
    bridge: dict[str, Any] = {}
    if source is None:
        return bridge, told
    if SHARED in kinds:
        bridge[SHARED], note = shared_columns(arguments.shared, source, target)
        told += [note] * bool(note)
    if PAIRS in kinds and arguments.paired:
        names = (arguments.label, arguments.id, tuple(arguments.drop))
        bridge[PAIRS], note = read_pairs(
            arguments.paired, (source, target), names, impute=arguments.impute
        )
        told.append(note)
    return bridge, told


def read_both(
    arguments: argparse.Namespace,
) -> tuple[DomainRows, DomainRows | None]:
    """Return the rows of target and source, all finite, with the columns asked for."""
    from cdspp.core.labels import require_distinct
    from cdspp.datasets.table_files import Columns
    from cdspp.datasets.table_rows import complete, read_domain, require_dropped

    names = (arguments.label, arguments.id, tuple(arguments.drop))
    target = read_domain(arguments.target, Columns(*names, ("label", "id")))
    read = [target]
    if arguments.source:
        # Nothing is written of source rows: their identifiers may lack.
        read.append(read_domain(arguments.source, Columns(*names, ("label",))))
    require_dropped(names[2], read)
    target.require_distinct_ids()  # predictions are written by these
    require_distinct({rows.path: rows.labels for rows in read})
    target, *sources = (complete(rows, impute=arguments.impute) for rows in read)
    return target, sources[0] if sources else None


def tell(target: DomainRows, source: DomainRows | None) -> list[str]:
    """Say what was read: rows, labels, features, and the classes in common."""
    if source is None:
        return [target.told("target")]
    ours, theirs = ({x for x in rows.labels if x} for rows in (target, source))
    common = f"{len(ours & theirs)} in common"
    return [target.told("target"), f"{source.told('source')}; classes: {common}"]
