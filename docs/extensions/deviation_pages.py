"""The page of differences between papers and released code, from their list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from rst import heading, list_table, plain

from cdspp.core.yaml_files import read_yaml
from cdspp.paper.effects import build_deviation_table

__all__ = ["pages", "summary"]

LIST = "resources/paper/deviations.yaml"
FOLLOWED = {"code": "code", "paper": "text", "neither": "neither"}
HEAD = ("Topic", "Text", "Released code", "Default follows", "Switch")
INTRODUCTION = """\
This page lists where the text of a paper and the program that its authors released
differ, method by method. {summary}

* **Default follows**: whether the defaults of the class follow the text, the released
  code, or neither.
* **Switch**: the option that changes the default to the other variant; a dash where no
  single value of an option does. A study that names the identifier in brackets under
  ``deviations`` measures how the switch changes the accuracy
  (:doc:`/guide/experiments`).
* **Not read**: we had no full text of the paper, and this sentence may be wrong.
"""


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of the page."""
    introduction = INTRODUCTION.format(summary=summary(root))
    parts = [heading("Where paper and released code differ"), introduction]
    for (name, method), entries in _entries(root).groupby(
        ["display_name", "method"], sort=False
    ):
        parts.append(heading(name, "-"))
        parts.append(f"The method: :doc:`/generated/methods/{method}`.\n")
        parts.append(list_table([HEAD, *map(_row, entries.itertuples())], "prose"))
    yield "deviations.rst", "\n".join(parts)


def summary(root: Path) -> str:
    """Return a sentence that counts the differences by what the default follows."""
    entries = _entries(root)
    counts = {side: int((entries["default"] == side).sum()) for side in FOLLOWED}
    return (
        f"Of {len(entries)} differences, the default follows the released code in "
        f"{counts['code']}, the text in {counts['paper']} and neither in "
        f"{counts['neither']}."
    )


def _entries(root: Path) -> pd.DataFrame:
    return build_deviation_table([], read_yaml(root / LIST)).data


def _row(entry: Any) -> tuple[str, ...]:
    return (
        entry.topic,
        plain(entry.paper) + " *Not read.*" * bool(entry.unchecked),
        plain(entry.code),
        FOLLOWED[entry.default],
        f"``{entry.switch}`` (``{entry.id}``)" if entry.switch else "–",
    )
