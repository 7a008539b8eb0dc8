"""Selection of pseudo-labels against a scalar oracle, and the iterations around it."""

from __future__ import annotations

import numpy as np
import pytest
from support.literal_formulas import literal_selection

from cdspp.methods.base import Iteration
from cdspp.methods.shared.common_subspace import (
    select_confident,
    selective_pseudo_labelling,
)


@pytest.mark.parametrize("iterations", range(1, 11))
def test_every_size_and_share_selects_as_the_scalar_rule_says(iterations: int) -> None:
    rng = np.random.default_rng(iterations)
    for m in range(1, 201):
        confidences = rng.random(m)
        for k in range(1, iterations + 1):
            found = select_confident(np.zeros(m, int), confidences, k / iterations)
            assert found.tolist() == literal_selection(confidences, k / iterations)


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
        expected += members[literal_selection(confidence[members], 0.4)].tolist()
    assert found.tolist() == sorted(expected)


def test_over_all_classes_one_threshold_serves_everyone() -> None:
    prediction, confidence = np.array([0, 0, 1, 1]), np.array([0.9, 0.8, 0.4, 0.3])
    found = select_confident(prediction, confidence, 0.5, per_class=False)
    assert found.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("prediction", "confidence", "share", "selected"),
    [
        pytest.param([0, 0, 1, 1], [0.9, 0.8, 0.4, 0.3], 0.5, [0, 2], id="half"),
        pytest.param([0, 0, 0], [0.5, 0.5, 0.5], 0.2, [0, 1, 2], id="all of a tie"),
        pytest.param(
            [0, 1, 1, 1], [0.1, 0.2, 0.4, 0.3], 0.0, [0, 2], id="one at least"
        ),
        pytest.param([], [], 0.5, [], id="none of none"),
    ],
)
def test_the_choice_of_a_few_samples_is_known(
    prediction: list[int], confidence: list[float], share: float, selected: list[int]
) -> None:
    codes = np.array(prediction, dtype=np.intp)
    found = select_confident(codes, np.array(confidence), share)
    assert found.tolist() == selected


class Recorder:
    """Predicts class 0 for all rows, with a confidence that turns around each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[int], list[int]]] = []

    def __call__(self, selected: np.ndarray, codes: np.ndarray) -> Iteration:
        self.calls.append((selected.tolist(), codes.tolist()))
        confidence = np.arange(1.0, 5.0)[:: 1 if len(self.calls) % 2 else -1]
        return Iteration(0, np.zeros(4, dtype=np.intp), confidence)


def test_each_round_rests_on_the_growing_share_chosen_afresh() -> None:
    recorder = Recorder()
    iterations = selective_pseudo_labelling(recorder, 4)
    chosen = [selected for selected, _ in recorder.calls]
    assert chosen == [[], [3], [0, 1], [1, 2, 3]]
    assert [entry.iteration for entry in iterations] == [1, 2, 3, 4]
    assert [entry.n_selected for entry in iterations] == [0, 1, 2, 3]


def test_the_final_fit_takes_all_pseudo_labels() -> None:
    recorder = Recorder()
    iterations = selective_pseudo_labelling(recorder, 4, final_fit=True)
    assert recorder.calls[-1] == ([0, 1, 2, 3], [0, 0, 0, 0])
    assert iterations[-1].n_selected == 4
    assert len(iterations) == 5


def test_a_classifier_without_confidences_is_refused() -> None:
    def fit_predict(selected: np.ndarray, codes: np.ndarray) -> Iteration:
        return Iteration(0, np.zeros(3, dtype=np.intp))

    with pytest.raises(TypeError, match="needs confidences"):
        selective_pseudo_labelling(fit_predict, 2)
