"""The first change of CONTRIBUTING.md: its commands, lines and files, in a copy."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "CONTRIBUTING.md").read_text().partition("## The first change\n")[2]
SECTION = SECTION.partition("\n## ")[0]
COMMANDS = [line[4:] for line in SECTION.splitlines() if line.startswith("    ")]
# One process, as imports take a second: lists and tries the method, reads the
# study, writes the new table, and makes the mistake of the page.
PROGRAM = """
import doctest
import sys
from pathlib import Path

import yaml
from support.report_data import make_plan, write_scores
from support.study_files import load_own

from cdspp.cli.main import main
from cdspp.core.discovery import load_function
from cdspp.methods import class_means
from cdspp.report.registry import item_jobs

main(["methods"])
print(doctest.testmod(class_means))
study = load_own(yaml.safe_load(Path("means.yaml").read_text()))
print("study", *study.methods)
plan = make_plan(methods=("svm-t", "class-means"), states=())
[job] = [each for each in item_jobs([plan]) if each.name]
[group] = [each for each in job.groups if "worst_digits" in each.captions]
scores, table = write_scores(Path("scores.parquet"), plan), Path("worst_digits.md")
load_function(group.maker.function)(plans=job.plans, scores=[scores], outputs=[table])
print(group.captions["worst_digits"], table.read_text(), sep="\\n")
exec(sys.argv[1])
"""


def command(opening: str) -> str:
    """Return the one command of the section that begins with some words."""
    [found] = [line for line in COMMANDS if line.startswith(opening)]
    return found.partition("  #")[0]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Apply method and table to a copy of the library; return what commands print."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "src", folder / "src")
    for opening in ("cp docs/examples/class_means.* ", "cp docs/examples/worst.py "):
        _, pattern, target = shlex.split(command(opening))
        for source in ROOT.glob(pattern):
            shutil.copy(source, folder / target)
    registry = folder / "src/cdspp/report/registry.py"
    line = f"\\g<0>    {command('Item(')}\n"
    text, number = re.subn(r"_BENCHMARK = \(\n", line, registry.read_text())
    assert number == 1
    registry.write_text(text)
    subprocess.run(command("echo "), shell=True, check=True, cwd=folder)
    _, _, mistake = shlex.split(command("python -c "))
    paths = os.pathsep.join([str(folder / "src"), str(ROOT / "tests")])
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, mistake],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ).stdout


def test_a_copied_method_is_listed_and_in_a_study(printed: str) -> None:
    assert re.search(
        r"^  class-means +class means \* +Nearest mean of the",
        printed,
        re.M,
    )
    assert "\nTestResults(failed=0, attempted=3)\nstudy svm-t class-means\n" in printed


def test_a_copied_table_and_one_line_are_on_the_page(printed: str) -> None:
    assert "worst trial. The lowest accuracy of any task and trial." in printed
    assert re.search(r"^\| class means \| \d\d\.\d \|$", printed, re.M)


def test_the_message_is_that_of_the_section(printed: str) -> None:
    message = printed.strip().splitlines()[-1]
    assert f"`{message}`" in SECTION.replace("\n", " ")


def test_formatting_adds_a_method_to_the_public_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "docs/public_names.py" in (ROOT / "Makefile").read_text()
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    with_methods = importlib.import_module("public_names").with_methods
    stub = (ROOT / "src/cdspp/__init__.pyi").read_text()
    assert with_methods(stub) == stub
    line = "from cdspp.methods.tit import TIT as TIT\n"
    assert line in with_methods(stub.replace(line, ""))


def test_the_tests_of_the_section_exist_and_its_search_finds_message_and_test() -> None:
    tests = [shlex.split(line, comments=True) for line in COMMANDS if "pytest" in line]
    assert len(tests) == 3
    for words in tests:
        assert all((ROOT / word).exists() for word in words if "/" in word), words
    *_, name, file = tests[-1]
    names = re.findall(r"^def (test_\w+)\(", (ROOT / file).read_text(), re.M)
    assert sum(name in each for each in names) == 1
    pattern = shlex.split(command("git grep "))[3]
    for path in (ROOT / "src/cdspp/methods/base.py", ROOT / file):
        assert path.read_text().count(pattern) == 1
