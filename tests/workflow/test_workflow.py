"""The whole workflow on a tiny study, in a copy of the project."""

from __future__ import annotations

import csv
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.toy_study import CONFIG, Project

from cdspp.core.artifacts import FIT_COLUMNS, LABEL_COLUMNS, read_features, read_rows
from cdspp.report.page.graph import EDGES

SCORES = "results/toy/scores/words.parquet"
# What follows from any change of a score.
FOLLOWERS = {
    "score",
    "benchmark_tables",
    "benchmark_figures",
    "curve_table",
    "curve_figure",
    "overview",
    "gains",
    "printed",
    "claims",
    "deviations",
    "source_help_figure",
    "report_page",
    "all",
}
# What follows from any change of a fit of the main run's reference.
MAIN_FOLLOWERS = {*FOLLOWERS, "times", "showcase_figures"}


@pytest.fixture(scope="module")
def finished(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose toy study has run to its end."""
    project = Project(repository, tmp_path_factory.mktemp("project"))
    project.snakemake("--cores", "2", "--show-failed-logs")
    return project


@pytest.fixture
def project(finished: Project) -> Iterator[Project]:
    """Return the finished project; its study file is restored afterwards."""
    yield finished
    finished.write_config()


def test_a_run_ends_with_a_report_and_tables(project: Project) -> None:
    results = project.folder / "results" / "toy"
    page = (results / "report" / "index.html").read_text()
    assert "Did the source help" in page
    with (results / "tables" / "accuracy_words.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert rows


def test_a_second_run_has_nothing_to_do(project: Project) -> None:
    assert "Nothing to be done" in project.snakemake("--cores", "2")


def test_no_input_of_a_fit_holds_the_label_of_a_test_sample(project: Project) -> None:
    checked = 0
    summary = project.snakemake("--cores", "1", "--detailed-summary")
    table = summary[summary.index("output_file\t") :]
    for row in csv.DictReader(table.splitlines(), delimiter="\t"):
        output = project.folder / row["output_file"]
        if row["rule"] != "fit" or output.suffix != ".parquet":
            continue
        fit = read_rows(output, FIT_COLUMNS)
        tested = set(zip(fit["trial"], fit["id"], strict=True))
        inputs = row["input-file(s)"].split(",")
        assert len(inputs) == 4
        for name in inputs:
            known = _labelled(project.folder / name)
            assert not known & tested, f"{name} labels test samples of {output}"
            checked += 1
    assert checked == 4 * len(_fit_files(project))


def _labelled(path: Path) -> set[tuple[int, str]]:
    """Return trial and id of every sample whose label a file holds."""
    if path.suffix == ".npz":
        assert set(vars(read_features(path))) == {"X", "ids", "provenance"}
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
    **dict.fromkeys(("overlap", "contents", "curve_table"), "tables"),
    **dict.fromkeys(("gains", "times", "printed", "claims", "deviations"), "tables"),
    "curve_figure": "figures",
    "codebook": "features",
    "split": "splits",
    "subspace": "fit",
    "overview": "tables",
    "benchmark_tables": "tables",
    "source_help_figure": "figures",
    "benchmark_figures": "figures",
    "showcase_figures": "figures",
    "report_page": "report",
}


def test_the_picture_of_the_job_graph_is_the_job_graph(project: Project) -> None:
    graph = project.snakemake("--rulegraph")
    rules = dict(re.findall(r'(\d+)\[label = "(\w+)', graph))
    stages = {key: STAGE_OF.get(name, name) for key, name in rules.items()}
    edges = {(stages[a], stages[b]) for a, b in re.findall(r"(\d+) -> (\d+)", graph)}
    edges = {(a, b) for a, b in edges if a != b and b not in {"all", "report"}}
    drawn = {(edge.tail, edge.head) for edge in EDGES if edge.head != "report"}
    assert edges == drawn
    assert {a for a, b in edges if b == "fit"} == {"features", "splits"}


def test_a_changed_option_reruns_only_what_depends_on_it(project: Project) -> None:
    methods = [*CONFIG["methods"]]
    methods[1] = {"id": "cdspp", "options": {"alpha": 1.0}}
    project.write_config(methods=methods)
    plan = project.planned()
    # Two tasks of main and placebo in two blocks; three of a curve, one deviation.
    assert len(plan.fits) == 8 + 3 + 1
    assert all("/cdspp/" in fit for fit in plan.fits)
    assert set(plan.rules) == MAIN_FOLLOWERS | {"fit", "subspace"}


def test_more_trials_only_add_blocks(project: Project) -> None:
    project.write_config(trials=6)
    plan = project.planned()
    assert {fit.split("/")[-1] for fit in plan.fits} == {"5-6"}
    extra = {"fit", "split", "overlap", "contents"}
    assert set(plan.rules) == MAIN_FOLLOWERS | extra


def test_a_further_method_runs_alone(project: Project) -> None:
    project.write_config(methods=[*CONFIG["methods"], {"id": "cdspp-sup"}])
    plan = project.planned()
    assert len(plan.fits) == 4
    assert all("/cdspp-sup/" in fit for fit in plan.fits)


def test_a_further_task_runs_alone(project: Project) -> None:
    [benchmark] = CONFIG["benchmarks"]
    tasks = [*benchmark["tasks"], "right_left"]
    project.write_config(benchmarks=[{**benchmark, "tasks": tasks}])
    plan = project.planned()
    assert len(plan.fits) == 8
    assert all("/right_left/" in fit for fit in plan.fits)


def test_a_setting_with_other_label_counts_draws_its_own_splits(
    project: Project,
) -> None:
    labels = {"id": "few-labels", "labels": {"target": 1}, "methods": ["cdspp"]}
    project.write_config(settings=[*CONFIG["settings"], labels])
    plan = project.planned()
    assert plan.rules["split"] == 2
    assert {fit.split("/")[0] for fit in plan.fits} == {"few-labels"}


def test_a_further_label_count_runs_alone(project: Project) -> None:
    labels, alpha = CONFIG["curves"]
    project.write_config(curves=[{**labels, "values": [1, 2, 3, 4]}, alpha])
    plan = project.planned()
    assert plan.fits == ["labels-4/left_right/cdspp/1-2"]
    assert plan.rules["split"] == 1
    assert set(plan.rules) >= FOLLOWERS | {"fit", "split"}


def test_a_further_value_of_an_option_runs_alone(project: Project) -> None:
    labels, alpha = CONFIG["curves"]
    project.write_config(curves=[labels, {**alpha, "values": [1, 10, 100]}])
    plan = project.planned()
    assert plan.fits == ["alpha-100/left_right/cdspp/1-2"]
    assert "split" not in plan.rules


def test_an_edited_method_reruns_only_its_fits(project: Project) -> None:
    module = project.folder / "src/cdspp/methods/svm_t/svm_t.py"
    text = module.read_text()
    try:
        module.write_text(text + "\n# A comment changes no result.\n")
        assert not project.planned().rules
        module.write_text(text.replace("tol=1e-3", "tol=1e-4"))
        plan = project.planned()
    finally:
        module.write_text(text)
    assert len(plan.fits) == 4
    assert all("/svm-t/" in fit for fit in plan.fits)


def test_all_faults_of_a_configuration_are_named_at_once(project: Project) -> None:
    [benchmark] = CONFIG["benchmarks"]
    project.write_config(
        methods=[{"id": "cdsp"}, {"id": "svm-t", "options": {"strategi": "ovo"}}],
        settings=[],
        curves=[],
        deviations=[],
        benchmarks=[{**benchmark, "labels": {"source": 4, "target": 10}}],
    )
    output = project.snakemake("-n", ok=False)
    assert "'cdsp': did you mean 'cdspp'" in output
    assert "'strategi': did you mean 'strategy'" in output
    assert "10 labelled samples per class leave no test sample" in output
    assert "3 faults" in output


def test_a_misspelt_key_is_named_with_the_nearest_one(project: Project) -> None:
    project.write_config(n_trails=3, trails=4)
    output = project.snakemake("-n", ok=False)
    assert "unknown key 'trails': did you mean 'trials'" in output
    assert "unknown key 'n_trails'" in output


@pytest.mark.parametrize("name", ["local", "slurm"])
def test_a_profile_is_read(project: Project, name: str) -> None:
    profile = f"workflow/profiles/{name}"
    output = project.snakemake("-n", "--forceall", "--workflow-profile", profile)
    assert f"workflow specific profile {profile}" in output
    assert "fit" in output


def test_scores_do_not_depend_on_cores_or_trials_per_job(project: Project) -> None:
    before = (project.folder / SCORES).read_bytes()
    project.write_config(study="toy-again", block_size=4)
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


def test_a_damaged_input_gives_one_clear_error(project: Project) -> None:
    project.write_config(study="toy-damaged")
    labels = project.folder / "results/labels/words/left.parquet"
    kept = labels.read_bytes()
    split = "results/toy-damaged/splits/words/main/source/left/1-2.parquet"
    try:
        labels.write_bytes(b"nothing")
        output = project.snakemake("--cores", "1", split, ok=False)
        assert "DataError: results/labels/words/left.parquet" in output
        assert not (project.folder / split).exists()
    finally:
        labels.write_bytes(kept)


def test_the_report_of_snakemake_can_be_made(project: Project) -> None:
    project.snakemake("--report", "report.zip")
    assert (project.folder / "report.zip").stat().st_size > 10_000


def test_labels_of_the_tests_are_read_from_the_folders(project: Project) -> None:
    labels = read_rows(
        project.folder / "results/labels/words/left.parquet", LABEL_COLUMNS
    )
    assert sorted(set(labels["label"])) == ["fruit", "metal", "river"]


def test_a_killed_run_resumes_where_it_stopped(project: Project) -> None:
    project.write_config(study="toy-killed")
    running = project.start("--cores", "1")
    fits = project.folder / "results/toy-killed/fits"
    while len(list(fits.rglob("*.parquet"))) < 2:
        assert running.poll() is None, "the run ended before it could be killed"
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    kept = {path: path.stat().st_mtime_ns for path in fits.rglob("[!.]*.parquet")}
    scores = "results/toy-killed/scores/words.parquet"
    project.snakemake("--unlock")
    project.snakemake("--cores", "2", "--rerun-incomplete", "--", scores)
    assert (project.folder / scores).read_bytes() == (
        project.folder / SCORES
    ).read_bytes()
    again = [
        path for path, time_ns in kept.items() if path.stat().st_mtime_ns != time_ns
    ]
    assert len(again) <= 1, "only the fit that was running is done again"
