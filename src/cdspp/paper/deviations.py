"""Where paper and released code differ, and what each difference changes, measured."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from cdspp.analysis.answers import excludes_zero
from cdspp.analysis.paired import PairedGain, interval_note, paired_gain
from cdspp.core.errors import DataError
from cdspp.core.wording import DASH, counted
from cdspp.core.yaml_files import read_yaml
from cdspp.methods import method_class
from cdspp.paper.readings import PaperPlan, reading_values
from cdspp.report.tables.table import Cell, Line, Table, effect_cell
from cdspp.study.plan import BenchmarkPlan

__all__ = [
    "Deviation",
    "Effect",
    "build_deviation_table",
    "measure_effects",
    "read_deviations",
]

PathLike = str | os.PathLike[str]

_DEFAULTS = ("code", "paper", "neither")
_TOLD = (
    *("id", "method", "display_name", "topic", "paper"),
    *("unchecked", "code", "default", "switch"),
)
_CAPTION = (
    "What the text of a paper says and what the code that its authors released does. "
    "The paper is the method's own; the comparison is the paper of CDSPP, which "
    "describes its rivals too. In small print: the options that give the other "
    "reading, where there are any, and which of the two the class here follows by "
    "default. Effect: accuracy with these options minus accuracy without them, in "
    "points, on the same trials and tasks: mean over trials of the average over the "
    "tasks counted here, with its 95 % t interval over trials, which speaks of "
    "other labelled samples, not of other tasks. Bold: the interval excludes zero."
)


@dataclass(frozen=True)
class Deviation:
    """One place where a paper's text and its authors' released code part.

    `paper` and `code` tell in a sentence each what they say and do, `default` which of
    them the class follows; `options` switch to the other reading, where there are any.
    It is `unchecked` where the full text of the paper was not at hand.
    """

    id: str
    method: str
    topic: str
    paper: str
    code: str
    default: str
    options: Mapping[str, Any] | None
    unchecked: bool = False

    @property
    def display_name(self) -> str:
        """The method's name as it is shown."""
        return method_class(self.method).display_name

    @property
    def switch(self) -> str:
        """The options as they stand in a configuration."""
        given = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in (self.options or {}).items()
        }
        return ", ".join(f"{name}: {value}" for name, value in given.items())


@dataclass(frozen=True)
class Effect:
    """What the other reading changes on one benchmark."""

    benchmark: str
    title: str
    tasks: int
    gain: PairedGain


_UNMEASURED = Effect("", "", 0, PairedGain(math.nan, math.nan, 0, 0))


def read_deviations(path: PathLike) -> list[Deviation]:
    """Read the list of deviations.

    A key that lacks or is unknown is a DataError, as are another default than the three
    and a name given twice.
    """
    entries = read_yaml(path)
    known = {field.name for field in fields(Deviation)}
    needed = known - {"unchecked"}
    for entry in entries:
        if not needed <= set(entry) <= known or entry["default"] not in _DEFAULTS:
            raise DataError(
                f"{path}, {entry.get('id', entry)}: expected the keys "
                f"{', '.join(sorted(needed))}, perhaps unchecked, and as default one "
                f"of {', '.join(_DEFAULTS)}."
            )
    names = [entry["id"] for entry in entries]
    if twice := {name for name in names if names.count(name) > 1}:
        raise DataError(f"{path}: named more than once: {', '.join(sorted(twice))}.")
    return [Deviation(**entry) for entry in entries]


def measure_effects(scores: pd.DataFrame, plan: BenchmarkPlan) -> dict[str, Effect]:
    """Measure what each deviation of a benchmark changes, by the deviation's name.

    It is the setting minus the main run of the same method, trial by trial, over the
    tasks of the setting. Trials that lack a task are left out.
    """
    found = {}
    for entry in PaperPlan.of(plan).deviations:
        gain = paired_gain(*reading_values(scores, entry).mean(axis=1))
        size = len(entry.tasks)
        found[entry.identifier] = Effect(plan.benchmark, plan.title, size, gain)
    return found


def build_deviation_table(
    effects: Sequence[Mapping[str, Effect]], deviations: Sequence[Deviation]
) -> Table:
    """Build the table of deviations: a line for each and every benchmark measured."""
    found = []
    for deviation in deviations:
        measured = [part[deviation.id] for part in effects if deviation.id in part]
        for place, effect in enumerate(measured or [_UNMEASURED]):
            found.append((deviation, place, effect))
    found.sort(key=lambda line: line[2] is _UNMEASURED)
    return Table(
        name="deviations",
        title="Where paper and released code differ",
        caption=_CAPTION + interval_note(effect.gain.trials for *_, effect in found),
        columns=("Method", "Topic", "Paper", "Released code", "Benchmark", "Effect"),
        lines=tuple(_line(d, effect, first=not place) for d, place, effect in found),
        data=pd.DataFrame([_record(d, effect) for d, _, effect in found]),
        text_columns=5,
        prose=(1, 2, 3),
        headings=True,
    )


def _line(deviation: Deviation, effect: Effect, *, first: bool) -> Line:
    switch = f"{deviation.switch}. " if deviation.switch else ""
    unchecked = "full text not at hand" if deviation.unchecked else ""
    text = [
        Cell(deviation.display_name, name=True),
        Cell(deviation.topic, note=f"{switch}Followed: {deviation.default}."),
        Cell(deviation.paper, note=unchecked),
        Cell(deviation.code),
    ]
    told = text if first else [Cell("")] * len(text)
    if effect is _UNMEASURED:
        return Line((*told, Cell(DASH), Cell(DASH)), "Not measured in this study")
    gain = effect.gain
    size = f"{counted(effect.tasks, 'task')}, {counted(gain.trials, 'trial')}"
    where = Cell(effect.title, note=size)
    change = effect_cell(gain.gain, gain.low, gain.high, bold=excludes_zero(gain))
    return Line((*told, where, change), "Measured in this study")


def _record(deviation: Deviation, effect: Effect) -> dict[str, object]:
    gain = effect.gain
    return {
        **{name: getattr(deviation, name) for name in _TOLD},
        "benchmark": effect.benchmark,
        "title": effect.title,
        "effect": gain.gain,
        **{name: getattr(gain, name) for name in ("low", "high", "losses")},
        "tasks": effect.tasks,
        "trials": gain.trials,
    }
