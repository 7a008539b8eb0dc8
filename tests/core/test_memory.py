"""How much memory there is, and what is refused for the lack of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdspp.core import memory
from cdspp.core.errors import DataError
from cdspp.core.memory import available_megabytes, require_memory


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of all control groups; the process is in no group yet."""
    (tmp_path / "machine").write_text(
        f"MemTotal: 9 kB\nMemAvailable: {600 * 2**10} kB\n"
    )
    monkeypatch.setattr(memory, "MACHINE", tmp_path / "machine")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "all")
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    return tmp_path / "all"


def bound(folder: Path, limit: str, used: str, version: int = 2) -> None:
    """Write what a control group says of its memory."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.max", "memory.current")
    if version == 1:
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
    for name, value in zip(names, (limit, used), strict=True):
        (folder / name).write_text(f"{value}\n")


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [("max", "5", 600.0), (str(2**30), str(2**29), 512.0), ("no number", "5", 600.0)],
)
def test_the_bound_of_a_control_group_counts(
    limit: str, used: str, expected: float, groups: Path
) -> None:
    (groups.parent / "own").write_text("0::/\n")
    bound(groups, limit, used)
    assert available_megabytes() == expected


def test_the_least_of_all_control_groups_above_a_process_counts(groups: Path) -> None:
    (groups.parent / "own").write_text("4:cpu:/\n0::/slurm/job_7/step_0\n")
    assert available_megabytes() == 600
    bound(groups / "slurm/job_7/step_0", "max", "5")
    bound(groups / "slurm/job_7", str(300 * 2**20), str(100 * 2**20))
    bound(groups, str(2**30), "0")
    assert available_megabytes() == 200
    (groups / "slurm/job_7/memory.stat").write_text(f"anon 5\ninactive_file {2**20}\n")
    assert available_megabytes() == 201


def test_control_groups_of_the_first_version_count(groups: Path) -> None:
    (groups.parent / "own").write_text("4:cpuset,memory:/slurm/job_7\n0::/\n")
    bound(groups / "memory/slurm/job_7", str(2**63 - 4096), "5", version=1)
    bound(groups / "memory/slurm", str(2**28), "0", version=1)
    assert available_megabytes() == 256


def test_what_needs_more_memory_than_is_free_is_refused_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_megabytes", lambda: 16.0)
    require_memory(2**21, "The thing", "Leave it.")
    with pytest.raises(DataError) as caught:
        require_memory(2**21 + 2**20, "The thing", "Leave it.")
    said = "The thing needs about 24 MB of memory, but only 16 MB is free. Leave it."
    assert str(caught.value) == said
    monkeypatch.setattr(memory, "available_megabytes", lambda: None)
    require_memory(2**60, "The thing", "Leave it.")
