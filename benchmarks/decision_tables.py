"""The results of `benchmarks.decisions` as tables of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmarks.decision_cases import TARGET_ONLY
from benchmarks.decisions import (
    BET,
    SHIPPED,
    bet_of,
    calibration,
    coverage,
    draw_results,
    intervals,
    policies,
    power,
)
from benchmarks.labelling import labelling_rows
from cdspp.core.wording import DASH, aligned, in_points

__all__ = ["cost_table", "decisions_table"]

Record = Mapping[str, Any]

WANTED_RATIO, WANTED_MISLED, WANTED_COVERAGE = 0.85, 1 / 30, (0.75, 0.92)


def decisions_table(records: Sequence[Record]) -> str:
    """Return the results of `bench_decisions` as text; families set aside come last."""
    missing = [record for record in records if "missing" in record]
    reasons = dict.fromkeys((r["family"], r["missing"]) for r in missing)
    lines = [f"left out: {family} ({reason})" for family, reason in reasons]
    complete = [record for record in records if "missing" not in record]
    for title, set_aside in (("Families", False), ("Families set aside", True)):
        part = [record for record in complete if record["set_aside"] == set_aside]
        if part:
            count = len({record["family"] for record in part})
            lines += ["", f"{title}: {count}, {len(part)} draws", *_group(part)]
    return "\n".join([*lines, ""])


def _group(records: Sequence[Record]) -> Iterator[str]:
    results = draw_results(records)
    table = policies(results)
    yield from _section("Regret in points, and bets", _policy_grid(table))
    yield from _bounds(table[table["policy"] == BET].iloc[0], records)
    yield from _section("Regret by family", _family_grid(results))
    yield from _section("Share that uses the source, by its true gain", _power(records))
    gains = intervals(records)
    bins = calibration(gains[gains["largest"]])
    yield from _section("P(better) of the likeliest candidate", _chances(bins))
    draws = [
        {**entry, "hindsight": max(record["truth"].values())}
        for record in records
        for entry in record["labelling"]
    ]
    if draws:
        means = labelling_rows(pd.DataFrame(draws))
        title = f"Rows to label next, in {means['draws'].max()} draws with a bet"
        yield from _section(title, _labelling_grid(means))
    yield from _seconds(records)


def _section(title: str, grid: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from ("", title, *(f"  {line}" for line in aligned(grid)))


def _points(value: float, *, sign: bool = False) -> str:
    return DASH if math.isnan(value) else in_points(value, sign=sign)


def _share(value: float) -> str:
    return DASH if math.isnan(value) else f"{100 * value:.0f} %"


def _policy_grid(table: pd.DataFrame) -> list[list[str]]:
    heads = ["", "draws", "all", "good", "bad", "median family", "to target-only"]
    grid = [[*heads, "bets", "false", "worst", "on bad sources"]]
    for row in table.itertuples():
        regrets = map(_points, (row.all, row.good, row.bad, row.median))
        ratio = f"{row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})"
        counts = [f"{row.bets}", f"{row.false}", _points(row.worst, sign=True)]
        bets_on_bad = f"{row.bets_on_bad} of {row.n_bad}"
        grid.append([row.policy, f"{row.draws}", *regrets, ratio, *counts, bets_on_bad])
    return grid


def _family_grid(results: pd.DataFrame) -> list[list[str]]:
    columns = [TARGET_ONLY, BET]
    grid = [["", *columns, "source"]]
    for family, part in results.groupby("family", sort=False):
        means = part.groupby("policy")["regret"].mean().reindex(columns)
        source = "bad" if part["bad"].any() else "good"
        grid.append([str(family), *map(_points, means), source])
    return grid


def _bounds(bet: Any, records: Sequence[Record]) -> Iterator[str]:
    gains = intervals(records)
    inside, count = coverage(gains)
    of_best, n_best = coverage(gains[gains["largest"]])
    lowest, highest = WANTED_COVERAGE
    share_of_bad = bet["bets_on_bad"] / bet["n_bad"] if bet["n_bad"] else 0.0
    n_same = sum(bet_of(SHIPPED, record) == record["bet"] for record in records)
    bounds = [
        (
            f"regret over that of target-only {bet['ratio']:.2f}",
            WANTED_RATIO,
            bet.ratio,
        ),
        (
            f"bets on bad sources {bet['bets_on_bad']} of {bet['n_bad']}, of which "
            f"{bet['lost']} lose more than a point",
            WANTED_MISLED,
            share_of_bad,
        ),
    ]
    yield ""
    for text, bound, value in bounds:
        yield f"{text}, wanted at most {bound:.2g}: {_verdict(value <= bound)}"
    yield (
        f"80 % intervals hold the truth in {_share(inside)} of {count} (of the largest "
        f"gains {_share(of_best)} of {n_best}), wanted {_share(lowest)} to "
        f"{_share(highest)}: {_verdict(lowest <= inside <= highest)}"
    )
    draws = f"{n_same} of {len(records)} draws"
    yield f"the rule, worked out again, bets the same in {draws}"


def _verdict(holds: bool) -> str:
    return "kept" if holds else "NOT KEPT"


def _power(records: Sequence[Record]) -> list[list[str]]:
    grid = [["true gain, points", "draws", "the bet"]]
    for row in power(records).itertuples():
        band = f"{in_points(row.least)} to {in_points(row.most)}"
        grid.append([band, f"{row.draws}", _share(row.bet)])
    return grid


def _chances(bins: pd.DataFrame) -> list[list[str]]:
    grid = [["P(better)", "cases", "mean", "true"]]
    for row in bins.itertuples():
        band = f"{row.least:.2f} to {row.most:.2f}"
        grid.append([band, f"{row.cases}", _share(row.predicted), _share(row.observed)])
    return grid


def _labelling_grid(means: pd.DataFrame) -> list[list[str]]:
    heads = ["", "labels", "settled", "wrongly", "regret after", "fitted again"]
    grid = [heads]
    for row in means.itertuples():
        shares = [_share(row.settled), f"{100 * row.wrong:.1f} %"]
        regrets = [_points(row.regret), _points(row.refitted)]
        grid.append([row.rule, f"{row.revealed}", *shares, *regrets])
    return grid


def _seconds(records: Sequence[Record]) -> Iterator[str]:
    seconds = pd.DataFrame(records)["seconds"].median()
    yield from ("", f"processor seconds per answer, median: {seconds:.1f}")


def cost_table(costs: Sequence[Record]) -> str:
    """Return the results of `benchmarks.decision_cost.bench_cost` as a table."""
    heads = ["labelled", "unlabelled", "seconds", "with why", "ratio", "MB", "with why"]
    grid = [heads]
    for cost in costs:
        bet, why = cost["bet"], cost["why"]
        ratio = bet["processor"] / why["processor"]
        seconds = [f"{answer['processor']:.1f}" for answer in (bet, why)]
        memory = [f"{answer['peak_memory_mb']:.0f}" for answer in (bet, why)]
        rows = [f"{cost[key]}" for key in ("n_labelled", "n_unlabelled")]
        grid.append([*rows, *seconds, f"{ratio:.2f}", *memory])
    title = "Processor seconds per answer, and peak memory beyond the rows"
    return "\n".join([title, *(f"  {line}" for line in aligned(grid)), ""])
