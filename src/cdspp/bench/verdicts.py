"""`cdspp bench verdicts`: how often the rule on source help errs where truth is known.

Three times: on simulated accuracies whose gains are set (*scores*); on planted
problems, fitted by CDSPP in every source state, whose gains are measured on many fresh
trials (*problems*); and on planted problems with few labelled rows, of which `compare`
holds some out (*comparisons*). `cdspp.bench.verdict_cases` makes and judges the cases.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any, NamedTuple

from cdspp.analysis.decision import USE
from cdspp.analysis.verdicts import EQUAL, HELPS, HURTS, STATEMENTS
from cdspp.bench import verdict_cases
from cdspp.bench.measure import ask_process
from cdspp.bench.verdict_cases import LABELLED, MARGIN, NEAR_ZERO, SCENARIOS
from cdspp.core.names import ALONE

__all__ = [
    "Rate",
    "bench_verdicts",
    "comparison_rates",
    "problem_rates",
    "score_rates",
    "verdicts_table",
]

Entry = Mapping[str, Any]

NOMINAL = 0.05
POWER = "power"
TRUTHS = (HELPS, NEAR_ZERO, HURTS)
TRIALS, TASKS = (5, 10), (1, 4, 16)
# By column: the scenario, the word, and whether a benchmark is one case or its tasks
# are. A false word anywhere among the tasks is what Holm's correction bounds.
COLUMNS: Mapping[str, tuple[str, str, bool]] = {
    "false helps": ("none at zero", HELPS, True),
    "(all at zero)": ("all at zero", HELPS, True),
    "false hurts": ("all at zero", HURTS, True),
    "false equal": ("none at the margin", EQUAL, False),
    "(less scatter)": ("none at the margin, less scatter", EQUAL, False),
    POWER: ("five points", HELPS, False),
}
# What a recommendation is by what a source has in common with the target.
TOLD_OF_GEOMETRY = {
    "none": "false use",
    "misleading": "false use",
    "shared": POWER,
    "shared, wide": POWER,
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
    *,
    draws: int = 2000,
    problems: int = 200,
    fresh: int = 200,
    comparisons: int = 40,
    workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, list[dict[str, Any]]]:
    """Test the rule on simulated scores and on planted problems.

    Parameters
    ----------
    draws : int, default=2000
        Simulated benchmarks a line.
    problems, fresh : int, default=200
        Planted problems, and the trials that tell the truth of each.
    comparisons : int, default=40
        Comparisons by hold-out for each geometry and number of labelled rows.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    progress : callable, optional
        Told what is about to be run.

    Returns
    -------
    dict
        `scores` with an entry a line, `problems` and `comparisons`, as
        `cdspp.bench.verdict_cases.judge_scores`, `judge_problem` and
        `judge_comparison` return them.

    Raises
    ------
    RuntimeError
        A process failed.
    """
    lines = [
        {"scenario": name, "n_tasks": tasks, "n_trials": trials, "n_draws": draws}
        for trials, tasks, name in product(TRIALS, TASKS, SCENARIOS)
    ]
    numbered = [
        {"number": number, "n_trials": max(TRIALS), "n_fresh": fresh}
        for number in range(problems)
    ]
    progress(f"{len(lines)} lines of {draws} simulated benchmarks")
    scores = _ask("scores", lines, workers)
    progress(f"{problems} planted problems")
    judged = _ask("problem", numbered, workers)
    asked = [
        {"n_labelled": n_labelled, "geometry": geometry, "number": number}
        for n_labelled in LABELLED
        for geometry in TOLD_OF_GEOMETRY
        for number in range(comparisons)
    ]
    progress(f"{len(asked)} comparisons")
    compared = _ask("comparison", asked, workers)
    return {"scores": scores, "problems": judged, "comparisons": compared}


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


def score_rates(scores: Sequence[Entry]) -> dict[tuple[int, int], list[Rate]]:
    """Return the rates of `COLUMNS`, by numbers of trials and of tasks."""
    found: dict[tuple[int, int], list[Rate]] = {}
    by_scenario = {
        (entry["n_trials"], entry["n_tasks"], entry["scenario"]): entry
        for entry in scores
    }
    for trials, tasks in dict.fromkeys(key[:2] for key in by_scenario):
        rates = found.setdefault((trials, tasks), [])
        for what, (scenario, word, together) in COLUMNS.items():
            entry = by_scenario[trials, tasks, scenario]
            hits = entry["benchmarks" if together else "tasks"].get(word, 0)
            cases = entry["n_draws"] * (1 if together else tasks)
            rates.append(_rate(what, hits, cases))
    return found


def problem_rates(problems: Sequence[Entry]) -> list[Rate]:
    """Return how often a problem was called what it is not.

    False *helps* and *hurts* count among the problems that do not truly help or hurt,
    false *equal* among those whose true gain over no source is beyond the margin.
    """
    cases = {
        HELPS: [entry for entry in problems if entry["truth"] != HELPS],
        HURTS: [entry for entry in problems if entry["truth"] != HURTS],
        EQUAL: [entry for entry in problems if abs(entry["gains"][ALONE]) > MARGIN],
    }
    return [
        _rate(f"false {word}", sum(e["verdict"] == word for e in entries), len(entries))
        for word, entries in cases.items()
    ]


def comparison_rates(comparisons: Sequence[Entry]) -> dict[int, list[Rate]]:
    """Return how often a source was recommended, by number of labelled rows.

    In error where the source has no geometry of classes in common with the target, or
    a misleading one; by right (*power*) where it shares all of it. With wide classes
    there is more to gain over methods without a source.
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
    return Rate(what, hits, cases, 1.0 if what == POWER else NOMINAL + 2 * error)


def verdicts_table(results: Mapping[str, Sequence[Entry]]) -> str:
    """Return the results of `bench_verdicts` as aligned tables."""
    lines = [
        "Simulated scores: said falsely, in % (the bound), a star where it is broken",
        f"{'trials':>8}{'tasks':>7}" + "".join(f"{c:>15}" for c in COLUMNS),
    ]
    for (trials, tasks), rates in score_rates(results["scores"]).items():
        cells = "".join(f"{_cell(rate):>15}" for rate in rates)
        lines.append(f"{trials:>8}{tasks:>7}{cells}")
    counts = Counter((e["truth"], e["verdict"]) for e in results["problems"])
    lines += ["", "Planted problems: what is true, by what was said"]
    header = [*STATEMENTS, "all"]
    lines.append(f"{'':>15}" + "".join(f"{word:>12}" for word in header))
    for truth in TRUTHS:
        row = [counts[truth, word] for word in STATEMENTS]
        cells = "".join(f"{count:>12}" for count in [*row, sum(row)])
        lines.append(f"{truth:>15}{cells}")
    for rate in problem_rates(results["problems"]):
        lines.append(
            f"{rate.what:>15}{_cell(rate):>15}  {rate.hits} of {rate.cases} problems"
        )
    lines += ["", "Comparisons by hold-out: how often to use the source was said, in %"]
    names = [f"{name}: {what}" for name, what in TOLD_OF_GEOMETRY.items()]
    lines.append(f"{'labelled':>15}" + "".join(f"{name:>24}" for name in names))
    for n_labelled, rates in comparison_rates(results["comparisons"]).items():
        cells = "".join(f"{_cell(rate):>24}" for rate in rates)
        lines.append(f"{n_labelled:>15}{cells}")
    return "\n".join([*lines, ""])


def _cell(rate: Rate) -> str:
    if not rate.cases:
        return "–"
    share = f"{100 * rate.share:.1f}"
    if rate.what == POWER:
        return share
    return f"{share} ({100 * rate.bound:.1f}){'*' if rate.too_often else ' '}"
