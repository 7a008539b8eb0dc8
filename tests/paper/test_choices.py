"""What a choice behind printed numbers changes: by hand, in points and exact cells."""

from __future__ import annotations

from dataclasses import asdict, replace

import pandas as pd
import pytest
from support.report_data import make_plan
from support.score_data import as_frame

from cdspp.paper.effects import measure_choices
from cdspp.paper.plugin import PaperPlan, VariantPlan
from cdspp.paper.printed import Printed

TASKS = ("print_sketch", "sketch_photo")
# Ten trials each: means 70.2 and 80.0 with the choice, 69.2 and 80.0 without.
MAIN = [0.70, 0.704] * 5, [0.80] * 10
OTHERWISE = [0.69, 0.694] * 5, [0.80] * 10


@pytest.fixture
def effect() -> pd.Series:
    """Return the effect of one choice of SVM_t on two printed tasks."""
    plan = make_plan(tasks=TASKS)
    variant = VariantPlan("votes", "choice-votes", "svm-t", TASKS, 10)
    told = PaperPlan(printed="paper", choices=(variant,))
    cells = {
        ("main", "svm-t"): dict(zip(TASKS, MAIN, strict=True)),
        ("choice-votes", "svm-t"): dict(zip(TASKS, OTHERWISE, strict=True)),
    }
    printed = pd.DataFrame(
        {
            "benchmark": "paper",
            "method": "SVM_t",
            "task": [*TASKS, "average"],
            "printed_mean": [0.702, 0.80, 0.75],
            "printed_sd": [0.002, 0.0, float("nan")],
        }
    )
    found = measure_choices(
        [as_frame(cells)],
        [replace(plan, plugins={"paper": asdict(told)})],
        Printed({}, printed),
    )
    assert len(found) == 1
    return found.iloc[0]


def test_the_effect_is_the_accuracy_with_the_choice_minus_that_without(
    effect: pd.Series,
) -> None:
    assert effect["effect"] == pytest.approx(0.005)
    assert effect["low"] == pytest.approx(effect["high"])
    assert (effect["tasks"], effect["trials"]) == (2, 10)


def test_exact_cells_are_counted_with_the_choice_and_without(effect: pd.Series) -> None:
    assert effect["cells"] == 2
    assert effect["exact"] == 2
    assert effect["exact_otherwise"] == 1
