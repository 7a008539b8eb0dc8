"""Time and memory of a fit of each method, as ratios to CDSPP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.measure import Rows, Work, describe_size, measure
from cdspp.core.errors import ConfigError
from cdspp.methods import available, make_seeded, method_class
from cdspp.methods.cost import Size, fit_cost

__all__ = ["REFERENCE", "bench_methods", "methods_table", "prepare"]

REFERENCE = "cdspp"
N_SHARED, N_PAIRED = 20, 100
COLUMNS = ("seconds", "x CDSPP", "peak MB", "x CDSPP", "model s")
EARLIER_COLUMNS = ("x before", "MB before")


def prepare(name: str, size: Size, rows: Rows) -> Work:
    """Return the fit of the method `name` with its defaults, to be timed."""
    model = make_seeded(name, 0)
    source = rows.source()
    if method_class(name).needs_bridge:
        source = replace(source, **_bridge(rows))

    def work() -> Mapping[str, Any]:
        model.fit(rows.X_target, rows.y_target, source=source)
        return {}

    return work


def _bridge(rows: Rows) -> dict[str, Any]:
    """Return shared columns and paired rows, as many as both domains can give."""
    X_source, X_target = rows.X_source, rows.X_target
    n_columns = min(N_SHARED, X_source.shape[1], X_target.shape[1])
    n_pairs = min(N_PAIRED, len(X_source), len(X_target))
    # Halved: a pair may not be a row of a domain.
    pairs = X_source[:n_pairs] / 2, X_target[:n_pairs] / 2
    columns = [(i, i) for i in range(n_columns)]
    return {"shared_columns": columns, "paired_rows": pairs}


def bench_methods(
    sizes: Sequence[Size],
    *,
    methods: Sequence[str] = (),
    limit: float = 600.0,
    before: Path | None = None,
    repeat: int = 1,
    progress: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Measure one fit of each method on each size, one after the other.

    Parameters
    ----------
    sizes : sequence of Size
        Sizes of the synthetic problems.
    methods : sequence of str
        Identifiers; all methods by default. CDSPP is always among them.
    limit : float, default=600
        Seconds after which a fit is stopped; the forecast of the cost model remains.
    before : Path, optional
        A checkout of another version, with its `.venv`. Its fits alternate with those
        of this one.
    repeat : int, default=1
        Fits of each version; the quickest counts.
    progress : callable, optional
        Receives a line of text before each measurement.

    Returns
    -------
    results : list of dict
        By size: `size`, and by method `seconds` and `peak_memory_mb` (None if stopped)
        and `model_seconds`; with `before`, also the fit of the other version (`seconds`
        is None if it has no such method).

    Raises
    ------
    ConfigError
        The other version has no `.venv`.
    """
    if before is not None and not (before / ".venv/bin/python").is_file():
        remedy = "Check the other version out there, and run make setup in it"
        raise ConfigError(f"--before {before}: it has no .venv/bin/python. {remedy}.")
    names = dict.fromkeys([REFERENCE, *(methods or available())])
    results = []
    for size in sizes:
        entries = {}
        for name in names:
            progress(f"{size.name}: {name}")
            entry = _fit_entry(name, size, limit, before, repeat)
            model = fit_cost(method_class(name), size).seconds
            entries[name] = {**entry, "model_seconds": model}
        results.append({"size": asdict(size), "methods": entries})
    return results


def _fit_entry(
    name: str, size: Size, limit: float, before: Path | None, repeat: int
) -> dict[str, Any]:
    """Return the quickest fit, and that of the earlier version."""
    measurement, fits, earlier_fits = f"{__name__}:{name}", [], []
    for _ in range(repeat):
        fits.append(measure(measurement, size, limit=limit))
        if before is not None:
            earlier_fits.append(_earlier_fit(measurement, size, limit, before))
    entry = _quickest(fits)
    if before is None or entry["seconds"] is None:
        return entry
    return {**entry, "before": _quickest(earlier_fits)}


def _earlier_fit(
    measurement: str, size: Size, limit: float, checkout: Path
) -> dict[str, Any]:
    """Return the fit of another version, without seconds if it has no such method."""
    try:
        return measure(measurement, size, limit=limit, checkout=checkout)
    except RuntimeError:
        return {"seconds": None, "peak_memory_mb": None}


def _quickest(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return min(entries, key=lambda entry: entry["seconds"] or float("inf"))


def methods_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the results of `bench_methods` as an aligned table."""
    lines = []
    for result in results:
        size = Size(**result["size"])
        has_earlier_fits = any(
            "before" in entry for entry in result["methods"].values()
        )
        columns = COLUMNS + (EARLIER_COLUMNS if has_earlier_fits else ())
        lines += [
            describe_size(size),
            f"  {'':16}" + "".join(f"{c:>11}" for c in columns),
        ]
        reference = result["methods"][REFERENCE]
        for name, entry in result["methods"].items():
            cells = [*_own_cells(entry, reference), f"{entry['model_seconds']:.1f}"]
            cells += _earlier_cells(entry) if has_earlier_fits else ()
            lines.append(f"  {name:16}" + "".join(f"{cell:>11}" for cell in cells))
        lines.append("")
    return "\n".join(lines)


def _own_cells(entry: Mapping[str, Any], reference: Mapping[str, Any]) -> list[str]:
    if entry["seconds"] is None:
        return [f"> {entry['limit']:.0f}", "–", "–", "–"]
    memory, unit = entry["peak_memory_mb"], max(reference["peak_memory_mb"] or 0.0, 1.0)
    seconds, second = entry["seconds"], reference["seconds"]
    ratio = f"{seconds / second:.2f}" if second else "–"
    return [f"{seconds:.2f}", ratio, f"{memory:.0f}", f"{memory / unit:.2f}"]


def _earlier_cells(entry: Mapping[str, Any]) -> list[str]:
    """Return the ratio to the earlier fit, and that fit's memory."""
    earlier_fit = entry.get("before", {})
    if not earlier_fit.get("seconds"):
        return ["–", "–"]
    ratio = entry["seconds"] / earlier_fit["seconds"]
    return [f"{ratio:.2f}", f"{earlier_fit['peak_memory_mb']:.0f}"]
