"""Selective pseudo-labelling: predict, keep the most confident, fit again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cdspp.methods.base import Float, Int, Round


def select_confident(
    prediction: Int, confidence: Float, share: float, *, per_class: bool = True
) -> Int:
    """Return the indices of the most confident samples, ascending.

    Of the m samples of each predicted class (the released code), or of all together
    (the paper's text), ``m * share`` are taken, rounded up, at least one, and more at
    ties or where ``m * (1 - share)`` comes out just below a whole number.

    >>> import numpy as np
    >>> select_confident(np.array([0, 0, 1]), np.array([0.9, 0.6, 0.5]), 0.5)
    array([0, 2])
    """
    groups = prediction if per_class else np.zeros_like(prediction)
    chosen = np.zeros(len(prediction), dtype=bool)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        ascending, m = np.sort(confidence[members]), len(members)
        # Evaluated in floating point on purpose: the integer quotient selects
        # differently for some sizes and misses the authors' results.
        threshold = ascending[min(m - 1, int(np.floor(m * (1.0 - share))))]
        chosen[members[confidence[members] >= threshold]] = True
    return np.flatnonzero(chosen)


def selective_pseudo_labelling(
    fit_predict: Callable[[Int, Int], Round],
    max_iter: int,
    *,
    per_class: bool = True,
    final_fit: bool = False,
) -> list[Round]:
    """Run `max_iter` rounds, the last one being the result.

    Round k + 1 rests on the share ``k / max_iter`` of confident predictions, chosen
    afresh each time: ``fit_predict(selected, codes)`` fits with the unlabelled rows
    `selected` taken as labelled by `codes`, and predicts all unlabelled rows; without
    any there is one round. With `final_fit` one more fit follows on all pseudo-labels.
    By Wang and Breckon, AAAI 2020: see `SharedColumnsPlus`.
    """
    rounds: list[Round] = []
    selected = codes = np.empty(0, dtype=np.intp)
    for iteration in range(1, max_iter + 1 + final_fit):
        entry = fit_predict(selected, codes)
        rounds.append(replace(entry, iteration=iteration, n_selected=len(selected)))
        if not len(entry.prediction):
            break
        if entry.confidence is None:
            raise TypeError(
                "Selective pseudo-labelling needs confidences, but the classifier gave "
                "none. Use one with predict_proba or decision_function."
            )
        share = iteration / max_iter
        selected = select_confident(
            entry.prediction, entry.confidence, share, per_class=per_class
        )
        codes = entry.prediction[selected]
    return rounds
