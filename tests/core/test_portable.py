"""What only POSIX has: the library does without, and a study says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cdspp.cli.main import main

# Stands in for a system that lacks the modules and signals of POSIX, ends lines by two
# characters, and neither renames nor removes a file that is open.
WITHOUT = """
import os, signal, sys
os.linesep = "\\r\\n"
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
del signal.SIGHUP, signal.SIGKILL

def closed_only(action):
    def checked(*paths, **options):
        numbers = os.listdir("/proc/self/fd")
        held = {os.path.realpath(f"/proc/self/fd/{number}") for number in numbers}
        for path in paths:
            if os.path.realpath(path) in held:
                raise PermissionError(13, "the file is open", path)
        return action(*paths, **options)
    return checked

for name in ("replace", "rename", "unlink", "remove"):
    setattr(os, name, closed_only(getattr(os, name)))
from cdspp.cli.main import main
sys.exit(main(sys.argv[1:]))
"""

# Elsewhere the system itself is what is tried.
CDSPP = ("-c", WITHOUT) if sys.platform == "linux" else ("-m", "cdspp")
# No file is read or written in the encoding that a system happens to have.
STRICT = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
LABELS = ("out.csv", "more.csv")


def write_rows(path: Path, n_labelled: int) -> None:
    """Write rows of two classes, the first ones labelled."""
    lines = ["id,width,height,label"]
    for i in range(40):
        label = "ab"[i % 2] if i < n_labelled else ""
        lines.append(f"r{i},{i % 2 + 0.01 * i},{i % 3},{label}")
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.slow
def test_tables_are_compared_fitted_and_predicted_without_posix(
    tmp_path: Path,
) -> None:
    write_rows(tmp_path / "old.csv", 40)
    write_rows(tmp_path / "new.csv", 12)
    both = ["--source", "old.csv", "--target", "new.csv"]
    pages = ["--csv", "answer.csv", "--page", "answer.html"]
    fit = ["fit", *both, "--output", "out.csv", "--model", "model.npz"]
    predict = ["predict", "--model", "model.npz", "--target", "new.csv"]
    for words in (
        ["compare", *both, "--repeats", "5", "--json", "answer.json", *pages],
        [*fit, "--method", "cdspp"],
        [*fit, "--method", "cdspp", "--force"],
        [*predict, "--output", "more.csv"],
    ):
        command = [sys.executable, *STRICT, *CDSPP, *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for name in (*(f"answer.{end}" for end in ("json", "csv", "html")), *LABELS):
        content = (tmp_path / name).read_bytes()
        assert b"\n" in content, name
        assert b"\r" not in content, name
    assert not [*tmp_path.glob(".*.cdspp-*")]


def test_a_study_on_windows_says_where_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["run"]) == 2
    said = capsys.readouterr().err
    assert "this is Windows" in said
    assert "Windows Subsystem for Linux" in said
