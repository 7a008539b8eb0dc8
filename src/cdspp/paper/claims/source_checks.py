"""Kinds of checks on the source: whether it helps, and whether noise does as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from cdspp.analysis.answers import reference_answer, verdict_of, without_source
from cdspp.analysis.source_help import by_default, of_reference, on_average
from cdspp.analysis.verdicts import (
    ALPHA,
    COLLAPSED,
    EQUAL,
    HELPS,
    HURTS,
    MIN_TRIALS,
    RULE,
    TOO_FEW,
    holm,
)
from cdspp.core.names import ALONE, CLASS_NOISE
from cdspp.core.wording import counted, in_points
from cdspp.paper.claims.evidence import Evidence, Judgement, NotTestable, judge

__all__ = ["NoiseDoes", "Transfer", "WithoutSource"]

_RULE = (
    "Contrary where some method does better with the real source than {other} "
    "(one-sided t test on the average over tasks at 5 %, Holm's correction over "
    "methods); supported where none does, and most are equal within the margin or do "
    f"better {{other}}. Methods with at least {MIN_TRIALS} trials."
)


@dataclass(frozen=True)
class Transfer:
    """The source helps the reference, on the average over tasks."""

    rule: ClassVar[str] = (
        f"{RULE} Here it is applied to the average over tasks: supported where the "
        "source helps, contrary where it hurts or the two are equal."
    )

    def __call__(self, evidence: Evidence) -> Judgement:
        """Apply the rule to the average."""
        ours = of_reference(evidence.comparisons)
        if not ours["state"].any():
            raise NotTestable("no other source state was run")
        average = on_average(ours)
        states = list(average[average["state"]].itertuples())
        told = reference_answer(evidence.comparisons)
        word = verdict_of(average)
        trials = min(state.trials for state in states)
        if not trials or word == COLLAPSED:
            raise NotTestable(told.rstrip("."))
        if word == TOO_FEW:
            told += f" Gains over {_gains(states, 'rival_name')}."
        return Judgement(
            judge(trials, holds=word == HELPS, opposite=word in (HURTS, EQUAL)),
            f"{told} {_trials(states)}.",
        )


@dataclass(frozen=True)
class NoiseDoes:
    """Noise around a centre a class does as well as the source, whatever the method."""

    rule: ClassVar[str] = _RULE.format(other="with class noise")

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare every method with itself on class noise."""
        known = evidence.comparisons
        return _judge(known, CLASS_NOISE, lambda pairs: _counts(pairs) + _alone(known))


@dataclass(frozen=True)
class WithoutSource:
    """What a method gains over the baseline is there without any source."""

    rule: ClassVar[str] = _RULE.format(other="without one")

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare every method with itself without a source."""

        def tell(pairs: Sequence[Any]) -> str:
            told = without_source(evidence.comparisons)
            if not told:
                raise NotTestable("the baseline does not run in this study")
            parts = ", ".join(told)
            return f"gain over SVM_t without a source, of the gain with it: {parts}"

        return _judge(evidence.comparisons, ALONE, tell)


def _judge(
    comparisons: pd.DataFrame, rival: str, tell: Callable[[Sequence[Any]], str]
) -> Judgement:
    """Judge the claim that the real source is no better than one state.

    Methods with too few trials take no part, and are named where no other has run.
    """
    known = _pairs(comparisons, rival)
    if not known:
        raise NotTestable(f"no method has a trial in the state {rival}")
    pairs = _settled(known)
    ahead = _ahead(pairs)
    level = [pair for pair in pairs if pair.pair in (EQUAL, HURTS)]
    few = f"gains with the real source over {rival}: {_gains(known, 'display_name')}"
    return Judgement(
        judge(
            min((pair.trials for pair in pairs), default=0),
            holds=not ahead and 2 * len(level) > len(pairs),
            opposite=bool(ahead),
        ),
        f"On {_trials(pairs or known)}, {tell(pairs) if pairs else few}.",
    )


def _pairs(comparisons: pd.DataFrame, rival: str) -> list[Any]:
    """Return every method against itself in one state, on the average over tasks."""
    return [
        pair
        for group in by_default(comparisons)
        for pair in on_average(group).itertuples()
        if pair.rival == rival and pair.trials and pair.pair != COLLAPSED
    ]


def _settled(pairs: Sequence[Any]) -> list[Any]:
    """Return the pairs with trials enough for a test."""
    return [pair for pair in pairs if pair.trials >= MIN_TRIALS]


def _ahead(pairs: Sequence[Any]) -> list[Any]:
    """Return those that are better with the real source, Holm's correction made."""
    sure = holm([pair.p_above for pair in pairs])
    return [pair for pair, p in zip(pairs, sure, strict=True) if p < ALPHA]


def _counts(pairs: Sequence[Any]) -> str:
    ahead = _ahead(pairs)
    names = f" ({_gains(ahead, 'display_name')})" if ahead else ""
    words = [pair.pair for pair in pairs]
    return (
        f"of {counted(len(pairs), 'method')}, better with the real source: "
        f"{len(ahead)}{names}; equal: {words.count(EQUAL)}; "
        f"better with class noise: {words.count(HURTS)}"
    )


def _alone(comparisons: pd.DataFrame) -> str:
    """Say how many methods are better with the real source than without any."""
    pairs = _settled(_pairs(comparisons, ALONE))
    better = f"{len(_ahead(pairs))} of {len(pairs)}"
    told = f". Better with the real source than without any: {better}"
    return told if pairs else ""


def _gains(pairs: Sequence[Any], name: str) -> str:
    return ", ".join(
        f"{getattr(pair, name)} {in_points(pair.gain, sign=True)}" for pair in pairs
    )


def _trials(pairs: Sequence[Any]) -> str:
    least, most = (f(pair.trials for pair in pairs) for f in (min, max))
    return counted(most, "trial") if least == most else f"{least} to {most} trials"
