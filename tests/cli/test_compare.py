"""`cdspp compare` on two files: a table, a sentence, and the gains as CSV."""

from __future__ import annotations

import argparse
import inspect
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
from cdspp import compare
from cdspp.__main__ import main
from cdspp.cli.command import command_texts
from cdspp.cli.compare import FILE_OPTIONS, _next_steps
from cdspp.core.errors import DataError

pytestmark = pytest.mark.usefixtures("few_candidates")


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


@pytest.mark.parametrize("name", ["scale", "repeats", "seed"])
def test_an_option_has_the_default_of_the_function(name: str) -> None:
    own = command_texts()["shared"][f"--{name}"]["default"]
    assert own == inspect.signature(compare).parameters[name].default


def test_the_data_come_first_then_the_answer_a_table_and_two_commands(
    files: list[str], tmp_path: Path, capsys: Any
) -> None:
    csv, page = tmp_path / "candidates.csv", tmp_path / "compare.html"
    told = tmp_path / "answer.json"
    chosen = ["--method", "cdspp-sup", "--csv", str(csv), "--json", str(told)]
    assert main([*files, *chosen, "--page", str(page)]) == 0
    output = unwrapped(capsys.readouterr().out)
    target, source = files[4], files[2]
    assert output[0].startswith(f"target {target}: 64 rows, 16 labelled in 4 classes")
    assert output[1].startswith(f"source {source}: 80 rows, 80 labelled in 4 classes")
    assert all("columns standardised" in line for line in output[:2])
    assert re.match(r"Use the vote of \d methods: about \d+ of 100 labels", output[3])
    assert output[4].startswith("If every class counts equally, ")
    assert re.match("[▲▼■] The source|○ Whether the source", output[5])
    assert output[7].split()[:3] == ["Method", "Uses", "Weight,"]
    assert {line.split()[0] for line in output[8:12]} == {
        *("CDSPP", "CDSPP_sup", "target-only", "logistic")
    }
    assert max(map(len, output[7:12])) <= 100
    assert output[13] == "To deploy it:"
    assert output[14].startswith("  cdspp fit --source ")
    assert "--candidate cdspp-sup --output predictions.csv" in output[14]
    assert output[15].startswith("To improve it, label the 20 rows ")
    assert output[16].endswith(" --method cdspp-sup --rows-to-label rows-to-label.csv")
    assert output[-1] == f"Page: {page}"
    text, _ = read_page(page)
    lines = *output[:2], *output[3:6], output[14], output[16]
    assert all(escape(line.strip()) in text for line in lines)
    assert text.count('class="interval"') == 1
    assert "http" not in text.partition("</head>")[2]
    assert len(pd.read_csv(csv)) == 4
    answer = json.loads(told.read_text())
    assert answer["schema_version"] == 3
    assert answer["next_steps"] == [output[k].strip() for k in (14, 16)]


def test_each_round_of_labels_writes_the_next_and_joins_the_fit(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    size = {"n_classes": 8, "n_labelled": 2, "n_unlabelled": 10, "spread": 1.4}
    problem = Planted("shared", **size).draw(1)
    write_files(problem, tmp_path)
    files = ["--source", "source.csv", "--target", "target.csv", "--repeats", "5"]
    assert main(["compare", *files, "--rows-to-label", "rows.csv", "--rows", "9"]) == 0
    again = steps(capsys.readouterr().out)[1]
    assert again.endswith("--labelled rows.csv")
    names = ["id", "vote", "runner_up", "margin", "label", "made_of"]
    for number, path in enumerate(("rows.csv", "rows-2.csv"), start=1):
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        assert list(rows.columns) == names
        assert rows["label"].ne("").sum() == 9 * (number - 1)
        places = rows["id"].astype(int) - 1  # ids count from one
        rows["label"] = [f"c{code}" for code in problem.truth[places]]
        rows.to_csv(path, index=False)
        assert main([*shlex.split(again)[1:], "--rows", "9"]) == 0
        output = capsys.readouterr().out
        right = sum(rows["vote"][:9] == rows["label"][:9])
        if number == 1:
            assert f"Of 9 rows that you labelled, it had {right} right" in output
        assert f"9 rows to label: rows-{number + 1}.csv" in output
        deploy, again = steps(output)
        assert again.endswith(f"--labelled rows-{number + 1}.csv")
        assert f"--labelled {path}" in deploy
    assert main([*shlex.split(deploy)[1:-2]]) == 0  # without a model file
    predicted = pd.read_csv("predictions.csv", dtype=str)
    assert len(predicted) == 80 - 18
    assert not {*predicted["id"]} & {*rows["id"]}
    rows.loc[0, "label"] = "cat"
    rows.to_csv("rows-2.csv", index=False)
    assert main(["compare", *files, "--labelled", "rows-2.csv", "--force"]) == 2
    assert "'cat' is not one of the classes c0, c1" in capsys.readouterr().err
    target = pd.read_csv("target.csv")
    target.loc[target["label"].isna().idxmax(), "label"] = "c0"  # of other tables now
    target.to_csv("target.csv", index=False)
    assert main(["compare", *files, "--labelled", "rows.csv", "--force"]) == 2
    assert "written for a different target" in capsys.readouterr().err


def test_a_target_without_labels_is_labelled_by_shared_columns(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng, kind = np.random.default_rng(0), np.arange(80) % 2
    both = {"age": rng.normal(4 * kind, 1.0), "other": rng.normal(size=80)}
    table = pd.DataFrame(both).assign(label=np.where(kind, "ill", "well"))
    table[:40].to_csv("source.csv", index=False)
    table[40:].drop(columns="label").to_csv("target.csv", index=False)
    files = ["--source", "source.csv", "--target", "target.csv"]
    assert main(["compare", *files, "--rows-to-label", "rows.csv"]) == 0
    answer = unwrapped(capsys.readouterr().out)[4]
    assert answer.endswith("It is unchecked: no row of the target has a label.")
    assert len(pd.read_csv("rows.csv")) == 20
    assert main(["fit", *files, "--output", "out.csv"]) == 0
    found = pd.read_csv("out.csv")["predicted"]
    assert np.mean(found == table["label"][40:].to_numpy()) > 0.9
    refused = ["fit", *files, "--method", "cdspp", "--output", "more.csv"]
    assert main(refused) == 2
    assert "target.csv: no column 'label' for" in capsys.readouterr().err


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
    assert unwrapped(capsys.readouterr().out)[7].startswith("Method")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main([*files, *chosen, "--page", str(tmp_path / "page.html")]) == 2
    assert "--page needs jinja2, which is not inst" in capsys.readouterr().err


def unwrapped(text: str) -> list[str]:
    """Return the lines of an answer, each sentence on its own."""
    return re.sub(r"\n  (?!cdspp)", " ", text).splitlines()


def steps(said: str) -> list[str]:
    """Return the commands that deploy the vote and that improve it."""
    return [line.strip() for line in said.splitlines() if line.startswith("  cdspp ")]


def test_the_next_step_is_a_command_that_runs(
    files: list[str], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*files, "--repeats", "5"]) == 0
    deploy, _ = steps(capsys.readouterr().out)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(deploy)[1:]) == 0
    assert len(pd.read_csv("predictions.csv")) == 48
    assert Path("model.npz").is_file()


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
    candidates = pd.DataFrame({"method": ["cdspp"]})
    result: Any = SimpleNamespace(n_unlabelled=9, candidates=candidates)
    files = (
        "--source 'a b.csv' --target t.csv --label kind --target-id nr --categories "
        "one-hot --drop x --keep-label NA --impute --shared a=b --paired p.csv q.csv "
        "--scale pca --repeats 9"
    )
    assert [*_next_steps(arguments, result)] == [
        f"cdspp fit {files} --candidate tit --output predictions.csv --model model.npz",
        f"cdspp compare {files} --method tit --rows-to-label rows-to-label.csv",
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
