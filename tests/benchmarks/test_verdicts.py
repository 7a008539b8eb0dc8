"""The rule on source help where the truth is known, on a small scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import verdicts
from benchmarks.__main__ import main
from benchmarks.populations import judge_population
from benchmarks.verdict_cases import SCENARIOS, judge_scores
from benchmarks.verdicts import (
    INTERVALS,
    bench_verdicts,
    coverage,
    score_rates,
    standard_error_ratios,
    verdict_rates,
    verdicts_table,
)
from cdspp.analysis.transfer import DISAGREE, Transfer

HELPS, HURTS, EQUAL, OPEN = (verdict.word for verdict in Transfer)

TIES = "rare rows"


def case(
    word: str, true: list[str], certain: list[str] | None = None, **interval: float
) -> dict[str, Any]:
    """Return a judged pool; intervals are equal for all measures and comparators."""
    numbers = {"off": 0.0, "plain": 1.0, "crossed": 1.0, "error": 0.5, "wider": 0.5}
    of_all = list({**numbers, **interval}.values())
    intervals = dict.fromkeys(INTERVALS, of_all)
    certain = true if certain is None else certain
    return {"verdict": word, "true": true, "certain": certain, "intervals": intervals}


@pytest.mark.slow
@pytest.mark.parametrize("n_tasks", [1, 4])
@pytest.mark.parametrize(
    "scenario", [name for name in SCENARIOS if TIES not in name and "fails" not in name]
)
def test_false_words_are_seldom_and_true_ones_are_not(
    scenario: str, n_tasks: int
) -> None:
    line = judge_scores(scenario, n_tasks, 10, 60)
    ((rate,),) = (by_size.values() for by_size in score_rates([line]).values())
    if rate.bound == 1:
        assert rate.share > 0.8
    else:
        # Three standard errors rather than two: here are fourteen rates.
        assert rate.share < 0.05 + 3 * (0.05 * 0.95 / rate.cases) ** 0.5


def test_rates_of_scores_worked_by_hand() -> None:
    made = [
        {
            **{"scenario": name, "n_tasks": 4, "n_trials": 5, "n_draws": 100},
            "tasks": {HELPS: 40, EQUAL: 8},
            "benchmarks": {HELPS: 16, HURTS: 3},
        }
        for name in ("false helps", "false hurts", "false equal", "power helps")
    ]
    found = [rates["5 x 4"] for rates in score_rates(made).values()]
    assert [rate[1:] for rate in found] == [(16, 100), (3, 100), (8, 400), (40, 400)]
    # sqrt(0.05 * 0.95 / 100) is 0.0218.
    assert found[0].bound == pytest.approx(0.0936, abs=1e-4)
    assert [rate.exceeds_bound for rate in found] == [True, False, False, False]


def test_false_words_on_pools_are_counted_where_they_are_false() -> None:
    rates = verdict_rates(
        [
            case(HELPS, [HELPS]),
            case(EQUAL, [HELPS], []),
            case(HELPS, []),
            case(EQUAL, [EQUAL]),
            case(HURTS, [HURTS]),
            case(OPEN, [HURTS]),
            case(DISAGREE, []),
        ]
    )
    counted = {what: rate[1:] for what, rate in rates.items()}
    assert counted == {
        f"false {HELPS}": (1, 5),
        f"false {HURTS}": (0, 5),
        f"false {EQUAL}": (1, 6),
        f"power {HELPS}": (1, 1),
        f"power {HURTS}": (1, 2),
        DISAGREE: (1, 7),
    }


def test_coverage_worked_by_hand() -> None:
    cases = [case(OPEN, [], off=k / 10, plain=0.55, wider=1.0) for k in range(11)]
    for found in coverage(cases).values():
        assert found == pytest.approx((6 / 11, 1.0, 2.0, 0.95))


@pytest.mark.slow
def test_the_command_shows_all_tables_and_writes_the_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verdicts, "PER_PROCESS", 22)
    monkeypatch.setattr(verdicts, "TRIALS", (5,))
    monkeypatch.setattr(verdicts, "KINDS", ["two classes"])
    monkeypatch.setattr(verdicts, "POOL_ROWS", [6])
    path = tmp_path / "verdicts.json"
    asked = ["--draws", "2", "--populations", "1", "--pools", "3"]
    asked += ["--json", str(path)]
    assert main(["verdicts", *asked]) == 0
    results = json.loads(path.read_text())
    assert verdicts_table(results) in capsys.readouterr().out
    # Made in two processes at a time, and the same as here.
    expected = {
        "scores": [
            judge_scores(name, tasks, 5, 2) for name in SCENARIOS for tasks in (1, 8)
        ],
        "populations": [
            judge_population("two classes", 6, 0, method, 3, 5)
            for method in ("cdspp", "cdspp-sup")
        ],
    }
    assert results == json.loads(json.dumps(expected))


def test_the_table_has_a_line_for_each_cell_and_for_all_kinds() -> None:
    cases = [case(HELPS, [], off=2.0)] * 5 + [case(HURTS, [HURTS])]
    made = [
        {"kind": kind, "rows": 6, "method": "cdspp", "cases": cases}
        for kind in ("mixed", "noisy")
    ]
    table = verdicts_table({"scores": [], "populations": made})
    lines = [line.split() for line in table.splitlines()]
    cells = [line for line in lines if line[1:3] == ["6", "cdspp"]]
    assert [line[0] for line in cells] == ["mixed", "noisy", "all"] * 2
    assert cells[0][3:6] == ["16.7", "/", "16.7"]
    assert cells[0][-1] == "2.00"
    assert cells[3][3:5] == ["83.3", "(22.8)*"]
    assert cells[5][3:5] == ["83.3", "(17.6)*"]


def write_rows(path: Path, **right: list[list[int]]) -> Path:
    """Write scores per sample; `main_b` is method b in the main setting, task x_y."""
    keys = {f"{k.split('_')[0]}/x_y/{k.split('_')[1]}": v for k, v in right.items()}
    arrays = {key: np.array(rows, dtype=np.int8) for key, rows in keys.items()}
    path.parent.mkdir(parents=True)
    np.savez(path, **{"classes/x_y": np.array([0, 0, 1, 1], np.int32)}, **arrays)
    return path


def test_standard_errors_of_a_study_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zero, one = [[0, 0, 0, 0]] * 3, [[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, -1]]
    write_rows(tmp_path / "scores" / "b.npz", main_p=one, main_q=zero, noise_p=zero)
    found = standard_error_ratios(tmp_path)
    # Row means 1, 1, 2/3, 0: with three trials the rows scatter more than the trials.
    by_trial, by_row = np.array([3 / 4, 2 / 4, 3 / 3]), np.array([1, 1, 2 / 3, 0])
    plain = by_trial.var(ddof=1) / 3
    assert list(found) == ["source states", "pairs of methods"]
    assert [len(values) for values in found.values()] == [1, 1]
    for (ratio,) in found.values():
        assert (by_row.var(ddof=1) / 4 / plain) ** 0.5 <= ratio + 1e-12
        assert ratio > 1
    assert main(["verdicts", "--study", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "source states" in shown
    assert "Planted" not in shown


@pytest.mark.slow
def test_a_process_that_fails_is_reported_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verdicts, "SCENARIOS", ["nowhere"])
    with pytest.raises(RuntimeError, match="failed with exit code 1: KeyError"):
        bench_verdicts(["scores"], draws=1)
