"""Selection of pseudo-labels against a scalar oracle, and the iterations around it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from support.literal_formulas import literal_selection

from cdspp.methods.base import Iteration
from cdspp.methods.shared.common_subspace import (
    select_by_class,
    select_over_all,
    selective_pseudo_labelling,
)


@pytest.mark.parametrize("iterations", [1, 5, 10])
def test_every_size_and_share_selects_as_the_scalar_rule_says(iterations: int) -> None:
    rng = np.random.default_rng(iterations)
    for m in range(1, 201, 3):
        confidences = rng.random(m)
        for k in range(1, iterations + 1):
            found = select_by_class(np.zeros(m, int), confidences, k / iterations)
            assert found.tolist() == literal_selection(confidences, k / iterations)


def test_the_threshold_is_evaluated_in_floating_point() -> None:
    confidences = np.arange(200.0)
    differing = 0
    for m in range(1, 200):
        exact = m - min(m - 1, m * (5 - 4) // 5)
        taken = select_by_class(np.zeros(m, dtype=np.intp), confidences[:m], 4 / 5)
        differing += len(taken) != exact
    assert differing == 39


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
    found = select_by_class(codes, np.array(confidence), share)
    assert found.tolist() == selected


# Numbers of unlabelled rows, iterations k, and T: 83 * (2 + ... + 8 + 10 + 15) = 4980.
OVER_ALL = [
    (n, k, max_iter)
    for n in range(1, 84)
    for max_iter in (*range(2, 9), 10, 15)
    for k in range(1, max_iter + 1)
]


def size_over_all(n: int, k: int, max_iter: int) -> int:
    """Return k / T of n rows by exact arithmetic, rounded up."""
    return math.ceil(n * Fraction(k, max_iter))


def test_over_all_every_row_tied_at_the_threshold_is_taken_in_any_order() -> None:
    rng = np.random.default_rng(0)
    for n, k, max_iter in OVER_ALL:
        confidence, order = rng.integers(0, 8, n) / 8, rng.permutation(n)
        found = select_over_all(confidence, k, max_iter)
        descending = sorted(confidence, reverse=True)
        threshold = descending[size_over_all(n, k, max_iter) - 1]
        assert found.tolist() == np.flatnonzero(confidence >= threshold).tolist()
        in_order = order[select_over_all(confidence[order], k, max_iter)]
        assert sorted(in_order) == found.tolist()


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


def test_a_classifier_without_confidences_is_refused() -> None:
    def fit_predict(selected: np.ndarray, codes: np.ndarray) -> Iteration:
        return Iteration(0, np.zeros(3, dtype=np.intp))

    with pytest.raises(TypeError, match="needs confidences"):
        selective_pseudo_labelling(fit_predict, 2)
