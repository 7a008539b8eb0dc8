"""`cdspp compare` on two files: a table, a sentence, and the gains as CSV."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import sys
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.page_reader import read_page

import cdspp.report
from benchmarks.planted import Planted
from cdspp.__main__ import main
from cdspp.analysis.advice import scale_to_try
from cdspp.analysis.decision import CANNOT_TELL, USE
from cdspp.cli.compare import COLUMNS, _next_step
from cdspp.core.errors import DataError


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    problem = Planted(n_classes=4, n_labelled=4).draw(0)
    labels = [f"c{code}" if code >= 0 else "" for code in problem.y]
    target = pd.DataFrame(problem.X).assign(label=labels)
    source = pd.DataFrame(problem.source.X).assign(
        label=[f"c{k}" for k in problem.source.y]
    )
    target.to_csv(tmp_path / "target.csv", index=False)
    source.to_csv(tmp_path / "source.csv", index=False)
    paths = [str(tmp_path / f"{name}.csv") for name in ("source", "target")]
    return ["compare", "--source", paths[0], "--target", paths[1]]


def test_a_line_a_method_and_a_sentence_are_printed(
    files: list[str], tmp_path: Path, capsys: Any
) -> None:
    csv, page = tmp_path / "gains.csv", tmp_path / "compare.html"
    chosen = ["--method", "svm-t", "--method", "cdspp", "--repeats", "5"]
    assert main([*files, *chosen, "--csv", str(csv), "--page", str(page)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("target: 64 rows, 16 labelled in 4 classes")
    assert said[1].startswith("source: 80 rows, 80 labelled in 4 classes")
    assert all("columns standardised" in line for line in said[:2])
    assert said[3].split()[:3] == ["Method", "Accuracy", "Verdict"]
    assert said[4].startswith("SVM_t")
    assert "no source" in said[4]
    assert said[5].startswith("CDSPP")
    assert said[-2].startswith(("Use the source", "Train on", "Cannot tell"))
    assert said[-1] == f"Page: {page}"
    finding, _, step = said[-2].partition(" Next: ")
    text, _ = read_page(page)
    assert escape(finding) in text
    assert escape(step.strip("`")) in text
    assert text.count("<circle") == 4
    assert escape(said[0]) in text
    assert "Over swapped classes" in text
    assert "http" not in text.partition("</head>")[2]
    gains = pd.read_csv(csv)
    assert gains["state"].nunique() == 7
    assert np.isfinite(gains["low"]).all()


def test_too_few_labels_are_one_line_and_exit_code_2(
    files: list[str], tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "target.csv").write_text("a,label\n1,c0\n2,c1\n3,\n")
    assert main(files) == 2
    assert "every class needs two labelled target rows" in capsys.readouterr().err


def test_files_are_read_as_fit_reads_them(
    files: list[str], tmp_path: Path, capsys: Any
) -> None:
    for name in ("source", "target"):
        path = tmp_path / f"{name}.csv"
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table = table.rename(columns={"label": "kind"}).assign(note="text")
        table.loc[0, "0"] = ""
        table.to_csv(path, index=False, sep=";")
    common = ["--method", "cdspp", "--repeats", "5", "--label", "kind"]
    assert main([*files, *common, "--drop", "note"]) == 2
    assert "--impute" in capsys.readouterr().err
    assert main([*files, *common, "--drop", "note", "--impute"]) == 0
    said = capsys.readouterr().out
    assert "1 number imputed" in said
    assert "4 in common" in said


def test_the_table_and_the_sentence_need_no_optional_package(
    files: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    for name in ("jinja2", "markupsafe", "matplotlib", "yaml"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(cdspp, "report", cdspp.report)  # comes back with its modules
    for name in [name for name in sys.modules if name.startswith("cdspp.report")]:
        monkeypatch.delitem(sys.modules, name)
    chosen = ["--method", "cdspp", "--repeats", "5"]
    assert main([*files, *chosen]) == 0
    assert capsys.readouterr().out.splitlines()[3].startswith("Method")
    hidden, found = {"jinja2", "torch"}, importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name in hidden else found(name)
    )
    assert main([*files, *chosen, "--page", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err == (
        "cdspp: error: --page needs jinja2, which is not installed: "
        "pip install 'cdspp[report]'\n"
    )
    networks = ["--method", "stn", "--repeats", "5"]
    assert main([*files, *networks]) == 2
    assert capsys.readouterr().err.endswith(
        "cdspp: error: this needs torch, which is not installed: "
        "pip install 'cdspp[networks]'\n"
    )


def test_the_next_step_is_a_command_that_runs(
    files: list[str], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ["--method", "svm-t", "--method", "cdspp", "--repeats", "5"]
    assert main([*files, *chosen]) == 0
    step = capsys.readouterr().out.rpartition(" Next: ")[2].strip().strip("`")
    assert "--scale standardise" in step
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(step)[1:]) == 0
    assert len(pd.read_csv("predictions.csv")) == 48


def test_the_next_step_without_a_source_names_no_column_of_the_source_alone(
    files: list[str], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("source", "remark"), ("target", "ward")):
        path = tmp_path / f"{name}.csv"
        pd.read_csv(path).rename(columns={"label": name}).assign(**{text: "x"}).to_csv(
            path, index=False
        )
    names = ["--source-label", "source", "--target-label", "target"]
    left_out = ["--drop", "rem*", "--drop", "ward", "--drop", "text"]
    chosen = ["--method", "svm-t", "--method", "cdls-sup", "--repeats", "5"]
    assert main([*files, *chosen, *names, *left_out, "--seed", "1"]) == 0
    step = capsys.readouterr().out.rpartition(" Next: ")[2].strip().strip("`")
    assert "--source" not in step
    assert "--target-label target --drop ward --drop text" in step
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(step)[1:]) == 0


def test_the_next_step_has_the_columns_and_the_source_that_were_asked_for() -> None:
    others = dict.fromkeys(name.replace("-", "_") for name in COLUMNS)
    given = others | {"label": "kind", "target_id": "nr", "categories": "one-hot"}
    arguments = argparse.Namespace(
        **given,
        source="a b.csv",
        target="t.csv",
        scale="pca",
        drop=["x"],
        keep_label=["NA"],
        impute=True,
        shared="a=b",
        paired=["p.csv", "q.csv"],
    )
    found: Any = SimpleNamespace(decision=USE, method="cdspp")
    assert _next_step(arguments, found, ()) == (
        "cdspp fit --method cdspp --scale pca --source 'a b.csv' --target t.csv "
        "--label kind --target-id nr --categories one-hot --drop x --keep-label NA "
        "--impute --shared a=b --paired p.csv q.csv --output predictions.csv"
    )
    collapsed: Any = SimpleNamespace(
        decision=CANNOT_TELL,
        method="",
        verdicts=pd.DataFrame({"verdict": ["collapsed"]}),
    )
    arguments.scale = "none"
    assert _next_step(arguments, collapsed, ()).startswith(
        "cdspp compare --scale standardise --source 'a b.csv' --target t.csv"
    )


@pytest.mark.parametrize(
    ("verdict", "scale", "next_scale"),
    [
        ("collapsed", "none", "standardise"),
        ("collapsed", "standardise", "pca"),
        ("collapsed", "standardise-each", "pca"),
        ("collapsed", "pca", "pca"),
        ("too few trials", "unit", "unit"),
    ],
)
def test_after_a_collapse_the_next_step_scales_otherwise(
    verdict: str, scale: str, next_scale: str
) -> None:
    verdicts = pd.DataFrame({"verdict": [verdict]})
    assert scale_to_try(verdicts, scale) == next_scale


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            ["M", "B"],
            "'B' may be 'benign', 'M' may be 'malignant': write equal classes",
        ),
        (["x", "y"], "no class in common: .* has the classes x, y, .* Write equal cl"),
        (["", ""], "no row has a label, .* has the classes benign, malignant. Name"),
        (
            ["benign", "benign"],
            "all labelled rows are of the class 'benign', .* With one",
        ),
    ],
)
def test_classes_that_cannot_be_compared_are_named(
    labels: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = np.random.default_rng(0).random(20)
    names = ["malignant", "benign"] * 10
    files = {"source": names, "target": labels * 5 + [""] * 10}
    for name, found in files.items():
        table = pd.DataFrame({f"f-{name}": values, "label": found})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    asked = [f"--{name}={tmp_path / name}.csv" for name in files]
    assert main(["compare", *asked]) == 2
    assert re.search(message, capsys.readouterr().err)
    X, y = values[:, None], np.array(files["target"], dtype=object)
    with pytest.raises(DataError, match=re.sub("Name|Write", ".*", message)):
        cdspp.compare(X, y, source=cdspp.SourceDomain(X, names))


def test_a_source_of_one_class_is_named_before_any_fit(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "source.csv"
    pd.read_csv(path).assign(label="c1").to_csv(path, index=False)
    assert main(files) == 2
    said = capsys.readouterr().err
    assert "source.csv: all rows are of the class 'c1', " in said
    assert "target.csv has the classes c0, c1, c2, c3. Such a source tells" in said
    assert "fits" not in said
