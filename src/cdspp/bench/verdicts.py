"""`cdspp bench verdicts`: how often the rule on source help errs where truth is known.

Three times: on simulated rows whose gains are set (*scores*); on pools of planted
populations, fitted in every source state, whose gains other pools tell (*populations*);
and on planted problems with few labelled rows, of which `compare` holds some out
(*comparisons*). `cdspp.bench.verdict_cases` and `cdspp.bench.populations` make and
judge the cases.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cdspp.analysis.crossed import Stratum
from cdspp.analysis.decision import USE
from cdspp.analysis.rivals import ACCURACY, BALANCED
from cdspp.analysis.verdicts import DEPENDS, EQUAL, HELPS, HURTS
from cdspp.bench import verdict_cases
from cdspp.bench.measure import ask_process
from cdspp.bench.populations import HARDEST, KINDS, POOL_ROWS, plain_and_crossed
from cdspp.bench.verdict_cases import LABELLED, SCENARIOS
from cdspp.core.errors import DataError
from cdspp.core.names import ALONE, MAIN
from cdspp.stages.row_scores import RowScores
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
Cell = tuple[str, int, str]  # kind, rows a class, method

PARTS = SCORES, POPULATIONS, COMPARISONS = ("scores", "populations", "comparisons")
METHODS = "cdspp", "cdspp-sup"  # one is transductive, the other inductive
NOMINAL = 0.05
POWER = "power"
TRIALS, TASKS = (5, 10), (1, 8)
# By scenario: what is counted, of which word, and whether a benchmark is one case or
# its tasks are. A false word anywhere among the tasks is what Holm's correction bounds.
COUNTED: Mapping[str, tuple[str, str, bool]] = {
    "none at zero": ("false helps", HELPS, True),
    "one trial in 20 fails": ("false helps", HELPS, True),
    "none at zero, others ahead": ("false hurts", HURTS, True),
    "none at the margin": ("false equal", EQUAL, False),
    "none at the margin, less scatter": ("false equal", EQUAL, False),
    "one row in 100 differs, of 100": ("false equal", EQUAL, False),
    "one row in 100 differs, of 280": ("false equal", EQUAL, False),
    "three points, 5 rows": ("false equal", EQUAL, False),
    "three points, 10 rows": ("false equal", EQUAL, False),
    "five points gained": (POWER, HELPS, False),
    "five points lost": (POWER, HURTS, False),
}
INTERVALS = [f"{m} {over}" for m in (ACCURACY, BALANCED) for over in (ALONE, HARDEST)]
# What a recommendation is by what a source has in common with the target.
TOLD_OF_GEOMETRY = {
    "none": "false use",
    "misleading": "false use",
    "shared": POWER,
}
PER_PROCESS = 8


class Rate(NamedTuple):
    """How often something was said, in how many cases, and how often it may be.

    Attributes
    ----------
    what : str
        What was said.
    hits, cases : int
        Counts.
    bound : float
        5 % plus two standard errors of as many cases; one where nothing is bounded.
    """

    what: str
    hits: int
    cases: int
    bound: float

    @property
    def share(self) -> float:
        """Hits by cases; NaN without cases."""
        return self.hits / self.cases if self.cases else float("nan")

    @property
    def too_often(self) -> bool:
        """Whether the bound is broken."""
        return self.share > self.bound


def bench_verdicts(
    parts: Sequence[str] = PARTS,
    *,
    draws: int = 1000,
    populations: int = 8,
    pools: int = 15,
    comparisons: int = 20,
    workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, list[dict[str, Any]]]:
    """Test the rule on simulated scores and on planted populations.

    Parameters
    ----------
    parts : sequence of str
        Which of `PARTS`.
    draws : int, default=1000
        Simulated benchmarks a line.
    populations, pools : int, default=8, 15
        Populations of each kind and size, and pools of each.
    comparisons : int, default=20
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
    lines = [
        {"scenario": name, "n_tasks": tasks, "n_trials": trials, "n_draws": draws}
        for name, trials, tasks in product(SCENARIOS, TRIALS, TASKS)
    ]
    axes = product(KINDS, POOL_ROWS, METHODS, range(populations))
    judged = [
        {"kind": kind, "rows": rows, "method": method, "number": number}
        | {"n_pools": pools, "n_trials": max(TRIALS)}
        for kind, rows, method, number in axes
    ]
    compared = [
        {"n_labelled": n_labelled, "geometry": geometry, "number": number}
        for n_labelled in LABELLED
        for geometry in TOLD_OF_GEOMETRY
        for number in range(comparisons)
    ]
    found: dict[str, list[dict[str, Any]]] = {}
    for part, requests in zip(PARTS, (lines, judged, compared), strict=True):
        asked = requests if part in parts else []
        progress(f"{part}: {len(asked)} cases")
        found[part] = _ask(part, asked, workers)
    return found


def _ask(what: str, requests: Sequence[Entry], workers: int) -> list[dict[str, Any]]:
    """Have requests answered in fresh processes, some in each; keep their order."""
    starts = range(0, len(requests), PER_PROCESS)
    parts = [requests[start : start + PER_PROCESS] for start in starts]
    with ThreadPoolExecutor(workers) as pool:
        answers = pool.map(lambda part: _ask_process(what, part), parts)
        return [answer for part in answers for answer in part]


def _ask_process(what: str, requests: Sequence[Entry]) -> list[dict[str, Any]]:
    request = json.dumps([what, list(requests)])
    answers: list[dict[str, Any]] = ask_process(
        verdict_cases.__name__, request, f"The cases {request}"
    )
    return answers


def score_rates(scores: Sequence[Entry]) -> dict[str, list[Rate]]:
    """Return the rates of `COUNTED` by scenario, for numbers of trials and of tasks."""
    found: dict[str, list[Rate]] = {}
    for entry in scores:
        what, word, together = COUNTED[entry["scenario"]]
        hits = entry["benchmarks" if together else "tasks"].get(word, 0)
        cases = entry["n_draws"] * (1 if together else entry["n_tasks"])
        found.setdefault(entry["scenario"], []).append(_rate(what, hits, cases))
    return found


def word_rates(cases: Sequence[Entry]) -> list[Rate]:
    """Return how often pools were called what their population is not, and what it is.

    A false word counts among the pools of whose population it is not true, by the mean
    of the others; power among those of which it is true beyond two standard errors.
    """
    false = [
        (f"false {word}", [case for case in cases if word not in case["true"]], word)
        for word in (HELPS, HURTS, EQUAL)
    ]
    said = [
        (f"{POWER}: {word}", [case for case in cases if word in case["surely"]], word)
        for word in (HELPS, HURTS)
    ]
    return [
        _rate(what, sum(case["word"] == word for case in among), len(among))
        for what, among, word in [*false, *said, ("depends", cases, DEPENDS)]
    ]


def coverage(cases: Sequence[Entry]) -> dict[str, tuple[float, ...]]:
    """Return the share of intervals that hold the truth, and what would be right.

    Returns
    -------
    dict
        By measure and rival: coverage of plain and of crossed 95 % intervals, the
        median of crossed over plain standard errors, and the factor that would make
        crossed intervals wide enough for 95 %.
    """
    found = {}
    for name in INTERVALS:
        off, plain, crossed, error, crossed_error = np.array(
            [case["intervals"][name] for case in cases]
        ).T
        scatters = error > 0
        ratio = np.median(crossed_error[scatters] / error[scatters])
        factor = np.quantile(off / crossed, 1 - NOMINAL)
        shares = np.mean(off <= plain), np.mean(off <= crossed)
        found[name] = tuple(float(value) for value in (*shares, ratio, factor))
    return found


def _by_cell(populations: Sequence[Entry]) -> dict[Cell, list[Entry]]:
    """Return the cases of each cell; of all kinds together last, by rows and method."""
    found: dict[Cell, list[Entry]] = {}
    for kind in (None, "all"):
        for entry in populations:
            cell = kind or entry["kind"], entry["rows"], entry["method"]
            found.setdefault(cell, []).extend(entry["cases"])
    return found


def comparison_rates(comparisons: Sequence[Entry]) -> dict[int, list[Rate]]:
    """Return how often a source was recommended, by number of labelled rows.

    In error where the source has no geometry of classes in common with the target, or
    a misleading one; by right (*power*) where it shares all of it.
    """
    found: dict[int, list[Rate]] = {}
    for n_labelled in dict.fromkeys(entry["n_labelled"] for entry in comparisons):
        found[n_labelled] = []
        for geometry, what in TOLD_OF_GEOMETRY.items():
            decisions = [
                entry["decision"]
                for entry in comparisons
                if (entry["n_labelled"], entry["geometry"]) == (n_labelled, geometry)
            ]
            rate = _rate(what, decisions.count(USE), len(decisions))
            found[n_labelled].append(rate)
    return found


def _rate(what: str, hits: int, cases: int) -> Rate:
    error = (NOMINAL * (1 - NOMINAL) / max(cases, 1)) ** 0.5
    bounded = what.startswith("false")
    return Rate(what, hits, cases, NOMINAL + 2 * error if bounded else 1.0)


def standard_error_ratios(
    folder: str | os.PathLike[str],
) -> dict[str, list[float]]:
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
        The study has no scores by row.
    """
    files = sorted(Path(folder, "scores").glob("*.npz"))
    if not files:
        raise DataError(
            f"{folder} has no scores/<benchmark>.npz, which a study writes with its "
            "scores. Run it again."
        )
    found: dict[str, list[float]] = {"source states": [], "pairs of methods": []}
    for scores in map(RowScores, files):
        fits = {c: scores.right(*c) for c in scores.cells() if c[0] in {MAIN, *STATES}}
        for (one, values), (other, rival) in combinations(fits.items(), 2):
            states = one[1:] == other[1:] and MAIN in {one[0], other[0]}
            if not states and not (one[:2] == other[:2] and one[0] == MAIN):
                continue
            shared = min(len(values), len(rival))
            part = Stratum(1.0, values[:shared] - rival[:shared])
            plain, crossed = plain_and_crossed([part])
            if plain.error > 0:
                key = "source states" if states else "pairs of methods"
                found[key].append(crossed.error / plain.error)
    return found


def ratios_table(ratios: Mapping[str, Sequence[float]]) -> str:
    """Return medians and quartiles of `standard_error_ratios` as lines."""
    lines = ["Crossed over plain standard errors, accuracy: median (quartiles)"]
    for what, values in ratios.items():
        low, middle, high = np.quantile(values or [np.nan], [0.25, 0.5, 0.75])
        numbers = f"{middle:.2f} ({low:.2f} to {high:.2f})"
        lines.append(f"{what:>18}  {numbers}, {len(values)} gains")
    return "\n".join([*lines, ""])


def verdicts_table(results: Mapping[str, Sequence[Entry]]) -> str:
    """Return the results of `bench_verdicts` as aligned tables; of no part, nothing."""
    tables = {
        SCORES: _score_lines,
        POPULATIONS: _population_lines,
        COMPARISONS: _comparison_lines,
    }
    shown = [make(results[part]) for part, make in tables.items() if results[part]]
    return "\n\n".join("\n".join(lines) for lines in shown) + "\n"


def _score_lines(scores: Sequence[Entry]) -> list[str]:
    sizes = [f"{trials} x {tasks}" for trials, tasks in product(TRIALS, TASKS)]
    lines = ["Simulated rows, by trials x tasks: how often said, in % (the bound),"]
    lines += ["a star where it is broken"]
    lines.append(f"{'':46}" + "".join(f"{size:>14}" for size in sizes))
    for scenario, rates in score_rates(scores).items():
        cells = "".join(f"{_cell(rate):>14}" for rate in rates)
        lines.append(f"{rates[0].what + ': ' + scenario:46}{cells}")
    return lines


def _population_lines(populations: Sequence[Entry]) -> list[str]:
    cells = _by_cell(populations)
    first = f"{'':12}{'rows':>5}  {'method':10}"
    lines = ["Planted populations: plain / crossed 95 % intervals that hold the truth,"]
    lines += ["in %; crossed by plain standard error; factor to 95 % (both over none)"]
    heads = "".join(f"{name:>18}" for name in INTERVALS)
    lines.append(f"{first}{heads}  ratio factor")
    for (kind, rows, method), cases in cells.items():
        found = coverage(cases)
        shares = (f"{100 * p:.1f} / {100 * c:.1f}" for p, c, *_ in found.values())
        line = f"{kind:12}{rows:>5}  {method:10}" + "".join(f"{s:>18}" for s in shares)
        ratio, factor = found[INTERVALS[0]][2:]
        lines.append(f"{line}{ratio:>7.2f}{factor:>7.2f}")
    lines += [
        "",
        "Planted populations: verdicts, in % (the bound), a star where broken",
    ]
    heads = "".join(f"{rate.what:>14}" for rate in word_rates([]))
    lines.append(first + heads)
    for (kind, rows, method), cases in cells.items():
        rates = "".join(f"{_cell(rate):>14}" for rate in word_rates(cases))
        lines.append(f"{kind:12}{rows:>5}  {method:10}{rates}")
    return lines


def _comparison_lines(comparisons: Sequence[Entry]) -> list[str]:
    lines = ["Comparisons by hold-out: how often to use the source was said, in %"]
    names = [f"{name}: {what}" for name, what in TOLD_OF_GEOMETRY.items()]
    lines.append(f"{'labelled':>15}" + "".join(f"{name:>24}" for name in names))
    for n_labelled, rates in comparison_rates(comparisons).items():
        cells = "".join(f"{_cell(rate):>24}" for rate in rates)
        lines.append(f"{n_labelled:>15}{cells}")
    return lines


def _cell(rate: Rate) -> str:
    if not rate.cases:
        return "–"
    share = f"{100 * rate.share:.1f}"
    if rate.bound == 1:
        return share
    return f"{share} ({100 * rate.bound:.1f}){'*' if rate.too_often else ' '}"
