"""How much memory there is, and what is refused for the lack of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdspp.core import memory
from cdspp.core.errors import DataError
from cdspp.core.memory import available_megabytes, require_memory


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [("max", "5", None), (str(2**30), str(2**29), 512.0), ("no number", "5", None)],
)
def test_the_bound_of_a_control_group_counts(
    limit: str,
    used: str,
    expected: float | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text(used + "\n")
    monkeypatch.setattr(memory, "_free_memory", lambda: 600.0)
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    assert available_megabytes() == (expected or 600.0)


def test_the_memory_of_this_machine_is_known() -> None:
    found = available_megabytes()
    assert found is not None
    assert 10 < found < 1e8


def test_what_needs_more_memory_than_is_free_is_refused_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_megabytes", lambda: 16.0)
    require_memory(2**21, "The thing", "Leave it.")
    with pytest.raises(DataError) as caught:
        require_memory(2**21 + 2**20, "The thing", "Leave it.")
    said = "The thing needs about 24 MB of memory, and 16 MB are free. Leave it."
    assert str(caught.value) == said
    monkeypatch.setattr(memory, "available_megabytes", lambda: None)
    require_memory(2**60, "The thing", "Leave it.")
