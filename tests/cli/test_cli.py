"""The command line: what it reads, writes and says."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toy_problem import toy_problem

from cdspp import CDSPP, SourceDomain
from cdspp.__main__ import main
from cdspp.methods import available, make

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


def fit(folder: Path, *more: str, kind: str = "csv") -> int:
    """Run `cdspp fit` on the files of the folder."""
    files = [
        "--source",
        folder / f"source.{kind}",
        "--target",
        folder / f"target.{kind}",
    ]
    return main(["fit", *map(str, files), "--output", str(folder / "out.csv"), *more])


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_fit_writes_the_predictions_of_the_library(folder: Path, kind: str) -> None:
    assert fit(folder, kind=kind) == 0
    problem = toy_problem(spread=0.3)
    history = problem.fit(CDSPP()).history_
    rows = read_csv(folder / "out.csv")
    ids = np.flatnonzero(problem.unlabelled)
    assert [row["id"] for row in rows] == [f"t{k}" for k in ids]
    predicted = [row["predicted"] for row in rows]
    assert predicted == NAMES[history[-1].prediction].tolist()
    confidence = [float(row["confidence"]) for row in rows]
    np.testing.assert_allclose(confidence, history[-1].confidence, rtol=1e-4)


def test_two_runs_write_the_same_bytes(folder: Path) -> None:
    written = []
    for _ in range(2):
        assert fit(folder, "--method", "svm-t") == 0
        written.append((folder / "out.csv").read_bytes())
    assert written[0] == written[1]


def test_options_reach_the_method(folder: Path) -> None:
    options = ["alpha=0.5", "center=false", "max_iter=2", "selection=all"]
    assert fit(folder, *(part for o in options for part in ("--option", o))) == 0
    problem = toy_problem(spread=0.3)
    model = make("cdspp", alpha=0.5, center=False, max_iter=2, selection="all")
    history = problem.fit(model).history_
    confidence = [float(row["confidence"]) for row in read_csv(folder / "out.csv")]
    np.testing.assert_allclose(confidence, history[-1].confidence, rtol=1e-4)


def test_a_method_without_confidences_leaves_them_empty(folder: Path) -> None:
    assert fit(folder, "--method", "svm-t", "--option", "strategy=ovo") == 0
    assert {row["confidence"] for row in read_csv(folder / "out.csv")} == {""}


def test_without_a_source_the_target_stands_alone(folder: Path) -> None:
    files = ["--target", folder / "target.csv", "--output", folder / "out.csv"]
    assert main(["fit", *map(str, files)]) == 0
    problem = toy_problem(spread=0.3)
    expected = CDSPP().fit(problem.X, problem.y).history_[-1].prediction
    predicted = [row["predicted"] for row in read_csv(folder / "out.csv")]
    assert predicted == NAMES[expected].tolist()


def test_a_kept_model_predicts_new_rows(folder: Path) -> None:
    model = str(folder / "model.joblib")
    assert fit(folder, "--model", model) == 0
    files = ["--target", folder / "new.csv", "--output", folder / "new-out.csv"]
    assert main(["predict", "--model", model, *map(str, files)]) == 0
    problem = toy_problem(spread=0.3)
    expected = problem.fit(CDSPP()).predict(problem.X[::2])
    rows = read_csv(folder / "new-out.csv")
    assert [row["predicted"] for row in rows] == NAMES[expected].tolist()
    assert [row["id"] for row in rows] == [str(k + 1) for k in range(len(expected))]
    assert all(0.25 <= float(row["confidence"]) <= 1 for row in rows)


def test_numbers_as_labels_match_between_csv_and_npz(tmp_path: Path) -> None:
    problem = toy_problem(spread=0.3)
    np.savez(
        tmp_path / "source.npz", X=problem.source.X, y=problem.source.y.astype(float)
    )
    write_csv(tmp_path / "target.csv", problem.X, problem.y)
    files = {"source": "source.npz", "target": "target.csv", "output": "out.csv"}
    parts = [str(p) for k, v in files.items() for p in (f"--{k}", tmp_path / v)]
    assert main(["fit", *parts]) == 0
    expected = problem.fit(CDSPP()).history_[-1].prediction
    predicted = [row["predicted"] for row in read_csv(tmp_path / "out.csv")]
    assert predicted == [str(label) for label in expected]


def test_methods_lists_every_method_with_its_printed_name(capsys: Any) -> None:
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(available())]] == list(available())
    assert any("CDSPP_sup *" in line for line in lines)


def spoil(folder: Path, name: str) -> list[str]:
    """Return arguments of `cdspp fit` with one mistake in them."""
    arguments = {
        "--source": folder / "source.csv",
        "--target": folder / "target.csv",
        "--output": folder / "out.csv",
    }
    text = (folder / "target.csv").read_text()
    files = {
        "missing file": ("--source", folder / "nothing.csv", None),
        "odd suffix": ("--source", folder / "rows.xlsx", "x"),
        "empty file": ("--target", folder / "empty.csv", ""),
        "only a header": ("--target", folder / "header.csv", "label,a\n"),
        "no features": ("--target", folder / "narrow.csv", "label\ncat\n"),
        "a word among numbers": ("--target", folder / "word.csv", "a,label\nx,cat\n"),
        "a short row": ("--target", folder / "short.csv", "a,b,label\n1,2,cat\n3\n"),
        "a long row": ("--target", folder / "long.csv", "a,label\n \n1,cat\n3,cat,x\n"),
        "an open quote": ("--target", folder / "quote.csv", 'a,label\n1,"cat\n'),
        "another encoding": ("--target", folder / "latin.csv", "a,label\n1,\xe9\n"),
        "a column twice": ("--target", folder / "twice.csv", "a,a,label\n1,2,cat\n"),
        "no label at all": ("--target", folder / "bare.csv", "a,b\n1,2\n3,4\n"),
        "a cell nan": ("--target", folder / "nan.csv", "a,label\nnan,cat\n"),
        "an unlabelled source": ("--source", folder / "target.csv", text),
        "not an archive": ("--source", folder / "broken.npz", "no archive"),
    }
    if name in files:
        option, path, content = files[name]
        if content is not None:
            path.write_text(content, encoding="latin-1")
        arguments[option] = path
    if name == "an archive without X":
        np.savez(folder / "wrong.npz", Z=np.ones(3))
        arguments["--source"] = folder / "wrong.npz"
    if name == "labels of another length":
        np.savez(folder / "uneven.npz", X=np.ones((3, 2)), y=np.ones(2))
        arguments["--source"] = folder / "uneven.npz"
    return ["fit", *(str(part) for pair in arguments.items() for part in pair)]


MISTAKES = {
    "missing file": "nothing.csv: no such file",
    "odd suffix": "ends in .csv or .npz",
    "empty file": "empty. Expected a header",
    "only a header": "expected rows of features, found none",
    "no features": "expected rows of features, found none",
    "a word among numbers": "record 2, column 'a': 'x' is not a number",
    "a short row": "record 3 has 1 cells, the header 3",
    "a long row": "record 3 has 3 cells, the header 2",
    "an open quote": "quote.csv: cannot be read as CSV",
    "another encoding": "not a text file in UTF-8 ('utf-8' codec can't decode byte",
    "a column twice": "the header has the column 'a' twice",
    "no label at all": "needs at least one labelled target row",
    "a cell nan": "Input X contains NaN",
    "an unlabelled source": "40 of 52 have none (first: row 13)",
    "not an archive": "not a readable NPZ file",
    "an archive without X": "expected a matrix X of numbers, found Z (3,)",
    "labels of another length": "y has shape (2,), expected one entry for each of",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_file_is_one_line_and_exit_code_2(
    folder: Path, mistake: str, capsys: Any
) -> None:
    assert main(spoil(folder, mistake)) == 2
    said = capsys.readouterr().err
    assert MISTAKES[mistake] in said
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
    "arguments",
    [
        [],
        ["fit", "--target", "a.csv"],
        ["fit", "--target", "a.csv", "--output", "b.csv", "--option", "alpha"],
        ["bench"],
        ["bench", "solver", "--repeat", "0"],
        ["bench", "solver", "--size", "huge"],
        ["unknown"],
    ],
)
def test_wrong_arguments_exit_with_code_2(arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_a_file_that_is_no_model_is_refused(folder: Path, capsys: Any) -> None:
    import joblib

    wrong = folder / "wrong.joblib"
    files = ["--target", str(folder / "new.csv"), "--output", str(folder / "o.csv")]
    for content in ("text", "pickle", "nothing"):
        wrong.unlink(missing_ok=True)
        if content == "text":
            wrong.write_text("no model")
        if content == "pickle":
            joblib.dump({"model": 1}, wrong)
        assert main(["predict", "--model", str(wrong), *files]) == 2
        said = capsys.readouterr().err
        assert ("no such file" if content == "nothing" else "not a model") in said


def test_other_feature_columns_than_at_fit_are_refused(
    folder: Path, capsys: Any
) -> None:
    model = str(folder / "model.joblib")
    assert fit(folder, "--model", model) == 0
    text = (folder / "new.csv").read_text()
    (folder / "new.csv").write_text(text.replace("f0,f1", "f1,f0", 1))
    files = ["--target", str(folder / "new.csv"), "--output", str(folder / "o.csv")]
    assert main(["predict", "--model", model, *files]) == 2
    assert "Expected f0, f1" in capsys.readouterr().err
    np.savez(folder / "wide.npz", X=np.ones((2, 30)))
    files[1] = str(folder / "wide.npz")
    assert main(["predict", "--model", model, *files]) == 2
    assert "X has 30 features" in capsys.readouterr().err


def test_summary_prints_the_headline_of_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    report = types.ModuleType("cdspp.report.page.headline")
    report.headline = lambda folder: f"headline of {folder}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cdspp.report.page.headline", report)
    assert main(["summary", "results/embedded"]) == 0
    assert capsys.readouterr().out == "headline of results/embedded\n"


def test_bench_writes_the_numbers_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    import json

    from cdspp.bench import measure as bench
    from cdspp.bench import solver as bench_solver

    tiny = bench.Size("office-caltech", 3, 12, 6, 6, 9, 40)

    def here(what: str, size: Any, in_use: Any = (), *, repeat: int) -> dict[str, Any]:
        return bench.run_measurement(what, size, in_use)

    monkeypatch.setattr(bench, "SIZES", {"office-caltech": tiny})
    monkeypatch.setattr(bench_solver, "measure", here)
    path = tmp_path / "bench.json"
    arguments = ["--size", "office-caltech", "--repeat", "1", "--json", str(path)]
    assert main(["bench", "solver", *arguments]) == 0
    assert "dense over closed form" in capsys.readouterr().out
    assert json.loads(path.read_text())[0]["size"]["n_source"] == 12


def test_the_module_runs_as_a_program_and_explains_its_files() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cdspp", "fit", "--help"],
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    for part in ("column `label`", "examples:", "--option NAME=VALUE", "confidence"):
        assert part in done.stdout


def test_source_rows_equal_the_arrays_it_was_written_from(folder: Path) -> None:
    from cdspp.cli.tabular import read_domain

    problem = toy_problem(spread=0.3)
    for kind in ("csv", "npz"):
        source = read_domain(folder / f"source.{kind}").as_source()
        assert isinstance(source, SourceDomain)
        np.testing.assert_array_equal(source.X, problem.source.X)
        assert source.y == NAMES[problem.source.y].tolist()


def test_cells_of_a_csv_are_read_to_the_last_bit_and_no_class_is_missing(
    tmp_path: Path,
) -> None:
    from cdspp.cli.tabular import read_domain

    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**64, 999, dtype=np.uint64).view(np.float64)
    cells = [f"{x:.{k % 20}g}" for k, x in enumerate(numbers)] + ["+.5", "1_0", " 1"]
    labels = ["NA", "nan", "null", "None", " -1 ", ""] * 167
    lines = [f"{x},{label},{x}" for x, label in zip(cells, labels, strict=True)]
    text = "\ufeff x ,label,id\n\n" + "\r\n".join(lines)
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8", newline="")
    found = read_domain(tmp_path / "rows.csv")
    expected = np.array([float(x) for x in cells])
    assert found.X.tobytes() == expected.tobytes()
    assert (found.features, list(found.ids)) == (("x",), cells)
    assert found.labels == ["NA", "nan", "null", "None", "", ""] * 167


def test_predictions_are_written_as_csv_with_quotes_where_needed(
    tmp_path: Path,
) -> None:
    from cdspp.cli.tabular import write_predictions

    path = tmp_path / "new" / "out.csv"
    write_predictions(path, ["a,b", "é"], ["NA", 'q"'], [1 / 3, 1.0])
    text = 'id,predicted,confidence\n"a,b",NA,0.333333\né,"q""",1\n'
    assert path.read_bytes() == text.encode()


def test_the_plan_of_a_study_is_told_without_its_data(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(repository)
    assert main(["plan", "resources/studies/reuters-600.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["method", "jobs", "fits", "core-hours", "peak", "MB"]
    assert any(line.startswith("all ") for line in lines)


def test_a_study_file_without_keys_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "list.yaml").write_text("- 1\n")
    monkeypatch.chdir(repository)
    assert main(["plan", str(tmp_path / "list.yaml")]) == 2
    assert "expected keys and values" in capsys.readouterr().err
