"""`cdspp fit` without a method: the bet, its reason in the model, and later labels."""

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

from cdspp import SourceDomain, compare, make
from cdspp.__main__ import main
from cdspp.methods.problem import scale_domains


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with source, target, and new rows as CSV."""
    return write_problem(tmp_path)


def predicted(folder: Path, column: str = "predicted") -> list[str]:
    """Return a column of the predictions."""
    table = pd.read_csv(folder / "out.csv", dtype=str, keep_default_na=False)
    return table[column].tolist()


def test_without_a_method_the_bet_is_fitted_and_the_model_keeps_the_reason(
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
    assert output[:2] == result.lines[:2]
    assert output[2] == (f"Method: {result.best_bet}, the bet; --scale standardise.")
    scaling, source = scale_domains("standardise", PROBLEM.X, PROBLEM.source)
    model = make(result.best_bet)
    model.fit(scaling.apply(PROBLEM.X), PROBLEM.y, source=source)
    assert predicted(folder) == NAMES[model.history_[-1].prediction].tolist()
    new = [f"--model={folder}/model.npz", f"--target={folder}/new.csv"]
    assert main(["predict", *new, f"--output={folder}/new-labels.csv"]) == 0
    text = capsys.readouterr().out.splitlines()[0]
    n_labelled = np.sum(~PROBLEM.unlabelled)
    assert text == (
        f"model: {result.best_bet}, fitted on {date.today()} to {n_labelled} labelled "
        f"rows; the best bet ({result.candidate} is better than target-only with a "
        f"probability of {100 * result.probability:.0f} %; evidence: {result.evidence})"
    )


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
    assert (
        f"{n_labelled} to {n_labelled + 9} labelled rows; still target-only; " in output
    )
    assert f"{moved} of {len(new)} predictions changed." in output
    assert "Then: chosen because no source was given. Now: the best bet" in output


def test_a_fit_without_a_source_is_of_the_target_alone(
    folder: Path, capsys: Any
) -> None:
    target, output = f"--target={folder}/target.csv", f"--output={folder}/out.csv"
    assert main(["fit", target, output]) == 0
    assert "Method: target-only, because there is no source" in capsys.readouterr().out
    assert main(["fit", target, output, "--force", "--option", "alpha=1"]) == 2
    assert "--option needs --method" in capsys.readouterr().err


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
