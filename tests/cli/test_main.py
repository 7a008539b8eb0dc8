"""The command line: its commands, what it prints, how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from cdspp.__main__ import main
from cdspp.cli import init, run, study
from cdspp.core.errors import DataError, NotWritableError
from cdspp.methods import available
from cdspp.report.page import headline


def test_methods_are_listed_once_by_what_they_need(capsys: Any) -> None:
    assert main(["methods"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 100
    groups: dict[str, list[str]] = {}
    for part in text.split("\n\n")[:-1]:
        heading, *lines = part.splitlines()
        groups[heading] = [line for line in lines if re.match("  [a-z]", line)]
    named = {head: [x.split()[0] for x in lines] for head, lines in groups.items()}
    assert sorted(sum(named.values(), [])) == list(available())
    for heading, method in (
        ("No source: labels in the target only:", "svm-t"),
        ("Labels only:", "cdspp"),
        ("Shared columns, and labels:", "easy-adapt"),
        ("Paired rows, and labels:", "paired-map"),
    ):
        assert method in named[heading]
    labels = groups["Labels only:"]
    packages = {
        n: [x.split()[0] for x in labels if f" {n} " in x] for n in ("torch", "POT")
    }
    assert packages["torch"] == ["jmea", "ssan", "stn"]
    assert packages["POT"] == ["coot", "kpg-rl-gw", "semi-relaxed-fgw", "ucoot"]
    assert any("CDSPP_sup *" in line for line in labels)


@pytest.mark.parametrize(
    ("package", "said"),
    [("matplotlib.pyplot", "this needs matplotlib, which is not in"), ("own", None)],
)
def test_an_optional_package_that_is_missing_is_one_line(
    package: str, said: str | None, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def lacking(folder: str) -> str:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(headline, "headline", lacking)
    if said is None:
        with pytest.raises(ModuleNotFoundError):
            main(["summary", "results"])
        return
    assert main(["summary", "results"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.endswith("pip install 'cdspp[report]'\n")


@pytest.mark.parametrize("command", ["plan", "status"])
def test_a_study_is_planned_without_pandas(command: str, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    program = (
        "import sys; from cdspp.__main__ import main\n"
        "code = main(sys.argv[1:]); sys.exit(code or 'pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_commands_of_a_study_advise_what_has_all_that_they_use(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def lacking(files: list[str]) -> None:
        raise ModuleNotFoundError("No module named 'yaml'", name="yaml")

    monkeypatch.chdir(repository)
    for module in (init, run, study):
        monkeypatch.setattr(module, "read_study", lacking)
    assert main(["status"]) == 2
    message = "this needs yaml, which is not installed: pip install 'cdspp[workflow]'\n"
    assert capsys.readouterr().err.endswith(message)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["run", "mine.yaml", "--", "--dry-run"]) == 2
    assert "cdspp run needs snakemake, which is not i" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "--target", "a.csv"],
        ["fit", "--target", "a.csv", "--output", "b.csv", "--option", "alpha"],
        ["unknown"],
        ["fit", "--method", "svm-t", "--outptu=b.csv"],
    ],
)
def test_wrong_arguments_exit_with_code_2(arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        sys.exit(main(arguments))
    assert stopped.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert re.match("cdspp.*: error: ", line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compar --source a.csv", "'compare'? Type: cdspp compare --source a.csv"),
        ("fit --ouput=p.csv", "'--output'? Type: cdspp fit --output=p.csv"),
        ("--verion", "'--version'? Type: cdspp --version"),
        ("xyz", "cdspp has no command 'xyz'. To see them all: cdspp --help"),
    ],
)
def test_a_mistyped_word_is_corrected(line: str, said: str, capsys: Any) -> None:
    assert main(line.split()) == 2
    [message] = capsys.readouterr().err.splitlines()
    assert message.endswith(said)


@pytest.mark.parametrize("line", ["summary results", "compare --target t --source s"])
def test_ctrl_c_is_one_line_with_the_usual_exit_code(line: str, tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from cdspp.__main__ import main\n"
        "from cdspp.cli import rows\n"
        "from cdspp.report.page import headline\n"
        "def wait(*_, **__):\n"
        "    print('ready', file=sys.stderr, flush=True); time.sleep(60)\n"
        "rows.read_domains = headline.headline = wait\n"
        f"sys.exit(main({line.split()}))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert running.stderr is not None
    assert running.stderr.readline() == "ready\n"
    running.send_signal(signal.SIGINT)
    _, message = running.communicate(timeout=20)
    assert (running.returncode, message) == (130, "cdspp: interrupted\n")


def test_summary_prints_the_headline_of_a_folder_or_study(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(headline, "headline", lambda folder: f"headline of {folder}")
    assert main(["summary", "results/embedded"]) == 0
    assert capsys.readouterr().out == "headline of results/embedded\n"
    assert main(["summary", str(repository / "resources/studies/printed.yaml")]) == 0
    assert capsys.readouterr().out == "headline of results/printed\n"


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


def test_splits_that_are_not_made_yet_are_answered_with_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export-splits", "resources/studies/office-caltech.yaml"]) == 2
    output = capsys.readouterr().err
    assert re.search(
        r"do not exist yet \(\d+ files, first results/features/\S+\)", output
    )
    assert "office-caltech.yaml --cores 8 -- before_fits" in output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError("Unable to allocate 7 GiB"), "out of memory (Unable to allocate"),
        (RuntimeError("can't allocate memory: 8 bytes"), "out of memory (can't"),
        (NotWritableError("out.csv: cannot be written"), "out.csv: cannot be written"),
        (DataError(f"'{'-' * 5000}' is no number"), f"'{'-' * 59}... is no number"),
        (RuntimeError("a fault of ours"), None),
    ],
)
def test_a_fault_of_the_machine_is_one_line(
    error: Exception, said: str | None, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(headline, "headline", Mock(side_effect=error))
    if said is None:
        with pytest.raises(RuntimeError):
            main(["summary", "results"])
        return
    assert main(["summary", "results"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"cdspp: error: {said}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_an_answer_that_cannot_be_printed_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "cdspp", "methods"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("cdspp: error: the answer cannot be printed (")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_closed_stream_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sys, name, None)
    assert main(["constraints"]) == 0
