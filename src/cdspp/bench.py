"""`cdspp bench solver`: the closed form against the textbook eigensolver.

Each measurement runs in a process of its own, with one BLAS thread, on seeded synthetic
rows of the sizes of real benchmarks. Memory is the peak resident memory beyond what
imports and data take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import linalg

from cdspp.base import UNLABELLED, Float, Int, SourceDomain
from cdspp.linalg import row_normalise, symmetric_product
from cdspp.methods.structure_preserving import Projection, Side, solve_projection
from cdspp.provenance import peak_memory_mb

__all__ = [
    "SIZES",
    "Rows",
    "Size",
    "bench_solver",
    "dense_projection",
    "measure",
    "run_measurement",
    "solver_table",
    "synthetic_rows",
    "unavoidable_products",
]

ALPHA = 10.0
ONE_THREAD = {
    name: "1"
    for name in (
        "MKL_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    )
}


@dataclass(frozen=True)
class Size:
    """The size of a problem: classes, rows and features of both domains."""

    name: str
    n_classes: int
    n_source: int
    d_source: int
    n_labelled: int
    n_unlabelled: int
    d_target: int

    def __str__(self) -> str:
        """Describe the size in one line."""
        return (
            f"{self.name}: {self.n_classes} classes, source {self.n_source} x "
            f"{self.d_source}, target {self.n_labelled} labelled + "
            f"{self.n_unlabelled} unlabelled x {self.d_target}"
        )


SIZES: Mapping[str, Size] = {
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

    def sides(self, n_classes: int) -> tuple[Side, Side]:
        """Return both domains as a supervised fit sees them, rows of unit length."""
        labelled = self.y_target != UNLABELLED
        X_target = row_normalise(self.X_target[labelled])
        return (
            Side(row_normalise(self.X_source), self.y_source, n_classes, ALPHA),
            Side(X_target, self.y_target[labelled], n_classes, ALPHA),
        )


def synthetic_rows(size: Size, seed: int = 0) -> Rows:
    """Draw rectified Gaussian rows around one centre a class and domain."""
    rng = np.random.default_rng(seed)
    y_source = np.arange(size.n_source) % size.n_classes
    n_target = size.n_labelled + size.n_unlabelled
    y_target = np.arange(n_target) % size.n_classes

    def draw(codes: Int, d: int) -> Float:
        centres = rng.standard_normal((size.n_classes, d)) * (3.0 / np.sqrt(d)) ** 0.5
        rows = centres[codes] + rng.standard_normal((len(codes), d))
        rectified: Float = np.maximum(rows, 0.0, out=rows)
        return rectified

    X_source, X_target = draw(y_source, size.d_source), draw(y_target, size.d_target)
    y_target[size.n_labelled :] = UNLABELLED
    return Rows(X_source, y_source, X_target, y_target)


def dense_projection(
    source: Side, target: Side, n_components: int | None = None
) -> Projection:
    """Solve the eigenproblem of CDSPP as it is written down, with dense matrices.

    Builds both matrices of size ``d_s + d_t`` and asks LAPACK for the largest
    `n_components` eigenpairs (the number of classes by default). Cost
    O((d_s + d_t)^3); the yardstick of `solve_projection`, which gives the same.
    """
    d_source, d_target = source.X.shape[1], target.X.shape[1]
    d, k = d_source + d_target, n_components or source.n_classes
    A, B = np.zeros((d, d), order="F"), np.zeros((d, d), order="F")
    A[:d_source, d_source:] = source.sums @ target.sums.T
    for corner, side, other in (
        (slice(None, d_source), source, target),
        (slice(d_source, None), target, source),
    ):
        weights = (side.class_counts + other.class_counts / 2.0)[side.codes]
        scaled = side.X * np.sqrt(weights)[:, None]
        B[corner, corner] = symmetric_product(scaled, of_rows=False)
        B[corner, corner] -= side.sums @ side.sums.T
    B[np.diag_indices(d)] += source.alpha
    values, vectors = linalg.eigh(
        A,
        B,
        lower=False,
        subset_by_index=[d - k, d - 1],
        overwrite_a=True,
        overwrite_b=True,
        check_finite=False,
    )
    vectors = vectors[:, ::-1]
    P_source, P_target = vectors[:d_source], vectors[d_source:]
    return Projection(
        target=P_target,
        eigenvalues=values[::-1],
        rows_source=source.X @ P_source,
        rows_target=target.X @ P_target,
        expand_source=lambda: P_source,
    )


def unavoidable_products(
    X_source: Float, X_target: Float, rows_in_use: Sequence[int]
) -> None:
    """Compute what no implementation of the rounds can do without.

    Once the source's Gram or covariance matrix; in each round that of the target rows
    in use, whichever is smaller, and one Cholesky factor for each domain.
    """
    source = symmetric_product(X_source, of_rows=X_source.shape[0] < X_source.shape[1])
    for n in rows_in_use:
        target = symmetric_product(X_target[:n], of_rows=n < X_target.shape[1])
        for K in (source.copy(order="F"), target):
            K[np.diag_indices_from(K)] += ALPHA
            linalg.cho_factor(K, overwrite_a=True, check_finite=False)


Work = Callable[[], Mapping[str, Any]]


def _closed_form(size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    return _supervised(solve_projection, size, rows)


def _dense(size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    return _supervised(dense_projection, size, rows)


def _supervised(
    solver: Callable[[Side, Side], Projection], size: Size, rows: Rows
) -> Work:
    source, target = rows.sides(size.n_classes)

    def work() -> Mapping[str, Any]:
        found = solver(source, target)
        # The source's projection is computed on first use.
        shapes = [found.source.shape, found.target.shape]
        return {"eigenvalues": found.eigenvalues.tolist(), "shapes": shapes}

    return work


def _rounds(size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    from cdspp.methods.cdspp import CDSPP

    def work() -> Mapping[str, Any]:
        source = SourceDomain(rows.X_source, rows.y_source)
        model = CDSPP(alpha=ALPHA).fit(rows.X_target, rows.y_target, source=source)
        selected = [entry.n_selected for entry in model.history_]
        return {"rows_in_use": [size.n_labelled + n for n in selected]}

    return work


def _products(size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    X_source, X_target = row_normalise(rows.X_source), row_normalise(rows.X_target)

    def work() -> Mapping[str, Any]:
        unavoidable_products(X_source, X_target, rows_in_use)
        return {}

    return work


MEASUREMENTS: Mapping[str, Callable[[Size, Rows, Sequence[int]], Work]] = {
    "closed-form": _closed_form,
    "dense": _dense,
    "rounds": _rounds,
    "products": _products,
}
PRINTED = {
    "closed-form": "supervised fit, closed form",
    "dense": "supervised fit, dense eigensolver",
    "rounds": "five rounds, whole CDSPP fit",
    "products": "five rounds, unavoidable products",
}


def _resident_mb(field: str) -> float:
    """Return `VmRSS` or `VmHWM` of this process; the peak where there is no /proc."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return peak_memory_mb()
    entry = next(line for line in lines if line.startswith(field))
    return float(entry.split()[1]) / 1e3


def _forget_peak() -> None:
    """Start the peak anew from now, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def run_measurement(
    what: str, size: Size, rows_in_use: Sequence[int] = ()
) -> dict[str, Any]:
    """Time one measurement in this process, on rows drawn beforehand."""
    tiny = Size("warm-up", 3, 12, 6, 6, 9, 40)
    MEASUREMENTS[what](tiny, synthetic_rows(tiny), [6, 9])()
    work = MEASUREMENTS[what](size, synthetic_rows(size), rows_in_use)
    _forget_peak()
    before = _resident_mb("VmRSS")
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    memory = max(_resident_mb("VmHWM") - before, 0.0)
    return {"seconds": seconds, "peak_memory_mb": memory, **result}


def measure(
    what: str, size: Size, rows_in_use: Sequence[int] = (), *, repeat: int = 1
) -> dict[str, Any]:
    """Measure in fresh processes with one BLAS thread; medians over `repeat` runs."""
    request = json.dumps([what, asdict(size), list(rows_in_use)])
    command = [sys.executable, "-m", "cdspp.bench", request]
    runs = []
    for _ in range(repeat):
        done = subprocess.run(
            command,
            env={**os.environ, **ONE_THREAD},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(
                f"Measurement {what} of {size.name} failed with exit code "
                f"{done.returncode}: {reason}. It may need more memory than there is."
            )
        runs.append(json.loads(done.stdout))
    middle = {
        key: median(run[key] for run in runs) for key in ("seconds", "peak_memory_mb")
    }
    seconds = [run["seconds"] for run in runs]
    return {**runs[0], **middle, "seconds_of_each_run": seconds}


def bench_solver(
    sizes: Sequence[Size],
    *,
    repeat: int = 3,
    progress: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Measure the solver on each size.

    Parameters
    ----------
    sizes : sequence of Size
        Sizes of the synthetic problems.
    repeat : int, default=3
        Runs of each measurement; the median counts.
    progress : callable, optional
        Told what is about to be measured.

    Returns
    -------
    results : list of dict
        One entry a size: the size, the four measurements, and their ratios.
    """
    results = []
    for size in sizes:
        found: dict[str, Any] = {}
        for what in MEASUREMENTS:
            progress(f"{size.name}: {PRINTED[what]}")
            in_use = found["rounds"]["rows_in_use"] if what == "products" else ()
            found[what] = measure(what, size, in_use, repeat=repeat)
        results.append(_compare(size, found))
    return results


def _compare(size: Size, found: Mapping[str, Any]) -> dict[str, Any]:
    closed, dense = found["closed-form"], found["dense"]
    eigenvalues = np.array(closed.pop("eigenvalues"))
    reference = np.array(dense.pop("eigenvalues"))[: len(eigenvalues)]
    difference = np.abs(eigenvalues - reference).max() / reference[0]
    return {
        "size": asdict(size),
        "measurements": dict(found),
        "speed_up": dense["seconds"] / closed["seconds"],
        "memory_ratio": dense["peak_memory_mb"] / max(closed["peak_memory_mb"], 1e-3),
        "eigenvalue_difference": float(difference),
        "rounds_over_products": found["rounds"]["seconds"]
        / found["products"]["seconds"],
    }


def solver_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the results of `bench_solver` as an aligned table."""
    lines = []
    for result in results:
        lines += [str(Size(**result["size"])), f"{'':36}{'seconds':>10}{'peak MB':>10}"]
        for what, entry in result["measurements"].items():
            numbers = f"{entry['seconds']:10.3f}{entry['peak_memory_mb']:10.0f}"
            lines.append(f"  {PRINTED[what]:34}{numbers}")
        lines += [
            f"  dense over closed form            {result['speed_up']:10.1f}x"
            f"{result['memory_ratio']:9.1f}x   eigenvalues differ by "
            f"{result['eigenvalue_difference']:.0e}",
            f"  five rounds over products         "
            f"{result['rounds_over_products']:10.2f}x",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    wanted, fields, in_use = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(run_measurement(wanted, Size(**fields), in_use)))
