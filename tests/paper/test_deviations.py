"""Where paper and released code differ: the list, and the effects measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.report_data import make_plan
from support.score_data import Cells, as_frame

from cdspp.core.yaml_files import read_yaml
from cdspp.methods import make, option_defaults
from cdspp.paper.effects import build_deviation_table, measure_effects
from cdspp.report.tables.table import Table
from cdspp.study.plan import BenchmarkPlan

MAIN, CHANGED = ("main", "cdspp"), ("deviation-no-centring", "cdspp")
NO_CENTRING: dict[str, Any] = {
    "id": "no-centring",
    "method": "cdspp",
    "topic": "Centring",
    "paper": "No centring is mentioned.",
    "code": "The mean is subtracted.",
    "default": "code",
    "options": {"center": False},
}
NO_SWITCH = {
    **NO_CENTRING,
    "id": "no-ridge",
    "method": "dama-plus",
    "topic": "Ridge",
    "paper": "There is none.",
    "code": "There is one.",
    "options": None,
    "unchecked": True,
}


@pytest.fixture(scope="module")
def shipped(repository: Path) -> list[Mapping[str, Any]]:
    return read_yaml(repository / "resources" / "paper" / "deviations.yaml")


def plan_of(
    *tasks: str, trials: int | None = None, benchmark: str = "a"
) -> BenchmarkPlan:
    deviation = {"id": "no-centring", "trials": trials}
    return make_plan(
        benchmark=benchmark,
        tasks=tasks,
        methods=("cdspp",),
        paper={"deviations": [deviation]},
    )


def table_of(*scores: Cells) -> Table:
    effects = [
        measure_effects(as_frame(cells), plan_of("a_b", trials=3, benchmark=name))
        for cells, name in zip(scores, "ab", strict=False)
    ]
    return build_deviation_table(effects, [NO_CENTRING, NO_SWITCH])


def test_every_switch_is_an_option_with_another_value_than_the_default(
    shipped: list[Mapping[str, Any]],
) -> None:
    for deviation in shipped:
        defaults = option_defaults(deviation["method"])
        for name, value in (deviation["options"] or {}).items():
            assert defaults[name] != value, deviation["id"]
        made = make(deviation["method"], **(deviation["options"] or {}))
        made._validate_params()


def test_every_method_of_the_paper_with_a_known_difference_is_in_the_list(
    shipped: list[Mapping[str, Any]],
) -> None:
    methods = {deviation["method"].split("-")[0] for deviation in shipped}
    compared = "svm dama cdls hfa shfa pa tit stn ddacl ssan cdspp"
    assert methods == set(compared.split())


def test_an_effect_is_setting_minus_main_run_on_equal_trials_and_tasks() -> None:
    main = {"a_b": [0.80, 0.82, 0.84, 0.10], "b_c": [0.60, 0.62, 0.64, 0.10]}
    changed = {"a_b": [0.82, 0.84, 0.86, 0.99], "b_c": [0.60, 0.64, 0.68, 0.99]}
    scores = as_frame({MAIN: main | {"c_a": [0.10] * 4}, CHANGED: changed})
    effect = measure_effects(scores, plan_of("a_b", "b_c", trials=3))["no-centring"]
    # By trial: (0.02 + 0) / 2, (0.02 + 0.02) / 2, (0.02 + 0.04) / 2. Their deviation is
    # 0.01, and t with two degrees of freedom 4.303.
    half = 4.302653 * 0.01 / math.sqrt(3)
    assert effect["effect"] == pytest.approx(0.02)
    ends = (0.02 - half, 0.02 + half)
    assert (effect["low"], effect["high"]) == pytest.approx(ends, abs=1e-8)
    assert (effect["trials"], effect["losses"], effect["tasks"]) == (3, 0, 2)


def test_a_setting_that_has_no_scores_yet_has_no_effect() -> None:
    table = table_of({MAIN: {"a_b": [0.8, 0.8, 0.8]}})
    cells = table.lines[0].cells
    assert [cell.text for cell in cells[4:]] == ["A", "–"]
    assert cells[4].note == "1 task, 0 trials"


def test_a_line_tells_both_readings_and_the_effect_in_points() -> None:
    scores = {
        MAIN: {"a_b": [0.80, 0.82, 0.84]},
        CHANGED: {"a_b": [0.780, 0.799, 0.822]},
    }
    cells = table_of(scores).lines[0].cells
    assert [cell.text for cell in cells] == [
        "CDSPP",
        "Centring",
        "No centring is mentioned.",
        "The mean is subtracted.",
        "A",
        "−2.0",
    ]
    assert cells[1].note == "center: false. Followed: code."
    assert (cells[4].note, cells[5].note) == ("1 task, 3 trials", "−2.3 to −1.6")
    assert cells[5].bold


@pytest.mark.parametrize(
    ("low", "high", "sure"),
    [(0.1, 0.2, True), (-0.2, -0.1, True), (0.0, 0.1, False), (-0.1, 0.0, False)],
)
def test_an_interval_that_touches_zero_includes_it(
    low: float, high: float, sure: bool
) -> None:
    effect = {"benchmark": "a", "title": "A", "effect": 0.0, "low": low, "high": high}
    effect |= {"losses": 0, "tasks": 1, "trials": 3}
    table = build_deviation_table([{"no-centring": effect}], [NO_CENTRING])
    assert table.lines[0].cells[5].bold is sure


def test_an_effect_over_two_trials_has_no_interval_and_is_not_bold() -> None:
    scores = {MAIN: {"a_b": [0.8, 0.8]}, CHANGED: {"a_b": [0.9, 0.9]}}
    table = table_of(scores)
    cell = table.lines[0].cells[5]
    assert (cell.text, cell.note, cell.bold) == ("+10.0", "", False)
    assert table.caption.endswith(" Fewer than 3 trials have no interval.")
    more = {
        setting: {"a_b": by_trial["a_b"] * 2} for setting, by_trial in scores.items()
    }
    assert "have no interval" not in table_of(more).caption
