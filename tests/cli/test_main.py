"""The command line: its commands, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from cdspp.__main__ import main
from cdspp.bench import measure as bench
from cdspp.bench import solver as bench_solver
from cdspp.methods import available


def test_methods_lists_every_method_with_its_printed_name(capsys: Any) -> None:
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(available())]] == list(available())
    assert any("CDSPP_sup *" in line for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fit", "--target", "a.csv"],
        ["fit", "--target", "a.csv", "--output", "b.csv", "--option", "alpha"],
        ["bench"],
        ["bench", "solver", "--repeat", "0"],
        ["bench", "solver", "--size", "huge"],
        ["unknown"],
    ],
)
def test_wrong_arguments_exit_with_code_2(arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_summary_prints_the_headline_of_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    report = types.ModuleType("cdspp.report.page.headline")
    report.headline = lambda folder: f"headline of {folder}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cdspp.report.page.headline", report)
    assert main(["summary", "results/embedded"]) == 0
    assert capsys.readouterr().out == "headline of results/embedded\n"


def test_bench_writes_the_numbers_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    tiny = bench.Size("office-caltech", 3, 12, 6, 6, 9, 40)

    def here(what: str, size: Any, in_use: Any = (), *, repeat: int) -> dict[str, Any]:
        return bench.run_measurement(what, size, in_use)

    monkeypatch.setattr(bench, "SIZES", {"office-caltech": tiny})
    monkeypatch.setattr(bench_solver, "measure", here)
    path = tmp_path / "bench.json"
    arguments = ["--size", "office-caltech", "--repeat", "1", "--json", str(path)]
    assert main(["bench", "solver", *arguments]) == 0
    assert "dense over closed form" in capsys.readouterr().out
    assert json.loads(path.read_text())[0]["size"]["n_source"] == 12


def test_the_module_runs_as_a_program_and_explains_its_files() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cdspp", "fit", "--help"],
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    for part in ("column `label`", "examples:", "--option NAME=VALUE", "confidence"):
        assert part in done.stdout


def test_the_plan_of_a_study_is_told_without_its_data(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(repository)
    assert main(["plan", "resources/studies/reuters-600.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["method", "jobs", "fits", "core-hours", "peak", "MB"]
    assert any(line.startswith("all ") for line in lines)


def test_a_study_file_without_keys_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "list.yaml").write_text("- 1\n")
    monkeypatch.chdir(repository)
    assert main(["plan", str(tmp_path / "list.yaml")]) == 2
    assert "expected keys and values" in capsys.readouterr().err
