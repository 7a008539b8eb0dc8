"""Parts of Snakemake that it does not document: each is asked in runs of Snakemake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.warm_start import run_warm

from cdspp.core.snakemake_internals import LOCKS, has_record

PARTS = """
import json
from pathlib import Path
from cdspp.core import snakemake_internals as parts

def tell(name, **facts):
    Path("facts", f"{name}.json").write_text(json.dumps(facts, default=str))
"""

SNAKEFILE = """
module other:
    snakefile: "other.smk"
    config: {"key": 1}

use rule * from other

files, values = parts.command_line_config(workflow)
tell(
    "main" if parts.is_main_process(workflow) else "job",
    is_module=parts.is_module(workflow),
    files=[Path(file).name for file in files],
    values=dict(values),
    from_storage=parts.has_storage(workflow),
    local_rules=parts.has_local_rules(workflow),
    record_files=parts.records_are_files(workflow),
)
parts.add_sources(workflow, [Path("table.csv")])


def forced(wildcards):
    parts.remake_if_reached(workflow, ["remade.txt", "not-reached.txt"])
    return []


rule first:
    output: "not-reached.txt"
    shell: "echo new > {output}"

rule remade:
    input: forced
    output: "{name}.txt"
    shell: "echo new > {output}"

rule last:
    input: "remade.txt"
    output: PLACE + "last.csv"
    run: Path(output[0]).write_text("")

onstart:
    tell(
        "start",
        jobs=[job._asdict() for job in parts.jobs_to_run(workflow)],
        local=parts.runs_locally(workflow),
        sources=[Path(str(file)).name for file in workflow.dag.get_sources()],
        locks=[str(path) for path in Path(parts.FOLDER).glob(parts.LOCKS)],
    )

parts.set_default_target(workflow, "last")
"""
LONG = "/".join(("folder" * 20,) * 4) + "/"  # longer than one file name


@pytest.fixture(scope="module")
def run(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run, with what its processes were told."""
    folder = tmp_path_factory.mktemp("internals")
    (folder / "src").symlink_to(repository / "src")
    (folder / "facts").mkdir()
    (folder / "Snakefile").write_text(f'{PARTS}\nPLACE = "{LONG}"\n{SNAKEFILE}')
    (folder / "other.smk").write_text(
        f'{PARTS}\ntell("module", is_module=parts.is_module(workflow))\n'
    )
    for name in ("remade.txt", "not-reached.txt"):
        (folder / name).write_text("old\n")
    (folder / "table.csv").touch()
    (folder / "mine.yaml").write_text("a: 1\n")
    words = ["snakemake", "--cores", "1", "--configfile", "mine.yaml"]
    code, output = run_warm([*words, "--config", "seed=7"], folder)
    assert code == 0, output
    return folder


@pytest.fixture
def told(run: Path) -> Callable[[str], dict[str, Any]]:
    return lambda name: json.loads((run / "facts" / f"{name}.json").read_text())


Told = Callable[[str], dict[str, Any]]


def test_a_job_is_not_the_main_process(run: Path) -> None:
    named = {path.name for path in run.glob("facts/*.json")}
    assert named >= {"main.json", "job.json"}


def test_a_module_statement_with_a_configuration_is_seen(told: Told) -> None:
    assert told("module")["is_module"]
    assert not told("main")["is_module"]


def test_the_configuration_of_the_command_line_is_read(told: Told) -> None:
    assert told("main")["files"] == ["mine.yaml"]
    assert told("main")["values"] == {"seed": 7}


def test_jobs_on_this_machine_are_local(told: Told) -> None:
    assert told("start")["local"] is True


def test_a_shared_disk_is_no_storage(told: Told) -> None:
    assert told("main")["from_storage"] is False


def test_rules_of_a_folder_are_local(told: Told) -> None:
    assert told("main")["local_rules"] is True


def test_added_files_go_to_the_jobs(told: Told) -> None:
    assert "table.csv" in told("start")["sources"]


def test_the_default_target_is_the_given_rule(run: Path) -> None:
    assert (run / LONG / "last.csv").is_file()


def test_only_files_that_a_run_reaches_are_remade(run: Path) -> None:
    assert (run / "remade.txt").read_text() == "new\n"
    assert (run / "not-reached.txt").read_text() == "old\n"


def test_the_jobs_to_run_are_known_at_the_start(told: Told) -> None:
    jobs = {job["rule"]: job for job in told("start")["jobs"]}
    assert jobs.keys() == {"remade", "last"}
    assert jobs["remade"]["output"] == ["remade.txt"]
    assert "remade" in str(jobs["remade"]["wildcards"])
    assert jobs["remade"]["number"] != jobs["last"]["number"]


def test_records_of_outputs_are_found_by_name(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run)
    assert has_record("remade.txt")
    assert has_record(f"{LONG}last.csv")
    assert not has_record("not-reached.txt")


def test_records_in_a_database_are_no_files(run: Path, told: Told) -> None:
    assert told("main")["record_files"] is True
    text = f'{PARTS}\ntell("other", record_files=parts.records_are_files(workflow))'
    (run / "other.smk").write_text(text)
    words = ["snakemake", "-n", "-s", "other.smk", "--persistence-backend", "db"]
    code, output = run_warm(words, run)
    assert code == 0, output
    assert told("other")["record_files"] is False


def test_a_run_holds_its_locks_until_its_end(run: Path, told: Told) -> None:
    assert len(told("start")["locks"]) == 2
    assert not list((run / ".snakemake").glob(LOCKS))
