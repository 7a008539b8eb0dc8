"""What the figures show, and that equal data give equal bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from support.page_reader import texts
from support.report_data import (
    CONTROLS,
    DIGIT_TASKS,
    METHODS,
    draw_summary,
    make_plan,
    write_scores,
    write_showcase,
)
from support.result_files import write_fit, write_labels

from cdspp.core.errors import DataError
from cdspp.methods import available, method_class
from cdspp.report.figures.benchmark import (
    draw_iterations,
    draw_methods,
    write_benchmark,
)
from cdspp.report.figures.drawing import CaptionedFigure
from cdspp.report.figures.samples import count_confusions, draw_subspace
from cdspp.report.figures.samples import write_showcase as write_showcase_figures
from cdspp.report.figures.style import STYLES, class_colours, dots, draw_line, task_text
from cdspp.stages.formats import FIT_COLUMNS, read_rows, write_rows


@pytest.mark.usefixtures("no_own_methods")
def test_every_method_and_control_has_a_style_and_supervised_ones_are_hollow() -> None:
    # Without the method target-only, its place is taken by the state itself.
    assert set(STYLES) == {*available(), *METHODS, *CONTROLS, "none"}
    hollow = {key for key, style in STYLES.items() if not style.filled}
    assert hollow == {key for key in available() if method_class(key).supervised}


def test_a_task_with_several_sources_has_lines_that_panels_have_room_for() -> None:
    shown = task_text("print+sketch+photo_tilted")
    assert shown == "print + sketch +\nphoto → tilted"
    assert task_text("a-long-domain_another-one") == "a-long-domain → another-one"


def test_a_row_far_below_the_others_or_collapsed_is_named_with_its_value(
    tmp_path: Path,
) -> None:
    plan, output = make_plan(tasks=DIGIT_TASKS[:1]), tmp_path / "figure.svg"
    low = draw_summary(plan, collapsed=("cdspp-pca",))
    lower = replace(low, collapsed=np.zeros_like(low.collapsed))
    for summary, told in ((draw_summary(plan), ""), (lower, "◂ 10"), (low, "(10)")):
        draw_methods(summary, [output])
        marked = [t for t in texts(output.read_text()) if t[0] in "◂("]
        assert marked == ([told] if told else [])


@pytest.mark.parametrize(("trials", "drawn"), [(2, False), (3, True)])
def test_bars_and_bands_are_of_three_trials_at_least(trials: int, drawn: bool) -> None:
    values = np.linspace(0.5, 0.7, trials)
    [row, *_] = make_plan().main_rows
    axes = CaptionedFigure().subplots()
    dots(axes, values, 0.0, STYLES["cdspp"].look(5))
    assert len(axes.lines) == 1 + drawn
    draw_line(axes, row, [1.0, 2.0], np.array([values, values]), band=True)
    [band] = axes.collections
    edges = np.concatenate([path.vertices for path in band.get_paths()] or [[]])
    assert bool(edges.size) == drawn


@pytest.mark.parametrize("reference", ["cdspp", None])
def test_iterations_are_those_of_the_reference_and_its_two_nearest(
    reference: str | None, tmp_path: Path
) -> None:
    methods = ("svm-t", "cdls", "tit", "dama-plus", "cdspp")
    summary = draw_summary(make_plan(methods=methods, tasks=DIGIT_TASKS[:1]))
    final = {"cdls": 0.9, "tit": 0.6, "dama-plus": 0.8, "cdspp": 0.7, "svm-t": 0.1}
    levels = np.array([final.get(row.key, 0.4) for row in summary.rows])
    level = np.broadcast_to(levels[:, None, None], summary.accuracy.shape)
    if reference is None:
        rows = tuple(replace(row, role="") for row in summary.rows)
        summary = replace(summary, rows=rows)
    output = tmp_path / "iterations.svg"
    draw_iterations(replace(summary, accuracy=level), [output])
    named = {"CDLS", "TIT", "DAMA+", "CDSPP", "target-only"}
    near = {"CDSPP", "TIT", "DAMA+"} if reference else {"CDLS", "DAMA+"}
    assert named & set(texts(output.read_text())) == near


def test_confusions_count_the_last_iteration_of_every_trial(tmp_path: Path) -> None:
    labels = write_labels(tmp_path / "labels.parquet", "t", ("a", "b"), 2)
    rows = [(1, 1, "t-a-0", "b", 1.0), (1, 1, "t-b-0", "b", 1.0)]
    rows += [(1, 2, "t-a-0", "a", 1.0), (1, 2, "t-b-0", "a", 1.0)]
    rows += [(2, 1, "t-b-1", "b", 1.0)]
    rows += [(3, 1, "t-b-1", "a", 1.0)]  # of a study that had more trials
    fit = tmp_path / "goods/main/s_t/cdspp/1-3.parquet"
    write_fit(fit, pd.DataFrame(rows, columns=list(FIT_COLUMNS)))
    counts = count_confusions([fit], labels, make_plan(trials=2))
    assert list(counts.index) == list(counts.columns) == ["a", "b"]
    assert counts.to_numpy().tolist() == [[1, 0], [1, 1]]


def test_a_fit_that_is_not_what_its_record_says_is_refused(tmp_path: Path) -> None:
    paths = write_showcase(tmp_path, classes=("a", "b"), each=5)
    [fit] = paths["fits"]
    rows = pd.DataFrame(read_rows(fit, FIT_COLUMNS))
    write_rows(fit, FIT_COLUMNS, rows.assign(predicted="a"))
    with pytest.raises(DataError, match=r"1-2\.parquet.*Delete it"):
        count_confusions([fit], paths["target_labels"], make_plan())


def web_page(path: Path) -> None:
    path.write_text("<html>not found</html>")


def fewer_rows(path: Path) -> None:
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "group": arrays["group"][1:]})


@pytest.mark.parametrize(
    ("damage", "told"), [(web_page, "web page"), (fewer_rows, "arrays of the shapes")]
)
def test_a_subspace_that_is_none_is_named(
    tmp_path: Path, damage: Callable[[Path], None], told: str
) -> None:
    given = write_showcase(tmp_path, classes=("a", "b"), each=5)
    given.pop("fits")
    damage(given["subspace"])
    with pytest.raises(DataError, match=rf"projections\.npz: .*{told}"):
        draw_subspace(**given, plan=make_plan(), outputs=[tmp_path / "subspace.svg"])


@pytest.fixture
def subspace(
    tmp_path: Path, watch: Callable[..., list[Figure]]
) -> Callable[..., tuple[list[str], list[str], Figure]]:
    """Return a function that draws a subspace: titles of panels, all texts, figure."""

    def make(*classes: str, **options: int) -> tuple[list[str], list[str], Figure]:
        given = write_showcase(tmp_path, classes=classes or ("a", "b", "c"), **options)
        given.pop("fits")
        drawn = watch()
        output = tmp_path / "subspace.svg"
        draw_subspace(**given, plan=make_plan(), outputs=[output])
        shown = [axes for axes in drawn[0].axes if axes.get_visible()]
        titles = [axes.get_title("left") for axes in shown]
        return titles, texts(output.read_text()), drawn[0]

    return make


def test_the_subspace_has_a_lettered_panel_a_round_with_its_accuracy(
    subspace: Callable[..., Any],
) -> None:
    titles, shown, figure = subspace(each=8, steps=3)
    assert titles == [
        "(a) Iteration 1: 60.0 %",
        "(b) Iteration 2: 80.0 %",
        "(c) Final fit: 100.0 %",
    ]
    windows = {(*axes.get_xlim(), *axes.get_ylim()) for axes in figure.axes}
    assert len(windows) == 1
    known = {"source", "labelled target", "unlabelled target", "a", "b", "c"}
    assert known <= set(shown)


def test_many_iterations_and_classes_still_fit(subspace: Callable[..., Any]) -> None:
    classes = [f"c{i}" for i in range(len(class_colours()) + 3)]
    titles, shown, _ = subspace(*classes, each=16, steps=12)
    assert len(titles) == 3
    assert titles[0].startswith("(a) Iteration 1:")
    assert titles[-1].startswith("(c) Final fit:")
    assert "c0" not in shown


def test_the_figures_of_a_benchmark_and_its_showcase_go_by_their_names(
    tmp_path: Path,
) -> None:
    plan = make_plan(tasks=DIGIT_TASKS[:1])
    kinds = ("methods", "iterations", "confusion", "subspace")
    outputs = [tmp_path / f"{kind}_digits.svg" for kind in kinds]
    scores = write_scores(tmp_path / "digits.parquet", plan)
    write_benchmark([plan], [scores], outputs[:2])
    paths = write_showcase(tmp_path, classes=("a", "b"), each=6, steps=2)
    fits = paths.pop("fits")
    lists = {name: [path] for name, path in paths.items()}
    write_showcase_figures([plan], fits=fits, outputs=outputs[2:], **lists)
    telling = ["CDSPP+PCA", "iteration", "true class", "labelled target"]
    for part, output in zip(telling, outputs, strict=True):
        assert part in texts(output.read_text())
