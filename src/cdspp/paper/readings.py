"""Other readings of the papers: what can be run another way, and where a study does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from cdspp.study.plan import BenchmarkPlan

NAME = "paper"
# Keys of a configuration that name other readings, and what opens their settings.
READINGS = {"deviations": "deviation", "choices": "choice"}


@dataclass(frozen=True)
class ReadingPlan:
    """A deviation or choice on one benchmark: what runs another way, and where."""

    identifier: str
    setting: str
    method: str
    tasks: tuple[str, ...]
    trials_asked: int


@dataclass(frozen=True)
class PaperPlan:
    """Parts of the paper in a study of a benchmark; `printed` is its name there."""

    claims: bool = False
    printed: str | None = None
    deviations: tuple[ReadingPlan, ...] = ()
    choices: tuple[ReadingPlan, ...] = ()

    @classmethod
    def of(cls, plan: BenchmarkPlan) -> Self:
        """Return what the plan of a benchmark holds of the paper."""
        fields = dict(plan.plugins.get(NAME, {}))
        for section in READINGS:
            entries = fields.get(section, ())
            fields[section] = tuple(ReadingPlan(**entry) for entry in entries)
        return cls(**fields)
