"""Hyper-parameters by default, as they are selected, and the best in hindsight."""

from __future__ import annotations

from typing import Any

import pandas as pd

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.selection import read_selections, without_grid
from cdspp.analysis.verdicts import HELPS, HURTS
from cdspp.core.names import REAL, Paths
from cdspp.core.wording import DASH, STATE_TITLES
from cdspp.report.tables.table import Cell, Table, fraction_cell, write_tables
from cdspp.stages.selection import FOLDS
from cdspp.study.plan import Plans

_SELECTION = (
    "Accuracy in percent, averaged over tasks, on the trials that all forms have. "
    f"Selected: inside each trial and source state, by {FOLDS}-fold cross-validation "
    "on the labelled target rows; beside it how often each value was. Best in "
    "hindsight: the value with the highest test accuracy, which nobody can know "
    "beforehand; no verdict reads it."
)


def write_selection(
    plans: Plans,
    scores: Paths,
    comparisons: Paths,
    selecting_records: Paths,
    outputs: Paths,
) -> None:
    """Write the table of selected hyper-parameters."""
    outcomes = read_fit_records(selecting_records).outcomes
    found = read_selections(scores, comparisons, plans, outcomes)
    write_tables([build_selection_table(found, plans)], outputs)


def build_selection_table(found: pd.DataFrame, plans: Plans) -> Table:
    """Build the table ``selection``, of what `compare_selections` found."""
    kept = dict.fromkeys(name for plan in plans for name in without_grid(plan))
    others = f" With their defaults alone: {', '.join(kept)}." if kept else ""
    columns = {
        "Method": lambda entry: Cell(entry.display_name, name=True),
        "Source": lambda entry: Cell({REAL: "real", **STATE_TITLES}[entry.state]),
        "Default": lambda entry: fraction_cell(entry.default),
        "Selected": lambda entry: fraction_cell(entry.selected),
        "Best in hindsight": lambda entry: fraction_cell(
            entry.hindsight,
            f"at {entry.hindsight_value}" if entry.hindsight_value else "",
        ),
        "Values selected": lambda entry: Cell(entry.chosen or DASH),
        "Verdict by default": lambda entry: _word(entry, entry.verdict),
        "Verdict as selected": lambda entry: _word(entry, entry.selected_verdict),
    }
    return Table.of(
        "selection",
        "Hyper-parameters: default, selected, best in hindsight",
        " ".join([_SELECTION + others, *(plan.protocol for plan in plans)]),
        columns,
        found.itertuples(),
        block=lambda entry: str(entry.title),
        data=found,
        text_columns=2,
        headings=True,
        empty="No method has a grid of values to select of.",
    )


def _word(entry: Any, word: str) -> Cell:
    word = word if entry.state == REAL else ""
    return Cell(word or DASH, bold=word in (HELPS, HURTS))
