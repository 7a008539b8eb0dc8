"""The protocol of the paper: what it ran, and on which tasks it makes its claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdspp.core.names import AVERAGE, PathLike
from cdspp.core.yaml_files import read_yaml


@dataclass(frozen=True)
class Protocol:
    """The sections of ``protocol.yaml``, by benchmark as ``accuracy.csv`` names them.

    `study` is the file of the study that runs it, and `differences` are the places
    where that study departs from it on purpose.
    """

    study: str
    main: Mapping[str, Any]
    benchmarks: Mapping[str, Mapping[str, Any]]
    curves: Mapping[str, Mapping[str, Any]]
    subspace: Mapping[str, Any]
    times: Mapping[str, Any]
    differences: Sequence[Mapping[str, Any]]

    def tasks(self, benchmark: str) -> tuple[str, ...]:
        """Return the tasks of a benchmark, in the order of the columns of its table."""
        tasks = self.benchmarks[benchmark]["tasks"].values()
        return tuple(task for task in tasks if task != AVERAGE)

    def curve_tasks(self, benchmark: str) -> tuple[str, ...]:
        """Return the tasks of the curves; empty if the paper has none there."""
        scope = self.curves["scope"].get(benchmark, {"tasks": 0})
        return self.tasks(benchmark)[: scope["tasks"]]

    def title_of(self, benchmarks: Sequence[str]) -> str:
        """Return the short titles of benchmarks; of both directions, the data set's."""
        if len(benchmarks) == len(self.benchmarks):
            return "all data sets"
        by_data: dict[str, list[str]] = {}
        for name in self.benchmarks:
            by_data.setdefault(self.benchmarks[name]["dataset"], []).append(name)
        titles: dict[str, None] = {}
        for name in benchmarks:
            entry = self.benchmarks[name]
            whole = {*by_data[entry["dataset"]]} <= {*benchmarks}
            short = entry["short_title"]
            titles[short.partition(" (")[0] if whole else short] = None
        return ", ".join(titles)


def read_protocol(folder: PathLike) -> Protocol:
    """Read the protocol in the folder of the paper."""
    return Protocol(**read_yaml(Path(folder, "protocol.yaml")))
