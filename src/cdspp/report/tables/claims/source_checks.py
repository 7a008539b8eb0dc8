"""Kinds of checks on the source: whether it helps, and whether noise does as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from cdspp.analysis.answers import answer, verdict_of, without_source
from cdspp.analysis.source_help import of_method, on_average
from cdspp.analysis.verdicts import (
    ALPHA,
    COLLAPSED,
    EQUAL,
    HELPS,
    HURTS,
    MIN_TRIALS,
    RULE,
    STATEMENTS,
    holm,
)
from cdspp.core.names import ALONE, BASELINE, CLASS_NOISE
from cdspp.core.wording import counted, in_points, sentence
from cdspp.report.tables.claims.evidence import (
    NOT_SUPPORTED,
    SUPPORTED,
    Evidence,
    Judgement,
    NotTestable,
)

__all__ = ["NoiseDoes", "Transfer", "WithoutSource"]
_RULE = (
    "Not supported where some method does better with the real source than {other} "
    "(one-sided t test on the average over tasks at 5 %, Holm's correction over "
    "methods); supported where none does, and most are equal within the margin or do "
    "better {other}; otherwise open. Methods with at least "
    f"{MIN_TRIALS} trials."
)


@dataclass(frozen=True)
class Transfer:
    """The source helps the reference, on the average over tasks."""

    rule: ClassVar[str] = f"{RULE} Here it is applied to the average over tasks."

    def __call__(self, evidence: Evidence) -> Judgement:
        """Apply the rule to the average."""
        ours = of_method(evidence.comparisons)
        if not ours["state"].any():
            raise NotTestable("no other source state was run")
        word = verdict_of(on_average(ours))
        if word not in STATEMENTS:
            raise NotTestable(answer(evidence.comparisons).rstrip("."))
        verdict = SUPPORTED if word == HELPS else NOT_SUPPORTED
        return Judgement(verdict, answer(evidence.comparisons))


@dataclass(frozen=True)
class NoiseDoes:
    """Noise around a centre a class does as well as the source, whatever the method."""

    rule: ClassVar[str] = _RULE.format(other="with class noise")

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare every method with itself on class noise."""
        pairs = _pairs(evidence.comparisons, CLASS_NOISE)
        return _judge(pairs, _counts(pairs) + _alone(evidence.comparisons))


@dataclass(frozen=True)
class WithoutSource:
    """What a method gains over the baseline is there without any source."""

    rule: ClassVar[str] = _RULE.format(other="without one")

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare every method with itself without a source."""
        pairs = _pairs(evidence.comparisons, ALONE)
        told = without_source(evidence.comparisons)
        if not told:
            raise NotTestable(f"{BASELINE} does not run in this study")
        text = "gain over SVM_t without a source, of the gain with it: "
        return _judge(pairs, text + ", ".join(told))


def _pairs(comparisons: pd.DataFrame, rival: str) -> list[Any]:
    """Return every method against itself in one state, on the average over tasks."""
    found = [
        pair
        for _, group in comparisons.groupby("row", sort=False)
        for pair in on_average(group).itertuples()
        if pair.rival == rival and pair.trials >= MIN_TRIALS and pair.pair != COLLAPSED
    ]
    if not found:
        raise NotTestable(f"no method has {MIN_TRIALS} trials in the state {rival}")
    return found


def _ahead(pairs: Sequence[Any]) -> list[Any]:
    """Return those that are better with the real source, Holm's correction made."""
    sure = holm([pair.p_above for pair in pairs])
    return [pair for pair, p in zip(pairs, sure, strict=True) if p < ALPHA]


def _judge(pairs: Sequence[Any], numbers: str) -> Judgement:
    """Judge the claim that the real source is no better than what it is paired with.

    Raises
    ------
    NotTestable
        None is better with the real source, but most are not shown to be equal either.
    """
    ahead = _ahead(pairs)
    level = [pair for pair in pairs if pair.pair in (EQUAL, HURTS)]
    if not ahead and 2 * len(level) <= len(pairs):
        raise NotTestable(f"open: {numbers}")
    return Judgement(NOT_SUPPORTED if ahead else SUPPORTED, f"{sentence(numbers)}.")


def _counts(pairs: Sequence[Any]) -> str:
    ahead = _ahead(pairs)
    names = ", ".join(
        f"{pair.display_name} {in_points(pair.gain, sign=True)}" for pair in ahead
    )
    words = [pair.pair for pair in pairs]
    return (
        f"of {counted(len(pairs), 'method')}, better with the real source: "
        f"{len(ahead)}{f' ({names})' if names else ''}; equal: {words.count(EQUAL)}; "
        f"better with class noise: {words.count(HURTS)}"
    )


def _alone(comparisons: pd.DataFrame) -> str:
    """Say how many methods are better with the real source than without any."""
    try:
        pairs = _pairs(comparisons, ALONE)
    except NotTestable:
        return ""
    better = f"{len(_ahead(pairs))} of {len(pairs)}"
    return f". Better with the real source than without any: {better}"
