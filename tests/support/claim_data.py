"""Hand-made evidence for the checks of claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from support.report_data import METHODS, make_plan
from support.score_data import Cells, as_frame, as_outcomes

from cdspp.analysis.curves import CurveScores
from cdspp.analysis.summary import summarise
from cdspp.analysis.times import measure_times
from cdspp.report.tables.claims.evidence import Evidence
from cdspp.study.plan import CurvePlan, CurveValue, Row

TASKS = ("a_b", "b_a")
CONTROLS = {"target-only": ("main", "target-only"), "placebo": ("placebo", "cdspp")}
LUCK = np.array([0.0, 0.02, -0.01, 0.01])
Numbers = Mapping[str, Any]


def evidence(
    values: Numbers | None = None,
    *,
    curve: CurveScores | None = None,
    seconds: Numbers | None = None,
    shortened: Sequence[str] = (),
) -> Evidence:
    """Put together what is known of a benchmark of two tasks and four trials.

    `values` give, by method or control, an accuracy, or one a trial, or one a task and
    trial; NaN where a trial is missing. `seconds` are those of methods in all, of three
    trials each; NaN: not measured.
    """
    values, seconds = values or {"cdspp": 0.5}, seconds or {}
    ran = dict.fromkeys([*values, *seconds])
    plan = make_plan(
        tasks=TASKS,
        methods=[key for key in ran if key not in CONTROLS],
        controls=[key for key in ran if key in CONTROLS],
        trials=4,
        shortened=dict.fromkeys(shortened, 4),
    )
    each = {key: value / 6 for key, value in seconds.items()}
    return Evidence(
        summarise(as_frame(_cells(values, trials=4)), plan),
        [] if curve is None else [curve],
        measure_times(as_outcomes(_cells(each, trials=1)), [plan]),
    )


def _cells(values: Numbers, trials: int) -> Cells:
    """Spread numbers over tasks and trials."""
    return {
        CONTROLS.get(key, ("main", key)): dict(
            zip(TASKS, np.broadcast_to(given, (2, trials)).tolist(), strict=True)
        )
        for key, given in values.items()
    }


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
