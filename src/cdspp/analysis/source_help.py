"""Did the source help? Every method against itself in every other source state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis import verdicts
from cdspp.analysis.rivals import ALL_COLUMNS, Contest
from cdspp.analysis.summary import summarise
from cdspp.core.names import AVERAGE, REFERENCE, SELECTED, PathLike
from cdspp.core.wording import STATE_TITLES
from cdspp.methods import method_class
from cdspp.stages.artifacts import read_csv
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import BRIDGED, CHOOSING, METHOD, BenchmarkPlan

__all__ = [
    "COMPARISON_COLUMNS",
    "by_default",
    "by_task",
    "compare_with_rivals",
    "matrix",
    "no_comparisons",
    "of_method",
    "of_reference",
    "on_average",
    "pair_verdict",
    "read_comparisons",
    "rivals_of",
]

COMPARISON_COLUMNS = {
    name: kind
    for kind, names in (
        ("str", "benchmark title row display_name role bridge task rival rival_name"),
        ("bool", "state"),
        ("float64", "accuracy rival_accuracy gain low high p_above p_below"),
        ("int64", "losses trials"),
        ("float64", "least"),
        ("bool", "one_decides"),
        ("float64", "domain_low domain_high"),
        ("str", "pair"),
        ("float64", "balanced_accuracy rival_balanced_accuracy balanced_gain"),
        ("float64", "balanced_low balanced_high balanced_p_above balanced_p_below"),
        ("str", "balanced_pair"),
        ("float64", "macro_f1 rival_macro_f1"),
        ("str", "verdict accuracy_verdict balanced_verdict"),
        ("float64", "p_helps p_hurts"),
        ("str", "hardest"),
        ("float64", "detectable balanced_p_helps balanced_p_hurts"),
    )
    for name in names.split()
}


def compare_with_rivals(
    scores: pd.DataFrame, plan: BenchmarkPlan, by_row: RowScores | None = None
) -> pd.DataFrame:
    """Compare every method with the baseline and with itself in other source states.

    Rows are by method, task and rival, the average over several tasks last: the paired
    gain with its 95 % interval, one-sided p values, the `least` gain of a trial, and
    if `one_decides`; the same of balanced accuracy; the verdict. `domain_low` and
    `domain_high` are of an average over the means of four target domains or more.
    Without scores by test row errors hold for other labels of the same rows.
    """
    summary = summarise(scores, plan, plan.rows)
    return _typed(
        record
        for place, row in enumerate(plan.rows)
        if row.kind in (METHOD, BRIDGED, CHOOSING)
        and method_class(row.method).uses_source
        for record in Contest(row, place, summary, by_row).records()
    )


def no_comparisons() -> pd.DataFrame:
    """Return comparisons of nothing."""
    return _typed([])


def _typed(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(records, columns=list(COMPARISON_COLUMNS))
    return frame.astype(COMPARISON_COLUMNS)


def read_comparisons(path: PathLike) -> pd.DataFrame:
    """Read the comparisons of a ``source-help_<benchmark>.csv``."""
    return read_csv(path, COMPARISON_COLUMNS)


def of_method(comparisons: pd.DataFrame, row: str) -> pd.DataFrame:
    """Return the comparisons of one row."""
    return comparisons[comparisons["row"] == row]


def of_reference(comparisons: pd.DataFrame, *, selected: bool = False) -> pd.DataFrame:
    """Return the comparisons of the reference, by default or with selected options."""
    ours = comparisons["role"] == REFERENCE
    return comparisons[ours & (_selects(comparisons) == selected)]


def by_default(comparisons: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the comparisons of each method with its own options, selected ones out."""
    for _, found in comparisons[~_selects(comparisons)].groupby("row", sort=False):
        yield found


def _selects(comparisons: pd.DataFrame) -> pd.Series:
    """Return which rows select their options on the labelled rows of each trial."""
    return comparisons["row"].str.endswith(f", {SELECTED}").astype(bool)


def by_task(comparisons: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group comparisons by task, order kept."""
    return dict(iter(comparisons.groupby("task", sort=False)))


def rivals_of(groups: Iterable[pd.DataFrame]) -> dict[str, str]:
    """Return the titles of the rivals that occur, but for `ALL_COLUMNS`."""
    found: dict[str, str] = {}
    for group in groups:
        pairs = group.drop_duplicates("rival")
        found |= dict(zip(pairs["rival"], pairs["rival_name"], strict=True))
    found.pop(ALL_COLUMNS, None)
    others = {key: name for key, name in found.items() if key not in STATE_TITLES}
    return others | {key: name for key, name in STATE_TITLES.items() if key in found}


def on_average(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the average over tasks, or of the only task."""
    tasks = by_task(comparisons)
    return tasks.get(AVERAGE, comparisons) if len(tasks) != 1 else comparisons


def pair_verdict(comparison: Any) -> str:
    """Return the verdict on one comparison, by accuracy and balanced accuracy.

    No state alone is sure where the verdict over all of them depends on the measure.
    """
    word = verdicts.agreed(comparison.pair, comparison.balanced_pair)
    open_over_all = comparison.state and comparison.verdict == verdicts.DEPENDS
    sure = word in (verdicts.HELPS, verdicts.HURTS)
    return verdicts.DEPENDS if open_over_all and sure else word


def matrix(comparisons: pd.DataFrame, *, corrected: bool) -> pd.DataFrame:
    """Return the averages over tasks; Holm corrects for methods, bridged ones apart."""
    parts = [on_average(part) for _, part in comparisons.groupby("row", sort=False)]
    found = pd.concat(parts, ignore_index=True) if parts else no_comparisons()
    if not corrected or found.empty:
        return found
    bridged = found["bridge"] != ""
    families = (found[bridged == flag] for flag in (False, True))
    return pd.concat([_over_methods(family) for family in families]).sort_index()


def _over_methods(averages: pd.DataFrame) -> pd.DataFrame:
    found = averages.copy()
    for prefix in ("", "balanced_"):
        pairs = f"{prefix}p_above", f"{prefix}p_below"
        for _, family in averages.groupby("rival", sort=False):
            _correct(found, family, f"{prefix}pair", pairs)
        word, p_values = f"{prefix or 'accuracy_'}verdict", ("p_helps", "p_hurts")
        first = averages[averages["state"]].drop_duplicates("row")
        _correct(found, first, word, tuple(f"{prefix}{name}" for name in p_values))
        words = dict(zip(first["row"], found.loc[first.index, word], strict=True))
        rows = zip(found["row"], averages[word], strict=True)
        found[word] = [words.get(row, known) for row, known in rows]
    both = zip(found["accuracy_verdict"], found["balanced_verdict"], strict=True)
    return found.assign(verdict=[verdicts.agreed(*words) for words in both])


def _correct(
    found: pd.DataFrame, family: pd.DataFrame, word: str, p_values: Iterable[str]
) -> None:
    """Take words from a family of comparisons that Holm's correction does not leave."""
    asked = family[family[word].isin(verdicts.STATEMENTS)]
    for said, name in zip((verdicts.HELPS, verdicts.HURTS), p_values, strict=True):
        lost = np.array(verdicts.holm(asked[name].tolist())) >= verdicts.ALPHA
        found.loc[asked.index[lost & (asked[word] == said)], word] = verdicts.UNDECIDED
