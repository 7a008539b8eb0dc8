"""The results of `benchmarks.decisions` as tables of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmarks.calibration import fifths
from benchmarks.decisions import (
    ALWAYS,
    BET,
    GATED,
    LOSS,
    RECIPES,
    VOTE,
    WITHOUT,
    Mean,
    covered,
    family_mean,
    gates,
    paired,
    policy_means,
)
from benchmarks.rows import BATCHES, MARGIN, over_margin
from cdspp.core.wording import DASH, aligned, in_points
from cdspp.methods.bridge import PAIRS, SHARED

__all__ = ["cost_table", "decisions_table", "rows_table"]

KINDS = {"": "no bridge", SHARED: "shared columns", PAIRS: "pairs"}
MAIN = (VOTE, WITHOUT, BET, ALWAYS)
Grid = list[list[str]]


def decisions_table(
    results: Mapping[str, pd.DataFrame], missing: Mapping[str, str]
) -> str:
    """Return what `benchmarks.decisions.outcomes` found, by title of the part."""
    lines = [f"left out: {family} ({reason})" for family, reason in missing.items()]
    for title, part in results.items():
        if len(part):
            n_draws = len(part[["family", "labels", "number"]].drop_duplicates())
            heading = f"{title}: {part['family'].nunique()} families, {n_draws} draws"
            lines += ["", heading, *_part(part)]
    return "\n".join([*lines, ""])


def _part(results: pd.DataFrame) -> Iterator[str]:
    gated = results[results["labels"].between(*GATED)]
    if len(gated):
        least, most = GATED
        yield from _section(f"{least} to {most} labels a class", _policies(gated))
        yield from _section("What is required of the vote", _gates(gated))
        yield from _section("Regret and gain by family", _families(gated))
        yield from _section("Regret by kind of source", _kinds(gated))
        yield from _section("What the source adds to the vote", _source(gated))
        yield from _section("80 % intervals that hold the truth", _coverage(gated))
        yield from _section("Estimated accuracy of the vote", _calibration(gated))
    title = "Regret by labels a class"
    yield from _section(title, _labels(results, "regret"))
    title = "Gain over target-only by labels a class"
    yield from _section(title, _labels(results, "gain"))
    title = "Estimated accuracy of the vote by labels a class"
    yield from _section(title, _estimates(results))
    yield from _section("Processor seconds a draw, median", _seconds(results))


def _section(title: str, grid: Grid) -> Iterator[str]:
    yield from ("", title, *(f"  {line}" for line in aligned(grid)))


def _points(value: float, *, sign: bool = False) -> str:
    return DASH if math.isnan(value) else in_points(value, sign=sign)


def _share(value: float) -> str:
    return DASH if math.isnan(value) else f"{100 * value:.0f} %"


def _mean(mean: Mean) -> str:
    ends = (_points(value, sign=True) for value in mean)
    return "{} ({} to {})".format(*ends)


def _policies(results: pd.DataFrame) -> Grid:
    heads = ["", "accuracy", "regret", "over target-only", "worst"]
    grid = [[*heads, "loses > 1 point", "on bad sources", "worst"]]
    for row in policy_means(results).itertuples():
        gain = _mean(Mean(row.gain, row.low, row.high))
        bad = [_points(value, sign=True) for value in (row.bad, row.worst_bad)]
        numbers = [_points(row.accuracy), _points(row.regret), gain]
        worst = _points(row.worst, sign=True)
        grid.append([str(row.Index), *numbers, worst, _share(row.lose), *bad])
    return grid


def _gates(results: pd.DataFrame) -> Grid:
    return [
        [gate.text, _mean(gate.measured), "kept" if gate.holds else "NOT KEPT"]
        for gate in gates(results)
    ]


def _families(results: pd.DataFrame) -> Grid:
    grid = [["", *MAIN, "best recipe", "", "gain of the vote", "source"]]
    for family, part in results.groupby("family", sort=False):
        means = part.groupby("policy")["regret"].mean()
        best = means[[name for name in RECIPES if name in means]].idxmin()
        gain = Mean.of(part.loc[part["policy"] == VOTE, "gain"])
        regrets = map(_points, [*means.reindex(MAIN), means[best]])
        source = "bad" if part["bad"].any() else "good"
        grid.append([str(family), *regrets, str(best), _mean(gain), source])
    return grid


def _by(results: pd.DataFrame, groups: Mapping[str, pd.Series], what: str) -> Grid:
    """Return the mean of a quantity by policy and group, families weighted equally."""
    grid = [["", *groups]]
    for policy in results["policy"].drop_duplicates():
        own = results["policy"] == policy
        parts = (results[own & chosen] for chosen in groups.values())
        means = [family_mean(part[what], part["family"]).mean for part in parts]
        grid.append([str(policy), *(_points(m, sign=what != "regret") for m in means)])
    return grid


def _kinds(results: pd.DataFrame) -> Grid:
    good = ~results["bad"]
    groups = {f"good, {n}": good & (results["bridge"] == k) for k, n in KINDS.items()}
    return _by(results, {**groups, "bad": results["bad"]}, "regret")


def _labels(results: pd.DataFrame, what: str) -> Grid:
    counts = sorted(results["labels"].unique())
    groups = {str(count): results["labels"] == count for count in counts}
    return _by(results, groups, what)


def _source(results: pd.DataFrame) -> Grid:
    grid = [["source", "points", "worst", "loses > 1 point", "draws"]]
    for name, bad in (("good", False), ("bad", True)):
        part = results[results["bad"] == bad]
        if len(part):
            added = paired(part, "accuracy", VOTE, WITHOUT)
            families = added.index.to_frame()["family"]
            numbers = [_mean(family_mean(added, families)), _points(added.min())]
            lose = family_mean((added < -LOSS).astype(float), families).mean
            grid.append([name, *numbers, _share(lose), f"{len(added)}"])
    return grid


def _coverage(results: pd.DataFrame) -> Grid:
    draws = results[results["policy"] == VOTE]
    draws = draws.set_index(["family", "labels", "number"], drop=False)
    added = paired(results, "accuracy", VOTE, WITHOUT).reindex(draws.index)
    rows = {
        "accuracy": covered(draws, "low", "high", draws["accuracy"]),
        "gain of the source": covered(draws, "source_low", "source_high", added),
    }
    error = draws["estimate"] - draws["accuracy"]
    grid = [
        [name, f"{_share(m.mean)} ({_share(m.low)} to {_share(m.high)})"]
        for name, m in rows.items()
    ]
    bias = _mean(family_mean(error, draws["family"]))
    return [*grid, ["estimate less accuracy, points", bias]]


def _calibration(results: pd.DataFrame) -> Grid:
    """Return means of the estimate and of the accuracy, by fifth of the estimate."""
    grid = [["draws", "estimate", "accuracy"]]
    for row in fifths(results).itertuples():
        grid.append([f"{row.draws}", _points(row.estimate), _points(row.accuracy)])
    return grid


def _estimates(results: pd.DataFrame) -> Grid:
    """Return by labels how far the estimate is off, and how often intervals hold."""
    draws = results[(results["policy"] == VOTE) & results["estimate"].notna()]
    heads, bias = ["labels a class"], ["estimate less accuracy"]
    inside = ["80 % intervals that hold it"]
    for count, part in draws.groupby("labels"):
        error = family_mean(part["estimate"] - part["accuracy"], part["family"])
        held = covered(part, "low", "high", part["accuracy"])
        heads.append(f"{count}")
        bias.append(_points(error.mean, sign=True))
        inside.append(_share(held.mean))
    return [heads, bias, inside]


def _seconds(results: pd.DataFrame) -> Grid:
    medians = results.groupby("policy", sort=False)["seconds"].median().dropna()
    return [[str(policy), f"{seconds:.1f}"] for policy, seconds in medians.items()]


def cost_table(costs: Sequence[Mapping[str, Any]]) -> str:
    """Return the results of `benchmarks.decision_cost.bench_cost` as a table."""
    heads = ["labelled", "rows", "columns", "classes", "seconds", "MB"]
    grid = [[*heads, "two pipelines cross-validated"]]
    for cost in costs:
        keys = "n_labelled", "n_rows", "n_columns", "n_classes"
        numbers = [f"{cost['processor']:.1f}", f"{cost['peak_memory_mb']:.0f}"]
        rival = f"{cost['rival']:.1f}"
        grid.append([*(f"{cost[key]}" for key in keys), *numbers, rival])
    title = "Processor seconds per answer, and peak memory beyond the rows"
    return "\n".join([title, *(f"  {line}" for line in aligned(grid)), ""])


def rows_table(results: Mapping[str, pd.DataFrame]) -> str:
    """Return what `benchmarks.rows.bench_rows` found, by title of the part."""
    lines = []
    for title, part in results.items():
        if len(part):
            n_draws = len(part[["family", "labels", "number"]].drop_duplicates())
            heading = f"{title}: {part['family'].nunique()} families, {n_draws} draws"
            lines += ["", heading]
            about = "Points gained on all unlabelled rows, those labelled now included"
            lines += _section(about, _batches(part, "all"))
            lines += _section("Points gained on the others", _batches(part, "others"))
            about = "More points on all unlabelled rows than by smallest margin"
            lines += _section(about, _over_margin(part))
    return "\n".join([*lines, ""])


def _batches(results: pd.DataFrame, what: str) -> Grid:
    groups = {
        f"{batch}, from {count}": (results["labels"] == count)
        & (results["batch"] == batch)
        for count in sorted(results["labels"].unique())
        for batch in BATCHES
    }
    return _by(results, groups, what)


def _over_margin(results: pd.DataFrame) -> Grid:
    grid = [["", *BATCHES]]
    for rule in results["policy"].drop_duplicates():
        parts = (results[results["batch"] == batch] for batch in BATCHES)
        means = (
            _mean(over_margin(p, "all", rule)) if rule in {*p["policy"]} else DASH
            for p in parts
        )
        if rule != MARGIN:
            grid.append([rule, *means])
    return grid
