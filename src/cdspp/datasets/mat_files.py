"""MATLAB files of users; SciPy reads them in a process that a damaged one may crash."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError

__all__ = ["read_mat"]

_CHILD = "import sys; from cdspp.datasets.mat_files import _send; _send(sys.argv[1])"


def read_mat(path: Path) -> dict[str, NDArray[Any]]:
    """Return the variables of a MATLAB file of version 7 or older.

    Raises
    ------
    DataError
        It is of version 7.3, or damaged, even where reading it ends the process.
    """
    folders = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, os.fspath(path)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": folders},
        check=False,
    )
    if done.returncode == 0:
        found: dict[str, NDArray[Any]] = pickle.loads(done.stdout)
        return found
    if done.returncode == -signal.SIGKILL:
        raise MemoryError(f"{path}: the system ended the process that read it")
    last = done.stderr.decode(errors="replace").strip().rpartition("\n")[-1]
    kind, _, said = last.partition(": ")
    if done.returncode < 0:
        said = f"SciPy crashed, {signal.Signals(-done.returncode).name}"
    elif kind == "NotImplementedError":
        raise DataError(
            f"{path}: a MATLAB file of version 7.3, which is not read. In MATLAB, save "
            f"it with -v7: save('{path.name}', 'X', 'y', '-v7')."
        )
    raise DataError(
        f"{path}: not a readable MATLAB file ({said or kind}). Save it again."
    )


def _send(path: str) -> None:
    """Read a file, and write its variables to the process that asks."""
    import scipy.io

    content = scipy.io.loadmat(path, chars_as_strings=True)
    named = {name: v for name, v in content.items() if not name.startswith("__")}
    arrays = {name: _plain(value, name) for name, value in named.items()}
    pickle.dump(arrays, sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)


def _plain(value: Any, name: str) -> NDArray[Any]:
    """Return a variable of MATLAB as NumPy would have it: vectors with one axis."""
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if name == "X" or array.ndim != 2 or min(array.shape) != 1:
        return array
    flat = array.ravel()
    if array.dtype.kind == "O":  # a cell array: each cell is an array of its own
        flat = np.array([_content(cell) for cell in flat], dtype=object)
    return flat


def _content(cell: Any) -> Any:
    found: Sequence[Any] = np.asarray(cell).ravel().tolist()
    return found[0] if len(found) == 1 else "" if not found else str(found)
