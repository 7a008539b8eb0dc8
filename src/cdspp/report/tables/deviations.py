"""Where paper and released code differ, and what each difference changes, measured."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml
from numpy.typing import NDArray

from cdspp.analysis.resampling import Gain, paired_gain
from cdspp.analysis.source_help import excludes_zero
from cdspp.analysis.summary import Layout, summarise
from cdspp.core.artifacts import SCORE_COLUMNS, read_rows
from cdspp.core.errors import DataError
from cdspp.core.names import MAIN
from cdspp.core.wording import DASH, counted, in_points
from cdspp.methods import method_class
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.table import Cell, Line, Table

__all__ = [
    "Deviation",
    "Effect",
    "build_deviation_table",
    "deviation_tables",
    "measure_effects",
    "read_deviations",
    "write_deviations",
]

PathLike = str | os.PathLike[str]
Scores = Mapping[str, NDArray[Any]]

_DEFAULTS = ("code", "paper", "neither")
_FIELDS = (
    "id",
    "method",
    "printed",
    "topic",
    "paper",
    "unchecked",
    "code",
    "default",
    "switch",
    "benchmark",
    "title",
    "effect",
    "low",
    "high",
    "losses",
    "tasks",
    "trials",
)
_CAPTION = (
    "What the text of a paper says and what the code that its authors released does. "
    "The paper is the method's own; the comparison is the paper of CDSPP, which "
    "describes its rivals too. In small print: the options that give the other "
    "reading, where there are any, and which of the two the class here follows by "
    "default. Effect: accuracy with these options minus accuracy without them, in "
    "in_points, on the same trials and tasks: mean over trials of the average over the "
    "tasks counted here, with its 95 % bootstrap interval over trials, which speaks of "
    "other labelled samples, not of other tasks. Bold: the interval excludes zero; of "
    "three trials it says no more than that all three agree."
)


@dataclass(frozen=True)
class Deviation:
    """One place where a paper's text and its authors' released code part.

    Attributes
    ----------
    id, method : str
        Its name, and the identifier of the method.
    topic, paper, code : str
        What it is about; what the text says and what the code does, a sentence each.
    default : {'code', 'paper', 'neither'}
        Which of the two the class follows.
    options : mapping or None
        Options that switch to the other reading; None where there are none.
    unchecked : bool
        Whether the full text of the paper was not at hand.
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
    def switch(self) -> str:
        """The options as they stand in a configuration."""
        given = (self.options or {}).items()
        return ", ".join(f"{name}: {_plain(value)}" for name, value in given)


@dataclass(frozen=True)
class Effect:
    """What the other reading changes on one benchmark."""

    benchmark: str
    title: str
    gain: Gain
    tasks: int


_UNMEASURED = Effect("", "", Gain(math.nan, math.nan, math.nan, 0, 0), 0)


def deviation_tables() -> list[str]:
    """Names of the tables of this module."""
    return ["deviations"]


def read_deviations(path: PathLike) -> list[Deviation]:
    """Read the list of deviations.

    Raises
    ------
    DataError
        An entry lacks a key, has an unknown one, or its `default` is none of the three;
        or two have the same name.
    """
    entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
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


def measure_effects(scores: Scores, layout: Layout) -> dict[str, Effect]:
    """Measure what the settings of a benchmark's deviations change.

    Parameters
    ----------
    scores : mapping of str to ndarray
        The columns of its score file.
    layout : mapping
        The benchmark; `deviations` names setting, method, tasks and trials of each.

    Returns
    -------
    dict
        The effect by the deviation's name: the setting minus the main run of the same
        method, trial by trial, over the tasks of the setting. Trials that lack a task
        are left out.
    """
    return {
        entry["id"]: Effect(
            benchmark=str(layout["benchmark"]),
            title=str(layout.get("title", layout["benchmark"])),
            gain=_gain(scores, entry),
            tasks=len(entry["tasks"]),
        )
        for entry in layout.get("deviations", ())
    }


def _gain(scores: Scores, entry: Mapping[str, Any]) -> Gain:
    rows = [
        {"key": setting, "setting": setting, "method": entry["method"]}
        for setting in (entry["setting"], MAIN)
    ]
    trials = int(entry["trials"])
    part = {"tasks": entry["tasks"], "variants": rows, "trials": trials}
    values = summarise(scores, part).accuracy[..., :trials]
    switched, main = values.mean(axis=1)
    return paired_gain(switched, main)


def write_deviations(
    *,
    scores: Sequence[PathLike],
    layouts: Sequence[Layout],
    deviations: PathLike,
    outputs: Sequence[PathLike],
) -> None:
    """Write the page "Where paper and released code differ".

    Parameters
    ----------
    scores : sequence of path
        Score files of the benchmarks.
    layouts : sequence of mapping
        The benchmarks, in the same order.
    deviations : path
        The list, see `read_deviations`.
    outputs : sequence of path
        Files to write: the stem names a table of `deviation_tables`, the suffix (csv,
        md, tex) its form.
    """
    columns = [read_rows(path, SCORE_COLUMNS) for path in scores]
    table = build_deviation_table(columns, layouts, read_deviations(deviations))
    write_tables([table], outputs)


def build_deviation_table(
    scores: Sequence[Scores],
    layouts: Sequence[Layout],
    deviations: Sequence[Deviation],
) -> Table:
    """Build the table of deviations: a line for each and every benchmark measured."""
    pairs = zip(scores, layouts, strict=True)
    effects = [measure_effects(*pair) for pair in pairs]
    found = [
        (deviation, place, effect)
        for deviation in deviations
        for place, effect in enumerate(_effects_of(deviation, effects))
    ]
    found.sort(key=lambda line: line[2] is _UNMEASURED)
    return Table(
        name=deviation_tables()[0],
        title="Where paper and released code differ",
        caption=_CAPTION,
        columns=("Method", "Topic", "Paper", "Released code", "Benchmark", "Effect"),
        lines=tuple(_line(d, effect, first=not place) for d, place, effect in found),
        fields=_FIELDS,
        records=[_record(deviation, effect) for deviation, _, effect in found],
        text_columns=5,
        prose=(1, 2, 3),
        headings=True,
    )


def _effects_of(
    deviation: Deviation, effects: Sequence[Mapping[str, Effect]]
) -> list[Effect]:
    measured = [part[deviation.id] for part in effects if deviation.id in part]
    return measured or [_UNMEASURED]


def _line(deviation: Deviation, effect: Effect, *, first: bool) -> Line:
    switch = f"{deviation.switch}. " if deviation.switch else ""
    unchecked = "full text not at hand" if deviation.unchecked else ""
    text = [
        Cell(_printed(deviation), name=True),
        Cell(deviation.topic, note=f"{switch}Followed: {deviation.default}."),
        Cell(deviation.paper, note=unchecked),
        Cell(deviation.code),
    ]
    told = text if first else [Cell("")] * len(text)
    measured = effect is not _UNMEASURED
    block = "Measured in this study" if measured else "Not measured in this study"
    return Line((*told, *_numbers(effect)), block)


def _numbers(effect: Effect) -> list[Cell]:
    if effect is _UNMEASURED:
        return [Cell(DASH)] * 2
    gain = effect.gain
    known, sure = not math.isnan(gain.mean), not math.isnan(gain.low)
    size = f"{counted(effect.tasks, 'task')}, {counted(gain.trials, 'trial')}"
    interval = f"{in_points(gain.low)} to {in_points(gain.high)}" if sure else ""
    change = in_points(gain.mean, sign=True) if known else DASH
    return [
        Cell(effect.title, note=size),
        Cell(change, bold=excludes_zero(gain), note=interval, value=gain.mean),
    ]


def _record(deviation: Deviation, effect: Effect) -> dict[str, object]:
    gain = effect.gain
    values = (
        deviation.id,
        deviation.method,
        _printed(deviation),
        deviation.topic,
        deviation.paper,
        deviation.unchecked,
        deviation.code,
        deviation.default,
        deviation.switch,
        effect.benchmark,
        effect.title,
        gain.mean,
        gain.low,
        gain.high,
        gain.losses,
        effect.tasks,
        gain.trials,
    )
    return dict(zip(_FIELDS, values, strict=True))


def _printed(deviation: Deviation) -> str:
    return str(method_class(deviation.method).display_name)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
