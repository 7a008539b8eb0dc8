"""Populations: pools share what they should, and other pools tell the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import populations
from benchmarks.populations import judge_population, one_and_two_way_gains
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import Stratum
from cdspp.core.names import NO_SOURCE, PERMUTED_CLASSES, REAL
from cdspp.stages.source_states import STATES

HELPS, HURTS, EQUAL, _ = (verdict.word for verdict in Transfer)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Have pools judged without fits: the gain of each over none is set by a test."""
    plan: dict[str, Any] = {}

    def right(problem: Any, method: str, axes: Any, n_trials: int) -> dict[str, Any]:
        shape = n_trials, len(problem.truth)
        rng = np.random.default_rng(axes[-1])
        noise = rng.normal(0, 0.001, shape)
        gain = plan["gains"][axes[-1]]
        return {s: noise + gain * (s == REAL) for s in plan.get("states", STATES)}

    monkeypatch.setattr(populations, "_correct_rows", right)
    return plan


def cases(planned: dict[str, Any], gains: list[float]) -> list[dict[str, Any]]:
    planned["gains"] = gains
    found = judge_population("mixed", 6, 0, "cdspp", len(gains), 5)["cases"]
    return list(found)


def test_the_other_pools_tell_the_truth(planned: dict[str, Any]) -> None:
    found = cases(planned, [0.0, 0.1, 0.1, 0.4])
    offs = [case["intervals"]["accuracy none"][0] for case in found]
    # From the means 0.2, 0.5 / 3, 0.5 / 3, 0.2 / 3, with the error of three pools.
    expected = np.array([0.2, 0.2 / 3, 0.2 / 3, 1.0 / 3]) / (4 / 3) ** 0.5
    np.testing.assert_allclose(offs, expected, atol=1e-9)


@pytest.mark.parametrize(
    ("gains", "true", "certain"),
    [
        ([0.1, 0.11, 0.12, 0.1], [HELPS], [HELPS]),
        ([0.9, 0.3, -0.5, -0.1], [HELPS], []),
        ([-0.1, -0.11, -0.12, -0.1], [HURTS], [HURTS]),
        ([0.002, 0.001, 0.003, 0.002], [HELPS, EQUAL], [HELPS, EQUAL]),
    ],
)
def test_words_are_true_by_the_mean_of_the_others(
    planned: dict[str, Any], gains: list[float], true: list[str], certain: list[str]
) -> None:
    last = cases(planned, [*gains, 0.0])[-1]
    assert last["true"] == true
    assert last["certain"] == certain


def test_plain_standard_errors_are_over_trials_alone() -> None:
    values = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]])
    one_way, two_way = one_and_two_way_gains([Stratum(1.0, values)])
    assert one_way.gain == two_way.gain == pytest.approx(0.5)
    assert one_way.error == pytest.approx(0.25 / 3**0.5)
    assert two_way.error > one_way.error


@pytest.mark.parametrize("kind", ["two classes", "unequal"])
def test_a_pool_is_fitted_in_every_state_that_has_a_meaning(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    asked = set()

    class Noted(populations.SourceState):
        def __init__(self, name: str) -> None:
            asked.add(name)
            super().__init__(name)

    monkeypatch.setattr(populations, "SourceState", Noted)
    found = judge_population(kind, 6, 1, "cdspp-sup", 3, 5)
    assert asked == set(STATES) - (
        {PERMUTED_CLASSES} if kind == "two classes" else set()
    )
    assert len(found["cases"]) == 3
    for case in found["cases"]:
        off, one_way, two_way, *_ = case["intervals"][f"accuracy {NO_SOURCE}"]
        assert off >= 0
        assert one_way >= 0
        assert two_way > 0
    assert found == judge_population(kind, 6, 1, "cdspp-sup", 3, 5)
