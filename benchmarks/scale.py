"""CDSPP on rows that stay in their file, by their number.

Each fit runs in a process of its own with one BLAS thread. Memory is all that the
process takes beyond its imports, the rows themselves included where they are read.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import (
    Size,
    ask_process,
    class_centres,
    rows_around,
    synthetic_rows,
    timed,
)
from cdspp.methods.base import UNLABELLED

__all__ = [
    "IN_FILE",
    "IN_MEMORY",
    "bench_scale",
    "run_fit",
    "scale_exponent",
    "scale_table",
    "sizes_up_to",
    "write_rows",
]

IN_FILE, IN_MEMORY = "file", "memory"
SMALLEST = 10_000
# More rows take several copies of 8 bytes a value in memory.
MOST_IN_MEMORY = 100_000
N_CLASSES, N_SOURCE, D_SOURCE, N_LABELLED = 10, 200, 800, 30
ROWS_AT_ONCE = 4096


def sizes_up_to(largest: int) -> list[int]:
    """Return numbers of rows, three a factor of ten apart in two steps, to `largest`.

    Examples
    --------
    >>> sizes_up_to(200_000)
    [10000, 30000, 100000, 200000]
    """
    steps = [m * 10**k for k in range(4, 13) for m in (1, 3)]
    return [n for n in steps if n < largest] + [largest]


def write_rows(path: Path, n_rows: int, n_features: int) -> None:
    """Write synthetic target rows as float32, a part at a time; classes take turns."""
    rng = np.random.default_rng(0)
    centres = class_centres(N_CLASSES, n_features, rng)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_features))
    for start in range(0, n_rows, ROWS_AT_ONCE):
        codes = np.arange(start, min(start + ROWS_AT_ONCE, n_rows)) % N_CLASSES
        rows[start : start + len(codes)] = rows_around(centres, codes, rng)
    rows.flush()


def run_fit(path: str, n_rows: int, way: str) -> dict[str, Any]:
    """Fit CDSPP to the first rows of a file in this process, five iterations.

    Parameters
    ----------
    path : str
        The file of `write_rows`.
    n_rows : int
        Target rows; 30 of them are labelled.
    way : {"file", "memory"}
        Whether the rows stay in their file or are read first.

    Returns
    -------
    dict
        `seconds`, `processor_seconds`, `peak_memory_mb`, and the `accuracy`.
    """
    from cdspp.methods.cdspp.cdspp import CDSPP

    tiny = synthetic_rows(Size("warm-up", 3, 12, 6, 6, 9, 40))
    CDSPP().fit(tiny.X_target, tiny.y_target, source=tiny.source())
    size = Size("source", N_CLASSES, N_SOURCE, D_SOURCE, N_CLASSES, 0, 2)
    source, truth = synthetic_rows(size).source(), np.arange(n_rows) % N_CLASSES

    def work() -> Mapping[str, Any]:
        X = np.load(path, mmap_mode="r")[:n_rows]
        y = np.where(np.arange(n_rows) < N_LABELLED, truth, UNLABELLED)
        start = time.process_time()
        given = X if way == IN_FILE else np.array(X)
        model = CDSPP().fit(given, y, source=source)
        spent = time.process_time() - start
        right = (model.transduction_ == truth)[N_LABELLED:].mean()
        return {"processor_seconds": spent, "accuracy": float(right)}

    return timed(work)


def bench_scale(
    largest: int = 1_000_000,
    *,
    n_features: int = 1024,
    repeat: int = 1,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Measure fits of CDSPP to a file, from 10 000 rows to the largest number.

    Parameters
    ----------
    largest : int, default=1_000_000
        Most target rows.
    n_features : int, default=1024
        Features of the target.
    repeat : int, default=1
        Runs of each fit; that with the fewest processor seconds counts.
    folder : path, optional
        Where the file lies while the measurement runs, four bytes a value.
    progress : callable, optional
        Told what is about to be measured.

    Returns
    -------
    DataFrame
        A row a fit: `way`, `rows`, `features`, `seconds`, `processor_seconds`,
        `peak_memory_mb`, `accuracy`.
    """
    records = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place, "rows.npy")
        progress(f"writing {largest} x {n_features} rows to {path}")
        write_rows(path, largest, n_features)
        for n_rows in sizes_up_to(largest):
            for way in (IN_FILE, IN_MEMORY)[: 1 + (n_rows <= MOST_IN_MEMORY)]:
                progress(f"{n_rows} rows, in {way}")
                request = json.dumps([str(path), n_rows, way])
                told = f"Fit to {n_rows} rows in {way}"
                runs = [ask_process(__name__, request, told) for _ in range(repeat)]
                best = min(runs, key=lambda run: float(run["processor_seconds"]))
                where = {"way": way, "rows": n_rows, "features": n_features}
                records.append({**where, **best})
    return pd.DataFrame(records)


def scale_exponent(measured: pd.DataFrame, way: str = IN_FILE) -> float:
    """Return the slope of log time over log rows; NaN for less than two sizes."""
    here = measured[measured["way"] == way]
    if len(here) < 2:
        return float("nan")
    rows, seconds = (
        np.log(here[name].to_numpy(dtype=float))
        for name in ("rows", "processor_seconds")
    )
    return float(np.polyfit(rows, seconds, 1)[0])


def scale_table(measured: pd.DataFrame) -> str:
    """Return the measurements as an aligned table, a line a number of rows."""
    heads = ("rows", "seconds", "processor s", "peak MB")
    lines = ["".join([f"{'':8}", *(f"{head:>13}" for head in heads)])]
    for entry in measured.to_dict("records"):
        numbers = (
            f"{entry['rows']:13d}{entry['seconds']:13.1f}"
            f"{entry['processor_seconds']:13.1f}{entry['peak_memory_mb']:13.0f}"
        )
        lines.append(f"{entry['way']:8}{numbers}")
    told = f"Rows in their file: time grows as rows ^ {scale_exponent(measured):.2f}."
    return "\n".join([*lines, "", told])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run_fit(*json.loads(sys.argv[1]))))
