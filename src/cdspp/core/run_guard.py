"""A job writes nothing once its run has ended, or its code is another.

A killed run leaves its jobs at work, which would end after a later run and replace its
files. A file of code that was written since the run began may have been another when a
job loaded it, even where it is as before by now. So the run leaves a mark
(`cdspp.core.locks`) with the state of its code, which a job reads before each file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cdspp.core.errors import StaleJobError
from cdspp.core.locks import OwnMark, RunMark, read_mark

__all__ = ["announce", "check_run", "code_state", "guard_job"]

RUN = "CDSPP_RUN"  # variable of the environment: the mark of the run
INSTALLED = ("site-packages", "dist-packages")

State = Mapping[str, tuple[int, int]]


@dataclass
class _Guard:
    """What this process is a job of: the mark of a run, with the state of its code."""

    mark: RunMark | None = None


_own = _Guard()


def code_state() -> State:
    """Return time and size of the files of this package, and of modules from outside.

    Those of installed packages do not count.
    """
    package = Path(__file__).parents[1]
    files = {str(path) for path in package.rglob("*.py")} | _outside()
    return {file: state for file in sorted(files) if (state := _state(file))}


def announce(mark: OwnMark) -> None:
    """Tell the jobs of this process which run they belong to."""
    if mark.path is None:
        os.environ.pop(RUN, None)
    else:
        os.environ[RUN] = str(mark.path)


def guard_job() -> None:
    """Take this process as a job of the run that started it, if one did.

    Raises
    ------
    StaleJobError
        As of `check_run`.
    """
    if not (path := os.environ.get(RUN)):
        return
    _own.mark = read_mark(Path(path)) or RunMark(Path(path), "", 0, False, 0.0)
    check_run()


def check_run() -> None:
    """Refuse to go on where the run of this job has ended, or code has changed.

    Raises
    ------
    StaleJobError
        The run was killed, or a file of code that this job has loaded was written
        since it began. A run on another machine counts as living while its mark does.
    """
    if _own.mark is None:
        return
    now = read_mark(_own.mark.path)
    if now is None or now.lives is False:
        raise StaleJobError(
            "the run that started this job has ended, so the job ends without a result."
        )
    loaded = {file for module in list(sys.modules.values()) if (file := _file(module))}
    for file in sorted(loaded & _own.mark.code.keys()):
        if _state(file) != _own.mark.code[file]:
            raise StaleJobError(
                f"{file} was written since the run began, so that nobody can tell by "
                "which code this is computed. Run the study again; what is there is "
                "kept."
            )


def _outside() -> set[str]:
    """Return the files of loaded modules in the folder of the run."""
    here = f"{Path.cwd()}{os.sep}"
    files = {_file(module) for module in list(sys.modules.values())}
    return {
        file
        for file in files
        if file and file.startswith(here) and not {*INSTALLED} & {*Path(file).parts}
    }


def _file(module: object) -> str:
    return str(getattr(module, "__file__", None) or "")


def _state(file: str) -> tuple[int, int] | None:
    """Return when a file was written, and its size; None where it is gone."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
