"""A short study file of one's own, as Snakemake and `cdspp plan` read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from sklearn.datasets import load_wine
from support.toy_study import CONFIG, WORDS, Project, write_texts
from support.warm_start import run_warm

OWN = {key: CONFIG[key] for key in ("study", "datasets", "views", "benchmarks")}
STRAY = "1 file skipped, not texts by suffix: left/fruit/list.pdf"


@pytest.fixture(scope="module")
def project(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(repository, tmp_path_factory.mktemp("project"))
    (project.folder / "texts/left/fruit/list.pdf").touch()
    return project


def write(project: Project, **keys: Any) -> None:
    (project.folder / "toy.yaml").write_text(yaml.safe_dump(OWN | keys))


def planned(project: Project) -> str:
    """Return what `cdspp plan` says."""
    return run_warm(["cdspp", "plan", "toy.yaml"], project.folder)[1]


@pytest.mark.slow
def test_a_note_is_written_once_and_a_touch_reruns_nothing(project: Project) -> None:
    write(project, methods=[{"id": "svm-t"}, {"id": "cdls"}])
    output = project.snakemake("--cores", "1", "--until", "labels")
    assert "3 of 3 jobs, " in output
    assert output.count(STRAY) == 1
    assert output.count("reference: by default, ") == 1
    for path in (project.folder / "texts").rglob("*.txt"):
        path.touch()
    assert "Nothing to be done" in project.snakemake("-n", "--until", "labels")
    (project.folder / "texts/left/fruit/0.txt").write_text("other words")
    rules = project.planned("--until", "labels").rules
    assert rules == {"prepare_dataset": 1, "labels": 2}


@pytest.mark.slow
def test_one_command_computes_all_that_an_export_reads(project: Project) -> None:
    based = OWN["benchmarks"][0] | {"tasks": ["left_right"]}
    plain = based | {"id": "plain", "source_view": "tfidf", "target_view": "tfidf"}
    write(
        project,
        study="export",
        trials=2,
        benchmarks=[based, plain],  # a view, and one on which it is based
        methods=[{"id": "svm-t"}, {"id": "cdspp"}],
        source_states={"states": []},
    )
    export = ["cdspp", "export-splits", "toy.yaml"]
    code, said = run_warm(export, project.folder)
    assert code == 2
    _, _, command = " ".join(said.split()).partition("Run ")
    call = command.replace("--cores 8", "--cores 2").split()
    assert run_warm(call, project.folder)[0] == 0
    code, said = run_warm(export, project.folder)
    assert code == 0, said
    assert not (project.folder / "results/export/fits").exists()


def test_a_study_file_and_the_command_line_win_over_the_preset(
    project: Project,
) -> None:
    write(project, preset="quick", methods=[{"id": "svm-t"}, {"id": "cdspp"}])
    plan = project.planned("--config", "trials=2")
    fits = [fit for made in plan.fits for fit in made]
    assert {fit.split("/")[2] for fit in fits} == {"svm-t", "cdspp"}
    assert {fit.split("/")[3] for fit in fits} == {"1-10"}
    assert {"main", "none-matched", "noise"} <= {fit.split("/")[0] for fit in fits}
    note = "The study replaces trials, methods of the preset quick."
    assert plan.output.count(note) == 1
    assert "replaces methods of" in planned(project)


def write_tables(folder: Path) -> list[str]:
    """Write two tables of scikit-learn's wines; return ids that have no label."""
    wines = load_wine(as_frame=True)
    kind = wines.target.map(dict(enumerate("abc")))
    first, second = wines.data.iloc[:, :7], wines.data.iloc[:, 7:]
    lab = first.iloc[::2].assign(kind=kind)
    lab.to_csv(folder / "lab.csv", index=False)
    field = second.iloc[1::2].assign(kind=kind.where(wines.data.index % 3 > 0))
    field.rename_axis("wine").reset_index().to_parquet(folder / "field.parquet")
    return [str(k) for k in field.index[field["kind"].isna()]]


def write_flat(folder: Path) -> list[str]:
    """Write the toy texts, the target flat; return files that have no label."""
    write_texts(folder, per_class=5)
    rows, paths = ["file,label"], []
    for number, path in enumerate(sorted(folder.glob("right/*/*.txt"))):
        name = f"{number:02}.txt"
        if number % 5 < 4:
            rows.append(f"{name},{path.parent.name}")
        else:
            name = f"unlabelled/{name}" if number == 4 else name
            paths.append(f"right/{name}")
        (folder / "right" / name).parent.mkdir(exist_ok=True)
        path.rename(folder / "right" / name)
    for label in WORDS:
        (folder / "right" / label).rmdir()
    (folder / "right/labels.csv").write_text("\n".join(rows))
    return paths


def test_texts_without_a_label_are_predicted(project: Project) -> None:
    hidden = write_flat(project.folder / "flat")
    benchmark = OWN["benchmarks"][0] | {"id": "flat", "dataset": "flat"}
    write(
        project,
        preset="quick",
        trials=2,
        datasets=[{"id": "flat", "folder": "flat"}],
        benchmarks=[benchmark | {"tasks": ["left_right"]}],
        methods=[{"id": "svm-t"}, {"id": "cdspp"}],
        source_states={"states": []},
    )
    wanted = "results/toy/predictions/flat/left_right/cdspp.csv"
    output = project.snakemake("--cores", "1", "--", wanted)
    assert "flat/right: 3 of 15 texts have no label; as a" in " ".join(output.split())
    found = pd.read_csv(project.folder / wanted)
    assert sorted(found["id"]) == sorted(hidden)
    assert set(found["predicted"]) <= {*WORDS}


def test_rows_of_tables_without_a_label_are_predicted(project: Project) -> None:
    hidden = write_tables(project.folder)
    tables = {"lab": "lab.csv", "field": "field.parquet"}
    columns = {"label": "kind", "id": "wine"}
    benchmark = OWN["benchmarks"][0] | {"id": "wines", "dataset": "wines"}
    benchmark |= dict.fromkeys(("source_view", "target_view"), "cells")
    write(
        project,
        preset="quick",
        trials=2,
        datasets=[{"id": "wines", "tables": tables, "columns": columns}],
        views=[{"id": "cells", "extractor": "table", "scale": "standardise"}],
        benchmarks=[benchmark | {"tasks": ["lab_field"]}],
        methods=[{"id": "svm-t"}, {"id": "cdspp"}],
        source_states={"states": []},
    )
    wanted = [
        f"results/toy/predictions/wines/lab_field/{name}.csv"
        for name in ("svm-t", "cdspp")
    ]
    scores = "results/toy/scores/wines.parquet"
    output = project.snakemake("--cores", "1", "--", *wanted, scores)
    assert f"{len(hidden)} of 89 rows have no label" in " ".join(output.split())
    for path in wanted:
        found = pd.read_csv(project.folder / path, dtype={"id": str})
        assert sorted(found["id"]) == sorted(hidden)
        assert set(found["predicted"]) <= set("abc")
        assert set(found["trials"]) == {2}
    scored = pd.read_parquet(project.folder / scores)
    # Two labelled rows of each class are in the fit.
    assert set(scored["n_samples"]) == {89 - len(hidden) - 6}
