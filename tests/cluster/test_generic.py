"""A small study by the generic profile, with a shell as the command that submits."""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.toy_study import Project

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        find_spec("snakemake_executor_plugin_cluster_generic") is None,
        reason="needs pip install snakemake-executor-plugin-cluster-generic",
    ),
]

GENERIC = (
    "--workflow-profile=workflow/profiles/generic",
    "--latency-wait=5",
    "--jobs=2",
)
STUDY = {"curves": [], "deviations": [], "source_states": {"states": ["none"]}}


def finished(
    repository: Path, folder: Path, *options: str
) -> tuple[dict[str, bytes], float]:
    """Return what is the same wherever a study runs, and its seconds."""
    project = Project(repository, folder)
    project.write_config(**STUDY)
    start = time.monotonic()
    running = project.start(*options)
    output, _ = running.communicate()
    seconds = time.monotonic() - start
    assert running.returncode == 0, output
    assert "Nothing to be done" in project.snakemake("-n")
    root = folder / "results"
    found = [
        path
        for pattern in ("*/scores/*", "*/fits/**/*.parquet", "*/tables/*.csv")
        for path in sorted(root.glob(pattern))
    ]
    assert found
    return {str(p.relative_to(root)): p.read_bytes() for p in found}, seconds


def test_results_are_those_of_a_local_run(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    scripts = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", scripts + os.pathsep + os.environ["PATH"])
    local, quick = finished(repository, tmp_path / "local", "--cores=2")
    submitted, slow = finished(repository, tmp_path / "submitted", *GENERIC)
    assert submitted == local
    with capsys.disabled():
        print(f"\nlocal {quick:.0f} s, here {slow:.0f} s: {slow / quick:.1f}")
