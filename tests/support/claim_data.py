"""Hand-made evidence for the checks of claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from support.report_data import STATES, make_plan
from support.score_data import Cells, TrialSets, as_frame, as_results

from cdspp.analysis.source_help import gains_over_comparators
from cdspp.analysis.summary import CurveScores, summarise
from cdspp.core.names import MAIN, NO_SOURCE
from cdspp.methods import method_class
from cdspp.paper.checks import CHECKS
from cdspp.paper.evidence import Decision, Evidence, Times
from cdspp.paper.times import measure_times
from cdspp.study.model import CurveValue
from cdspp.study.plan import CurvePlan, Row

TASKS = ("a_b", "b_a")
LUCK = np.array([0.0, 0.02, -0.01, 0.01, 0.005])
Numbers = Mapping[Any, Any]
Check = Callable[..., Decision]


def check_of(name: str, **options: Any) -> Check:
    return partial(CHECKS[name].apply, **options)


def evidence(
    values: Numbers | None = None,
    *,
    curve: CurveScores | None = None,
    shortened: Sequence[str] = (),
    trials: int = 5,
    collapsed: TrialSets | None = None,
) -> Evidence:
    """Build the evidence of a benchmark of two tasks and some trials.

    `values` map a method, or a source state and a method, to one accuracy, one per
    trial, or one per task and trial; NaN marks a missing trial.
    """
    values = values or {"cdspp": 0.5}
    cells = {k if isinstance(k, tuple) else (MAIN, k): v for k, v in values.items()}
    ran = dict.fromkeys(method for _, method in cells)
    states = {name: [s for s in STATES if (s, name) in cells] for name in ran}
    if "target-only" in ran:
        states["cdspp"] = [NO_SOURCE, *states["cdspp"]]
    plan = make_plan(
        tasks=TASKS,
        methods=[method for method in ran if method != "target-only"],
        states=[s for s in STATES if any(s in own for own in states.values())],
        own_states=states,
        target_only="target-only" in ran,
        trials=trials,
        shortened=dict.fromkeys(shortened, trials),
    )
    scores = as_frame(_spread(cells, trials), collapsed)
    return Evidence(
        summarise(scores, plan, plan.rows),
        [] if curve is None else [curve],
        gains_over_comparators(scores, plan),
    )


def times(seconds: Numbers, *, shortened: Sequence[str] = (), trials: int = 5) -> Times:
    """Build the seconds of methods on a benchmark of two tasks.

    `seconds` are for three trials, NaN if not measured.
    """
    fewer = dict.fromkeys(shortened, 5)
    plan = make_plan(tasks=TASKS, methods=tuple(seconds), trials=5, shortened=fewer)
    each = {(MAIN, key): value / 6 for key, value in seconds.items()}
    return Times(plan, measure_times(as_results(_spread(each, trials)), [plan]))


def _spread(numbers: Mapping[tuple[str, str], Any], trials: int) -> Cells:
    spread = {}
    for cell, number in numbers.items():
        values = np.broadcast_to(number, (len(TASKS), trials)).tolist()
        spread[cell] = dict(zip(TASKS, values, strict=True))
    return spread


def _row(method: str) -> Row:
    cls = method_class(method)
    row = Row(method, cls.display_name, MAIN, method, len(LUCK))
    return replace(row, supervised=cls.supervised)


def curve_of(
    parameter: str, levels: Mapping[float, float], **others: float
) -> CurveScores:
    """Build a curve of CDSPP of two tasks and five trials, and of `others`, constant.

    Trials differ by a random part that is the same at every value.
    """
    keys = ("cdspp", *(key.replace("_", "-") for key in others))
    numbers = [list(levels.values())]
    numbers += [[level] * len(levels) for level in others.values()]
    shape = (len(keys), len(TASKS), len(levels), len(LUCK))
    accuracy = np.array(numbers)[:, None, :, None] + LUCK
    plan = CurvePlan(
        identifier=parameter,
        benchmark="digits",
        parameter=parameter,
        methods=keys,
        states={},
        tasks=TASKS,
        rows=tuple(map(_row, keys)),
        values=tuple(CurveValue(v, f"{parameter}-{v:g}", TASKS) for v in levels),
        dropped=(),
        n_trials=len(LUCK),
        n_classes=10,
    )
    accuracy = np.broadcast_to(accuracy, shape).copy()
    return CurveScores(plan, accuracy, np.zeros(shape, bool))


def along(parameter: str, levels: Mapping[float, float], **others: float) -> Evidence:
    """Return evidence that has only a curve; see `curve_of`."""
    return evidence(curve=curve_of(parameter, levels, **others))
