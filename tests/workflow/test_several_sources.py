"""A task with several sources beside one with a single source, from start to report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.toy_study import CONFIG, Project, write_texts
from support.warm_start import run_warm

pytestmark = pytest.mark.slow

TASK = "left+middle_right"
WORDS = CONFIG["benchmarks"][0] | {"tasks": [TASK, "left_right"]}


@pytest.fixture(scope="module")
def project(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose study of texts in three folders has run."""
    project = Project(repository, tmp_path_factory.mktemp("project"))
    write_texts(project.folder / "texts", domains=["middle"], seed=1)
    noise = {"name": "noise", "domain": "middle"}
    project.write_config(
        trials=2,
        benchmarks=[WORDS],
        methods=[{"id": "svm-t"}, {"id": "cdspp"}, {"id": "cdls-sup"}],
        source_states={"states": ["none"], "margin": 1},
        settings=[{"id": "noise-middle", "methods": ["cdspp"], "source": noise}],
        curves=[],
        deviations=[],
        paper=False,
    )
    project.snakemake("--cores", "1")
    return project


def test_every_state_of_one_source_runs_the_tasks_that_have_it(
    project: Project,
) -> None:
    fits = (project.folder / "results/toy/fits/words").glob("*/*/*/1-2.parquet")
    made = {path.parts[-4:-1] for path in fits}
    methods = ("cdspp", "cdls-sup")
    assert made == {
        *(("main", task, method) for task in WORDS["tasks"] for method in methods),
        *(("main", task, "svm-t") for task in WORDS["tasks"]),
        *(("none", task, method) for task in WORDS["tasks"] for method in methods),
        *(("without-left", TASK, method) for method in methods),
        *(("without-middle", TASK, method) for method in methods),
        ("noise-middle", TASK, "cdspp"),
    }


def test_without_one_of_two_sources_a_fit_is_that_of_the_other_alone(
    project: Project,
) -> None:
    fits = project.folder / "results/toy/fits/words"
    for method in ("cdspp", "cdls-sup"):
        left_out = fits / f"without-middle/{TASK}/{method}/1-2.parquet"
        alone = fits / f"main/left_right/{method}/1-2.parquet"
        ours, theirs = (pd.read_parquet(path) for path in (left_out, alone))
        np.testing.assert_array_equal(ours["predicted"], theirs["predicted"])


def test_each_source_that_is_left_out_has_a_gain(project: Project) -> None:
    found = pd.read_csv(project.folder / "results/toy/tables/several-sources_words.csv")
    pairs = zip(found["row"], found["source"], strict=True)
    methods = ("cdspp", "cdls-sup")
    assert {*pairs} == {(m, s) for m in methods for s in ("left", "middle")}
    difference = found["accuracy"] - found["accuracy_without"]
    np.testing.assert_allclose(found["gain"], difference)
    page = (project.folder / "results/toy/report/index.html").read_text()
    assert "which of several sources helps" in page


def test_a_table_says_which_method_votes(project: Project) -> None:
    table = (project.folder / "results/toy/tables/accuracy_words.md").read_text()
    [vote] = [line for line in table.splitlines() if "vote of one fit per" in line]
    assert "CDLS" in vote


def test_the_study_verifies_by_the_files_of_every_source(project: Project) -> None:
    code, said = run_warm(["cdspp", "verify", "toy.yaml"], project.folder)
    assert code == 0, said
    second = project.folder / "results/features/words/middle.tfidf-pca.npz"
    second.rename(second.with_suffix(".away"))
    code, said = run_warm(["cdspp", "verify", "results/toy"], project.folder)
    assert code == 1
    assert "middle.tfidf-pca.npz" in said
    second.with_suffix(".away").rename(second)


def test_splits_are_exported_with_the_domain_of_each_source(project: Project) -> None:
    code, said = run_warm(["cdspp", "export-splits", "toy.yaml"], project.folder)
    assert code == 0, said
    splits = pd.read_csv(project.folder / "exported/toy/words/splits.csv", dtype=str)
    sources = splits[(splits["task"] == TASK) & (splits["role"] == "source")]
    assert set(sources["domain"]) == {"left", "middle"}
