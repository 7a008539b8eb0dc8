"""The commands of own-method.md from a class to its row, on two tables."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from cdspp.cli.main import main
from cdspp.methods import register_external

pytestmark = pytest.mark.usefixtures("few_candidates")

PAGE = (Path(__file__).parents[2] / "docs/guide/own-method.md").read_text()
[CLASS] = re.findall(r"```python mine.py\n(.*?)```", PAGE, re.S)
SECTION = PAGE.partition("## From the class to a row\n")[2].partition("\n## ")[0]
COMMANDS = [line[4:] for line in SECTION.splitlines() if line.startswith("    ")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with the class and two tables, of unequal classes."""
    (tmp_path / "mine.py").write_text(CLASS)
    rng = np.random.default_rng(0)
    for name, width, labelled in (("lab", 4, 90), ("field", 6, 30)):
        kinds = np.array([*"abbbbc"])[rng.integers(6, size=90)]
        centres = 2 * np.eye(3, width)[np.searchsorted([*"abc"], kinds)]
        columns = [f"{name} {letter}" for letter in "pqrstu"[:width]]
        table = pd.DataFrame(centres + rng.normal(size=(90, width)), columns=columns)
        table["kind"] = np.where(np.arange(90) < labelled, kinds, "")
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("mine", None)
    register_external({})


def command(opening: str) -> list[str]:
    """Return the arguments of the one command that begins with some words."""
    [found] = [line for line in COMMANDS if line.startswith(opening)]
    return shlex.split(found)[1:]


def test_compare_makes_the_class_a_candidate_and_deploys_it_without_a_model_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command("cdspp compare")) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^Prototypes +source labels ", printed, re.M)
    [deploy] = re.findall(r"  cdspp (fit .* --candidate mine:Prototypes .*)", printed)
    assert main(shlex.split(deploy)) == 0
    assert len(pd.read_csv("predictions.csv")) == 60


def test_init_writes_the_class_as_the_reference(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    init = command("cdspp init")
    assert main(init) == 0
    assert "\nReference: prototypes. Others: --reference\n" in capsys.readouterr().out
    found = yaml.safe_load(Path("plants.yaml").read_text())
    assert found["reference"] == "prototypes"
    assert found["add"] == [{"id": "prototypes", "class": "mine:Prototypes"}]
    assert main([*init, "--force", "--reference", "cdspp"]) == 0
    assert yaml.safe_load(Path("plants.yaml").read_text())["reference"] == "cdspp"
    for name, fault in (("cdsp", "did you mean 'cdspp'"), ("svm-t", "uses no source")):
        assert main([*init, "--force", "--reference", name]) == 2
        assert fault in capsys.readouterr().err
    assert yaml.safe_load(Path("plants.yaml").read_text())["reference"] == "cdspp"


def test_init_adds_methods_asked_for_to_those_of_a_bridge(folder: Path) -> None:
    init = [*command("cdspp init")[:-1], "Two=mine:Prototypes", "--method", "pca-coral"]
    more = [{"id": "two", "class": "mine:Prototypes"}, "pca-coral"]
    bridged = ["shared-columns", "shared-columns-plus", "cdspp-bridge"]
    assert main(init) == 0
    assert yaml.safe_load(Path("plants.yaml").read_text())["add"] == more
    Path("field.csv").write_text(Path("field.csv").read_text().replace("field", "lab"))
    assert main([*init, "--force"]) == 0
    found = yaml.safe_load(Path("plants.yaml").read_text())
    assert (found["add"], found["reference"]) == ([*more, *bridged], "two")


@pytest.mark.slow
def test_the_commands_lead_from_the_class_to_its_row_rivals_and_citation(
    folder: Path,
) -> None:
    printed = {line.split()[1]: shell(line) for line in COMMANDS}
    assert re.search("^Inconclusive for .* Prototypes ", printed["run"], re.M)
    assert re.search(r"^Prototypes  .* \(\d", printed["run"], re.M)
    comparators = printed["results/plants/tables/pairwise_plants.md"]
    assert "| Gain over Prototypes |" in comparators
    assert re.search(
        r"^\| CDSPP \| \d \| [\d.]+ \| \S+ \[\S+ to \S+\] \|$", comparators, re.M
    )
    assert "% prototypes: " in printed["cite"]
    assert "@article{wang2022cdspp," in printed["cite"]


def shell(line: str) -> str:
    """Run a line of the page with the commands of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        line,
        shell=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done.stdout
