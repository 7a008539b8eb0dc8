"""Many quick cases in one test, which costs less than a test of each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def check_all(cases: Collection[Case], check: Callable[[Case], None]) -> None:
    """Check every case; an error names all that fail, and shows the first."""
    failures: dict[Case, BaseException] = {}
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:
            failures[case] = error
    if failures:
        text = f"{len(failures)} of {len(cases)} cases: {'; '.join(map(str, failures))}"
        raise AssertionError(text) from next(iter(failures.values()))
