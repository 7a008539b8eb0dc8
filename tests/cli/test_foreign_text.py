"""Text that others made up reaches the screen, but never as a command to a terminal."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.own_tables import write_problem

from cdspp.__main__ import main
from cdspp.cli.run_display import RunDisplay
from cdspp.core.files import read_parts, write_parts

ESC = "\x1b[2J"
SHOWN = r"\x1b[2J"
FIT = "fit --method svm-t --source source.csv --target target.csv --output p.csv"
PREDICT = "predict --model m.npz --target target.csv --output q.csv"


def edited(column: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> str:
    """Change the rows of the target, and return a command that reads them."""
    table = pd.read_csv("target.csv", dtype={column: str})
    change(table).to_csv("target.csv", index=False)
    return FIT


def column_name() -> str:
    """Name a column of text."""
    return edited("f0", lambda table: table.assign(**{ESC: "text"}))


def inspected() -> str:
    """Name a column of text, and look at it."""
    return column_name().replace(FIT, "inspect target.csv")


def cell() -> str:
    """Write a cell that is no number."""
    return edited("f0", lambda t: t.assign(f0=[*t["f0"][:-1], ESC]))


def label() -> str:
    """Name a class that the source lacks."""
    return edited("label", lambda t: t.assign(label=[*t["label"][:-1], ESC]))


def identifier() -> str:
    """Give two rows one identifier."""
    return edited("id", lambda t: t.assign(id=[*t["id"][:-2], ESC, ESC]))


def array_names() -> str:
    """Name a column of an array that has no number in it."""
    X = np.array([[1.0, np.nan], [2.0, np.nan]])
    np.savez("t.npz", X=X, y=["ant", "bee"], features=["a", ESC])
    return FIT.replace("target.csv", "t.npz")


def file_name() -> str:
    """Write to a file of this name."""
    return FIT.replace("p.csv", f"{ESC}.csv")


def model_file() -> str:
    """Let a model name its method."""
    assert main(f"{FIT} --model m.npz".split()) == 0
    tree, arrays = read_parts("m.npz", "a model")
    extras = tree["content"]["dict"]["extras"]["dict"]
    extras["reason"] = extras["reason"].replace('"svm-t"', json.dumps(ESC))
    write_parts("m.npz", tree, arrays)
    return PREDICT


def labels_filled_in() -> str:
    """Fill in a label that is no class."""
    row = {"id": ["t0"], "order": [1], "label": [ESC], "tested": "", "made_of": ""}
    pd.DataFrame(row).to_csv("rows.csv", index=False)
    return f"{FIT} --labelled rows.csv"


def study_key() -> str:
    """Write an unknown key in a study file."""
    Path("mine.yaml").write_text('preset: [embedded, quick]\n"\\e[2J": 1\n')
    return "plan mine.yaml"


def study_value() -> str:
    """Write an unknown method in a study file."""
    Path("mine.yaml").write_text('preset: quick\nmethods: [{id: "\\e[2J"}]\n')
    return "plan mine.yaml"


def command_word() -> str:
    """Type it as a command."""
    return ESC


def answer() -> str:
    """Let a server answer with it."""
    server = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{server.getsockname()[1]}/a"
    text = f"HTTP/1.1 404 {ESC}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    def serve() -> None:
        while True:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(text.encode())

    threading.Thread(target=serve, daemon=True).start()
    files = f"a: {{ways: [{{files: [{{name: a.txt, urls: [{address}]}}]}}]}}"
    entry = f"kind: splits, licence: l, source: s, content: c, resources: {{{files}}}"
    Path("datasets.yaml").write_text(f"x: {{title: t, {entry}}}\n")
    return "fetch x --data data --catalogue datasets.yaml"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CDSPP_MIRROR", raising=False)
    write_problem(tmp_path)


@pytest.mark.parametrize(
    "way",
    [
        *(column_name, cell, label, identifier, array_names, file_name, model_file),
        *(inspected, labels_filled_in, study_key, study_value, command_word, answer),
    ],
)
def test_a_command_shows_foreign_text_letter_by_letter(
    way: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = way()
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as of a fresh command
    capsys.readouterr()
    main(line.split(" "))
    said = "".join(capsys.readouterr())
    assert SHOWN in said
    assert "\x1b" not in said


def test_the_lines_of_a_run_do_so(capsys: pytest.CaptureFixture[str]) -> None:
    display = RunDisplay()
    display.in_place = True
    display.study = ESC
    display.read({"level": "WARNING", "message": f"note {ESC}"})
    display.read({"level": "ERROR", "message": f"error {ESC}\u202e"})
    display.show()
    display.end()
    said = capsys.readouterr().err
    assert said.count(SHOWN) == 2
    assert r"\u202e" in said
    assert said.replace("\r", "").replace("\x1b[K", "").count("\x1b") == 0


OWN_CLASS = """\
import sys
print("said \\x1b[2J")
sys.stderr.write("said \\x1b[2J\\n")
from cdspp import CDSPP as Mine
"""


@pytest.mark.slow
def test_what_an_own_class_prints_to_snakemake_does_so(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("own.py").write_text(OWN_CLASS)
    tables = "--table source.csv --table target.csv --categories one-hot"
    assert main(f"init mine {tables} --method mine=own:Mine".split()) == 0
    capsys.readouterr()
    words = ["-n", "--cores", "1", "--configfile", "mine.yaml"]
    words += ["--snakefile", str(repository / "Snakefile")]
    path = os.pathsep.join([".", *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert said.count(rf"said {SHOWN}") == 2
    assert ESC not in said
