"""Regret of following the vote, over families of problems, beside ten-minute recipes.

Every candidate is fitted to each draw of `benchmarks.decision_families`, over hold-outs
and on all labelled rows, and its labels are stored. Rules are judged on what is stored.
The *regret* of a policy is the accuracy of the best candidate in hindsight on
unlabelled rows, minus that of what the policy deploys. Families weigh the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.decision_families import FAMILIES, LABELS
from benchmarks.decision_records import DrawRecord, read_records, records_path
from benchmarks.decision_votes import Answer, answer, source_gain
from benchmarks.earlier_bet import export_code
from benchmarks.measure import run_module
from cdspp.core.seeding import generator
from cdspp.methods.base import Int

__all__ = [
    "ALWAYS",
    "BET",
    "DRAWS",
    "GATED",
    "RECIPES",
    "VOTE",
    "WITHOUT",
    "Gate",
    "Mean",
    "bench_decisions",
    "covered",
    "family_mean",
    "gates",
    "outcomes",
    "paired",
    "policy_means",
]

DRAWS = 2
VOTE, WITHOUT = "vote", "vote without the source"
BET = "bet of 0.3.0"
ALWAYS = "target-only"
GATED = (2, 30)  # labels a class, from and to
# What somebody does in ten minutes: the first of these that can be fitted.
RECIPES: Mapping[str, tuple[str, ...]] = {
    ALWAYS: (ALWAYS,),
    "logistic regression": ("logistic-regression",),
    "shrunken LDA": ("shrunken-lda", "logistic-regression"),
    "random forest": ("random-forest",),
    "extra trees": ("extra-trees",),
    "pooled logistic regression": ("pooled-logistic-regression", "logistic-regression"),
    "pooled random forest": ("pooled-random-forest", "random-forest"),
    "stacked": ("stacked-logistic-regression", "logistic-regression"),
    "shared columns or pairs": ("shared-columns-plus", "paired-map-plus", ALWAYS),
}
TEMPERATURES = (0.04, 0.12)  # of the vote, beside the one in use
LOSS = 0.01  # a policy that loses more over `target-only` misleads
LEAST_FAMILY_GAIN = -0.02
WANTED_COVERAGE = (0.75, 0.90)
LEVEL, RESAMPLES = 0.8, 4000


def bench_decisions(
    families: Sequence[str],
    *,
    labels: Sequence[int] = LABELS,
    draws: int = DRAWS,
    records: Path,
    workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, str]:
    """Fit and store every candidate on draws of families that are not stored yet.

    Parameters
    ----------
    families : sequence of str
        Names of `FAMILIES`.
    labels : sequence of int, default=(0, 1, 2, 3, 5, 10, 30)
        Labels a class.
    draws : int, default=2
        Draws of each family and number of labels.
    records : Path
        Folder of the records, one file a family.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    progress : callable, optional
        Receives a line of text before a family is run.

    Returns
    -------
    dict
        By family whose data are missing, the reason.

    Raises
    ------
    RuntimeError
        A process failed, or the code of version 0.3.0 cannot be read.
    """
    request = {"labels": [*labels], "numbers": [*range(draws)]}
    with TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        code = export_code(Path(folder))
        places = {"folder": str(records.absolute()), "code": str(code)}

        def judge(family: str) -> str:
            progress(family)
            text = json.dumps({"family": family, **request, **places})
            module = "benchmarks.decision_cases"
            reason: str = run_module(module, text, f"Family {family}")
            return reason

        reasons = zip(families, pool.map(judge, families), strict=True)
        return {family: reason for family, reason in reasons if reason}


def outcomes(folder: Path, families: Sequence[str]) -> pd.DataFrame:
    """Return what each policy deploys in each stored draw is worth.

    Returns
    -------
    DataFrame
        By `family`, `labels`, `number` and `policy`: the `accuracy`, the `regret`, the
        `gain` over `target-only`; whether the source is `bad`, the kind of `bridge`;
        for votes, the `estimate` of the accuracy with `low` and `high`; and for the
        vote the `source_gain` over that without the source, with its interval and
        processor `seconds`.
    """
    rows: list[dict[str, Any]] = []
    for family in families:
        bad = FAMILIES[family].bad
        for record in read_records(records_path(folder, family)):
            about = {"family": family, "labels": record.labels, "bad": bad}
            about |= {"number": record.number, "bridge": record.bridge}
            rows += [{**about, **row} for row in _judged(record)]
    return pd.DataFrame(rows)


def _judged(record: DrawRecord) -> Iterator[dict[str, Any]]:
    accuracies = record.accuracies()
    best, reference = max(accuracies.values()), accuracies.get(ALWAYS, np.nan)
    for policy, accuracy, more in _deployed(record, accuracies):
        yield {
            "policy": policy,
            "accuracy": accuracy,
            "regret": best - accuracy,
            "gain": accuracy - reference,
            **more,
        }


def _deployed(
    record: DrawRecord, accuracies: Mapping[str, float]
) -> Iterator[tuple[str, float, dict[str, Any]]]:
    """Yield policies, the accuracy of what they deploy, and more on the vote."""
    together = answer(record)
    more = _with_interval(together)
    if record.labels:
        names = "source_gain", "source_low", "source_high"
        more |= dict(zip(names, source_gain(record), strict=True))
    more["seconds"] = float(record.seconds.sum())
    yield VOTE, record.accuracy(together.codes), more
    if record.labels:
        alone = answer(record, with_source=False)
        yield WITHOUT, record.accuracy(alone.codes), _with_interval(alone)
        yield BET, record.accuracy(record.bet_codes), {"seconds": record.bet_seconds}
    for temperature in TEMPERATURES if record.labels else ():
        codes: Int = answer(record, temperature=temperature).codes
        yield f"vote, temperature {temperature}", record.accuracy(codes), {}
    for recipe, choices in RECIPES.items():
        known = [name for name in choices if name in accuracies]
        if known:
            yield recipe, accuracies[known[0]], {}


def _with_interval(of: Answer) -> dict[str, Any]:
    return dict(zip(("estimate", "low", "high"), of.accuracy, strict=True))


class Mean(NamedTuple):
    """A mean over families, and its 80 % interval over resampled families."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, means: pd.Series) -> Mean:
        """Return the mean of the means of families, or of the draws of one."""
        values = means.dropna().to_numpy(dtype=float)
        if not len(values):
            return cls(np.nan, np.nan, np.nan)
        rng = generator("decisions", "bootstrap")
        resamples = rng.integers(len(values), size=(RESAMPLES, len(values)))
        bounds = (1 - LEVEL) / 2, (1 + LEVEL) / 2
        low, high = np.quantile(values[resamples].mean(axis=1), bounds)
        return cls(float(values.mean()), float(low), float(high))


def family_mean(values: pd.Series, families: pd.Series) -> Mean:
    """Return the mean over families of their means over draws."""
    return Mean.of(values.groupby(families, sort=False).mean())


def policy_means(results: pd.DataFrame) -> pd.DataFrame:
    """Return what each policy costs, families weighted equally.

    Returns
    -------
    DataFrame
        By `policy`: the mean `accuracy`, `regret` and `gain` over `target-only` with
        its 80 % interval (`low`, `high`); the `worst` gain of a draw; the share of
        draws that `lose` more than a point; and the mean and worst gain on bad
        sources (`bad`, `worst_bad`).
    """
    rows = []
    for policy, part in results.groupby("policy", sort=False):
        gain = family_mean(part["gain"], part["family"])
        on_bad = part[part["bad"]]
        row = {
            "policy": policy,
            "accuracy": family_mean(part["accuracy"], part["family"]).mean,
            "regret": family_mean(part["regret"], part["family"]).mean,
            "gain": gain.mean,
            "low": gain.low,
            "high": gain.high,
            "worst": part["gain"].min(),
            "lose": family_mean(part["gain"] < -LOSS, part["family"]).mean,
            "bad": family_mean(on_bad["gain"], on_bad["family"]).mean,
            "worst_bad": on_bad["gain"].min(),
        }
        rows.append(row)
    return pd.DataFrame(rows).set_index("policy")


def paired(results: pd.DataFrame, what: str, ours: str, theirs: str) -> pd.Series:
    """Return the difference of two policies, by family, labels and number."""
    draws = results.pivot(
        index=["family", "labels", "number"], columns="policy", values=what
    )
    difference: pd.Series = draws[ours] - draws[theirs]
    return difference


class Gate(NamedTuple):
    """What is required of the vote, what was measured, and whether it holds."""

    text: str
    measured: Mean
    holds: bool


def gates(results: pd.DataFrame) -> Iterator[Gate]:
    """Yield the requirements on the vote, with at least two labels a class.

    Intervals are 80 % ones over resampled families; for one family, over its draws.
    """
    for rival in (ALWAYS, BET):
        regret = _over_families(paired(results, "regret", VOTE, rival))
        yield Gate(f"regret less than that of {rival}", regret, regret.high < 0)
    means = policy_means(results)
    best = means.loc[[r for r in RECIPES if r in means.index], "accuracy"].idxmax()
    gain = _over_families(paired(results, "accuracy", VOTE, str(best)))
    yield Gate(f"as accurate as every recipe ({best})", gain, gain.mean >= 0)
    on_bad = results[results["bad"]]
    for rival in (ALWAYS, WITHOUT) if len(on_bad) else ():
        loss = _over_families(paired(on_bad, "accuracy", VOTE, rival))
        text = f"no loss on bad sources over {rival}"
        yield Gate(text, loss, loss.high >= 0)
    own = results[results["policy"] == VOTE]
    gains = {name: Mean.of(part["gain"]) for name, part in own.groupby("family")}
    worst = min(gains, key=lambda name: gains[name].high)
    holds = gains[worst].high >= LEAST_FAMILY_GAIN
    yield Gate(f"no family below -2 (worst: {worst})", gains[worst], holds)
    inside = covered(own, "low", "high", own["accuracy"])
    least, most = WANTED_COVERAGE
    holds = inside.low <= most and inside.high >= least
    yield Gate("80 % intervals of the accuracy hold 75 to 90 %", inside, holds)


def _over_families(differences: pd.Series) -> Mean:
    return Mean.of(differences.groupby("family", sort=False).mean())


def covered(draws: pd.DataFrame, low: str, high: str, truth: pd.Series) -> Mean:
    """Return the share of intervals that hold the truth, families weighted equally."""
    known = draws[low].notna()
    inside = (draws[low] <= truth) & (truth <= draws[high])
    return family_mean(inside[known].astype(float), draws["family"][known])
