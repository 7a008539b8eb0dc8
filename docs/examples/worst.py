"""The table of the worst trial of each method."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cdspp.analysis.summary import read_summaries
from cdspp.core.names import Paths
from cdspp.report.tables.table import Cell, Table, fraction_cell, write_tables
from cdspp.study.plan import Plans

CAPTION = "The lowest accuracy of any task and trial."
COLUMNS = {
    "Method": lambda row: Cell(row.display_name, name=True),
    "Accuracy (%)": lambda row: fraction_cell(row.accuracy),
}


def write(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Write the lowest accuracy of each method on a benchmark."""
    [plan], [summary] = plans, read_summaries(scores, plans)
    names = [row.display_name for row in summary.rows]
    lowest = np.fmin.reduce(summary.accuracy, axis=(1, 2))  # ignores failed trials
    data = pd.DataFrame({"display_name": names, "accuracy": lowest})
    name, title = f"worst_{plan.benchmark}", f"{plan.title}: worst trial"
    table = Table.of(name, title, CAPTION, COLUMNS, data.itertuples(), data=data)
    write_tables([table], outputs)
