"""What two of the user's tables share besides labels."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import BridgeWarning, DataError
from cdspp.core.wording import counted, shortened
from cdspp.datasets.table_columns import number
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import TABLE_SPECIFIC, DomainRows, complete, read_domain

SAME_NAMES, NONE = "same-names", "none"
Rows = NDArray[np.float64]
Places = list[tuple[int, int]]


def shared_columns(
    asked: str | None, source: DomainRows, target: DomainRows
) -> tuple[Places | None, str, Rows]:
    """Return pairs of columns that both tables share, a note, and source factors.

    `asked` is "same-names", "none" or pairs ``a=b,c=d*10`` of a source and a target
    column, perhaps times a number: in the source's unit; "same-names" may be among the
    pairs. By default columns of equal names are shared, unless these only count. Times
    its factor, each source column is in the unit of the target.
    """
    factors, note = np.ones(source.X.shape[1]), ""
    texts = re.split(r"\s*,\s*", asked or SAME_NAMES) if asked != NONE else []
    pairs = [_named_pair(x, source, target) for x in texts if x != SAME_NAMES]
    if SAME_NAMES in texts:
        both = _same_names(asked, source, target)
        places = zip(source.places(both), target.places(both), strict=True)
        pairs = [*((*pair, 1.0) for pair in places), *pairs]
        have = "has" if len(both) == 1 else "have"
        note = (
            f"shared: {counted(len(both), 'column')} {have} the same name in both: "
            f"{shortened(both)} (--shared {NONE} leaves them apart)"
        )
    if not pairs:
        return None, "", factors
    for column, _, times in pairs:
        factors[column] /= times
    return [pair[:2] for pair in pairs], note, factors


def _same_names(asked: str | None, source: DomainRows, target: DomainRows) -> list[str]:
    theirs = set(target.features)
    same = [name for name in source.features if name in theirs]
    specific = source.table_specific | target.table_specific
    both = [name for name in same if name not in specific]
    if apart := [name for name in same if name in specific]:
        text = f"not shared: {shortened(apart)}: {TABLE_SPECIFIC}"
        warnings.warn(text, BridgeWarning, stacklevel=2)
    opened = [re.fullmatch(r"(.*?)\d+", name) for name in both]
    only_count = all(opened) and len({each[1] for each in opened if each}) == 1
    if asked is None and only_count:
        return []
    if asked and not both:
        fault = f"no column of {source.path} has the name of one of {target.path}"
        remedy = f"Give pairs a=b, or --shared {NONE}."
        raise DataError(f"--shared {SAME_NAMES}: {fault}. {remedy}")
    return both


def _named_pair(
    text: str, source: DomainRows, target: DomainRows
) -> tuple[int, int, float]:
    names, times = [name.strip() for name in text.split("=")], 1.0
    if len(names) == 2 and names[1] not in target.features and "*" in names[1]:
        names[1], _, times_text = map(str.strip, names[1].rpartition("*"))
        times = number(times_text)
    if len(names) != 2 or not 0 < times < math.inf:
        expected = f"{SAME_NAMES}, {NONE} or pairs like age=years or mm=cm*10"
        raise DataError(f"--shared: expected {expected}, got {text!r}.")
    for name, rows in zip(names, (source, target), strict=True):
        if name not in rows.features:
            hint = did_you_mean(name, rows.features)
            raise DataError(f"{rows.path}: no feature {name!r} for --shared{hint}")
        if name in rows.table_specific:
            raise DataError(f"{rows.path}: --shared {text}: {TABLE_SPECIFIC}")
    return source.features.index(names[0]), target.features.index(names[1]), times


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
    n, width = rows.X.shape[1], domain.X.shape[1]
    if rows.features and domain.features:
        rows = in_order(rows, domain.features, domain.path)
    elif n != width:
        message = f"{rows.path}: {counted(n, 'feature')}, but {domain.path}"
        raise DataError(f"{message} has {width}.")
    return complete(rows, impute=impute)


def in_order(rows: DomainRows, names: Sequence[str], owner: str) -> DomainRows:
    """Return rows with the features of an owner, in its order."""
    known = set(rows.features)
    if lacking := [name for name in names if name not in known]:
        text = f"lacks {counted(len(lacking), 'feature')} of {owner}"
        raise DataError(f"{rows.path}: {text}: {shortened(lacking)}.")
    X = rows.X[:, rows.places(names)]
    return replace(rows, X=X, features=tuple(names))
