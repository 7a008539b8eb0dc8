"""What two of the user's tables share besides labels."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import BridgeWarning, DataError
from cdspp.core.wording import counted, shortened
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import (
    TABLE_SPECIFIC,
    DomainRows,
    complete,
    read_domain,
)

__all__ = ["read_pairs", "shared_columns"]

SAME_NAMES, NONE = "same-names", "none"
Rows = NDArray[np.float64]
Places = list[tuple[int, int]]


def shared_columns(
    asked: str | None, source: DomainRows, target: DomainRows
) -> tuple[Places | None, str]:
    """Return pairs of columns that both tables share, and a note on them.

    `asked` is "same-names", "none" or pairs ``a=b,c=d`` of a source and a target
    column. By default columns of equal names are shared, unless these only count.
    """
    if asked == NONE:
        return None, ""
    if asked not in (None, SAME_NAMES):
        return [_named_pair(text, source, target) for text in asked.split(",")], ""
    theirs = set(target.features)
    same = [name for name in source.features if name in theirs]
    specific = source.table_specific | target.table_specific
    both = [name for name in same if name not in specific]
    if apart := [name for name in same if name in specific]:
        text = f"not shared: {shortened(apart)}: {TABLE_SPECIFIC}"
        warnings.warn(text, BridgeWarning, stacklevel=2)
    opened = [re.fullmatch(r"(.*?)\d+", name) for name in both]
    only_count = all(opened) and len({each[1] for each in opened if each}) == 1
    if asked is None and (not both or only_count):
        return None, ""
    if not both:
        fault = f"no column of {source.path} has the name of one of {target.path}"
        remedy = f"Give pairs a=b, or --shared {NONE}."
        raise DataError(f"--shared {SAME_NAMES}: {fault}. {remedy}")
    have = "has" if len(both) == 1 else "have"
    note = (
        f"shared: {counted(len(both), 'column')} {have} the same name in both: "
        f"{shortened(both)} (--shared {NONE} leaves them apart)"
    )
    return [*zip(source.places(both), target.places(both), strict=True)], note


def _named_pair(text: str, source: DomainRows, target: DomainRows) -> tuple[int, int]:
    names = [name.strip() for name in text.split("=")]
    if len(names) != 2:
        expected = f"{SAME_NAMES}, {NONE} or pairs like age=years"
        raise DataError(f"--shared: expected {expected}, got {text!r}.")
    for name, rows in zip(names, (source, target), strict=True):
        if name not in rows.features:
            hint = did_you_mean(name, rows.features)
            raise DataError(f"{rows.path}: no feature {name!r} for --shared{hint}")
        if name in rows.table_specific:
            raise DataError(f"{rows.path}: --shared {text}: {TABLE_SPECIFIC}")
    return source.features.index(names[0]), target.features.index(names[1])


def read_pairs(
    paths: Sequence[str],
    domains: tuple[DomainRows, DomainRows],
    columns: Sequence[Columns],
    *,
    impute: bool = False,
) -> tuple[tuple[Rows, Rows], str]:
    """Read objects described as source and as target rows, and say how many there are.

    Pairs are joined by identifiers, or row by row where neither file has any.
    """
    read = [
        _like(read_domain(path, how, rows.encoder), rows, impute)
        for path, how, rows in zip(paths, columns, domains, strict=True)
    ]
    left, right = read
    if left.has_ids != right.has_ids:
        lacking = right if left.has_ids else left
        fault = f"{lacking.path} has no column of identifiers, the other file has"
        how = "Pairs are joined by identifiers, or row by row without any."
        raise DataError(f"--paired: {fault}. {how}")
    if not left.has_ids:
        n_rows = counted(len(left.X), "row")
        if len(left.X) != len(right.X):
            fault = f"{left.path} has {n_rows} and {right.path} {len(right.X)}"
            how = "Row k of both has to describe the same object; or name identifiers"
            raise DataError(f"--paired: {fault}. {how} by --id.")
        return (left.X, right.X), f"paired: {n_rows}"
    for rows in read:
        rows.require_distinct_ids()
    places = {name: k for k, name in enumerate(right.ids)}
    both = [(k, places[name]) for k, name in enumerate(left.ids) if name in places]
    if not both:
        fault = f"no identifier of {left.path} is in {right.path}"
        raise DataError(f"--paired: {fault}, for instance {left.ids[0]!r}.")
    ours, theirs = np.transpose(both)
    note = f"paired: {counted(len(both), 'object')} of {len(left.X)} and {len(right.X)}"
    return (left.X[ours], right.X[theirs]), note


def _like(rows: DomainRows, domain: DomainRows, impute: bool) -> DomainRows:
    """Return rows with the features of a domain, in its order."""
    known, (n, width) = set(rows.features), (rows.X.shape[1], domain.X.shape[1])
    if known and domain.features:
        if lacking := [name for name in domain.features if name not in known]:
            text = f"lacks {counted(len(lacking), 'feature')} of {domain.path}"
            raise DataError(f"{rows.path}: {text}: {shortened(lacking)}.")
        X = rows.X[:, rows.places(domain.features)]
        rows = replace(rows, X=X, features=domain.features)
    elif n != width:
        message = f"{rows.path}: {counted(n, 'feature')}, but {domain.path}"
        raise DataError(f"{message} has {width}.")
    return complete(rows, impute=impute)
