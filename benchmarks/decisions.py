"""Regret of following `compare`, over families of problems.

`compare` runs on each draw of `benchmarks.decision_families` as it would for a user.
Every candidate is also fitted, so that the best in hindsight is known. The *regret* of
a policy is the accuracy of that candidate on unlabelled rows, minus that of the fit
that the policy deploys. Rules other than that of `compare` are computed from the same
cross-validated gains. `benchmarks.decision_cases` runs and judges the draws.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decision_cases import EXTRA_CANDIDATE, TARGET_ONLY, fit_name
from benchmarks.decision_families import DRAWS, FAMILIES
from benchmarks.measure import run_module
from cdspp.analysis.best_bet import (
    BRIDGE,
    BRIDGE_CANDIDATES,
    LEAST_GAIN,
    PRIORS,
    PSEUDO_ROWS,
    PSEUDO_VARIANCE,
    TRAINING_SCATTER,
    Posterior,
    information,
)
from cdspp.core.seeding import generator

__all__ = [
    "RULES",
    "Rule",
    "bench_decisions",
    "bet_of",
    "calibration",
    "coverage",
    "intervals",
    "draw_results",
    "policies",
    "power",
]

Record = Mapping[str, Any]

PER_PROCESS = 3
SLOW = ("embedded", "requests")  # families whose fits take seconds
BET = "the bet"
BEST_OF_BETS = "best mean of the bet's candidates"
FALSE_BET_LOSS = 0.01  # a bet that loses more over `target-only` is false
GAIN_BINS = (-np.inf, 0.01, 0.05, 0.1, np.inf)  # of true gains
PROBABILITY_BINS = (0.0, 0.35, 0.5, 0.65, 0.8, 1.0)  # of P(better)
RESAMPLES = 4000
DRAW_KEY = ["family", "number"]
DRAW_FIELDS = [*DRAW_KEY, "bad", "set_aside"]


@dataclass(frozen=True)
class Rule:
    """A rule that bets on the candidate of largest posterior mean.

    Attributes
    ----------
    bridged : float
        Prior deviation of methods that use the bridge.
    least : float
        Least posterior mean for a bet.
    pseudo_rows : float
        Number of pseudo-rows, of variance 0.2, added to the labelled rows.
    without : str
        A candidate to leave out.
    """

    bridged: float = PRIORS[BRIDGE].sd
    least: float = LEAST_GAIN
    pseudo_rows: float = PSEUDO_ROWS
    without: str = ""

    def prior(self, method: str) -> Posterior:
        """Return the prior of a method's gain, by the information that it uses."""
        kind = information(method, BRIDGE_CANDIDATES)
        prior = PRIORS[kind]
        return prior._replace(sd=self.bridged) if kind == BRIDGE else prior


SHIPPED = Rule()
RULES: Mapping[str, Rule] = {
    f"without {EXTRA_CANDIDATE}": Rule(without=EXTRA_CANDIDATE),
    "bridges: prior deviation 5": Rule(bridged=0.05),
    "bridges: prior deviation 15": Rule(bridged=0.15),
    "bet from a mean of 0": Rule(least=0.0),
    "no pseudo-rows": Rule(pseudo_rows=0.0),
}


def bench_decisions(
    families: Sequence[str] = (),
    *,
    draws: int = DRAWS,
    coda: str = "",
    workers: int = 2,
    earlier_records: Sequence[Record] = (),
    keep: Callable[[Sequence[Record]], None] = lambda records: None,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Record]:
    """Run `compare` and every candidate on draws of families.

    Parameters
    ----------
    families : sequence of str
        Names of `FAMILIES`; all by default.
    draws : int, default=6
        Draws of each family.
    coda : str, default=""
        Folder of CODA's code, which then takes part in the labelling, except for `SLOW`
        families.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    earlier_records : sequence of dict
        Results of an earlier run, whose draws are not repeated.
    keep : callable, optional
        Receives all results whenever some are added.
    progress : callable, optional
        Receives a line of text before draws are run.

    Returns
    -------
    list of dict
        The records of `benchmarks.decision_cases.judge_draws`, with the kind of family.

    Raises
    ------
    RuntimeError
        A process failed.
    """
    records = [*earlier_records]
    finished_draws = {(record["family"], record.get("number")) for record in records}
    numbers = [range(draws)[k : k + PER_PROCESS] for k in range(0, draws, PER_PROCESS)]
    requests = [
        {
            "family": family,
            "numbers": missing,
            "coda": "" if family.startswith(SLOW) else coda,
        }
        for family in families or FAMILIES
        for block in numbers
        if (missing := [k for k in block if (family, k) not in finished_draws])
    ]

    def run_request(request: dict[str, Any]) -> list[dict[str, Any]]:
        progress(f"{request['family']}: draws {request['numbers']}")
        name = f"Family {request['family']}"
        module = "benchmarks.decision_cases"
        results: list[dict[str, Any]] = run_module(module, json.dumps(request), name)
        return results

    with ThreadPoolExecutor(workers) as pool:
        for results in pool.map(run_request, requests):
            for record in results:
                family = FAMILIES[record["family"]]
                kind = {"bad": family.bad, "set_aside": family.set_aside}
                records.append({**record, **kind})
            keep(records)
    return records


def bet_of(rule: Rule, record: Record) -> str:
    """Return the fit that a rule deploys, from the gains and intervals of a draw.

    The gain `g` over `target-only` is the difference of accuracies; its squared error
    follows from the interval of the posterior under `SHIPPED`.
    """
    accuracies = {c["method"]: c["accuracy"] for c in record["candidates"]}
    means = {}
    for entry in record["candidates"]:
        method = entry["method"]
        if method in (TARGET_ONLY, rule.without) or entry["low"] is None:
            continue
        low, high = Posterior(0.0, 1.0).interval
        sd = (entry["high"] - entry["low"]) / (high - low)
        error = 1 / (1 / sd**2 - 1 / SHIPPED.prior(method).sd ** 2)
        error = _with_pseudo_rows(error, record["n_labelled"], rule.pseudo_rows)
        prior = rule.prior(method)
        share = prior.sd**2 / (prior.sd**2 + error)
        gain = accuracies[method] - accuracies[TARGET_ONLY]
        means[method] = share * gain + (1 - share) * prior.mean
    best = max(means, key=means.__getitem__, default=TARGET_ONLY)
    return fit_name(best) if means.get(best, -np.inf) >= rule.least else TARGET_ONLY


def _with_pseudo_rows(error: float, n: int, pseudo_rows: float) -> float:
    """Return a squared error with another number of pseudo-rows than `SHIPPED` has."""
    shipped_rows = SHIPPED.pseudo_rows
    row_variance = error * n / TRAINING_SCATTER * (n + shipped_rows)
    variance = max((row_variance - shipped_rows * PSEUDO_VARIANCE) / n, 0.0)
    variance_sum = n * variance + pseudo_rows * PSEUDO_VARIANCE
    return TRAINING_SCATTER / n * variance_sum / (n + pseudo_rows)


def draw_results(records: Sequence[Record]) -> pd.DataFrame:
    """Return the fit that each policy deploys in each draw, and its regret.

    Returns
    -------
    DataFrame
        By `family`, `number` and `policy`: the fit `deployed`, its `regret`, its `gain`
        over `target-only`, and whether the source is `bad` and the family `set_aside`.
    """
    rows = []
    for record in records:
        truth = record["truth"]
        draw = {key: record[key] for key in DRAW_FIELDS}
        for policy, name in _deployments(record):
            regret = max(truth.values()) - truth[name]
            gain = truth[name] - truth[TARGET_ONLY]
            row = {"policy": policy, "deployed": name, "regret": regret, "gain": gain}
            rows.append({**draw, **row})
    return pd.DataFrame(rows)


def _deployments(record: Record) -> Iterator[tuple[str, str]]:
    """Yield policies and the fits that they deploy."""
    yield TARGET_ONLY, TARGET_ONLY
    yield BET, record["bet"]
    accuracies = {c["method"]: c["accuracy"] or 0.0 for c in record["candidates"]}
    yield BEST_OF_BETS, fit_name(max(accuracies, key=accuracies.__getitem__))
    for policy, rule in RULES.items():
        yield policy, bet_of(rule, record)


def policies(results: pd.DataFrame) -> pd.DataFrame:
    """Return the regret of each policy, relative to `target-only` on the same draws.

    Parameters
    ----------
    results : DataFrame
        The result of `draw_results` for some families.

    Returns
    -------
    DataFrame
        By `policy`: the number of `draws`; the mean regret over `all` draws, and over
        those with a `good` or `bad` source; the `median` over families of mean regrets;
        the `ratio` to `target-only` with its 95 % interval over resampled families
        (`low`, `high`); the number of `bets` on another fit, the number that are
        `false`, and the `worst` gain; the number of bets that use a bad source
        (`bets_on_bad`, of `n_bad` draws), and of those that lose more than a point
        (`lost`).
    """
    always = results[results["policy"] == TARGET_ONLY].set_index(DRAW_KEY)["regret"]
    rows = []
    for policy, part in results.groupby("policy", sort=False):
        draws = part.set_index(DRAW_KEY)
        base = always[draws.index]
        bets = draws[draws["deployed"] != TARGET_ONLY]
        with_source = draws["deployed"].str.endswith("+source")
        low, high = _ratio_interval(draws["regret"], base)
        means = draws.groupby("bad")["regret"].mean()
        row = {
            "policy": policy,
            "draws": len(draws),
            "all": draws["regret"].mean(),
            "good": means.get(False, np.nan),
            "bad": means.get(True, np.nan),
            "median": draws["regret"].groupby("family").mean().median(),
            "ratio": draws["regret"].sum() / base.sum() if base.sum() else np.nan,
            "low": low,
            "high": high,
            "bets": len(bets),
            "false": int((bets["gain"] < -FALSE_BET_LOSS).sum()),
            "worst": bets["gain"].min() if len(bets) else np.nan,
            "bets_on_bad": int((draws["bad"] & with_source).sum()),
            "lost": int(
                (draws["bad"] & with_source & (draws["gain"] < -FALSE_BET_LOSS)).sum()
            ),
            "n_bad": int(draws["bad"].sum()),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _ratio_interval(regrets: pd.Series, base_regrets: pd.Series) -> tuple[float, float]:
    """Return the 95 % interval of the ratio of sums over resampled families."""
    sums = (
        pd.DataFrame({"own": regrets, "base": base_regrets})
        .groupby("family")
        .sum()
        .to_numpy()
    )
    rng = generator("decisions", "bootstrap")
    resamples = rng.integers(len(sums), size=(RESAMPLES, len(sums)))
    regret_sums, base_sums = sums[resamples].sum(axis=1).T
    ratios = regret_sums[base_sums > 0] / base_sums[base_sums > 0]
    if not len(ratios):
        return np.nan, np.nan
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def intervals(records: Sequence[Record]) -> pd.DataFrame:
    """Return the gains of candidates that `compare` expects, and the true gains.

    Returns
    -------
    DataFrame
        By draw and `method`: `expected`, `low`, `high`, `probability`, the `true` gain
        over `target-only`, and whether its expected gain is the `largest`.
    """
    rows = []
    for record in records:
        truth = record["truth"]
        candidates = [c for c in record["candidates"] if c["method"] != TARGET_ONLY]
        candidates = [c for c in candidates if c["expected_gain"] is not None]
        best = max(candidates, key=lambda c: c["expected_gain"], default=None)
        for entry in candidates:
            row = {
                **{key: record[key] for key in DRAW_FIELDS},
                **{k: entry[k] for k in ("method", "low", "high", "probability")},
                "expected": entry["expected_gain"],
                "true": truth[fit_name(entry["method"])] - truth[TARGET_ONLY],
                "largest": entry is best,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def coverage(gains: pd.DataFrame) -> tuple[float, int]:
    """Return the share of intervals that cover the true gain, and their number."""
    inside = (gains["low"] <= gains["true"]) & (gains["true"] <= gains["high"])
    return float(inside.mean()), len(gains)


def calibration(gains: pd.DataFrame) -> pd.DataFrame:
    """Return the rate of positive gains by P(better); a gain of zero counts half.

    Returns
    -------
    DataFrame
        By bin of P(better), from `least` to `most`: the number of `cases`, the mean
        P(better) (`predicted`) and the rate of positive gains (`observed`).
    """
    bins = np.searchsorted(PROBABILITY_BINS[1:-1], gains["probability"], side="right")
    successes = (gains["true"] > 0) + 0.5 * (gains["true"] == 0)
    rows = []
    for k in range(len(PROBABILITY_BINS) - 1):
        in_bin = bins == k
        mean_chance = gains["probability"][in_bin].mean()
        bounds = {"least": PROBABILITY_BINS[k], "most": PROBABILITY_BINS[k + 1]}
        counts = {
            "cases": int(in_bin.sum()),
            "predicted": mean_chance,
            "observed": successes[in_bin].mean(),
        }
        rows.append({**bounds, **counts})
    return pd.DataFrame(rows)


def power(records: Sequence[Record]) -> pd.DataFrame:
    """Return the rate at which the bet uses the source, by the true gain.

    Returns
    -------
    DataFrame
        By bin of the best true gain over `target-only` among the bet's candidates, from
        `least` to `most`: the number of `draws`, and the share in which the bet uses
        the source (`bet`).
    """
    rows = []
    for record in records:
        names = [fit_name(c["method"]) for c in record["candidates"]]
        best = max(record["truth"][name] for name in names if name != TARGET_ONLY)
        gain = best - record["truth"][TARGET_ONLY]
        rows.append((gain, record["bet"].endswith("+source")))
    draws = pd.DataFrame(rows, columns=["gain", "bet"])
    band_of_draw = np.searchsorted(GAIN_BINS[1:-1], draws["gain"], side="right")
    bands = [
        {
            "least": GAIN_BINS[k],
            "most": GAIN_BINS[k + 1],
            "draws": int(np.sum(band_of_draw == k)),
            "bet": draws.loc[band_of_draw == k, "bet"].mean(),
        }
        for k in range(len(GAIN_BINS) - 1)
    ]
    return pd.DataFrame(bands)
