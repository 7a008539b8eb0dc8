"""The chart of hyper-parameters: default, selected, and best in hindsight."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from cdspp.core.names import REAL
from cdspp.core.wording import STATE_TITLES
from cdspp.report.figures import style

__all__ = ["draw_selections"]

# The form of a fit: its column, its name, and marker, colour and fill.
_FORMS = (
    ("default", "default", "s", style.MUTED, "white"),
    ("selected", "selected on the labelled rows", "o", "#0067a8", "#0067a8"),
    ("hindsight", "best in hindsight, which nobody can know", "|", "#c9431d", "none"),
)


def draw_selections(found: pd.DataFrame, outputs: style.Outputs) -> None:
    """Draw what `compare_selections` found, a line a method and source state."""
    groups = dict(iter(found.groupby("title", sort=False)))
    lengths = [len(group) for group in groups.values()]
    room = {"line": 0.21, "frame": 0.5, "rest": 0.6}
    with style.stacked(list(groups), lengths, outputs, **room) as (figure, panels):
        for group, axes in zip(groups.values(), panels, strict=True):
            _panel(axes, group)
        style.equal_windows(panels)
        figure.supxlabel("accuracy, percent", fontsize=9)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=len(_FORMS))


def _panel(axes: Axes, group: pd.DataFrame) -> None:
    forms = 100 * group[[column for column, *_ in _FORMS]]
    places = range(len(group))
    axes.hlines(places, forms.min(axis=1), forms.max(axis=1), color="#b9bdc3", lw=1)
    for column, label, marker, colour, fill in _FORMS:
        size = 9 if marker == "|" else 5
        (line,) = axes.plot(forms[column], places, marker, label=label, mew=1.6)
        line.set(color=colour, markerfacecolor=fill, markersize=size)
    sources = [{REAL: "real source", **STATE_TITLES}[state] for state in group["state"]]
    names = [style.figure_name(name) for name in group["display_name"]]
    names = [f"{name}, {source}" for name, source in zip(names, sources, strict=True)]
    axes.set_yticks(places, names)
    for text, state in zip(axes.get_yticklabels(), group["state"], strict=True):
        text.set_color(style.INK if state == REAL else style.MUTED)
    axes.set_ylim(len(group) - 0.4, -0.6)
    style.quiet(axes)
