"""What fit jobs left behind beside their predictions: outcomes, seconds, versions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdspp.core.artifacts import read_json

__all__ = ["FitRecord", "read_fit_records"]


@dataclass(frozen=True)
class FitRecord:
    """What one fit job left behind, and which cell it belongs to."""

    benchmark: str
    setting: str
    task: str
    method: str
    content: Mapping[str, Any]

    @property
    def trials(self) -> list[Mapping[str, Any]]:
        """The trials of the job's block."""
        return list(self.content.get("trials", ()))


def read_fit_records(paths: Iterable[str | os.PathLike[str]]) -> list[FitRecord]:
    """Read fit records; the cell is read from the path.

    Parameters
    ----------
    paths : iterable of path
        ``.../<benchmark>/<setting>/<task>/<method>/<block>.json``.
    """
    records = []
    for path in map(Path, paths):
        benchmark, setting, task, method = path.parts[-5:-1]
        cell = (benchmark, setting, task, method)
        records.append(FitRecord(*cell, read_json(path)))
    return records
