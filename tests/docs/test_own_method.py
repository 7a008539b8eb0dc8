"""The guide to a method of one's own runs as it stands there, to the report."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from support.toy_study import CONFIG, Project
from support.warm_start import run_warm

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs/guide/own-method.md"
OWN = {key: CONFIG[key] for key in ("datasets", "views", "benchmarks")}


def blocks(language: str) -> list[str]:
    opening = rf"```{language} [\w.]+\n"
    return re.findall(rf"{opening}(.*?)```", PAGE.read_text(), re.S)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mine.py").write_text(blocks("python")[0])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.fixture(scope="module")
def study() -> dict[str, Any]:
    """Return the study of the guide, on data of few texts."""
    told: dict[str, Any] = yaml.safe_load(blocks("yaml")[0])
    return told | OWN | {"study": "toy", "trials": 2}


@pytest.fixture(scope="module")
def project(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, study: dict[str, Any]
) -> Project:
    """Return a project that has run the guide's study, then predictions from elsewhere.

    The report is of both.
    """
    project = Project(repository, tmp_path_factory.mktemp("project"))
    (project.folder / "mine.py").write_text(blocks("python")[0])
    write(project, study)
    project.snakemake("--cores", "2", "--", "results/toy/scores/words.parquet")
    said = command(project, "export-splits", "toy.yaml")
    assert "exported/toy/words: 4 trials" in said
    again = run_warm(["cdspp", "export-splits", "toy.yaml"], project.folder)
    assert again[0] == 2
    assert "exported/toy/words already exists" in again[1]
    with chdir(project.folder / "exported/toy/words"):
        program = blocks("python")[1].replace("alexnet-pca", "tfidf-pca")
        exec(compile(program, str(PAGE), "exec"), {})
    text = blocks("yaml")[1].replace("mine/digits", "toy/words")
    entry = yaml.safe_load(text.replace("digits", "words"))
    write(project, study | {"methods": study["methods"] + entry})
    jobs = project.planned().fits
    assert {name.split("/")[-2] for made in jobs for name in made} == {"theirs"}
    project.snakemake("--cores", "2")
    return project


def write(project: Project, study: dict[str, Any]) -> None:
    (project.folder / "toy.yaml").write_text(yaml.safe_dump(study))


def command(project: Project, *words: str) -> str:
    """Call the project's own command, and return what it said."""
    code, said = run_warm(["cdspp", *words], project.folder)
    assert code == 0, said
    return said


def test_a_class_and_two_classifiers_come_to_the_report(project: Project) -> None:
    results = project.folder / "results/toy"
    found = pd.read_csv(results / "tables/overview.csv")
    rows = {"SVM_t", "Prototypes", "logistic", "self-training", "CDSPP"}
    assert rows <= set(found["display_name"])
    states = pd.read_csv(results / "tables/source-help.csv")
    assert set(states["display_name"]) == {"Prototypes", "CDSPP"}
    page = (results / "report/index.html").read_text()
    assert "<b>Prototypes.</b> Mine et al. 2026" in page


def test_predictions_made_elsewhere_join_a_study_that_has_run(
    project: Project,
) -> None:
    results = project.folder / "results/toy"
    found = pd.read_csv(results / "tables/overview.csv").set_index("display_name")
    assert found.loc["Theirs", ["trials", "kind"]].tolist() == [2, "semi-supervised"]
    assert found.loc["Theirs", "mean"] > 0.5
    timings = (results / "timings/times.md").read_text()
    assert "| Theirs | – |" in timings
    page = (results / "report/index.html").read_text()
    unmeasured = r"Theirs</th><td[^>]*>4</td><td[^>]*>0</td>(<td>–</td>){3}"
    assert re.search(unmeasured, page)
    command(project, "verify", "results/toy")


def test_the_gallery_makes_a_table_of_a_study_that_has_run(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", ["example", "results/toy"])
    runpy.run_path(str(PAGE.parents[1] / "gallery/60_paper_table.py"))
    assert r"Prototypes & " in capsys.readouterr().out
    assert (project.folder / "paper_table.png").stat().st_size > 5000


def test_an_edit_of_the_class_reruns_its_fits_and_a_comment_nothing(
    project: Project,
) -> None:
    assert "Nothing to be done" in project.snakemake("-n", "--cores", "2")
    module = project.folder / "mine.py"
    module.write_text(module.read_text() + "\n# A comment changes no result.\n")
    assert not project.planned().rules["fit"]
    module.write_text(module.read_text().replace("0.1", "0.2"))
    plan = project.planned()
    assert plan.rules["fit"]
    assert not plan.rules["split"]


def test_compare_takes_the_class(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(blocks("python")[-1], str(PAGE), "exec"), {})
    told = capsys.readouterr().out
    assert "Prototypes" in told
    assert "CDSPP" in told
