"""Reported accuracies compared with ours, each cell with a verdict or a reason."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.summary import Floats, Summary, mean_sd, n_present, read_summaries
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core.names import AVERAGE, PathLike, Paths
from cdspp.core.wording import DASH, counted, in_points, marks, percent, task_title
from cdspp.methods import option_defaults
from cdspp.paper.plugin import PaperPlan
from cdspp.paper.protocol import read_protocol
from cdspp.report.tables.table import Cell, Line, Table, caption, write_tables
from cdspp.stages.formats import SHIPPED, read_csv
from cdspp.study.plan import Plans, Row

Values = Sequence[float] | Floats  # by trial

PRINTED_TRIALS = 10
_MIN_SEEDS = 3
EXACT, AGREES, CLOSE = "exact", "agrees", "close"
DIFFERS, NOT_RUN = "differs", "not run"
INCONCLUSIVE = Transfer.INCONCLUSIVE.word
_VERDICTS = (EXACT, AGREES, CLOSE, DIFFERS, INCONCLUSIVE)
_PRINTED_TO = 0.0005  # half of the last reported digit, as a fraction
_AGREES_WITHIN, _ERRORS, _CLOSE_WITHIN = 0.01, 2.0, 0.03
# Reported percentages are no exact fractions: a border belongs to the inner verdict.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Printed:
    """Benchmarks of the paper by name, and all its reported cells in order.

    Tasks have our names, ``average`` for the average over all. The accuracies
    `printed_mean` and `printed_sd` of cells are fractions, NaN if none is reported.
    """

    benchmarks: Mapping[str, Mapping[str, Any]]
    cells: pd.DataFrame


def write_printed(plans: Plans, scores: Paths, paper: PathLike, outputs: Paths) -> None:
    """Write the reported numbers next to the reproduced ones, and how many agree."""
    summaries = read_summaries(scores, plans)
    cells = compare_printed(read_printed(paper), summaries)
    write_tables([build_printed_counts(cells), build_printed_table(cells)], outputs)


def read_printed(folder: PathLike) -> Printed:
    """Read the reported cells of a folder."""
    benchmarks = read_protocol(folder).benchmarks
    path = Path(folder, "accuracy.csv")
    types = dict.fromkeys(("method", "setting", "benchmark", "task"), "str")
    types |= dict.fromkeys(("mean_percent", "std_percent"), "float64")
    rows = read_csv(path, types, SHIPPED)
    entries = [benchmarks[name] for name in rows["benchmark"]]
    cells = {
        "table": [entry["table"] for entry in entries],
        "benchmark": rows["benchmark"],
        "title": [entry["title"] for entry in entries],
        "task": [e["tasks"][t] for e, t in zip(entries, rows["task"], strict=True)],
        "method": rows["method"],
        "supervised": rows["setting"] == "supervised",
        "printed_mean": rows["mean_percent"] / 100,
        "printed_sd": rows["std_percent"] / 100,
    }
    return Printed(benchmarks, pd.DataFrame(cells))


def printed_verdict(
    mean: float, sd: float, ours: float, our_sd: float, our_trials: int
) -> str:
    """Compare a reported mean with ours, as the caption says; NaN without a number."""
    if math.isnan(ours):
        return NOT_RUN
    border = _PRINTED_TO + _ROUNDING
    same_sd = math.isnan(sd) or abs(our_sd - sd) <= border
    if our_trials == PRINTED_TRIALS and same_sd and abs(ours - mean) <= border:
        return EXACT
    error = 0.0
    if not math.isnan(sd + our_sd):
        error = math.sqrt(sd**2 / PRINTED_TRIALS + our_sd**2 / our_trials)
    distance = abs(ours - mean) - _ROUNDING
    if distance <= max(_AGREES_WITHIN, _ERRORS * error):
        return AGREES
    return CLOSE if distance <= _CLOSE_WITHIN else DIFFERS


def compare_printed(printed: Printed, summaries: Sequence[Summary]) -> pd.DataFrame:
    """Compare our numbers with the reported ones, with a verdict or a reason.

    Ours are those of the main run; settings that change only `random_state` are its
    other seeds.
    """
    reproduced = {PaperPlan.of(each.plan).printed: each for each in summaries}
    ours = [
        _ours(cell, printed.benchmarks[cell.benchmark], reproduced.get(cell.benchmark))
        for cell in printed.cells.itertuples()
    ]
    cells = printed.cells.join(pd.DataFrame(ours, index=printed.cells.index))
    for name, after in (("shortened", "supervised"), ("display_name", "method")):
        cells.insert(cells.columns.get_loc(after) + 1, name, cells.pop(name))
    return cells


def _ours(
    cell: Any, benchmark: Mapping[str, Any], summary: Summary | None
) -> dict[str, object]:
    if summary is None:
        reason = f"inputs not available to this study: {benchmark['needs']}"
        return _our_columns(cell, reason)
    shown = [row for row in summary.rows if row.kind in ("method", "informed")]
    main = {row.method_name: row for row in shown}.get(cell.method)
    if main is None:
        return _our_columns(cell, "method is not in this study")
    if cell.task in summary.tasks:
        values = summary.accuracy[:, summary.tasks.index(cell.task)]
    elif cell.task != AVERAGE:
        return _our_columns(cell, "task is not in this study")
    # An average over other tasks would be a different quantity.
    elif {*summary.tasks, AVERAGE} != {*benchmark["tasks"].values(), AVERAGE}:
        return _our_columns(cell, "some of its tasks are not in this study")
    else:
        values = summary.accuracy.mean(axis=1)
    seeds = [
        of_row
        for row, of_row in zip(summary.rows, values, strict=True)
        if row == main or (row.reseeded and row.method == main.method)
    ]
    reason = "" if n_present(seeds[0]) else "no trial that counts"
    return _our_columns(cell, reason, seeds, main)


def _our_columns(
    cell: Any, reason: str, seeds: Sequence[Values] = ((),), row: Row | None = None
) -> dict[str, object]:
    """Return our columns of a reported cell; the first of `seeds` is the main run."""
    mean, sd = mean_sd(seeds[0])
    verdict = cell_verdict(cell, seeds[0])
    draws = row is not None and "random_state" in option_defaults(row.method)
    if verdict == DIFFERS and draws:
        enough = (values for values in seeds if n_present(values) >= MIN_TRIALS)
        differing = sum(cell_verdict(cell, values) == DIFFERS for values in enough)
        verdict = DIFFERS if differing >= _MIN_SEEDS else INCONCLUSIVE
    return {
        "shortened": row is not None and row.shortened,
        "display_name": cell.method if row is None else row.display_name,
        "mean": mean,
        "sd": sd,
        "trials": n_present(seeds[0]),
        "difference": mean - cell.printed_mean,
        "verdict": verdict,
        "reason": reason,
    }


def cell_verdict(cell: Any, values: Values) -> str:
    """Compare a row of `Printed.cells` with our values by trial."""
    ours = (*mean_sd(values), n_present(values))
    return printed_verdict(cell.printed_mean, cell.printed_sd, *ours)


def build_printed_counts(cells: pd.DataFrame) -> Table:
    """Build the table ``printed-methods``: the numbers that each method reproduces."""
    compared = cells[cells["verdict"] != NOT_RUN]
    keys = ["benchmark", "title", "method", "display_name", "supervised", "shortened"]
    counts = compared.groupby(keys, sort=False)["verdict"].value_counts()
    counts = counts.unstack(fill_value=0).reindex(columns=list(_VERDICTS), fill_value=0)
    counts = counts.reset_index().rename_axis(columns=None)
    counts["cells"] = counts[list(_VERDICTS)].sum(axis=1)
    counts["trials"] = compared.groupby(keys, sort=False)["trials"].min().to_numpy()
    columns = {"Method": lambda method: _name(method, _trial_note(method.trials))}

    def share(verdict: str, method: Any) -> Cell:
        number = getattr(method, verdict)
        return Cell(f"{number} of {method.cells}" if number else DASH, value=number)

    return Table.of(
        "printed-methods",
        "Number of reported numbers reproduced",
        caption("paper", "printed-methods"),
        columns | {word.capitalize(): partial(share, word) for word in _VERDICTS},
        counts.itertuples(),
        block=lambda method: str(method.title),
        data=counts,
        headings=True,
        empty="None of the reported cells is in this study.",
    )


def _name(cell: Any, note: str = "") -> Cell:
    signs = marks(supervised=cell.supervised, shortened=cell.shortened)
    return Cell(cell.display_name + signs, note=note, name=True)


def _trial_note(trials: int) -> str:
    return counted(trials, "trial") if 0 < trials < PRINTED_TRIALS else ""


def build_printed_table(cells: pd.DataFrame) -> Table:
    """Build the table ``printed`` of the cells that `compare_printed` returned."""
    tally = Counter(cells["verdict"])
    compared = len(cells) - tally[NOT_RUN]
    numbers = ("Reported", "Reproduced", "Difference")
    counts = f"None of the {len(cells)} reported cells could be compared in this study."
    if compared:
        text = ", ".join(f"{verdict}: {tally[verdict]}" for verdict in _VERDICTS)
        counts = f"Cells compared: {compared} of {len(cells)}; {text}."
    return Table(
        "printed",
        "Reported against reproduced",
        caption("paper", "printed", trials=PRINTED_TRIALS, counts=counts),
        columns=("Benchmark", "Method", "Task", "Verdict", *numbers),
        lines=tuple(_lines(cells)),
        data=cells,
        text_columns=4,
        prose=(0, 3),
    )


def _lines(cells: pd.DataFrame) -> Iterator[Line]:
    for _, block in cells.groupby("benchmark", sort=False):
        compared, title = block["verdict"] != NOT_RUN, block["title"].iloc[0]
        parts = list(map(_cells, block[compared].itertuples()))
        for reason, number in Counter(block[~compared]["reason"]).items():
            text = Cell(f"{NOT_RUN}, {counted(number, 'cell')}: {reason}")
            parts.append((*[Cell(DASH)] * 2, text, *[Cell(DASH)] * 3))
        for place, part in enumerate(parts):
            yield Line((Cell("" if place else title), *part), title)


def _cells(cell: Any) -> tuple[Cell, ...]:
    has_both = not math.isnan(cell.difference)
    return (
        _name(cell),
        Cell(task_title(cell.task)),
        Cell(cell.verdict),
        Cell(percent(cell.printed_mean, cell.printed_sd)),
        Cell(percent(cell.mean, cell.sd), note=_trial_note(cell.trials)),
        Cell(in_points(cell.difference, sign=True) if has_both else DASH),
    )
