"""What files are made from, by the job graph."""

from __future__ import annotations

import csv
from pathlib import Path

from support.toy_study import Project


def fit_inputs(project: Project, study: str) -> dict[Path, set[str]]:
    """Return what each file of predictions is made from."""
    summary = project.snakemake("--cores", "1", "--detailed-summary")
    table = summary[summary.index("output_file\t") :]
    rows = csv.DictReader(table.splitlines(), delimiter="\t")
    found = {Path(r["output_file"]): set(r["input-file(s)"].split(",")) for r in rows}
    fits = Path("results") / study / "fits"
    return {
        path: inputs
        for path, inputs in found.items()
        if path.is_relative_to(fits) and path.suffix == ".parquet"
    }
