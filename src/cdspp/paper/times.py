"""The seconds that the paper prints, beside those of this run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cdspp.analysis.fit_records import measure_times, read_fit_records
from cdspp.core.names import PathLike, Paths
from cdspp.core.yaml_files import read_yaml
from cdspp.paper.claims.claims import (
    build_time_claims_table,
    check_claims,
    read_claims,
)
from cdspp.paper.claims.evidence import Times
from cdspp.paper.readings import PaperPlan
from cdspp.report.tables.table import write_tables
from cdspp.report.tables.times import build_times_table
from cdspp.stages.artifacts import SHIPPED, read_csv
from cdspp.study.plan import Plans


def write_times(plans: Plans, records: Paths, paper: PathLike, outputs: Paths) -> None:
    """Write the table of computation times, beside them those that are printed."""
    outcomes = read_fit_records(records).outcomes
    times = measure_times(outcomes, plans, paper_times(paper, plans))
    write_tables([build_times_table(times)], outputs)


def write_time_claims(
    plans: Plans, records: Paths, paper: PathLike, outputs: Paths
) -> None:
    """Write what the paper claims of computation time."""
    times = measure_times(read_fit_records(records).outcomes, plans)
    claims = read_claims(Path(paper, "claims.yaml"))
    findings = check_claims([Times(plan, times) for plan in plans], claims)
    write_tables([build_time_claims_table(findings)], outputs)


def paper_times(folder: PathLike, plans: Plans) -> dict[str, Mapping[str, float]]:
    """Return the printed seconds, by benchmark of ours and display name of a method."""
    seconds = paper_seconds(Path(folder, "computation_time.csv"))
    known = read_yaml(Path(folder, "benchmarks.yaml"))
    names = {plan.benchmark: PaperPlan.of(plan).printed for plan in plans}
    return {
        benchmark: seconds[known[name]["time"]]
        for benchmark, name in names.items()
        if name is not None
    }


def paper_seconds(path: PathLike) -> dict[str, dict[str, float]]:
    """Read the computation times of the paper: seconds by benchmark and method."""
    types = {"method": "str", "benchmark": "str", "seconds_all_tasks": "float64"}
    found = read_csv(path, types, SHIPPED)
    return {
        str(name): dict(zip(group["method"], group["seconds_all_tasks"], strict=True))
        for name, group in found.groupby("benchmark", sort=False)
    }
