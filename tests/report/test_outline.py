"""The list of tables and figures: names, order, and what a plan must have for them."""

from __future__ import annotations

from support.curve_data import curve_entry, curve_plan
from support.report_data import make_plan

from cdspp.report.outline import outline, outline_names


def of_digits(kind: str, plan: object) -> list[str]:
    return [name.partition("_")[0] for name in outline_names(kind, [plan])]


def test_figures_are_those_for_which_the_plan_has_what_they_need() -> None:
    assert outline_names("figure", [make_plan()]) == [
        "source-help",
        "source-states",
        "methods_digits",
        "iterations_digits",
        "subspace_digits",
        "confusion_digits",
    ]
    bare = make_plan(methods=("svm-t",), states=())
    opening = ["source-help", "source-states"]
    assert of_digits("figure", bare) == [*opening, "methods", "iterations"]
    alpha = curve_entry("alpha", parameter="alpha", methods=["cdspp"])
    both = of_digits("figure", curve_plan(curve_entry(), alpha))
    assert both[3:5] == ["labels", "sensitivity"]
    assert "sensitivity" not in of_digits("figure", curve_plan(curve_entry()))
    assert "labels" not in of_digits("figure", curve_plan(alpha))


def test_there_is_a_table_a_curve_and_one_for_all_benchmarks_only_once() -> None:
    alpha = curve_entry("alpha", parameter="alpha", methods=["cdspp"])
    plans = [curve_plan(curve_entry(), alpha), make_plan(benchmark="docs")]
    names = outline_names("table", plans)
    assert len(names) == len(set(names))
    curves = [name for name in names if name.startswith("curve-")]
    assert curves == ["curve-labels_digits", "curve-alpha_digits"]
    assert [n for n in names if "accuracy_" in n and n[0] == "a"] == [
        "accuracy_digits",
        "accuracy_docs",
    ]
    assert names.count("overview") == names.count("source-help") == 1
    assert {"source-help_digits", "source-help_docs"} <= set(names)


def test_what_is_printed_is_shown_by_studies_that_have_it_alone() -> None:
    assert "printed" not in outline_names("table", [make_plan()])
    plan = make_plan(paper={"printed": "mrc", "choices": [{"id": "unit-rows"}]})
    names = outline_names("table", [make_plan(benchmark="docs"), plan])
    found = [name for name in names if name.startswith("printed")]
    assert found == ["printed-methods", "printed-choices", "printed"]


def test_a_study_need_not_speak_of_the_paper() -> None:
    papers = {"claims-overview", "claims", "deviations"}
    assert papers <= set(outline_names("table", [make_plan()]))
    assert outline_names("timing", [make_plan()]) == ["times", "time-claims"]
    silent = [make_plan(paper={"paper": False})]
    assert outline_names("timing", silent) == ["times"]
    names = set(outline_names("table", silent))
    assert not papers & names
    assert "overview" in names


def test_every_fold_says_what_to_see() -> None:
    folds = {item.fold for part in outline() for item in part.items if item.fold}
    assert all(fold.sentence.endswith(".") for fold in folds)
