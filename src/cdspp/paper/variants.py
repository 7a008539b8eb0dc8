"""Variants for the papers: what can be run another way, and where a study does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from cdspp.study.plan import BenchmarkPlan

NAME = "paper"
# Keys of a configuration that name variants, and what opens their settings.
VARIANTS = {"deviations": "deviation", "choices": "choice"}


@dataclass(frozen=True)
class VariantPlan:
    """A deviation or choice on one benchmark: what runs another way, and where."""

    identifier: str
    setting: str
    method: str
    tasks: tuple[str, ...]
    n_trials: int


@dataclass(frozen=True)
class PaperPlan:
    """Parts of the paper in a study of a benchmark; `printed` is its name there."""

    claims: bool = False
    printed: str | None = None
    deviations: tuple[VariantPlan, ...] = ()
    choices: tuple[VariantPlan, ...] = ()

    @classmethod
    def of(cls, plan: BenchmarkPlan) -> Self:
        """Return what the plan of a benchmark holds of the paper."""
        fields = dict(plan.plugins.get(NAME, {}))
        for section in VARIANTS:
            entries = fields.get(section, ())
            fields[section] = tuple(VariantPlan(**entry) for entry in entries)
        return cls(**fields)
