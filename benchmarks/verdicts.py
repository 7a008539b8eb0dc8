"""Error rates of the rule on source help where the truth is known.

There are two parts: simulated rows with fixed gains (*scores*), and pools of planted
populations, fitted in every source state, whose true gains come from the other pools
(*populations*). `benchmarks.verdict_cases` and `benchmarks.populations` make and judge
the cases.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import verdict_cases
from benchmarks.measure import run_module
from benchmarks.populations import (
    ACCURACY,
    BALANCED,
    KINDS,
    POOL_ROWS,
    STRONGEST,
    one_and_two_way_gains,
)
from benchmarks.verdict_cases import SCENARIOS, VERDICTS
from cdspp.analysis.transfer import DISAGREE, Transfer
from cdspp.analysis.verdicts import Stratum
from cdspp.core.errors import DataError
from cdspp.core.names import MAIN, NO_SOURCE
from cdspp.stages.score import SampleScores
from cdspp.stages.source_states import STATES

__all__ = [
    "PARTS",
    "Rate",
    "bench_verdicts",
    "coverage",
    "ratios_table",
    "score_rates",
    "standard_error_ratios",
    "verdicts_table",
    "verdict_rates",
]

Entry = Mapping[str, Any]
Table = Mapping[str, Mapping[str, object]]  # of rows, by name

PARTS = SCORES, POPULATIONS = ("scores", "populations")
METHODS = "cdspp", "cdspp-sup"  # one is transductive, the other inductive
NOMINAL = 0.05
POWER = "power"
TRIALS, TASKS = (5, 10), (1, 8)
INTERVALS = [
    f"{m} {over}" for m in (ACCURACY, BALANCED) for over in (NO_SOURCE, STRONGEST)
]
QUARTILES = (0.25, 0.5, 0.75)
PER_PROCESS = 8


class Rate(NamedTuple):
    """The rate of a verdict, and its limit.

    Attributes
    ----------
    verdict : str
        The verdict; *false* ones are bounded.
    hits, cases : int
        Counts.
    """

    verdict: str
    hits: int
    cases: int

    @property
    def bound(self) -> float:
        """5 % plus two standard errors for a false verdict, else 1."""
        error = math.sqrt(NOMINAL * (1 - NOMINAL) / max(self.cases, 1))
        return NOMINAL + 2 * error if self.verdict.startswith("false") else 1.0

    @property
    def share(self) -> float:
        """Hits by cases; NaN without cases."""
        return self.hits / self.cases if self.cases else float("nan")

    @property
    def exceeds_bound(self) -> bool:
        """Whether the rate exceeds its limit."""
        return self.share > self.bound

    def __str__(self) -> str:
        """Return the rate in % (limit), with a star if it exceeds the limit."""
        if not self.cases:
            return "–"
        bound = f" ({100 * self.bound:.1f})" if self.bound < 1 else ""
        return f"{100 * self.share:.1f}{bound}{'*' if self.exceeds_bound else ' '}"


def bench_verdicts(
    parts: Sequence[str] = PARTS,
    *,
    draws: int = 400,
    populations: int = 8,
    pools: int = 8,
    workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, list[dict[str, Any]]]:
    """Test the rule on simulated scores and on planted populations.

    Parameters
    ----------
    parts : sequence of str
        Which of `PARTS`.
    draws : int, default=400
        Simulated benchmarks per line.
    populations, pools : int, default=8, 8
        Populations of each kind and size, and pools of each.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    progress : callable, optional
        Receives a line of text before each part.

    Returns
    -------
    dict
        The results of `judge_scores` and `judge_population`, by part; empty for a part
        that was not requested.

    Raises
    ------
    RuntimeError
        A process failed.
    """
    score_requests = [
        {"scenario": name, "n_tasks": tasks, "n_trials": trials, "n_draws": draws}
        for name, trials, tasks in product(SCENARIOS, TRIALS, TASKS)
    ]
    axes = product(KINDS, POOL_ROWS, METHODS, range(populations))
    population_requests = [
        {"kind": kind, "rows": rows, "method": method, "number": number}
        | {"n_pools": pools, "n_trials": max(TRIALS)}
        for kind, rows, method, number in axes
    ]
    results: dict[str, list[dict[str, Any]]] = {}
    for part, requests in zip(
        PARTS, (score_requests, population_requests), strict=True
    ):
        part_requests = requests if part in parts else []
        progress(f"{part}: {len(part_requests)} cases")
        results[part] = _run_requests(part, part_requests, workers)
    return results


def _run_requests(
    part: str, requests: Sequence[Entry], workers: int
) -> list[dict[str, Any]]:
    """Compute requests in fresh processes, several in each; keep their order."""

    def answers(start: int) -> Any:
        request = json.dumps([part, requests[start : start + PER_PROCESS]])
        return run_module(verdict_cases.__name__, request, f"The cases {request}")

    with ThreadPoolExecutor(workers) as pool:
        starts = range(0, len(requests), PER_PROCESS)
        return [
            answer
            for answers_of_process in pool.map(answers, starts)
            for answer in answers_of_process
        ]


def score_rates(scores: Sequence[Entry]) -> dict[str, dict[str, Rate]]:
    """Return the rates by scenario, and by trials x tasks.

    False positive or negative transfer anywhere among the tasks of a benchmark is what
    Holm's correction bounds; otherwise every task is a case.
    """
    rates: dict[str, dict[str, Rate]] = {}
    for entry in scores:
        what, *case = entry["scenario"].split(":")
        kind, key = what.split()
        verdict = VERDICTS[key]
        by_benchmark = kind != POWER and verdict.decided
        hits = entry["benchmarks" if by_benchmark else "tasks"].get(verdict.word, 0)
        cases = entry["n_draws"] * (1 if by_benchmark else entry["n_tasks"])
        size = f"{entry['n_trials']} x {entry['n_tasks']}"
        what = f"{kind} {verdict.word}"
        rate = Rate(what, hits, cases)
        rates.setdefault(":".join([what, *case]), {})[size] = rate
    return rates


def verdict_rates(cases: Sequence[Entry]) -> dict[str, Rate]:
    """Return the rates of false and of true verdicts on pools.

    A false verdict counts among the pools for which it is not true, by the mean of the
    others; power among those for which it is true beyond two standard errors.
    """
    cases_of = {
        f"false {word}": [case for case in cases if word not in case["true"]]
        for word in (verdict.word for verdict in VERDICTS.values())
    }
    for word in (Transfer.POSITIVE.word, Transfer.NEGATIVE.word):
        cases_of[f"{POWER} {word}"] = [
            case for case in cases if word in case["certain"]
        ]
    cases_of[DISAGREE] = list(cases)
    return {
        what: Rate(
            what, sum(what.endswith(c["verdict"]) for c in relevant), len(relevant)
        )
        for what, relevant in cases_of.items()
    }


def coverage(cases: Sequence[Entry]) -> dict[str, tuple[float, ...]]:
    """Return the coverage of 95 % intervals, and the factor that would correct it.

    Returns
    -------
    dict
        By measure and comparator: coverage of one-way and two-way intervals, median of
        two-way over one-way standard errors, and the factor by which two-way intervals
        would have to be wider to hold the truth in 95 %.
    """
    rows = {}
    for name in INTERVALS:
        intervals = np.array([case["intervals"][name] for case in cases])
        distance, one_way, two_way, error, two_way_error = intervals.T
        ratio = np.median(two_way_error[error > 0] / error[error > 0])
        factor = np.quantile(distance / two_way, 1 - NOMINAL)
        numbers = (
            np.mean(distance <= one_way),
            np.mean(distance <= two_way),
            ratio,
            factor,
        )
        rows[name] = tuple(map(float, numbers))
    return rows


def standard_error_ratios(folder: str | os.PathLike[str]) -> dict[str, list[float]]:
    """Return ratios of two-way to one-way standard errors of gains in a study.

    Parameters
    ----------
    folder : path
        The finished study, such as ``results/embedded``, with
        ``scores/<benchmark>.npz``.

    Returns
    -------
    dict
        Ratios for methods against themselves in another source state, and for pairs of
        methods, on every task of the main setting. Gains without scatter over trials
        are left out.

    Raises
    ------
    DataError
        The study has no scores per sample.
    """
    ratios: dict[str, list[float]] = {"source states": [], "pairs of methods": []}
    files = sorted(Path(folder, "scores").glob("*.npz"))
    if not files:
        raise DataError(f"{folder} has no scores/<benchmark>.npz. Run the study again.")
    for scores in map(SampleScores, files):
        fits = {c: scores.right(*c) for c in scores.cells() if c[0] in {MAIN, *STATES}}
        for (fit, values), (other, comparator) in combinations(fits.items(), 2):
            same_fit, same_task = fit[1:] == other[1:], fit[:2] == other[:2]
            if MAIN not in {fit[0], other[0]} or not (same_fit or same_task):
                continue
            trials = min(len(values), len(comparator))
            gains = Stratum(1.0, values[:trials] - comparator[:trials])
            one_way, two_way = one_and_two_way_gains([gains])
            if one_way.error > 0:
                key = "source states" if same_fit else "pairs of methods"
                ratios[key].append(two_way.error / one_way.error)
    return ratios


def ratios_table(ratios: Mapping[str, Sequence[float]]) -> str:
    """Return quartiles of `standard_error_ratios` as a table."""
    rows = {
        what: {"gains": len(values)}
        | {f"{share:.0%}": f"{np.quantile(values, share):.2f}" for share in QUARTILES}
        for what, values in ratios.items()
        if values
    }
    return _text_table(
        "Two-way over one-way standard errors of accuracy, quartiles", rows
    )


def verdicts_table(results: Mapping[str, Sequence[Entry]]) -> str:
    """Return the results of `bench_verdicts` as tables, for the parts that ran."""
    cells = _cells(results[POPULATIONS])
    rate = "verdict rate, % (bound; * = exceeded)"
    tables: Mapping[str, Table] = {
        f"Simulated rows, trials x tasks: {rate}": score_rates(results[SCORES]),
        "Planted populations: coverage of one-way / two-way 95 % intervals, %;\n"
        "two-way over one-way standard error, and the factor to 95 % (over none)": {
            cell: _coverage_row(cases) for cell, cases in cells.items()
        },
        f"Planted populations: {rate}": {
            cell: verdict_rates(cases) for cell, cases in cells.items()
        },
    }
    return "\n".join(_text_table(title, rows) for title, rows in tables.items() if rows)


def _cells(populations: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return cases by kind, rows and method; those of all kinds together last."""
    cells: dict[str, list[Entry]] = {}
    for together in ("", "all"):
        for entry in populations:
            kind = together or entry["kind"]
            cell = f"{kind:11} {entry['rows']:>3}  {entry['method']}"
            cells.setdefault(cell, []).extend(entry["cases"])
    return cells


def _coverage_row(cases: Sequence[Entry]) -> dict[str, str]:
    coverages = coverage(cases)
    row = {k: f"{100 * v[0]:.1f} / {100 * v[1]:.1f}" for k, v in coverages.items()}
    ratio, factor = coverages[INTERVALS[0]][2:]
    return {**row, "ratio": f"{ratio:.2f}", "factor": f"{factor:.2f}"}


def _text_table(title: str, rows: Table) -> str:
    frame = pd.DataFrame.from_dict(rows, orient="index").map(str)
    return f"{title}\n{frame.to_string(line_width=None)}\n"
