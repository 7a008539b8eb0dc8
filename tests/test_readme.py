"""The README's examples run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from cdspp.study.schema import check_schema

ROOT = Path(__file__).parents[1]


def blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_the_python_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile("\n".join(blocks("python")), "README.md", "exec"), {})
    accuracy, shapes = capsys.readouterr().out.splitlines()
    assert float(accuracy) > 0.9
    assert shapes == "[0 0 0] (60, 3)"


def test_the_configuration_of_ones_own_run_fits_the_schema() -> None:
    [example] = blocks("yaml")
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config |= yaml.safe_load(example)
    schema = ROOT / "workflow/schemas/config.schema.yaml"
    assert not list(check_schema(config, schema))


def test_every_make_target_and_file_that_it_names_exists() -> None:
    text = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make (\w+)", text, re.M):
        assert f"\n{target}:" in makefile
    for name in re.findall(r"\]\(([\w./-]+\.png)\)", text):
        assert (ROOT / name).is_file()
    for name in re.findall(r"(?:workflow|envs|resources)/[\w./-]*\w", text):
        assert (ROOT / name).exists(), name
