"""What the figures of the curves show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from support.report_data import METHODS, scores_frame
from support.score_data import curve_entry, curve_plan, curve_scores

from cdspp.analysis.summary import arrange_curves
from cdspp.report.figures.benchmark import draw_curves
from cdspp.report.figures.style import STYLES

Draw = Callable[..., Figure]
ITERATIONS = curve_entry("rounds", parameter="max_iter", methods=("cdspp",))
FOUR = curve_entry(methods=("svm-t", "dama", "cdls", "cdspp"), values=(60, 70, 80))


@pytest.fixture
def draw(tmp_path: Path, watch: Callable[..., list[Figure]]) -> Draw:
    """Return a function that draws a figure of some curves and gives it."""

    def make(
        kind: str,
        *curves: dict[str, Any],
        collapsed: tuple[Any, ...] = ("", 0),
        **options: Any,
    ) -> Figure:
        plan = curve_plan(*curves, **options)
        scores = curve_scores(plan, collapsed=collapsed)
        drawn = watch()
        output = tmp_path / f"{kind}_digits.svg"
        draw_curves(plan, arrange_curves(scores, plan), [output])
        return drawn[0]

    return make


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.axison]


def line(axes: Axes, name: str) -> Any:
    return next(entry for entry in axes.lines if entry.get_label() == name)


def names(figure: Figure) -> list[str]:
    """Return the entries of the legend, wherever it stands."""
    legends = [axes.get_legend() for axes in figure.axes] + figure.legends
    return [
        text.get_text() for legend in filter(None, legends) for text in legend.texts
    ]


def test_labelled_samples_have_a_panel_a_task_and_one_for_the_average(
    draw: Draw,
) -> None:
    shown = panels(draw("labels", curve_entry()))
    titles = [axes.get_title("left") for axes in shown]
    assert titles == ["amazon → caltech", "amazon → dslr", "Average"]
    assert len(panels(draw("labels", curve_entry(tasks=1)))) == 1


def test_lines_show_means_in_percent_at_the_values(draw: Draw) -> None:
    axes = panels(draw("labels", curve_entry(values=(1, 5, 9))))[-1]
    drawn = line(axes, "CDSPP")
    np.testing.assert_allclose(drawn.get_xdata(), [1, 5, 9])
    np.testing.assert_allclose(drawn.get_ydata(), [13, 17, 21])
    assert axes.get_xticks().tolist() == [1, 5, 9]
    assert drawn.get_color() == STYLES["cdspp"].colour


def test_the_reference_alone_has_a_band_and_the_baseline_is_dashed(draw: Draw) -> None:
    axes = panels(draw("labels", curve_entry(methods=("svm-t", "dama", "cdspp"))))[0]
    assert len(axes.collections) == 1
    assert line(axes, r"SVM$_\mathrm{t}$").get_linestyle() == "--"
    assert line(axes, "DAMA").get_linestyle() == "-"


def test_a_dropped_value_ends_the_lines_of_its_panels(draw: Draw) -> None:
    shown = panels(draw("labels", curve_entry(), smallest={"dslr": 9}))
    assert [len(line(axes, "CDSPP").get_xdata()) for axes in shown] == [3, 2, 2]


def test_a_point_far_below_the_others_is_named_with_its_value(draw: Draw) -> None:
    near = panels(draw("labels", FOUR))[0]
    far = panels(draw("labels", FOUR, collapsed=("dama", 60)))[0]
    assert not near.texts
    assert [text.get_text() for text in far.texts] == ["(DAMA 1)"]
    assert far.get_ylim()[0] > 50
    assert line(far, "DAMA").get_xdata().tolist() == [70, 80]
    assert line(far, "CDLS").get_xdata().tolist() == [60, 70, 80]


def test_what_is_far_below_more_than_once_is_named_with_its_range(draw: Draw) -> None:
    panel = panels(draw("labels", FOUR, collapsed=("dama", 60, 70)))[0]
    assert [text.get_text() for text in panel.texts] == ["(DAMA 1 to 82)"]
    assert not [entry for entry in panel.lines if entry.get_label() == "DAMA"]


def test_a_ring_stands_where_fits_have_collapsed(draw: Draw) -> None:
    iterations = ITERATIONS | {"values": (1, 5, 9), "tasks": 1}
    sound, fallen = (
        draw("sensitivity", iterations, collapsed=("cdspp", *places))
        for places in ((), (1, 9))
    )
    ring = line(panels(fallen)[0], "degenerate fits")
    assert ring.get_xdata().tolist() == [1, 9]
    assert set(names(fallen)) - set(names(sound)) == {"degenerate fits"}


def test_sensitivity_has_a_panel_a_parameter_on_one_scale(draw: Draw) -> None:
    curves = [
        curve_entry("alpha", parameter="alpha", values=(0.1, 3, 100)),
        curve_entry("rounds", parameter="max_iter", values=(1, 3, 10)),
        curve_entry("labels"),
    ]
    shown = panels(draw("sensitivity", *curves))
    assert [axes.get_xlabel() for axes in shown] == [
        "weight of the regulariser, alpha",
        "number of iterations, T",
    ]
    assert [axes.get_xscale() for axes in shown] == ["log", "linear"]
    assert shown[0].get_ylim() == shown[1].get_ylim()


def test_tasks_are_thin_their_average_thick_and_the_main_run_marked(draw: Draw) -> None:
    figure = draw("sensitivity", ITERATIONS | {"values": (1, 5, 9)})
    widths = [entry.get_linewidth() for entry in panels(figure)[0].lines]
    assert widths[1] == widths[2] < widths[3] < widths[0]
    assert panels(figure)[0].lines[0].get_xdata() == [5, 5]
    expected = ["CDSPP", "amazon → caltech", "amazon → dslr", "main run"]
    assert names(figure) == expected


@pytest.mark.parametrize("n_tasks", [1, 5])
def test_every_number_of_tasks_and_methods_is_drawn(draw: Draw, n_tasks: int) -> None:
    tasks = tuple(f"a_b{i}" for i in range(n_tasks))
    figure = draw("labels", curve_entry(methods=tuple(METHODS)), tasks=tasks)
    assert len(panels(figure)) == n_tasks + (n_tasks > 1)
    assert len(names(figure)) == len(METHODS)


def test_missing_scores_are_drawn_without_a_crash(tmp_path: Path) -> None:
    plan = curve_plan(curve_entry(), curve_entry("alpha", parameter="alpha"))
    curves = arrange_curves(scores_frame([]), plan)
    outputs = [tmp_path / f"{kind}_digits.svg" for kind in ("labels", "sensitivity")]
    draw_curves(plan, curves, outputs)
    assert all("nan" not in output.read_text().lower() for output in outputs)
