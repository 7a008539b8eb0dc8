"""Comparison of every pair of methods of a benchmark, on the same trials."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from cdspp.analysis.answers import interval_text
from cdspp.analysis.source_help import Comparator, SampleComparison
from cdspp.analysis.summary import Floats, mean_sd, n_present, summarise
from cdspp.analysis.verdicts import PairedGain
from cdspp.core.names import AVERAGE, MAIN, NO_SOURCE, REAL, REFERENCE, PathLike
from cdspp.core.wording import counted, in_points
from cdspp.methods import external_identity, method_class
from cdspp.stages.formats import read_csv
from cdspp.stages.score import SampleScores
from cdspp.study.plan import CONTROL, INFORMED, BenchmarkPlan, Row

PAIRWISE_COLUMNS = {
    **dict.fromkeys(("benchmark", "title", "row", "display_name"), "str"),
    **dict.fromkeys(("role", "bridge"), "str"),
    **dict.fromkeys(("uses_source", "external", "collapsed"), "bool"),
    "rank": "int64",
    **{"own_trials": "int64", "accuracy": "float64"},
    **{"comparator": "str", "comparator_name": "str"},
    **dict.fromkeys(("comparator_accuracy", "gain", "low", "high"), "float64"),
    "trials": "int64",
}

_OF_COMPARATOR = {"": "row", "_name": "display_name", "_accuracy": "accuracy"}


def compare_pairwise(
    scores: pd.DataFrame, plan: BenchmarkPlan, per_sample: SampleScores | None = None
) -> pd.DataFrame:
    """Return the gain of every method over every other, averaged over the tasks.

    Gains are paired by trial, with 95 % intervals like those over controls. Ranks are
    by the gain over the reference on its trials, from 1; rows that lack one of them or
    are shortened, and degenerate ones, have rank 0. `own_trials` counts the trials of a
    row. A control without a source counts as a method. Pairs of n methods cost
    n (n - 1) / 2 comparisons.
    """
    rows = [row for row in plan.rows if _is_compared(row)]
    summary = summarise(scores, plan, rows)
    tasks, values = summary.with_average(summary.accuracy)
    by_trial = values[:, -1]
    means = [mean_sd(trials)[0] for trials in by_trial]
    unusable = [summary.unusable(place, AVERAGE) for place in range(len(rows))]
    unranked = [row.shortened or bad for row, bad in zip(rows, unusable, strict=True)]
    ranks = _ranks(by_trial, summary.place(REFERENCE), unranked)
    sides = [
        {
            **{"benchmark": plan.benchmark, "title": plan.title, "row": row.key},
            "display_name": row.display_name + row.marks,
            "role": row.role if row.state == REAL else "",
            **{"bridge": row.bridge, "rank": ranks[place], "accuracy": means[place]},
            "own_trials": n_present(by_trial[place]),
            "uses_source": row.state == REAL and method_class(row.method).uses_source,
            "external": bool(external_identity(row.method)),
            "collapsed": unusable[place],
        }
        for place, row in enumerate(rows)
    ]
    comparisons = [
        SampleComparison(row, place, summary, per_sample)
        for place, row in enumerate(rows)
    ]
    lines = [
        sides[i]
        | {f"comparator{key}": sides[k][name] for key, name in _OF_COMPARATOR.items()}
        | {"gain": gain.gain, "low": gain.low, "high": gain.high, "trials": gain.trials}
        for (i, k), gain in sorted(_gains(rows, comparisons, tasks[-1]).items())
    ]
    return pd.DataFrame(lines, columns=list(PAIRWISE_COLUMNS)).astype(PAIRWISE_COLUMNS)


def _gains(
    rows: Sequence[Row], comparisons: Sequence[SampleComparison], task: str
) -> dict[tuple[int, int], PairedGain]:
    """Return the gain of each row over each other one, by their places."""
    gains = {}
    for first, second in combinations(range(len(rows)), 2):
        comparator = Comparator(
            rows[second].key, rows[second].display_name, False, second
        )
        gain = comparisons[first].gain(comparator, task)
        gains[first, second] = gain
        gains[second, first] = replace(gain, gain=-gain.gain)
    return gains


def _ranks(
    by_trial: Floats, reference: int | None, unranked: Sequence[bool]
) -> list[int]:
    """Rank rows on the trials of the reference, or of the row with most trials."""
    finite = np.isfinite(by_trial)
    if reference is None or not finite[reference].any():
        reference = int(finite.sum(axis=1).argmax()) if len(finite) else 0
    common = finite[reference] if len(finite) else finite.any(axis=0)
    complete = finite[:, common].all(axis=1) & common.any() & ~np.array(unranked, bool)
    means = pd.Series(by_trial[:, common].mean(axis=1)).where(complete)
    ranks = means.rank(method="min", ascending=False).fillna(0)
    return [int(rank) for rank in ranks]


def _is_compared(row: Row) -> bool:
    without_source = row.kind == CONTROL and row.state == NO_SOURCE
    return without_source or (row.setting == MAIN and row.kind != INFORMED)


def read_pairwise(path: PathLike | None) -> pd.DataFrame:
    """Read the gains of a ``pairwise_<benchmark>.csv``; empty without one."""
    if path is None:
        return pd.DataFrame(columns=list(PAIRWISE_COLUMNS)).astype(PAIRWISE_COLUMNS)
    return read_csv(path, PAIRWISE_COLUMNS)


def ranked_methods(pairwise: pd.DataFrame) -> pd.DataFrame:
    """Return one line per method with a rank, the most accurate first."""
    methods = pairwise.drop_duplicates("row")
    return methods[methods["rank"] > 0].sort_values("rank", kind="stable")


def leader(pairwise: pd.DataFrame) -> str:
    """Return a sentence on the most accurate method and its lead over the reference.

    If the reference leads, it is compared with the second.
    """
    ranked = ranked_methods(pairwise)
    if ranked.empty:
        return ""
    first, others = ranked.iloc[0], ranked.iloc[1:]
    text = (
        f"{first['display_name']} is the most accurate of "
        f"{counted(len(ranked), 'method')} with all trials: "
        f"{in_points(first['accuracy'])} %"
    )
    candidates = pd.concat([others[others["role"] == REFERENCE], others])["row"]
    leads = pairwise[pairwise["row"] == first["row"]]
    leads = leads[leads["comparator"].isin(candidates.head(1))]
    for gain in leads.dropna(subset="gain").itertuples():
        text += f", a gain of {interval_text(gain)} over {gain.comparator_name}"
        text += f" on {counted(gain.trials, 'common trial')}"
    return f"{text}."
