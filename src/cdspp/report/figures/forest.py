"""The forest plot: the gain and verdict of every method, by kind of transfer."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from cdspp.analysis import kinds, transfer
from cdspp.analysis.kinds import MethodTransfer
from cdspp.analysis.pairwise import read_pairwise
from cdspp.analysis.source_help import read_comparisons
from cdspp.core.names import Paths
from cdspp.core.wording import in_points, sentence
from cdspp.report.figures import style
from cdspp.report.figures.drawing import CaptionedFigure
from cdspp.report.figures.source_help import draw_gain, verdict_look
from cdspp.study.plan import Plans

_BAND = "#f3f5f7"  # behind headings
_LETTERS = "abcdefghij"
_STRONGEST: Any = {"marker": "|", "color": "#4b5563", "ls": "", "ms": 9, "mew": 1.6}


def write_forest(
    plans: Plans, comparisons: Paths, pairwise: Paths, outputs: Paths
) -> None:
    """Draw the gains of all methods on every benchmark."""
    tables = map(read_comparisons, comparisons), map(read_pairwise, pairwise)
    found = [
        kinds.every_method(*pair, corrected=plan.holm_over_methods)
        for plan, *pair in zip(plans, *tables, strict=True)
    ]
    draw_forest(plans, found, outputs)


def draw_forest(
    plans: Plans, benchmarks: Sequence[Sequence[MethodTransfer]], outputs: Paths
) -> None:
    """Draw one panel per benchmark, and one line per method, along one axis."""
    groups = [list(_lines(methods)) for methods in benchmarks]
    reasons = [m.reason.partition(" (")[0] for group in groups for _, m in group if m]
    letters = dict(zip(dict.fromkeys(filter(None, reasons)), _LETTERS, strict=False))
    sizes: Any = {"line": 0.215, "frame": 0.32, "sharex": True}
    sizes["rest"] = 0.8 + 0.1 * len(letters) * (2 if style.narrow() else 1)
    lengths, titles = [max(1, len(g)) for g in groups], [plan.title for plan in plans]
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for axes, group in zip(panels, groups, strict=True):
            axes.axvline(0, color=style.MUTED, lw=0.9)
            for y, (heading, of) in enumerate(group):
                _line(axes, y, heading, of, letters)
            names = [
                "" if of is None else style.figure_name(of.method) for _, of in group
            ]
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(max(1, len(group)) - 0.5, -0.5)
            style.hide_spines(axes)
        notes = [
            f"{letter}: {reason}".replace(" ", "\N{NO-BREAK SPACE}")
            for reason, letter in letters.items()
        ]
        lines = textwrap.wrap("; ".join(notes), 50 if style.narrow() else 95)
        figure.supxlabel("\n".join(["gain (points)", *lines]))
        gain: Any = {"marker": "o", "color": style.MUTED, "mfc": "white"}
        looks = [(transfer.OVER_OWN_FIT, gain)] if figure.trials else []
        looks += (
            [(transfer.OVER_STRONGEST, _STRONGEST)]
            if "strongest" in figure.parts
            else []
        )
        handles = [Line2D([], [], label=label, **look) for label, look in looks]
        style.add_legend(figure, handles, "upper center")
        figure.describe(plans)


def _lines(
    methods: Sequence[MethodTransfer],
) -> Iterator[tuple[str, MethodTransfer | None]]:
    """Yield a heading per kind of transfer and its methods, by gain."""
    for kind, members in kinds.by_kind(methods).items():
        yield sentence(kind), None
        for method in members:
            yield "", method


def _line(
    axes: Axes,
    y: int,
    heading: str,
    of: MethodTransfer | None,
    letters: dict[str, str],
) -> None:
    across: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    if of is None:
        axes.axhspan(y - 0.5, y + 0.5, color=_BAND, lw=0, zorder=0)
        look: Any = {"color": style.MUTED, "fontstyle": "italic", **across}
        axes.text(0.005, y, heading, bbox=style.ON_LINES | {"facecolor": _BAND}, **look)
        return
    if not math.isnan(of.gain):
        draw_gain(axes, of, y, verdict_look(of.verdict))
    if not math.isnan(of.strongest_gain):
        axes.plot([100 * of.strongest_gain], [y], **_STRONGEST)
        CaptionedFigure.of(axes).parts.add("strongest")
    letter = letters.get(of.reason.partition(" (")[0], "")
    text = of.verdict.label + (rf"$^\mathrm{{{letter}}}$" if letter else "")
    weight = "bold" if of.verdict.decided else "normal"
    strong: Any = {"color": of.verdict.colour, "fontweight": weight}
    axes.text(1.11, y, text, **strong, **across)
    if not math.isnan(of.gain):
        gain = in_points(of.gain, sign=True)
        axes.text(1.095, y, gain, ha="right", color=of.verdict.colour, **across)
