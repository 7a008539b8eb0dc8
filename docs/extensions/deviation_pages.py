"""The page of differences between papers, released code and our study of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from rst import heading, list_table, plain

from cdspp.core.yaml_files import read_yaml
from cdspp.paper.effects import build_deviation_table
from cdspp.paper.protocol import read_protocol

__all__ = ["pages", "summary"]

LIST = "resources/paper/deviations.yaml"
FOLLOWED = {"code": "code", "paper": "text", "neither": "neither"}
HEAD = ("Topic", "Text", "Released code", "Default follows", "Switch")
STUDY_HEAD = ("Topic", "Paper", "Study", "Reason")
STUDY = """\
The study ``resources/studies/paper.yaml`` runs what the paper ran, except for the
following. A test compares it with ``resources/paper/protocol.yaml``, value by value.
"""
INTRODUCTION = """\
This page lists where the text of a paper and the program that its authors released
differ, method by method, and :ref:`where our study of the paper departs from it
<paper-and-study>`. {summary}

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
    parts += [
        ".. _paper-and-study:\n",
        heading("Where paper and study differ", "-"),
        STUDY,
    ]
    differences = map(_difference, read_protocol(root / "resources/paper").differences)
    parts.append(list_table([STUDY_HEAD, *differences], "prose"))
    yield "deviations.rst", "\n".join(parts)


def _difference(entry: Any) -> tuple[str, ...]:
    values = (_value_text(entry[side]) for side in ("paper", "study"))
    return plain(entry["topic"]), *values, plain(entry["reason"])


def _value_text(value: Any) -> str:
    texts = map(str, value if isinstance(value, list) else [value])
    return plain(", ".join(texts)) or "none"


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
