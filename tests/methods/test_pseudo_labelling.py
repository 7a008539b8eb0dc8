"""Selection of pseudo-labels against a scalar oracle, and the rounds around it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cdspp.methods.base import Round
from cdspp.methods.shared.pseudo_labelling import (
    select_confident,
    selective_pseudo_labelling,
)


def oracle(confidences: list[float], k: int, rounds: int) -> list[int]:
    """Select one predicted class's samples by scalar arithmetic."""
    m = len(confidences)
    ascending = sorted(confidences)
    threshold = ascending[min(m - 1, math.floor(m * (1 - k / rounds)))]
    return [i for i, value in enumerate(confidences) if value >= threshold]


@pytest.mark.parametrize("rounds", range(1, 11))
def test_every_size_and_share_selects_as_the_scalar_rule_says(rounds: int) -> None:
    rng = np.random.default_rng(rounds)
    for m in range(1, 201):
        confidences = rng.random(m)
        for k in range(1, rounds + 1):
            found = select_confident(
                np.zeros(m, dtype=np.intp), confidences, k / rounds
            )
            assert found.tolist() == oracle(confidences.tolist(), k, rounds)


def test_the_threshold_is_evaluated_in_floating_point() -> None:
    confidences = np.arange(200.0)
    differing = 0
    for m in range(1, 200):
        exact = m - min(m - 1, m * (5 - 4) // 5)
        taken = select_confident(np.zeros(m, dtype=np.intp), confidences[:m], 4 / 5)
        differing += len(taken) != exact
    assert differing == 39


def test_each_predicted_class_is_thresholded_on_its_own() -> None:
    rng = np.random.default_rng(0)
    prediction, confidence = rng.integers(0, 4, 50), rng.random(50)
    found = select_confident(prediction, confidence, 0.4)
    expected: list[int] = []
    for code in range(4):
        members = np.flatnonzero(prediction == code)
        chosen = oracle(confidence[members].tolist(), 2, 5)
        expected += members[chosen].tolist()
    assert found.tolist() == sorted(expected)


def test_over_all_classes_one_threshold_serves_everyone() -> None:
    prediction = np.array([0, 0, 1, 1])
    confidence = np.array([0.9, 0.8, 0.4, 0.3])
    found = select_confident(prediction, confidence, 0.5, per_class=False)
    assert found.tolist() == [0, 1]
    assert select_confident(prediction, confidence, 0.5).tolist() == [0, 2]


def test_ties_at_the_threshold_are_all_taken() -> None:
    found = select_confident(np.zeros(5, dtype=np.intp), np.full(5, 0.5), 0.2)
    assert found.tolist() == [0, 1, 2, 3, 4]


def test_the_least_share_still_takes_one_sample_of_a_class() -> None:
    found = select_confident(
        np.array([0, 1, 1, 1]), np.array([0.1, 0.2, 0.4, 0.3]), 0.0
    )
    assert found.tolist() == [0, 2]


def test_no_samples_give_no_selection() -> None:
    empty = np.empty(0, dtype=np.intp)
    assert select_confident(empty, np.empty(0), 0.5).tolist() == []


class Recorder:
    """Predicts class 0 for all rows, with a confidence that turns around each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[int], list[int]]] = []

    def __call__(self, selected: np.ndarray, codes: np.ndarray) -> Round:
        self.calls.append((selected.tolist(), codes.tolist()))
        confidence = np.arange(1.0, 5.0)[:: 1 if len(self.calls) % 2 else -1]
        return Round(0, np.zeros(4, dtype=np.intp), confidence)


def test_each_round_rests_on_the_growing_share_chosen_afresh() -> None:
    recorder = Recorder()
    rounds = selective_pseudo_labelling(recorder, 4)
    chosen = [selected for selected, _ in recorder.calls]
    assert chosen == [[], [3], [0, 1], [1, 2, 3]]
    assert [entry.iteration for entry in rounds] == [1, 2, 3, 4]
    assert [entry.n_selected for entry in rounds] == [0, 1, 2, 3]


def test_the_final_fit_takes_all_pseudo_labels() -> None:
    recorder = Recorder()
    rounds = selective_pseudo_labelling(recorder, 4, final_fit=True)
    assert recorder.calls[-1] == ([0, 1, 2, 3], [0, 0, 0, 0])
    assert rounds[-1].n_selected == 4
    assert len(rounds) == 5


def test_a_classifier_without_confidences_is_refused() -> None:
    def fit_predict(selected: np.ndarray, codes: np.ndarray) -> Round:
        return Round(0, np.zeros(3, dtype=np.intp))

    with pytest.raises(TypeError, match="needs confidences"):
        selective_pseudo_labelling(fit_predict, 2)
