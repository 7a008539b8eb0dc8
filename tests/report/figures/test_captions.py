"""Every caption says what its figure shows: tasks, trials, intervals, scales."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from support.report_data import DIGIT_TASKS, make_plan
from support.score_data import curve_entry
from support.written_study import WrittenStudy

from cdspp.core.wording import task_title
from cdspp.report.figures import style
from cdspp.report.page.page import caption_of
from cdspp.report.registry import FIGURE_CAPTIONS

Found = dict[str, tuple[Figure, str]]
BRIDGE = {"shared_columns": "same-names", "paired_rows": 40}
CURVES = [
    curve_entry("labels", values=[1, 3]),
    curve_entry("alpha", parameter="alpha", methods=["cdspp"], values=[1, 20]),
    curve_entry("dim", parameter="n_components", methods=["cdspp"], values=[5, 20]),
]
PAIRS = curve_entry("pairs", parameter="paired_rows", values=[10, 20, 40])
PAIRS["methods"] = ["paired-map-plus"]
# Options of plans: one with every figure, and one of few trials on one task.
STUDIES: dict[str, dict[str, Any]] = {
    "rich": {
        "tasks": DIGIT_TASKS[:2],
        "methods": ("svm-t", "cdspp-sup", "dama-plus", "cdspp", "paired-map-plus"),
        "trials": 6,
        "bridge": BRIDGE,
        "curves": [*CURVES, PAIRS],
    },
    "small": {
        "tasks": DIGIT_TASKS[:1],
        "methods": ("dama", "cdspp"),
        "trials": 2,
        "curves": [CURVES[1] | {"values": [1, 2], "trials": 2}],
    },
}
INTERVALS = re.compile(r"95 % interval")


@pytest.fixture(scope="module", params=STUDIES)
def found(tmp_path_factory: pytest.TempPathFactory, request: Any) -> Found:
    """Return figure and caption by name, of each study."""
    study = WrittenStudy(
        tmp_path_factory.mktemp("study") / "results/embedded",
        [make_plan(**STUDIES[request.param])],
        {},
    )
    kept: Found = {}
    shrink = style._shrink

    def keep(figure: Any) -> None:
        kept[str(len(kept))] = figure, ""
        shrink(figure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "_shrink", keep)
        drawn = {}
        for name in study.names("figure"):
            path = study.folder / "figures" / f"{name}.svg"
            kept.clear()
            study.make_one("figure", name, [path])
            [(figure, _)] = kept.values()
            drawn[name.partition("_")[0]] = figure, caption_of(path)
    return drawn


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.axison and axes.get_visible()]


def has_interval(figure: Figure) -> bool:
    """Say whether a panel has a band, or a short line without markers, that is wide."""
    bands = [
        c for axes in figure.axes for c in axes.collections if c.get_alpha() == 0.13
    ]
    drawn = [len(path.vertices) for band in bands for path in band.get_paths()]
    lines = [line for axes in figure.axes for line in axes.lines]
    plain = [
        ln for ln in lines if ln.get_marker() in ("None", "") and ln.get_ls() == "-"
    ]
    ends = [np.ravel([ln.get_xdata(), ln.get_ydata()]) for ln in plain]
    two = [e for e in ends if len(e) == 4 and np.isfinite(e.astype(float)).all()]
    across = [e for e in two if e[0] != e[1] and e[2] == e[3]]
    upright = [e for e in two if e[0] == e[1] and {*e[2:]} != {0, 1} and e[2] != e[3]]
    return bool(any(drawn) or across or upright)


def test_both_studies_together_have_every_figure(found: Found) -> None:
    rich = set(FIGURE_CAPTIONS)
    assert set(found) == rich or set(found) < rich
    assert len(found) >= 9


def test_intervals_are_named_if_and_only_if_they_are_drawn(found: Found) -> None:
    for name, (figure, text) in found.items():
        assert bool(INTERVALS.search(text)) == has_interval(figure), name


def test_one_scale_is_claimed_only_of_panels_that_have_it(found: Found) -> None:
    for name, (figure, text) in found.items():
        shown = panels(figure)
        if "All panels have the same scale" in text:
            assert len(shown) > 1, name
            assert len({axes.get_ylim() for axes in shown}) == 1, name
        if "All panels span the same number of points" in text:
            side = "x" if name == "methods" else "y"
            ends = [getattr(axes, f"get_{side}lim")() for axes in shown]
            assert len(shown) > 1, name
            assert len({round(high - low, 6) for low, high in ends}) == 1, name


def test_averages_are_named_if_and_only_if_there_are_several_tasks(
    found: Found, request: pytest.FixtureRequest
) -> None:
    several = request.node.callspec.params["found"] == "rich"
    for name in ("sensitivity", "source-help"):
        assert ("average" in found[name][1]) == several, name
    _, text = found["methods"]
    assert all(
        (task_title(t) in text) == (several or not k)
        for k, t in enumerate(DIGIT_TASKS[:2])
    )
    assert ("on average" in text) == several


def test_the_trials_are_those_behind_the_means(
    found: Found, request: pytest.FixtureRequest
) -> None:
    plan = STUDIES[request.node.callspec.params["found"]]
    for name in ("methods", "iterations", "source-help", "forest", "kinds-of-transfer"):
        if "trials" in found[name][1].partition(" Digits:")[0]:
            assert f"{plan['trials']} trials" in found[name][1], name
    of_curves = {curve.get("trials", plan["trials"]) for curve in plan["curves"]}
    assert f"Means over {max(of_curves)} trials" in found["sensitivity"][1]


@pytest.mark.parametrize(
    ("name", "part", "said"),
    [
        ("labels", "SVM", "Dashed: SVM_t."),
        ("iterations", "SVM", "Dashed: SVM_t,"),
        ("sensitivity", "main run", "Grey bar: the value of the main run."),
        (
            "forest",
            "strongest control",
            "Vertical bars: the gain that is least certain",
        ),
        ("source-help", "strongest control", "over the strongest control"),
        ("methods", "", "* supervised."),
    ],
)
def test_marks_are_explained_if_and_only_if_they_are_drawn(
    found: Found, name: str, part: str, said: str
) -> None:
    if name not in found:
        return
    figure, text = found[name]
    shown = " ".join(t.get_text() for t in figure.findobj(match=is_text))
    drawn = part in shown if part else "*" in shown
    assert (said in text) == drawn, (name, text)


def is_text(artist: Any) -> bool:
    return hasattr(artist, "get_text")
