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

__all__ = ["NOISE_DOES", "WITHOUT_SOURCE", "NoBetter", "Transfer"]


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
class NoBetter:
    """No method does better with the real source than in one other state.

    `tell` says what comparisons, and pairs of a method and itself in that state, show.
    """

    state: str
    other: str
    tell: Callable[[pd.DataFrame, Sequence[Any]], str]

    @property
    def rule(self) -> str:
        """How the verdict is found, in a sentence."""
        return (
            "Contrary where some method does better with the real source than "
            f"{self.other} (one-sided t test on the average over tasks at 5 %, Holm's "
            "correction over methods); supported where none does, and most are equal "
            f"within the margin or do better {self.other}. Methods with at least "
            f"{MIN_TRIALS} trials."
        )

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare every method with itself in that state.

        Methods with too few trials take no part, and are named where no other has run.
        """
        known = _pairs(evidence.comparisons, self.state, least=1)
        if not known:
            raise NotTestable(f"no method has a trial in the state {self.state}")
        pairs = [pair for pair in known if pair.trials >= MIN_TRIALS]
        ahead = _ahead(pairs)
        level = [pair for pair in pairs if pair.pair in (EQUAL, HURTS)]
        gains = _gains(known, "display_name")
        told = f"gains with the real source over {self.state}: {gains}"
        if pairs:
            told = self.tell(evidence.comparisons, pairs)
        trials = min((pair.trials for pair in pairs), default=0)
        holds = not ahead and 2 * len(level) > len(pairs)
        return Judgement(
            judge(trials, holds=holds, opposite=bool(ahead)),
            f"On {_trials(pairs or known)}, {told}.",
        )


def _pairs(comparisons: pd.DataFrame, rival: str, least: int = MIN_TRIALS) -> list[Any]:
    """Return every method against itself in one state, on the average over tasks."""
    return [
        pair
        for group in by_default(comparisons)
        for pair in on_average(group).itertuples()
        if pair.rival == rival and pair.trials >= least and pair.pair != COLLAPSED
    ]


def _ahead(pairs: Sequence[Any]) -> list[Any]:
    """Return those that are better with the real source, Holm's correction made."""
    sure = holm([pair.p_above for pair in pairs])
    return [pair for pair, p in zip(pairs, sure, strict=True) if p < ALPHA]


def _as_noise(comparisons: pd.DataFrame, pairs: Sequence[Any]) -> str:
    """Count the methods that are better with the source, than without any as well."""
    ahead, alone = _ahead(pairs), _pairs(comparisons, ALONE)
    names = f" ({_gains(ahead, 'display_name')})" if ahead else ""
    words = [pair.pair for pair in pairs]
    told = (
        f"of {counted(len(pairs), 'method')}, better with the real source: "
        f"{len(ahead)}{names}; equal: {words.count(EQUAL)}; "
        f"better with class noise: {words.count(HURTS)}"
    )
    if not alone:
        return told
    better = f"{len(_ahead(alone))} of {len(alone)}"
    return f"{told}. Better with the real source than without any: {better}"


def _kept(comparisons: pd.DataFrame, pairs: Sequence[Any]) -> str:
    """Say how much of each gain over the baseline is there without any source."""
    told = without_source(comparisons)
    if not told:
        raise NotTestable("the baseline does not run in this study")
    return f"gain over SVM_t without a source, of the gain with it: {', '.join(told)}"


def _gains(pairs: Sequence[Any], name: str) -> str:
    return ", ".join(
        f"{getattr(pair, name)} {in_points(pair.gain, sign=True)}" for pair in pairs
    )


def _trials(pairs: Sequence[Any]) -> str:
    least, most = (f(pair.trials for pair in pairs) for f in (min, max))
    return counted(most, "trial") if least == most else f"{least} to {most} trials"


# Noise around a centre a class does as well as the source, whatever the method; and
# what a method gains over the baseline is there without any source.
NOISE_DOES = NoBetter(CLASS_NOISE, "with class noise", _as_noise)
WITHOUT_SOURCE = NoBetter(ALONE, "without one", _kept)
