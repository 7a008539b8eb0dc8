"""How often the rule on source help errs where the truth is known.

Three times: on simulated rows whose gains are set (*scores*); on pools of planted
populations, fitted in every source state, whose gains other pools tell (*populations*);
and on planted problems with few labelled rows, of which `compare` holds some out
(*comparisons*). `benchmarks.verdict_cases` and `benchmarks.populations` make and
judge the cases.
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
from benchmarks.measure import ask_process
from benchmarks.populations import (
    ACCURACY,
    BALANCED,
    HARDEST,
    KINDS,
    POOL_ROWS,
    plain_and_crossed_gains,
)
from benchmarks.verdict_cases import LABELLED, SCENARIOS
from cdspp.analysis.explanation import USE
from cdspp.analysis.verdicts import DEPENDS, EQUAL, HELPS, HURTS, Stratum
from cdspp.core.errors import DataError
from cdspp.core.names import ALONE, MAIN
from cdspp.stages.score import SampleScores
from cdspp.stages.source_states import STATES

__all__ = [
    "PARTS",
    "Rate",
    "bench_verdicts",
    "comparison_rates",
    "coverage",
    "ratios_table",
    "score_rates",
    "standard_error_ratios",
    "verdicts_table",
    "word_rates",
]

Entry = Mapping[str, Any]
Table = Mapping[str, Mapping[str, object]]  # of rows, by name

PARTS = SCORES, POPULATIONS, COMPARISONS = ("scores", "populations", "comparisons")
METHODS = "cdspp", "cdspp-sup"  # one is transductive, the other inductive
NOMINAL = 0.05
POWER = "power"
TRIALS, TASKS = (5, 10), (1, 8)
INTERVALS = [f"{m} {over}" for m in (ACCURACY, BALANCED) for over in (ALONE, HARDEST)]
# What a recommendation is by what a source has in common with the target.
TOLD_OF_GEOMETRY = {
    "none": "false use",
    "misleading": "false use",
    "shared": POWER,
    "shared, wide": POWER,
}
QUARTILES = (0.25, 0.5, 0.75)
PER_PROCESS = 8


class Rate(NamedTuple):
    """How often something was said, in how many cases, and how often it may be.

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
        """5 % plus two standard errors of as many cases; one where it is not false."""
        error = math.sqrt(NOMINAL * (1 - NOMINAL) / max(self.cases, 1))
        return NOMINAL + 2 * error if self.verdict.startswith("false") else 1.0

    @property
    def share(self) -> float:
        """Hits by cases; NaN without cases."""
        return self.hits / self.cases if self.cases else float("nan")

    @property
    def too_often(self) -> bool:
        """Whether the bound is broken."""
        return self.share > self.bound

    def __str__(self) -> str:
        """Return the share in % (the bound), with a star where it is broken."""
        if not self.cases:
            return "–"
        bound = f" ({100 * self.bound:.1f})" if self.bound < 1 else ""
        return f"{100 * self.share:.1f}{bound}{'*' if self.too_often else ' '}"


def bench_verdicts(
    parts: Sequence[str] = PARTS,
    *,
    draws: int = 400,
    populations: int = 8,
    pools: int = 8,
    comparisons: int = 40,
    workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, list[dict[str, Any]]]:
    """Test the rule on simulated scores and on planted populations.

    Parameters
    ----------
    parts : sequence of str
        Which of `PARTS`.
    draws : int, default=400
        Simulated benchmarks a line.
    populations, pools : int, default=8, 8
        Populations of each kind and size, and pools of each.
    comparisons : int, default=40
        Comparisons by hold-out for each geometry and number of labelled rows.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    progress : callable, optional
        Told what is about to be run.

    Returns
    -------
    dict
        By part its entries, as `judge_scores`, `judge_population` and
        `judge_comparison` return them; none of parts that are not asked for.

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
    comparison_requests = [
        {"n_labelled": n_labelled, "geometry": geometry, "number": number}
        for n_labelled in LABELLED
        for geometry in TOLD_OF_GEOMETRY
        for number in range(comparisons)
    ]
    results: dict[str, list[dict[str, Any]]] = {}
    for part, requests in zip(
        PARTS, (score_requests, population_requests, comparison_requests), strict=True
    ):
        part_requests = requests if part in parts else []
        progress(f"{part}: {len(part_requests)} cases")
        results[part] = _ask(part, part_requests, workers)
    return results


def _ask(part: str, requests: Sequence[Entry], workers: int) -> list[dict[str, Any]]:
    """Have requests answered in fresh processes, some in each; keep their order."""

    def answers(start: int) -> Any:
        request = json.dumps([part, requests[start : start + PER_PROCESS]])
        return ask_process(verdict_cases.__name__, request, f"The cases {request}")

    with ThreadPoolExecutor(workers) as pool:
        starts = range(0, len(requests), PER_PROCESS)
        return [
            answer
            for answers_of_process in pool.map(answers, starts)
            for answer in answers_of_process
        ]


def score_rates(scores: Sequence[Entry]) -> dict[str, dict[str, Rate]]:
    """Return the rates by scenario, and by trials x tasks.

    A false *helps* or *hurts* anywhere among the tasks of a benchmark is what Holm's
    correction bounds; otherwise every task is a case.
    """
    rates: dict[str, dict[str, Rate]] = {}
    for entry in scores:
        what = entry["scenario"].partition(":")[0]
        kind, word = what.split()
        by_benchmark = kind != POWER and word != EQUAL
        hits = entry["benchmarks" if by_benchmark else "tasks"].get(word, 0)
        cases = entry["n_draws"] * (1 if by_benchmark else entry["n_tasks"])
        size = f"{entry['n_trials']} x {entry['n_tasks']}"
        rates.setdefault(entry["scenario"], {})[size] = Rate(what, hits, cases)
    return rates


def word_rates(cases: Sequence[Entry]) -> dict[str, Rate]:
    """Return how often pools were called what their population is not, and what it is.

    A false word counts among the pools of whose population it is not true, by the mean
    of the others; power among those of which it is true beyond two standard errors.
    """
    cases_of = {
        f"false {word}": [case for case in cases if word not in case["true"]]
        for word in (HELPS, HURTS, EQUAL)
    }
    for word in (HELPS, HURTS):
        cases_of[f"{POWER} {word}"] = [case for case in cases if word in case["surely"]]
    cases_of[DEPENDS] = list(cases)
    return {
        what: Rate(what, sum(what.endswith(c["word"]) for c in relevant), len(relevant))
        for what, relevant in cases_of.items()
    }


def coverage(cases: Sequence[Entry]) -> dict[str, tuple[float, ...]]:
    """Return how many 95 % intervals hold the truth, and what would be right.

    Returns
    -------
    dict
        By measure and rival: coverage of plain and of crossed intervals, median of
        crossed over plain standard errors, and the factor by which crossed intervals
        would have to be wider to hold the truth in 95 %.
    """
    rows = {}
    for name in INTERVALS:
        intervals = np.array([case["intervals"][name] for case in cases])
        distance, plain, crossed, error, crossed_error = intervals.T
        ratio = np.median(crossed_error[error > 0] / error[error > 0])
        factor = np.quantile(distance / crossed, 1 - NOMINAL)
        numbers = (
            np.mean(distance <= plain),
            np.mean(distance <= crossed),
            ratio,
            factor,
        )
        rows[name] = tuple(map(float, numbers))
    return rows


def comparison_rates(comparisons: Sequence[Entry]) -> dict[int, list[Rate]]:
    """Return how often a source was recommended, by number of labelled rows.

    In error where the source has no geometry of classes in common with the target, or
    a misleading one; by right (*power*) where it shares all of it. With wide classes
    there is more to gain over methods without a source.
    """
    rates: dict[int, list[Rate]] = {}
    for n_labelled in dict.fromkeys(entry["n_labelled"] for entry in comparisons):
        rates[n_labelled] = []
        for geometry, what in TOLD_OF_GEOMETRY.items():
            decisions = [
                entry["decision"]
                for entry in comparisons
                if (entry["n_labelled"], entry["geometry"]) == (n_labelled, geometry)
            ]
            rate = Rate(what, decisions.count(USE), len(decisions))
            rates[n_labelled].append(rate)
    return rates


def standard_error_ratios(folder: str | os.PathLike[str]) -> dict[str, list[float]]:
    """Return crossed over plain standard errors of accuracy gains in a finished study.

    Parameters
    ----------
    folder : path
        The study, as ``results/embedded``, with ``scores/<benchmark>.npz``.

    Returns
    -------
    dict
        Of methods over themselves in another source state, and of pairs of methods, on
        every task of the main setting. Gains without scatter over trials are left out.

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
        for (fit, values), (opponent, rival) in combinations(fits.items(), 2):
            same_fit, same_task = fit[1:] == opponent[1:], fit[:2] == opponent[:2]
            if MAIN not in {fit[0], opponent[0]} or not (same_fit or same_task):
                continue
            trials = min(len(values), len(rival))
            gains = Stratum(1.0, values[:trials] - rival[:trials])
            plain, crossed = plain_and_crossed_gains([gains])
            if plain.error > 0:
                key = "source states" if same_fit else "pairs of methods"
                ratios[key].append(crossed.error / plain.error)
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
        "Crossed over plain standard errors of accuracy, quartiles", rows
    )


def verdicts_table(results: Mapping[str, Sequence[Entry]]) -> str:
    """Return the results of `bench_verdicts` as aligned tables; of no part, nothing."""
    comparison_rows = {
        f"{n_labelled}": {
            f"{geometry}: {rate.verdict}": rate
            for geometry, rate in zip(TOLD_OF_GEOMETRY, rates, strict=True)
        }
        for n_labelled, rates in comparison_rates(results[COMPARISONS]).items()
    }
    cells = _cells(results[POPULATIONS])
    tables: Mapping[str, Table] = {
        "Simulated rows, by trials x tasks: rate of each verdict, % (bound; * = "
        "exceeded)": score_rates(results[SCORES]),
        "Planted populations: coverage of plain / two-way 95 % intervals, %;\n"
        "ratio of two-way to plain standard errors and factor for 95 %, for none": {
            cell: _coverage_row(cases) for cell, cases in cells.items()
        },
        "Planted populations: verdicts, % (bound; * = exceeded)": {
            cell: word_rates(cases) for cell, cases in cells.items()
        },
        "Comparisons by hold-out, by labelled rows: rate of recommending the source, "
        "%": comparison_rows,
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
