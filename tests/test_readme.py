"""The README's examples run as they stand there, and print what it shows."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from support.excerpts import is_excerpt
from support.method_references import method_references

from cdspp.__main__ import main
from cdspp.methods import available, method_class

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SECTIONS = dict(part.split("\n", 1) for part in TEXT.split("\n## ")[1:])
METHODS, TABLES = "I reproduce or compare methods", "I have two tables"


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SECTIONS[section], re.S)


def commands(section: str) -> list[list[str]]:
    lines = re.findall(r"^    (.*)$", SECTIONS[section].partition("```python")[0], re.M)
    return [shlex.split(line) for line in lines]


def test_each_entrance_has_three_commands() -> None:
    assert [len(commands(METHODS)), len(commands(TABLES))] == [3, 3]


def test_the_study_of_the_paper_is_planned_and_compared_as_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    plan, run, show = commands(METHODS)
    planned, compared = blocks(METHODS, "text")
    assert main(plan[1:]) == 0
    assert is_excerpt(planned, capsys.readouterr().out)
    assert run[2] == plan[2]
    table = (ROOT / "docs/results/printed-methods.txt").read_text()
    assert show == ["cat", "results/printed/tables/printed-methods.md"]
    assert is_excerpt(compared, table)


@pytest.mark.slow
def test_the_tables_of_the_example_get_a_clear_answer_and_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SECTIONS[TABLES].replace("\n", " ")
    scripts = re.findall(r"`python (docs/examples/[^`]*)`", text)
    monkeypatch.chdir(tmp_path)
    found = list(zip([*scripts, ""], commands(TABLES), strict=True))
    for (script, command), block in zip(found, blocks(TABLES, "text")[:3], strict=True):
        if script:
            monkeypatch.setattr(sys, "argv", script.split())
            runpy.run_path(str(ROOT / script.split()[0]))
        assert main(command[1:]) == 0
        said = capsys.readouterr()
        assert is_excerpt(block, said.out + said.err)


def test_the_python_lines_print_what_is_below_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(compile("\n".join(blocks(TABLES, "python")), "README.md", "exec"), {})
    assert capsys.readouterr().out == blocks(TABLES, "text")[3]


def test_every_method_is_listed_with_its_publication() -> None:
    assert method_references() in SECTIONS["Methods"]
    with_source = [name for name in available() if method_class(name).uses_source]
    said = f"adaptation: {len(with_source)} methods that label a target domain with "
    rest = f"other features, {len(available()) - len(with_source)} without a source"
    for part in (said, rest):
        assert part in " ".join(TEXT.split())


def test_every_make_target_and_file_that_it_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make (\w+)", TEXT, re.M):
        assert f"\n{target}:" in makefile
    for name in re.findall(r"(?:workflow|envs|resources)/[\w./-]*\w", TEXT):
        assert (ROOT / name).exists(), name


def test_it_is_short() -> None:
    assert len(TEXT.split()) <= 1300
