"""The matrix of methods by source states: its signs, fills and empty cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from support.report_data import METHODS, STATES, draw_comparisons, make_plan

from cdspp.analysis.source_help import no_comparisons, of_method, on_average
from cdspp.analysis.transfer import Transfer
from cdspp.report.figures.source_help import draw_source_states

Draw = Callable[..., Figure]


@pytest.fixture
def draw(tmp_path: Path, watch: Callable[..., list[Figure]]) -> Draw:
    """Return a function that draws comparisons of benchmarks and gives the figure."""

    def make(*groups: pd.DataFrame) -> Figure:
        drawn, output = watch(), tmp_path / "source-states.svg"
        plans = [make_plan(title=f"Benchmark {place}") for place in range(len(groups))]
        draw_source_states(groups, plans, [output])
        assert "nan" not in output.read_text(encoding="utf-8")
        return drawn[0]

    return make


def grid(figure: Figure, panel: int = 0) -> list[list[str]]:
    """Return what stands in the cells of a panel, line by line."""
    texts = (t for t in figure.axes[panel].texts if t.get_position()[0] >= 0)
    found = [(t.get_position(), t.get_text()) for t in texts]
    lines: dict[float, list[str]] = {}
    for (_, y), text in sorted(found, key=lambda entry: entry[0][::-1]):
        lines.setdefault(y, []).append(text)
    return list(lines.values())


def verdicts(figure: Figure, panel: int = 0) -> list[str]:
    """Return the column of verdicts of a panel, below its heading."""
    texts = (t for t in figure.axes[panel].texts if t.get_position()[0] < 0)
    return [text.get_text() for text in texts][:-1]


def labels(figure: Figure, side: str, panel: int = 0) -> list[str]:
    axes = figure.axes[panel]
    return [label.get_text() for label in getattr(axes, f"get_{side}ticklabels")()]


def with_pair(word: str, **changes: Any) -> pd.DataFrame:
    """Return a gain of five points over one state, with this word."""
    plan = make_plan(methods=("cdspp",), tasks=["a_b"], states=("noise",))
    names = [f"{m}p_{w}" for m in ("", "balanced_") for w in ("above", "below")]
    names += [f"{m}p_{w}" for m in ("", "balanced_") for w in ("helps", "hurts")]
    found = draw_comparisons(plan).assign(**dict.fromkeys(names, 0.001))
    words = {"pair": word, "balanced_pair": word}
    words |= dict.fromkeys(("accuracy_verdict", "balanced_verdict"), word)
    return found.assign(**words | {"gain": 0.05} | changes)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("positive transfer", "▲ +5.0"),
        ("negative transfer", "▼ +5.0"),
        ("no effect", "■ +5.0"),
        ("inconclusive", "○ +5.0"),
    ],
)
def test_a_cell_has_the_sign_of_its_word(draw: Draw, word: str, text: str) -> None:
    assert grid(draw(with_pair(word))) == [[text]]


@pytest.mark.parametrize("silent", [{"trials": 4}, {"degenerate": True}])
def test_a_cell_without_a_test_has_brackets(draw: Draw, silent: dict[str, Any]) -> None:
    assert grid(draw(with_pair("inconclusive", **silent))) == [["(+5.0)"]]


@pytest.mark.parametrize(
    "words",
    [("positive transfer", "no effect"), ("no effect", "positive transfer")],
)
def test_a_cell_whose_measures_differ_looks_like_none_of_both(
    draw: Draw, words: tuple[str, str]
) -> None:
    mixed = with_pair(words[0], balanced_pair=words[1])
    assert grid(draw(mixed)) == [["○ +5.0"]]
    fill = lightness(draw, mixed)
    assert all(abs(fill - lightness(draw, with_pair(w))) > 10 for w in words)


def test_no_cell_is_dark_where_the_measures_disagree_over_all(draw: Draw) -> None:
    found = with_pair("positive transfer", balanced_verdict="inconclusive")
    assert grid(draw(found)) == [["○ +5.0"]]


def test_every_line_has_its_verdict_and_larger_gains_are_darker(draw: Draw) -> None:
    assert verdicts(draw(with_pair("no effect"))) == ["■ no effect"]
    found = with_pair("positive transfer")
    fills = [lightness(draw, found.assign(gain=gain)) for gain in (0.3, 0.05, 0.01)]
    assert fills == sorted(fills)
    assert fills[0] < fills[1] < fills[2]


def test_a_pair_without_a_trial_is_a_dash(draw: Draw) -> None:
    lost = with_pair("inconclusive").assign(gain=float("nan"))
    assert grid(draw(lost)) == [["–"]]


def lightness(draw: Draw, found: pd.DataFrame) -> float:
    (cell,) = (p for p in draw(found).axes[0].patches if type(p) is Rectangle)
    colour = to_hex(cell.get_facecolor())
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_fills_are_told_apart_in_grey_as_the_caption_says(draw: Draw) -> None:
    words = tuple(verdict.word for verdict in Transfer)
    found = {word: lightness(draw, with_pair(word)) for word in words}
    assert sorted(found, key=found.__getitem__) == list(words)
    values = sorted(found.values())
    assert min(b - a for a, b in zip(values, values[1:], strict=False)) > 15
    assert found["inconclusive"] == pytest.approx(255)


def test_methods_are_lines_and_states_columns_of_averages(draw: Draw) -> None:
    own = {"cdspp-sup": ["none", "noise"]}
    found = draw_comparisons(make_plan(own_states=own), source_helps=0.06)
    figure = draw(found)
    heads = [
        label.replace("-\n", "-").replace("\n", " ") for label in labels(figure, "x")
    ]
    assert heads == [
        "no source",
        "no source, sizes matched",
        "permuted classes",
        "permuted labels",
        "class-conditional noise",
        "noise",
    ]
    names = ["CDSPP$_\\mathrm{sup}$*", "CDSPP", "CDSPP+PCA"]
    assert labels(figure, "y") == names
    cells = grid(figure)
    assert cells[0][1:4] == ["–", "–", "–"]
    average = on_average(of_method(found, "cdspp"))
    (gain,) = average[average["comparator"] == "none"]["gain"]
    assert cells[1][0] == f"▲ +{100 * gain:.1f}"


def test_benchmarks_are_panels_and_one_method_is_enough(draw: Draw) -> None:
    one = draw_comparisons(make_plan(methods=("svm-t", "dama"), tasks=["a_b"]))
    every = make_plan(methods=tuple(METHODS), tasks=["a_b"], trials=5)
    figure = draw(one, draw_comparisons(every))
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == ["Benchmark 0", "Benchmark 1"]
    assert [len(grid(figure, panel)) for panel in (0, 1)] == [1, len(METHODS) - 1]
    assert {len(line) for line in grid(figure, 1)} == {len(STATES)}


def test_where_no_state_was_run_the_panel_is_empty(draw: Draw) -> None:
    bare = draw_comparisons(make_plan(states=()))
    for found in (bare, no_comparisons()):
        assert grid(draw(found)) == []
