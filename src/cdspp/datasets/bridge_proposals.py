"""Proposals for a bridge between two tables: similar columns, objects in both files."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.datasets.column_names import ColumnName, read_name
from cdspp.datasets.table_columns import number
from cdspp.datasets.table_rows import DomainRows

# Two classes in tables of scikit-learn are 0.79 apart at most; 5 is of methods.bridge.
MOST_APART, SPREADS_APART = 0.85, 5.0
# Content alone: as near as two samples of one distribution, and every other column of
# both files several times as far. Of 5496 pairs in unrelated tables none is.
NEAR, RIVALS_APART = 0.15, 4.0
FEWEST_ROWS, FEWEST_VALUES, FEWEST_IDS, MOST_PAIRS = 20, 10, 20, 10_000  # of columns
LEVELS = np.linspace(0.05, 0.95, 19)


class ColumnProposal(NamedTuple):
    """A source and a target column that may mean the same.

    `distance` is the mean gap of quantiles, less the median and over the spread.
    """

    source: str
    target: str
    times: float
    similarity: float
    distance: float
    ratio: float

    def __str__(self) -> str:
        """Write the pair as `--shared` takes it."""
        times = "" if self.times == 1 else f"*{self.times:.10g}"
        return f"{self.source}={self.target}{times}"

    @property
    def numbers(self) -> str:
        """The three numbers in words."""
        found = f"similarity of names {self.similarity:.2f}, distance of contents "
        return f"{found}{self.distance:.2f}, ratio of spreads {self.ratio:.3g}"


class _Column(NamedTuple):
    name: str
    read: ColumnName
    free: bool
    few: bool  # values, of which quantiles say little
    curve: NDArray[np.float64]
    spread: float


@np.errstate(all="ignore")  # of huge numbers, which agree with nothing
def propose_columns(
    source: DomainRows, target: DomainRows, shared: Collection[tuple[int, int]]
) -> list[ColumnProposal]:
    """Propose pairs of columns that are not shared yet, each column once at most.

    Either names agree but for units, case, order and spelling of words, and contents do
    not contradict; or contents agree, and no other column of either file comes near.
    """
    if source.X.shape[1] * target.X.shape[1] > MOST_PAIRS:
        return []
    ours = [*_columns(source, {place for place, _ in shared})]
    theirs = [*_columns(target, {place for _, place in shared})]
    gaps = np.array([[_raw_gap(one, other) for other in theirs] for one in ours])
    found = []
    for (i, one), (j, other) in product(enumerate(ours), enumerate(theirs)):
        by_name, far = one.read.agrees(other.read), RIVALS_APART * gaps[i, j]
        alone = gaps.size > 2 and gaps[i, j] <= NEAR  # without a rival, no evidence
        alone &= np.sum(gaps[i] <= far) + np.sum(gaps[:, j] <= far) == 2
        if one.free and other.free and (by_name or alone):
            best, likely = _compared(one, other)
            if likely:
                found.append((-best.similarity * by_name, best.distance, best))
    kept: list[ColumnProposal] = []
    for *_, best in sorted(found):
        if all(best[side] != each[side] for each in kept for side in (0, 1)):
            kept.append(best)
    return kept


def _raw_gap(one: _Column, other: _Column) -> float:
    """Return the mean gap of quantiles as they are, infinite where they say little."""
    if one.few or other.few or one.read[2:] != other.read[2:]:
        return math.inf
    return float(np.abs(one.curve - other.curve).mean() / max(one.spread, other.spread))


def _compared(one: _Column, other: _Column) -> tuple[ColumnProposal, bool]:
    """Return the numbers on two columns, and whether they allow equal names."""
    mine, yours = ((c.curve - np.median(c.curve)) / c.spread for c in (one, other))
    distance, ratio = float(np.abs(mine - yours).mean()), one.spread / other.spread
    times = other.read.size / one.read.size  # NaN where a name has no unit
    likely = distance <= MOST_APART or (one.few and other.few)
    likely &= not abs(np.log(ratio / times)) > np.log(SPREADS_APART)
    texts = [" ".join(column.read.words) for column in (one, other)]
    similarity = SequenceMatcher(None, texts[0], texts[1]).ratio()
    pair = one.name, other.name, 1.0 if math.isnan(times) else times
    return ColumnProposal(*pair, similarity, distance, ratio), likely


def _columns(rows: DomainRows, shared: Collection[int]) -> Iterator[_Column]:
    """Yield the columns that vary and whose names hold for more than one table."""
    stems = [re.sub(r"\d+$", "", name) for name in rows.features]
    counts, specific = Counter(stems), rows.table_specific
    for place, (name, stem) in enumerate(zip(rows.features, stems, strict=True)):
        numbered = name != stem and (not stem or counts[stem] > 1)
        values = rows.X[np.isfinite(rows.X[:, place]), place]
        if numbered or name in specific or len(values) < FEWEST_ROWS:
            continue
        curve = np.quantile(values, LEVELS)
        if spread := np.abs(curve - np.median(curve)).mean():
            free = place not in shared and not {*",="} & {*name}  # as --shared is read
            few = len({*curve.tolist()}) < FEWEST_VALUES
            yield _Column(name, read_name(name), free, few, curve, spread)


def common_ids(*tables: DomainRows) -> set[str]:
    """Return the ids in all tables, if many, with a name, and no count of rows."""
    once = [{k for k, n in Counter(rows.ids).items() if n == 1} for rows in tables]
    found = set.intersection(*once)
    named = all(rows.has_ids and not rows.is_index for rows in tables)
    numbers = [{number(each) for each in ids} for ids in (found, *once)]  # 007 is 7
    counts = any(n in ({*range(len(n))}, {*range(1, len(n) + 1)}) for n in numbers)
    return found if named and not counts and len(found) >= FEWEST_IDS else set()
