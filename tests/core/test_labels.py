"""Labels that mean none, and labels that look alike."""

from __future__ import annotations

import pytest

from cdspp.core.labels import near_duplicates


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad", "\ufeff"])
def test_letters_that_nobody_sees_make_no_other_class(unseen: str) -> None:
    assert near_duplicates({"lab": ["cat", f"c{unseen}at"], "field": ["dog"]})


def test_two_forms_of_one_letter_are_named_by_their_codes() -> None:
    assert near_duplicates({"one": ["owl"], "two": ["\uff4fwl"]})
    assert near_duplicates({"one": ["caf\xe9"], "two": ["cafe\u0301"]}) == [
        r"'caf\xe9' (one), 'cafe\u0301' (two)"
    ]
