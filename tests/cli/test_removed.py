"""What was removed is named with its remedy, wherever a user may still write it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdspp.__main__ import main
from cdspp.core import removed

REMEDY = "Choose fewer trials."
SCHEMA = "workflow/schemas/config.schema.yaml"


@pytest.fixture
def refused(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> Callable[..., str]:
    """Return a function that calls a command and returns its message."""
    monkeypatch.chdir(repository)

    def call(*words: str) -> str:
        assert main(words) == 2
        return " ".join(capsys.readouterr().err.split())

    return call


def study_with(repository: Path, key: str) -> dict[str, Any]:
    """Return a study in which a key is set, in a list where the schema expects one."""
    schema = yaml.safe_load((repository / SCHEMA).read_text())
    config: dict[str, Any] = {"study": "mine", "preset": ["embedded", "quick"]}
    *parents, name = key.split(".")
    level = config
    for parent in parents:
        schema = schema["properties"][parent]
        level[parent] = inner = {}
        if "items" in schema:
            schema, level[parent] = schema["items"], [inner]
        level = inner
    assert name not in schema["properties"], f"{key} is a key of the schema"
    level[name] = True
    return config


def expect_key(call: Callable[..., str], repository: Path, file: Path, key: str) -> str:
    file.write_text(yaml.safe_dump(study_with(repository, key)))
    message = call("plan", str(file))
    name = f"the key {key.rpartition('.')[2]}"
    assert removed.removal_text(name, removed.KEYS[key]) in message
    return message


def test_every_removed_name_is_refused_with_its_remedy(
    refused: Callable[..., str], repository: Path, tmp_path: Path
) -> None:
    for command, remedy in removed.COMMANDS.items():
        expected = removed.removal_text(f"the command {command}", remedy)
        for words in ([command], [command, "results/mine"], [command, "--help"]):
            assert refused(*words) == f"cdspp: error: {expected}"
    for (command, option), remedy in removed.OPTIONS.items():
        expected = removed.removal_text(f"the option {option}", remedy)
        for words in ([option], ["--json", option], [f"{option}=5"]):
            assert refused(command, *words) == f"cdspp: error: {command}: {expected}"
    for (command, ending), remedy in removed.FILES.items():
        text = removed.removal_text(f"reading {ending} files", remedy)
        assert refused(command, f"mine{ending}") == f"cdspp: error: {command}: {text}"
    for key in removed.KEYS:
        expect_key(refused, repository, tmp_path / "mine.yaml", key)


@pytest.mark.parametrize("key", ["gone", "methods.gone", "source_states.gone"])
def test_a_removed_key_is_no_misspelling(
    refused: Callable[..., str],
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
) -> None:
    monkeypatch.setitem(removed.KEYS, key, REMEDY)
    message = expect_key(refused, repository, tmp_path / "mine.yaml", key)
    assert "unknown key" not in message


def test_an_option_is_removed_from_its_command_only(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(removed.OPTIONS, ("summary", "--fast"), REMEDY)
    assert REMEDY in refused("summary", "results", "--fast")
    assert main(["verify", "results", "--fast"]) == 2
    assert REMEDY not in capsys.readouterr().err
