"""What the page says of a run whose jobs differ, and of long ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.page_reader import read_page
from support.report_data import make_plan
from support.written_study import write_page

from cdspp.analysis.fit_records import RESULT_COLUMNS, FitRecords
from cdspp.report.page.page import describe_run
from cdspp.study.model import RunDescription

STUDY = RunDescription("embedded", {"seed": 7, "trials": 10, "numeric_threads": 1})


def described(seconds: float, *jobs: dict[str, Any]) -> dict[str, str]:
    """Describe a run of one fit of some seconds."""
    fit = {"method": "cdspp", "setting": "main", "status": "ok", "seconds": seconds}
    results = pd.DataFrame([fit], columns=list(RESULT_COLUMNS))
    return dict(describe_run(FitRecords(results, jobs), [], STUDY)["description"])


@pytest.mark.parametrize(
    ("seconds", "told"), [(89.4, "89 s"), (119.4, "2 min"), (9000, "2.5 h")]
)
def test_durations_are_told_in_a_unit_of_their_size(seconds: float, told: str) -> None:
    assert described(seconds)["Time in fits"] == told


def test_what_to_cite_for_a_method_stands_by_its_name(tmp_path: Path) -> None:
    methods = [{"id": "svm-t"}, {"id": "cdspp", "cites": "Wang & Breckon"}]
    output = tmp_path / "results" / "embedded" / "report" / "index.html"
    plan = make_plan(methods=("svm-t", "cdspp"))
    write_page([plan], output, config={"methods": methods})
    text = read_page(output)[0]
    assert "<p><b>CDSPP.</b> Wang &amp; Breckon</p>" in text
    assert "SVM<sub>t</sub>.</b>" not in text


def test_what_jobs_ran_on_is_told_once_or_each() -> None:
    one, other = ({"platform": {"machine": name, "cpus": 8}} for name in ("x", "y"))
    assert described(1, one, one)["Hardware"] == "machine x, cpus 8"
    both = described(1, one, other)["Hardware"]
    assert both == "machine x, cpus 8; machine y, cpus 8"
    assert "Versions" not in described(1, one)
