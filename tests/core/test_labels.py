"""Labels that mean none, and labels that look alike."""

from __future__ import annotations

from typing import Any

import pytest

from cdspp.core.labels import is_missing, missing_markers, near_duplicates


@pytest.mark.parametrize("value", [None, -1, " ", "n/a", "NULL"])
def test_a_value_means_that_there_is_no_label(value: Any) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", ["cat", True, 0])
def test_a_value_is_a_label(value: Any) -> None:
    assert not is_missing(value)


def test_words_that_mean_none_are_counted() -> None:
    assert missing_markers(["cat", "NA", "", "null", "NA"]) == "2 'NA' and 1 'null'"


def test_classes_that_look_alike_are_named_with_their_places() -> None:
    found = near_duplicates({"lab": ["Cat", "dog"], "field": ["cat ", "dog"]})
    assert found == ["'Cat' (lab), 'cat ' (field)"]


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad", "\ufeff"])
def test_letters_that_nobody_sees_make_no_other_class(unseen: str) -> None:
    assert near_duplicates({"lab": ["cat", f"c{unseen}at"], "field": ["dog"]})
