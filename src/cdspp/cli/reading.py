"""What the commands on one's own files share: options of reading, rows, a summary."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from cdspp.core.names import NO_SCALE, SCALES

if TYPE_CHECKING:
    from cdspp.datasets.table_rows import DomainRows

__all__ = ["add_column_options", "add_reading", "add_scale", "read_both", "tell"]


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
    """Add the options that say what the columns of a file are called."""
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


def add_scale(command: argparse.ArgumentParser, default: str = NO_SCALE) -> None:
    """Add the option that says how features are scaled."""
    command.add_argument(
        "--scale",
        choices=SCALES,
        default=default,
        help="of the features of each file: rows of unit length, columns of mean 0 and "
        "deviation 1, or at most 50 principal components (%(default)s)",
    )


def read_both(
    arguments: argparse.Namespace,
) -> tuple[DomainRows, DomainRows | None]:
    """Return the rows of target and source, all finite, with the columns asked for."""
    from cdspp.datasets.table_files import Columns
    from cdspp.datasets.table_rows import complete, read_domain, require_dropped

    names = (arguments.label, arguments.id, tuple(arguments.drop))
    target = read_domain(arguments.target, Columns(*names, ("label", "id")))
    read = [target]
    if arguments.source:
        # Nothing is written of source rows: their identifiers may lack.
        read.append(read_domain(arguments.source, Columns(*names, ("label",))))
    require_dropped(names[2], read)
    target, *sources = (complete(rows, impute=arguments.impute) for rows in read)
    return target, sources[0] if sources else None


def tell(target: DomainRows, source: DomainRows | None) -> list[str]:
    """Say what was read: rows, labels, features, and the classes in common."""
    if source is None:
        return [target.told("target")]
    ours, theirs = ({x for x in rows.labels if x} for rows in (target, source))
    common = f"{len(ours & theirs)} in common"
    return [target.told("target"), f"{source.told('source')}; classes: {common}"]
