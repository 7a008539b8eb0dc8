"""Time and peak memory on synthetic rows, measured in separate processes.

Each measurement runs in a fresh process with one BLAS thread, on seeded rows of the
sizes of real benchmarks. Memory is the peak resident memory beyond that of imports and
data. `benchmarks.methods` and `benchmarks.decision_cost` define measurements.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from cdspp.core.provenance import peak_memory_mb
from cdspp.methods.base import UNLABELLED, Float, Int, SourceDomain
from cdspp.methods.cost import Size

__all__ = [
    "SIZES",
    "Rows",
    "Size",
    "Work",
    "run_module",
    "class_centres",
    "describe_size",
    "measure",
    "rows_around",
    "run_measurement",
    "synthetic_rows",
]

Work = Callable[[], Mapping[str, Any]]
ONE_THREAD = {
    name: "1"
    for name in (
        "MKL_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    )
}

SIZES: Mapping[str, Size] = {
    "digits": Size("digits", 10, 200, 200, 30, 491, 50),
    "office-caltech": Size("office-caltech", 10, 200, 800, 30, 928, 4096),
    "office-home": Size("office-home", 65, 1300, 4096, 195, 4200, 2048),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Synthetic rows of both domains, the labelled target rows first."""

    X_source: Float
    y_source: Int
    X_target: Float
    y_target: Int

    def source(self) -> SourceDomain:
        """Return the source domain."""
        return SourceDomain(self.X_source, self.y_source)


def describe_size(size: Size) -> str:
    """Return a line on a size: its name, classes and shapes."""
    return (
        f"{size.name}: {size.n_classes} classes, source {size.n_source} x "
        f"{size.d_source}, target {size.n_labelled} labelled + "
        f"{size.n_unlabelled} unlabelled x {size.d_target}"
    )


def synthetic_rows(size: Size, seed: int = 0) -> Rows:
    """Draw rectified Gaussian rows around one centre per class and domain."""
    rng = np.random.default_rng(seed)
    y_source = np.arange(size.n_source) % size.n_classes
    n_target = size.n_labelled + size.n_unlabelled
    y_target = np.arange(n_target) % size.n_classes

    def draw(codes: Int, d: int) -> Float:
        return rows_around(class_centres(size.n_classes, d, rng), codes, rng)

    X_source, X_target = draw(y_source, size.d_source), draw(y_target, size.d_target)
    y_target[size.n_labelled :] = UNLABELLED
    return Rows(X_source, y_source, X_target, y_target)


def class_centres(n_classes: int, d: int, rng: np.random.Generator) -> Float:
    """Draw a centre per class, (n_classes, d)."""
    centres: Float = rng.standard_normal((n_classes, d)) * (3.0 / np.sqrt(d)) ** 0.5
    return centres


def rows_around(centres: Float, codes: Int, rng: np.random.Generator) -> Float:
    """Draw rectified Gaussian rows around the centres of their classes."""
    rows = centres[codes] + rng.standard_normal((len(codes), centres.shape[1]))
    positive_rows: Float = np.maximum(rows, 0.0, out=rows)
    return positive_rows


def _resident_mb(field: str) -> float:
    """Return `VmRSS` or `VmHWM` of this process; without /proc, the peak."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return peak_memory_mb()
    entry = next(line for line in lines if line.startswith(field))
    return float(entry.split()[1]) / 1e3


def _reset_peak() -> None:
    """Reset the peak memory of this process, if the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def run_measurement(what: str, size: Size) -> dict[str, Any]:
    """Run one measurement in this process, on rows drawn beforehand.

    Returns the numbers of the measurement, its seconds, and its peak memory in MB
    beyond the memory at its start.
    """
    module, _, name = what.partition(":")
    prepare = import_module(module).prepare
    tiny = Size("warm-up", 3, 12, 6, 6, 9, 40)
    prepare(name, tiny, synthetic_rows(tiny))()
    work: Work = prepare(name, size, synthetic_rows(size))
    _reset_peak()
    resident_mb = _resident_mb("VmRSS")
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    memory = max(_resident_mb("VmHWM") - resident_mb, 0.0)
    return {"seconds": seconds, "peak_memory_mb": memory, **result}


def run_module(
    module: str,
    request: str,
    label: str,
    hint: str = "",
    *,
    limit: float | None = None,
    checkout: Path | None = None,
) -> Any:
    """Run a module in a fresh process with one BLAS thread, and return its JSON.

    Parameters
    ----------
    module : str
        Module that writes JSON when it is run with ``python -m``.
    request : str
        Its only argument.
    label, hint : str
        Beginning and end of the message if the process fails.
    limit : float, optional
        Seconds after which the process is stopped.
    checkout : Path, optional
        Another version of the repository, with its `.venv`, to run instead.

    Raises
    ------
    RuntimeError
        The process failed; the message has the last line of its standard error.
    subprocess.TimeoutExpired
        The process took longer than `limit`.
    """
    python, environment = sys.executable, {**os.environ, **ONE_THREAD}
    if checkout is not None:
        python = str(checkout.absolute() / ".venv/bin/python")
        environment.pop("PYTHONPATH", None)
    process = subprocess.run(
        [python, "-m", module, request],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=limit,
    )
    if process.returncode:
        reason = (process.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(
            f"{label} failed with exit code {process.returncode}: {reason}.{hint}"
        )
    return json.loads(process.stdout)


def measure(
    what: str,
    size: Size,
    *,
    limit: float | None = None,
    checkout: Path | None = None,
) -> dict[str, Any]:
    """Measure in a fresh process with one BLAS thread.

    Parameters
    ----------
    what : str
        ``<module>:<name>``; the module's `prepare` returns the work of this name.
    size : Size
        Size of the synthetic problem.
    limit : float, optional
        Seconds after which the run is stopped. The result is then `limit`, with None as
        `seconds` and `peak_memory_mb`.
    checkout : Path, optional
        Another version of the repository to measure instead.
    """
    # The empty list is for checkouts that expect a third entry.
    request = json.dumps([what, asdict(size), []])
    label = f"Measurement {what} of {size.name}"
    hint = " It may need more memory than is free."
    options: dict[str, Any] = {"limit": limit, "checkout": checkout}
    try:
        run = run_module("benchmarks.measure", request, label, hint, **options)
    except subprocess.TimeoutExpired:
        return {"seconds": None, "peak_memory_mb": None, "limit": limit}
    result: dict[str, Any] = run
    return result


if __name__ == "__main__":
    wanted, fields, _ = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(run_measurement(wanted, Size(**fields))))
