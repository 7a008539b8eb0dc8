"""What the printed numbers rest on: choices that had to be found, and what they do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from cdspp.analysis.paired import interval_note
from cdspp.core.errors import DataError
from cdspp.core.wording import DASH, counted
from cdspp.core.yaml_files import read_yaml
from cdspp.report.tables.table import Cell, Line, Table, effect_cell

__all__ = ["Choice", "build_choices_table", "read_choices"]

_CAPTION = (
    "Choices that the text of the paper leaves open or does not tell, found by running "
    "the methods on its inputs, and what each is worth: accuracy with the choice minus "
    "accuracy without it, in points, on the same trials; mean over trials of the "
    "average over tasks, with its 95 % t interval over trials. Exact: how many "
    "printed cells are met to the digit with the choice, and without it. A choice that "
    "is worth much is part of the printed result, whatever the method."
)


@dataclass(frozen=True)
class Choice:
    """A choice behind printed numbers.

    Attributes
    ----------
    id, topic : str
        Its name, and what it is about.
    methods : sequence of str
        Identifiers of the methods that it concerns.
    printed, otherwise : str
        What gives the printed numbers, and what one would take else.
    options, without
        What a run without it sets, or takes away; see `cdspp.study.settings`.
    """

    id: str
    methods: Sequence[str]
    topic: str
    printed: str
    otherwise: str
    options: dict[str, Any] = field(default_factory=dict)
    without: Sequence[str] = ()


def read_choices(path: str | os.PathLike[str]) -> list[Choice]:
    """Read the list of choices.

    Raises
    ------
    DataError
        An entry lacks a key or has an unknown one.
    """
    entries = read_yaml(path)
    known = [entry.name for entry in fields(Choice)]
    for entry in entries:
        if not set(known[:5]) <= set(entry) <= set(known):
            raise DataError(
                f"{path}, {entry.get('id', entry)}: expected the keys "
                f"{', '.join(known[:5])} and one of {', '.join(known[5:])}."
            )
    return [Choice(**entry) for entry in entries]


def build_choices_table(effects: pd.DataFrame, choices: Sequence[Choice]) -> Table:
    """Build the table ``printed-choices``: a line for each choice and method measured.

    Parameters
    ----------
    effects : DataFrame
        What `cdspp.paper.effects.measure_choices` returned.
    choices : sequence of Choice
        What `read_choices` returned; those that were not measured are left out.
    """
    lines = [
        _line(choice, measured, first=not place)
        for choice in choices
        for place, measured in enumerate(
            effects[effects["choice"] == choice.id].itertuples()
        )
    ]
    return Table(
        name="printed-choices",
        title="What the printed numbers rest on",
        caption=_CAPTION + interval_note(effects["trials"]),
        columns=("Topic", "Printed", "Otherwise", "Method", "Worth", "Exact"),
        lines=tuple(lines),
        data=effects,
        text_columns=4,
        prose=(0, 1, 2),
    )


def _line(choice: Choice, measured: Any, *, first: bool) -> Line:
    told = (choice.topic, choice.printed, choice.otherwise) if first else ("",) * 3
    size = f"{counted(measured.tasks, 'task')}, {counted(measured.trials, 'trial')}"
    exact = f"{measured.exact} of {measured.cells}"
    return Line(
        (
            *map(Cell, told),
            Cell(measured.display_name, note=size, name=True),
            effect_cell(measured.effect, measured.low, measured.high),
            Cell(
                exact if measured.cells else DASH,
                note=f"without {measured.exact_otherwise}" if measured.cells else "",
            ),
        )
    )
