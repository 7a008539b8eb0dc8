"""The whole workflow on a tiny study, in a copy of the project."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.toy_study import CONFIG, Project

from cdspp.analysis.verify import verify
from cdspp.stages.formats import FIT_COLUMNS, read_features, read_rows
from cdspp.study.fit_jobs import START_SECONDS

SCORES = "results/toy/scores/words.parquet"
EVENTS = "first-run.jsonl"
WITHOUT_TORCH = """
from importlib import util

found = util.find_spec
util.find_spec = lambda name, *rest: None if name == "torch" else found(name, *rest)
"""
# What follows from any change of a fit.
FOLLOWERS = {
    "score",
    "tables_and_figures",
    "tables_and_figures_words",
    "report_page",
    "all",
}


@pytest.fixture(scope="module")
def finished(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose toy study has run to its end."""
    project = Project(repository, tmp_path_factory.mktemp("project"))
    events = ("--logger", "cdspp", "--logger-cdspp-events", EVENTS)
    project.snakemake("--cores", "2", "--show-failed-logs", *events)
    return project


@pytest.fixture
def project(finished: Project) -> Iterator[Project]:
    """Return the finished project; its study file is restored afterwards."""
    yield finished
    finished.write_config()


@pytest.mark.slow
def test_a_run_stops_before_its_first_job_where_a_package_lacks(
    finished: Project, tmp_path: Path
) -> None:
    project = finished.copied(tmp_path / "project")
    network = {"id": "stn", "options": {"max_iter": 5}}
    project.write_config(methods=[*CONFIG["methods"], network])
    (project.folder / "src" / "sitecustomize.py").write_text(WITHOUT_TORCH)
    with project.start("--cores", "1") as run:
        said = run.communicate()[0]
    assert run.returncode == 1
    wanted = "stn needs torch, which is not installed: pip install 'cdspp[networks]'."
    assert wanted in said
    assert "Stopped after 0 of " in said
    assert not (project.folder / "results/toy/fits/words/main/left_right/stn").exists()


@pytest.mark.slow
def test_jobs_run_in_the_image_that_a_study_names(
    finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = finished.copied(tmp_path / "project")
    project.write_config(container="docker://an/image")
    program = tmp_path / "apptainer"
    program.write_text("#!/bin/sh\necho apptainer version 1.3.0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    words = ("--cores", "1", "-n", "-p", "--forceall")
    for more, image in (((), 0), (("--software-deployment-method", "apptainer"), 1)):
        with project.start(*words, *more) as run:
            said = run.communicate()[0]
        assert run.returncode == 0, said
        assert said.count("image docker://an/image will be pulled") == image


def test_a_run_tells_how_long_each_of_its_jobs_is_expected_to_take(
    project: Project,
) -> None:
    lines = (project.folder / EVENTS).read_text().splitlines()
    events = {
        kind: [e for e in map(json.loads, lines) if e.get("event") == kind]
        for kind in ("forecast", "job_info")
    }
    [told] = events["forecast"]
    assert told["local"] is True
    assert {str(e["jobid"]) for e in events["job_info"]} == told["jobs"].keys()
    assert min(told["jobs"].values()) >= START_SECONDS


def test_a_second_run_has_nothing_to_do_even_after_a_new_comment(
    project: Project,
) -> None:
    module = project.folder / "src/cdspp/methods/svm_t.py"
    text, profile = module.read_text(), "workflow/profiles/local"
    module.write_text(text + "\n# A comment changes no result.\n")
    try:
        output = project.snakemake("--workflow-profile", profile)
    finally:
        module.write_text(text)
    assert "Nothing to be done" in output
    assert f"workflow specific profile {profile}" in output


def test_what_a_run_leaves_is_what_was_computed(project: Project) -> None:
    faulty, told, _ = verify(project.folder / "results" / "toy")
    assert faulty == []
    assert "Not checked" not in told
    assert f"Checked {len(_fit_files(project))} fits" in told


def test_no_input_of_a_fit_holds_the_label_of_a_test_sample(project: Project) -> None:
    made_from = project.fit_inputs("toy")
    assert len(made_from) == len(_fit_files(project))
    for output, inputs in made_from.items():
        fit = read_rows(project.folder / output, FIT_COLUMNS)
        tested = set(zip(fit["trial"], fit["id"], strict=True))
        source, target = output.parts[-3].split("_")
        assert len(inputs) == (3 if source == target else 4)  # their features are one
        for name in inputs:
            known = _labelled(project.folder / name)
            assert not known & tested, f"{name} labels test samples of {output}"


def _labelled(path: Path) -> set[tuple[int, str]]:
    """Return trial and id of every sample whose label per file holds."""
    if path.suffix == ".npz":
        held = {"X", "ids", "provenance", "columns"}
        assert set(vars(read_features(path))) == held
        return set()
    columns = read_rows(path, {"trial": "int32", "id": "string", "label": "string"})
    rows = zip(columns["trial"], columns["id"], columns["label"], strict=True)
    return {(trial, key) for trial, key, label in rows if label is not None}


def _fit_files(project: Project) -> list[Path]:
    return sorted((project.folder / "results/toy/fits").rglob("*.parquet"))


# The stage of the report's picture that a rule belongs to, where names differ.
STAGE_OF = {
    "prepare_dataset": "data",
    "fetch": "data",
    "codebook": "features",
    "split": "splits",
    "subspace": "fit",
    "report_page": "report",
    # Of a kind of rules, by what opens their names.
    "fit": "fit",
    "tables": "tables",
    "figures": "tables",  # the picture shows both, one job makes them
}


def stage_of(rule: str) -> str:
    return STAGE_OF.get(rule) or STAGE_OF.get(rule.partition("_")[0], rule)


def test_the_picture_of_the_job_graph_is_the_job_graph(project: Project) -> None:
    graph = project.snakemake("--rulegraph")
    rules = dict(re.findall(r'(\d+)\[label = "(\w+)', graph))
    stages = {key: stage_of(name) for key, name in rules.items()}
    edges = {(stages[a], stages[b]) for a, b in re.findall(r"(\d+) -> (\d+)", graph)}
    edges = {(a, b) for a, b in edges if a != b and b not in {"all", "report"}}
    page = (project.folder / "results/toy/report/index.html").read_text()
    found = re.findall(r"<g><title>(\w+) to (\w+): ", page)
    drawn = {(stage_of(a), stage_of(b)) for a, b in found}
    assert edges == {(a, b) for a, b in drawn if a != b and b != "report"}
    assert {a for a, b in edges if b == "fit"} == {"features", "splits"}


[WORDS] = CONFIG["benchmarks"]
SVM, _, TARGET_ONLY = CONFIG["methods"]
FEW_LABELS = {"id": "few-labels", "labels": {"target": 1}, "methods": ["cdspp"]}
# What is changed, the fits that each job of fits is there for (others of it are kept),
# and the jobs beside the followers.
CHANGES: dict[str, tuple[dict[str, Any], str, dict[str, int]]] = {
    # Two tasks in two blocks, in all states; two label counts; one of other options.
    "an option": (
        {"methods": [SVM, {"id": "cdspp", "options": {"alpha": 1.0}}, TARGET_ONLY]},
        ".*/cdspp/.*",
        {"fit": 4 + 2 + 1, "subspace": 1},
    ),
    "more trials": (
        {"trials": 6},
        ".*/5-6",
        {"fit": 2, "split": 3},
    ),
    "a further method, and a setting of other label counts": (
        {
            "methods": [*CONFIG["methods"], {"id": "cdspp-sup"}],
            "settings": [*CONFIG["settings"], FEW_LABELS],
        },
        ".*/cdspp-sup/.*|few-labels/.*",
        {"fit": 4 + 4, "split": 2},
    ),
}


@pytest.mark.parametrize(("change", "fits", "jobs"), CHANGES.values(), ids=CHANGES)
def test_a_change_reruns_only_what_depends_on_it(
    project: Project, change: dict[str, Any], fits: str, jobs: dict[str, int]
) -> None:
    project.write_config(**change)
    plan = project.planned()
    assert all(any(re.fullmatch(fits, fit) for fit in made) for made in plan.fits)
    assert set(plan.rules) == FOLLOWERS | set(jobs)
    assert {rule: plan.rules[rule] for rule in jobs} == jobs


def test_another_style_draws_every_figure_anew_and_nothing_else(
    project: Project,
) -> None:
    root, style = project.folder / "results/toy", {"figures": {"style": "one-column"}}
    kept = {path: path.stat().st_ino for path in root.rglob("*.*")}
    project.write_config(**style)
    plan = project.planned()
    items = {"tables_and_figures", "tables_and_figures_words"}
    assert set(plan.rules) == items | {"report_page", "all"}
    messages = [job["rule_msg"] for job in plan.jobs if job["rule_name"] in items]
    drawn = {path.stem for path in (root / "figures").iterdir()}
    told = {name for text in messages for name in text.partition(": ")[2].split(", ")}
    assert told == drawn
    project.snakemake("--cores", "1")
    others = {path for path in kept if path.stat().st_ino != kept[path]}
    records = {root / "items.json", root / "items/words.json"}
    page = {root / "report/index.html", root / "report/digests.json"}
    assert others == {*(root / "figures").iterdir(), *records, *page}
    project.write_config()
    project.snakemake("--cores", "1")


def test_an_edited_method_reruns_only_its_fits(project: Project) -> None:
    module = project.folder / "src/cdspp/methods/svm_t.py"
    text = module.read_text()
    try:
        module.write_text(text.replace("codes, self.C)", "codes, 2 * self.C)"))
        plan = project.planned()
    finally:
        module.write_text(text)
    assert plan.rules["fit"] == 4
    assert all(any("/svm-t/" in fit for fit in made) for made in plan.fits)


def test_all_faults_of_a_configuration_are_named_at_once_with_the_nearest_names(
    project: Project,
) -> None:
    config = {
        "methods": [{"id": "cdsp"}, {"id": "svm-t", "options": {"strategi": "ovo"}}],
        **{"settings": [], "curves": [], "deviations": []},
        "source_states": {"states": []},
        "benchmarks": [{**WORDS, "labels": {"source": 4, "target": 10}}],
    }
    project.write_config(**config)
    output = project.snakemake("-n", ok=False)
    assert "the configuration: 3 problems:" in output
    assert "'cdsp': did you mean 'cdspp'" in output
    assert "'strategi': did you mean 'strategy'" in output
    assert "10 labelled samples per class leave no test sample" in output


def test_the_profile_of_a_cluster_is_read(project: Project) -> None:
    profile = "workflow/profiles/slurm"
    options = ("-n", "--forceall", "--workflow-profile", profile)
    output = project.snakemake(*options, "--", SCORES)
    assert f"workflow specific profile {profile}" in output
    assert "fit" in output


def test_scores_do_not_depend_on_cores_or_trials_per_job(project: Project) -> None:
    before = (project.folder / SCORES).read_bytes()
    project.write_config(study="toy-again", block_size=3)
    again = "results/toy-again/scores/words.parquet"
    project.snakemake("--cores", "1", "--", again)
    assert (project.folder / again).read_bytes() == before


def test_with_partial_the_cells_that_exist_are_scored(project: Project) -> None:
    score = project.folder / SCORES
    kept = score.read_bytes()
    fit = _fit_files(project)[-1]
    hidden = fit.rename(fit.with_suffix(".hidden"))
    try:
        project.snakemake("--cores", "1", "--config", "partial=true", "--", SCORES)
        trials = set(read_rows(score, {"trial": "int32", "method": "string"})["trial"])
        assert not fit.exists()
        assert len(score.read_bytes()) != 0
        assert trials
        assert score.read_bytes() != kept
    finally:
        hidden.rename(fit)
        score.write_bytes(kept)


def test_a_fit_in_the_place_of_another_is_named_and_made_again(
    project: Project,
) -> None:
    fit, other = (path for path in _fit_files(project)[:2])
    kept, score = fit.read_bytes(), (project.folder / SCORES).read_bytes()
    fit.write_bytes(other.read_bytes())
    output = project.snakemake("--cores", "1", "--", SCORES)
    said = " ".join(output.split())  # sentences are folded
    assert re.search(r": it differs from the file .*: \d+ fits?, ", said)
    assert fit.read_bytes() == kept
    assert (project.folder / SCORES).read_bytes() == score


def test_the_report_of_snakemake_can_be_made(project: Project) -> None:
    project.snakemake("--report", "report.zip")
    with zipfile.ZipFile(project.folder / "report.zip") as report:
        texts = [
            report.read(name).decode("utf-8", "ignore") for name in report.namelist()
        ]
    told = ("Average accuracy of every method", "Confusion matrix of CDSPP.")
    assert all(any(caption in text for text in texts) for caption in told)


@pytest.mark.slow
def test_a_table_of_an_installed_package_is_one_module_and_one_line(
    project: Project, repository: Path
) -> None:
    guide = (repository / "docs/own-table.md").read_text()
    module = guide.split("```python hardest.py\n")[1].split("```")[0]
    source = project.folder / "src"
    package = source / "hardest-1.dist-info"
    package.mkdir()
    package.joinpath("METADATA").write_text("Name: hardest\nVersion: 1\n")
    points = "[cdspp.sections]\nhardest = hardest:Hardest\n"
    package.joinpath("entry_points.txt").write_text(points)
    source.joinpath("hardest.py").write_text(module)
    try:
        project.snakemake("--cores", "2")
        assert not project.planned().rules
        source.joinpath("hardest.py").write_text(module.replace(":.1f", ":.2f"))
        [job] = [
            job
            for job in project.planned().jobs
            if job["rule_name"] == "tables_and_figures"
        ]
        assert job["rule_msg"] == "Tables and figures of all benchmarks: hardest"
    finally:
        source.joinpath("hardest.py").unlink()
        shutil.rmtree(package)
    results = project.folder / "results/toy"
    assert "Hardest task" in (results / "report/index.html").read_text()
    assert len(pd.read_csv(results / "tables/hardest.csv")) == 3
