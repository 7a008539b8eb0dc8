"""The charts of gains: by task, by method and source state, and of selected options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from cdspp.analysis import source_help, verdicts
from cdspp.analysis.answers import verdict_of
from cdspp.analysis.summary import Summary, read_summaries
from cdspp.analysis.verdicts import DEPENDS, EQUAL, HELPS, HURTS, UNDECIDED, PairedGain
from cdspp.core.names import AVERAGE, BASELINE, REAL, REFERENCE, Paths
from cdspp.core.wording import DASH, STATE_TITLES, in_points
from cdspp.report.figures import style
from cdspp.study.plan import CONTROL, Plans, few_tasks

_PITCH = 1.6
VERDICT_COLOURS = {HELPS: "#0067a8", HURTS: "#c9431d", EQUAL: "#22262b"}
_MARKERS = {HELPS: "o", HURTS: "D", EQUAL: "s"}
_BASELINE = "#4b5563"
# Fill and ink by the verdict on a pair, of both measures; in grey the signs tell the
# light ones apart.
_CELLS = {
    HELPS: ("#0b5394", "white"),
    HURTS: ("#f4b183", style.INK),
    EQUAL: ("#d5d9de", style.INK),
    DEPENDS: ("#f6edc4", style.INK),
    UNDECIDED: ("white", style.INK),
    verdicts.TOO_FEW: ("white", style.MUTED),
    verdicts.COLLAPSED: ("white", style.MUTED),
}
_SIGNS = {HELPS: "▲", HURTS: "▼", EQUAL: "=", DEPENDS: "◐"}
_WORDS = {HELPS: "better", HURTS: "worse", EQUAL: "equal", DEPENDS: DEPENDS}
# The form of a fit: its column, its name, and marker, colour and fill.
_FORMS = (
    ("default", "default", "s", style.MUTED, "white"),
    ("selected", "selected on the labelled rows", "o", "#0067a8", "#0067a8"),
    ("hindsight", "best in hindsight, which nobody can know", "|", "#c9431d", "none"),
)


def write_opening(
    plans: Plans, scores: Paths, comparisons: Paths, outputs: Paths
) -> None:
    """Draw the opening chart, and the matrix of methods by source states below it."""
    gains = [source_help.read_comparisons(path) for path in comparisons]
    opening = partial(draw_source_help, read_summaries(scores, plans), gains)
    states = partial(draw_source_states, gains, plans)
    style.draw_each(outputs, {"source-help": opening, "source-states": states})


def write_selection(plans: Plans, selection: Paths, outputs: Paths) -> None:
    """Draw the table of selected hyper-parameters; what it shows needs no plan."""
    [path] = selection
    groups = dict(iter(pd.read_csv(path).groupby("title", sort=False)))
    lengths = [len(group) for group in groups.values()]
    sizes = {"line": 0.21, "frame": 0.5, "rest": 0.6}
    with style.stacked(list(groups), lengths, outputs, **sizes) as (figure, panels):
        for axes, group in zip(panels, groups.values(), strict=True):
            _selection_panel(axes, group)
        style.equal_windows(panels)
        figure.supxlabel("accuracy, percent")
        handles, _ = panels[0].get_legend_handles_labels()
        style.add_legend(figure, handles, "upper center")


def draw_source_help(
    summaries: Sequence[Summary], comparisons: Sequence[pd.DataFrame], outputs: Paths
) -> None:
    """Draw baseline, states and reference of every task, or of many their gains."""
    ours = map(source_help.of_reference, comparisons)
    groups = list(map(source_help.by_task, ours))
    titles = [summary.plan.title for summary in summaries]
    if not few_tasks([summary.plan for summary in summaries]):
        _draw_gains(titles, groups, outputs)
        return
    lengths = [max(1, len(summary.tasks)) for summary in summaries]
    sizes = {"line": 0.88, "frame": 0.48, "rest": 0.85}
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for summary, group, axes in zip(summaries, groups, panels, strict=True):
            _source_panel(axes, summary, group)
        style.equal_windows(panels)
        head = "verdict; least sure gain [95 %]"
        units: Any = ("axes fraction", "offset points")
        panels[0].annotate(head, (1.02, 1), (0, 6), *units, color=style.MUTED)
        figure.supxlabel("accuracy, percent")
        rows = {s.rows[i].key: s.rows[i] for s in summaries for i in _rows(s)}
        handles = []
        for key, row in rows.items():
            look = style.style_of(key).look(5) | style.MARKER_ONLY
            name = style.figure_name(row.display_name)
            handles.append(Line2D([], [], label=name, **look))
        style.add_legend(figure, handles, "upper center")


def _rows(summary: Summary) -> list[int]:
    """Return the places of baseline, other source states and reference, in order."""
    controls = [i for i, row in enumerate(summary.rows) if row.kind == CONTROL]
    places = [summary.place(BASELINE), *controls, summary.place(REFERENCE)]
    return list(dict.fromkeys(i for i in places if i is not None))


def _source_panel(
    axes: Axes, summary: Summary, groups: Mapping[str, pd.DataFrame]
) -> None:
    rows = _rows(summary)
    pitch, margin = len(rows) + _PITCH, (1 + _PITCH) / 2
    reference = summary.place(REFERENCE)
    for place, task in enumerate(summary.tasks):
        top = place * pitch
        if place % 2 == 0:
            edge = top - margin
            axes.axhspan(edge, edge + pitch, color="#f5f6f7", lw=0, zorder=0)
        for offset, i in enumerate(rows):
            values = summary.accuracy[i, place]
            mean = style.dots(axes, summary.rows[i].key, values, top + offset)
            if i == reference and np.isfinite(mean):
                ends = [top - 0.5, top + offset]
                axes.plot([mean, mean], ends, color="#0067a8", lw=0.9, alpha=0.45)
        _gain_text(axes, groups.get(task), top + (len(rows) - 1) / 2)
    centres = [k * pitch + (len(rows) - 1) / 2 for k in range(len(summary.tasks))]
    axes.set_yticks(centres, [style.task_text(task) for task in summary.tasks])
    axes.set_ylim(max(1, len(summary.tasks)) * pitch - margin, -margin)
    style.quiet(axes)


def _gain_text(axes: Axes, comparisons: pd.DataFrame | None, y: float) -> None:
    if comparisons is None:
        return
    word = verdict_of(comparisons)
    where: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    colour = VERDICT_COLOURS.get(word, style.MUTED)
    axes.text(1.02, y - 1.4, word, color=colour, fontweight="bold", **where)
    if (rival := _hardest(comparisons)) is not None:
        low, high = in_points(rival.low), in_points(rival.high)
        text = f"{in_points(rival.gain, sign=True)}  [{low}, {high}]"
        axes.text(1.02, y + 0.1, text, **where)
        axes.text(1.02, y + 1.6, f"over {rival.rival}", **where)


def _hardest(comparisons: pd.DataFrame) -> Any | None:
    """Return the comparison with the state over which the gain is least sure."""
    hardest = comparisons["rival"] == comparisons["hardest"]
    return next(comparisons[comparisons["state"] & hardest].itertuples(), None)


def _draw_gains(
    titles: Sequence[str], groups: Sequence[Mapping[str, pd.DataFrame]], outputs: Paths
) -> None:
    lengths = [max(1, len(group)) for group in groups]
    sizes: Any = {"line": 0.23, "frame": 0.5, "rest": 0.7, "sharex": True}
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for axes, group in zip(panels, groups, strict=True):
            axes.axvline(0, color=style.MUTED, lw=0.9)
            for y, (task, comparisons) in enumerate(group.items()):
                if task == AVERAGE:
                    axes.axhspan(y - 0.5, y + 0.5, color="#f5f6f7", lw=0, zorder=0)
                for comparison in comparisons[~comparisons["state"]].itertuples():
                    _gain(axes, comparison, y - 0.16, (_BASELINE, "s", "white"))
                if (rival := _hardest(comparisons)) is not None:
                    _gain(axes, rival, y + 0.16, _look(verdict_of(comparisons)))
            axes.set_yticks(range(len(group)), list(map(style.task_text, group)))
            axes.set_ylim(max(1, len(group)) - 0.5, -0.5)
            style.quiet(axes)
        figure.supxlabel("gain, points")
        found = [each for group in groups for each in group.values()]
        names = [name for each in found for name in each[~each["state"]]["rival_name"]]
        over = [f"over {style.figure_name(name)}" for name in names[:1]]
        kinds = [
            *((text, _BASELINE, "s", "white") for text in over),
            ("over the hardest state: helps", *_look(HELPS)),
            *((word, *_look(word)) for word in (EQUAL, UNDECIDED, HURTS)),
        ]
        handles = [
            Line2D([], [], label=label, color=colour, marker=marker, mfc=face, ls="")
            for label, colour, marker, face in kinds
        ]
        style.add_legend(figure, handles, "upper center")


def _gain(axes: Axes, gain: PairedGain, y: float, look: tuple[str, str, str]) -> None:
    colour, marker, face = look
    if np.isfinite(gain.low):
        axes.plot([100 * gain.low, 100 * gain.high], [y, y], color=colour, lw=1.4)
    axes.plot([100 * gain.gain], [y], marker, color=colour, markersize=4, mfc=face)


def _look(verdict: str) -> tuple[str, str, str]:
    colour = VERDICT_COLOURS.get(verdict, style.MUTED)
    return colour, _MARKERS.get(verdict, "v"), colour


def draw_source_states(
    comparisons: Sequence[pd.DataFrame], plans: Plans, outputs: Paths
) -> None:
    """Draw methods by source states: gains of the real source, averaged over tasks."""
    # A method that ran in no state has nothing to show here.
    groups = []
    for each, plan in zip(comparisons, plans, strict=True):
        matrix = source_help.matrix(each, corrected=plan.holm_over_methods)
        groups.append(matrix[matrix["state"]])
    lengths = [max(1, group["row"].nunique()) for group in groups]
    widest = max((len(source_help.rivals_of([group])) for group in groups), default=0)
    # Narrow, so that a telephone shows it without shrinking the numbers.
    wanted = 1.6 + 0.62 * widest
    tight = style.width() < wanted * style.scale()  # signs stand above their numbers
    sizes: Any = {"line": 0.245, "frame": 0.75, "most": max(5.0, wanted), "rest": 0.3}
    sizes |= {"line": 0.34, "frame": 1.3} if tight else {}
    sizes |= {"height_ratios": [length + 1 for length in lengths]}
    titles = [plan.title for plan in plans]
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for group, axes in zip(groups, panels, strict=True):
            _matrix(axes, group, tight=tight)
        signs = ", ".join(f"{sign} {_WORDS[word]}" for word, sign in _SIGNS.items())
        text = "gain in accuracy over this state, points, and by both measures:"
        figure.supxlabel(f"{text}\n{signs}")


def _matrix(axes: Axes, comparisons: pd.DataFrame, *, tight: bool) -> None:
    names = comparisons.drop_duplicates("row").set_index("row")["display_name"]
    states = source_help.rivals_of([comparisons])
    for y, (_, pairs) in enumerate(comparisons.groupby("row", sort=False)):
        by_rival = {pair.rival: pair for pair in pairs.itertuples()}
        for x, state in enumerate(states):
            _cell(axes, x, y, by_rival.get(state), tight=tight)
    heads = [title.replace("-", "-\n").replace(" ", "\n") for title in states.values()]
    axes.set_xticks(range(len(states)), heads, rotation=90 if tight else 0)
    axes.set_yticks(range(len(names)), [style.figure_name(name) for name in names])
    axes.set_xlim(-0.5, max(1, len(states)) - 0.5)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)


def _cell(axes: Axes, x: int, y: int, pair: Any | None, *, tight: bool) -> None:
    word, text = verdicts.TOO_FEW, DASH
    if pair is not None and not math.isnan(pair.gain):
        word, gain = source_help.pair_verdict(pair), in_points(pair.gain, sign=True)
        open_pair = word in (verdicts.TOO_FEW, verdicts.COLLAPSED)
        sign = "( )" if open_pair else _SIGNS.get(word, "")
        text = f"{sign}\n{gain}" if tight else f"{sign} {gain}"
        text = f"({gain})" if open_pair and not tight else text.strip()
    fill, ink = _CELLS[word]
    corner = (x - 0.47, y - 0.45)
    axes.add_patch(Rectangle(corner, 0.94, 0.9, facecolor=fill, edgecolor="#e4e6e9"))
    axes.text(x, y, text, color=ink, ha="center", va="center")


def _selection_panel(axes: Axes, group: pd.DataFrame) -> None:
    forms = 100 * group[[column for column, *_ in _FORMS]]
    places = range(len(group))
    axes.hlines(places, forms.min(axis=1), forms.max(axis=1), color="#b9bdc3", lw=1)
    for column, label, marker, colour, fill in _FORMS:
        size = 9 if marker == "|" else 5
        (line,) = axes.plot(forms[column], places, marker, label=label, mew=1.6)
        line.set(color=colour, markerfacecolor=fill, markersize=size)
    titles = {REAL: "real source", **STATE_TITLES}
    pairs = zip(group["display_name"], group["state"], strict=True)
    names = [f"{style.figure_name(name)}, {titles[state]}" for name, state in pairs]
    axes.set_yticks(places, names)
    for text, state in zip(axes.get_yticklabels(), group["state"], strict=True):
        text.set_color(style.INK if state == REAL else style.MUTED)
    axes.set_ylim(len(group) - 0.4, -0.6)
    style.quiet(axes)
