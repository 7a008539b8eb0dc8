"""The README's examples run as they stand there, and print what it shows."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

from cdspp.__main__ import main

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.S)


def test_the_python_lines_print_what_is_below_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(compile("\n".join(blocks("python")), "README.md", "exec"), {})
    assert capsys.readouterr().out == blocks("text")[0]


def test_the_comparisons_print_what_is_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = re.findall(r"^    python (.*)\n    cdspp (compare .*)$", TEXT, re.M)
    monkeypatch.chdir(tmp_path)
    for (script, command), block in zip(examples, blocks("text")[1:3], strict=True):
        monkeypatch.setattr(sys, "argv", script.split())
        runpy.run_path(str(ROOT / script.split()[0]))
        main(shlex.split(command))
        printed = capsys.readouterr().out.splitlines()
        shown = block.splitlines()
        pairs = zip_longest(shown, printed[: len(shown)])
        assert not [pair for pair in pairs if pair[0] != pair[1]]


def test_every_make_target_and_file_that_it_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make (\w+)", TEXT, re.M):
        assert f"\n{target}:" in makefile
    for name in re.findall(r"\]\(([\w./-]+\.(?:png|md))\)", TEXT):
        assert (ROOT / name).is_file(), name
    for name in re.findall(r"(?:workflow|envs|resources)/[\w./-]*\w", TEXT):
        assert (ROOT / name).exists(), name
