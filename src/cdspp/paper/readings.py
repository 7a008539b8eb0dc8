"""Other readings of the papers: what can be run another way, and where a study does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from cdspp.study.model import Study
from cdspp.study.plan import BenchmarkPlan

__all__ = ["NAME", "READINGS", "PaperPlan", "ReadingPlan"]

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
    """What a study has of the paper on one benchmark.

    With `claims` the report has the paper's claims and readings; `printed` names the
    benchmark whose printed numbers stand beside.
    """

    claims: bool = False
    printed: str | None = None
    deviations: tuple[ReadingPlan, ...] = ()
    choices: tuple[ReadingPlan, ...] = ()

    @classmethod
    def of(cls, plan: BenchmarkPlan) -> Self:
        """Return what the plan of a benchmark holds of the paper."""
        told = dict(plan.guests.get(NAME, {}))
        for section in READINGS:
            entries = told.get(section, ())
            told[section] = tuple(ReadingPlan(**entry) for entry in entries)
        return cls(**told)

    @classmethod
    def of_study(cls, study: Study, config: Mapping[str, Any], benchmark: str) -> Self:
        """Return what a study has of the paper on a benchmark."""
        entries = {entry["id"]: entry for entry in config.get("benchmarks", ())}
        printed = entries.get(benchmark, {}).get("printed")
        plans = {
            name: tuple(_plans(study, config, benchmark, name)) for name in READINGS
        }
        return cls(config.get("paper", True), printed, **plans)


def _plans(
    study: Study, config: Mapping[str, Any], benchmark: str, section: str
) -> Iterator[ReadingPlan]:
    for entry in config.get(section, ()):
        setting = f"{READINGS[section]}-{entry['id']}"
        tasks = study.setting_tasks(benchmark, setting)
        for method in study.setting_methods(benchmark, setting) if tasks else ():
            trials = study.setting_trials(setting, method)
            yield ReadingPlan(entry["id"], setting, method, tasks, trials)
