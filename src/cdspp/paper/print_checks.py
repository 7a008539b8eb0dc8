"""Checks of claims on reported numbers: means, standard deviations, seconds."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.verdicts import ZERO
from cdspp.core.names import AVERAGE, PathLike
from cdspp.methods import method_class
from cdspp.paper.evidence import TOLERANCE, as_list
from cdspp.paper.printed import read_printed
from cdspp.paper.protocol import Protocol, read_protocol
from cdspp.paper.times import paper_seconds

SUPPORTS, CONTRADICTS, SILENT = "supports", "contradicts", ""
Names = str | Sequence[str]
Answer = tuple[bool, str]  # whether print supports, and its numbers


class NotReported(Exception):
    """The paper prints no number for a claim."""


@dataclass(frozen=True, eq=False)
class ReportedNumbers:
    """The reported numbers of all benchmarks, and the name of one of them."""

    protocol: Protocol
    cells: pd.DataFrame
    seconds: Mapping[str, Mapping[str, float]]
    benchmark: str = ""

    def of(self, benchmark: str) -> "ReportedNumbers":
        """Return the reported numbers seen from a benchmark."""
        return replace(self, benchmark=benchmark)

    @property
    def own_cells(self) -> pd.DataFrame:
        """The reported accuracies of the benchmark, in percent, without the average."""
        cells = self.cells[self.cells["benchmark"] == self.benchmark]
        return cells[cells["task"] != AVERAGE]

    def averages(self, apart: Sequence[str] = ()) -> pd.Series:
        """Return the reported averages by method, in percent, except for `apart`."""
        cells = self.cells[self.cells["benchmark"] == self.benchmark]
        cells = cells[~cells["method"].isin(map(_name, apart))]
        # The last cell of a method is the average, or that of the only task.
        return 100 * cells.groupby("method", sort=False)["printed_mean"].last()

    def average(self, method: str) -> float:
        """Return the reported average of a method; `NotReported` if there is none."""
        averages = self.averages()
        if (name := _name(method)) not in averages.index:
            raise NotReported
        return float(averages[name])

    def block(self, method: str, apart: Sequence[str]) -> pd.DataFrame:
        """Return the reported accuracies of a method's block, by task and method."""
        cells = self.own_cells
        supervised = method_class(method).supervised
        cells = cells[cells["supervised"] == supervised]
        cells = cells[~cells["method"].isin(map(_name, apart))]
        if _name(method) not in set(cells["method"]):
            raise NotReported
        return cells.pivot_table(index="task", columns="method", values="printed_mean")

    def times(self, methods: Names) -> dict[str, float]:
        """Return the reported seconds of methods that have some."""
        rows = self.seconds[self.protocol.benchmarks[self.benchmark]["time"]]
        names = map(_name, as_list(methods))
        return {name: rows[name] for name in names if name in rows}


def read_reported_numbers(folder: PathLike) -> ReportedNumbers:
    """Read the protocol, and the reported accuracies and seconds, in a folder."""
    seconds = paper_seconds(Path(folder, "computation_time.csv"))
    return ReportedNumbers(read_protocol(folder), read_printed(folder).cells, seconds)


def _name(method: str) -> str:
    return method_class(method).display_name


def _averages_text(printed: ReportedNumbers, *methods: Names) -> str:
    keys = [key for names in methods for key in as_list(names)]
    return ", ".join(f"{_name(key)} {printed.average(key):.1f}" for key in keys)


def _gains(printed: ReportedNumbers, method: Names, rival: Names) -> list[float]:
    """Return the reported gains of methods over others, in points."""
    return [
        printed.average(ours) - printed.average(other)
        for ours in as_list(method)
        for other in as_list(rival)
    ]


def _superior(
    printed: ReportedNumbers, method: Names, rival: Names, least: float = 0.0
) -> Answer:
    gains = _gains(printed, method, rival)
    return all(g > least + ZERO for g in gains), _averages_text(printed, method, rival)


def _within(
    printed: ReportedNumbers, method: Names, rival: Names, low: float, high: float
) -> Answer:
    gains = _gains(printed, method, rival)
    holds = all(low - ZERO <= gain <= high + ZERO for gain in gains)
    return holds, _averages_text(printed, method, rival)


def _no_better(printed: ReportedNumbers, method: Names, rival: Names) -> Answer:
    gains = _gains(printed, method, rival)
    return all(gain <= ZERO for gain in gains), _averages_text(printed, method, rival)


def _best(printed: ReportedNumbers, method: str, apart: Sequence[str] = ()) -> Answer:
    others = printed.block(method, apart).columns.drop(_name(method))
    own, averages = printed.average(method), printed.averages()[others]
    leader = str(averages.idxmax())
    text = f"{_name(method)} {own:.1f}, {leader} {averages[leader]:.1f}"
    return own > float(averages[leader]) + ZERO, text


def _best_on_tasks(
    printed: ReportedNumbers, method: str, share: float, apart: Sequence[str] = ()
) -> Answer:
    block = printed.block(method, apart)
    n_best = int((block[_name(method)] >= block.max(axis=1)).sum())
    holds = n_best >= share * len(block) - ZERO
    return holds, f"best on {n_best} of {len(block)} tasks"


def _variation(printed: ReportedNumbers) -> Answer:
    sds = printed.own_cells.groupby("method")["printed_sd"].mean()
    above = int((sds > TOLERANCE + ZERO).sum())
    least, most = (f"{100 * sd:.1f}" for sd in (sds.min(), sds.max()))
    return 2 * above > len(sds), f"standard deviations of {least} to {most} points"


def _largest_gain(
    printed: ReportedNumbers, method: str, rival: str, over: Sequence[str]
) -> Answer:
    (own,) = _gains(printed, method, rival)
    others = [_gains(printed.of(name), method, rival)[0] for name in over]
    text = ", ".join(f"{gain:.1f}" for gain in others)
    return all(own > gain + ZERO for gain in others), f"{own:.1f} against {text} points"


def _plateau(printed: ReportedNumbers, method: str, iteration: int) -> Answer:
    subspace = printed.protocol.subspace
    if printed.benchmark not in subspace["benchmarks"]:
        raise NotReported
    values = subspace["accuracy"]
    place = iteration - 1
    rises = all(a < b for a, b in zip(values, values[1 : place + 1], strict=False))
    stays = all(abs(v - values[place]) <= 100 * TOLERANCE for v in values[place:])
    return rises and stays, ", ".join(f"{value:.1f}" for value in values)


def _cheaper(printed: ReportedNumbers, method: Names, rival: Names) -> Answer:
    ours, rivals = printed.times(method), printed.times(rival)
    ours = {name: s for name, s in ours.items() if math.isfinite(s)}  # that finished
    slowest = max(ours, key=lambda name: ours[name])
    quickest = min(rivals, key=lambda name: rivals[name])
    text = f"{slowest} {ours[slowest]:.0f} s, {quickest} {rivals[quickest]:.0f} s"
    return ours[slowest] < rivals[quickest], text


def _unfinished(printed: ReportedNumbers, method: str) -> Answer:
    finished = math.isfinite(printed.times(method)[_name(method)])
    return not finished, "seconds" if finished else "no seconds, but infinity"


PRINT_CHECKS: dict[str, Callable[..., Answer]] = {
    "superior": _superior,
    "within": _within,
    "no-better": _no_better,
    "best": _best,
    "best-on-tasks": _best_on_tasks,
    "variation": _variation,
    "largest-gain": _largest_gain,
    "plateau": _plateau,
    "cheaper": _cheaper,
    "unfinished": _unfinished,
}


def ask_print(
    printed: ReportedNumbers, check: str, options: Mapping[str, Any]
) -> tuple[str, str]:
    """Return whether the reported numbers of a benchmark support a claim, and which.

    Both are empty where the paper draws a curve, or prints no number.
    """
    if check not in PRINT_CHECKS:
        return SILENT, ""
    try:
        supports, numbers = PRINT_CHECKS[check](printed, **options)
    except NotReported:
        return SILENT, ""
    return (SUPPORTS if supports else CONTRADICTS), numbers
