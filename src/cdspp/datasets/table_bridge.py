"""Columns and rows that two tables share, or may share, besides labels."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import BridgeWarning, DataError
from cdspp.core.wording import counted, shortened
from cdspp.datasets.table_cells import number
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import TABLE_SPECIFIC, DomainRows, complete, read_domain

SAME_NAMES, NONE = "same-names", "none"
# Classes in scikit-learn's tables differ by 0.79 at most; for 5, see methods.bridge.
MOST_APART, SPREADS_APART = 0.85, 5.0
# Limits for a match by content only: as near as two samples of one distribution, and
# every other column several times as far. No pair of 5496 in unrelated tables passes.
NEAR, OTHERS_APART = 0.15, 4.0
FEWEST_ROWS, FEWEST_VALUES, FEWEST_IDS, MOST_PAIRS = 20, 10, 20, 10_000  # of columns
LEVELS = np.linspace(0.05, 0.95, 19)
# One of ten letters may differ: colour and color, but not height and weight (0.83), or
# hypertension and hypotension (0.87). Short words must be equal: heat is not wheat.
SAME_WORD, SHORT = 0.88, 9
SIZES = {
    "length": {"um": 1e-6, "mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "km": 1e3},
    "mass": {"ug": 1e-6, "mg": 1e-3, "g": 1.0, "kg": 1e3},
    "time": {"ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0},
}
UNITS = {unit: (kind, sizes[unit]) for kind, sizes in SIZES.items() for unit in sizes}
UNIT = re.compile(r"[\s_.([]([a-z]+)[\s\])]*$", re.IGNORECASE)

Rows = NDArray[np.float64]
Places = list[tuple[int, int]]


def shared_columns(
    option: str | None, source: DomainRows, target: DomainRows
) -> tuple[Places | None, str, Rows]:
    """Return pairs of columns that both tables share, a note, and source factors.

    `option` is "same-names", "none" or pairs ``a=b,c=d*10`` of a source and a target
    column, optionally times a number that converts to the source's unit; "same-names"
    may be among the pairs. By default columns of equal names are shared, unless names
    are numbered (f1, f2, ...). Factors convert source columns to the target's units.
    """
    factors, note = np.ones(source.X.shape[1]), ""
    texts = re.split(r"\s*,\s*", option or SAME_NAMES) if option != NONE else []
    pairs = [_named_pair(x, source, target) for x in texts if x != SAME_NAMES]
    if SAME_NAMES in texts:
        names = _same_names(option, source, target)
        places = zip(source.positions(names), target.positions(names), strict=True)
        pairs = [*((*pair, 1.0) for pair in places), *pairs]
        have = "has" if len(names) == 1 else "have"
        note = (
            f"shared: {counted(len(names), 'column')} {have} the same name in both: "
            f"{shortened(names)} (--shared {NONE} leaves them apart)"
        )
    if not pairs:
        return None, "", factors
    for column, _, times in pairs:
        factors[column] /= times
    return [pair[:2] for pair in pairs], note, factors


def _same_names(value: str | None, source: DomainRows, target: DomainRows) -> list[str]:
    target_names = set(target.features)
    common = [name for name in source.features if name in target_names]
    specific = source.table_specific | target.table_specific
    names = [name for name in common if name not in specific]
    if unshared := [name for name in common if name in specific]:
        text = f"not shared: {shortened(unshared)}: {TABLE_SPECIFIC}"
        warnings.warn(text, BridgeWarning, stacklevel=2)
    matches = [re.fullmatch(r"(.*?)\d+", name) for name in names]
    only_count = all(matches) and len({match[1] for match in matches if match}) == 1
    if value is None and only_count:
        return []
    if value and not names:
        fault = f"{source.path} and {target.path} have no column name in common"
        remedy = f"Give pairs a=b, or --shared {NONE}."
        raise DataError(f"--shared {SAME_NAMES}: {fault}. {remedy}")
    return names


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
    """Read objects described as source and as target rows; report their number.

    Pairs are matched by identifiers, or row by row if neither file has any.
    """
    tables = [
        _match_features(read_domain(path, part, rows.encoder), rows, impute)
        for path, part, rows in zip(paths, columns, domains, strict=True)
    ]
    left, right = tables
    if left.has_ids != right.has_ids:
        table = right if left.has_ids else left
        fault = f"{table.path} has no identifier column, but the other file has one"
        remedy = "Give both files identifiers, or neither, to match row by row."
        raise DataError(f"--paired: {fault}. {remedy}")
    if not left.has_ids:
        n_rows = counted(len(left.X), "row")
        if len(left.X) != len(right.X):
            fault = f"{left.path} has {n_rows} and {right.path} {len(right.X)}"
            remedy = "Let row k of both describe the same object, or name identifiers"
            raise DataError(f"--paired: {fault}. {remedy} with --id.")
        return (left.X, right.X), f"paired: {n_rows}"
    for rows in tables:
        rows.require_distinct_ids()
    places = {name: k for k, name in enumerate(right.ids)}
    pairs = [(k, places[name]) for k, name in enumerate(left.ids) if name in places]
    if not pairs:
        fault = f"{left.path} and {right.path} have no identifier in common"
        raise DataError(f"--paired: {fault}; the first has {left.ids[0]!r}.")
    left_rows, right_rows = np.transpose(pairs)
    sizes = f"{len(left.X)} and {len(right.X)}"
    note = f"paired: {counted(len(pairs), 'object')} of {sizes}"
    return (left.X[left_rows], right.X[right_rows]), note


def _match_features(rows: DomainRows, domain: DomainRows, impute: bool) -> DomainRows:
    n, width = rows.X.shape[1], domain.X.shape[1]
    if rows.features and domain.features:
        rows = select_features(rows, domain.features, domain.path)
    elif n != width:
        message = f"{rows.path} has {counted(n, 'feature')}, but {domain.path}"
        raise DataError(f"{message} has {width}. Give both the same columns.")
    return complete(rows, impute=impute)


def select_features(rows: DomainRows, names: Sequence[str], owner: str) -> DomainRows:
    """Return rows with the features `names`, in this order; `owner` has them all."""
    available = set(rows.features)
    if missing := [name for name in names if name not in available]:
        text = f"lacks {counted(len(missing), 'feature')} of {owner}"
        raise DataError(f"{rows.path}: {text}: {shortened(missing)}. Add the columns.")
    X = rows.X[:, rows.positions(names)]
    return replace(rows, X=X, features=tuple(names))


class ColumnName(NamedTuple):
    """A parsed name: its sorted words, and of its unit a kind ("") and a size."""

    text: str
    words: tuple[str, ...]
    kind: str
    size: float

    def agrees(self, other: ColumnName) -> bool:
        """Return whether words agree except for order and spelling, and units fit."""
        if not self.words or len({self.kind, other.kind, ""}) > 2:
            return False
        alike = all(map(_same_word, self.words, other.words))
        return self.text == other.text or alike and len(self.words) == len(other.words)


def read_name(name: str) -> ColumnName:
    """Read a name such as "Mean radius (mm)", meanRadius_mm or mean.radius.mm."""
    unit, kind, size = UNIT.search(name), "", math.nan
    if unit and unit[1].lower() in UNITS:
        name, (kind, size) = name[: unit.start()], UNITS[unit[1].lower()]
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
    words = re.findall(r"[^\W_]+", text)
    return ColumnName("".join(words), tuple(sorted(words)), kind, size)


def _same_word(one: str, other: str) -> bool:
    long = [other] if len(one + other) > SHORT and (one + other).isalpha() else []
    return one == other or bool(get_close_matches(one, long, 1, SAME_WORD))


class ColumnSuggestion(NamedTuple):
    """A source column and a target column that may have the same meaning.

    `distance` is the mean gap of quantiles, after centring by median and scaling.
    """

    source: str
    target: str
    times: float
    similarity: float
    distance: float
    ratio: float

    def __str__(self) -> str:
        """Return the pair in the syntax of `--shared`."""
        times = "" if self.times == 1 else f"*{self.times:.10g}"
        return f"{self.source}={self.target}{times}"

    @property
    def numbers(self) -> str:
        """The three numbers as text."""
        names = f"similarity of names {self.similarity:.2f}, distance of contents "
        return f"{names}{self.distance:.2f}, ratio of spreads {self.ratio:.3g}"


class _Column(NamedTuple):
    name: str
    parsed: ColumnName
    is_free: bool
    has_few: bool  # too few values for quantiles
    curve: NDArray[np.float64]
    spread: float


@np.errstate(all="ignore")  # for huge numbers, which match nothing
def propose_columns(
    source: DomainRows, target: DomainRows, shared: Collection[tuple[int, int]]
) -> list[ColumnSuggestion]:
    """Suggest pairs of columns that are not shared yet, each column at most once.

    Either names agree except for units, case, order and spelling of words, and contents
    do not contradict; or contents agree, and no other column of either file is similar.
    """
    if source.X.shape[1] * target.X.shape[1] > MOST_PAIRS:
        return []
    sources = [*_columns(source, {place for place, _ in shared})]
    targets = [*_columns(target, {place for _, place in shared})]
    gaps = np.array([[_content_gap(a, b) for b in targets] for a in sources])
    candidates = []
    for (i, one), (j, other) in product(enumerate(sources), enumerate(targets)):
        by_name, limit = one.parsed.agrees(other.parsed), OTHERS_APART * gaps[i, j]
        unique = gaps.size > 2 and gaps[i, j] <= NEAR  # one pair is no evidence
        unique &= np.sum(gaps[i] <= limit) + np.sum(gaps[:, j] <= limit) == 2
        if one.is_free and other.is_free and (by_name or unique):
            pair, is_likely = _compare(one, other)
            if is_likely:
                candidates.append((-pair.similarity * by_name, pair.distance, pair))
    pairs: list[ColumnSuggestion] = []
    for *_, pair in sorted(candidates):
        if all(pair[side] != each[side] for each in pairs for side in (0, 1)):
            pairs.append(pair)
    return pairs


def _content_gap(one: _Column, other: _Column) -> float:
    """Return the mean gap of raw quantiles; infinite if they are too few."""
    if one.has_few or other.has_few or one.parsed[2:] != other.parsed[2:]:
        return math.inf
    return float(np.abs(one.curve - other.curve).mean() / max(one.spread, other.spread))


def _compare(one: _Column, other: _Column) -> tuple[ColumnSuggestion, bool]:
    """Return the numbers on two columns, and whether these allow equal names."""
    first, second = ((c.curve - np.median(c.curve)) / c.spread for c in (one, other))
    distance, ratio = float(np.abs(first - second).mean()), one.spread / other.spread
    times = other.parsed.size / one.parsed.size  # NaN if a name has no unit
    is_likely = distance <= MOST_APART or (one.has_few and other.has_few)
    is_likely &= not abs(np.log(ratio / times)) > np.log(SPREADS_APART)
    texts = [" ".join(column.parsed.words) for column in (one, other)]
    similarity = SequenceMatcher(None, texts[0], texts[1]).ratio()
    pair = one.name, other.name, 1.0 if math.isnan(times) else times
    return ColumnSuggestion(*pair, similarity, distance, ratio), is_likely


def _columns(rows: DomainRows, shared: Collection[int]) -> Iterator[_Column]:
    """Yield the columns that vary and are valid for more than one table."""
    stems = [re.sub(r"\d+$", "", name) for name in rows.features]
    counts, specific = Counter(stems), rows.table_specific
    for place, (name, stem) in enumerate(zip(rows.features, stems, strict=True)):
        numbered = name != stem and (not stem or counts[stem] > 1)
        values = rows.X[np.isfinite(rows.X[:, place]), place]
        if numbered or name in specific or len(values) < FEWEST_ROWS:
            continue
        curve = np.quantile(values, LEVELS)
        if spread := np.abs(curve - np.median(curve)).mean():
            is_free = place not in shared and not {*",="} & {*name}  # used by --shared
            has_few = len({*curve.tolist()}) < FEWEST_VALUES
            yield _Column(name, read_name(name), is_free, has_few, curve, spread)


def common_ids(*tables: DomainRows) -> set[str]:
    """Return the ids in all tables if they are many, named, and not row numbers."""
    unique = [{k for k, n in Counter(rows.ids).items() if n == 1} for rows in tables]
    common = set.intersection(*unique)
    named = all(rows.has_ids and not rows.is_index for rows in tables)
    numbers = [{number(id_) for id_ in ids} for ids in (common, *unique)]  # 007 is 7
    counts = any(n in ({*range(len(n))}, {*range(1, len(n) + 1)}) for n in numbers)
    return common if named and not counts and len(common) >= FEWEST_IDS else set()
