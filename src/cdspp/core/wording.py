"""Formats of numbers and names, the same in every table, figure and sentence."""

import math
import unicodedata
from collections.abc import Collection, Sequence

from cdspp.core.names import (
    AVERAGE,
    CLASS_NOISE,
    NO_SOURCE,
    PERMUTED_CLASSES,
    SIZE_MATCHED,
    SOURCE_STATES,
)

DASH = "–"
# Unicode categories of characters that no font draws and no SVG file may contain.
_UNSEEN = {"Cc", "Cn", "Cs", "Zl", "Zp"}
# Bidirectional types of those that let a line read as another one.
_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
STATE_TITLES = {state: state.replace("-", " ") for state in SOURCE_STATES} | {
    NO_SOURCE: "no source",
    SIZE_MATCHED: "no source, sizes matched",
    PERMUTED_CLASSES: "permuted classes",
    CLASS_NOISE: "class-conditional noise",
}


def percent(mean: float, sd: float) -> str:
    """Write mean and standard deviation in % as the paper does: 92.3 (1.2)."""
    if math.isnan(mean):
        return DASH
    spread = DASH if math.isnan(sd) else f"{100 * sd:.1f}"
    return f"{100 * mean:.1f} ({spread})"


def in_points(fraction: float, *, sign: bool = False, decimals: int = 1) -> str:
    """Write a fraction in percentage points, with a real minus sign."""
    # Adding zero turns a rounded -0.0 into 0.0.
    text = f"{round(100 * fraction, decimals) + 0.0:{'+' if sign else ''}.{decimals}f}"
    return text.replace("-", "−")


def counted(number: int, noun: str) -> str:
    """Return a count with its noun: 1 trial, 3 tasks, 2 classes."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{number} {noun}" + ("" if number == 1 else ending)


def shortened(names: Sequence[str], limit: int = 3) -> str:
    """List the first names, followed by dots if there are more."""
    ellipsis = ["..."] if len(names) > limit else []
    return ", ".join([*names[:limit], *ellipsis])


def duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 10 else f"{hours:.0f} h"


def sentence(text: str) -> str:
    """Return a text with its first letter in upper case, the others unchanged."""
    return text[:1].upper() + text[1:]


def marks(*, supervised: bool, shortened: bool) -> str:
    """Return the marks after a method's name: * if supervised, † if shortened."""
    return ("*" if supervised else "") + ("†" if shortened else "")


def listed(texts: Sequence[str]) -> str:
    """Join texts into a list in a sentence: a, b and c."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def aligned(grid: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Align lines of cells for a terminal: columns in `left` left, the others right."""
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    lines = []
    for cells in grid:
        padded = [
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


def escape_invisible(text: str) -> str:
    """Return a text on one line, with invisible characters escaped as in Python."""
    return "".join(map(_escaped, text.strip()))


def printable(text: str) -> str:
    """Return a text that steers no terminal: escaped, except ends of lines and tabs."""
    if text.isprintable():
        return text
    return "".join(x if x in "\n\t" else _escaped(x) for x in text)


def _escaped(letter: str) -> str:
    is_hidden = unicodedata.category(letter) in _UNSEEN
    is_turn = unicodedata.bidirectional(letter) in _TURNS
    return ascii(letter)[1:-1] if is_hidden or is_turn else letter


def task_title(task: str) -> str:
    """Return a task with an arrow between its domains; "Average" for the average.

    >>> task_title("print+sketch_photo")
    'print + sketch → photo'
    """
    title = task.replace("_", " → ", 1).replace("+", " + ")
    return "Average" if task == AVERAGE else title


def split_name(name: str) -> tuple[str, str, str]:
    """Return the parts of a method's name before, in and after its subscript."""
    base, _, tail = name.partition("_")
    end = next((i for i, c in enumerate(tail) if not c.isalnum()), len(tail))
    return (base, tail[:end], tail[end:]) if end else (name, "", "")
