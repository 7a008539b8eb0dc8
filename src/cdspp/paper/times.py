"""The computation times that the paper prints."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cdspp.core.yaml_files import read_yaml
from cdspp.paper.readings import PaperPlan
from cdspp.stages.artifacts import SHIPPED, read_csv
from cdspp.study.plan import BenchmarkPlan

__all__ = ["paper_seconds", "paper_times"]

PathLike = str | os.PathLike[str]
_TYPES = {"method": "str", "benchmark": "str", "seconds_all_tasks": "float64"}


def paper_times(
    folder: PathLike, plans: Sequence[BenchmarkPlan]
) -> dict[str, Mapping[str, float]]:
    """Return the printed seconds, by benchmark of ours and display name of a method.

    In ``benchmarks.yaml`` of the folder `time` names rows of ``computation_time.csv``.
    """
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
    found = read_csv(path, _TYPES, SHIPPED)
    return {
        str(name): dict(zip(group["method"], group["seconds_all_tasks"], strict=True))
        for name, group in found.groupby("benchmark", sort=False)
    }
