"""Processor seconds of three trials over all tasks, next to the reported ones."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.fit_records import read_fit_records
from cdspp.core.names import MAIN, REFERENCE, PathLike, Paths
from cdspp.core.wording import DASH, counted, marks
from cdspp.paper.plugin import PaperPlan
from cdspp.paper.protocol import read_protocol
from cdspp.report.tables.table import Cell, Line, Table, caption, write_tables
from cdspp.stages.formats import SHIPPED, read_csv
from cdspp.study.plan import BenchmarkPlan, Plans

TIMED_TRIALS = 3  # trials behind the seconds, as in the paper
_OF_ROW = ("display_name", "supervised", "shortened")
_MEASURED = ("seconds", "ratio", "trials", "failed", "tasks", "n_tasks")
_PAPER = ("paper_seconds", "paper_ratio")
_TIMES = ("benchmark", "title", "row", *_OF_ROW, *_MEASURED, *_PAPER)


def write_times(plans: Plans, records: Paths, paper: PathLike, outputs: Paths) -> None:
    """Write the table of computation times next to the reported ones."""
    results = read_fit_records(records, plans).results
    times = measure_times(results, plans, paper_times(paper, plans))
    write_tables([build_times_table(times)], outputs)


def paper_times(folder: PathLike, plans: Plans) -> dict[str, Mapping[str, float]]:
    """Return the reported seconds, by benchmark of ours and name of a method."""
    seconds = paper_seconds(Path(folder, "computation_time.csv"))
    benchmarks = read_protocol(folder).benchmarks
    names = ((plan.benchmark, PaperPlan.of(plan).printed) for plan in plans)
    return {key: seconds[benchmarks[name]["time"]] for key, name in names if name}


def paper_seconds(path: PathLike) -> dict[str, dict[str, float]]:
    """Read the computation times of the paper: seconds by benchmark and method."""
    types = {"method": "str", "benchmark": "str", "seconds_all_tasks": "float64"}
    times = read_csv(path, types, SHIPPED)
    return {
        str(name): dict(zip(group["method"], group["seconds_all_tasks"], strict=True))
        for name, group in times.groupby("benchmark", sort=False)
    }


def measure_times(
    results: pd.DataFrame,
    plans: Sequence[BenchmarkPlan],
    paper: Mapping[str, Mapping[str, float]] | None = None,
) -> pd.DataFrame:
    """Return times by benchmark and row of the main setting, in table order.

    `seconds` of the processor are for three trials over all tasks, by the mean of the
    trials that ran (NaN unless every task ran); `ratio` is to the reference's seconds.
    """
    main, paper = results[results["setting"] == MAIN], paper or {}
    times = [_benchmark_times(main, p, paper.get(p.benchmark, {})) for p in plans]
    return pd.concat(times, ignore_index=True).reindex(columns=list(_TIMES))


def _benchmark_times(
    results: pd.DataFrame, plan: BenchmarkPlan, paper: Mapping[str, float]
) -> pd.DataFrame:
    of_benchmark = results[results["benchmark"] == plan.benchmark]
    entries = []
    for row in plan.main_rows:
        fits = of_benchmark[of_benchmark["method"] == row.method]
        ok = fits["status"] == "ok"
        timed = ok & fits["cpu_seconds"].notna()  # external predictions have none
        spent = fits[timed].groupby("task")["cpu_seconds"].apply(list).to_dict()
        ran = [spent[task] for task in plan.tasks if task in spent]
        totals = (TIMED_TRIALS * sum(seconds) / len(seconds) for seconds in ran)
        entry = {name: getattr(row, name) for name in _OF_ROW}
        entry |= {"benchmark": plan.benchmark, "title": plan.title, "row": row.key}
        entry |= {"failed": int((~ok).sum()), "tasks": len(ran)}
        entry |= {"trials": min(map(len, ran), default=0), "n_tasks": len(plan.tasks)}
        entry["seconds"] = sum(totals) if 0 < len(ran) == len(plan.tasks) else math.nan
        entry["paper_seconds"] = paper.get(row.method_name, math.nan)
        entries.append(entry)
    times = pd.DataFrame(entries)
    if times.empty:
        return times
    unit = times[[row.role == REFERENCE for row in plan.main_rows]].squeeze()
    for name, ratio in (("seconds", "ratio"), ("paper_seconds", "paper_ratio")):
        reference_seconds = float(unit[name]) if len(unit) else math.nan
        times[ratio] = times[name] / (reference_seconds or math.nan)
    return times


def build_times_table(times: pd.DataFrame) -> Table:
    """Build the table ``times``: methods by benchmarks, next to reported seconds."""
    columns: list[tuple[str, dict[str, Cell]]] = []
    for _, group in times.groupby("benchmark", sort=False):
        title = group["title"].iloc[0]
        unshortened = group[~group["shortened"].astype(bool)]
        least = unshortened.groupby("supervised")["seconds"].min()
        ours, paper = {}, {}
        for time in group.itertuples():
            bold = not time.shortened and time.seconds == least[time.supervised]
            ours[time.row] = _cell(time.seconds, time.ratio, *_caveats(time), bold=bold)
            paper[time.row] = _cell(time.paper_seconds, time.paper_ratio)
        columns.append((f"{title}, s", ours))
        if group["paper_seconds"].notna().any():
            columns.append((f"{title}, paper, s", paper))
    rows = times.drop_duplicates("row").copy()
    rows["shortened"] = rows["row"].isin(times[times["shortened"].astype(bool)]["row"])
    rows = rows.sort_values("supervised", ascending=False, kind="stable")
    lines = []
    for time in rows.itertuples():
        signs = marks(supervised=time.supervised, shortened=time.shortened)
        cells = [cells_of.get(time.row, Cell(DASH)) for _, cells_of in columns]
        block = "Supervised" if time.supervised else "Semi-supervised"
        name = Cell(time.display_name + signs, name=True)
        lines.append(Line((name, *cells), block))
    text = caption("paper", "times", trials=TIMED_TRIALS)
    if times["paper_seconds"].notna().any():
        text = f"{text} {caption('paper', 'printed-times')}"
    return Table(
        name="times",
        title="Computation time",
        caption=text,
        columns=("Method", *(heading for heading, _ in columns)),
        lines=tuple(lines),
        data=times.drop(columns="supervised"),
        headings=True,
    )


def _caveats(time: Any) -> list[str]:
    notes = []
    if 0 < time.tasks < time.n_tasks:
        notes.append(f"{time.tasks} of {time.n_tasks} tasks")
    if 0 < time.trials < TIMED_TRIALS:
        notes.append(counted(time.trials, "trial"))
    return [*notes, f"{time.failed} failed"] if time.failed else notes


def _cell(seconds: float, ratio: float, *caveats: str, bold: bool = False) -> Cell:
    has_ratio = math.isfinite(ratio) and ratio != 1.0  # the reference itself
    note = ", ".join([f"{_text(ratio)} ×", *caveats] if has_ratio else caveats)
    value = seconds if math.isfinite(seconds) else math.nan
    return Cell(_text(seconds), bold=bold, note=note, value=value)


def _text(value: float) -> str:
    if math.isnan(value):
        return DASH
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}"
