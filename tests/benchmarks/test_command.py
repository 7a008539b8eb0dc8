"""The measurements from the shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import measure
from benchmarks.__main__ import main


@pytest.mark.parametrize(
    "arguments", [[], ["solver", "--repeat", "0"], ["solver", "--size", "huge"]]
)
def test_wrong_arguments_exit_with_code_2(arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_a_study_that_is_not_there_is_one_line(tmp_path: Path, capsys: Any) -> None:
    assert main(["verdicts", "--study", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("python -m benchmarks: error: ")
    assert error.count("\n") == 1


def test_a_checkout_without_python_is_one_line_with_a_remedy(
    tmp_path: Path, capsys: Any
) -> None:
    assert main(["methods", "svm-t", "--before", str(tmp_path / "none")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("python -m benchmarks: error: --before ")
    assert "none: it has no .venv/bin/python. Check" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("what", "arguments", "shown"),
    [
        ("solver", ["--repeat", "1"], "dense over closed form"),
        ("methods", ["svm-t"], "x CDSPP"),
    ],
)
def test_a_measurement_shows_its_table_and_writes_the_numbers_as_json(
    what: str,
    arguments: list[str],
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    tiny = measure.Size("office-caltech", 3, 12, 6, 6, 9, 40)

    def here(name: str, size: Any, in_use: Any = (), **options: Any) -> dict[str, Any]:
        return measure.run_measurement(name, size, in_use)

    monkeypatch.setattr(measure, "SIZES", {"office-caltech": tiny})
    monkeypatch.setattr(f"benchmarks.{what}.measure", here)
    path = tmp_path / "numbers.json"
    options = ["--size", "office-caltech", "--json", str(path)]
    assert main([what, *arguments, *options]) == 0
    assert shown in capsys.readouterr().out
    assert json.loads(path.read_text())[0]["size"]["n_source"] == 12


def test_all_tables_follow_each_other_and_lacking_data_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(
        "benchmarks.__main__.ALL_COMMANDS", [["tables"], ["precision", "a"]]
    )
    monkeypatch.setattr("benchmarks.__main__.bench_tables", list)
    monkeypatch.setattr("benchmarks.__main__.tables_table", lambda found: "readers\n")
    monkeypatch.chdir(tmp_path)
    assert main(["all"]) == 0
    out = capsys.readouterr().out
    assert "$ python -m benchmarks tables\nreaders\n" in out
    assert "$ python -m benchmarks precision a\n" in out
    assert "a: no such study file" in out
