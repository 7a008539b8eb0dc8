"""The look of every figure: a style file, colours and markers per method, fixed bytes.

Accuracies are drawn in percent. Sizes are inches and points of the style two-columns,
except for widths; other styles have smaller ones.
"""

import math
import re
import textwrap
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib import RcParams, rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from cdspp.analysis.summary import Floats, mean_sd
from cdspp.analysis.transfer import DEGENERATE
from cdspp.analysis.verdicts import mean_interval
from cdspp.core.errors import DataError
from cdspp.core.names import AVERAGE, PathLike, Paths, several_sources
from cdspp.core.outputs import atomic
from cdspp.core.wording import escape_invisible, split_name, task_title
from cdspp.core.yaml_files import read_yaml
from cdspp.methods.descriptions import looks
from cdspp.report.figures.drawing import CaptionedFigure
from cdspp.study.plan import Row

INK = "#22262b"
MUTED = "#6b7280"
TWO_COLUMNS = "two-columns"
TITLE_WIDTH = 20  # letters per line of a title
DASHES = (0, (4, 2))
MARKER_ONLY: Any = {"markeredgewidth": 1.2, "linestyle": "none"}
RING: Any = {
    **{"marker": "o", "markersize": 11, "markerfacecolor": "none", "zorder": 4},
    **{"color": MUTED, "linestyle": "none", "label": DEGENERATE},
    "clip_on": False,
}
# Background of text that overlaps lines.
ON_LINES: Any = {"facecolor": "white", "edgecolor": "none", "pad": 1}


@dataclass(frozen=True)
class Style:
    """Colour, marker and fill of one method; supervised methods are hollow."""

    colour: str
    marker: str
    filled: bool = True

    def look(self, size: float) -> dict[str, Any]:
        """Return the properties of a marker in points."""
        fill = self.colour if self.filled else "white"
        look = {"color": self.colour, "marker": self.marker}
        return {**look, "markersize": size, "markerfacecolor": fill}


FOLDER = Path(__file__).parents[1] / "styles"
STYLES = {
    **{k: Style(**look) for k, look in read_yaml(FOLDER / "controls.yaml").items()},
    **{k: Style(*look) for k, look in looks().items()},
}

_style = ContextVar("style", default=TWO_COLUMNS)  # the current style
_PIXELS = 945  # of a PNG at full width

# By format, metadata that would differ between equal figures, and those of captions.
_STAMPS = {".svg": "Date", ".png": "Software", ".pdf": "CreationDate"}
_CAPTIONS = {".svg": "Description", ".png": "Description", ".pdf": "Subject"}


@contextmanager
def in_style(name: str) -> Iterator[None]:
    """Draw figures by a style file of `cdspp.report.styles`."""
    token = _style.set(name)
    try:
        yield
    finally:
        _style.reset(token)


def width(most: float = math.inf) -> float:
    """Return the width of a figure in inches, at most `most`."""
    return min(most, float(_rc(_style.get())["figure.figsize"][0]))


def narrow() -> bool:
    """Return whether panels have space only for short lines."""
    return width() < 5


def scale() -> float:
    """Return the type size, relative to that of two columns."""
    return float(_rc(_style.get())["font.size"] / _rc(TWO_COLUMNS)["font.size"])


def class_colours() -> list[str]:
    """Return the colours of the style, which remain distinct for the colour-blind."""
    return list(_rc(_style.get())["axes.prop_cycle"].by_key()["color"])


def _style_file(name: str) -> Path:
    return FOLDER / f"{name}.mplstyle"


@cache
def _rc(name: str) -> RcParams:
    return rc_params_from_file(_style_file(name), use_default_template=False)


def style_of(key: str) -> Style:
    """Return the style of a method or control; methods in other settings are grey."""
    if key in STYLES or ", " in key:
        return STYLES.get(key, Style(MUTED, "o"))
    number, colours = zlib.crc32(key.encode()), class_colours()
    marker = "o^sDvP"[number // len(colours) % 6]
    return Style(colours[number % len(colours)], marker)


def figure_name(name: str) -> str:
    r"""Return a method's name for a figure, a subscript after its first underscore.

    >>> print(figure_name("SVM_t"))
    SVM$_\mathrm{t}$
    """
    base, subscript, rest = split_name(name)
    # Mathtext has few letters, and would join a preceding backslash to its dollar sign.
    if not subscript or not name.isascii() or base.endswith("\\"):
        return plain_text(name)
    tail = rf"$_\mathrm{{{subscript}}}$"
    return plain_text(base) + tail + plain_text(rest)


def plain_text(text: str, most: int = 64) -> str:
    r"""Return a text of the user so that a figure shows it letter by letter.

    Invisible letters are escaped as in Python; the middle of a text of more than `most`
    letters is left out.

    >>> print(plain_text("5 $ of\n\\frac{$"))
    5 \$ of\n\frac{\$
    >>> plain_text("a" * 9 + "z", most=4)
    'aa…z'
    """
    shown = escape_invisible(text)
    if len(shown) > most:
        shown = f"{shown[: most // 2]}…{shown[len(shown) - (most - most // 2 - 1) :]}"
    return shown.replace("$", r"\$")


def task_text(task: str, letters: int = 0) -> str:
    """Return a task for a figure, in lines of `letters`, or one line per source."""
    shown = plain_text(task_title(task))
    letters = letters or (TITLE_WIDTH if several_sources(task) else 0)
    return textwrap.fill(shown, letters) if letters else shown


def letter() -> float:
    """Return the width of a letter in inches, on average."""
    return 0.0725 * scale()


def hide_spines(axes: Axes, *, grid: str = "x") -> None:
    """Keep only a light grid along one axis and the spine that carries it."""
    axes.grid(axis=grid)  # type: ignore[arg-type]
    for side in ("left", "bottom"):
        axes.spines[side].set_visible((side == "bottom") == (grid == "y"))


def dots(axes: Axes, values: Floats, y: float, look: Mapping[str, Any]) -> None:
    """Draw the mean of fractions, and its interval, at height `y`."""
    mean = 100 * mean_sd(values)[0]
    interval(axes, *mean_interval(values), y, color=look["color"], lw=1.6)
    if np.isfinite(mean):
        axes.plot([mean], [y], **look, **MARKER_ONLY)
        CaptionedFigure.of(axes).trials.add(int(np.isfinite(values).sum()))


def interval(axes: Axes, low: float, high: float, y: float, **look: Any) -> None:
    """Draw an interval of fractions at height `y`; nothing if it is unknown."""
    if np.isfinite(low):
        axes.plot([100 * low, 100 * high], [y, y], **look)
        CaptionedFigure.of(axes).parts.add("intervals")


def draw_line(
    axes: Axes,
    row: Row,
    x: ArrayLike,
    values: Floats,
    *,
    band: bool = False,
    bars: bool = False,
    unusable: ArrayLike = False,
    **look: Any,
) -> None:
    """Draw the means of fractions by position and trial; intervals are a band or bars.

    A ring marks the positions of `unusable` fits, which are degenerate.
    """
    finite = np.isfinite(values).any(axis=1)
    places, numbers, style = np.asarray(x)[finite], values[finite], style_of(row.key)
    look = {**style.look(4.5), "label": figure_name(row.display_name), **look}
    means = np.array([mean_sd(trials)[0] for trials in 100 * numbers])
    axes.plot(places, means, **look)
    drawing = CaptionedFigure.of(axes)
    drawing.trials.update(np.isfinite(numbers).sum(axis=1).tolist())
    if len(numbers) and DASHES in (look.get("ls"), look.get("linestyle")):
        drawing.parts.add("dashed")
    if (at := np.broadcast_to(unusable, finite.shape)[finite]).any():
        axes.plot(places[at], means[at], **RING)
        drawing.parts.add("rings")
    if len(numbers) and (band or bars):
        low, high = 100 * np.transpose([mean_interval(trials) for trials in numbers])
        if np.isfinite(low).any():
            drawing.parts.add("bars" if bars else "band")
        if bars:
            axes.plot([places] * 2, [low, high], color=style.colour, lw=1.1)
        else:
            axes.fill_between(places, low, high, color=style.colour, alpha=0.13, lw=0)


def name_far_row(
    axes: Axes,
    row: Row,
    means: Floats,
    height: int,
    *,
    x: float = 0.02,
    collapsed: bool = False,
    **look: Any,
) -> None:
    """Name a row above `height` others, with its lowest and highest mean in percent."""
    ends = dict.fromkeys(f"{end:.0f}" for end in (np.nanmin(means), np.nanmax(means)))
    text = f"{figure_name(row.display_name)} {' to '.join(ends)}"
    text = f"({text})" if collapsed else f"▾ {text}"
    colour = MUTED if collapsed else style_of(row.key).colour
    CaptionedFigure.of(axes).parts.add("brackets" if collapsed else "far")
    axes.text(x, 0.02 + 0.08 * height, text, color=colour, bbox=ON_LINES, **look)


def equal_windows(
    panels: Sequence[Axes],
    *,
    pad: float = 0.06,
    side: Literal["x", "y"] = "x",
    within: tuple[float, float] = (-np.inf, np.inf),
) -> None:
    """Give all panels the same number of points per inch, each around its own data.

    Except for `pad`, a share of the widest, no window extends beyond `within`.
    """
    limits = [getattr(axes.dataLim, f"interval{side}") for axes in panels]
    spans = [high - low for low, high in limits if np.isfinite([low, high]).all()]
    span = max(spans, default=0.0) * (1 + 2 * pad) or 1.0
    for axes in panels if len(spans) > 1 else ():
        CaptionedFigure.of(axes).parts.add("equal spans")
    for axes, (low, high) in zip(panels, limits, strict=True):
        if np.isfinite([low, high]).all():
            highest, lowest = within[1] + pad * span - span, within[0] - pad * span
            start = max(min((low + high - span) / 2, highest), lowest)
            axes.set(**{f"{side}lim": (start, start + span)})


def far_below(means: Floats) -> NDArray[np.bool_]:
    """Return which means, in percent, are too far below the median to be shown."""
    if not np.isfinite(means).any():
        return np.zeros(len(means), dtype=bool)
    median = np.nanmedian(means)
    floor = median - 3 * max(np.nanmax(means) - median, 5.0)
    return np.asarray(means < floor)


def draw_each(
    outputs: Paths, drawings: Mapping[str, Callable[[list[PathLike]], None]]
) -> None:
    """Draw several figures by the kind at the start of their file names."""
    groups: dict[str, list[PathLike]] = {}
    for output in outputs:
        kind = Path(output).stem.partition("_")[0]
        if kind not in drawings:
            names = " or ".join(f"{name}_<benchmark>" for name in drawings)
            raise DataError(f"{output}: expected a figure named {names}.")
        groups.setdefault(kind, []).append(output)
    for kind, paths in groups.items():
        drawings[kind](paths)


def add_legend(figure: Any, handles: Sequence[Any], place: str) -> None:
    """Add a legend outside the panels, in as many columns as fit the width."""
    # Of "SVM$_\\mathrm{t}$" a reader sees four letters.
    shown = [re.sub(r"\\mathrm|[${}_]", "", h.get_label()) for h in handles]
    longest = max((len(line) for text in shown for line in text.split("\n")), default=0)
    each = (longest + 7) * letter()
    n_lines = math.ceil(len(handles) / max(1, int(figure.get_figwidth() / each)))
    n_columns = math.ceil(len(handles) / max(1, n_lines))
    if handles:
        figure.legend(handles=handles, loc=f"outside {place}", ncols=n_columns)


@contextmanager
def canvas(inches: float, height: float, outputs: Paths) -> Iterator[CaptionedFigure]:
    """Yield a figure of a given size, then write it with its caption.

    Equal figures have equal bytes.
    """
    paths = [Path(output) for output in outputs]
    for path in paths:
        if path.suffix not in _STAMPS:
            raise DataError(f"{path}: expected the suffix .svg, .png or .pdf.")
    with rc_context(fname=_style_file(_style.get())):
        figure = CaptionedFigure(figsize=(inches, height), layout="constrained")
        yield figure
        _shrink(figure)
        for path in paths:
            text = figure.caption(path.stem.partition("_")[0])
            told = {_STAMPS[path.suffix]: None, _CAPTIONS[path.suffix]: text}
            look: dict[str, Any] = {"metadata": told}
            if path.suffix != ".pdf":
                look["dpi"] = _PIXELS / width()
            with atomic(path) as temporary:
                figure.savefig(temporary, **look)


def _shrink(figure: CaptionedFigure) -> None:
    """Shrink lines and markers in proportion to the type."""
    for line in figure.findobj(Line2D):
        line.set(linewidth=line.get_linewidth() * scale())
        line.set(markersize=line.get_markersize() * scale())
    for dots in figure.findobj(PathCollection):
        dots.set(sizes=dots.get_sizes() * scale() ** 2)


@contextmanager
def gridded(
    tasks: Sequence[str],
    n_columns: int,
    outputs: Paths,
    *,
    line: float,
    rest: float,
    most: float = math.inf,
    letters: int = 0,
    spare: bool = False,
    **options: Any,
) -> Iterator[tuple[CaptionedFigure, list[Axes]]]:
    """Yield a figure and its panels in rows of `line` inches; `rest` is for others.

    The figure is as wide as the style says, or `most` inches. A panel's title is the
    name of its task, in lines of `letters`, unless that is empty. Cells without a panel
    have no axis; with `spare` they are part of the figure.
    """
    n_lines = max(1, math.ceil(len(tasks) / n_columns))
    with canvas(width(most), scale() * (line * n_lines + rest), outputs) as figure:
        grid = figure.subplots(n_lines, n_columns, squeeze=False, **options).flat
        for axes in grid[len(tasks) :]:
            axes.set_axis_off()
            axes.set_visible(spare)
        panels = list(grid[: len(tasks)])
        if "sharey" in options and len(panels) > 1:
            figure.parts.add("one scale")
        for axes, task in zip(panels, tasks, strict=True):
            weight = "bold" if task == AVERAGE else "normal"
            axes.set_title(task_text(task, letters), fontweight=weight)
        yield figure, panels


@contextmanager
def stacked(
    titles: Sequence[str],
    lengths: Sequence[int],
    outputs: Paths,
    *,
    line: float,
    frame: float,
    rest: float,
    **options: Any,
) -> Iterator[tuple[CaptionedFigure, list[Axes]]]:
    """Yield a figure and its titled panels, each as high as its lines and its frame."""
    height = sum(line * length + frame for length in lengths) + rest
    blank, options = [""] * len(titles), {"height_ratios": lengths, **options}
    grid = gridded(blank, 1, outputs, line=0.0, rest=height, **options)
    with grid as (figure, panels):
        for axes, title in zip(panels, titles, strict=True):
            axes.set_title(plain_text(title), fontweight="bold")
        yield figure, panels
