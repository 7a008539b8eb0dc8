"""Families of problems, and what is said of decisions on them."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import decision_cases
from benchmarks.decision_cases import TARGET_ONLY, fit_name, judge_draw, judge_draws
from benchmarks.decision_data import Sides
from benchmarks.decision_families import (
    FAMILIES,
    LABELLED,
    NOISE,
    PERMUTED,
    Draw,
    Family,
    _sample_draw,
)
from benchmarks.decision_tables import decisions_table
from benchmarks.decisions import (
    SHIPPED,
    Rule,
    bench_decisions,
    bet_of,
    calibration,
    coverage,
    draw_results,
    intervals,
    policies,
    power,
)
from benchmarks.labelling import DISAGREEING, RANDOM, simulate_labelling
from benchmarks.planted import Planted
from cdspp import compare
from cdspp.core.errors import DataError
from cdspp.core.names import REAL, SHUFFLED_COLUMNS, SHUFFLED_PAIRS, SWAPPED

NOMINAL = 1.2815515655446004  # standard deviations from the middle to 80 %


@pytest.mark.parametrize("number", range(4))
def test_labels_of_a_draw_are_hidden_but_for_a_few_of_each_class(number: int) -> None:
    draw = FAMILIES["wine"].draw(number)
    kept = draw.y != -1
    assert np.array_equal(draw.y[kept], draw.truth[kept])
    n_labelled = LABELLED[number % 4]
    assert np.bincount(draw.y[kept]).tolist() == [n_labelled] * 3


def four_classes(number: int, *, sizes: int = 9) -> Sides:
    """Return sides of four classes, with columns and pairs that say which they are."""
    codes = np.repeat(np.arange(4), sizes)
    rng = np.random.default_rng(number)
    X = 100.0 * codes[:, None] + rng.standard_normal((len(codes), 3))
    pairs = np.arange(30.0).reshape(10, 3)
    return Sides((X, X[:, :2]), (codes, codes), (pairs, pairs[:, :2]), [(0, 0), (1, 1)])


def family(state: str = REAL, *, sizes: int = 9) -> Family:
    def make(rng: np.random.Generator, number: int) -> Draw:
        load = lambda: four_classes(number, sizes=sizes)  # noqa: E731
        return _sample_draw(rng, number, load=load, most=(6, 8), n_pairs=5)

    return Family("made", make, state)


def test_bad_sources_are_what_they_are_called() -> None:
    real = family().draw(0)
    bad = {
        state: family(state).draw(0)
        for state in (NOISE, PERMUTED, SWAPPED, SHUFFLED_COLUMNS, SHUFFLED_PAIRS)
    }
    for draw in bad.values():
        assert np.array_equal(draw.X, real.X)
        assert np.array_equal(draw.y, real.y)
    X, y = np.asarray(real.source.X), np.asarray(real.source.y)
    means = np.array([bad[NOISE].source.X[y == code].mean() for code in range(4)])
    assert np.ptp(means) < 200 < np.ptp([X[y == code].mean() for code in range(4)])
    permuted = np.asarray(bad[PERMUTED].source.y)
    assert sorted(permuted) == sorted(y)
    assert len({*zip(y, permuted, strict=True)}) > 4
    swapped = {*zip(y, np.asarray(bad[SWAPPED].source.y), strict=True)}
    assert len(swapped) == 4
    assert not any(ours == theirs for ours, theirs in swapped)
    assert bad[SHUFFLED_COLUMNS].source.shared_columns == [(0, 1), (1, 0)]
    ours, theirs = bad[SHUFFLED_PAIRS].source.paired_rows
    assert not np.any(np.all(ours[:, :2] == theirs, axis=1))


def entry(method: str, gains: Any, rule: Rule = SHIPPED) -> dict[str, Any]:
    """Return a candidate as the rule judges the differences of its rows."""
    d = np.asarray(gains, dtype=float)
    n, prior = len(d), rule.prior(method)
    extra = rule.pseudo_rows
    error = 2 / n * (n * d.var() + extra * 0.2) / (n + extra)
    variance = 1 / (1 / error + 1 / prior.sd**2)
    mean = variance * (d.mean() / error + prior.mean / prior.sd**2)
    return {
        "method": method,
        "accuracy": 0.5 + d.mean(),
        "expected_gain": mean,
        "low": mean - NOMINAL * variance**0.5,
        "high": mean + NOMINAL * variance**0.5,
        "probability": 0.5,
    }


def record(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    alone = {"method": TARGET_ONLY, "accuracy": 0.5}
    alone |= dict.fromkeys(("expected_gain", "low", "high", "probability"))
    return {"candidates": [alone, *entries], "n_labelled": 20, **more}


def outcome(family: str, number: int, bet: str, truth: Any, **more: Any) -> Any:
    about = {"family": family, "number": number, "bad": False, "set_aside": False}
    accuracies = dict(zip((TARGET_ONLY, "cdspp+source", "svm-t"), truth, strict=True))
    candidate = entry("cdspp", [0.0] * 20)
    return record(candidate, **about, bet=bet, truth=accuracies) | more


RECORDS = [
    outcome("a", 0, "cdspp+source", (0.5, 0.6, 0.4)),
    outcome("a", 1, TARGET_ONLY, (0.5, 0.6, 0.7)),
    outcome("b", 0, "cdspp+source", (0.5, 0.3, 0.5), bad=True),
]


def test_regrets_and_bets_worked_by_hand() -> None:
    results = policies(draw_results(RECORDS)).set_index("policy")
    bet, always = results.loc["the bet"], results.loc[TARGET_ONLY]
    assert always["all"] == pytest.approx((0.1 + 0.2 + 0.0) / 3)
    assert bet["all"] == pytest.approx((0.0 + 0.2 + 0.2) / 3)
    assert bet["good"] == pytest.approx(0.1)
    assert bet["bad"] == pytest.approx(0.2)
    assert bet["median"] == pytest.approx((0.1 + 0.2) / 2)
    assert bet["ratio"] == pytest.approx(4 / 3)
    assert bet["worst"] == pytest.approx(-0.2)
    counts = bet[["bets", "false", "bets_on_bad", "lost", "n_bad"]]
    assert counts.tolist() == [2, 1, 1, 1, 1]


def test_coverage_and_calibration_worked_by_hand() -> None:
    results = pd.DataFrame(
        {
            "low": [-0.1, 0.0, 0.02, 0.1],
            "high": [0.1, 0.02, 0.04, 0.2],
            "true": [0.0, 0.02, 0.1, 0.0],
            "probability": [0.5, 0.7, 0.75, 0.8],
        }
    )
    assert coverage(results) == (0.5, 4)
    bins = calibration(results).set_index("least")
    assert bins["cases"].tolist() == [0, 0, 1, 2, 1]
    assert bins["observed"].tolist()[2:] == [0.5, 1.0, 0.5]
    assert bins.loc[0.65, "predicted"] == pytest.approx(0.725)


def test_true_gains_and_their_bands() -> None:
    gains = intervals(RECORDS)
    assert gains["true"].tolist() == pytest.approx([0.1, 0.1, -0.2])
    assert gains["largest"].all()
    truths = [(0.5, 0.47, 0.5), (0.5, 0.53, 0.5), (0.5, 0.58, 0.5)]
    draws = [outcome("a", k, "cdspp+source", t) for k, t in enumerate(truths)]
    draws[1] |= {"bet": TARGET_ONLY}
    bands = power(draws)
    assert bands["draws"].tolist() == [1, 1, 1, 0]
    assert bands["bet"].tolist()[:3] == [1.0, 0.0, 1.0]


def labelled(bet_right: int) -> pd.DataFrame:
    """Simulate 200 rows, of which the fits disagree on 20, the bet often right."""
    truth = np.zeros(200, dtype=int)
    bet, alone = truth.copy(), truth.copy()
    alone[:bet_right] = 1
    bet[bet_right:20] = 1
    scores = np.tile([0.6, 0.4], (200, 1))

    def refitted(rows: Any, chosen: int) -> Any:
        return (np.ones(200, dtype=int), truth)[chosen]

    records = simulate_labelling([bet, alone], [scores] * 2, truth, refitted, seed=0)
    return pd.DataFrame(records).set_index(["rule", "revealed"])


def test_labels_of_disagreeing_rows_settle_what_random_ones_leave_open() -> None:
    results = labelled(20)
    assert results.loc[DISAGREEING]["settled"].tolist() == [1.0, 1.0, 1.0]
    assert results.loc[(RANDOM, 20), "settled"] < 0.2
    assert (results["wrong"] == 0).all()
    assert results.loc[(DISAGREEING, 5), "accuracy"] == 1.0
    # The bet, fitted again, is right on none of the other rows.
    assert results.loc[(DISAGREEING, 5), "accuracy_refitted"] == pytest.approx(5 / 200)


def planted_draw() -> Draw:
    sizes = {"n_source": 5, "d_source": 8, "d_target": 6, "n_latent": 3}
    planted = Planted("shared", n_classes=2, n_labelled=3, n_unlabelled=9, **sizes)
    problem = planted.draw(0)
    return Draw(problem.X, problem.y, problem.truth, problem.source)


def test_a_draw_is_answered_and_every_candidate_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.labelling.N_ORDERS", 2)
    draw = planted_draw()
    found = compare(draw.X, draw.y, source=draw.source)
    results = judge_draw(draw, 0)
    assert results["n_labelled"] == 6
    assert results["bet"] == fit_name(found.best_bet)
    assert [c["method"] for c in results["candidates"]] == ["cdspp", TARGET_ONLY]
    assert bet_of(SHIPPED, results) == results["bet"]
    assert {"cdspp+source", "cdspp", "svm-t", TARGET_ONLY} <= set(results["truth"])
    assert all(0 <= value <= 1 for value in results["truth"].values())
    about = {"family": "planted", "number": 0, "bad": False, "set_aside": True}
    table = decisions_table([{**results, **about}])
    assert "Families set aside: 1, 1 draws" in table


def test_a_family_without_data_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(rng: np.random.Generator, number: int) -> Draw:
        raise DataError("x.mat could not be fetched. Tried:\n  nowhere")

    lost = replace(FAMILIES["wine"], make=missing)
    monkeypatch.setitem(decision_cases.FAMILIES, "wine", lost)
    [record] = judge_draws("wine", [0, 1])
    assert record == {"family": "wine", "missing": "x.mat could not be fetched. Tried:"}
    line = decisions_table([{**record, "bad": False, "set_aside": False}])
    assert line.startswith("left out: wine (x.mat could not be fetched. Tried:)")


def test_every_family_is_asked_for_all_its_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ask(module: str, request: str, told: str) -> Any:
        asked = inspect.signature(judge_draws).bind(**json.loads(request)).arguments
        return [{**asked, "number": number} for number in asked["numbers"]]

    monkeypatch.setattr("benchmarks.decisions.run_module", ask)
    records = bench_decisions(["wine", "cancer, noise"], draws=4)
    draws = [(r["family"], r["number"], r["bad"]) for r in records]
    wine = [("wine", number, False) for number in range(4)]
    assert draws == [*wine, *(("cancer, noise", number, True) for number in range(4))]
    kept: list[Any] = []
    known = [{**record, "number": record["number"]} for record in records[:5]]
    again = bench_decisions(
        ["wine", "cancer, noise", "requests, 100 pairs"],
        draws=4,
        earlier_records=known,
        keep=kept.append,
    )
    assert [(r["family"], r["number"]) for r in again[:5]] == [d[:2] for d in draws[:5]]
    assert len(again) == 12
    assert len(kept) == 4  # calls of three draws at most
