"""Effects of variants: differences between paper and code, and choices."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.summary import Floats, last_scores, read_scores
from cdspp.analysis.verdicts import ZERO, PairedGain, interval_note, paired_gain
from cdspp.core.names import MAIN, PathLike, Paths
from cdspp.core.wording import DASH, counted
from cdspp.core.yaml_files import read_yaml
from cdspp.methods import method_class
from cdspp.paper.plugin import PaperPlan, VariantPlan
from cdspp.paper.printed import EXACT, Printed, cell_verdict, read_printed
from cdspp.report.tables.table import (
    Cell,
    Line,
    Table,
    caption,
    effect_cell,
    write_tables,
)
from cdspp.study.plan import BenchmarkPlan, Plans, Row

Variant = dict[str, Any]  # an entry of a list of differences or choices

_TEXTS = ("id", "method", "display_name", "topic", "paper", "unchecked", "code")
_EFFECT = ("benchmark", "title", "effect", "low", "high", "losses", "tasks", "trials")
_DEVIATION_COLUMNS = (*_TEXTS, "default", "switch", *_EFFECT)
_CHOICE_KEYS = ("choice", "benchmark", "title", "method", "display_name")
_COUNTS = ("tasks", "trials", "cells", "exact", "exact_otherwise")
_CHOICE_COLUMNS = (*_CHOICE_KEYS, "effect", "low", "high", *_COUNTS)


def write_effects(plans: Plans, scores: Paths, paper: PathLike, outputs: Paths) -> None:
    """Write where paper and code differ, and the choices behind reported numbers."""
    frames = [read_scores(path) for path in scores]
    effects = [measure_effects(*pair) for pair in zip(frames, plans, strict=True)]
    choice_effects = measure_choices(frames, plans, read_printed(paper))
    deviations, choices = (
        read_yaml(Path(paper, f"{name}.yaml")) for name in ("deviations", "choices")
    )
    tables = [build_deviation_table(effects, deviations)]
    write_tables([*tables, build_choices_table(choice_effects, choices)], outputs)


def _paired_accuracies(scores: pd.DataFrame, entry: VariantPlan) -> Floats:
    """Return accuracies by setting (the variant, then main), task and trial."""
    trials, names = entry.n_trials, (entry.setting, MAIN)
    rows = [Row(name, name, name, entry.method, trials) for name in names]
    return last_scores(scores, rows, entry.tasks, trials)


def measure_effects(scores: pd.DataFrame, plan: BenchmarkPlan) -> dict[str, Variant]:
    """Measure the effect of each difference by name: its setting minus the main run."""
    effects = {}
    for entry in PaperPlan.of(plan).deviations:
        otherwise, main = _paired_accuracies(scores, entry).mean(axis=1)
        effects[entry.identifier] = _effect(plan, entry, paired_gain(otherwise, main))
    return effects


def _effect(plan: BenchmarkPlan, entry: VariantPlan, gain: PairedGain) -> Variant:
    values = {name: getattr(gain, name) for name in ("low", "high", "losses", "trials")}
    labels = {"benchmark": plan.benchmark, "title": plan.title, "effect": gain.gain}
    return {**labels, **values, "tasks": len(entry.tasks)}


def measure_choices(
    scores: Sequence[pd.DataFrame], plans: Plans, printed: Printed
) -> pd.DataFrame:
    """Measure the effect of each choice: the main run minus the one without it.

    Further columns count the reported `cells`, and those that are `exact` with the
    choice and without it (`exact_otherwise`).
    """
    records = []
    for frame, plan in zip(scores, plans, strict=True):
        paper = PaperPlan.of(plan)
        for entry in paper.choices:
            name = method_class(entry.method).display_name
            values = _paired_accuracies(frame, entry)
            otherwise, main = values.mean(axis=1)
            effect = _effect(plan, entry, paired_gain(main, otherwise))
            key = {"benchmark": paper.printed, "method": name}
            cells = printed.cells[(printed.cells[list(key)] == key).all(axis=1)]
            cells = cells[cells["task"].isin(entry.tasks)]
            hits = [0, 0]  # without the choice, and with it
            for cell in cells.itertuples():
                for run, trials in enumerate(values[:, entry.tasks.index(cell.task)]):
                    hits[run] += cell_verdict(cell, trials) == EXACT
            counts = {"cells": len(cells), "exact": hits[1], "exact_otherwise": hits[0]}
            keys = {"choice": entry.identifier, "method": entry.method}
            records.append(keys | {"display_name": name} | effect | counts)
    return pd.DataFrame(records, columns=list(_CHOICE_COLUMNS))


def build_deviation_table(
    effects: Sequence[Mapping[str, Variant]], deviations: Sequence[Variant]
) -> Table:
    """Build the table of deviations: one line for each measured one, per benchmark.

    The CSV also has those that the study does not measure.
    """
    unmeasured = {"tasks": 0, "losses": 0, "trials": 0, "benchmark": "", "title": ""}
    records = []
    for entry in deviations:
        method = method_class(entry["method"]).display_name
        record = {"unchecked": False, **entry, "display_name": method}
        options = (entry["options"] or {}).items()
        texts = ((n, str(v).lower() if isinstance(v, bool) else v) for n, v in options)
        record["switch"] = ", ".join(f"{name}: {text}" for name, text in texts)
        measured = [part[entry["id"]] for part in effects if entry["id"] in part]
        records += [record | effect for effect in measured or [unmeasured]]
    records.sort(key=lambda each: not each["tasks"])
    data = pd.DataFrame(records, columns=list(_DEVIATION_COLUMNS))
    others = counted(int((data["tasks"] == 0).sum()), "difference")
    pairs = zip(data.itertuples(), ~data["id"].duplicated(), strict=True)
    return Table(
        name="deviations",
        title="Where paper and released code differ",
        caption=caption("paper", "deviations", others=others)
        + interval_note(data["trials"]),
        columns=("Method", "Topic", "Paper", "Released code", "Benchmark", "Effect"),
        lines=tuple(_deviation_line(*each) for each in pairs if each[0].tasks),
        data=data,
        text_columns=5,
        prose=(1, 2, 3),
        empty="This study measures none.",
    )


def _deviation_line(entry: Any, first: bool) -> Line:
    switch = f"{entry.switch}. " if entry.switch else ""
    text = [
        Cell(entry.display_name, name=True),
        Cell(entry.topic, note=f"{switch}Followed: {entry.default}."),
        Cell(entry.paper, note="full text not read" if entry.unchecked else ""),
        Cell(entry.code),
    ]
    cells = text if first else [Cell("")] * len(text)
    significant = entry.low > ZERO or entry.high < -ZERO
    change = effect_cell(entry.effect, entry.low, entry.high, bold=significant)
    benchmark = Cell(entry.title, note=_sample_size(entry))
    return Line((*cells, benchmark, change))


def _sample_size(measured: Any) -> str:
    return f"{counted(measured.tasks, 'task')}, {counted(measured.trials, 'trial')}"


def build_choices_table(effects: pd.DataFrame, choices: Sequence[Variant]) -> Table:
    """Build the table ``printed-choices``: one line per choice and measured method."""
    lines = []
    for choice in choices:
        texts = [Cell(choice[key]) for key in ("topic", "printed", "otherwise")]
        for measured in effects[effects["choice"] == choice["id"]].itertuples():
            name = Cell(measured.display_name, note=_sample_size(measured), name=True)
            effect = effect_cell(measured.effect, measured.low, measured.high)
            exact = Cell(DASH)
            if measured.cells:
                without = f"without {measured.exact_otherwise}"
                exact = Cell(f"{measured.exact} of {measured.cells}", note=without)
            lines.append(Line((*texts, name, effect, exact)))
            texts = [Cell("")] * len(texts)
    return Table(
        name="printed-choices",
        title="Choices behind the reported numbers",
        caption=caption("paper", "choices") + interval_note(effects["trials"]),
        columns=("Topic", "Reported", "Otherwise", "Method", "Effect", "Exact"),
        lines=tuple(lines),
        data=effects,
        text_columns=4,
        prose=(0, 1, 2),
    )
