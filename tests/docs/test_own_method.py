"""The guide to a method of one's own runs as it stands there, to the report."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from support.toy_study import CONFIG, Project

PAGE = Path(__file__).parents[2] / "docs/guide/own-method.md"
OWN = {key: CONFIG[key] for key in ("datasets", "views", "benchmarks")}


def blocks(language: str) -> list[str]:
    opening = rf"```{{code-block}} {language}\n:caption: [^\n]*\n\n"
    return re.findall(rf"{opening}(.*?)```", PAGE.read_text(), re.S)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mine.py").write_text(blocks("python")[0])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("mine", None)


def test_a_class_and_two_classifiers_come_to_the_report(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(repository, tmp_path)
    (tmp_path / "mine.py").write_text(blocks("python")[0])
    study = yaml.safe_load(blocks("yaml")[0]) | OWN | {"study": "toy", "trials": 2}
    (tmp_path / "toy.yaml").write_text(yaml.safe_dump(study))
    project.snakemake("--cores", "2")
    found = pd.read_csv(tmp_path / "results/toy/tables/overview.csv")
    rows = {"SVM_t", "Prototypes", "logistic", "self-training", "CDSPP"}
    assert rows <= set(found["display_name"])
    states = pd.read_csv(tmp_path / "results/toy/tables/source-help.csv")
    assert set(states["display_name"]) == {"Prototypes", "CDSPP"}
    page = (tmp_path / "results/toy/report/index.html").read_text()
    assert "<b>Prototypes.</b> Mine et al. 2026" in page
    check_foreign_row(project, study, monkeypatch)
    assert "Nothing to be done" in project.snakemake("-n", "--cores", "2")
    module = tmp_path / "mine.py"
    module.write_text(module.read_text() + "\n# A comment changes no result.\n")
    assert not project.planned().rules["fit"]
    module.write_text(module.read_text().replace("0.1", "0.2"))
    plan = project.planned()
    assert plan.rules["fit"]
    assert not plan.rules["split"]


def command(*arguments: str) -> str:
    """Call the project's own command, and return what it printed."""
    return subprocess.run(
        [sys.executable, "-m", "cdspp", *arguments],
        env={**os.environ, "PYTHONPATH": "src"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def check_foreign_row(
    project: Project, study: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that predictions made elsewhere join a study that has run."""
    monkeypatch.chdir(project.folder)
    assert "exported/toy/words: 4 trials" in command("export-splits", "toy.yaml")
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir("exported/toy/words")
        exec(compile(blocks("python")[1], str(PAGE), "exec"), {})
    text = blocks("yaml")[1].replace("mine/digits", "toy/words")
    study["methods"] += yaml.safe_load(text.replace("digits", "words"))
    Path("toy.yaml").write_text(yaml.safe_dump(study))
    jobs = project.planned().fits
    assert {name.split("/")[-2] for made in jobs for name in made} == {"theirs"}
    project.snakemake("--cores", "2")
    found = pd.read_csv("results/toy/tables/overview.csv").set_index("display_name")
    assert found.loc["Theirs", ["trials", "kind"]].tolist() == [2, "semi-supervised"]
    assert found.loc["Theirs", "mean"] > 0.5
    timings = Path("results/toy/timings/times.md").read_text()
    assert "| Theirs | – |" in timings
    page = Path("results/toy/report/index.html").read_text()
    unmeasured = r"Theirs</th><td[^>]*>4</td><td[^>]*>0</td>(<td>–</td>){3}"
    assert re.search(unmeasured, page)
    command("verify", "results/toy")


def test_compare_takes_the_class(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(blocks("python")[-1], str(PAGE), "exec"), {})
    told = capsys.readouterr().out
    assert "Prototypes" in told
    assert "CDSPP" in told
