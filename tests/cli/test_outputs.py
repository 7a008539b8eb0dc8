"""What commands write: never over what they read, over other files by force alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.own_tables import PROBLEM, write_problem

from cdspp.__main__ import main
from cdspp.cli.command import check_outputs
from cdspp.core.errors import ConfigError

pytestmark = pytest.mark.usefixtures("few_candidates")

FIT = "fit --method svm-t --source source.csv --target target.csv"
COMPARE = (
    "compare --source source.csv --target target.csv --repeats 5 --method cdspp-sup"
)
PREDICT = "predict --model m.npz --target target.csv"


@pytest.fixture(autouse=True)
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with two tables, links to one, and a model."""
    monkeypatch.chdir(tmp_path)
    write_problem(tmp_path)
    Path("new.csv").unlink()
    assert run(f"{FIT} --output first.csv --model m.npz") == 0
    Path("soft.csv").symlink_to("target.csv")
    Path("hard.csv").hardlink_to("target.csv")
    return tmp_path


def run(line: str) -> int:
    """Run `cdspp` with the words of a line."""
    return main(shlex.split(line))


@pytest.mark.parametrize(
    "line",
    [
        f"{FIT} --output source.csv",
        f"{FIT} --output ../{{folder}}/target.csv",
        f"{FIT} --output soft.csv",
        f"{FIT} --output hard.csv",
        f"{FIT} --output new.csv --model target.csv",
        f"{FIT} --paired p.csv q.csv --output p.csv",
        f"{PREDICT} --output m.npz",
        f"{COMPARE} --page source.csv",
    ],
)
def test_an_input_is_never_replaced(line: str, away: Path, capsys: Any) -> None:
    Path("p.csv").touch()
    before = {path: path.read_bytes() for path in away.iterdir()}
    assert run(f"{line.format(folder=away.name)} --force") == 2
    assert (
        "which this command also reads or writes. Choose another name."
        in capsys.readouterr().err
    )
    assert {path: path.read_bytes() for path in away.iterdir()} == before


@pytest.mark.parametrize(
    "line",
    [
        f"{COMPARE} --csv new.csv --page ./new.csv",
        f"{FIT} --output soft-new.csv --model first.csv",
    ],
)
def test_two_outputs_are_two_files(line: str, capsys: Any) -> None:
    Path("soft-new.csv").symlink_to("first.csv")
    assert run(f"{line} --force") == 2
    assert "would replace" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f"{FIT} --output new.csv --model old.npz", "old.npz"),
        (f"{PREDICT} --output first.csv", "first.csv"),
        (f"{COMPARE} --csv first.csv", "first.csv"),
    ],
)
def test_a_file_that_is_there_is_replaced_by_force_alone(
    line: str, name: str, capsys: Any
) -> None:
    Path(name).write_text("kept")
    assert run(line) == 2
    message = (
        f"{name} already exists. Choose another name, or overwrite it with --force."
    )
    assert message in capsys.readouterr().err
    assert Path(name).read_text() == "kept"
    assert not Path("new.csv").exists()
    assert run(f"{line} --force") == 0
    assert Path(name).read_bytes() != b"kept"


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_classes_that_look_alike_are_named_before_anything_runs(
    command: str, capsys: Any
) -> None:
    table = pd.read_csv("source.csv")
    table["label"] = table["label"].replace("ant", "Ant")
    table.to_csv("upper.csv", index=False)
    more = " --output new.csv" if command == "fit" else ""
    assert run(f"{command} --source upper.csv --target target.csv{more}") == 2
    message = "'ant' (target.csv), 'Ant' (upper.csv). Spell them alike"
    assert message in capsys.readouterr().err


def test_a_header_is_asked_for_where_a_model_knows_no_names(capsys: Any) -> None:
    np.savez("t.npz", X=PROBLEM.X, y=np.where(PROBLEM.unlabelled, -1, PROBLEM.truth))
    assert run("fit --method svm-t --target t.npz --output a.csv --model a.npz") == 0
    rows = pd.DataFrame(PROBLEM.X)
    rows.to_csv("bare.csv", index=False, header=False)
    assert run("predict --model a.npz --target bare.csv --output b.csv") == 2
    assert "bare.csv: expected column names in the first row" in capsys.readouterr().err
    for name, prefix in {"counted.csv": "", "named.csv": "f"}.items():
        rows.add_prefix(prefix).to_csv(name, index=False)
        line = f"predict --model a.npz --target {name} --output {name}.out"
        assert run(line) == 0
        assert len(pd.read_csv(f"{name}.out")) == len(rows)


def test_a_folder_with_an_input_is_never_an_output(away: Path) -> None:
    with pytest.raises(ConfigError, match="command also reads"):
        check_outputs([away], [away / "t.csv"], force=True)
    with pytest.raises(ConfigError, match="already.*--force"):
        check_outputs([away], [], force=False)
