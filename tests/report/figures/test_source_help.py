"""The opening figure: rows or gains by task, with what is said of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.page_reader import texts
from support.report_data import DIGIT_TASKS, draw_comparisons, make_plan, scores_frame

from cdspp.analysis.source_help import gains_over_comparators, no_comparisons
from cdspp.analysis.transfer import Transfer
from cdspp.core.wording import in_points, task_title
from cdspp.report.figures.source_help import draw_source_help
from cdspp.study.plan import BenchmarkPlan

Draw = Callable[..., tuple[Figure, str]]
DOMAINS = ("print", "sketch", "photo", "tilted")
MANY = [f"{a}_{b}" for a in DOMAINS for b in DOMAINS]


@pytest.fixture
def draw(tmp_path: Path, watch: Callable[..., list[Figure]]) -> Draw:
    """Return a function that draws plans and gives the figure and its SVG."""

    def make(*plans: BenchmarkPlan, **options: Any) -> tuple[Figure, str]:
        drawn, output = watch(), tmp_path / "source-help.svg"
        found = [draw_comparisons(plan, **options) for plan in plans]
        draw_source_help(plans, found, [output])
        return drawn[0], output.read_text(encoding="utf-8")

    return make


def test_every_task_has_its_verdict_and_the_gain_over_the_strongest_control(
    draw: Draw,
) -> None:
    plan = make_plan()
    _, svg = draw(plan, source_helps=0.06)
    shown, helps = texts(svg), Transfer.POSITIVE
    assert {*map(task_title, DIGIT_TASKS), "Digits", "Average"} <= set(shown)
    found = draw_comparisons(plan, source_helps=0.06)
    strongest = found[
        (found["row"] == "cdspp") & (found["comparator"] == found["strongest"])
    ]
    assert shown.count(helps.label) == len(strongest) == 5
    assert [text for text in shown if re.match(r"\S+ over (?!SVM|the)", text)] == [
        f"{in_points(gain, sign=True)} over {comparator}"
        for gain, comparator in zip(
            strongest["gain"], strongest["comparator_name"], strict=True
        )
    ]
    assert Transfer.POSITIVE.colour in svg


def test_benchmarks_share_a_scale(draw: Draw) -> None:
    plans = make_plan(tasks=DIGIT_TASKS[:2]), make_plan(benchmark="b", tasks=["a_b"])
    figure, _ = draw(*plans)
    first, second = (axes.get_xlim() for axes in figure.axes)
    assert first == second


def test_the_verdict_has_its_word_where_nothing_can_be_said(draw: Draw) -> None:
    few = texts(draw(make_plan(tasks=["a_b"], trials=3))[1])
    fallen = texts(draw(make_plan(tasks=["a_b"]), collapsed=("cdspp",))[1])
    bare = texts(draw(make_plan(tasks=["a_b"], states=()))[1])
    for shown in (few, fallen, bare):
        assert "○ inconclusive" in shown
    assert not any(" over " in text for text in [*few, *fallen, *bare])


def test_many_tasks_fit_the_figure(draw: Draw) -> None:
    _, svg = draw(make_plan(tasks=MANY), source_helps=0.06)
    shown = texts(svg)
    assert sum(" → " in text for text in shown) == 16
    assert {"Average", "gain (points)"} <= set(shown)
    assert "target-only" not in shown
    assert Transfer.POSITIVE.colour in svg
    heights = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert float(heights.group(2)) < 1.4 * float(heights.group(1))


def test_a_gain_stands_at_its_mean_between_the_ends_of_its_interval(draw: Draw) -> None:
    plan = make_plan(tasks=MANY, methods=("svm-t", "cdspp"))
    figure, _ = draw(plan, source_helps=0.06)
    found = draw_comparisons(plan, source_helps=0.06)
    lines = [tuple(map(float, line.get_xdata())) for line in figure.axes[0].lines]
    chosen = (found["comparator"] == found["strongest"]) | ~found["state"]
    for gain in found[chosen].itertuples():
        assert any(np.allclose(x, 100 * gain.gain) for x in lines if len(x) == 1)
        ends = (100 * gain.low, 100 * gain.high)
        assert any(np.allclose(x, ends) for x in lines if len(x) == 2)


@pytest.mark.parametrize(
    "options",
    [
        {"methods": ("cdspp",)},
        {"states": ()},
        {"target_only": False, "states": ("none",)},
        {"methods": ()},
    ],
    ids=["reference", "no state", "none", "nothing"],
)
def test_of_many_tasks_what_did_not_run_is_left_out(
    draw: Draw, options: dict[str, Any]
) -> None:
    _, svg = draw(make_plan(tasks=MANY, trials=5, **options))
    assert "Digits" in texts(svg)
    assert "nan" not in svg


def test_a_benchmark_without_the_reference_has_no_panel(draw: Draw) -> None:
    other = make_plan(benchmark="docs-to-code", methods=("svm-t", "dama"))
    figure, svg = draw(make_plan(), other)
    assert len(figure.axes) == 1
    assert other.title not in texts(svg)


@pytest.mark.parametrize("tasks", [DIGIT_TASKS, MANY], ids=["few", "many"])
def test_missing_scores_are_drawn_without_a_crash(
    tmp_path: Path, tasks: list[str]
) -> None:
    plan, output = make_plan(tasks=tasks), tmp_path / "source-help.svg"
    scores = scores_frame([])
    for found in (gains_over_comparators(scores, plan), no_comparisons()):
        draw_source_help([plan], [found], [output])
        assert "nan" not in output.read_text(encoding="utf-8").lower()
