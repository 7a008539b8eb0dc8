"""A method on the user's own files: what it reads, writes and says."""

from __future__ import annotations

import io
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.downloads import put
from support.own_tables import NAMES, PROBLEM, write_problem

from cdspp import CDSPP, SourceDomain
from cdspp.__main__ import main
from cdspp.core.scaling import fit_scaling
from cdspp.datasets.table_rows import read_domain
from cdspp.methods import make


def write_csv(path: Path, X: np.ndarray, **columns: Any) -> Path:
    """Write a domain as CSV, the columns that are no features among the others."""
    table = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    for name, values in columns.items():
        table.insert(1, name, values)
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the problem as CSV and as NPZ."""
    source = PROBLEM.source
    np.savez(tmp_path / "source.npz", X=source.X, y=NAMES[source.y])
    y = np.where(PROBLEM.unlabelled, "-1", NAMES[PROBLEM.truth])
    ids = np.array([f"t{k}" for k in range(len(y))])
    np.savez(tmp_path / "target.npz", X=PROBLEM.X, y=y, ids=ids)
    return write_problem(tmp_path)


def run(command: str, *more: str, **files: Path) -> int:
    """Run `cdspp COMMAND` with a file for each option, over what was written before.

    A fit is one of CDSPP on rows as they are, unless it is asked for another.
    """
    options = [str(part) for name in files for part in (f"--{name}", files[name])]
    usual = {"--method": "cdspp", "--scale": "none"} if command == "fit" else {}
    for name, value in usual.items():
        options += [] if name in more else [name, value]
    return main([command, *options, "--force", *more])


def fit(folder: Path, *more: str, kind: str = "csv") -> int:
    """Run `cdspp fit` on the files of the folder."""
    source, target = folder / f"source.{kind}", folder / f"target.{kind}"
    return run("fit", *more, source=source, target=target, output=folder / "out.csv")


def predicted(folder: Path, column: str = "predicted") -> list[str]:
    """Return a column of the predictions."""
    table = pd.read_csv(folder / "out.csv", dtype=str, keep_default_na=False)
    return table[column].tolist()


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_fit_writes_the_predictions_of_the_library(folder: Path, kind: str) -> None:
    assert fit(folder, kind=kind) == 0
    last = PROBLEM.fit(CDSPP()).history_[-1]
    ids = np.flatnonzero(PROBLEM.unlabelled)
    assert predicted(folder, "id") == [f"t{k}" for k in ids]
    assert predicted(folder) == NAMES[last.prediction].tolist()
    confidence = np.array(predicted(folder, "confidence"), dtype=float)
    np.testing.assert_allclose(confidence, last.confidence, rtol=1e-4)


def test_options_reach_the_method(folder: Path) -> None:
    options = ["alpha=0.5", "center=false", "max_iter=2", "selection=all"]
    assert fit(folder, *(part for o in options for part in ("--option", o))) == 0
    model = make("cdspp", alpha=0.5, center=False, max_iter=2, selection="all")
    expected = PROBLEM.fit(model).history_[-1].confidence
    confidence = np.array(predicted(folder, "confidence"), dtype=float)
    np.testing.assert_allclose(confidence, expected, rtol=1e-4)


def test_a_method_without_confidences_leaves_them_empty(folder: Path) -> None:
    assert fit(folder, "--method", "svm-t", "--option", "strategy=ovo") == 0
    assert set(predicted(folder, "confidence")) == {""}


def test_without_a_source_the_target_stands_alone(folder: Path) -> None:
    assert run("fit", target=folder / "target.csv", output=folder / "out.csv") == 0
    expected = CDSPP().fit(PROBLEM.X, PROBLEM.y).history_[-1].prediction
    assert predicted(folder) == NAMES[expected].tolist()


def test_a_kept_model_predicts_new_rows(folder: Path) -> None:
    model, new = folder / "model.npz", folder / "new.csv"
    assert fit(folder, "--model", str(model)) == 0
    assert run("predict", model=model, target=new, output=folder / "out.csv") == 0
    expected = PROBLEM.fit(CDSPP()).predict(PROBLEM.X[::2])
    assert predicted(folder) == NAMES[expected].tolist()
    assert predicted(folder, "id") == [str(k + 1) for k in range(len(expected))]
    assert all(0.25 <= float(c) <= 1 for c in predicted(folder, "confidence"))


def test_numbers_as_labels_match_between_csv_and_npz(tmp_path: Path) -> None:
    source = tmp_path / "source.npz"
    np.savez(source, X=PROBLEM.source.X, y=PROBLEM.source.y.astype(float))
    target = write_csv(tmp_path / "target.csv", PROBLEM.X, label=PROBLEM.y)
    assert run("fit", source=source, target=target, output=tmp_path / "out.csv") == 0
    expected = PROBLEM.fit(CDSPP()).history_[-1].prediction
    assert predicted(tmp_path) == [str(label) for label in expected]


@pytest.mark.parametrize("none", [" ", "-1.0", "<NA>", "?"])
def test_every_way_to_write_no_label_is_the_same(folder: Path, none: str) -> None:
    labels = np.where(PROBLEM.unlabelled, none, NAMES[PROBLEM.truth])
    target = write_csv(folder / "target.csv", PROBLEM.X, label=labels)
    source, output = folder / "source.csv", folder / "out.csv"
    assert run("fit", source=source, target=target, output=output) == 0
    last = PROBLEM.fit(CDSPP()).history_[-1]
    assert predicted(folder) == NAMES[last.prediction].tolist()


def test_what_was_read_is_said_in_a_line_a_file(folder: Path, capsys: Any) -> None:
    (folder / "source.csv").write_text("label,a,b\ncat,1,2\ndog,2,1\nant,3,3\n")
    assert fit(folder, "--method", "cdspp-sup") == 0
    output = capsys.readouterr().out.splitlines()
    assert output[0].startswith(f"target {folder}/target.csv: {len(PROBLEM.X)} rows, ")
    assert output[0].endswith(
        f"labelled in 4 classes, {PROBLEM.X.shape[1]} features, no scaling"
    )
    assert output[1] == (
        f"source {folder}/source.csv: 3 rows, 3 labelled in 3 classes, "
        "2 features, no scaling; classes: 3 in common"
    )
    assert output[2:5] == [
        "note: some classes are in one file only:",
        "    class  source.csv  target.csv",
        "    bee             -           3",
    ]
    assert output[-2].endswith(f"predictions: {folder / 'out.csv'}")
    assert output[-1] == "To label new rows later, fit again with --model FILE --force"


MISTAKES: list[tuple[str, Any, str]] = [
    ("nothing.csv", None, "nothing.csv: no such file"),
    ("rows.xls", "x", "expected a file that ends in .csv, .tsv, .txt (or these w"),
    ("empty.csv", "", "empty. Expected a header"),
    ("narrow.csv", "label\ncat\n", "expected rows of features, got none"),
    ("word.csv", "label,b\n1,x\n,2\n", "line 2, column 'b': 'x' is not a number"),
    ("long.csv", "a,b\n \n1,2\n3,4,5\n", "line 4 has 3 cells, the header has 2"),
    ("quote.csv", 'a,label\n1,"cat\n', "quote.csv: a quote in line 2 is not closed"),
    ("twice.csv", "a,a,label\n1,2,x\n", "the header has the column 'a' twice"),
    ("bare.csv", "a,b\n1,2\n", "bare.csv: no column 'label' for the labels"),
    ("broken.npz", "no archive", "not a readable NPZ file"),
    ("y.npz", {"X": np.eye(3), "y": [1]}, "y has shape (1,), expected one entry for e"),
]


@pytest.mark.parametrize(
    ("name", "content", "message"), MISTAKES, ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_in_a_file_is_one_line_and_exit_code_2(
    folder: Path, name: str, content: Any, message: str, capsys: Any
) -> None:
    if isinstance(content, str):
        (folder / name).write_text(content, encoding="latin-1")
    elif content is not None:
        np.savez(folder / name, **content)
    source, output = folder / "source.csv", folder / "out.csv"
    assert run("fit", source=source, target=folder / name, output=output) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("cdspp: error: ")
    assert said.count("\n") == 1
    assert not output.exists()


def test_a_source_row_without_a_label_is_refused(folder: Path, capsys: Any) -> None:
    (folder / "source.csv").write_text("label,a\ncat,1\n,2\n-1,3\ndog,4\n")
    assert fit(folder) == 2
    assert "1 of 4 labels are -1, a class or no label?" in capsys.readouterr().err
    assert fit(folder, "--unlabelled=-1") == 2
    assert "2 of 4 have none (first: line 3)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "cdsp"], "did you mean 'cdspp'"),
        (["--option", "alhpa=1"], "did you mean 'alpha'"),
        (["--option", f"alpha={3000 * '-'}1"], "'alpha' parameter of CDSPP must be"),
    ],
)
def test_a_wrong_method_or_option_is_named(
    folder: Path, arguments: list[str], message: str, capsys: Any
) -> None:
    assert fit(folder, *arguments) == 2
    assert message in capsys.readouterr().err


def test_a_warning_is_a_note_without_a_place_in_the_code_and_counted_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def warn(*_: object, **__: object) -> None:
        for line in range(3):
            warnings.warn_explicit("twice\nthe same", UserWarning, "a.py", line)

    monkeypatch.setattr("cdspp.cli.rows.write_predictions", warn)
    assert fit(folder) == 0
    assert capsys.readouterr().err.count("note: twice the same (3 times)\n") == 1


def test_letters_that_the_terminal_lacks_are_printed_by_their_codes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    files = {name: folder / f"{name}.csv" for name in ("source", "target")}
    assert run("fit", **files, output=folder / "\xfc.csv") == 0
    terminal.flush()
    assert b"\\xfc.csv" in terminal.buffer.getvalue()


@pytest.mark.parametrize(
    ("files", "message"),
    [({"wrong.npz": pickle.dumps({"model": 1})}, "not a model"), ({}, "no such file")],
)
def test_a_file_that_is_no_model_is_refused(
    folder: Path, files: dict[str, bytes], message: str, capsys: Any
) -> None:
    model = put(folder, files) / "wrong.npz"
    target, output = folder / "new.csv", folder / "out.csv"
    assert run("predict", model=model, target=target, output=output) == 2
    assert message in capsys.readouterr().err


def test_other_feature_columns_than_at_fit_are_refused(
    folder: Path, capsys: Any
) -> None:
    model, new, wide = (folder / n for n in ("model.npz", "new.csv", "wide.npz"))
    assert fit(folder, "--model", str(model)) == 0
    new.write_text(new.read_text().replace("f0,f1", "f0,F1", 1))
    np.savez(wide, X=np.ones((2, 30)))
    lacks = "lacks 1 column of the fit: 'f1'"
    for target, message in ((new, lacks), (wide, "X has 30 features")):
        assert run("predict", model=model, target=target, output=folder / "o.csv") == 2
        assert message in capsys.readouterr().err


def test_columns_of_new_rows_are_matched_by_name(folder: Path, capsys: Any) -> None:
    model, new, output = (folder / n for n in ("model.npz", "new.csv", "o.csv"))
    assert fit(folder, "--model", str(model)) == 0
    assert run("predict", model=model, target=new, output=output) == 0
    expected = output.read_bytes()
    cells = pd.read_csv(new, dtype=str, keep_default_na=False)
    cells.assign(more=1)[["more", *reversed(list(cells))]].to_csv(new, index=False)
    output.unlink()
    capsys.readouterr()
    assert run("predict", model=model, target=new, output=output) == 0
    assert "left out: 1 column that the fit did not have (more)" in (
        capsys.readouterr().out
    )
    assert output.read_bytes() == expected


def renamed(folder: Path, **names: str) -> None:
    """Give columns of both files other names, and the target one that is no number."""
    for file in ("source", "target"):
        table = pd.read_csv(folder / f"{file}.csv", dtype=str, keep_default_na=False)
        if file == "target":
            table.insert(0, "when", "today")
        table.rename(columns=names).to_csv(folder / f"{file}.csv", index=False)


def test_columns_are_found_by_the_names_given(folder: Path) -> None:
    renamed(folder, label="class", id="who")
    names = ["--label", "class", "--id", "who", "--drop", "when"]
    model, output = folder / "model.npz", folder / "out.csv"
    assert fit(folder, *names, "--model", str(model)) == 0
    ids = np.flatnonzero(PROBLEM.unlabelled)
    assert predicted(folder, "id") == [f"t{k}" for k in ids]
    expected = NAMES[PROBLEM.fit(CDSPP()).history_[-1].prediction]
    assert predicted(folder) == expected.tolist()
    # The kept model knows the names; new rows may have these columns or not.
    assert run("predict", model=model, target=folder / "target.csv", output=output) == 0
    assert predicted(folder, "id") == [f"t{k}" for k in range(len(PROBLEM.X))]
    assert run("predict", model=model, target=folder / "new.csv", output=output) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "clas"], "  - no column 'clas' for --label. Similar: 'cl"),
        (["--label", "class", "--id", "ID"], "no column 'ID' for --id. Similar: 'Id'"),
        (["--label", "class"], "column 'Id', but the id column is 'id'. Name it with"),
        (
            ["--drop", "Id"],
            "source.csv: no column 'label' for the labels; the columns are ",
        ),
    ],
)
def test_a_wrong_name_of_a_column_is_one_line_a_file(
    folder: Path, arguments: list[str], message: str, capsys: Any
) -> None:
    renamed(folder, label="class", id="Id", when="f99")
    text = (folder / "target.csv").read_text().replace("today", "1")
    (folder / "target.csv").write_text(text)
    assert fit(folder, *arguments) == 2
    output = capsys.readouterr().err
    assert message in output
    assert "'Id' holds text" not in output  # it is named already


def test_missing_numbers_are_imputed_where_asked_for(folder: Path, capsys: Any) -> None:
    X = PROBLEM.X.copy()
    X[3, 0] = np.nan
    labels = np.where(PROBLEM.unlabelled, "", NAMES[PROBLEM.truth])
    write_csv(folder / "target.csv", X, label=labels)
    model, output = folder / "model.npz", folder / "out.csv"
    assert fit(folder) == 2
    assert "target.csv: line 5, column 'f0': the nu" in capsys.readouterr().err
    assert fit(folder, "--impute", "--model", str(model)) == 0
    assert "1 number imputed" in capsys.readouterr().out
    X[3, 0] = np.nanmean(X[:, 0])
    fitted = CDSPP().fit(X, PROBLEM.y, source=PROBLEM.source)
    assert predicted(folder) == NAMES[fitted.history_[-1].prediction].tolist()
    # A row alone has no means of its own: those of the fit serve.
    new = write_csv(folder / "new.csv", np.where(np.arange(X.shape[1]), X[:1], np.nan))
    assert run("predict", model=model, target=new, output=output) == 2
    error = capsys.readouterr().err
    assert "Fill it in, or impute column means with --impute." in error
    files = {"model": model, "target": new, "output": output}
    assert run("predict", "--impute", **files) == 0
    row = np.where(np.arange(X.shape[1]), X[:1], X[:, 0].mean())
    assert predicted(folder) == NAMES[fitted.predict(row)].tolist()


@pytest.mark.parametrize("kind", ["standardise", "pca"])
def test_a_scale_holds_for_both_files_and_for_new_rows(
    folder: Path, kind: str, capsys: Any
) -> None:
    model, new = folder / "model.npz", folder / "new.csv"
    assert fit(folder, "--scale", kind, "--model", str(model)) == 0
    rows = [read_domain(folder / f"{name}.csv").X for name in ("target", "source")]
    X, X_source = (fit_scaling(kind, result).apply(result) for result in rows)
    expected = CDSPP().fit(
        X, PROBLEM.y, source=SourceDomain(X_source, PROBLEM.source.y)
    )
    assert predicted(folder) == NAMES[expected.history_[-1].prediction].tolist()
    output = capsys.readouterr().out.splitlines()
    shown = {"standardise": "columns standardised", "pca": "PCA to "}[kind]
    assert all(shown in line for line in output[:2])
    assert run("predict", model=model, target=new, output=folder / "out.csv") == 0
    assert predicted(folder) == NAMES[expected.predict(X[::2])].tolist()
    assert shown in capsys.readouterr().out


def test_a_method_whose_package_is_missing_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert fit(folder, "--method", "stn") == 2
    assert "stn needs torch, which is not installed: pip" in capsys.readouterr().err


def test_two_messy_tables_become_predictions_by_options_alone(
    tmp_path: Path, capsys: Any
) -> None:
    lines = ["probe;größe;ort;tag;diagnose"]
    lines += [f"p{k};{k},5;{'Genf' if k % 2 else 'Zürich'};{k + 1:02}.01.2020;{c}"
              for k, c in enumerate("ababababab")]  # fmt: skip
    lines[3] = lines[3].replace("2,5", "")
    (tmp_path / "source.csv").write_bytes("\n".join(lines).encode("cp1252"))
    rows = [f"{k},{k}.25,{k % 2 == 0},2021-03-{k + 1:02},{'abab    '[k].strip()}"
            for k in range(8)]  # fmt: skip
    table = ["nr,dose,ok,seen,dx", *rows]
    (tmp_path / "target.csv").write_text("\n".join(table) + "\n")
    files = {name: tmp_path / f"{name}.csv" for name in ("source", "target", "output")}
    model = tmp_path / "model.npz"
    named = ["--source-label", "diagnose", "--source-id", "probe"]
    named += ["--target-label", "dx", "--target-id", "nr", "--impute"]
    encoded = ["--categories", "one-hot", "--dates", "number"]
    kept = ["--scale", "standardise", "--model", str(model)]
    assert run("fit", *named, *encoded, *kept, **files) == 0
    target, source, *_ = capsys.readouterr().out.splitlines()
    for part in ("read as cp1252", "decimal commas: größe", "one-hot: ort (2 values)"):
        assert part in source
    assert source.partition(";")[0].endswith("1 number imputed")
    assert "true and false as 1 and 0: ok, dates as days since 1970: seen" in target
    result = pd.read_csv(files["output"])
    assert result["id"].tolist() == [4, 5, 6, 7]
    new = pd.read_csv(files["target"], dtype=str).drop(columns="dx")
    new[["seen", "ok", "dose", "nr"]].to_csv(tmp_path / "new.csv", index=False)
    output = tmp_path / "more.csv"
    assert run("predict", model=model, target=tmp_path / "new.csv", output=output) == 0
    assert pd.read_csv(output)["predicted"][4:].tolist() == result["predicted"].tolist()
