"""Labels that mean none, labels that look alike, and rules of the user."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pytest

from cdspp.core.errors import DataError
from cdspp.core.labels import (
    class_table,
    label_rules,
    label_text,
    near_duplicates,
    read_label_column,
    require_used,
)


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad", "\ufeff"])
def test_letters_that_nobody_sees_make_no_other_class(unseen: str) -> None:
    assert near_duplicates({"lab": ["cat", f"c{unseen}at"], "field": ["dog"]})


def test_two_forms_of_one_letter_are_named_by_their_codes() -> None:
    assert near_duplicates({"one": ["owl"], "two": ["\uff4fwl"]})
    assert near_duplicates({"one": ["caf\xe9"], "two": ["cafe\u0301"]}) == [
        r"'caf\xe9' (one), 'cafe\u0301' (two)"
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [("01", "1"), ("1e1", "10"), ("+1", "1"), ("1,5", "1.5"), ("1.50", "1.5")],
)
def test_numbers_that_differ_only_in_form_are_named(one: str, other: str) -> None:
    assert near_duplicates({"lab": [one], "field": [other]})
    with label_rules(kept=[one]):
        assert not near_duplicates({"lab": [one], "field": [other]})


def test_other_numbers_are_other_classes() -> None:
    names = ["1", "11", "-1", "1.25", "1.2", "9007199254740993", "9007199254740992"]
    assert not near_duplicates({"lab": names})


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([True, np.True_, "TRUE", "true"], "True"),
        ([7, 7.0, "7.0", np.float32(7), b"7"], "7"),
        (["cafe\u0301", " caf\xe9 "], "caf\xe9"),
        (
            [datetime(2024, 1, 31), date(2024, 1, 31), "2024-01-31 00:00:00"],
            "2024-01-31",
        ),
        ([None, np.nan, np.ma.masked], ""),
    ],
)
def test_a_label_has_one_form_in_all_formats(cells: list[object], text: str) -> None:
    assert {label_text(cell) for cell in cells} == {text}


def test_minus_one_is_undecided_until_a_rule_says_what_it_is() -> None:
    cells = [-1, "a", "-1", -1.0]
    found = read_label_column(cells)
    assert (found.labels, found.undecided) == (["", "a", "", ""], 3)
    assert found.unlabelled == "3 '-1'"
    with label_rules(kept=["-1"]):
        assert read_label_column(cells).labels == ["-1", "a", "-1", "-1"]
    with label_rules(unlabelled=["-1"]):
        declared = read_label_column(cells)
    assert (declared.undecided, declared.all_declared) == (0, True)
    with label_rules(renamed={"-1": "no", "a": ""}):
        assert read_label_column(cells).labels == ["no", "", "no", "no"]


def test_a_rule_for_a_label_that_no_file_has_is_refused() -> None:
    for rules in (
        {"kept": ["ant"]},
        {"unlabelled": ["ant"]},
        {"renamed": {"ant": "b"}},
    ):
        with label_rules(**rules):
            require_used({"ant", "bee"}, ["a.csv"])
            with pytest.raises(DataError, match=r"ant: no such label in a\.csv"):
                require_used({"bee"}, ["a.csv"])


def test_the_table_of_classes_begins_with_those_of_one_side() -> None:
    table = class_table({"in/a.csv": ["x", "x", "y"], "b.csv": ["x", "z"]})
    lines = [line.split() for line in table.split("\n    ")[1:]]
    assert lines == [
        ["class", "a.csv", "b.csv"],
        ["y", "1", "-"],
        ["z", "-", "1"],
        ["x", "2", "1"],
    ]
