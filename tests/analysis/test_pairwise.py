"""Every method against every other, and the sentence on the most accurate one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.report_data import make_plan, score_rows, write_sample_scores
from support.score_data import TrialSets, as_frame

from cdspp.analysis.pairwise import compare_pairwise, leader, read_pairwise
from cdspp.analysis.source_help import gains_over_comparators, on_average
from cdspp.report.tables.source_help import build_pairwise_table
from cdspp.report.tables.table import to_csv, to_html
from cdspp.stages.score import SampleScores

ENDS = ["gain", "low", "high"]
TWO = {"methods": ("svm-t", "cdspp"), "tasks": ["a_b"], "states": ()}


def pair(pairs: pd.DataFrame, row: str, comparator: str) -> pd.Series:
    """Return the gain of a row over a comparator."""
    found = pairs[(pairs["row"] == row) & (pairs["comparator"] == comparator)]
    assert len(found) == 1
    return found.iloc[0]


def accuracies(trials: int = 5, **means: Any) -> pd.DataFrame:
    """Compare methods with these accuracies, or means of trials around them."""
    names = {name: name.replace("_", "-") for name in means}
    spread = 0.01 * (np.arange(trials) - (trials - 1) / 2)
    cells = {
        ("main", names[name]): {"a_b": list(np.ones(trials) * mean + spread * (i + 1))}
        for i, (name, mean) in enumerate(means.items())
    }
    plan = make_plan(**TWO | {"methods": tuple(names.values())}, trials=trials)
    return compare_pairwise(as_frame(cells), plan)


@pytest.mark.parametrize("by_sample", [False, True])
def test_pairs_are_antisymmetric_and_those_over_the_baseline(
    tmp_path: Path, by_sample: bool
) -> None:
    plan = make_plan(methods=("svm-t", "dama", "cdspp"), trials=4)
    scores = score_rows(plan, failed=[("dama", "print_sketch", 2)])
    path = write_sample_scores(tmp_path / "rows.npz", scores)
    per_sample = SampleScores(path) if by_sample else None
    pairs = compare_pairwise(scores, plan, per_sample)
    assert len(pairs) == 4 * 3  # target-only too, and no other source state
    for own in pairs.itertuples():
        other = pair(pairs, own.comparator, own.row)
        assert other["gain"] == -own.gain
        assert (other["low"], other["high"]) == pytest.approx((-own.high, -own.low))
        assert (
            own.trials
            == other["trials"]
            == (3 if "dama" in (own.row, own.comparator) else 4)
        )
    comparators = on_average(gains_over_comparators(scores, plan, per_sample))
    for told in comparators[~comparators["state"]].itertuples():
        found = pair(pairs, told.row, told.comparator)
        assert found[ENDS].tolist() == [getattr(told, name) for name in ENDS]


def test_the_reference_without_a_source_counts_as_a_method_without_one() -> None:
    plan = make_plan(methods=("svm-t", "dama"), reference="dama", trials=3)
    methods = compare_pairwise(score_rows(plan), plan).drop_duplicates("row")
    assert methods["row"].tolist() == ["svm-t", "dama", "none"]
    assert methods["uses_source"].tolist() == [False, True, False]
    assert methods["role"].tolist() == ["baseline", "reference", ""]


def test_ranks_follow_accuracy_and_are_shared_by_equals() -> None:
    pairs = accuracies(1, svm_t=0.5, cdspp=0.75, dama=0.75, tit=0.6)
    ranks = dict(zip(pairs["row"], pairs["rank"], strict=True))
    assert ranks == {"cdspp": 1, "dama": 1, "tit": 3, "svm-t": 4}


def test_ranks_are_by_gains_on_the_trials_of_the_reference() -> None:
    nan = float("nan")
    values = {
        "cdspp": [0.6, 0.7, 0.8, nan],
        "dama": [0.5, 0.6, 0.7, 1.0],  # the highest mean, by a trial of its own
        "tit": [0.9, 0.9, nan, nan],  # lacks a trial
        "svm-t": [0.65, 0.75, 0.85, 0.1],
    }
    plan = make_plan(**TWO | {"methods": tuple(values)}, trials=4)
    cells = {("main", name): {"a_b": trials} for name, trials in values.items()}
    pairs = compare_pairwise(as_frame(cells), plan)
    methods = pairs.drop_duplicates("row").set_index("row")
    ranks = {"cdspp": 2, "dama": 3, "tit": 0, "svm-t": 1}
    assert methods["rank"].to_dict() == ranks
    assert methods["own_trials"].to_dict() == {"cdspp": 3, "dama": 4, "tit": 2} | {
        "svm-t": 4
    }
    over = pairs[pairs["comparator"] == "cdspp"].set_index("row")["gain"]
    assert over[["svm-t", "dama"]].tolist() == pytest.approx([0.05, -0.1])
    assert leader(pairs).startswith("SVM_t* is the most accurate of 3 methods")


@pytest.mark.parametrize("side", ["shortened", "degenerate"])
def test_shortened_and_degenerate_rows_have_no_rank(side: str) -> None:
    more = {"shortened": {"dama": 3}} if side == "shortened" else {}
    plan = make_plan(**TWO | {"methods": ("svm-t", "dama", "cdspp")}, trials=3, **more)
    cells = {
        ("main", name): {"a_b": [mean] * 3}
        for name, mean in {"svm-t": 0.5, "dama": 0.9, "cdspp": 0.7}.items()
    }
    fell: TrialSets = {("main", "dama"): {"a_b": [1]}} if not more else {}
    methods = compare_pairwise(as_frame(cells, fell), plan).drop_duplicates("row")
    ranks = dict(zip(methods["row"], methods["rank"], strict=True))
    assert ranks == {"svm-t": 2, "dama": 0, "cdspp": 1}


def test_a_method_without_an_average_has_neither_rank_nor_gain() -> None:
    pairs = accuracies(svm_t=0.5, cdspp=0.7, dama=float("nan"))
    assert set(pairs[pairs["row"] == "dama"]["rank"]) == {0}
    assert pair(pairs, "dama", "cdspp")[ENDS].isna().all()
    assert leader(pairs).startswith(
        "CDSPP is the most accurate of 2 methods with all trials: 70.0 %"
    )


def test_a_table_of_pairs_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = make_plan(**TWO, trials=3)
    pairs = compare_pairwise(score_rows(plan), plan)
    path = tmp_path / "pairwise_digits.csv"
    path.write_text(to_csv(build_pairwise_table(pairs, plan)))
    pd.testing.assert_frame_equal(read_pairwise(path), pairs)


def test_the_table_has_the_gains_over_the_reference_by_rank() -> None:
    plan = make_plan(methods=("svm-t", "dama", "cdspp"), states=(), trials=3)
    pairs = compare_pairwise(score_rows(plan), plan)
    table = build_pairwise_table(pairs, plan)
    assert table.columns == ("Method", "Rank", "Accuracy", "Gain over CDSPP")
    assert [line.cells[0].text for line in table.lines] == ["CDSPP", "DAMA", "SVM_t*"]
    assert [line.cells[1].text for line in table.lines] == ["1", "2", "3"]
    assert table.lines[0].cells[-1].text == "–"
    told = pair(pairs, "dama", "cdspp")
    assert table.lines[1].cells[-1].value == told["gain"]
    assert ' class="sortable"' in to_html(table)
    last = {"dama": 0, "cdspp": 1, "svm-t": 2}
    table = build_pairwise_table(pairs.assign(rank=pairs["row"].map(last)), plan)
    assert [line.cells[1].text for line in table.lines] == ["1", "2", "–"]


@pytest.mark.parametrize(
    ("means", "told"),
    [
        (
            {"svm_t": 0.5, "dama": 0.8, "cdspp": 0.7},
            "DAMA is the most accurate of 3 methods with all trials: 80.0 %, a gain "
            "of 10.0 points (95 % interval 8.0 to 12.0) over CDSPP on 5 common trials.",
        ),
        (
            {"svm_t": 0.5, "dama": 0.6, "cdspp": 0.7},
            "CDSPP is the most accurate of 3 methods with all trials: 70.0 %, a gain "
            "of 10.0 points (95 % interval 8.0 to 12.0) over DAMA on 5 common trials.",
        ),
        ({"svm_t": 0.5}, ""),
    ],
    ids=["another", "the reference", "alone"],
)
def test_the_leader_is_told_with_its_gain(means: dict[str, float], told: str) -> None:
    assert leader(accuracies(**means)) == told


def test_nothing_leads_where_nothing_ran_or_all_have_collapsed() -> None:
    assert leader(read_pairwise(None)) == ""
    pairs = accuracies(svm_t=0.5, cdspp=0.7)
    assert leader(pairs.assign(rank=0)) == ""
    alone = leader(pairs.assign(rank=(pairs["row"] == "svm-t").astype(int)))
    assert alone == "SVM_t* is the most accurate of 1 method with all trials: 50.0 %."


def test_the_table_marks_methods_that_ran_in_fewer_trials_or_collapsed() -> None:
    plan = make_plan(methods=("svm-t", "dama", "cdspp"), trials=4)
    failed = [("dama", task, 2) for task in plan.tasks]
    pairs = compare_pairwise(score_rows(plan, failed=failed), plan)
    table = build_pairwise_table(pairs, plan)
    notes = {line.cells[0].text: line.cells[2].note for line in table.lines}
    assert notes.pop("DAMA") == "3 trials"
    assert set(notes.values()) == {""}
    table = build_pairwise_table(pairs.assign(collapsed=pairs["row"] == "dama"), plan)
    notes = {line.cells[0].text: line.cells[2].note for line in table.lines}
    assert notes.pop("DAMA") == "3 trials, degenerate fits"
    assert set(notes.values()) == {""}
