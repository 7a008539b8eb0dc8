"""The page of a synthetic study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.report_data import make_plan
from support.written_study import WrittenStudy

from cdspp.report.page.page import write_report
from cdspp.study.model import RunDescription
from cdspp.study.plan import BenchmarkPlan


def two_benchmarks() -> list[BenchmarkPlan]:
    """Return plans of one benchmark that the source helps, and of one it does not."""
    docs = {"benchmark": "docs-to-code", "title": "Docs to code"}
    return [make_plan(), make_plan(tasks=["docs_code"], **docs)]


def write_page(
    root: Path,
    plans: Sequence[BenchmarkPlan] | None = None,
    *,
    figures: bool = False,
    failed: str = "",
    files: Sequence[Path] = (),
    **description: Any,
) -> Path:
    """Write a study, all its tables, its figures where asked, and its page."""
    folder = root / "results" / "embedded"
    helps = {"digits": {"source_helps": 0.06}}
    study = WrittenStudy(folder, plans or two_benchmarks(), helps, failed)
    tables, timings = study.make("table"), study.make("timing")
    pictures = study.make("figure") if figures else folder / "figures"
    output = folder / "report" / "index.html"
    told = {"name": "embedded", "seed": 7, "trials": 10, "numeric_threads": 1}
    write_report(
        plans=study.plans,
        tables=sorted([*tables.glob("*.csv"), *timings.glob("*.csv")]),
        figures=sorted(pictures.glob("*")),
        fit_records=study.records,
        study=RunDescription(**(told | description)),
        output=output,
        files=files,
    )
    return output


@pytest.fixture
def make_page(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a study and its page; options of `write_page`."""
    return partial(write_page, tmp_path)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a study with all its figures, to be read alone."""
    return write_page(tmp_path_factory.mktemp("study"), figures=True)
