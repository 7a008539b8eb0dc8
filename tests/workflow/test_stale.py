"""A finished study whose study file, tables or folders were edited since."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.toy_study import CONFIG, Project, shared, status_text
from support.wine_study import wine_study, write_tables

from cdspp.__main__ import main

pytestmark = pytest.mark.slow

MADE = ("data", "results", ".snakemake", "toy.yaml", "lab.csv", "field.csv")
STUDY = wine_study()
[DATASET], [VIEW], [BENCHMARK] = (
    STUDY[name] for name in ("datasets", "views", "benchmarks")
)


@pytest.fixture(scope="module")
def finished(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with a finished study of two tables, to be copied."""
    project = Project(repository, tmp_path_factory.mktemp("finished"))
    write_tables(project.folder / "lab.csv", project.folder / "field.csv")
    project.write_config(**STUDY)
    wanted = ["scores/wines.parquet", "subspace/wines/lab_field.npz"]
    project.snakemake("--cores", "1", "--", *(f"results/toy/{each}" for each in wanted))
    return project


@pytest.fixture
def folder(finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of what the study read and made, as the working folder."""
    for name in MADE:
        place = finished.folder / name
        if place.is_dir():
            pipes = shutil.ignore_patterns("*.end")  # of scripts that have run
            shutil.copytree(place, tmp_path / name, ignore=pipes)
        else:
            shutil.copy2(place, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replace(name: str, old: str, new: str, count: int = -1) -> None:
    text = Path(name).read_text()
    assert old in text
    Path(name).write_text(text.replace(old, new, count))


def ask(**changes: Any) -> None:
    Path("toy.yaml").write_text(yaml.safe_dump(CONFIG | STUDY | changes))


def replace_a_cell() -> None:
    before = os.stat("lab.csv")
    replace("lab.csv", "14.23", "14.24", 1)
    os.utime("lab.csv", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat("lab.csv").st_size == before.st_size


def restore_an_older_table() -> None:
    replace("field.csv", "rose", "red", 1)
    os.utime("field.csv", (1e9, 1e9))


def exchange_the_tables() -> None:
    tables = {"lab": "field.csv", "field": "lab.csv"}
    ask(datasets=[DATASET | {"tables": tables}])


FOUR = {"labels": {"source": 4, "target": 4}}
ALPHA = [{"id": "svm-t"}, {"id": "cdspp", "options": {"alpha": 3.0}}]
EDITS: dict[str, tuple[Callable[[], None], str]] = {
    "cell": (replace_a_cell, r"another lab\.csv"),
    "older": (restore_an_older_table, r"another field\.csv"),
    "scale": (
        lambda: ask(views=[VIEW | {"scale": "unit"}]),
        "scale standardise -> unit",
    ),
    "labels": (
        lambda: ask(benchmarks=[BENCHMARK | FOUR]),
        "an input is remade|one of its inputs is remade",
    ),
    "exchange": (exchange_the_tables, r"lab lab\.csv -> field\.csv"),
    "seed": (lambda: ask(seed=1), "seed 0 -> 1"),
    "alpha": (lambda: ask(methods=ALPHA), "alpha 10 -> 3"),
}


def verified(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return exit code and lines of `cdspp verify` of the study file."""
    try:
        code = main(["verify", "toy.yaml"])
    except SystemExit as stopped:
        code = int(str(stopped.code))
    return code, capsys.readouterr().out


def reasons(text: str) -> list[str]:
    """Return the sentences on fits that run, and on those that are kept."""
    text = re.sub(r"\n {2,}", " ", text)  # sentences are folded
    return re.findall(r"^.*: \d+ fits?, .*$|^All \d+ fits? .*$", text, re.M)


@pytest.mark.parametrize("edit", EDITS)
def test_status_verify_plan_and_a_dry_run_see_an_edit(
    finished: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    edit: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = finished.copied(tmp_path)
    monkeypatch.chdir(tmp_path)
    make, reason = EDITS[edit]
    make()
    code, said = verified(capsys)
    assert code == 1
    assert "all as computed" not in said
    status = status_text("toy.yaml")
    assert main(["plan", "toy.yaml"]) == 0
    found = reasons(capsys.readouterr().out)
    assert any(re.search(reason, sentence) for sentence in found), found
    # One of two methods has other options, or both are made of other files.
    assert found[-1].endswith("; 2 fits kept." if edit == "alpha" else " s.")
    dry = project.planned("--", "results/toy/scores/wines.parquet")
    assert found == reasons(status) == reasons(dry.output)
    assert dry.rules["fit"] >= 1


@pytest.mark.usefixtures("folder")
def test_without_an_edit_all_is_as_computed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("lab.csv", "toy.yaml"):
        os.utime(name)
    shutil.rmtree(".snakemake")  # its records are not what counts
    code, said = verified(capsys)
    assert (code, said.count("all as computed")) == (0, 1), said
    status = status_text("toy.yaml")
    assert reasons(status) == ["All 4 fits are up to date."]
    assert "Not compared with the present study file" not in said
    assert main(["verify", "results/toy"]) == 0
    assert "Not compared with the present study file" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_fit_or_method_that_the_study_no_longer_has_is_no_difference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    split = Path("results/toy/splits/wines/main/target/field/1-2.parquet")
    for path in (split, Path(f"{split}.json")):  # of a setting that was left out since
        other = Path(*path.parts[:4], "labels-9", *path.parts[5:])
        other.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, other)
    code, said = verified(capsys)
    assert code == 0, said


def test_what_is_stale_elsewhere_is_no_target_of_a_run_for_one_file(
    finished: Project, tmp_path: Path
) -> None:
    project = finished.copied(tmp_path)
    split = "results/toy/splits/wines/main/target/field/1-2.parquet"
    features = shared(tmp_path, "results/features/wines/lab.cells.npz")
    for path in (split, features):
        (tmp_path / path).write_bytes(b"")
    assert project.planned("--", split).rules == {"split": 1}
    rules = project.planned("--", "results/toy/scores/wines.parquet").rules
    assert (rules["split"], rules["features"]) == (1, 1)


def test_trials_that_are_not_there_are_counted_apart_from_those_that_stay(
    finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = finished.copied(tmp_path)
    monkeypatch.chdir(tmp_path)
    scores = "results/toy/scores/wines.parquet"
    ask(trials=3, block_size=3)  # the two trials that are there, in another block
    found = reasons(status_text("toy.yaml"))
    assert found == ["svm-t and cdspp: not computed yet: 2 fits, 0 s; 4 fits kept."]
    assert reasons(project.snakemake("-n", "--", scores)) == found
    project.snakemake("--cores", "1", "--", scores)
    assert reasons(status_text("toy.yaml")) == ["All 6 fits are up to date."]


def test_blocks_of_another_size_copy_trials(
    finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = finished.copied(tmp_path)
    monkeypatch.chdir(tmp_path)
    scores = "results/toy/scores/wines.parquet"
    before = Path(scores).read_bytes()
    ask(block_size=5)
    for text in (status_text("toy.yaml"), project.snakemake("-n", "--", scores)):
        assert reasons(text) == ["All 4 fits are up to date."]
        assert "1 fit job will fit nothing" in text
    project.snakemake("--cores", "1", "--", scores)
    fits = [*Path("results/toy/fits").rglob("*.json")]
    assert {path.stem for path in fits} == {"1-5"}
    [log] = Path("logs/toy/fits").rglob("1-5.log")
    assert not re.findall(r"trial \d+: ok", log.read_text())
    assert Path(scores).read_bytes() == before


SCORES = [f"results/toy/scores/wines.{suffix}" for suffix in ("parquet", "npz")]


def contents(files: Iterable[str | Path]) -> list[bytes]:
    return [Path(file).read_bytes() for file in files]


def test_fewer_trials_run_no_fit_job_and_score_as_a_study_that_never_had_more(
    finished: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = finished.copied(tmp_path)
    monkeypatch.chdir(tmp_path)
    fits = sorted(Path("results/toy/fits").rglob("*.*"))
    fits_of_two, scores = contents(fits), {2: contents(SCORES)}
    for before, trials in ((2, 1), (1, 2)):
        ask(trials=trials)
        capsys.readouterr()
        assert main(["plan", "toy.yaml"]) == 0
        told = reasons(capsys.readouterr().out)
        why = f"wines: trials {before} -> {trials}: 0 fits, 0 s"
        assert told == [f"{why}; {2 * trials} fits kept."]
        assert reasons(status_text("toy.yaml")) == told
        plan = project.planned("--", *SCORES)
        assert (reasons(plan.output), plan.rules) == (told, {"score": 1})
        assert reasons(project.snakemake("--cores", "1", "--", *SCORES)) == told
        everything = f"All {2 * trials} fits are up to date."
        assert reasons(status_text("toy.yaml")) == [everything]
        assert main(["verify", "results/toy"]) == 0
        assert scores.setdefault(trials, contents(SCORES)) == contents(SCORES)
    assert contents(fits) == fits_of_two
    ask(study="once", trials=1)
    once = [file.replace("toy", "once") for file in SCORES]
    project.snakemake("--cores", "1", "--", *once)
    assert contents(once) == scores[1]


def test_more_trials_of_a_block_are_fitted_and_no_other(
    finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = finished.copied(tmp_path)
    monkeypatch.chdir(tmp_path)
    for trials in (3, 4):
        ask(trials=trials)
        kept = f"{2 * trials - 2} fits kept."
        why = "svm-t and cdspp: not computed yet: 2 fits, 0 s"
        assert reasons(status_text("toy.yaml")) == [f"{why}; {kept}"]
        assert project.planned("--", *SCORES).rules["fit"] == 1
        project.snakemake("--cores", "1", "--", *SCORES)
    [log] = Path("logs/toy/fits").rglob("3-4.log")
    assert re.findall(r"trial (\d+): ok", log.read_text()) == ["4", "4"]


@pytest.mark.usefixtures("folder")
def test_trials_of_other_samples_are_no_trials_of_another_block() -> None:
    ask(block_size=5, benchmarks=[BENCHMARK | FOUR])
    found = reasons(status_text("toy.yaml"))
    assert found == ["svm-t and cdspp: not computed yet: 4 fits, 0 s."]


def test_fewer_trials_of_another_seed_are_fitted_for_that_reason(
    folder: Path,
) -> None:
    ask(trials=1, seed=1)
    found = reasons(status_text("toy.yaml"))
    assert [line for line in found if "fits" in line] == [
        "svm-t and cdspp: seed 0 -> 1: 2 fits, 0 s."
    ]
