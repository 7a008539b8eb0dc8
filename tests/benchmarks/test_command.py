"""The measurements from the shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import measure
from benchmarks.__main__ import main


@pytest.mark.parametrize("arguments", [[], ["methods", "--repeat", "0"]])
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


def test_a_measurement_shows_its_table_and_writes_the_numbers_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    tiny = measure.Size("office-caltech", 3, 12, 6, 6, 9, 40)

    def here(name: str, size: Any, **options: Any) -> dict[str, Any]:
        return measure.run_measurement(name, size)

    monkeypatch.setattr(measure, "SIZES", {"office-caltech": tiny})
    monkeypatch.setattr("benchmarks.methods.measure", here)
    path = tmp_path / "numbers.json"
    options = ["--size", "office-caltech", "--json", str(path)]
    assert main(["methods", "svm-t", *options]) == 0
    assert "x CDSPP" in capsys.readouterr().out
    assert json.loads(path.read_text())[0]["size"]["n_source"] == 12
