"""The rule of the bet: posteriors by hand, priors by kind, the choice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from cdspp.analysis.best_bet import (
    LIKELY,
    OPEN,
    PRIORS,
    TARGET_ONLY,
    Posterior,
    best_bet,
    default_candidates,
    evidence,
    information,
    posterior,
)
from cdspp.methods.bridge import PAIRS, SHARED


def test_a_posterior_is_the_normal_rule_with_ten_pseudo_rows() -> None:
    d = np.array([1.0, 0.0, 0.5, 0.0, -0.25, 0.0])
    v = (6 * np.var(d) + 10 * 0.2) / 16
    error = 2 * v / 6
    found = posterior([*d, np.nan], PRIORS["bridge"])
    weight = 0.10**2 / (0.10**2 + error)
    assert found.mean == pytest.approx(weight * d.mean())
    assert found.sd == pytest.approx(math.sqrt(weight * error))
    low, high = found.interval
    assert norm.cdf(high, found.mean, found.sd) == pytest.approx(0.9)
    assert norm.cdf(low, found.mean, found.sd) == pytest.approx(0.1)
    assert found.probability == pytest.approx(norm.sf(0, found.mean, found.sd))
    assert found.loss == pytest.approx(norm.cdf(-0.01, found.mean, found.sd))


def test_equal_rows_leave_the_prior_a_weight() -> None:
    """No row that differs is no proof of equality."""
    found = posterior(np.zeros(20), PRIORS["labels only"])
    assert -0.01 < found.mean < 0
    assert found.sd > 0.03
    assert posterior([], PRIORS["labels only"]) == Posterior(-0.01, 0.04)


def test_priors_go_by_the_information_that_a_method_uses() -> None:
    assert information("cdspp-bridge", [SHARED]) == "bridge"
    assert information("paired-map-plus", [SHARED]) == "labels only"
    assert information("cdspp", [SHARED, PAIRS]) == "labels only"
    assert information("tit", []) == "labels only"
    assert information("svm-t", [SHARED]) == "no source"


def test_candidates_are_chosen_by_the_bridge() -> None:
    assert default_candidates([]) == ["cdspp", TARGET_ONLY]
    assert default_candidates([PAIRS]) == [
        *("paired-map-plus", "cdspp-bridge", "cdspp", TARGET_ONLY)
    ]
    both = default_candidates([SHARED, PAIRS])
    assert both[:3] == ["shared-columns-plus", "paired-map-plus", "cdspp-bridge"]


def test_a_bet_needs_a_point() -> None:
    found = {"cdspp": Posterior(0.0099, 0.01), "tit": Posterior(-0.02, 0.1)}
    assert best_bet(found) == TARGET_ONLY
    assert best_bet(found | {"cdspp": Posterior(0.01, 0.5)}) == "cdspp"
    assert best_bet({}) == TARGET_ONLY


def test_evidence_is_for_the_side_of_the_bet() -> None:
    sure, even = Posterior(0.04, 0.04), Posterior(0.011, 0.04)
    assert evidence("cdspp", sure) == LIKELY
    assert evidence("cdspp", even) == OPEN
    assert evidence(TARGET_ONLY, Posterior(-0.04, 0.04)) == LIKELY
    assert evidence(TARGET_ONLY, even) == OPEN
