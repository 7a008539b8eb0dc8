"""How every figure looks: a colour and marker a method, one type size, fixed bytes.

Accuracies are drawn in percent.
"""

from __future__ import annotations

import math
import textwrap
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from cdspp.analysis.summary import Floats, mean_sd
from cdspp.analysis.verdicts import mean_interval
from cdspp.core.errors import DataError
from cdspp.core.files import atomic
from cdspp.core.names import AVERAGE, PathLike, Paths, several_sources
from cdspp.core.wording import split_name, task_title, visible
from cdspp.study.plan import Row

INK = "#22262b"
MUTED = "#6b7280"
WIDTH = 7.4
TITLE_WIDTH = 20  # letters of a line of a title
DASHES = (0, (4, 2))
MARKER_ONLY: Any = {"markeredgewidth": 1.2, "linestyle": "none"}
RING: Any = {
    **{"marker": "o", "markersize": 11, "markerfacecolor": "none", "zorder": 4},
    **{"color": MUTED, "linestyle": "none", "label": "collapsed or diverged"},
}
# Behind text that lies on lines.
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


# Families share a colour; members differ by marker or fill. The rows of the opening
# chart differ in greyscale as well, by marker.
STYLES = {
    "svm-t": Style("#4b5563", "s", False),
    "cdspp": Style("#0067a8", "o"),
    "cdspp-sup": Style("#0067a8", "o", False),
    "cdspp-pca": Style("#41a6dd", "H"),
    "target-only": Style("#d98a00", "D"),
    "shared-columns": Style("#12805c", ">", False),
    "shared-columns-plus": Style("#12805c", ">"),
    "easy-adapt": Style("#12805c", "<", False),
    "paired-map": Style("#7a5195", "^", False),
    "paired-map-plus": Style("#7a5195", "^"),
    "procrustes": Style("#7a5195", "v", False),
    "cdspp-bridge": Style("#0067a8", "*"),
    "none": Style("#d98a00", "d"),
    "none-matched": Style("#8a5a00", "p"),
    "swapped-classes": Style("#12805c", "P"),
    "permuted-labels": Style("#c9431d", "^"),
    "class-noise": Style("#7a5195", "X"),
    "noise": Style("#c66aa0", "v"),
    "hfa": Style("#7a5195", "p", False),
    "shfa": Style("#7a5195", "p"),
    "cdls": Style("#12805c", "d"),
    "cdls-sup": Style("#12805c", "d", False),
    "dama": Style("#7f7a1c", "<"),
    "dama-sup": Style("#7f7a1c", "<", False),
    "dama-plus": Style("#b7a92b", ">"),
    "pa": Style("#44aa99", "P"),
    "tit": Style("#882255", "h"),
    "stn": Style("#8a5a3c", "X"),
    "ddacl": Style("#332288", "*"),
    "ssan": Style("#111111", "8"),
    "kpg-rl": Style("#c9431d", "o"),
    "kpg-rl-gw": Style("#c9431d", "D"),
    "kpg-rl-kp": Style("#c9431d", "s"),
    "coot": Style("#2f6f73", "h"),
    "semi-relaxed-fgw": Style("#2f6f73", "H"),
    "jmea": Style("#8a5a3c", "P"),
    "pca-coral": Style("#9aa0a8", "d"),
}

CLASS_COLOURS = (
    *("#0067a8", "#d98a00", "#12805c", "#c9431d", "#7a5195"),
    *("#41a6dd", "#8a5a3c", "#c66aa0", "#7f7a1c", "#2b2f36"),
)

_SETTINGS: Any = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "mathtext.default": "regular",
    # Subscripts of methods need it; all other texts go through `plain_text`.
    "text.parse_math": True,
    "text.usetex": False,
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 9),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 9),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color"), INK),
    **{"ytick.color": INK, "axes.edgecolor": "#b9bdc3", "grid.color": "#e4e6e9"},
    **dict.fromkeys(("axes.linewidth", "grid.linewidth"), 0.8),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 0),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **{"axes.titleweight": "normal", "axes.titlelocation": "left"},
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "pdf.fonttype": 42,  # text stays text, in fonts that the file holds
    "svg.fonttype": "none",
    "svg.hashsalt": "cdspp",
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "white"),
    "figure.constrained_layout.wspace": 0.04,
}

# What would differ between equal figures, by their forms.
_STAMPS = {".svg": "Date", ".png": "Software", ".pdf": "CreationDate"}


def style_of(key: str) -> Style:
    """Return the style of a method or control; methods in other settings are grey."""
    if key in STYLES or ", " in key:
        return STYLES.get(key, Style(MUTED, "o"))
    number = zlib.crc32(key.encode())
    marker = "o^sDvP"[number // len(CLASS_COLOURS) % 6]
    return Style(CLASS_COLOURS[number % len(CLASS_COLOURS)], marker)


def figure_name(name: str) -> str:
    r"""Write a method's name for a figure, a subscript behind its first underscore.

    >>> print(figure_name("SVM_t"))
    SVM$_\mathrm{t}$
    """
    base, subscript, rest = split_name(name)
    # Mathtext has few letters, and a backslash before it would be of its dollar sign.
    if not subscript or not name.isascii() or base.endswith("\\"):
        return plain_text(name)
    tail = rf"$_\mathrm{{{subscript}}}$"
    return plain_text(base) + tail + plain_text(rest)


def plain_text(text: str, most: int = 64) -> str:
    r"""Write a text that a user chose so that a figure shows it letter by letter.

    What cannot be seen is shown as Python writes it; the middle of a text of more than
    `most` letters is left out.

    >>> print(plain_text("5 $ of\n\\frac{$"))
    5 \$ of\n\frac{\$
    >>> plain_text("a" * 9 + "z", most=4)
    'aa…z'
    """
    shown = visible(text)
    if len(shown) > most:
        shown = f"{shown[: most // 2]}…{shown[len(shown) - (most - most // 2 - 1) :]}"
    return shown.replace("$", r"\$")


def task_text(task: str) -> str:
    """Write a task for a figure, of several sources in lines as wide as panels."""
    shown = plain_text(task_title(task))
    return textwrap.fill(shown, TITLE_WIDTH) if several_sources(task) else shown


def quiet(axes: Axes, *, grid: str = "x") -> None:
    """Leave a light grid along one axis and the one spine that carries it."""
    axes.grid(axis=grid)  # type: ignore[arg-type]
    for side in ("left", "bottom"):
        axes.spines[side].set_visible((side == "bottom") == (grid == "y"))


def dots(axes: Axes, key: str, values: Floats, y: float) -> float:
    """Draw the mean of fractions, and its interval, at height `y`; return it."""
    style = style_of(key)
    mean = 100 * mean_sd(values)[0]
    low, high = mean_interval(values)
    if np.isfinite(low):
        axes.plot([100 * low, 100 * high], [y, y], color=style.colour, lw=1.6)
    if np.isfinite(mean):
        axes.plot([mean], [y], **style.look(5), **MARKER_ONLY)
    return mean


def draw_line(
    axes: Axes,
    row: Row,
    x: ArrayLike,
    values: Floats,
    *,
    band: bool,
    unusable: ArrayLike = False,
    **look: Any,
) -> None:
    """Draw the means of fractions by place and trial, with `band` their intervals.

    A ring stands around the places where fits have `unusable`: collapsed or diverged.
    """
    finite = np.isfinite(values).any(axis=1)
    places, numbers, style = np.asarray(x)[finite], values[finite], style_of(row.key)
    look = {**style.look(4.5), "label": figure_name(row.display_name), **look}
    means = np.array([mean_sd(trials)[0] for trials in 100 * numbers])
    axes.plot(places, means, **look)
    if (at := np.broadcast_to(unusable, finite.shape)[finite]).any():
        axes.plot(places[at], means[at], **RING)
    if band and len(numbers):
        edges = 100 * np.array([mean_interval(trials) for trials in numbers])
        axes.fill_between(places, *edges.T, color=style.colour, alpha=0.13, lw=0)


def note_far(
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
    axes.text(x, 0.02 + 0.08 * height, text, color=colour, bbox=ON_LINES, **look)


def equal_windows(
    panels: Sequence[Axes],
    *,
    pad: float = 0.06,
    side: Literal["x", "y"] = "x",
    within: tuple[float, float] = (-np.inf, np.inf),
) -> None:
    """Give all panels the same number of points an inch, each around its own data.

    But for `pad`, a share of the widest, no window leaves `within`.
    """
    limits = [getattr(axes.dataLim, f"interval{side}") for axes in panels]
    spans = [high - low for low, high in limits if np.isfinite([low, high]).all()]
    span = max(spans, default=0.0) * (1 + 2 * pad) or 1.0
    for axes, (low, high) in zip(panels, limits, strict=True):
        if np.isfinite([low, high]).all():
            highest, lowest = within[1] + pad * span - span, within[0] - pad * span
            start = max(min((low + high - span) / 2, highest), lowest)
            axes.set(**{f"{side}lim": (start, start + span)})


def far_below(means: Floats) -> NDArray[np.bool_]:
    """Tell which means, in percent, would squash the others, far below their median."""
    if not np.isfinite(means).any():
        return np.zeros(len(means), dtype=bool)
    median = np.nanmedian(means)
    floor = median - 3 * max(np.nanmax(means) - median, 5.0)
    return np.asarray(means < floor)


def draw_each(
    outputs: Paths, drawings: Mapping[str, Callable[[list[PathLike]], None]]
) -> None:
    """Draw several figures by the kind that opens the names of their files."""
    groups: dict[str, list[PathLike]] = {}
    for output in outputs:
        kind = Path(output).stem.partition("_")[0]
        if kind not in drawings:
            names = " or ".join(f"{name}_<benchmark>" for name in drawings)
            raise DataError(f"{output}: expected a figure named {names}.")
        groups.setdefault(kind, []).append(output)
    for kind, paths in groups.items():
        drawings[kind](paths)


@contextmanager
def canvas(width: float, height: float, outputs: Paths) -> Iterator[Figure]:
    """Yield a figure in inches; write it to files, equal ones with equal bytes."""
    paths = [Path(output) for output in outputs]
    for path in paths:
        if path.suffix not in _STAMPS:
            raise DataError(f"{path}: expected the suffix .svg, .png or .pdf.")
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        for path in paths:
            with atomic(path) as temporary:
                metadata = {_STAMPS[path.suffix]: None}
                # So that a PNG of the full width has less than 1000 pixels.
                figure.savefig(temporary, dpi=132, metadata=metadata)


@contextmanager
def gridded(
    tasks: Sequence[str],
    n_columns: int,
    outputs: Paths,
    *,
    line: float,
    rest: float,
    width: float = WIDTH,
    spare: bool = False,
    **options: Any,
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yield a figure and its panels in lines of `line` inches; `rest` is for others.

    A panel has the name of its task as a title, unless that is empty. Cells without a
    panel have no axis; with `spare` they are part of the figure.
    """
    n_lines = max(1, math.ceil(len(tasks) / n_columns))
    with canvas(width, line * n_lines + rest, outputs) as figure:
        grid = figure.subplots(n_lines, n_columns, squeeze=False, **options).flat
        for axes in grid[len(tasks) :]:
            axes.set_axis_off()
            axes.set_visible(spare)
        panels = list(grid[: len(tasks)])
        for axes, task in zip(panels, tasks, strict=True):
            weight = "bold" if task == AVERAGE else "normal"
            axes.set_title(task_text(task), fontweight=weight)
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
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yield a figure and its titled panels, each as high as its lines and its frame."""
    height = sum(line * length + frame for length in lengths) + rest
    blank, options = [""] * len(titles), {"height_ratios": lengths, **options}
    grid = gridded(blank, 1, outputs, line=0.0, rest=height, **options)
    with grid as (figure, panels):
        for axes, title in zip(panels, titles, strict=True):
            axes.set_title(plain_text(title), fontweight="bold", fontsize=9.5)
        yield figure, panels
