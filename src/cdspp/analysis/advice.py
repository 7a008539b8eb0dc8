"""What repeated hold-out says of a source, in words, and what to type next."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from cdspp.analysis.answers import interval_text
from cdspp.analysis.decision import (
    ALONE_BETTER,
    BEST_ALONE,
    USE,
    Comparison,
    Fit,
    HoldOut,
    Judged,
    judge,
)
from cdspp.analysis.summary import mean_sd
from cdspp.analysis.verdicts import COLLAPSED, MIN_TRIALS, judge_pair
from cdspp.core.names import (
    ALONE,
    MOST_COMPONENTS,
    NO_SCALE,
    PCA,
    REAL,
    STANDARDISE,
    STANDARDISE_EACH,
    UNIT,
)
from cdspp.core.wording import counted, in_points
from cdspp.methods import method_class

__all__ = ["conclude", "of_twice_the_labels", "scale_to_try"]

# What scales rows of a name in scikit-learn as each scale does.
SCALERS = {
    UNIT: "preprocessing.Normalizer()",
    STANDARDISE: "preprocessing.StandardScaler()",
    STANDARDISE_EACH: "preprocessing.StandardScaler()",
    PCA: f"decomposition.PCA(min({MOST_COMPONENTS}, *{{}}.shape))",
}
_OF_GAIN = ("gain", "low", "high", "p_above", "p_below")


def conclude(found: HoldOut, margin: float, wanted: float, scale: str) -> Comparison:
    """Judge held-out rows, and say the result; margin and wanted gain are shares."""
    judged = judge(found, margin)
    parts = [_finding(found, judged, wanted), _doubled(found, judged)]
    few = len(found.classes) < MIN_TRIALS
    if not judged.method and (few or scale_to_try(judged.verdicts, scale) == scale):
        # The same question would have the same answer.
        judged = judged._replace(method=_plain_choice(found))
        name = method_class(judged.method).display_name
        parts.append(f"Until then {name} without the source is the plain choice.")
    unusable = judged.verdicts[judged.verdicts["verdict"] == COLLAPSED]
    if not unusable.empty:
        text = (
            "Excluded, because fits have failed, collapsed or diverged: "
            f"{', '.join(unusable['display_name'])}."
        )
        remedy = " Scale the features (standardise or pca)."
        parts.insert(1, text + remedy * (scale == NO_SCALE))
    return Comparison(
        pd.DataFrame(_accuracies(found)),
        pd.DataFrame(_gains(judged, margin)),
        judged.verdicts,
        judged.decision,
        judged.method,
        judged.gain,
        " ".join(filter(None, parts)),
        _next_step(judged, scale),
        _collapses(found),
    )


def scale_to_try(verdicts: pd.DataFrame, scale: str) -> str:
    """Return the scaling of the next comparison: another one after a collapse."""
    if COLLAPSED not in {*verdicts["verdict"]} or scale == PCA:
        return scale
    return PCA if scale in (STANDARDISE, STANDARDISE_EACH) else STANDARDISE


def of_twice_the_labels(found: HoldOut, fit: Fit) -> float:
    """Return how much accuracy twice the labels per class add; NaN if unknown.

    The error is taken as ``a + b / n`` with `n` labels, by two points. On planted
    problems this is about half of the gain of SVM_t, whose curve stays steep.
    """
    fewer = [f for f in found.right if f[:2] == fit[:2] and f.labels < fit.labels]
    if not fewer:
        return math.nan
    now, before = (found.accuracy(found.right[each]) for each in (fit, fewer[-1]))
    slope = (now - before) / (1 / fewer[-1].labels - 1 / fit.labels)
    return min(max(slope / (2 * fit.labels), 0.0), 1 - now)


def _plain_choice(found: HoldOut) -> str:
    states = {name: ALONE if name in found.asked else REAL for name in found.methods}
    alone = {name: Fit(name, state, found.labels) for name, state in states.items()}
    forms = [name for name in alone if method_class(name).without_source_of]
    return min([*forms, *alone], key=lambda name: found.collapsed[alone[name]])


def _accuracies(found: HoldOut) -> Iterator[dict[str, object]]:
    for fit, right in found.right.items():
        repeats = right[np.isfinite(right).any(axis=1)]
        whole = found.gains(right, np.zeros_like(right)).plain
        yield {
            "method": fit.method,
            "display_name": method_class(fit.method).display_name,
            "state": fit.state,
            "labels": fit.labels,
            "mean": whole.gain,
            "sd": mean_sd(np.nanmean(repeats, axis=1))[1],
            "low": max(whole.low, 0.0),
            "high": min(whole.high, 1.0),
            "repeats": len(repeats),
            "collapsed": found.collapsed[fit],
        }


def _gains(judged: Judged, margin: float) -> Iterator[dict[str, object]]:
    for method, states in judged.over_states.items():
        found = [(state, method, both.plain) for state, both in states.items()]
        rivals = {name: both.plain for name, both in judged.over_alone[method].items()}
        if rivals:
            hardest = max(rivals, key=lambda name: rivals[name].p_above)
            found.append((BEST_ALONE, hardest, rivals[hardest]))
        for state, rival, gain in found:
            yield {
                "method": method,
                "display_name": method_class(method).display_name,
                "state": state,
                "rival": rival,
                **{name: getattr(gain, name) for name in _OF_GAIN},
                "pair": judge_pair(gain, margin),
            }


def _finding(found: HoldOut, judged: Judged, wanted: float) -> str:
    if not judged.method:
        few = len(found.classes) < MIN_TRIALS
        why = "all fits without a source have failed, collapsed or diverged"
        return f"Cannot tell: {f'label {MIN_TRIALS} rows at least' if few else why}."
    name = method_class(judged.method).display_name
    best = method_class(judged.best_alone).display_name
    if judged.gain is not None:
        bridges = method_class(judged.method).bridges
        used = [phrase for kind, phrase in found.bridge.items() if kind in bridges]
        through = f", through the {' and the '.join(used)}," if used else ""
        least = f"{found.least} to " if found.least < found.labels else ""
        row = "row" if found.labels == 1 else "rows"
        return (
            f"Use the source{through} with {name}: fitted on {least}{found.labels} "
            f"labelled {row} per class it gains {interval_text(judged.gain)} over "
            f"{best}, the best without a source, and it is better than in every other "
            "source state. (The gain is shrunk, since the best of several is too large "
            "by chance.)"
        )
    if judged.decision == ALONE_BETTER:
        return (
            f"Train on the target alone, for instance by {name}: the source hurts "
            f"{_tried(judged, 'each')}, makes no difference to it, or leaves it behind "
            "another method without a source."
        )
    return (
        "Cannot tell: these rows do not show that the source helps "
        f"{_tried(judged, 'any')}{_power(found, judged, wanted)}. Until then {name} "
        "without the source is the plain choice."
    )


def _power(found: HoldOut, judged: Judged, wanted: float) -> str:
    least = float(judged.verdicts["detectable"].min())
    if math.isnan(least):
        return ""
    n_labelled = len(found.classes)
    room = 1 - found.accuracy(found.alone[judged.best_alone])
    best = method_class(judged.best_alone).display_name
    rows = f"{n_labelled} labelled rows"
    if room * n_labelled < 1 - 1e-9:  # rounding leaves less than a row of a whole one
        share = "all" if room == 0 else f"{in_points(1 - room)} %"
        left = "no room for a gain" if room == 0 else "less than one row for a gain"
        return f"; {best} is right on {share} of {rows}, which leaves {left}"
    if least > room:
        text = (
            f"; {rows} detect even a gain of {in_points(room)} points, all that {best} "
            "leaves, in less than 80 % of cases"
        )
    else:
        text = f"; {rows} detect a gain of {in_points(least)} points in 80 % of cases"
    goal = min(room, wanted)
    needed = math.ceil(n_labelled * (least / goal) ** 2)
    if needed > n_labelled:
        text += f", and one of {in_points(goal)} takes about {needed}"
    return text


def _collapses(found: HoldOut) -> str:
    texts = []
    for name in found.methods:
        shares = (s for fit, s in found.collapsed.items() if fit.method == name)
        if share := max(shares, default=0.0):
            texts.append(f"{method_class(name).display_name} {100 * share:.0f} %")
    listed = ", ".join(texts)
    return listed and f"fits that failed, collapsed or diverged: {listed}"


def _doubled(found: HoldOut, judged: Judged) -> str:
    known = judged.verdicts[judged.verdicts["verdict"] != COLLAPSED]
    alone = judged.best_alone
    if not alone:
        return ""
    state = ALONE if alone in found.asked else REAL
    fits = {"without": Fit(alone, state, found.labels)}
    if len(known):
        best = str(known.loc[known["accuracy"].idxmax(), "method"])
        fits = {"with the source": Fit(best, REAL, found.labels), **fits}
    texts = []
    for how, fit in fits.items():
        more = of_twice_the_labels(found, fit)
        if not math.isnan(more):
            name = method_class(fit.method).display_name
            texts.append(f"{in_points(more, sign=True)} points to {name} {how}")
    added = f"Twice the labels would add about {' and '.join(texts)} (extrapolated)."
    return added if texts else ""


def _tried(judged: Judged, which: str) -> str:
    if len(judged.verdicts) == 1:
        return str(judged.verdicts["display_name"].iloc[0])
    return f"{which} of {counted(len(judged.verdicts), 'method')}"


def _next_step(judged: Judged, scale: str) -> str:
    """Return Python that fits what is recommended, scaling new rows as at the fit."""
    if not judged.method:
        again = scale_to_try(judged.verdicts, scale)
        return f"cdspp.compare(X, y, source=source, scale={again!r})"
    made, uses = f"cdspp.make({judged.method!r})", judged.decision == USE
    if scale == NO_SCALE:
        return f"model = {made}.fit(X, y{', source=source' * uses})"
    cls = method_class(judged.method)
    module, _, scaler = SCALERS[scale].partition(".")
    theirs = f"{scaler.format('source.X')}.fit_transform(source.X)"
    learn = f"scaled = cdspp.SourceDomain({theirs}, source.y)"
    if uses and cls.bridges:  # shared columns may be scaled as in the source
        function = f"cdspp.methods.problem.scale_domains({scale!r}, X, source)"
        learn = f"scaling, scaled = {function}"
        module = "preprocessing"
        scaler = "FunctionTransformer(scaling.apply, validate=True)"
    routed = f", {cls.__name__.lower()}__source=scaled" * uses
    lines = [
        "from sklearn.pipeline import make_pipeline",
        f"from sklearn.{module} import {scaler.partition('(')[0]}",
        *[learn] * uses,
        f"model = make_pipeline({scaler.format('X')}, {made})",
        f"model.fit(X, y{routed})",
    ]
    return "\n".join(lines)
