"""What fit jobs left behind beside their predictions: outcomes, seconds, versions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.summary import read_scores
from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, fit_key
from cdspp.core.provenance import Usage, numeric
from cdspp.core.wording import counted
from cdspp.stages.fit_files import read_record

__all__ = [
    "OUTCOME_COLUMNS",
    "FitRecords",
    "failure_text",
    "failures_of_scores",
    "mixed_versions",
    "read_fit_records",
    "versions_note",
]

PathLike = str | os.PathLike[str]

MIXED = "Fits were made by different versions"
ALIKE = (
    "The study's run with -- --forceall makes those of other versions again, and what "
    "they rest on."
)
_MEASURED = tuple(Usage().as_dict())
OUTCOME_COLUMNS = (
    *(*FitKey._fields, "trial", "status", "reason"),
    *(*_MEASURED, "selected"),
)


@dataclass(frozen=True, eq=False)
class FitRecords:
    """The records of a study's fits.

    `outcomes` have a row a trial: which fit it belongs to, its number, `status` ("ok"
    or "failed") with `reason`, `seconds` of wall clock and `cpu_seconds`,
    `peak_memory_mb` of the process, and the options that were `selected`, where the fit
    selects. What was not measured is NaN. `jobs` are what each job says of itself:
    seed, threads, versions, platform.
    """

    outcomes: pd.DataFrame
    jobs: Sequence[Mapping[str, Any]]

    @property
    def failed(self) -> pd.DataFrame:
        """The outcomes of trials that failed."""
        return self.outcomes[self.outcomes["status"] != "ok"]

    @property
    def mixed(self) -> str:
        """A sentence where they were made by different versions of packages."""
        return mixed_versions(self.jobs)

    def common(self, name: str) -> Any:
        """Return what all jobs say of `name`, all values where they differ."""
        values: list[Any] = []
        for job in self.jobs:
            if (value := job.get(name)) is not None and value not in values:
                values.append(value)
        return values[0] if len(values) == 1 else values or None


def read_fit_records(paths: Iterable[PathLike]) -> FitRecords:
    """Read fit records; each belongs to what its path says, and says so itself.

    A record that is damaged, of an older version, or of another fit is a DataError.
    """
    jobs, outcomes = [], []
    for path in paths:
        job = read_record(path)
        outcomes += [fit_key(path)._asdict() | trial for trial in job.pop("trials")]
        jobs.append(job)
    frame = pd.DataFrame(outcomes, columns=list(OUTCOME_COLUMNS))
    return FitRecords(frame.astype(dict.fromkeys(_MEASURED, "float64")), jobs)


def mixed_versions(records: Iterable[Mapping[str, Any]]) -> str:
    """Say which versions of numeric packages made fits, and what makes them alike.

    It is empty where every package has one version.
    """
    seen: dict[str, Counter[str]] = {}
    for record in records:
        for name, version in numeric(record.get("versions", {})).items():
            seen.setdefault(name, Counter())[version] += 1
    parts = []
    for name, found in seen.items():
        told = [
            f"{version} ({counted(n, 'fit')})" for version, n in sorted(found.items())
        ]
        parts += [f"{name} {', '.join(told)}"] * (len(found) > 1)
    return f"{MIXED}: {'; '.join(parts)}. {ALIKE}" if parts else ""


def versions_note(paths: Iterable[PathLike]) -> str:
    """Say what `mixed_versions` does of the records that are there and whole."""
    found = []
    for path in paths:
        with suppress(DataError):
            found.append(read_record(path))
    return mixed_versions(found)


def failure_text(outcomes: pd.DataFrame) -> str:
    """Say how many fits failed, and of which methods; nothing where none did."""
    fits = outcomes.drop_duplicates(["benchmark", "setting", "task", "method", "trial"])
    failed = fits[fits["status"] != "ok"]
    if failed.empty:
        return ""
    numbers = failed.groupby("method", sort=False).size().items()
    methods = ", ".join(f"{method} {number}" for method, number in numbers)
    return f"{len(failed)} of {counted(len(fits), 'fit')} failed ({methods})."


def failures_of_scores(paths: Iterable[PathLike]) -> str:
    """Say how many fits failed, by the score files of a study that are there."""
    files = [path for path in map(Path, paths) if path.is_file()]
    scores = [read_scores(path).assign(benchmark=path.stem) for path in files]
    return failure_text(pd.concat(scores)) if scores else ""
