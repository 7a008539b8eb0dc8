"""A small study by the generic profile with a shell for a scheduler, and by S3."""

from __future__ import annotations

import os
import shutil
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.finished import results
from support.toy_study import Project

pytestmark = pytest.mark.cluster

GENERIC = (
    "--workflow-profile=workflow/profiles/generic",
    "--latency-wait=5",
    "--jobs=2",
)
STUDY = {"curves": [], "deviations": [], "source_states": {"states": ["none"]}}


PORT = 5557
S3 = (
    "--default-storage-provider=s3",
    "--default-storage-prefix=s3://study/run",
    f"--storage-s3-endpoint-url=http://127.0.0.1:{PORT}",
    "--executor=empty-folders",
    "--jobs=2",
    "--quiet=rules",
)
SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
SECRETS += ("SNAKEMAKE_STORAGE_S3_ACCESS_KEY", "SNAKEMAKE_STORAGE_S3_SECRET_KEY")


def requires(*modules: str) -> pytest.MarkDecorator:
    lacking = [name for name in modules if find_spec(name) is None]
    return pytest.mark.skipif(bool(lacking), reason=f"not installed: {lacking}")


def project_of(repository: Path, folder: Path) -> Project:
    project = Project(repository, folder)
    plugins = repository / "tests/support/executor"
    shutil.copytree(plugins, folder / "src", dirs_exist_ok=True)
    project.write_config(**STUDY)
    return project


def timed(project: Project, *options: str) -> float:
    """Return the seconds of a run, after which nothing is left to do."""
    start = time.monotonic()
    project.run_cold(*options)
    seconds = time.monotonic() - start
    assert "Nothing to be done" in project.run_cold("-n", *options)
    return seconds


@pytest.fixture(scope="module")
def local(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, bytes], float]:
    project = project_of(repository, tmp_path_factory.mktemp("local"))
    seconds = timed(project, "--cores=2")
    return results(project.folder), seconds


@pytest.fixture
def project(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Project:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return project_of(repository, tmp_path / "project")


def say(capsys: pytest.CaptureFixture[str], local: float, seconds: float) -> None:
    with capsys.disabled():
        ratio = seconds / local
        print(f"\nlocal {local:.0f} s, here {seconds:.0f} s: {ratio:.1f}")


@requires("snakemake_executor_plugin_cluster_generic")
def test_a_shell_for_a_scheduler_gives_the_bytes_of_a_local_run(
    project: Project,
    local: tuple[dict[str, bytes], float],
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = timed(project, *GENERIC)
    assert results(project.folder) == local[0]
    say(capsys, local[1], seconds)


@requires("snakemake_storage_plugin_s3", "moto", "flask", "boto3")
def test_a_server_of_s3_and_empty_folders_give_the_bytes_of_a_local_run(
    project: Project,
    local: tuple[dict[str, bytes], float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import boto3
    from moto.server import ThreadedMotoServer

    for name in SECRETS:
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer("127.0.0.1", PORT)
    server.start()
    try:
        client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{PORT}")
        client.create_bucket(Bucket="study")
        seconds = timed(project, *S3)
        for name, content in local[0].items():
            stored = client.get_object(Bucket="study", Key=f"run/{name}")
            assert stored["Body"].read() == content, name
    finally:
        server.stop()
    say(capsys, local[1], seconds)
