"""The command `cdspp init`: what it finds, writes, refuses."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.own_tables import write_table

from cdspp.cli.init import StudyData, read_tables, study_text
from cdspp.cli.main import main
from cdspp.datasets.table_files import Columns
from cdspp.study.files import workflow_folder

LAB = {"label": "abab", "f1": "1234", "f2": "5678"}
FIELD = {"label": ["b", "a", "b", "a", ""], "g1": "12345"}


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(
    root: Path, suffix: str, sizes: dict[str, int], classes: Sequence[str] = "ab"
) -> Path:
    """Write empty files: as many a class as `sizes` has by domain."""
    for domain, size in sizes.items():
        for label in classes:
            folder = root / domain / label
            folder.mkdir(parents=True)
            for number in range(size):
                (folder / f"{number}{suffix}").touch()
    return root


def test_a_folder_of_images_becomes_a_study_that_is_checked(
    away: Path, capsys: Any
) -> None:
    write_files(away / "photos", ".png", {"web": 30, "phone": 4})
    assert main(["init", "mine", "--folder", "photos"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "mine: images, 2 domains, 2 classes in common",
        "  phone: 8 images, 4 per class",
        "  web: 60 images, 30 per class",
        "Source: phone, target: web. Others: --source, --target",
        "Reference: cdspp. Others: --reference",
        "Written: mine.yaml. Forecast of its cost: cdspp plan mine.yaml",
        "Next: cdspp run mine.yaml --cores 8",
    ]
    text = Path("mine.yaml").read_text()
    result = yaml.safe_load(text)
    opening = {"study": "mine", "preset": "quick", "reference": "cdspp"}
    assert opening.items() <= result.items()
    assert result["datasets"] == [{"id": "mine", "folder": "photos"}]
    [benchmark] = result["benchmarks"]
    assert benchmark["tasks"] == ["phone_web"]
    assert benchmark["source_view"] == "sift-words"
    assert benchmark["target_view"] == "alexnet"
    assert benchmark["labels"] == {"source": 4, "target": 3}
    assert "    # phone_web, web_phone\n" in text
    assert "weights: random}\n    scale: pca " in text
    assert "IMAGENET1K_V1" in text
    assert main(["plan", "mine.yaml"]) == 0


def test_a_folder_of_texts_becomes_a_study(away: Path, capsys: Any) -> None:
    write_files(away / "notes", ".txt", {"en": 5, "us": 5, "za": 25})
    assert main(["init", "notes", "--folder", "notes"]) == 0
    text = Path("notes.yaml").read_text()
    [benchmark] = yaml.safe_load(text)["benchmarks"]
    assert benchmark["source_view"] == benchmark["target_view"] == "tfidf"
    [view] = yaml.safe_load(text)["views"]
    assert view == {"id": "tfidf", "extractor": "text", "scale": "pca"}
    # A half of the five is labelled at most.
    assert "labels: {source: 5, target: 2}" in text
    assert "    # en_us, en_za, us_en, us_za, za_en, za_us\n" in text


def test_a_file_that_is_there_is_replaced_by_force_alone(
    away: Path, capsys: Any
) -> None:
    write_files(away / "notes", ".txt", {"en": 5, "us": 5})
    Path("notes.yaml").write_text("kept\n")
    arguments = ["init", "notes", "--folder", "notes"]
    assert main(arguments) == 2
    assert "notes.yaml already exists" in capsys.readouterr().err
    assert Path("notes.yaml").read_text() == "kept\n"
    assert main([*arguments, "--force"]) == 0
    assert "study: notes" in Path("notes.yaml").read_text()


def test_problems_of_a_folder_are_one_error(away: Path, capsys: Any) -> None:
    write_files(away / "notes", ".txt", {"Old Ones": 5, "new_ones": 5})
    assert main(["init", "notes", "--folder", "notes"]) == 2
    error = capsys.readouterr().err
    assert "notes: 2 problems:" in error
    assert "Rename the folder, for instance old-ones." in error
    assert "Rename the folder, for instance new-ones." in error
    assert not Path("notes.yaml").exists()


@pytest.mark.parametrize(
    ("sizes", "classes", "said"),
    [
        ({"en": 3}, "ab", "expected at least two domains, a source and a target, got"),
        ({"en": 3, "us": 3}, "a", "domain en has only the class a. Add rows of"),
    ],
)
def test_too_little_for_a_study_is_said(
    sizes: dict[str, int], classes: str, said: str, away: Path, capsys: Any
) -> None:
    write_files(away / "notes", ".txt", sizes, classes)
    assert main(["init", "notes", "--folder", "notes"]) == 2
    assert said in capsys.readouterr().err


def test_what_the_check_refuses_is_not_written(away: Path, capsys: Any) -> None:
    write_files(away / "notes", ".txt", {"en": 3, "us": 3})
    assert main(["init", "digits", "--folder", "notes"]) == 2
    error = capsys.readouterr().err
    assert "digits.yaml was not written: " in error
    assert "'digits' is taken" in error
    assert not list(away.glob("*digits*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["My Study", "--folder", "notes"], "name of the study: expected small"),
        (["notes", "--folder", "notes", "--drop", "x"], "omit them with --folder"),
        (["notes", "--folder", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: list[str], said: str, away: Path, capsys: Any
) -> None:
    assert main(["init", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_classes_that_look_alike_are_named_by_init_and_by_plan(
    away: Path, capsys: Any
) -> None:
    write_table(Path("lab.csv"), LAB)
    write_table(Path("field.csv"), FIELD | {"label": ["B", "a", "B", "a", ""]})
    arguments = ["init", "mine", "--table", "lab.csv", "--table", "field=field.csv"]
    assert main(arguments) == 2
    assert "form: 'b' (lab.csv), 'B' (field.csv). Spell them" in capsys.readouterr().err
    assert not Path("mine.yaml").exists()
    assert main([*arguments, "--keep-label", "B"]) == 0
    [entry] = yaml.safe_load(Path("mine.yaml").read_text())["datasets"]
    assert entry["keep_labels"] == ["B"]
    assert main(["plan", "mine.yaml"]) == 0
    write_table(Path("lab.csv"), LAB | {"label": "AbAb"})
    assert main(["plan", "mine.yaml"]) == 2
    assert "form: 'A' (lab), 'a' (field). Spell them" in capsys.readouterr().err


def test_init_and_plan_count_files_without_a_label(
    away: Path, capsys: Any, caplog: pytest.LogCaptureFixture
) -> None:
    write_files(away / "notes", ".txt", {"en": 5, "us": 4})
    write_files(away / "notes", ".txt", {"us": 3}, ["unlabelled"])
    arguments = ["init", "notes", "--folder", "notes"]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert "notes: texts, 2 domains, 2 classes in common" in output
    assert "  us: 8 texts, 4 per class, and 3 unlabelled\n" in output
    caplog.clear()
    assert main(["plan", "notes.yaml"]) == 0
    assert "notes/us: 3 of 11 texts have no label; as a target they" in caplog.text
    assert main([*arguments, "--force", "--keep-label", "unlabelled"]) == 0
    assert "  us: 11 texts, 3 to 4 per class\n" in capsys.readouterr().out


def test_a_table_is_called_as_its_file_is(away: Path) -> None:
    write_table(Path("lab.csv"), LAB)
    Path("lab.csv.gz").write_bytes(gzip.compress(Path("lab.csv").read_bytes()))
    write_table(Path("field.csv"), FIELD)
    tables = ["--table", "lab.csv.gz", "--table", "field.csv"]
    assert main(["init", "mine", *tables]) == 0
    [entry] = yaml.safe_load(Path("mine.yaml").read_text())["datasets"]
    assert entry["tables"] == {"lab": "lab.csv.gz", "field": "field.csv"}


def test_tables_become_a_data_set_with_its_columns(away: Path) -> None:
    lab = {"species": "abab", "sample": "wxyz", "date": "1111", "f": "1234"}
    field = {**lab, "species": ["a", "b", "b", "a"], "f": ["1", "", "3", "4"]}
    write_table(Path("lab.csv"), lab)
    write_table(Path("field.csv"), field)
    result = read_tables(
        "plants",
        [("Lab", "lab.csv"), ("field", "field.csv")],
        [Columns("species", "sample", ("date",), ("label",))] * 2,
    )
    assert str(result).splitlines() == [
        "plants: tables, 2 domains, 2 classes in common",
        "  lab (Lab, lab.csv): 4 rows, 4 labelled in 2 classes, 1 feature",
        "  field (field.csv): 4 rows, 4 labelled in 2 classes, 1 feature, 1 row "
        "without any number (first: line 3), 1 number missing, to be imputed",
        "  shared: 1 column has the same name in both: f",
    ]
    text = study_text(result)
    for part in (
        "datasets:\n"
        "  - id: plants\n"
        "    tables: {lab: lab.csv, field: field.csv}\n"
        "    columns: {label: species, id: sample}\n"
        "    drop: [date]\n"
        "    impute: true\n",
        "  - {id: cells, extractor: table, scale: standardise}\n",
        "    tasks: [lab_field]\n",
        "    labels: {source: 2, target: 1}\n",
    ):
        assert part in text
    [benchmark] = yaml.safe_load(text)["benchmarks"]
    assert benchmark["source_view"] == benchmark["target_view"] == "cells"


def test_columns_that_tables_share_become_a_bridge_with_its_methods(
    away: Path, capsys: Any, caplog: pytest.LogCaptureFixture
) -> None:
    config = workflow_folder() / "config.yaml"
    Path("config.yaml").write_text(config.read_text())  # as in a clone
    write_table(Path("lab.csv"), LAB | {"age": "1357", "mass": "2468"})
    write_table(Path("field.csv"), FIELD | {"mass": "12345", "age": "97531"})
    init = ["init", "mini", "--table", "lab=lab.csv", "--table", "field=field.csv"]
    assert main(init) == 0
    output = capsys.readouterr().out
    assert "  shared: 2 columns have the same name in both: age, mass\n" in output
    text = Path("mini.yaml").read_text()
    result = yaml.safe_load(text)
    assert result["benchmarks"][0]["bridge"] == {"shared_columns": "same-names"}
    assert result["add"] == ["shared-columns", "shared-columns-plus", "cdspp-bridge"]
    assert main(["plan", "mini.yaml"]) == 0
    assert "bridge" not in caplog.text
    planned = capsys.readouterr().out
    assert all(f"\n{name} " in planned for name in result["add"])
    assert len({len(line) for line in planned.splitlines()[:10]}) == 1
    Path("mini.yaml").write_text(text.replace("add: ", "# add: "))
    assert main(["plan", "mini.yaml"]) == 0
    note = "bridge: no method of the study uses shared_columns of mini. These do"
    assert caplog.text.count(note) == 1
    assert "shared-columns-plus" in caplog.messages[-1]


def test_a_config_yaml_of_the_folder_is_a_study_only_where_none_is_named(
    away: Path, capsys: Any
) -> None:
    Path("config.yaml").write_text("{study: here, preset: quick, trails: 3}")
    photos = write_files(away / "photos", ".png", {"web": 30, "phone": 4})
    assert main(["init", "mine", "--folder", str(photos)]) == 0
    assert main(["plan", "mine.yaml"]) == 0
    capsys.readouterr()
    assert main(["plan"]) == 2
    assert "unknown key 'trails': did you mean 'trials'" in capsys.readouterr().err
    Path("config.yaml").unlink()
    assert main(["plan"]) == 0  # the embedded study
    assert "label-spreading" in capsys.readouterr().out


def test_tables_without_a_column_in_common_get_no_bridge(away: Path) -> None:
    write_table(Path("lab.csv"), LAB)
    for both in (FIELD, {"label": FIELD["label"], "f1": "12345", "f2": "54321"}):
        write_table(Path("field.csv"), both)  # f1 and f2 count columns, no more
        tables = ["--table", "lab.csv", "--table", "field.csv"]
        assert main(["init", "mini", *tables, "--force"]) == 0
        text = Path("mini.yaml").read_text()
        assert "bridge" not in yaml.safe_load(text)["benchmarks"][0]
        assert "add" not in yaml.safe_load(text)


def test_what_yaml_would_misread_is_quoted(away: Path) -> None:
    sizes = {"1": {"a": 9, "b": 9}, "2": {"a": 9, "b": 9}}
    path = 'my "photos", {all}: of #1'
    result = StudyData("images", sizes, {"id": "on", "folder": path}, ())
    written = yaml.safe_load(study_text(result))
    assert written["study"] == "on"
    assert written["datasets"] == [{"id": "on", "folder": path}]
    [benchmark] = written["benchmarks"]
    assert benchmark["tasks"] == ["1_2"]
    assert (benchmark["id"], benchmark["dataset"]) == ("on", "on")
    assert written["views"][0]["options"]["codebook_domain"] == "1"


def test_source_and_target_are_those_that_are_asked_for(
    away: Path, capsys: Any
) -> None:
    write_files(away / "photos", ".png", {"web": 30, "phone": 4, "scan": 4})
    init = ["init", "mine", "--folder", "photos", "--force"]
    for asked, task in (
        (["--source", "web"], "web_phone"),
        (["--target", "phone"], "scan_phone"),
        (["--source", "scan", "--target", "web"], "scan_web"),
    ):
        assert main([*init, *asked]) == 0
        source, target = task.split("_")
        assert f"Source: {source}, target: {target}." in capsys.readouterr().out
        [benchmark] = yaml.safe_load(Path("mine.yaml").read_text())["benchmarks"]
        assert benchmark["tasks"] == [task]
    assert main([*init, "--source", "wbe"]) == 2
    assert "one of phone, scan, web, got 'wbe': did you mean" in capsys.readouterr().err
    assert main([*init, "--source", "web", "--target", "web"]) == 2


BY_HAND = """\
study: s
datasets: [{id: m, tables: {lab: lab.csv, field: field.csv}}]
views: [{id: t, extractor: table}]
benchmarks: [{id: m, dataset: m, source_view: t, target_view: t,
  tasks: [lab_field], labels: {source: 1, target: 1}}]
methods: [{id: svm-t}]
"""


def test_a_study_names_the_faults_of_all_tables_by_its_own_keys(
    away: Path, capsys: Any
) -> None:
    for name in ("lab", "field"):
        Path(f"{name}.csv").write_text("exam day,f,label\nmon,1,a\ntue,2,b\n")
    Path("s.yaml").write_text(BY_HAND)
    assert main(["plan", "s.yaml"]) == 2
    output = capsys.readouterr().err
    assert "lab.csv: column 'exam day' holds text" in output
    assert "field.csv: column 'exam day' holds text" in output
    assert "columns.categories one-hot or frequency" in output
    assert "drop: ['exam day']" in output
    assert "--" not in output


def test_each_refusal_of_a_table_is_a_line(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lab.csv").write_text(
        "label,site,seen,a\n-1,A,2024-01-02,1\nx,B,2024-01-03,\n"
    )
    Path("field.csv").write_text("label,b\n-1,1\nx,2\ny,3\n")
    arguments = ["init", "mine", "--table", "lab.csv", "--table", "field.csv"]
    assert main(arguments) == 2
    head, *lines = capsys.readouterr().err.splitlines()
    assert head == "cdspp: error: lab.csv: 3 problems:"
    assert [line.removeprefix("  - ")[:14] for line in lines] == [
        *("column 'site' ", "column 'seen' ", "1 of 2 labels "),
    ]
    assert lines[0].endswith("or --drop site")
