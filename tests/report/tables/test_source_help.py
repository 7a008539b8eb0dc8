"""Methods by source states, and the reference by task, as they are printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from support.report_data import draw_comparisons, make_plan

from cdspp.analysis.source_help import COMPARISON_COLUMNS, no_comparisons
from cdspp.analysis.transfer import Transfer
from cdspp.report.tables.source_help import build_matrix_table, build_task_table
from cdspp.report.tables.table import Cell, Table, to_csv, to_html, to_latex

PLAN = make_plan(benchmark="toy", title="Toy")
NAN = float("nan")
GAIN = {
    "benchmark": "toy",
    "title": "Toy",
    "row": "cdspp",
    "display_name": "CDSPP",
    "role": "reference",
    "task": "a_b",
    "comparator": "none",
    "comparator_name": "none",
    "state": True,
    "accuracy": 0.8,
    "comparator_accuracy": 0.75,
    "gain": 0.05,
    "low": 0.01,
    "high": 0.09,
    "p_above": 0.01,
    "p_below": 0.01,
    "losses": 1,
    "trials": 10,
    "domain_low": NAN,
    "domain_high": NAN,
    "degenerate": False,
    "pair": "positive transfer",
    "verdict": "positive transfer",
    "reason": "",
    "p_helps": 0.012,
    "p_hurts": 0.013,
    "p_without": 0.011,
    "strongest": "none",
    "detectable": 0.03,
}
BASELINE = {**GAIN, "comparator": "svm-t", "comparator_name": "SVM_t", "state": False}
NO_GAIN = {"gain": NAN, "low": NAN, "high": NAN, "trials": 0, "pair": "inconclusive"}


def frame(*records: dict[str, Any]) -> pd.DataFrame:
    """Return comparisons; of what they leave out, both measures say the same."""
    table = pd.DataFrame([_both_measures(record) for record in records])
    return table.reindex(columns=list(COMPARISON_COLUMNS)).astype(COMPARISON_COLUMNS)


def _both_measures(record: dict[str, Any]) -> dict[str, Any]:
    names = ("gain", "low", "high", "p_above", "p_below", "pair")
    names += ("p_helps", "p_hurts", "p_without")
    same = {f"balanced_{name}": record[name] for name in names}
    word = record.get("accuracy_verdict", record["verdict"])
    words = dict.fromkeys(("accuracy_verdict", "balanced_verdict"), word)
    return {"least": -0.02, "one_decides": False, **same, **words, **record}


def matrix(*records: dict[str, Any]) -> Table:
    return build_matrix_table([frame(*records)], [PLAN])


def tasks(*records: dict[str, Any]) -> Table:
    return build_task_table(frame(*records), PLAN)


def cells(table: Table, place: int = 0) -> dict[str, Cell]:
    """Return the cells of a line by heading."""
    return dict(zip(table.columns, table.lines[place].cells, strict=True))


def shown(table: Table, place: int = 0) -> dict[str, str]:
    """Return the texts of a line with their notes, by heading."""
    return {
        heading: f"{cell.text} [{cell.note}]" if cell.note else cell.text
        for heading, cell in cells(table, place).items()
    }


def test_a_line_shows_gains_with_intervals_what_stays_without_and_the_verdict() -> None:
    svm = {**BASELINE, "gain": 0.075, "low": 0.05, "high": 0.1}
    assert shown(matrix(svm, GAIN)) == {
        "Method": "CDSPP",
        "Accuracy": "80.0",
        "Over SVM_t": "+7.5 [5.0 to 10.0]",
        "Over no source": "+5.0 [1.0 to 9.0]",
        # 7.5 points over SVM_t, 5.0 of them by the source.
        "Without": "+2.5 [of +7.5]",
        "Verdict": "positive transfer [p 0.012]",
        "Tasks": "1 positive transfer",
    }
    other = build_matrix_table([frame(GAIN)], [replace(PLAN, margin=0.5)])
    assert "are within ±0.5. " in other.caption


def test_a_gain_is_bold_where_its_own_test_says_better_or_worse() -> None:
    # An interval that touches zero may go with a one-sided test that is sure.
    for verdict in Transfer:
        pair = verdict.word
        for table in (matrix, tasks):
            found = cells(table({**GAIN, "pair": pair, "low": -0.001}))
            assert found["Over no source"].bold == verdict.decided


def test_a_gain_whose_measures_differ_is_not_bold_and_says_so() -> None:
    for table in (matrix, tasks):
        mixed = table({**GAIN, "balanced_pair": "inconclusive"})
        found = cells(mixed)["Over no source"]
        assert not found.bold
        assert found.note == "1.0 to 9.0, accuracy and balanced accuracy disagree"
        assert "by accuracy and by balanced accuracy" in mixed.caption


def test_a_gain_says_why_nothing_is_said_of_it() -> None:
    few = {**GAIN, "pair": "inconclusive", "trials": 3}
    assert shown(matrix(few))["Over no source"] == "+5.0 [1.0 to 9.0, 3 trials]"
    one = {**few, "trials": 1, "low": NAN, "high": NAN}
    assert shown(matrix(one))["Over no source"] == "+5.0 [1 trial]"
    fallen = {**GAIN, "pair": "inconclusive", "degenerate": True}
    assert (
        shown(matrix(fallen))["Over no source"] == "+5.0 [1.0 to 9.0, degenerate fits]"
    )


def test_the_interval_over_target_domains_stands_below() -> None:
    known = {**GAIN, "domain_low": -0.002, "domain_high": 0.1}
    found = shown(matrix(known))["Over no source"]
    assert found == "+5.0 [1.0 to 9.0, domains −0.2 to 10.0]"


def test_what_was_not_run_is_a_dash() -> None:
    noise = {"comparator": "noise", "comparator_name": "noise"}
    other = {**GAIN, "row": "dama", "display_name": "DAMA", **noise}
    table = matrix(GAIN, other)
    assert table.columns[2:4] == ("Over no source", "Over noise")
    first, second = shown(table), shown(table, 1)
    assert (first["Over noise"], second["Over no source"]) == ("–", "–")
    assert first["Without"] == second["Without"] == "–"
    lost = {**GAIN, **NO_GAIN, "accuracy": NAN, "verdict": "inconclusive"}
    found = shown(matrix({**BASELINE, **NO_GAIN}, lost))
    assert found["Over no source"] == found["Without"] == "–"
    assert shown(matrix(lost))["Accuracy"] == "–"


SILENT = "fewer than five trials", "degenerate fits", "controls not run"
VERDICTS = {
    "p": ("positive transfer", "", "positive transfer [p 0.012]"),
    "n": ("negative transfer", "", "negative transfer [p 0.013]"),
    "0": ("no effect", "within ±1 point", "no effect [within ±1 point]"),
    "?": (
        "inconclusive",
        "trials do not decide",
        "inconclusive [trials do not decide (minimum detectable gain 3.0 at 80 % "
        "power)]",
    ),
    "labels": (
        "inconclusive",
        "gain not specific to the source's labels",
        "inconclusive [gain not specific to the source's labels (+5.0 over none)]",
    ),
    **{
        reason: ("inconclusive", reason, f"inconclusive [{reason}]")
        for reason in SILENT
    },
}


@pytest.mark.parametrize("case", VERDICTS)
def test_a_verdict_has_the_p_value_that_decides_it_or_its_reason(case: str) -> None:
    word, reason, text = VERDICTS[case]
    for table in (matrix, tasks):
        p_values = {"p_helps": NAN} if reason in SILENT else {}
        if reason == "trials do not decide":
            p_values = {"p_without": 0.5}
        found = table({**GAIN, "verdict": word, "reason": reason} | p_values)
        assert shown(found)["Verdict"] == text
        assert cells(found)["Verdict"].bold == (case in "pn")


def several(*words: str) -> list[dict[str, Any]]:
    """Return the comparisons of a task a verdict, and of their average."""
    found = [{**GAIN, "task": f"a_b{i}", "verdict": w} for i, w in enumerate(words)]
    return [*found, {**GAIN, "task": "average", "gain": 0.02, "verdict": "no effect"}]


def test_the_matrix_shows_the_average_and_counts_the_tasks() -> None:
    table = matrix(*several("inconclusive", *["positive transfer"] * 2, "inconclusive"))
    found = shown(table)
    assert found["Over no source"].startswith("+2.0")
    assert found["Verdict"].startswith("no effect")
    assert found["Tasks"] == "2 positive transfer, 2 inconclusive [of 4]"
    assert list(table.data["task"]) == ["average"]


def test_benchmarks_are_blocks_and_share_their_columns() -> None:
    other = {**GAIN, "benchmark": "other", "title": "Other", "comparator": "noise"}
    table = build_matrix_table([frame(GAIN), frame(other)], [PLAN])
    assert [line.block for line in table.lines] == ["Toy", "Other"]
    assert "Over noise" in table.columns
    assert shown(table)["Over noise"] == "–"
    html = to_html(table)
    assert "Toy" in html
    assert 'data-value="0.050000"' in html
    assert to_csv(table).count("\n") == 1 + 2


def test_the_reference_has_a_line_a_task_and_the_data_hold_every_method() -> None:
    plan = make_plan()
    found = draw_comparisons(plan)
    table = build_task_table(found, plan)
    assert table.name == "source-help_digits"
    first = [line.cells[0].text for line in table.lines]
    assert first[0] == "print → sketch"
    assert (len(first), first[-1]) == (5, "Average")
    assert "Without" not in table.columns
    pd.testing.assert_frame_equal(table.data, found)


@pytest.mark.parametrize("groups", [[], [no_comparisons()]], ids=["none", "empty"])
def test_without_comparisons_tables_are_empty_with_the_columns_of_their_data(
    groups: list[pd.DataFrame],
) -> None:
    table = build_matrix_table(groups, [PLAN])
    assert table.columns == ("Method", "Accuracy", "Without", "Verdict", "Tasks")
    assert table.lines == ()
    assert to_csv(table).startswith("benchmark,title,row,")
    assert to_latex(table).startswith("% needs")
    assert build_task_table(no_comparisons(), PLAN).lines == ()


def test_a_verdict_of_two_words_shows_both() -> None:
    words = "positive transfer", "inconclusive"
    record = {**GAIN, "accuracy_verdict": words[0], "balanced_verdict": words[1]}
    why = "accuracy and balanced accuracy disagree"
    record |= {"verdict": "inconclusive", "reason": why}
    for table in (matrix, tasks):
        assert shown(table(record))["Verdict"] == (
            f"inconclusive [{why} (positive transfer, inconclusive)]"
        )


def test_words_of_the_matrix_are_corrected_over_methods_and_a_lost_one_is_told() -> (
    None
):
    near = {**GAIN, "p_above": 0.03, "p_helps": 0.03, "p_below": 0.97, "p_hurts": 0.97}
    other = {**near, "row": "dama", "display_name": "DAMA"}
    alone, corrected = (
        build_matrix_table(
            [frame(near, other)], [replace(PLAN, holm_over_methods=both)]
        )
        for both in (False, True)
    )
    assert shown(alone)["Verdict"] == "positive transfer [p 0.03]"
    assert shown(corrected)["Verdict"] == (
        "inconclusive [positive transfer before Holm's correction]"
    )
    assert cells(alone)["Over no source"].bold
    assert not cells(corrected)["Over no source"].bold


def test_a_word_that_one_trial_decides_has_the_least_gain_beside_it() -> None:
    for table in (matrix, tasks):
        text = shown(table({**GAIN, "one_decides": True}))["Over no source"]
        assert text.endswith("sensitive to one trial (minimum −2.0)]")
