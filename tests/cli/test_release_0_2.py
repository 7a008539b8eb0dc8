"""What the release 0.2.0 made, read and checked: results and a model."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cdspp import load_results
from cdspp.__main__ import main

MADE = Path(__file__).parent / "release_0_2"
ROOT = "results/old"
FIT = f"{ROOT}/fits/wines/main/lab_field/svm-t/1-1"
INTACT = "made by 0.2.0, intact"
DAMAGED = {
    "a table": f"{ROOT}/tables/overview.csv",
    "a fit": f"{FIT}.parquet",
    "a record": f"{FIT}.json",
    "features": "results/features/wines/lab.cells.npz",
    "the page": f"{ROOT}/report/index.html",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a finished run of that release, as the working folder."""
    with zipfile.ZipFile(MADE / "old.zip") as archive:
        archive.extractall(tmp_path / "packed")
    shutil.move(tmp_path / "packed/old/results", tmp_path / "results")
    with zipfile.ZipFile(MADE / "beside.zip") as archive:  # the tables
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(capsys: Any, *words: str) -> tuple[int, str]:
    """Return exit code and output of a command."""
    try:
        code = main([*words])
    except SystemExit as stopped:
        code = int(str(stopped.code))
    output = capsys.readouterr()
    return code, output.out + output.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("what", [ROOT, "old.yaml"])
def test_what_is_as_it_was_made_is_said_to_be_intact(what: str, capsys: Any) -> None:
    code, output = called(capsys, "verify", what)
    assert code == 0, output
    assert INTACT in output


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("what", DAMAGED)
def test_what_was_changed_since_is_named(what: str, capsys: Any) -> None:
    path = Path(DAMAGED[what])
    path.write_bytes(path.read_bytes().replace(b"0", b"1"))
    code, output = called(capsys, "verify", ROOT)
    assert code == 1
    assert str(path.with_suffix("")) in output
    assert INTACT not in output


@pytest.mark.usefixtures("folder")
def test_results_are_read(capsys: Any) -> None:
    code, output = called(capsys, "summary", ROOT)
    assert code == 0
    assert "SVM_t*                  50.0" in output
    assert set(load_results(ROOT).fits["method"]) == {"svm-t", "cdspp-sup"}
    assert "Scikit-learn" in called(capsys, "cite", ROOT)[1]


@pytest.mark.usefixtures("folder")
def test_a_model_predicts(capsys: Any) -> None:
    words = ["--model", str(MADE / "svm-t.model"), "--label", "kind"]
    code, output = called(
        capsys, "predict", *words, "--target", "field.csv", "--output", "p.csv"
    )
    assert code == 0, output
    predicted = pd.read_csv("p.csv")["predicted"]
    assert predicted.value_counts().to_dict() == {"red": 23, "rose": 7}  # as it did


@pytest.mark.usefixtures("folder")
def test_status_and_plan_say_who_made_the_fits(capsys: Any) -> None:
    for command in ("status", "plan"):
        code, output = called(capsys, command, "old.yaml")
        assert code == 0
        assert "2: cdspp 0.2.0 made it" in output


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_run_replaces_fits_for_other_code_where_it_is_told_to(capsys: Any) -> None:
    record = Path(f"{FIT}.json")
    before, predictions = record.read_bytes(), Path(f"{FIT}.parquet").read_bytes()
    code, output = called(capsys, "run", "old.yaml", "--cores", "1")
    assert code == 1
    assert "2 trials would be fitted again only because code changed, in" in output
    assert "core-hours (2: cdspp 0.2.0 made it). Nothing was run" in output
    assert "--remake" in output
    assert record.read_bytes() == before
    code, output = called(capsys, "run", "old.yaml", "--cores", "1", "--", "--dry-run")
    assert (code, "fit_wines" in output) == (0, True), output
    code, output = called(capsys, "run", "old.yaml", "--cores", "1", "--remake")
    assert code == 0, output
    assert record.read_bytes() != before
    assert Path(f"{FIT}.parquet").read_bytes() == predictions
    code, output = called(capsys, "run", "old.yaml", "--cores", "1")
    assert (code, "Nothing to be done" in output) == (0, True)
    assert "all as computed" in called(capsys, "verify", "old.yaml")[1]
