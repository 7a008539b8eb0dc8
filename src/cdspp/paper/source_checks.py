"""Checks of claims about the source and its controls."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis import answers, source_help, transfer, verdicts
from cdspp.analysis.source_help import Comparator, SampleComparison
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core.names import AVERAGE, MAIN, NO_SOURCE, REFERENCE, SELECTED
from cdspp.core.wording import counted, in_points
from cdspp.paper.evidence import Decision, Evidence, NotTestable, decide

# No help: the opposite of a claim that a source helps.
_NONE = Transfer.NEGATIVE, Transfer.NO_EFFECT


def source_helps(evidence: Evidence, method: str) -> Decision:
    """Check that the source helps a method, averaged over tasks."""
    rows = evidence.comparisons["row"].isin([method, f"{method}, {SELECTED}"])
    comparisons = evidence.comparisons.assign(role=np.where(rows, REFERENCE, ""))
    of_method = source_help.of_reference(comparisons)
    if not of_method["state"].any():
        raise NotTestable(transfer.NOT_RUN)
    average = source_help.on_average(of_method)
    states = list(average[average["state"]].itertuples())
    text = answers.reference_answer(comparisons)
    verdict, reason = answers.verdict_of(average), average["reason"].iloc[0]
    trials = min(state.trials for state in states)
    if not trials or reason == transfer.DEGENERATE:
        raise NotTestable(text.rstrip("."))
    if reason == transfer.TOO_FEW:
        text += f" Gains over {_gains(states, 'comparator_name')}."
    return Decision(
        decide(trials, holds=verdict is Transfer.POSITIVE, opposite=verdict in _NONE),
        f"{text} {_trials(states)}.",
    )


def as_good(evidence: Evidence, state: str) -> Decision:
    """Check that no method does better with the real source than under a control."""
    every = _pairs(evidence.comparisons, state, least=1)
    if not every:
        raise NotTestable(f"no method has a trial under the control {state}")
    pairs = [pair for pair in every if pair.trials >= MIN_TRIALS]
    ahead = _gaining(pairs)
    level = [pair for pair in pairs if Transfer.of(pair.pair) in _NONE]
    text = f"gains with the real source over {state}: {_gains(every, 'display_name')}"
    if pairs and state != NO_SOURCE:
        text = _state_text(evidence.comparisons, pairs, state)
    elif pairs:
        gains = answers.without_source(evidence.comparisons)
        if not gains:
            raise NotTestable("the baseline does not run in this study")
        text = "part of the gain over SVM_t that needs no source: "
        text += ", ".join(gains)
    trials = min((pair.trials for pair in pairs), default=0)
    holds = not ahead and 2 * len(level) > len(pairs)
    return Decision(
        decide(trials, holds=holds, opposite=bool(ahead)),
        f"On {_trials(pairs or every)}, {text}.",
    )


def better_in_state(evidence: Evidence, state: str, rival: str) -> Decision:
    """Check that most methods do better under a control than another, or than one."""
    summary, gains, degenerate = evidence.summary, {}, []
    places = {(row.setting, row.method): i for i, row in enumerate(summary.rows)}
    for place, row in enumerate(summary.rows):
        places.setdefault((NO_SOURCE, row.stands_for), place)
    task = AVERAGE if len(summary.tasks) > 1 else summary.tasks[0]
    for row in evidence.methods:
        index = places.get((state, row.method))
        rival_place = places.get((rival, row.method), places.get((MAIN, rival)))
        if index is None or rival_place is None:
            continue
        pair = SampleComparison(summary.rows[index], index, summary, evidence.by_row)
        other = Comparator(rival, rival, True, rival_place)
        gain = pair.gain(other, task, "")
        if pair.degenerate(other, task):
            degenerate.append(row.display_name)
        elif gain.trials:
            gains[row.display_name] = gain
    if not gains:
        raise NotTestable(
            f"nothing ran under the control {state} to compare with {rival}"
        )
    full = {k: gain for k, gain in gains.items() if gain.trials >= MIN_TRIALS} or gains
    values = list(full.values())
    decisions = [verdicts.decide_pair(g, evidence.plan.margin / 100) for g in values]
    ahead, level = _gaining(values), sum(found in _NONE for found in decisions)
    holds, opposite = 2 * len(ahead) > len(values), 2 * level > len(values)
    each = (f"{name} {in_points(g.gain, sign=True)}" for name, g in full.items())
    return Decision(
        decide(values[0].trials, holds=holds, opposite=opposite and not ahead),
        f"On {_trials(values)}, gains under the control {state} over {rival}: "
        f"{', '.join(each)}; significantly better: {len(ahead)} of {len(values)}"
        f"{f'; {transfer.DEGENERATE}: ' * bool(degenerate)}{', '.join(degenerate)}.",
    )


def _pairs(comparisons: pd.DataFrame, rival: str, least: int = MIN_TRIALS) -> list[Any]:
    """Return every method against itself under a control, averaged over tasks."""
    return [
        pair
        for group in source_help.by_default(comparisons)
        for pair in source_help.on_average(group).itertuples()
        if pair.comparator == rival and pair.trials >= least
        if not pair.degenerate
    ]


def _gaining(pairs: Sequence[Any]) -> list[Any]:
    """Return the pairs with a gain above zero after Holm's correction."""
    holm = verdicts.holm([pair.p_above for pair in pairs])
    return [pair for pair, p in zip(pairs, holm, strict=True) if p < verdicts.ALPHA]


def _state_text(comparisons: pd.DataFrame, pairs: Sequence[Any], state: str) -> str:
    ahead, over_none = _gaining(pairs), _pairs(comparisons, NO_SOURCE)
    names = f" ({_gains(ahead, 'display_name')})" if ahead else ""
    found = [Transfer.of(pair.pair) for pair in pairs]
    text = (
        f"of {counted(len(pairs), 'method')}, better with the real source: "
        f"{len(ahead)}{names}; {Transfer.NO_EFFECT.word}: "
        f"{found.count(Transfer.NO_EFFECT)}; better with {state.replace('-', ' ')}: "
        f"{found.count(Transfer.NEGATIVE)}"
    )
    if not over_none:
        return text
    better = f"{len(_gaining(over_none))} of {len(over_none)}"
    return f"{text}. Better with the real source than without any: {better}"


def _gains(pairs: Sequence[Any], name: str) -> str:
    texts = ((getattr(pair, name), in_points(pair.gain, sign=True)) for pair in pairs)
    return ", ".join(map(" ".join, texts))


def _trials(pairs: Sequence[Any]) -> str:
    least, most = (f(pair.trials for pair in pairs) for f in (min, max))
    return counted(most, "trial") if least == most else f"{least} to {most} trials"
