"""The list of tables and figures: names, order, and what a plan must have for them."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest
from support.report_data import make_plan
from support.score_data import curve_entry, curve_plan

from cdspp.core.discovery import load_function
from cdspp.report import registry
from cdspp.report.registry import (
    KINDS,
    RULE,
    Item,
    Maker,
    Part,
    item_jobs,
    names_of_kind,
    page_parts,
)
from cdspp.report.tables.table import marks_legend
from cdspp.study.files import INPUTS


def of_digits(kind: str, plan: object) -> list[str]:
    return [name.partition("_")[0] for name in names_of_kind(kind, [plan])]


def test_figures_are_those_for_which_the_plan_has_what_they_need() -> None:
    assert names_of_kind("figure", [make_plan()]) == [
        "kinds-of-transfer",
        "forest",
        "source-states",
        "source-help",
        "methods_digits",
        "iterations_digits",
        "subspace_digits",
        "confusion_digits",
    ]
    bare = make_plan(methods=("svm-t",), states=())
    opening = ["kinds-of-transfer", "forest", "source-states", "source-help"]
    assert of_digits("figure", bare) == [*opening, "methods", "iterations"]
    alpha = curve_entry("alpha", parameter="alpha", methods=["cdspp"])
    both = of_digits("figure", curve_plan(curve_entry(), alpha))
    assert both[5:7] == ["labels", "sensitivity"]
    assert "sensitivity" not in of_digits("figure", curve_plan(curve_entry()))
    assert "labels" not in of_digits("figure", curve_plan(alpha))


def test_what_is_printed_is_shown_by_studies_that_have_it_alone() -> None:
    assert "printed" not in names_of_kind("table", [make_plan()])
    plan = make_plan(paper={"printed": "mrc", "choices": [{"id": "unit-rows"}]})
    names = names_of_kind("table", [make_plan(benchmark="docs"), plan])
    found = [name for name in names if name.startswith("printed")]
    assert found == ["printed-methods", "printed-choices", "printed"]


def test_a_study_need_not_speak_of_the_paper() -> None:
    papers = {"claims-overview", "claims", "deviations"}
    assert papers <= set(names_of_kind("table", [make_plan()]))
    assert names_of_kind("timing", [make_plan()]) == ["times", "time-claims"]
    silent = [make_plan(paper={"paper": False})]
    assert names_of_kind("timing", silent) == ["times"]
    names = set(names_of_kind("table", silent))
    assert not papers & names
    assert "overview" in names
    stated = [{"id": "best", "check": "best", "options": {"method": "cdspp"}}]
    own = [make_plan(paper={"paper": False, "claims": stated})]
    assert set(names_of_kind("table", own)) - names == {"claims-overview", "claims"}


def test_the_function_of_every_item_takes_the_inputs_that_it_names() -> None:
    makers = {item.maker for part in page_parts() for item in part.items}
    for maker in filter(None, makers):
        own = {"plans", "outputs", *maker.inputs, *maker.resources}
        assert set(signature(load_function(maker.function)).parameters) == own
        assert set(maker.inputs) <= set(INPUTS)
    assert None not in makers


def test_one_job_makes_the_items_of_a_benchmark_and_one_those_over_all() -> None:
    plans = [curve_plan(curve_entry()), make_plan(benchmark="docs")]
    jobs = {job.name: job for job in item_jobs(plans)}
    assert [*jobs] == ["", "digits", "docs"]
    groups = [group for job in jobs.values() for group in job.groups]
    made = [name for group in groups for name in group.captions]
    listed = [name for kind in KINDS for name in names_of_kind(kind, plans)]
    assert sorted(made) == sorted(listed)
    assert jobs["docs"].plans == plans[1:]
    assert jobs[""].plans == plans
    by_name = {f"{g.kind} {next(iter(g.captions))}": [*g.captions] for g in groups}
    names = ["accuracy_docs", "class-accuracy_docs", "iterations_docs"]
    assert by_name["table accuracy_docs"] == names
    assert by_name["figure source-states"] == ["source-states", "source-help"]
    assert "curve-labels_digits" in by_name["table accuracy_digits"]


def test_an_item_of_a_benchmark_that_reads_its_tables_is_made_after_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = Maker("module:write", ("comparisons",))
    part = Part("own", "Own", items=(Item("table", "own_{benchmark}", reads),))
    monkeypatch.setattr(registry, "page_parts", lambda: (*registry.PARTS, part))
    names = [job.name for job in item_jobs([make_plan()])]
    assert names == ["", "digits", "digits_from_tables"]


def test_the_tables_of_data_need_no_more_than_data() -> None:
    groups = [group for job in item_jobs([make_plan()]) for group in job.groups]
    found = [[*group.captions] for group in groups if group.of_data]
    assert found == [["contents_digits", "overlap_digits"]]


def test_the_documentation_states_the_rule_of_the_page(repository: Path) -> None:
    text = (repository / "docs" / "source-help.md").read_text(encoding="utf-8")
    shown = " ".join(text.split())
    assert all(f"| *{each.word}* | {rule} |" in shown for each, rule in RULE.items())


def test_marks_after_names_of_methods_are_explained_if_there_are_any() -> None:
    assert marks_legend(["SVM_t*", "CDSPP"]) == "* supervised."
    assert marks_legend(["HFA*†", "A*B"]) == "* supervised; † shortened run."
    assert marks_legend(["CDSPP"]) == ""
