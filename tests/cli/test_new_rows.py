"""New rows of `cdspp predict`: order of columns, rows unlike those of the fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from cdspp.cli.main import main
from cdspp.cli.rows import drift_notes
from cdspp.datasets.table_rows import DomainRows
from cdspp.methods.model_file import read_model, save_model

WINES = load_wine()
X, TRUTH = WINES.data[1::2, 7:], WINES.target[1::2]
NAMES = np.array(WINES.feature_names[7:])
NEW = np.arange(len(X)) % 2 == 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write wines as arrays: rows to fit on, new ones, and these in another order."""
    labels = np.full(np.sum(~NEW), -1)
    for code in range(3):
        labels[np.flatnonzero(TRUTH[~NEW] == code)[:5]] = code
    monkeypatch.chdir(tmp_path)
    np.savez("named.npz", X=X[~NEW], y=labels, features=NAMES)
    np.savez("bare.npz", X=X[~NEW], y=labels)
    np.savez("new.npz", X=X[NEW])
    np.savez("reversed.npz", X=X[NEW][:, ::-1], features=NAMES[::-1])
    pd.DataFrame(X[NEW], columns=NAMES).to_csv("new.csv", index=False)
    return tmp_path


def fit(target: str) -> None:
    how = ["--scale", "standardise", "--output", "o.csv", "--model", "m.npz"]
    assert main(["fit", "--method", "cdspp-sup", "--target", target, *how]) == 0


def predict(target: str, *more: str) -> float:
    """Return the accuracy of predictions."""
    files = ["--model", "m.npz", "--target", target, "--output", "p.csv"]
    assert main(["predict", *files, "--force", *more]) == 0
    return float(np.mean(pd.read_csv("p.csv")["predicted"] == TRUTH[NEW]))


@pytest.mark.usefixtures("folder")
def test_columns_of_arrays_are_found_by_name_in_any_order(capsys: Any) -> None:
    fit("named.npz")
    expected = predict("new.csv")
    assert expected > 0.85
    assert "position" not in capsys.readouterr().out
    assert predict("reversed.npz") == expected
    assert "position" not in capsys.readouterr().out
    assert predict("new.npz") == expected
    output = capsys.readouterr().out
    assert "note: new.npz has no column names: columns are matched by pos" in output
    other = NAMES.copy()
    other[0] = "taste"
    np.savez("other.npz", X=X[NEW], features=other)
    files = ["--model", "m.npz", "--target", "other.npz", "--output", "p.csv"]
    assert main(["predict", *files, "--force"]) == 2
    assert f"other.npz: lacks 1 feature of the model: {NAMES[0]}. Add" in (
        capsys.readouterr().err
    )


@pytest.mark.usefixtures("folder")
def test_a_model_of_arrays_without_names_says_that_columns_are_by_position(
    capsys: Any,
) -> None:
    fit("bare.npz")
    capsys.readouterr()
    assert predict("new.csv") > 0.85
    assert "note: the model has no column names: columns are" in capsys.readouterr().out
    assert predict("reversed.npz") < 0.6
    output = capsys.readouterr().out
    assert "are outside the range of the fit (proline: 100 % outside" in output


@pytest.mark.usefixtures("folder")
def test_columns_unlike_those_of_the_fit_are_named(capsys: Any) -> None:
    fit("named.npz")
    capsys.readouterr()
    predict("new.csv", "--strict")
    assert "outside" not in capsys.readouterr().out
    other = pd.read_csv("new.csv")
    other[NAMES[0]] /= 10
    other["proline"] *= 100
    other.to_csv("other.csv", index=False)
    assert predict("other.csv") < 0.6
    output = capsys.readouterr().out
    low, high = X[~NEW][:, -1].min(), X[~NEW][:, -1].max()
    assert "note: values in 2 of 6 columns are outside the range of the fit " in output
    assert f"proline: 100 % outside {low:g} to {high:g}, median" in output
    assert "Convert them to the units of the fit, or fit again with such r" in output


@pytest.mark.usefixtures("folder")
def test_one_class_for_all_new_rows_is_told_and_with_strict_an_error(
    capsys: Any,
) -> None:
    fit("bare.npz")
    np.savez("far.npz", X=X[NEW] + [0, 0, 0, 0, 0, 1e5])
    predict("far.npz")
    assert "note: the model predicts class" in capsys.readouterr().out
    Path("p.csv").unlink()
    files = ["--model", "m.npz", "--target", "far.npz", "--output", "p.csv"]
    with pytest.raises(SystemExit, match="1"):
        main(["predict", *files, "--strict"])
    output = capsys.readouterr()
    assert "predictions are degenerate (one class); no file written" in output.out
    assert "outside the range of the fit" in output.out
    assert not Path("p.csv").exists()


@pytest.mark.usefixtures("folder")
def test_a_model_without_ranges_predicts_and_warns_of_none(capsys: Any) -> None:
    fit("named.npz")
    expected = predict("new.csv")
    model, kept = read_model("m.npz")
    del kept["ranges"]  # a model that the library saved has none
    save_model("m.npz", model, kept)
    capsys.readouterr()
    assert predict("new.csv") == expected
    np.savez("far.npz", X=X[NEW] * 1e3, features=NAMES)
    predict("far.npz")
    assert "outside" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("draw", "n_fit", "n_new"),
    [("normal", 10, 1), ("standard_t", 15, 300), ("lognormal", 200, 20)],
)
def test_rows_like_those_of_the_fit_raise_an_alarm_in_two_of_a_hundred_files_at_most(
    draw: str, n_fit: int, n_new: int
) -> None:
    rng, more = np.random.default_rng(0), {"df": 2} if draw == "standard_t" else {}
    alarms = 0
    for _ in range(300):
        rows = getattr(rng, draw)(size=(n_fit + n_new, 12), **more)
        fitted, new = rows[:n_fit], rows[n_fit:]
        ranges = np.array([fitted.min(axis=0), fitted.max(axis=0)])
        alarms += any(drift_notes(DomainRows("new", new, [], []), ranges, n_fit))
    assert alarms <= 6
