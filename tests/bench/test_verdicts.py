"""The rule on source help where the truth is known, on a small scale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cdspp.__main__ import main
from cdspp.analysis.decision import CANNOT_TELL, USE
from cdspp.analysis.paired import PairedGain
from cdspp.analysis.verdicts import EQUAL, HELPS, HURTS, STATEMENTS, UNDECIDED
from cdspp.bench import verdicts
from cdspp.bench.verdict_cases import (
    MARGIN,
    NEAR_ZERO,
    OTHERS,
    SCENARIOS,
    Scenario,
    Spread,
    judge_comparison,
    judge_problem,
    judge_scores,
    planted_problem,
    simulate,
    truth_of,
)
from cdspp.bench.verdicts import (
    TOLD_OF_GEOMETRY,
    bench_verdicts,
    comparison_rates,
    problem_rates,
    score_rates,
    verdicts_table,
)
from cdspp.core.names import ALONE, REAL
from cdspp.datasets.planted import GEOMETRIES
from cdspp.stages.source_states import STATES

DRAWS = 300


def lines(n_tasks: int, n_trials: int, n_draws: int = DRAWS) -> list[dict[str, Any]]:
    return [judge_scores(name, n_tasks, n_trials, n_draws) for name in SCENARIOS]


def problem(truth: str, verdict: str, gain: float) -> dict[str, Any]:
    return {"truth": truth, "verdict": verdict, "gains": {ALONE: gain}}


@pytest.fixture(scope="module")
def problems() -> list[dict[str, Any]]:
    return [judge_problem(number, 10, 30) for number in range(8)]


def test_simulated_accuracies_gain_what_they_are_to_gain() -> None:
    scenario = Scenario(0.05, 0.1)
    found = simulate(scenario, (400, 2, 10), np.random.default_rng(0))
    assert found.shape == (400, 2, len(STATES), 10)
    means = dict(zip(STATES, found.mean(axis=(0, 1, 3)), strict=True))
    # 8000 accuracies of standard deviation 0.03 a state.
    assert means[REAL] == pytest.approx(0.81, abs=0.0015)
    for name in OTHERS:
        lost = 0.05 if name == ALONE else 0.1
        assert means[REAL] - means[name] == pytest.approx(lost, abs=0.0015)


def test_simulated_accuracies_scatter_and_go_together_as_measured() -> None:
    found = simulate(Scenario(0.0, 0.0), (400, 2, 10), np.random.default_rng(0))
    by_state = found.transpose(2, 0, 1, 3).reshape(len(STATES), -1)
    np.testing.assert_allclose(by_state.std(axis=1), 0.03, rtol=0.05)
    alone = np.array([name == ALONE for name in STATES])
    expected = np.where(alone[:, None] | alone, 0.62, 0.86)
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(np.corrcoef(by_state), expected, atol=0.02)
    # Trials and tasks share nothing.
    assert abs(np.corrcoef(found[:, :, 0].reshape(-1, 20).T) - np.eye(20)).max() < 0.2


def test_simulated_accuracies_are_shares_of_the_test_samples() -> None:
    scenario = Scenario(0.0, 0.0, Spread(mean=0.98, sd=0.1, n_test=20))
    found = simulate(scenario, (50, 1, 5), np.random.default_rng(0))
    assert found.min() >= 0
    assert found.max() <= 1
    np.testing.assert_allclose(found * 20, np.rint(found * 20), atol=1e-9)


@pytest.mark.parametrize(("n_tasks", "n_trials"), [(1, 5), (4, 5), (4, 10)])
def test_false_words_are_as_seldom_as_they_should_be(
    n_tasks: int, n_trials: int
) -> None:
    (rates,) = score_rates(lines(n_tasks, n_trials)).values()
    *false, power = rates
    for rate in false:
        # Three standard errors rather than two: here are fifteen rates.
        allowed = 3 * (0.05 * 0.95 / rate.cases) ** 0.5
        assert rate.share < 0.05 + allowed, rate
        if rate.what in {"false helps", "false hurts", "(less scatter)"}:
            # The least favourable cases, so as often as it may be.
            assert rate.share > 0.05 - allowed, rate
    assert power.what == "power"
    assert power.share > 0.9


def test_every_word_is_counted_once_a_task() -> None:
    for line in lines(4, 5, 20):
        assert sum(line["tasks"].values()) == 80
        assert set(line["tasks"]) <= set(STATEMENTS)
        for word, count in line["benchmarks"].items():
            assert count <= min(20, line["tasks"][word])


def test_rates_worked_by_hand() -> None:
    made = [
        {
            "scenario": name,
            "n_tasks": 4,
            "n_trials": 5,
            "n_draws": 100,
            "tasks": {HELPS: 40, EQUAL: 8},
            "benchmarks": {HELPS: 16, HURTS: 3},
        }
        for name in SCENARIOS
    ]
    rates = {rate.what: rate for rate in score_rates(made)[5, 4]}
    assert rates["false helps"][1:3] == (16, 100)
    assert rates["false hurts"][1:3] == (3, 100)
    assert rates["false equal"][1:3] == (8, 400)
    assert rates["power"].share == 0.1
    # sqrt(0.05 * 0.95 / 100) is 0.0218.
    assert rates["false helps"].bound == pytest.approx(0.0936, abs=1e-4)
    assert rates["false helps"].too_often
    assert not rates["false hurts"].too_often
    assert not rates["power"].too_often


def test_false_words_on_problems_are_counted_where_they_are_false() -> None:
    made = [
        problem(HELPS, HELPS, 0.05),
        problem(HELPS, EQUAL, 0.02),
        problem(NEAR_ZERO, HELPS, 0.0),
        problem(NEAR_ZERO, EQUAL, 0.005),
        problem(HURTS, HURTS, -0.05),
        problem(HURTS, UNDECIDED, -0.005),
    ]
    helps, hurts, equal = problem_rates(made)
    assert helps[:3] == ("false helps", 1, 4)
    assert hurts[:3] == ("false hurts", 0, 4)
    assert equal[:3] == ("false equal", 1, 3)


@pytest.mark.parametrize(
    ("over_none", "over_noise", "truth"),
    [
        (0.03, 0.03, HELPS),
        (0.03, 0.015, NEAR_ZERO),
        (0.015, 0.03, NEAR_ZERO),
        (-0.015, 0.03, NEAR_ZERO),
        (-0.03, 0.03, HURTS),
    ],
)
def test_the_truth_lies_beyond_two_standard_errors(
    over_none: float, over_noise: float, truth: str
) -> None:
    gains = {
        ALONE: PairedGain(over_none, 0.01, 0, 200),
        "noise": PairedGain(over_noise, 0.01, 0, 200),
    }
    assert truth_of(gains) == truth


def test_problems_are_of_every_geometry_and_of_many_sizes() -> None:
    planted = [planted_problem(number) for number in range(40)]
    assert [p.geometry for p in planted] == list(GEOMETRIES) * 10
    assert len({(p.n_classes, p.d_source, p.d_target) for p in planted}) > 10
    assert planted == [planted_problem(number) for number in range(40)]


def test_the_rule_and_the_truth_do_not_contradict_each_other(
    problems: list[dict[str, Any]],
) -> None:
    said = {(entry["truth"], entry["verdict"]) for entry in problems}
    assert not said & {(HELPS, HURTS), (HURTS, HELPS)}
    assert any(truth != NEAR_ZERO for truth, _ in said)
    for entry in problems:
        assert list(entry["gains"]) == list(entry["errors"]) == OTHERS
    assert not any(rate.too_often for rate in problem_rates(problems))


def test_the_command_shows_all_tables_and_writes_the_numbers(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(verdicts, "PER_PROCESS", 15)
    monkeypatch.setattr(verdicts, "LABELLED", [12])
    monkeypatch.setattr(verdicts, "bench_verdicts", partial(bench_verdicts, fresh=3))
    path = tmp_path / "verdicts.json"
    asked = ["--draws", "4", "--problems", "2", "--comparisons", "1"]
    asked += ["--json", str(path)]
    assert main(["bench", "verdicts", *asked]) == 0
    results = json.loads(path.read_text())
    shown = capsys.readouterr().out
    assert verdicts_table(results) in shown
    # Made in two processes at a time, and the same as here.
    expected: Mapping[str, Any] = {
        "scores": [
            judge_scores(name, tasks, trials, 4)
            for trials in (5, 10)
            for tasks in (1, 4, 16)
            for name in SCENARIOS
        ],
        "problems": [judge_problem(number, 10, 3) for number in range(2)],
        "comparisons": [
            judge_comparison(0, geometry, 12) for geometry in TOLD_OF_GEOMETRY
        ],
    }
    assert results == json.loads(json.dumps(expected))


def test_the_table_marks_what_is_said_too_often() -> None:
    scores = lines(1, 5, 20)
    made = [problem(NEAR_ZERO, HELPS, 0.0)] * 5 + [problem(HURTS, HURTS, -2 * MARGIN)]
    table = verdicts_table(
        {"scores": scores, "problems": made, "comparisons": []}
    ).splitlines()
    header, line = table[1:3]
    assert len(header) == len(line)
    assert line.split()[:2] == ["5", "1"]
    (false_helps,) = (row for row in table if row.strip().startswith("false helps"))
    assert "83.3 (22.8)*" in false_helps
    assert "5 of 6 problems" in false_helps
    (near,) = (row for row in table if row.strip().startswith("near zero"))
    assert near.split()[2:] == ["5", "0", "0", "0", "5"]


def test_recommendations_are_counted_by_labelled_rows_and_geometry() -> None:
    said = {"none": [USE, CANNOT_TELL], "misleading": [], "shared": [USE]}
    entries = [
        {"n_labelled": 30, "geometry": geometry, "decision": decision}
        for geometry, decisions in said.items()
        for decision in decisions
    ]
    [rates] = comparison_rates(entries).values()
    assert [rate[1:3] for rate in rates] == [(1, 2), (0, 0), (1, 1), (0, 0)]
    table = verdicts_table({"scores": [], "problems": [], "comparisons": entries})
    assert table.splitlines()[-1].split() == [
        "30",
        "50.0",
        "(35.8)*",
        "–",
        "100.0",
        "–",
    ]


def test_without_problems_nothing_is_said_of_them() -> None:
    rates = problem_rates([])
    assert not any(rate.too_often for rate in rates)
    table = verdicts_table({"scores": [], "problems": [], "comparisons": []})
    assert table.count("0 of 0 problems") == 3


def test_a_process_that_fails_is_reported_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verdicts, "SCENARIOS", ["nowhere"])
    with pytest.raises(RuntimeError, match="failed with exit code 1: KeyError"):
        bench_verdicts(draws=1, problems=1)
