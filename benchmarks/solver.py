"""The closed form against the textbook eigensolver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import linalg

from benchmarks.measure import Rows, Work, describe_size, measure
from cdspp.core.linalg import row_normalise, symmetric_product
from cdspp.methods.base import UNLABELLED, Float
from cdspp.methods.cdspp.structure_preserving import (
    DomainSolver,
    Projection,
    solve_projection,
)
from cdspp.methods.cost import Size

__all__ = [
    "MEASUREMENTS",
    "bench_solver",
    "dense_projection",
    "prepare",
    "sides",
    "solver_table",
    "unavoidable_products",
]

ALPHA = 10.0


def sides(rows: Rows, n_classes: int) -> tuple[DomainSolver, DomainSolver]:
    """Return both domains as a supervised fit sees them, rows of unit length."""
    labelled = rows.y_target != UNLABELLED
    X_target = row_normalise(rows.X_target[labelled])
    return (
        _side(row_normalise(rows.X_source), rows.y_source, n_classes),
        _side(X_target, rows.y_target[labelled], n_classes),
    )


def _side(X: Float, codes: Any, n_classes: int) -> DomainSolver:
    counts = np.bincount(codes, minlength=n_classes)
    return DomainSolver(X, codes, counts, ALPHA)


def dense_projection(
    source: DomainSolver, target: DomainSolver, n_components: int | None = None
) -> Projection:
    """Solve the eigenproblem of CDSPP in its textbook form, with dense matrices.

    LAPACK computes the largest `n_components` eigenpairs (by default, as many as
    classes) of matrices of size ``d_s + d_t``, at a cost of O((d_s + d_t)^3). The
    result equals that of `solve_projection`.
    """
    d_source, d_target = source.X.shape[1], target.X.shape[1]
    d, k = d_source + d_target, n_components or len(source.class_counts)
    A, B = np.zeros((d, d), order="F"), np.zeros((d, d), order="F")
    A[:d_source, d_source:] = source.sums @ target.sums.T
    for corner, side, opposite in (
        (slice(None, d_source), source, target),
        (slice(d_source, None), target, source),
    ):
        weights = (side.class_counts + opposite.class_counts / 2.0)[side.codes]
        weighted_rows = side.X * np.sqrt(weights)[:, None]
        B[corner, corner] = symmetric_product(weighted_rows, of_rows=False)
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
        rows_sources=(source.X @ P_source,),
        rows_target=target.X @ P_target,
        expand_sources=(lambda: P_source,),
    )


def unavoidable_products(
    X_source: Float, X_target: Float, rows_in_use: Sequence[int]
) -> None:
    """Compute the matrix products that every implementation of the iterations needs.

    These are the source's Gram or covariance matrix, once; and in each iteration that
    of the target rows in use, and a Cholesky factor for each domain. The smaller of
    Gram and covariance matrix counts.
    """
    source = symmetric_product(X_source, of_rows=X_source.shape[0] < X_source.shape[1])
    for n in rows_in_use:
        target = symmetric_product(X_target[:n], of_rows=n < X_target.shape[1])
        for K in (source.copy(order="F"), target):
            K[np.diag_indices_from(K)] += ALPHA
            linalg.cho_factor(K, overwrite_a=True, check_finite=False)


def _closed_form(size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    return _supervised(solve_projection, size, rows)


def _dense(size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    return _supervised(dense_projection, size, rows)


def _supervised(solver: Callable[..., Projection], size: Size, rows: Rows) -> Work:
    source, target = sides(rows, size.n_classes)

    def work() -> Mapping[str, Any]:
        projection = solver(source, target)
        # The source's projection is computed on first use.
        shapes = [projection.sources[0].shape, projection.target.shape]
        return {"eigenvalues": projection.eigenvalues.tolist(), "shapes": shapes}

    return work


def _iterations(size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    from cdspp.methods.cdspp.cdspp import CDSPP

    def work() -> Mapping[str, Any]:
        model = CDSPP(alpha=ALPHA)
        model.fit(rows.X_target, rows.y_target, source=rows.source())
        n_selected = [entry.n_selected for entry in model.history_]
        return {"rows_in_use": [size.n_labelled + n for n in n_selected]}

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
    "iterations": _iterations,
    "products": _products,
}
DISPLAY_NAMES = {
    "closed-form": "supervised fit, closed form",
    "dense": "supervised fit, dense eigensolver",
    "iterations": "five iterations, whole CDSPP fit",
    "products": "five iterations, products only",
}


def prepare(name: str, size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    """Return the work that a measurement times."""
    return MEASUREMENTS[name](size, rows, rows_in_use)


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
        Receives a line of text before each measurement.

    Returns
    -------
    results : list of dict
        One entry per size: the size, the four measurements, and their ratios.
    """
    results = []
    for size in sizes:
        measurements: dict[str, Any] = {}
        for name in MEASUREMENTS:
            progress(f"{size.name}: {DISPLAY_NAMES[name]}")
            in_use = (
                measurements["iterations"]["rows_in_use"] if name == "products" else ()
            )
            measurements[name] = measure(
                f"{__name__}:{name}", size, in_use, repeat=repeat
            )
        results.append(_compare(size, measurements))
    return results


def _compare(size: Size, measurements: Mapping[str, Any]) -> dict[str, Any]:
    closed_form, dense = measurements["closed-form"], measurements["dense"]
    eigenvalues = np.array(closed_form.pop("eigenvalues"))
    reference = np.array(dense.pop("eigenvalues"))[: len(eigenvalues)]
    difference = np.abs(eigenvalues - reference).max() / reference[0]
    return {
        "size": asdict(size),
        "measurements": dict(measurements),
        "speed_up": dense["seconds"] / closed_form["seconds"],
        "memory_ratio": dense["peak_memory_mb"]
        / max(closed_form["peak_memory_mb"], 1e-3),
        "eigenvalue_difference": float(difference),
        "iterations_over_products": measurements["iterations"]["seconds"]
        / measurements["products"]["seconds"],
    }


def solver_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the results of `bench_solver` as an aligned table."""
    lines = []
    for result in results:
        size = describe_size(Size(**result["size"]))
        lines += [size, f"{'':36}{'seconds':>10}{'peak MB':>10}"]
        for name, entry in result["measurements"].items():
            numbers = f"{entry['seconds']:10.3f}{entry['peak_memory_mb']:10.0f}"
            lines.append(f"  {DISPLAY_NAMES[name]:34}{numbers}")
        lines += [
            f"  dense over closed form            {result['speed_up']:10.1f}x"
            f"{result['memory_ratio']:9.1f}x   eigenvalues differ by "
            f"{result['eigenvalue_difference']:.0e}",
            f"  five iterations over products     "
            f"{result['iterations_over_products']:10.2f}x",
            "",
        ]
    return "\n".join(lines)
