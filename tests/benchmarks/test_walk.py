"""The size of the code and the functions that a command enters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import walk
from benchmarks.__main__ import main

SOURCE = '''\
"""A module."""


def outer() -> int:
    """Say so."""
    return _inner() + _inner()


def _inner() -> int:
    value = [1 for _ in "a"]
    return len(value)


class Thing:
    def once(self) -> int:
        return outer()
'''


def write_checkout(folder: Path) -> None:
    """Write a checkout of one module and one rule."""
    for name in ("src/toy", "docs/extensions", "workflow", "benchmarks", "tests"):
        (folder / name).mkdir(parents=True)
    (folder / "src/toy/one.py").write_text(SOURCE)
    (folder / "workflow/Snakefile").write_text("rule all:\n    input: []\n")
    words = "| word | meaning |\n|---|---|\n| domain | files |\n| task | a pair |\n"
    gone = "\n## Words that left\n\n| gone | instead |\n| a | b |\n"
    (folder / "docs/vocabulary.md").write_text(f"# Words\n\n{words}{gone}")


def test_sizes_count_lines_functions_and_words(tmp_path: Path) -> None:
    write_checkout(tmp_path)
    sizes = walk.code_size(tmp_path)
    assert sizes["lines of src, Python"] == len(SOURCE.splitlines())
    assert sizes["of which docstrings"] == 2
    assert sizes["lines of workflow"] == 2
    assert sizes["functions"] == 3
    assert sizes["lines of a function, maximum"] == 3
    assert sizes["functions called from one place"] == 1  # outer, by once
    assert sizes["words of the vocabulary"] == 2


def test_a_return_is_a_step_into_a_package_that_was_left() -> None:
    chain = ["stages.fit", "methods.base", "core.names", "methods.base", "stages.fit"]
    functions = [[f"cdspp.{module}", f"f{k}"] for k, module in enumerate(chain)]
    table = walk.walk_table({"size": {"modules": 3}, "walks": {"fit": functions}})
    assert table.splitlines()[-1].split() == ["5", "3", "1", "fit"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*walk.COMMANDS, walk.FIT_BLOCK])
def test_a_walk_names_the_functions_that_a_command_enters(
    name: str, tmp_path: Path
) -> None:
    output = tmp_path / "walk.json"
    walk.run_walk(name, output)
    entered = json.loads(output.read_text())
    assert len({tuple(each) for each in entered}) == len(entered)
    first = "cdspp.stages.fit" if name == walk.FIT_BLOCK else "cdspp.cli.main"
    assert first in {module for module, _ in entered}
    assert ["cdspp.methods.base", "HeterogeneousClassifier.fit"] in entered or (
        ["cdspp.methods.base", "HeterogeneousClassifier.predict"] in entered
    )


def test_the_command_prints_sizes_and_walks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(walk, "COMMANDS", {})
    write_checkout(tmp_path)
    assert main(["walk", "--root", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "functions called from one place" in printed
    assert printed.splitlines()[-1].endswith("fit_block")
