"""The workflow as a module of another: the study is the one that the caller gives."""

from __future__ import annotations

from pathlib import Path

import yaml
from support.toy_study import CONFIG, Plan, planned, write_texts

STUDY = CONFIG | {"curves": [], "deviations": []}


def plan_of(folder: Path, caller: str, *options: str) -> Plan:
    """Return the jobs that a caller's workflow would do."""
    write_texts(folder / "texts")
    (folder / "Snakefile").write_text(caller)
    return planned(folder, "--cores", "1", *options)


def test_a_module_plans_the_study_of_its_caller(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(yaml.safe_dump(STUDY))
    caller = f"""
configfile: "config/config.yaml"

module cdspp:
    snakefile: "{repository}/Snakefile"
    config: config

use rule * from cdspp
"""
    plan = plan_of(tmp_path, caller, "--config", "trials=2")
    fits = {fit for made in plan.fits for fit in made}
    assert {fit.split("/")[2] for fit in fits} == {"svm-t", "cdspp", "target-only"}
    assert {fit.split("/")[3] for fit in fits} == {"1-2"}
    assert plan.rules["report_page"] == plan.rules["all"] == 1
    assert "embedded" not in plan.output


def test_a_module_has_a_part_of_its_callers_configuration_and_a_prefix(
    repository: Path, tmp_path: Path
) -> None:
    config = {"hda": STUDY | {"preset": "quick"}, "samples": 3}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    caller = f"""
configfile: "config.yaml"

given = str(config)

module cdspp:
    snakefile: "{repository}/Snakefile"
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
