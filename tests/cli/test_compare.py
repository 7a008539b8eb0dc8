"""`cdspp compare` on two files: a table, a sentence, and the gains as CSV."""

from __future__ import annotations

import argparse
import json
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
from benchmarks.planted import Planted, PlantedProblem
from cdspp.__main__ import main
from cdspp.cli.compare import FILE_OPTIONS, _next_steps
from cdspp.core.errors import DataError


def write_files(problem: PlantedProblem, folder: Path) -> None:
    """Write the two tables of a problem, target.csv and source.csv."""
    labels = [f"c{code}" if code >= 0 else "" for code in problem.y]
    target = pd.DataFrame(problem.X).assign(label=labels)
    source = pd.DataFrame(problem.source.X).assign(
        label=[f"c{k}" for k in problem.source.y]
    )
    target.to_csv(folder / "target.csv", index=False)
    source.to_csv(folder / "source.csv", index=False)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    problem = Planted(n_classes=4, n_labelled=4).draw(0)
    write_files(problem, tmp_path)
    paths = [str(tmp_path / f"{name}.csv") for name in ("source", "target")]
    return ["compare", "--source", paths[0], "--target", paths[1]]


def test_the_answer_comes_first_then_a_table_and_two_commands(
    files: list[str], tmp_path: Path, capsys: Any
) -> None:
    csv, page = tmp_path / "candidates.csv", tmp_path / "compare.html"
    told = tmp_path / "answer.json"
    chosen = ["--method", "cdspp-sup", "--csv", str(csv), "--json", str(told)]
    assert main([*files, *chosen, "--page", str(page)]) == 0
    output = unwrapped(capsys.readouterr().out)
    assert output[0].startswith("Best bet: ")
    assert output[1].startswith("Evidence: ")
    assert output[2].startswith(("To settle it, ", "Both fits label "))
    assert output[4].split()[:3] == ["Method", "Uses", "Accuracy,"]
    assert {line.split()[0] for line in output[5:8]} == {
        *("CDSPP", "CDSPP_sup", "target-only")
    }
    assert max(map(len, output[4:8])) <= 100
    assert output[9] == "To deploy it:"
    assert output[10].startswith("  cdspp fit --method ")
    assert output[11] == "To settle it, draw rows to label:"
    assert output[12].endswith(" --method cdspp-sup --rows-to-label rows-to-label.csv")
    assert output[14].startswith("target: 64 rows, 16 labelled in 4 classes")
    assert output[15].startswith("source: 80 rows, 80 labelled in 4 classes")
    assert all("columns standardised" in line for line in output[14:16])
    assert output[-1] == f"Page: {page}"
    text, _ = read_page(page)
    assert all(
        escape(line.strip()) in text for line in (*output[:3], output[10], output[12])
    )
    assert text.count('class="interval"') == 2
    assert "http" not in text.partition("</head>")[2]
    assert len(pd.read_csv(csv)) == 3
    answer = json.loads(told.read_text())
    assert answer["schema_version"] == 2
    assert answer["next_steps"] == [output[k].strip() for k in (10, 12)]


def test_labels_of_rows_settle_the_bet_and_join_the_fit(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    size = {"n_classes": 8, "n_labelled": 2, "n_unlabelled": 30, "spread": 1.4}
    problem = Planted("shared", **size).draw(1)
    write_files(problem, tmp_path)
    files = ["--source", "source.csv", "--target", "target.csv"]
    assert main(["compare", *files, "--rows-to-label", "rows.csv", "--rows", "9"]) == 0
    step = capsys.readouterr().out.splitlines()
    again = next(line for line in step if line.endswith("--labelled rows.csv"))
    rows = pd.read_csv("rows.csv", dtype=str, keep_default_na=False)
    assert list(rows.columns[:2]) == ["order", "id"]
    assert list(rows.columns[-3:]) == ["label", "tested", "made_of"]
    assert len(rows) == 9
    candidate = rows.columns[2]
    rows.loc[:5, "label"] = rows.loc[:5, candidate]
    rows.to_csv("rows.csv", index=False)
    assert main(shlex.split(again)[1:]) == 0
    output = capsys.readouterr().out
    assert "Evidence: settled. Of 6 rows that you labelled, only" in output
    assert "rows.csv: rows that the test counted are now marked" in output
    kept = pd.read_csv("rows.csv", dtype=str, keep_default_na=False)
    assert kept["tested"].tolist() == ["yes"] * 6 + [""] * 3
    kept.loc[6:, "label"] = "c0"  # later labels join the fit only
    kept.to_csv("rows.csv", index=False)
    assert main(shlex.split(again)[1:]) == 0
    assert "Of 6 rows that you labelled" in capsys.readouterr().out
    fit = next(line for line in output.splitlines() if line.startswith("  cdspp fit"))
    assert f"--method {candidate}" in fit
    assert main(shlex.split(fit)[1:]) == 0
    assert "25 labelled" in capsys.readouterr().out
    predicted = pd.read_csv("predictions.csv", dtype=str)
    assert not set(predicted["id"]) & set(kept["id"])
    target = pd.read_csv("target.csv")
    target.loc[target["label"].isna().idxmax(), "label"] = "c0"  # of other tables now
    target.to_csv("target.csv", index=False)
    assert main(shlex.split(again)[1:]) == 2
    assert "drawn for a different target" in capsys.readouterr().err
    late = ["--labelled", "rows.csv", "--output", "late.csv"]
    assert main(["fit", *files, *late]) == 0
    assert "so it is added untested" in capsys.readouterr().out
    kept.loc[0, "label"] = "cat"
    kept.to_csv("rows.csv", index=False)
    assert main([*shlex.split(fit)[1:], "--force"]) == 2
    assert "rows.csv: 'cat' is not a class of the tables" in capsys.readouterr().err


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
    assert unwrapped(capsys.readouterr().out)[4].startswith("Method")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main([*files, *chosen, "--page", str(tmp_path / "page.html")]) == 2
    assert "--page needs jinja2, which is not inst" in capsys.readouterr().err


def unwrapped(text: str) -> list[str]:
    """Return the lines of an answer, each sentence on its own."""
    return re.sub(r"\n  (?!cdspp)", " ", text).splitlines()


def deploy(said: str) -> str:
    """Return the command that fits the bet."""
    return next(line for line in said.splitlines() if line.startswith("  cdspp fit"))


def test_the_next_step_is_a_command_that_runs(
    files: list[str], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*files, "--repeats", "5"]) == 0
    step = deploy(capsys.readouterr().out)
    assert "--scale standardise" in step
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(step)[1:]) == 0
    assert len(pd.read_csv("predictions.csv")) == 48
    assert Path("model.npz").is_file()


def test_the_next_step_without_a_source_names_no_column_of_the_source_alone(
    files: list[str], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.csv"  # labels that say nothing
    table = pd.read_csv(source)
    table.assign(label=table["label"].sample(frac=1, random_state=0).tolist()).to_csv(
        source, index=False
    )
    for name, text in (("source", "remark"), ("target", "ward")):
        path = tmp_path / f"{name}.csv"
        pd.read_csv(path).rename(columns={"label": name}).assign(**{text: "x"}).to_csv(
            path, index=False
        )
    names = ["--source-label", "source", "--target-label", "target"]
    left_out = ["--drop", "rem*", "--drop", "ward", "--drop", "text"]
    assert main([*files, *names, *left_out, "--seed", "1"]) == 0
    step = deploy(capsys.readouterr().out)
    assert "--method target-only" in step
    assert "--source" not in step
    assert "--target-label target --drop ward --drop text" in step
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(step)[1:]) == 0


def test_the_next_steps_have_the_columns_and_the_source_that_were_asked_for() -> None:
    given: dict[str, Any] = dict.fromkeys(
        name.replace("-", "_") for name in FILE_OPTIONS
    )
    given |= {"source": "a b.csv", "target": "t.csv", "label": "kind"}
    given |= {"target_id": "nr", "categories": "one-hot", "drop": ["x"]}
    given |= {"keep_label": ["NA"], "impute": True, "shared": "a=b"}
    given |= {"paired": ["p.csv", "q.csv"], "labelled": [], "method": ["tit"]}
    given |= {"scale": "pca", "repeats": 9, "seed": 0, "rows_to_label": None}
    arguments = argparse.Namespace(**given)
    result: Any = SimpleNamespace(
        uses_source=True, best_bet="cdspp", can_be_settled=True
    )
    target: Any = SimpleNamespace(dropped=())
    files = (
        "--source 'a b.csv' --target t.csv --label kind --target-id nr --categories "
        "one-hot --drop x --keep-label NA --impute --shared a=b --paired p.csv q.csv"
    )
    assert [*_next_steps(arguments, result, target)] == [
        f"cdspp fit --method cdspp --scale pca {files} --output predictions.csv "
        "--model model.npz",
        f"cdspp compare {files} --scale pca --method tit --repeats 9 --rows-to-label "
        "rows-to-label.csv",
    ]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["M", "B"], "'M' may be 'malignant', 'B' may be 'benign'"),
        (["", ""], "label; .* classes benign, malignant. Name"),
        (["benign", "benign"], "labelled.*class 'benign'; .* There is nothing"),
    ],
)
def test_classes_that_cannot_be_compared_are_named(
    labels: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = np.random.default_rng(0).random(20)
    names = ["malignant", "benign"] * 10
    files = {"source": names, "target": labels * 5 + [""] * 10}
    for name, result in files.items():
        table = pd.DataFrame({f"f-{name}": values, "label": result})
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
    output = capsys.readouterr().err
    assert "source.csv: all rows are of the class 'c1'; " in output
    assert "target.csv has the classes c0, c1, c2, c3. A source needs at" in output
    assert "fits" not in output
