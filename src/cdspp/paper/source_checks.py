"""Checks of claims about the source and its states."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis import answers, source_help, verdicts
from cdspp.analysis.source_help import Rival, SampleComparison
from cdspp.analysis.verdicts import EQUAL, HELPS, HURTS, MIN_TRIALS, TOO_FEW
from cdspp.core.names import ALONE, AVERAGE, MAIN, REFERENCE, SELECTED
from cdspp.core.wording import counted, in_points
from cdspp.paper.evidence import Decision, Evidence, NotTestable, decide


def transfer(evidence: Evidence, method: str) -> Decision:
    """Check that the source helps a method, averaged over tasks."""
    rows = evidence.comparisons["row"].isin([method, f"{method}, {SELECTED}"])
    comparisons = evidence.comparisons.assign(role=np.where(rows, REFERENCE, ""))
    of_method = source_help.of_reference(comparisons)
    if not of_method["state"].any():
        raise NotTestable("no other source state was run")
    average = source_help.on_average(of_method)
    states = list(average[average["state"]].itertuples())
    text = answers.reference_answer(comparisons)
    verdict = answers.verdict_of(average)
    trials = min(state.trials for state in states)
    if not trials or verdict == verdicts.COLLAPSED:
        raise NotTestable(text.rstrip("."))
    if verdict == TOO_FEW:
        text += f" Gains over {_gains(states, 'rival_name')}."
    return Decision(
        decide(trials, holds=verdict == HELPS, opposite=verdict in (HURTS, EQUAL)),
        f"{text} {_trials(states)}.",
    )


def as_good(evidence: Evidence, state: str) -> Decision:
    """Check that no method does better with the real source than in one state."""
    every = _pairs(evidence.comparisons, state, least=1)
    if not every:
        raise NotTestable(f"no method has a trial in the state {state}")
    pairs = [pair for pair in every if pair.trials >= MIN_TRIALS]
    ahead = _gaining(pairs)
    level = [pair for pair in pairs if pair.pair in (EQUAL, HURTS)]
    text = f"gains with the real source over {state}: {_gains(every, 'display_name')}"
    if pairs and state != ALONE:
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
    """Check that most methods do better in a state than in another, or than one."""
    summary, gains, collapsed = evidence.summary, {}, []
    places = {(row.setting, row.method): i for i, row in enumerate(summary.rows)}
    for place, row in enumerate(summary.rows):
        places.setdefault((ALONE, row.stands_for), place)
    task = AVERAGE if len(summary.tasks) > 1 else summary.tasks[0]
    for row in evidence.methods:
        index = places.get((state, row.method))
        rival_place = places.get((rival, row.method), places.get((MAIN, rival)))
        if index is None or rival_place is None:
            continue
        pair = SampleComparison(summary.rows[index], index, summary, evidence.by_row)
        other = Rival(rival, rival, True, rival_place)
        gain = pair.gain(other, task, "")
        if pair.collapsed(other, task):
            collapsed.append(row.display_name)
        elif gain.trials:
            gains[row.display_name] = gain
    if not gains:
        raise NotTestable(f"nothing ran in the state {state} to compare with {rival}")
    full = {k: gain for k, gain in gains.items() if gain.trials >= MIN_TRIALS} or gains
    values = list(full.values())
    decisions = [verdicts.decide_pair(g, evidence.plan.margin / 100) for g in values]
    ahead, level = _gaining(values), decisions.count(EQUAL) + decisions.count(HURTS)
    holds, opposite = 2 * len(ahead) > len(values), 2 * level > len(values)
    each = (f"{name} {in_points(g.gain, sign=True)}" for name, g in full.items())
    return Decision(
        decide(values[0].trials, holds=holds, opposite=opposite and not ahead),
        f"On {_trials(values)}, gains in the state {state} over {rival}: "
        f"{', '.join(each)}; significantly better: {len(ahead)} of {len(values)}"
        f"{'; collapsed: ' if collapsed else ''}{', '.join(collapsed)}.",
    )


def _pairs(comparisons: pd.DataFrame, rival: str, least: int = MIN_TRIALS) -> list[Any]:
    """Return every method against itself in one state, averaged over tasks."""
    return [
        pair
        for group in source_help.by_default(comparisons)
        for pair in source_help.on_average(group).itertuples()
        if pair.rival == rival and pair.trials >= least
        if pair.pair != verdicts.COLLAPSED
    ]


def _gaining(pairs: Sequence[Any]) -> list[Any]:
    """Return the pairs with a gain above zero after Holm's correction."""
    holm = verdicts.holm([pair.p_above for pair in pairs])
    return [pair for pair, p in zip(pairs, holm, strict=True) if p < verdicts.ALPHA]


def _state_text(comparisons: pd.DataFrame, pairs: Sequence[Any], state: str) -> str:
    ahead, over_none = _gaining(pairs), _pairs(comparisons, ALONE)
    names = f" ({_gains(ahead, 'display_name')})" if ahead else ""
    pair_verdicts = [pair.pair for pair in pairs]
    text = (
        f"of {counted(len(pairs), 'method')}, better with the real source: "
        f"{len(ahead)}{names}; equal: {pair_verdicts.count(EQUAL)}; "
        f"better with {state.replace('-', ' ')}: {pair_verdicts.count(HURTS)}"
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
