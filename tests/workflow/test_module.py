"""The workflow as a module of another: the study is the one that the caller gives."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.toy_study import CONFIG, Plan, planned, write_texts

from cdspp.cli.study import read_study

STUDY = CONFIG | {"curves": [], "deviations": []}


def plan_of(folder: Path, caller: str, *options: str) -> Plan:
    """Return the jobs that a caller's workflow would do."""
    write_texts(folder / "texts")
    (folder / "Snakefile").write_text(caller)
    return planned(folder, "--cores", "1", *options)


def test_a_module_has_a_part_of_its_callers_configuration_and_a_prefix(
    repository: Path, tmp_path: Path
) -> None:
    config = {"hda": STUDY | {"preset": "quick"}, "samples": 3}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    caller = f"""
configfile: "config.yaml"

given = str(config)

module cdspp:
    snakefile: "{repository}/workflow/Snakefile"
    config: config["hda"]
    prefix: "hda"

use rule * from cdspp as hda_*

assert str(config) == given

rule report:
    input: "hda/results/toy/report/index.html"
    default_target: True
"""
    plan = plan_of(tmp_path, caller)
    assert plan.rules["hda_report_page"] == plan.rules["report"] == 1
    assert "embedded" not in plan.output
    assert plan.files
    assert all(file.startswith("hda/") for made in plan.files for file in made)


SMALL = STUDY | {"trials": 1, "source_states": {"states": []}, "preset": "quick"}
# Snakemake 9.27 cannot ask for the age of a script in a local repository. What makes a
# file has a digest of its code anyway.
TRIGGERS = ("--rerun-triggers", "mtime", "params", "input", "software-env")
SCORES = "results/toy/scores/words.parquet"


def ran(folder: Path, *words: str) -> str:
    """Run Snakemake in a folder, and return what it printed."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *words, *TRIGGERS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def plain(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the scores of the study by itself."""
    folder = tmp_path_factory.mktemp("plain")
    write_texts(folder / "texts")
    (folder / "config.yaml").write_text(yaml.safe_dump(SMALL))
    ran(folder, "--snakefile", str(repository / "workflow/Snakefile"), SCORES)
    return (folder / SCORES).read_bytes()


def repository_at_a_tag(repository: Path, place: Path) -> str:
    """Commit the rules without the library; return how a module names them."""
    for name in ("workflow", "envs"):
        shutil.copytree(repository / name, place / name)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init"], ["add", "."], ["commit", "-m", "rules"], ["tag", "v1"]):
        subprocess.run([*git, *words], cwd=place, check=True, capture_output=True)
    return f'gitfile("{place}", path="workflow/Snakefile", tag="v1")'


@pytest.mark.slow
@pytest.mark.parametrize("tagged", [False, True])
def test_a_module_has_the_scores_of_the_study_by_itself(
    repository: Path, plain: bytes, tmp_path: Path, tagged: bool
) -> None:
    where = f'"{repository}/workflow/Snakefile"'
    if tagged:
        where = repository_at_a_tag(repository, tmp_path / "repository")
    write_texts(tmp_path / "texts")
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"hda": SMALL}))
    (tmp_path / "Snakefile").write_text(f"""
configfile: "config.yaml"

module cdspp:
    snakefile: {where}
    config: config["hda"]
    prefix: "hda"

use rule * from cdspp as hda_*
""")
    ran(tmp_path, f"hda/{SCORES}")
    assert (tmp_path / "hda" / SCORES).read_bytes() == plain
    assert "Nothing to be done" in ran(tmp_path, "--dry-run", f"hda/{SCORES}")


def test_the_configuration_of_a_module_is_a_study(repository: Path) -> None:
    assert read_study([repository / "config/config.yaml"]).name == "mine"


@pytest.mark.slow
def test_a_wrong_key_of_a_module_is_an_error_of_the_study(
    repository: Path, tmp_path: Path
) -> None:
    caller = f"""
module cdspp:
    snakefile: "{repository}/workflow/Snakefile"
    config: {{"study": "toy", "preset": "quick", "trails": 2}}

use rule * from cdspp
"""
    (tmp_path / "Snakefile").write_text(caller)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert (
        "config: of the module statement: the configuration: 2 problems:" in done.stdout
    )
    assert "unknown key 'trails'" in done.stdout
