"""From accuracies of repeated hold-out to a decision whether to use the source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from cdspp.analysis.answers import interval_text
from cdspp.analysis.paired import PairedGain, gain_of
from cdspp.analysis.summary import Floats, mean_sd
from cdspp.analysis.verdicts import (
    EQUAL,
    HELPS,
    HURTS,
    UNDECIDED,
    judge_pair,
    judge_tasks,
)
from cdspp.core.names import ALONE, REAL
from cdspp.core.wording import counted, in_points
from cdspp.methods import method_class
from cdspp.stages.source_states import STATES

__all__ = [
    "ALONE_BETTER",
    "CANNOT_TELL",
    "USE",
    "Comparison",
    "HoldOut",
    "conclude",
]

USE, ALONE_BETTER, CANNOT_TELL = "use", "train on the target alone", "cannot tell"


@dataclass(frozen=True, eq=False)
class Comparison:
    """What repeated hold-out says of a source.

    Attributes
    ----------
    accuracies : DataFrame
        By method, source state and number of labelled rows per class in the fit: mean
        accuracy over repeats, and its deviation. Other states than the real one are
        run with all labels alone.
    gains : DataFrame
        By method and state: the gain of the real source, with its 95 % interval.
    verdicts : DataFrame
        By method: the verdict after Holm's correction over methods.
    decision : str
        `USE`, `ALONE_BETTER` or `CANNOT_TELL`.
    method : str
        Which method to use: with the source if the decision is `USE`.
    sentence : str
        All of it in words.
    note : str
        What else is to be said of the rows, often nothing.
    """

    accuracies: pd.DataFrame
    gains: pd.DataFrame
    verdicts: pd.DataFrame
    decision: str
    method: str
    sentence: str
    note: str = ""


class HoldOut(NamedTuple):
    """Accuracies of repeated hold-out, NaN where a method failed.

    Attributes
    ----------
    n_train, n_test : int
        Labelled rows in the fit and held out, in each repeat.
    labels : int
        Most labelled rows per class in the fit.
    methods : sequence of str
        Identifiers.
    states : mapping of (str, str) to ndarray of shape (n_repeats,)
        By method and source state, with all labels.
    fewer : mapping of (str, int) to ndarray of shape (n_repeats,)
        By method and number of labelled rows per class, with the real source.
    """

    n_train: int
    n_test: int
    labels: int
    methods: Sequence[str]
    states: Mapping[tuple[str, str], Floats]
    fewer: Mapping[tuple[str, int], Floats]


def conclude(found: HoldOut, margin: float, wanted: float) -> Comparison:
    """Judge what was found, and say it.

    Repeats of hold-out share rows: their variance counts 1/k + n_test / n_train times,
    so that more repeats of the same rows do not narrow an interval without end, and no
    standard error is below what one labelled row would change
    (`cdspp.analysis.paired.gain_of`).

    Parameters
    ----------
    found : HoldOut
        The accuracies.
    margin, wanted : float
        As shares: gains within the margin count as equal; the gain to which the number
        of labelled rows that would be needed refers.
    """
    overlap, states = found.n_test / found.n_train, found.states
    n_labelled = found.n_test + found.n_train
    asked = [name for name in found.methods if method_class(name).uses_source]
    gains = {
        name: {
            state: gain_of(
                states[name, REAL] - states[name, state],
                overlap=overlap,
                resolution=1 / n_labelled,
            )
            for state in STATES
            if state != REAL
        }
        for name in asked
    }
    verdicts = _verdicts(gains, states, margin)
    decision, method = _decide(verdicts, found.methods, states)
    sentence = _sentence(decision, method, gains, verdicts, n_labelled, wanted)
    return Comparison(
        _accuracies(found),
        _gains(gains, margin),
        verdicts,
        decision,
        method,
        sentence,
    )


def _verdicts(
    gains: dict[str, dict[str, PairedGain]],
    found: Mapping[tuple[str, str], Floats],
    margin: float,
) -> pd.DataFrame:
    """Judge the methods together: Holm's correction covers all that were tried."""
    judged = judge_tasks(list(gains.values()), margin=margin)
    return pd.DataFrame(
        {
            "method": name,
            "display_name": method_class(name).display_name,
            "accuracy": mean_sd(found[name, REAL])[0],
            "alone": mean_sd(found[name, ALONE])[0],
            "verdict": verdict.word,
            **{k: v for k, v in vars(verdict).items() if k != "word"},
        }
        for name, verdict in zip(gains, judged, strict=True)
    )


def _decide(
    verdicts: pd.DataFrame,
    methods: Sequence[str],
    found: Mapping[tuple[str, str], Floats],
) -> tuple[str, str]:
    """Return the decision, and the best method that goes with it."""
    helped = verdicts[verdicts["verdict"] == HELPS]
    if len(helped):
        return USE, str(helped.loc[helped["accuracy"].idxmax(), "method"])
    alone = {
        name: mean_sd(found[name, ALONE if (name, ALONE) in found else REAL])[0]
        for name in methods
    }
    best = max(alone, key=lambda name: (not math.isnan(alone[name]), alone[name]))
    settled = verdicts["verdict"].isin([HURTS, EQUAL]).all()
    return (ALONE_BETTER if settled else CANNOT_TELL), best


def _sentence(
    decision: str,
    method: str,
    gains: dict[str, dict[str, PairedGain]],
    verdicts: pd.DataFrame,
    n_labelled: int,
    wanted: float,
) -> str:
    name = method_class(method).display_name
    if decision == USE:
        return (
            f"Use the source with {name}: over no source it gains "
            f"{interval_text(gains[method][ALONE])}, and it is better than in every "
            "other source state."
        )
    if decision == ALONE_BETTER:
        return (
            f"Train on the target alone, for instance by {name}: that the source hurts "
            f"or makes no difference is settled for {_tried(verdicts, 'each')}."
        )
    open_ones = verdicts[verdicts["verdict"] == UNDECIDED]
    least = float(open_ones["detectable"].min())
    tried = _tried(verdicts, "any")
    text = f"Cannot tell: that the source is of use is not sure for {tried}"
    if not math.isnan(least):
        needed = math.ceil(n_labelled * max((least / wanted) ** 2, 1.0))
        text += (
            f"; with {n_labelled} labelled rows a gain below {in_points(least)} points "
            f"would be missed, and one of {in_points(wanted)} needs about {needed}"
        )
    return f"{text}. Until then {name} without the source is the plain choice."


def _tried(verdicts: pd.DataFrame, which: str) -> str:
    """Name what was tried: one method, or any or each of some."""
    if len(verdicts) == 1:
        return str(verdicts["display_name"].iloc[0])
    return f"{which} of {counted(len(verdicts), 'method')}"


def _accuracies(found: HoldOut) -> pd.DataFrame:
    cells = [
        *((name, state, found.labels, x) for (name, state), x in found.states.items()),
        *((name, REAL, labels, x) for (name, labels), x in found.fewer.items()),
    ]
    return pd.DataFrame(
        {
            "method": name,
            "display_name": method_class(name).display_name,
            "state": state,
            "labels": labels,
            "mean": mean_sd(values)[0],
            "sd": mean_sd(values)[1],
            "repeats": int(np.isfinite(values).sum()),
        }
        for name, state, labels, values in cells
    )


def _gains(gains: dict[str, dict[str, PairedGain]], margin: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "method": name,
            "display_name": method_class(name).display_name,
            "state": state,
            "gain": gain.gain,
            "low": gain.low,
            "high": gain.high,
            "p_above": gain.p_above,
            "p_below": gain.p_below,
            "pair": judge_pair(gain, margin),
        }
        for name, states in gains.items()
        for state, gain in states.items()
    )
