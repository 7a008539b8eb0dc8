"""`cdspp fit` without a method: the vote, its model file, and later labels."""

from __future__ import annotations

import ast
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.own_tables import NAMES, PROBLEM, write_problem

from cdspp import SourceDomain, compare
from cdspp.__main__ import main

pytestmark = pytest.mark.usefixtures("few_candidates")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with source, target, and new rows as CSV."""
    return write_problem(tmp_path)


def predicted(folder: Path, column: str = "predicted") -> list[str]:
    """Return a column of the predictions."""
    table = pd.read_csv(folder / "out.csv", dtype=str, keep_default_na=False)
    return table[column].tolist()


def test_without_a_method_the_vote_is_fitted_and_the_model_keeps_the_reason(
    folder: Path, capsys: Any
) -> None:
    files = [f"--{name}={folder / name}.csv" for name in ("source", "target")]
    written = [f"--output={folder}/out.csv", f"--model={folder}/model.npz"]
    assert main(["fit", *files, *written]) == 0
    output = capsys.readouterr().out.splitlines()
    result = compare(
        PROBLEM.X,
        np.where(PROBLEM.unlabelled, "", NAMES[PROBLEM.truth]),
        source=SourceDomain(PROBLEM.source.X, NAMES[PROBLEM.source.y]),
    )
    assert output[0].startswith(f"target {folder}/target.csv: 52 rows, 12 labelled")
    place = output.index(result.lines[0])
    assert output[place : place + len(result.lines)] == result.lines
    labels = result.estimator.transduction_[PROBLEM.unlabelled]
    assert predicted(folder) == labels.tolist()
    assert {*predicted(folder, "confidence")} == {""}  # votes are no probabilities
    new = [f"--model={folder}/model.npz", f"--target={folder}/new.csv"]
    assert main(["predict", *new, f"--output={folder}/new-labels.csv"]) == 0
    text = capsys.readouterr().out.splitlines()[0]
    n_labelled = np.sum(~PROBLEM.unlabelled)
    assert text == (
        f"model: vote, fitted on {date.today()} to {n_labelled} labelled rows; chosen "
        f"by cdspp compare: {result.lines[0]}"
    )
    table = pd.read_csv(folder / "new-labels.csv", dtype=str, keep_default_na=False)
    expected = result.estimator.predict(PROBLEM.X[::2])
    assert table["predicted"].tolist() == expected.tolist()


def test_a_fit_with_more_labels_says_what_changed(folder: Path, capsys: Any) -> None:
    written = [f"--output={folder}/out.csv", f"--model={folder}/model.npz"]
    target = [f"--target={folder}/target.csv"]
    assert main(["fit", *target, *written]) == 0
    assert "Since" not in capsys.readouterr().out
    table = pd.read_csv(folder / "target.csv", dtype=str, keep_default_na=False)
    old = dict(zip(predicted(folder, "id"), predicted(folder), strict=True))
    empty = np.flatnonzero(table["label"] == "")[:9]
    table.loc[empty, "label"] = NAMES[PROBLEM.truth[empty]]
    table.to_csv(folder / "target.csv", index=False)
    source = [f"--source={folder}/source.csv"]
    assert main(["fit", *source, *target, *written, "--force"]) == 0
    output = capsys.readouterr().out
    new = dict(zip(predicted(folder, "id"), predicted(folder), strict=True))
    moved = sum(old[name] != label for name, label in new.items())
    n_labelled = np.sum(~PROBLEM.unlabelled)
    assert f"{n_labelled} to {n_labelled + 9} labelled rows; still vote; " in output
    assert f"{moved} of {len(new)} predictions changed." in output
    assert "Then: by cdspp compare: Use the vote of 2 methods: about " in output
    assert " Now: by cdspp compare: Use the vote of 3 methods: about " in output


def test_a_fit_of_the_vote_refuses_what_belongs_to_a_method(
    folder: Path, capsys: Any
) -> None:
    target, output = f"--target={folder}/target.csv", f"--output={folder}/out.csv"
    assert main(["fit", target, output, "--option", "alpha=1"]) == 2
    assert "--option needs --method" in capsys.readouterr().err
    method = ["--method", "svm-t", "--candidate", "tit"]
    assert main(["fit", target, output, *method]) == 2
    assert "--candidate is for a fit of the vote" in capsys.readouterr().err
    spreading = ["--candidate", "sklearn.semi_supervised:LabelSpreading"]
    model = f"--model={folder}/model.npz"
    assert main(["fit", target, output, model, *spreading]) == 2
    assert "LabelSpreading has an object of" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()


def test_a_fit_of_tables_needs_no_part_of_studies(folder: Path) -> None:
    words = ["fit", "--method", "cdspp", "--output", str(folder / "out.csv")]
    for name in ("source", "target"):
        words += [f"--{name}", str(folder / f"{name}.csv")]
    loaded = "{k.split('.')[1] for k in sys.modules if k.startswith('cdspp.')}"
    code = (
        f"import sys; from cdspp.cli.main import main; main({words}); print({loaded})"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    packages = ast.literal_eval(done.stdout.splitlines()[-1])
    assert packages == {"cli", "core", "datasets", "methods"}
