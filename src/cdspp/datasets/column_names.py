"""Names of columns: their words, however these are written, and a unit at the end."""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from typing import NamedTuple

# Of ten letters one may differ: colour and color, but not height and weight (0.83),
# hypertension and hypotension (0.87). Short words are equal: heat is not wheat.
SAME_WORD, SHORT = 0.88, 9
SIZES = {
    "length": {"um": 1e-6, "mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "km": 1e3},
    "mass": {"ug": 1e-6, "mg": 1e-3, "g": 1.0, "kg": 1e3},
    "time": {"ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0},
}
UNITS = {unit: (kind, sizes[unit]) for kind, sizes in SIZES.items() for unit in sizes}
UNIT = re.compile(r"[\s_.([]([a-z]+)[\s\])]*$", re.IGNORECASE)


class ColumnName(NamedTuple):
    """The text of a name, its words sorted, and of its unit a kind ("") and a size."""

    text: str
    words: tuple[str, ...]
    kind: str
    size: float

    def agrees(self, other: ColumnName) -> bool:
        """Whether words are equal but for spelling and order, and units can be."""
        if not self.words or len({self.kind, other.kind, ""}) > 2:
            return False
        alike = all(map(_same_word, self.words, other.words))
        return self.text == other.text or alike and len(self.words) == len(other.words)


def read_name(name: str) -> ColumnName:
    """Read a name such as "Mean radius (mm)", meanRadius_mm or mean.radius.mm."""
    found, kind, size = UNIT.search(name), "", math.nan
    if found and found[1].lower() in UNITS:
        name, (kind, size) = name[: found.start()], UNITS[found[1].lower()]
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
    words = re.findall(r"[^\W_]+", text)
    return ColumnName("".join(words), tuple(sorted(words)), kind, size)


def _same_word(one: str, other: str) -> bool:
    long = [other] if len(one + other) > SHORT and (one + other).isalpha() else []
    return one == other or bool(get_close_matches(one, long, 1, SAME_WORD))
