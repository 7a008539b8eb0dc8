"""A small study on a SLURM cluster of one node, with the profile that is shipped."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.finished import results
from support.toy_study import Project

pytestmark = pytest.mark.cluster

SCRIPT = Path(__file__).with_name("slurm.sh")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "munged")
# Of this cluster: so small a study need not be waited for.
SLURM = (
    "--workflow-profile=workflow/profiles/slurm",
    "--slurm-init-seconds-before-status-checks=2",
    "--latency-wait=5",
)
WAIT = 120.0
# What is submitted; all else runs where Snakemake does.
SUBMITTED = {"features", "splits", "fits", "subspace", "score"}
STUDY = {"curves": [], "deviations": [], "source_states": {"states": ["none"]}}


@dataclass(frozen=True)
class Job:
    """A job as `squeue` tells it: what it asked for, and what it is made of."""

    number: str
    state: str
    processors: int
    memory: str
    limit: str
    content: str

    @property
    def kind(self) -> str:
        """Its rule or group."""
        return self.content.removeprefix("rule_").partition("_")[0]


def jobs(*states: str) -> list[Job]:
    command = ["squeue", "--noheader", f"--states={','.join(states) or 'all'}"]
    told = subprocess.run(
        [*command, "--format=%i %T %C %m %l %k"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    rows = (line.split() for line in told.stdout.splitlines())
    return [Job(a, b, int(c), d, e, f) for a, b, c, d, e, f in rows]


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.getuid() != 0:
        where = "make test-cluster installs it as root on Debian or Ubuntu"
        pytest.skip(f"no SLURM to start here ({', '.join(missing)}): {where}")
    folder = tmp_path_factory.mktemp("slurm")
    subprocess.run([SCRIPT, "start", folder], check=True, timeout=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        yield
        subprocess.run(["scancel", "--me"], check=True, timeout=30)
    subprocess.run([SCRIPT, "stop", folder], check=True, timeout=60)


def small(repository: Path, folder: Path) -> Project:
    project = Project(repository, folder)
    project.write_config(**STUDY)
    return project


@dataclass(frozen=True)
class Finished:
    """A study that ran to its end: where, how long it took, and its files."""

    project: Project
    seconds: float

    @property
    def files(self) -> Mapping[str, bytes]:
        """What is the same wherever it runs."""
        return results(self.project.folder)


def timed(project: Project, *arguments: str) -> Finished:
    start = time.monotonic()
    project.snakemake(*arguments)
    return Finished(project, time.monotonic() - start)


@pytest.fixture(scope="module")
def local(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    project = small(repository, tmp_path_factory.mktemp("local"))
    return timed(project, "--cores=2", "--scheduler=greedy")


@pytest.fixture(scope="module")
def remote(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return timed(small(repository, tmp_path_factory.mktemp("remote")), *SLURM)


@pytest.fixture(scope="module")
def submitted(remote: Finished) -> list[Job]:
    return jobs()


def test_results_are_those_of_a_local_run(
    local: Finished,
    remote: Finished,
    submitted: list[Job],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert remote.files == local.files
    with capsys.disabled():
        told = " ".join(f"{job.number}:{job.kind}" for job in submitted)
        print(f"\nlocal {local.seconds:.0f} s, SLURM {remote.seconds:.0f} s: {told}")


def test_jobs_that_only_arrange_numbers_stay_on_the_login_node(
    submitted: list[Job],
) -> None:
    assert {job.kind for job in submitted} == SUBMITTED
    assert {job.state for job in submitted} == {"COMPLETED"}


def test_a_group_asks_for_no_more_at_a_time_than_its_largest_member(
    submitted: list[Job],
) -> None:
    grouped = [job for job in submitted if job.kind in ("splits", "fits")]
    assert len(grouped) == 2
    for job in grouped:
        assert (job.processors, job.memory) == (1, "1000M")


def waited_for(kind: str, running: subprocess.Popen[str]) -> Job:
    """Return the job of a kind as soon as it runs."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        for job in jobs("running"):
            if job.kind == kind:
                return job
        assert running.poll() is None, running.communicate()[0]
        time.sleep(0.2)
    raise AssertionError(f"no job of {kind} ran within {WAIT} s: {jobs()}")


def test_killed_and_cancelled_it_goes_on_to_the_same_bytes(
    repository: Path, tmp_path: Path, local: Finished
) -> None:
    project = small(repository, tmp_path)
    killed = project.start(*SLURM)
    orphan = waited_for("splits", killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert orphan.number in {job.number for job in jobs("running")}
    subprocess.run(["scancel", "--me"], check=True, timeout=30)

    stopped = project.start(*SLURM, "--retries=0")
    cancelled = waited_for("fits", stopped)
    subprocess.run(["scancel", cancelled.number], check=True, timeout=30)
    told, _ = stopped.communicate(timeout=WAIT)
    assert stopped.returncode == 1
    assert "was killed. Its lock on this folder is removed" in told
    assert "scancel" in told
    assert "stopped before the end (logs/toy/fits/" in told
    assert f"{cancelled.number}.log" in told

    project.snakemake(*SLURM)
    assert results(project.folder) == local.files
