"""Shared information: columns with the same meaning, objects in both domains."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import BridgeWarning, UnitWarning
from cdspp.core.linalg import dense, n_rows
from cdspp.core.wording import counted

SAME_NAMES = "same-names"
SHARED, PAIRS = "shared_columns", "paired_rows"  # as in `bridges` of a method
SIDES = "source", "target"
# Spreads of a quantity in the same unit rarely differ by more, but cm and mm do.
MAX_SPREAD_RATIO = 5.0
MIN_ROWS = 10

Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Bridge:
    """The validated shared information: positions of columns, and paired rows."""

    source: Positions
    target: Positions
    pairs_source: Any = None  # dense or CSR
    pairs_target: Any = None
    one_domain: bool = False  # whether the target serves as its own source

    @property
    def n_pairs(self) -> int:
        """Number of paired rows."""
        return 0 if self.pairs_source is None else int(self.pairs_source.shape[0])

    def map_rows(self, source: Any, target: Any) -> Bridge:
        """Return a copy with paired rows mapped like the rows of their domains."""
        if not self.n_pairs:
            return self
        return replace(
            self,
            pairs_source=source(self.pairs_source),
            pairs_target=target(self.pairs_target),
        )


def check_bridge(shared_columns: Any, paired_rows: Any) -> None:
    """Raise ValueError if columns or pairs are malformed, as far as a source shows."""
    if shared_columns is not None and (sides := _sides(shared_columns)):
        for side, columns in zip(SIDES, sides, strict=True):
            if repeats := [column for column, n in Counter(columns).items() if n > 1]:
                raise ValueError(
                    f"shared_columns: the {side} column {repeats[0]!r} is given twice. "
                    "Pair each column at most once."
                )
    if paired_rows is None:
        return
    numbers = [n_rows(part) or 0 for part in paired_rows]
    if len(numbers) != 2:
        raise ValueError(
            "paired_rows: expected two arrays, (rows of the source's features, rows "
            f"of the target's features), got {counted(len(numbers), 'part')}."
        )
    n_source, n_target = numbers
    if n_source != n_target:
        raise ValueError(
            f"paired_rows: {counted(n_source, 'row')} of the source, but {n_target} of "
            "the target. Row k of both must describe the same object."
        )


def bridge_error(model: Any, kind: str, example: str, option: str) -> ValueError:
    """Return the error for a model whose source has no shared information of a kind."""
    return ValueError(
        f"{type(model).__name__} needs {kind}: pass SourceDomain(X, y, {example}), or "
        f"give a command the option {option}."
    )


def check_shared_names(source: Any, domains: tuple[Any, Any], target: Any) -> None:
    """Raise ValueError if a side lacks a shared column, also in methods that use none.

    Equal names are not sought, because rows without names have none.
    """
    shared = None if source is None else source.shared_columns
    if shared is not None and not isinstance(shared, str):
        shared_positions(shared, domains, (source.X, target))


def read_bridge(
    source: Any,
    domains: tuple[Any, Any],
    originals: tuple[Any, Any],
    check_rows: Callable[..., Any],
) -> Bridge:
    """Return what a source domain and the target share.

    `domains` are the validated rows of source and target, `originals` the rows as
    passed, whose columns may have names; `check_rows` validates paired rows.
    """
    positions = shared_positions(source.shared_columns, domains, originals)
    if text := spread_text(domains, positions, [*map(column_names, originals)]):
        warnings.warn(f"{text}.", UnitWarning, stacklevel=4)
    if source.paired_rows is None or not (n_pairs := n_rows(source.paired_rows[0])):
        return Bridge(*positions)
    parts: list[Any] = []
    is_distinct = np.ones(n_pairs, dtype=bool)
    sides = zip(SIDES, source.paired_rows, domains, originals, strict=True)
    for side, rows, X, frame in sides:
        names, own = column_names(frame), column_names(rows)
        if names is not None and own is not None and names != own:
            raise ValueError(
                f"paired_rows: the {side} side has other columns than the rows of the "
                f"{side}. Give the same columns in the same order."
            )
        checked = check_rows(rows, input_name=f"paired_rows of the {side}")
        if checked.shape[1] != X.shape[1]:
            raise ValueError(
                f"paired_rows: the {side} side has "
                f"{counted(checked.shape[1], 'column')}, expected {X.shape[1]}."
            )
        parts.append(checked)
        is_distinct &= _distinct_pairs(side, checked, X)
    if not is_distinct.any():
        raise ValueError(
            f"paired_rows: all of {counted(n_pairs, 'pair')} equal a row of the source "
            "or of the target, but paired objects must not be in either domain. Remove "
            "these rows from both domains, or give other pairs."
        )
    return Bridge(*positions, *(part[is_distinct] for part in parts))


def _sides(shared_columns: Any) -> tuple[list[Any], list[Any]] | None:
    """Return the columns of source and target; None for equal names."""
    expected = f"expected {SAME_NAMES!r} or pairs (source column, target column)"
    if isinstance(shared_columns, str):
        if shared_columns == SAME_NAMES:
            return None
        raise ValueError(f"shared_columns: {expected}, got {shared_columns!r}.")
    sides: tuple[list[Any], list[Any]] = ([], [])
    for pair in shared_columns:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"shared_columns: {expected}, got {pair!r} among them.")
        for side, column in zip(sides, pair, strict=True):
            side.append(column)
    return sides


def column_names(frame: Any) -> list[str] | None:
    """Return the column names of a data frame, None for other rows."""
    columns = getattr(frame, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def shared_positions(
    shared_columns: Any, domains: tuple[Any, Any], originals: tuple[Any, Any]
) -> tuple[Positions, Positions]:
    """Return the positions of shared columns in source and target."""
    names = column_names(originals[0]), column_names(originals[1])
    sides = ([], []) if shared_columns is None else _sides(shared_columns)
    if sides is None:
        if names[0] is None or names[1] is None:
            raise ValueError(
                f"shared_columns={SAME_NAMES!r} needs data frames on both sides, whose "
                "columns have names. Give pairs of column numbers instead."
            )
        target_names = set(names[1])
        in_both = [name for name in names[0] if name in target_names]
        sides = in_both, in_both
        if not in_both:
            raise ValueError(
                "shared_columns: no column has the same name in both domains. Give "
                "pairs (source column, target column), or None."
            )
    widths = [X.shape[1] for X in domains]
    source, target = map(_positions, sides, SIDES, names, widths)
    return source, target


def _positions(
    columns: Sequence[Any], side: str, names: Sequence[str] | None, width: int
) -> Positions:
    """Return the positions of columns given by number or by name."""
    by_name = {name: position for position, name in enumerate(names or ())}
    repeated = {name for name, n in Counter(names or ()).items() if n > 1}

    def position(column: Any) -> int:
        if isinstance(column, Integral) and not isinstance(column, bool):
            if 0 <= int(column) < width:
                return int(column)
            fault = f"no column {column}, its columns are 0 to {width - 1}."
        elif names is None:
            fault = f"no column names. Give a number instead of {column!r}."
        elif str(column) in repeated:
            fault = f"two columns {column!r}. Give a number instead."
        elif str(column) in by_name:
            return by_name[str(column)]
        else:
            fault = f"no column {column!r}{did_you_mean(column, names)}"
        raise ValueError(f"shared_columns: the {side} has {fault}")

    positions = [position(column) for column in columns]
    if len(set(positions)) < len(positions):
        raise ValueError(
            f"shared_columns: a {side} column is given twice, by number and by name."
        )
    return np.array(positions, dtype=np.intp)


def _distinct_pairs(side: str, pairs: Any, X: Any) -> NDArray[np.bool_]:
    """Return a mask of paired rows that differ from all rows of their domain."""
    keys = list(row_keys(pairs))
    pair_keys = set(filter(None, keys))
    keys_in_domain = {key for key in row_keys(X) if key in pair_keys}
    distinct = np.array([key not in keys_in_domain for key in keys])
    if not distinct.all():
        matching = f"{np.sum(~distinct)} of {counted(len(distinct), 'pair')}"
        warnings.warn(
            f"paired_rows: {matching} equal a row of the {side} (first: pair "
            f"{np.argmin(distinct)}) and are ignored: paired objects must not be in "
            "either domain.",
            BridgeWarning,
            stacklevel=5,
        )
    return distinct


def row_keys(X: Any) -> Iterator[bytes]:
    """Yield bytes that identify each row by its values; none for a row of zeros."""
    if issparse(X):
        X = X.tocsr().sorted_indices()
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            positions = X.indices[start:stop].astype(np.int64)
            yield positions.tobytes() + X.data[start:stop].tobytes()
        return
    for row in X:
        yield (row + 0.0).tobytes() if row.any() else b""  # -0.0 is 0.0


def spread_text(
    domains: tuple[Any, Any],
    positions: tuple[Positions, Positions],
    names: Sequence[Sequence[str] | None],
) -> str:
    """Return a note on shared columns with probably different units; else empty."""
    if min(X.shape[0] for X in domains) < MIN_ROWS or not len(positions[0]):
        return ""
    spreads = [_spread(X[:, at]) for X, at in zip(domains, positions, strict=True)]
    low, high = np.minimum(*spreads), np.maximum(*spreads)
    differing = np.flatnonzero((low > 0) & (high > MAX_SPREAD_RATIO * low))
    if not len(differing):
        return ""

    def describe(side: int, k: int) -> str:
        column, columns = positions[side][k], names[side]
        values = domains[side][:, [column]]
        median = np.median(dense(values))
        return (
            f"{SIDES[side]} column {columns[column] if columns else column}: median "
            f"{median:.3g}, spread {spreads[side][k]:.3g}"
        )

    shown = "; ".join(f"{describe(0, k)}, {describe(1, k)}" for k in differing[:3])
    return (
        f"{len(differing)} of {counted(len(low), 'shared column')} differ in spread by "
        f"more than a factor of {MAX_SPREAD_RATIO:.0f} ({shown}). Equal names need not "
        "mean equal units: convert them, standardise each domain by itself, or do not "
        "share them"
    )


def _spread(X: Any) -> np.ndarray:
    """Return the deviation of each column; of sparse ones, the root mean square."""
    with np.errstate(over="ignore", invalid="ignore"):  # may be infinite or NaN
        if not issparse(X):
            return np.asarray(X.std(axis=0))
        stored = np.maximum(np.diff(X.tocsc().indptr), 1)
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
        return np.asarray(np.sqrt(squares / stored))
