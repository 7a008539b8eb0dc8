"""The style files, and the forms of a figure: SVG, PNG and PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.page_reader import texts
from support.report_data import DIGIT_TASKS, METHODS, make_plan
from support.score_data import curve_entry
from support.written_study import WrittenStudy

from cdspp.core.errors import DataError
from cdspp.report.figures import style
from cdspp.report.figures.style import add_legend, canvas, in_style, width

DrawAll = Callable[[str], list[tuple[Figure, float]]]
SIZES = {"one-column": (3.5, 7), "two-columns": (7.16, 9)}  # inches, points


def draw(path: Path) -> bytes:
    with canvas(2, 1, [path]) as figure:
        figure.subplots().set_title("accuracy")
    return path.read_bytes()


@pytest.mark.parametrize("name", SIZES)
def test_a_pdf_holds_its_fonts_and_no_date(tmp_path: Path, name: str) -> None:
    with in_style(name):
        drawn = draw(tmp_path / "a.pdf")
        again = draw(tmp_path / "b.pdf")
    assert drawn.startswith(b"%PDF-")
    assert b"/FontFile2" in drawn
    assert b"/Type3" not in drawn
    assert b"Date" not in drawn
    assert again == drawn


def test_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.jpg: .*suffix \.svg, \.png"):
        draw(tmp_path / "a.jpg")


def test_the_settings_of_a_user_change_no_figure(tmp_path: Path) -> None:
    usual = draw(tmp_path / "a.svg")
    with matplotlib.rc_context({"lines.linewidth": 9, "axes.titlesize": 30}):
        assert draw(tmp_path / "a.svg") == usual


@pytest.fixture
def draw_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DrawAll:
    """Return a function that draws every figure of a study in a style, and what of it.

    That is each figure, and how far it reaches beyond its edges, in inches.
    """
    alpha = curve_entry("alpha", parameter="alpha", methods=["cdspp"])
    many = {"methods": tuple(METHODS), "tasks": DIGIT_TASKS[:2], "trials": 3}
    plan = make_plan(**many, curves=[curve_entry(), alpha])

    def make(name: str) -> list[tuple[Figure, float]]:
        drawn = []

        @contextmanager
        def keep(*sizes: Any) -> Iterator[Figure]:
            with canvas(*sizes) as figure:
                yield figure
                figure.draw_without_rendering()
                box, page = figure.get_tightbbox(), figure.bbox_inches
                beyond = max(-box.x0, -box.y0, box.x1 - page.x1, box.y1 - page.y1)
                drawn.append((figure, float(beyond)))

        monkeypatch.setattr(style, "canvas", keep)
        WrittenStudy(tmp_path, [plan], {}, style=name).make("figure", (".svg",))
        return drawn

    return make


@pytest.mark.parametrize("name", SIZES)
def test_every_figure_has_the_width_and_type_of_its_style(
    draw_all: DrawAll, name: str
) -> None:
    inches, points = SIZES[name]
    drawn = draw_all(name)
    assert len(drawn) == 10
    assert max(figure.get_figwidth() for figure, _ in drawn) == inches
    for figure, beyond in drawn:
        sizes = {t.get_fontsize() for t in figure.findobj(Text) if t.get_text()}
        assert sizes == {points}
        assert figure.get_figheight() < 9.5, "a page"
        assert beyond < 0, [axes.get_xlabel() for axes in figure.axes]


def test_a_legend_has_the_columns_that_fit(tmp_path: Path) -> None:
    def columns(style: str, *labels: str) -> Any:
        with in_style(style), canvas(width(), 2, [tmp_path / "a.svg"]) as figure:
            [*lines] = (figure.subplots().plot([1], label=label)[0] for label in labels)
            add_legend(figure, lines, "upper center")
        assert {*labels} <= {*texts((tmp_path / "a.svg").read_text())}
        [legend] = figure.legends
        assert legend.get_window_extent().width <= figure.bbox.width
        return legend._ncols

    names = ("a source that is long", "another source, as long", "a third one")
    assert columns("one-column", *names) < columns("two-columns", *names) == 3
