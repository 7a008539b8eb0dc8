"""Hand-made evidence for the checks of claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from support.gain_data import as_frame
from support.report_data import METHODS, make_plan

from cdspp.analysis.curves import CurveScores
from cdspp.analysis.fit_records import OUTCOME_COLUMNS
from cdspp.analysis.summary import Summary, summarise
from cdspp.analysis.times import measure_times
from cdspp.report.tables.claims.evidence import Evidence
from cdspp.study.plan import CurvePlan, CurveValue, Row

TASKS = ("a_b", "b_a")
CONTROLS = {"target-only": ("main", "target-only"), "placebo": ("placebo", "cdspp")}
LUCK = np.array([0.0, 0.02, -0.01, 0.01])
Numbers = Mapping[str, Any]


def summary_of(values: Numbers, *, shortened: Sequence[str] = ()) -> Summary:
    """Build a summary of two tasks and four trials.

    `values` give, by method or control, an accuracy, or one a trial, or one a task and
    trial; NaN where a trial is missing.
    """
    plan = make_plan(
        tasks=TASKS,
        methods=[key for key in values if key not in CONTROLS],
        controls=[key for key in values if key in CONTROLS],
        trials=4,
        shortened=dict.fromkeys(shortened, 4),
    )
    cells = {
        CONTROLS.get(key, ("main", key)): dict(
            zip(TASKS, np.broadcast_to(given, (2, 4)).tolist(), strict=True)
        )
        for key, given in values.items()
    }
    return summarise(as_frame(cells), plan)


def curve_of(
    parameter: str, levels: Mapping[float, float], **others: float
) -> CurveScores:
    """Build a curve of CDSPP of two tasks and three trials, and of `others`, constant.

    The trials differ by luck, which is the same at every value.
    """
    keys = ("cdspp", *(key.replace("_", "-") for key in others))
    numbers = [list(levels.values())]
    numbers += [[level] * len(levels) for level in others.values()]
    shape = (len(keys), len(TASKS), len(levels), 3)
    accuracy = np.array(numbers)[:, None, :, None] + LUCK[:3]
    plan = CurvePlan(
        identifier=parameter,
        parameter=parameter,
        tasks=TASKS,
        rows=tuple(Row(key, METHODS[key][0], "main", key, 3) for key in keys),
        values=tuple(CurveValue(v, f"{parameter}-{v:g}", TASKS) for v in levels),
        dropped=(),
        trials_asked=3,
        n_classes=10,
    )
    return CurveScores(plan, np.broadcast_to(accuracy, shape).copy())


def times_of(
    seconds: Mapping[str, float], *, shortened: Sequence[str] = ()
) -> pd.DataFrame:
    """Build the times of methods that took these seconds in all; NaN: not measured."""
    plan = make_plan(
        tasks=TASKS, methods=tuple(seconds), shortened=dict.fromkeys(shortened, 3)
    )
    outcomes = (
        {"benchmark": "digits", "setting": "main", "task": task, "method": method}
        | {"trial": 1, "status": "ok", "cpu_seconds": value / 6}
        for method, value in seconds.items()
        for task in (TASKS if np.isfinite(value) else TASKS[:1])
    )
    return measure_times(pd.DataFrame(outcomes, columns=OUTCOME_COLUMNS), [plan])


def evidence(
    values: Numbers | None = None,
    *curves: CurveScores,
    times: pd.DataFrame | None = None,
    shortened: Sequence[str] = (),
) -> Evidence:
    """Put together what is known of a benchmark."""
    summary = summary_of(values or {"cdspp": 0.5}, shortened=shortened)
    return Evidence(summary, curves, times_of({}) if times is None else times)
