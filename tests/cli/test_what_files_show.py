"""What the two files of a command show: decimal signs, labels, a copy of the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.own_tables import write_problem

from cdspp import read_table
from cdspp.cli.main import main
from cdspp.core.errors import DataError


def run(command: str, *more: str, **files: Path) -> int:
    """Run `cdspp COMMAND` with a file for each option, over what was written before."""
    options = [str(part) for name in files for part in (f"--{name}", files[name])]
    return main([command, *options, "--force", *more])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Return source and target as CSV, and where predictions go."""
    write_problem(tmp_path)
    names = ("source", "target", "output")
    return {name: tmp_path / f"{name}.csv" for name in names}


def test_new_rows_are_read_with_the_decimal_sign_that_is_asked_for(
    tmp_path: Path, capsys: Any
) -> None:
    """Thousands decide the class: 1.234 of the new rows is not 1.234."""
    kinds, rng = np.array(["low", "high"] * 10), np.random.default_rng(0)
    sums = rng.integers(300, 700, 20) + 900 * (kinds == "high")
    cells = [f"{n / 1000:.3f}" if n > 999 else str(n) for n in sums]
    table = pd.DataFrame({"sum": cells, "share": [f"0,{k % 7}" for k in range(20)]})
    fitted = table.assign(label=np.where(np.arange(20) < 8, kinds, ""))
    files = {name: tmp_path / f"{name}.csv" for name in ("target", "output")}
    fitted.to_csv(files["target"], index=False, sep=";")
    how = ["--method", "svm-t", "--scale", "standardise"]
    how += ["--model", str(tmp_path / "model.npz")]
    assert run("fit", *how, **files) == 2
    assert "name the decimal sign with --decimal" in capsys.readouterr().err
    assert run("fit", *how, "--decimal", ",", **files) == 0
    *_, step, _ = capsys.readouterr().out.splitlines()
    assert step.endswith("--output more.csv --decimal ,")
    assert pd.read_csv(files["output"])["predicted"].tolist() == kinds[8:].tolist()
    files |= {"model": tmp_path / "model.npz", "target": tmp_path / "new.csv"}
    table.to_csv(files["target"], index=False, sep=";")
    assert run("predict", **files) == 2
    assert "new.csv: column 'sum': '1." in capsys.readouterr().err
    assert run("predict", "--decimal", ",", **files) == 0
    assert pd.read_csv(files["output"])["predicted"].tolist() == kinds.tolist()
    # In a file of another country the model's commas play no part.
    english = table.assign(sum=sums, share=table["share"].str.replace(",", "."))
    english.to_csv(files["target"], index=False)
    capsys.readouterr()
    assert run("predict", **files) == 0
    assert pd.read_csv(files["output"])["predicted"].tolist() == kinds.tolist()
    assert "decimal commas" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "source.csv: no column 'label' for the labels"),
        ("NA", "the column 'label' has none (read as unlabelled: 32 'NA'). Name"),
    ],
)
def test_a_source_without_labels_names_their_column(
    labels: str | None, message: str, files: dict[str, Path], capsys: Any
) -> None:
    table = pd.read_csv(files["source"]).drop(columns="label")
    table = table if labels is None else table.assign(label=labels)
    table.to_csv(files["source"], index=False)
    assert run("fit", **files) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("copied", ["source", "target"])
def test_a_copy_of_the_other_file_is_told(
    copied: str, files: dict[str, Path], capsys: Any
) -> None:
    """Only the labels are taken out, and rows or columns stand in another order."""
    table = pd.read_csv(files["target" if copied == "source" else "source"], dtype=str)
    if copied == "target":
        table["label"] = table["label"].where(np.arange(len(table)) % 5 == 0, "")
    else:
        table["label"] = ""
    table[table.columns[::-1]].iloc[::-1].to_csv(files[copied], index=False)
    assert run("fit", **files) == (2 if copied == "source" else 0)
    output = capsys.readouterr().err
    assert f"note: {len(table)} of the {len(table)} rows of " in output
    assert "number by number. If one file is a copy of the other" in output
    assert ("no row has a label" in output) == (copied == "source")


def test_every_command_lists_the_problems_of_a_file_alike(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["one.csv", "two.csv"]
    for path in map(Path, names):
        lines = "1,north,,cat", "x,south,2,dog", "3,south,3,dog", "4,north,4,cat"
        path.write_text("\n".join(["age,site,size,label", *lines, ""]))
    assert main(["inspect", *names, "--json"]) == 0
    believed = json.loads(capsys.readouterr().out)["files"]
    texts = {of["path"]: "\n  - ".join(["", *of["refused"]]) for of in believed}
    assert texts["one.csv"].startswith("\n  - line 3, column 'age': 'x' is not")
    pair = ["--source", "one.csv", "--target", "two.csv"]
    predicted = ["--output", "predicted.csv"]
    commands = ["compare", *pair], ["fit", *pair, *predicted]
    for command in commands:
        assert main([*command]) == 2
        blocks = [f"{name}: 3 problems:{texts[name]}\n" for name in reversed(names)]
        assert capsys.readouterr().err == f"cdspp: error: {''.join(blocks)}"
    # A study fills the gap.
    assert main(["init", "mine", "--table", "one.csv", "--table", "two.csv"]) == 2
    shorter = [texts[name].rpartition("\n  - ")[0] for name in names]
    blocks = [f"{n}: 2 problems:{t}\n" for n, t in zip(names, shorter, strict=True)]
    assert capsys.readouterr().err == f"cdspp: error: {''.join(blocks)}"
    with pytest.raises(DataError) as caught:
        read_table("one.csv", label="label")
    assert str(caught.value).count("\n  - ") == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == names
