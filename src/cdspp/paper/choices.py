"""What the printed numbers rest on: choices that had to be found, and what they do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cdspp.analysis.paired import interval_note, paired_gain
from cdspp.core.errors import DataError
from cdspp.core.wording import DASH, counted
from cdspp.core.yaml_files import read_yaml
from cdspp.methods import method_class
from cdspp.paper.printed import EXACT, Printed, cell_verdict
from cdspp.paper.readings import PaperPlan, ReadingPlan, reading_values
from cdspp.report.tables.table import Cell, Line, Table, effect_cell
from cdspp.study.plan import BenchmarkPlan

__all__ = ["build_choices_table", "measure_choices", "read_choices"]

Choice = Mapping[str, Any]

_KEYS = ("id", "methods", "topic", "printed", "otherwise")
_SWITCHES = ("options", "without")

_COLUMNS = (
    *("choice", "benchmark", "title", "method", "display_name"),
    *("effect", "low", "high", "tasks", "trials"),
    *("cells", "exact", "exact_otherwise"),
)
_CAPTION = (
    "Choices that the text of the paper leaves open or does not tell, found by running "
    "the methods on its inputs, and what each is worth: accuracy with the choice minus "
    "accuracy without it, in points, on the same trials; mean over trials of the "
    "average over tasks, with its 95 % t interval over trials. Exact: how many "
    "printed cells are met to the digit with the choice, and without it. A choice that "
    "is worth much is part of the printed result, whatever the method."
)


def read_choices(path: str | os.PathLike[str]) -> list[Choice]:
    """Read the list of choices; a key that lacks or is unknown is a DataError.

    `printed` tells what gives the printed numbers, `otherwise` what one would take
    else. A run without the choice sets `options`, or takes away what `without` names;
    see `cdspp.study.settings`.
    """
    entries: list[Choice] = read_yaml(path)
    for entry in entries:
        if not set(_KEYS) <= set(entry) <= {*_KEYS, *_SWITCHES}:
            raise DataError(
                f"{path}, {entry.get('id', entry)}: expected the keys "
                f"{', '.join(_KEYS)} and one of {', '.join(_SWITCHES)}."
            )
    return entries


def measure_choices(
    scores: Sequence[pd.DataFrame], plans: Sequence[BenchmarkPlan], printed: Printed
) -> pd.DataFrame:
    """Measure what each choice behind the printed numbers changes.

    The frame has by choice, benchmark and method: `effect`, the accuracy with the
    choice minus the one without, averaged over tasks and trials, with its 95 % interval
    over trials (`low`, `high`); how many of its printed `cells` are met exactly with
    the choice (`exact`) and without it (`exact_otherwise`).
    """
    found = [
        _measured(frame, plan, entry, printed)
        for frame, plan in zip(scores, plans, strict=True)
        for entry in PaperPlan.of(plan).choices
    ]
    return pd.DataFrame(found, columns=list(_COLUMNS))


def _measured(
    scores: pd.DataFrame, plan: BenchmarkPlan, entry: ReadingPlan, printed: Printed
) -> tuple[object, ...]:
    name = method_class(entry.method).display_name
    values = reading_values(scores, entry)
    otherwise, main = values.mean(axis=1)
    gain = paired_gain(main, otherwise)
    own = {"benchmark": PaperPlan.of(plan).printed, "method": name}
    cells = printed.cells[(printed.cells[list(own)] == own).all(axis=1)]
    asked = cells.set_index("task").reindex(entry.tasks).dropna(subset="printed_mean")
    exact_otherwise, exact = (
        sum(
            cell_verdict(cell, of_setting[entry.tasks.index(cell.Index)]) == EXACT
            for cell in asked.itertuples()
        )
        for of_setting in values
    )
    names = (entry.identifier, plan.benchmark, plan.title, entry.method, name)
    size = (gain.gain, gain.low, gain.high, len(entry.tasks), gain.trials)
    return (*names, *size, len(asked), exact, exact_otherwise)


def build_choices_table(effects: pd.DataFrame, choices: Sequence[Choice]) -> Table:
    """Build the table ``printed-choices``: a line for each choice and method measured.

    The effects are those of `measure_choices`.
    """
    lines = []
    for choice in choices:
        found = effects[effects["choice"] == choice["id"]].itertuples()
        lines += [_line(choice, each, first=not i) for i, each in enumerate(found)]
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
    told = (choice[key] if first else "" for key in ("topic", "printed", "otherwise"))
    size = f"{counted(measured.tasks, 'task')}, {counted(measured.trials, 'trial')}"
    name = Cell(measured.display_name, note=size, name=True)
    effect = effect_cell(measured.effect, measured.low, measured.high)
    exact = Cell(DASH)
    if measured.cells:
        without = f"without {measured.exact_otherwise}"
        exact = Cell(f"{measured.exact} of {measured.cells}", note=without)
    return Line((*map(Cell, told), name, effect, exact))
