"""Labels that mean none, and labels that look alike."""

from __future__ import annotations

import pytest

from cdspp.core.labels import near_duplicates


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad", "\ufeff"])
def test_letters_that_nobody_sees_make_no_other_class(unseen: str) -> None:
    assert near_duplicates({"lab": ["cat", f"c{unseen}at"], "field": ["dog"]})
