"""A method on the user's own files: what it reads, writes and says."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from support.toy_problem import toy_problem

from cdspp import CDSPP, SourceDomain
from cdspp.__main__ import main
from cdspp.cli.tabular import read_domain
from cdspp.methods import make

NAMES = np.array(["ant", "bee", "cat", "dog"])


def write_csv(path: Path, X: np.ndarray, labels: Any = None, ids: Any = None) -> Path:
    """Write a domain as CSV."""
    header = [f"f{k}" for k in range(X.shape[1])]
    columns = [*X.astype(str).T]
    if labels is not None:
        header.insert(1, "label")
        columns.insert(1, labels)
    if ids is not None:
        header.append("id")
        columns.append(ids)
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *zip(*columns, strict=True)])
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read a CSV with a header."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a problem as CSV and as NPZ."""
    problem = toy_problem(spread=0.3)
    source, unlabelled = problem.source, problem.unlabelled
    labels = np.where(unlabelled, "", NAMES[problem.truth])
    ids = [f"t{k}" for k in range(len(labels))]
    write_csv(tmp_path / "source.csv", source.X, NAMES[source.y])
    write_csv(tmp_path / "target.csv", problem.X, labels, ids)
    write_csv(tmp_path / "new.csv", problem.X[::2])
    np.savez(tmp_path / "source.npz", X=source.X, y=NAMES[source.y])
    np.savez(
        tmp_path / "target.npz",
        X=problem.X,
        y=np.where(unlabelled, "-1", NAMES[problem.truth]),
        ids=np.array(ids),
    )
    return tmp_path


def run(command: str, *more: str, **files: Path) -> int:
    """Run `cdspp COMMAND` with a file for each option."""
    options = [str(part) for name in files for part in (f"--{name}", files[name])]
    return main([command, *options, *more])


def fit(folder: Path, *more: str, kind: str = "csv") -> int:
    """Run `cdspp fit` on the files of the folder."""
    source, target = folder / f"source.{kind}", folder / f"target.{kind}"
    return run("fit", *more, source=source, target=target, output=folder / "out.csv")


def predicted(folder: Path, column: str = "predicted") -> list[str]:
    """Return a column of the predictions."""
    return [row[column] for row in read_csv(folder / "out.csv")]


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_fit_writes_the_predictions_of_the_library(folder: Path, kind: str) -> None:
    assert fit(folder, kind=kind) == 0
    problem = toy_problem(spread=0.3)
    last = problem.fit(CDSPP()).history_[-1]
    ids = np.flatnonzero(problem.unlabelled)
    assert predicted(folder, "id") == [f"t{k}" for k in ids]
    assert predicted(folder) == NAMES[last.prediction].tolist()
    confidence = np.array(predicted(folder, "confidence"), dtype=float)
    np.testing.assert_allclose(confidence, last.confidence, rtol=1e-4)


def test_two_runs_write_the_same_bytes(folder: Path) -> None:
    written = set()
    for _ in range(2):
        assert fit(folder, "--method", "ddacl") == 0
        written.add((folder / "out.csv").read_bytes())
    assert len(written) == 1


def test_options_reach_the_method(folder: Path) -> None:
    options = ["alpha=0.5", "center=false", "max_iter=2", "selection=all"]
    assert fit(folder, *(part for o in options for part in ("--option", o))) == 0
    model = make("cdspp", alpha=0.5, center=False, max_iter=2, selection="all")
    expected = toy_problem(spread=0.3).fit(model).history_[-1].confidence
    confidence = np.array(predicted(folder, "confidence"), dtype=float)
    np.testing.assert_allclose(confidence, expected, rtol=1e-4)


def test_a_method_without_confidences_leaves_them_empty(folder: Path) -> None:
    assert fit(folder, "--method", "svm-t", "--option", "strategy=ovo") == 0
    assert set(predicted(folder, "confidence")) == {""}


def test_without_a_source_the_target_stands_alone(folder: Path) -> None:
    assert run("fit", target=folder / "target.csv", output=folder / "out.csv") == 0
    problem = toy_problem(spread=0.3)
    expected = CDSPP().fit(problem.X, problem.y).history_[-1].prediction
    assert predicted(folder) == NAMES[expected].tolist()


def test_a_kept_model_predicts_new_rows(folder: Path) -> None:
    model, new = folder / "model.joblib", folder / "new.csv"
    assert fit(folder, "--model", str(model)) == 0
    assert run("predict", model=model, target=new, output=folder / "out.csv") == 0
    problem = toy_problem(spread=0.3)
    expected = problem.fit(CDSPP()).predict(problem.X[::2])
    assert predicted(folder) == NAMES[expected].tolist()
    assert predicted(folder, "id") == [str(k + 1) for k in range(len(expected))]
    assert all(0.25 <= float(c) <= 1 for c in predicted(folder, "confidence"))


def test_numbers_as_labels_match_between_csv_and_npz(tmp_path: Path) -> None:
    problem = toy_problem(spread=0.3)
    source = tmp_path / "source.npz"
    np.savez(source, X=problem.source.X, y=problem.source.y.astype(float))
    target = write_csv(tmp_path / "target.csv", problem.X, problem.y)
    assert run("fit", source=source, target=target, output=tmp_path / "out.csv") == 0
    expected = problem.fit(CDSPP()).history_[-1].prediction
    assert predicted(tmp_path) == [str(label) for label in expected]


UNLABELLED = "label,a\ncat,1\n,2\n-1,3\n"
MISTAKES: list[tuple[str, str, Any, str]] = [
    ("source", "nothing.csv", None, "nothing.csv: no such file"),
    ("source", "rows.xlsx", "x", "ends in .csv or .npz"),
    ("target", "empty.csv", "", "empty. Expected a header"),
    ("target", "header.csv", "label,a\n", "expected rows of features, found none"),
    ("target", "narrow.csv", "label\ncat\n", "expected rows of features, found none"),
    (
        "target",
        "word.csv",
        "a,b\n1,x\ny,2\n",
        "record 2, column 'b': 'x' is not a number",
    ),
    (
        "target",
        "short.csv",
        "a,b,label\n1,2,c\n3\n",
        "record 3 has 1 cells, the header 3",
    ),
    (
        "target",
        "long.csv",
        "a,b\n \n1,2\n3,4,5\n",
        "record 3 has 3 cells, the header 2",
    ),
    ("target", "quote.csv", 'a,label\n1,"cat\n', "quote.csv: cannot be read as CSV"),
    ("target", "latin.csv", "a\n\xe9\n", "not a text file in UTF-8 ('utf-8' codec"),
    ("target", "twice.csv", "a,a\n1,2\n", "the header has the column 'a' twice"),
    ("target", "bare.csv", "a,b\n1,2\n", "needs at least one labelled target row"),
    ("target", "nan.csv", "a,label\nnan,cat\n", "Input X contains NaN"),
    ("source", "target.csv", UNLABELLED, "2 of 3 have none (first: row 2)"),
    ("source", "broken.npz", "no archive", "not a readable NPZ file"),
    ("source", "z.npz", {"Z": np.ones(3)}, "a matrix X of numbers, found Z (3,)"),
    (
        "source",
        "uneven.npz",
        {"X": np.ones((3, 2)), "y": np.ones(2)},
        "y has shape (2,), expected one entry for each of",
    ),
]


@pytest.mark.parametrize(
    ("role", "name", "content", "message"), MISTAKES, ids=[m[1] for m in MISTAKES]
)
def test_a_mistake_in_a_file_is_one_line_and_exit_code_2(
    folder: Path, role: str, name: str, content: Any, message: str, capsys: Any
) -> None:
    if isinstance(content, str):
        (folder / name).write_text(content, encoding="latin-1")
    elif content is not None:
        np.savez(folder / name, **content)
    files = {"source": folder / "source.csv", "target": folder / "source.csv"}
    assert run("fit", **files | {role: folder / name}, output=folder / "out.csv") == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("cdspp: error: ")
    assert said.count("\n") == 1
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "cdsp"], "did you mean 'cdspp'"),
        (["--option", "alhpa=1"], "did you mean 'alpha'"),
        (["--option", "alpha=-1"], "'alpha' parameter of CDSPP must be"),
        (["--method", "svm-t", "--option", "C=high"], "'C' parameter of SVMT"),
    ],
)
def test_a_wrong_method_or_option_is_named(
    folder: Path, arguments: list[str], message: str, capsys: Any
) -> None:
    assert fit(folder, *arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"text", "not a model"), ({"model": 1}, "not a model"), (None, "no such file")],
)
def test_a_file_that_is_no_model_is_refused(
    folder: Path, content: Any, message: str, capsys: Any
) -> None:
    wrong = folder / "wrong.joblib"
    if isinstance(content, bytes):
        wrong.write_bytes(content)
    elif content is not None:
        joblib.dump(content, wrong)
    target, output = folder / "new.csv", folder / "out.csv"
    assert run("predict", model=wrong, target=target, output=output) == 2
    assert message in capsys.readouterr().err


def test_other_feature_columns_than_at_fit_are_refused(
    folder: Path, capsys: Any
) -> None:
    model, new, wide = (folder / n for n in ("model.joblib", "new.csv", "wide.npz"))
    assert fit(folder, "--model", str(model)) == 0
    new.write_text(new.read_text().replace("f0,f1", "f1,f0", 1))
    np.savez(wide, X=np.ones((2, 30)))
    for target, message in ((new, "Expected f0, f1"), (wide, "X has 30 features")):
        assert run("predict", model=model, target=target, output=folder / "o.csv") == 2
        assert message in capsys.readouterr().err


def test_source_rows_equal_the_arrays_it_was_written_from(folder: Path) -> None:
    problem = toy_problem(spread=0.3)
    for kind in ("csv", "npz"):
        source = read_domain(folder / f"source.{kind}").as_source()
        assert isinstance(source, SourceDomain)
        np.testing.assert_array_equal(source.X, problem.source.X)
        assert source.y == NAMES[problem.source.y].tolist()
