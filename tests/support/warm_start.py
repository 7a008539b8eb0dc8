"""Snakemake and its jobs as forks of a process that has loaded other libraries.

On a small study, a run spends four fifths of its time on starting interpreters and
loading libraries. Every process still loads the project's own library. Runs from the
wheel, and runs that are killed, start as a user starts them.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        *("snakemake.cli", "snakemake.report", "snakemake.notebook", "smart_open"),
        *("jsonschema", "nbformat", "requests", "jinja2", "matplotlib.figure"),
        *("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
        "matplotlib.backends.backend_pdf",
        *("PIL.JpegImagePlugin", "pyarrow.dataset", "pyarrow.pandas_compat"),
        *("pyarrow.parquet", "pandas.io.formats.csvs", "scipy.optimize"),
        *("sklearn.feature_extraction.text", "sklearn.multiclass", "sklearn.svm"),
    ]
)


def run_warm(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run `snakemake` or `cdspp` in a folder, on its `src`.

    Return the exit code and the output of both streams.
    """
    if find_spec("snakemake") is None:
        pytest.skip("needs snakemake")
    with NamedTemporaryFile("r") as printed:
        arguments = (list(words), folder, {**os.environ}, printed.name)
        running = FORKS.Process(target=_run, args=arguments)
        running.start()
        running.join()
        return running.exitcode or 0, printed.read()


def _run(
    words: list[str], folder: Path, environment: dict[str, str], printed: str
) -> None:
    os.chdir(folder)
    with open(printed, "ab") as stream:
        for number in (1, 2):
            os.dup2(stream.fileno(), number)
    source = str(folder / "src")
    os.environ.clear()
    os.environ.update(environment, PYTHONPATH=source)
    sys.path.insert(0, source)
    sys.argv[:] = words
    atexit._clear()
    try:
        if words[0] == "snakemake":
            _fork_scripts()
        runpy.run_module(words[0], run_name="__main__")
    finally:
        atexit._run_exitfuncs()


def _fork_scripts() -> None:
    """Let Snakemake run its scripts in forks of this process as it is now."""
    requests, sender = os.pipe()
    if not os.fork():
        os.close(sender)
        with open(requests) as names:
            _serve(names)
        os._exit(0)
    os.close(requests)

    from snakemake.script import PythonScript

    def execute_script(script: PythonScript, name: str, edit: bool = False) -> None:
        answer = Path(f"{name}.end")
        os.mkfifo(answer)
        Path(f"{name}.json").write_text(json.dumps(dict(os.environ)))
        os.write(sender, f"{name}\n".encode())
        # A killed process gives no answer.
        if (code := answer.read_text()) != "0":
            raise subprocess.CalledProcessError(int(code or -9), name)

    PythonScript.execute_script = execute_script


def _serve(names: Iterable[str]) -> None:
    """Run each script in a fork until there are no more names."""
    for name in map(str.strip, names):
        if not os.fork():
            with Path(f"{name}.end").open("w") as answer:
                os.environ.update(json.loads(Path(f"{name}.json").read_text()))
                answer.write(str(_exit_code(name)))
            os._exit(0)


def _exit_code(name: str) -> int:
    """Run a script; return the exit code and print errors like an interpreter."""
    try:
        runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
