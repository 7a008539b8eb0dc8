"""Records of fits next to their predictions: trials, seconds, versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.summary import read_scores
from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, PathLike, fit_key
from cdspp.core.provenance import USAGE, numeric
from cdspp.core.wording import counted
from cdspp.stages.formats import read_fit_record

RESULT_COLUMNS = (*FitKey._fields, "trial", "status", "reason", *USAGE, "selected")


@dataclass(frozen=True, eq=False)
class FitRecords:
    """A study's fits: `results` by trial, and `jobs` with seed and versions.

    Seconds and memory are NaN where not measured; `selected` are options of the fit.
    """

    results: pd.DataFrame
    jobs: Sequence[Mapping[str, Any]]

    @property
    def failed(self) -> pd.DataFrame:
        """The records of trials that failed."""
        return self.results[self.results["status"] != "ok"]

    def common(self, name: str) -> Any:
        """Return what all jobs say of `name`, all values where they differ."""
        values: list[Any] = []
        for job in self.jobs:
            if (value := job.get(name)) is not None and value not in values:
                values.append(value)
        return values[0] if len(values) == 1 else values or None


def read_fit_records(paths: Iterable[PathLike]) -> FitRecords:
    """Read fit records; DataError where one is damaged, outdated or of another fit."""
    jobs: list[Mapping[str, Any]] = []
    results: list[Mapping[str, Any]] = []
    for path in paths:
        record = read_fit_record(path)
        results += [{**fit_key(path)._asdict(), **t} for t in record.trials]
        jobs.append(record.extra)
    frame = pd.DataFrame(results, columns=list(RESULT_COLUMNS))
    return FitRecords(frame.astype(dict.fromkeys(USAGE, "float64")), jobs)


def record_files(folder: PathLike) -> list[Path]:
    """Return the records of ``results/<study>``, without those left half-written."""
    return sorted(Path(folder).glob("fits/**/[!.]*.json"))


def mixed_versions(records: Iterable[Mapping[str, Any]]) -> str:
    """Name the versions of a numeric package where several made fits, and a remedy."""
    seen: dict[str, Counter[str]] = {}
    for record in records:
        for name, version in numeric(record.get("versions", {})).items():
            seen.setdefault(name, Counter())[version] += 1
    parts = []
    for name, found in seen.items():
        uses = (f"{each} ({counted(n, 'fit')})" for each, n in sorted(found.items()))
        if len(found) > 1:
            parts.append(f"{name} {', '.join(uses)}")
    if not parts:
        return ""
    return (
        f"Fits were made by different versions: {'; '.join(parts)}. The study's run "
        "with -- --forceall makes those of other versions again, and what they rest on."
    )


def versions_note(paths: Iterable[PathLike]) -> str:
    """Return `mixed_versions` of the records that exist and are intact."""
    found = []
    for path in paths:
        with suppress(DataError):
            found.append(read_fit_record(path).extra)
    return mixed_versions(found)


def failure_text(results: pd.DataFrame) -> str:
    """Count the failed fits of each method; empty where none failed."""
    fits = results.drop_duplicates(["benchmark", "setting", "task", "method", "trial"])
    failed = fits[fits["status"] != "ok"].groupby("method", sort=False).size()
    if failed.empty:
        return ""
    methods = ", ".join(f"{method} {number}" for method, number in failed.items())
    return f"{failed.sum()} of {counted(len(fits), 'fit')} failed ({methods})."


def failures_of_scores(paths: Iterable[PathLike]) -> str:
    """Return `failure_text` of the score files of a study that exist."""
    scores = []
    for path in filter(Path.is_file, map(Path, paths)):
        with suppress(DataError):  # damaged, as `cdspp verify` says
            scores.append(read_scores(path).assign(benchmark=path.stem))
    return failure_text(pd.concat(scores)) if scores else ""
