"""Two tables that share columns, and objects in both: `cdspp fit` and `compare`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cdspp.cli.main import main

pytestmark = pytest.mark.usefixtures("few_candidates")

SOURCE = ["age", "s1", "s2", "chol", "slope", "s3", "s4", "s5"]
TARGET = ["t0", "chol", "slope", "t3", "t4", "age", "t6", "t7"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    centres, views = rng.standard_normal((4, 6)), rng.standard_normal((2, 6, 8))
    for name in ("age", "chol", "slope"):
        views[1][:, TARGET.index(name)] = views[0][:, SOURCE.index(name)]

    def draw(codes: np.ndarray, view: int) -> pd.DataFrame:
        names = (SOURCE, TARGET)[view]
        rows = (centres[codes] + shift[: len(codes)]) @ views[view]
        return pd.DataFrame(rows, columns=names)

    shift = 0.5 * rng.standard_normal((120, 6))
    codes = np.arange(120) % 4
    draw(codes, 0).assign(label=codes).to_csv(tmp_path / "a.csv", index=False)
    shift = 0.5 * rng.standard_normal((120, 6))
    known = np.where(np.arange(120) < 16, codes, -1)
    draw(codes, 1).assign(label=known).to_csv(tmp_path / "b.csv", index=False)
    shift, some = 0.5 * rng.standard_normal((50, 6)), rng.integers(4, size=50)
    for view, name in enumerate(("pa.csv", "pb.csv")):
        paired = draw(some, view).assign(id=np.arange(50))
        paired.sample(frac=1, random_state=view).to_csv(tmp_path / name, index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILES = ["--source", "a.csv", "--target", "b.csv"]
PAIRED = ["--paired", "pa.csv", "pb.csv"]


def accuracy(predictions: str) -> float:
    result = pd.read_csv(predictions)["predicted"].to_numpy()
    return float(np.mean(result == np.arange(16, 120) % 4))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("scale", ["none", "standardise"])
def test_a_fit_takes_the_columns_of_equal_names(capsys: Any, scale: str) -> None:
    told = [*FILES, "--scale", scale, "--output", "o.csv"]
    assert main(["fit", "--method", "shared-columns", *told]) == 0
    output = capsys.readouterr().out
    assert "shared: 3 columns have the same name in both: age, chol, slope" in output
    assert accuracy("o.csv") > 0.6


@pytest.mark.usefixtures("folder")
def test_a_fit_takes_pairs_and_its_model_predicts_new_rows(capsys: Any) -> None:
    told = [*FILES, *PAIRED, "--scale", "standardise", "--output", "o.csv"]
    assert main(["fit", "--method", "paired-map", *told, "--model", "m.npz"]) == 0
    output = capsys.readouterr().out
    assert "paired: 50 objects of 50 and 50" in output
    assert "shared" not in output
    assert accuracy("o.csv") > 0.9
    assert (
        main(["predict", "--model", "m.npz", "--target", "b.csv", "--output", "p"]) == 0
    )
    fitted = pd.read_csv("o.csv")["predicted"]
    assert pd.read_csv("p")["predicted"][16:].tolist() == fitted.tolist()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("method", "more", "reason"),
    [
        ("paired-map", [], "PairedMap needs paired rows: .* option --paired"),
        ("shared-columns", ["--shared", "none"], "SharedColumns needs shared columns"),
        ("shared-columns", ["--scale", "pca"], "--scale pca leaves no columns to shar"),
    ],
)
def test_a_method_without_its_bridge_says_which_option_gives_it(
    method: str, more: list[str], reason: str, capsys: Any
) -> None:
    assert main(["fit", "--method", method, *FILES, *more, "--output", "o.csv"]) == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert re.search(reason, output)


@pytest.mark.usefixtures("folder")
def test_compare_lets_bridged_methods_take_part(capsys: Any) -> None:
    assert main(["compare", *FILES, *PAIRED, "--repeats", "5"]) == 0
    output = capsys.readouterr().out
    for word in ("semi-supervised shared columns", "semi-supervised paired map"):
        assert word in output
    assert main(["compare", *FILES, "--shared", "none", "--repeats", "5"]) == 0
    assert "semi-supervised shared columns" not in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_shares_of_rows_are_not_taken_for_a_shared_column(capsys: Any) -> None:
    """Site A is a quarter of one table and three quarters of the other."""
    kinds = [np.array([*"xyyy"] * 10), np.array([*"xxxy"] * 10)]
    for name, kind in zip("ab", kinds, strict=True):
        table = pd.DataFrame({"site": np.where(kind == "x", "A", "B"), name: range(40)})
        label = kind if name == "a" else np.where(np.arange(40) < 8, kind, "")
        table.assign(label=label).to_csv(f"{name}.csv", index=False)
    told = ["--method", "shared-columns", *FILES, "--output", "o.csv"]
    assert main(["fit", *told, "--categories", "one-hot"]) == 0
    assert pd.read_csv("o.csv")["predicted"].tolist() == kinds[1][8:].tolist()
    assert main(["fit", *told, "--categories", "frequency", "--force"]) == 2
    note, error = capsys.readouterr().err.splitlines()
    assert note.startswith("note: not shared: site: shares of rows (frequency)")
    assert "SharedColumns needs shared columns" in error


@pytest.fixture
def units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write lengths of two classes, in mm and in cm, and those of new rows."""
    rng = np.random.default_rng(0)

    def write(name: str, n: int, unit: float, n_labelled: int) -> None:
        codes = np.arange(n) % 2
        numbers = [100.0, 30.0, 60.0] + np.outer(codes, [12, -5, 6])
        rows = (numbers + rng.normal(0, [6, 2.5, 3], (n, 3))) / unit
        table = pd.DataFrame(rows, columns=["length", "width", "height"])
        known = np.where(np.arange(n) < n_labelled, codes.astype(str), "")
        table.assign(label=known).to_csv(tmp_path / name, index=False)

    write("a.csv", 120, 1, 120)
    write("b.csv", 48, 10, 8)
    monkeypatch.chdir(tmp_path)


EACH_TIMES_TEN = "length=length*10,width=width*10,height=height*10"


@pytest.mark.usefixtures("units")
def test_shared_columns_in_other_units_are_named_with_their_own_numbers(
    capsys: Any,
) -> None:
    fit = ["fit", "--method", "shared-columns", *FILES, "--scale", "standardise"]
    assert main([*fit, "--output", "o.csv"]) == 0
    output = capsys.readouterr().out
    assert output.count("differ in spread") == 1
    assert "source column length: median 10" in output
    assert "target column length: median 10." in output
    assert (
        "--shared length=length*NUMBER, --scale standardise-each or --shared" in output
    )
    assert "sees target rows that are nearly parallel" in output


@pytest.mark.usefixtures("units")
@pytest.mark.parametrize(
    "more",
    [
        ["--scale", "standardise", "--shared", EACH_TIMES_TEN],
        ["--scale", "standardise-each"],
    ],
)
def test_units_are_converted_or_each_file_standardised_also_for_new_rows(
    more: list[str], capsys: Any
) -> None:
    fit = ["fit", "--method", "shared-columns", *FILES, *more, "--strict"]
    assert main([*fit, "--output", "o.csv", "--model", "m.npz"]) == 0
    assert "differ in spread" not in capsys.readouterr().out
    result = pd.read_csv("o.csv")["predicted"]
    assert np.mean(result == np.arange(8, 48) % 2) > 0.9
    new = ["predict", "--model", "m.npz", "--target", "b.csv", "--output", "p.csv"]
    assert main(new) == 0
    assert pd.read_csv("p.csv")["predicted"][8:].tolist() == result.tolist()


@pytest.mark.usefixtures("folder")
def test_paired_rows_are_converted_as_the_rows_of_the_source(capsys: Any) -> None:
    for name in ("a.csv", "pa.csv"):
        table = pd.read_csv(name)
        table["age"] *= 10
        table.to_csv(name, index=False)
    found = []
    for shared in ("age=age,chol=chol", "age=age*10,chol=chol"):
        how = ["--shared", shared, "--scale", "none", "--output", "o.csv", "--force"]
        assert main(["fit", "--method", "paired-map", *FILES, *PAIRED, *how]) == 0
        found.append(accuracy("o.csv"))
    assert found[1] > found[0] + 0.02
    assert "shared" not in capsys.readouterr().out


@pytest.fixture
def similar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write an equal name, two similar ones, and 25 objects that are in both files."""
    rng = np.random.default_rng(0)
    codes = np.arange(145) % 2
    lengths = np.outer(codes, [12, -5]) + rng.normal([100, 30], [6, 2.5], (145, 2))
    both = {"id": [f"p{3 * k}" for k in range(145)], "age": rng.normal(40, 9, 145)}
    known = np.where(np.arange(145) % 9 < 2, codes.astype(str), "")
    a = pd.DataFrame(both | {"length_mm": lengths[:, 0], "heigth_mm": lengths[:, 1]})
    b = pd.DataFrame(both | {"Length (cm)": lengths[:, 0], "Breadth": lengths[:, 1]})
    b["Length (cm)"] /= 10
    a.assign(label=codes)[:85].to_csv(tmp_path / "a.csv", index=False)
    b.assign(label=known)[60:].to_csv(tmp_path / "b.csv", index=False)
    monkeypatch.chdir(tmp_path)


def suggestions(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("suggestion: ")]


@pytest.mark.usefixtures("similar")
def test_compare_proposes_a_bridge_and_takes_none_in_silence(capsys: Any) -> None:
    chosen = ["--method", "svm-t", "--method", "shared-columns", "--repeats", "5"]
    assert main(["compare", *FILES, *chosen]) == 0
    output = capsys.readouterr().out
    assert "shared: 1 column has the same name in both: age" in output
    length, ids = suggestions(output)
    option = "--shared 'same-names,length_mm=Length (cm)*10'"
    assert length.startswith(
        f"suggestion: {option}: similarity of names 1.00, distance"
    )
    assert ids.startswith(
        "suggestion: 25 ids occur in both files, of 85 and 85 rows. If"
    )
    assert ids.endswith("add --paired pairs-a.csv pairs-b.csv")
    assert main(["compare", *FILES, *chosen, *shlex.split(option)]) == 0
    output = capsys.readouterr().out
    assert suggestions(output) == [ids]
    assert "differ in spread" not in output


@pytest.mark.usefixtures("units")
def test_an_answer_of_no_use_is_an_error_where_that_is_asked_for(capsys: Any) -> None:
    how = [*FILES, "--scale", "standardise", "--strict"]
    fit = ["fit", "--method", "shared-columns", *how, "--output", "o.csv"]
    with pytest.raises(SystemExit, match="1"):
        main([*fit, "--model", "m.npz"])
    output = capsys.readouterr()
    assert (
        "--strict: the fit is degenerate (parallel rows); no file written" in output.out
    )
    assert "target b.csv: 48 rows" in output.out
    assert not [*Path().glob("o.csv"), *Path().glob("m.npz")]
    chosen = ["--method", "svm-t", "--method", "shared-columns", "--repeats", "5"]
    with pytest.raises(SystemExit, match="1"):
        main(["compare", *how, *chosen])
    output = capsys.readouterr()
    assert "\nUse the vote of " in output.out
    assert "failed fits of semi-supervised shared columns" in output.out
    assert main(["compare", *how, *chosen, "--shared", EACH_TIMES_TEN]) == 0
