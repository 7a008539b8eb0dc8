"""Checks of what runs beside the main run: settings, curves, deviations, choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cdspp.core.names import LABELS, MAIN, REAL, SELECTED
from cdspp.methods import available
from cdspp.stages.source_states import SourceState
from cdspp.study.fitting import option_faults, size_faults
from cdspp.study.known_names import KnownNames, unknown
from cdspp.study.settings import READINGS, in_state, setting_of_value

__all__ = ["run_section_faults"]

Config = Mapping[str, Any]
DIFFERENCES = ("source", "options", "labels", "overlap")


def run_section_faults(
    known: KnownNames, readings: Mapping[str, Mapping[str, Config]]
) -> list[str]:
    """Return the faults of what differs from the main run.

    Parameters
    ----------
    known : KnownNames
        The configuration by its names.
    readings : mapping
        Deviations and choices that can be run another way, by section and name.
    """
    return list(_RunCheck(known, readings).faults())


class _RunCheck:
    def __init__(
        self, known: KnownNames, readings: Mapping[str, Mapping[str, Config]]
    ) -> None:
        self.known = known
        self.readings = readings

    def faults(self) -> Iterator[str]:
        for i, setting in self.known.entries("settings"):
            yield from self._setting_faults(i, setting)
        for i, curve in self.known.entries("curves"):
            yield from self._curve_faults(f"curves[{i}]", curve)
        for section in self.readings:
            for i, entry in self.known.entries(section):
                yield from self._reading_faults(section, f"{section}[{i}]", entry)
        yield from self._name_faults()

    def _setting_faults(self, place: int, setting: Config) -> Iterator[str]:
        where = f"settings[{place}]"
        whole = ("settings", place) not in self.known.sound.cut
        if whole and not set(DIFFERENCES) & set(setting):
            differences = ", ".join(DIFFERENCES)
            yield f"{where}: nothing differs; give one of {differences}."
        try:
            SourceState(**setting.get("source", {}))
        except ValueError as error:
            yield f"{where}.source: {error}"
        yield from self._run_faults(where, setting, setting["methods"])
        for name in self._runnable(setting["methods"]):
            yield from option_faults(
                f"{where}.options", name, setting.get("options", {})
            )
        if "labels" in setting:
            yield from self._label_faults(f"{where}.labels", setting)

    def _label_faults(self, where: str, setting: Config) -> Iterator[str]:
        for name in setting.get("benchmarks", self.known.benchmarks):
            if (domains := self.known.domains(name)) is not None:
                benchmark = self.known.benchmarks[name]
                yield from size_faults(where, benchmark, setting["labels"], domains)

    def _curve_faults(self, where: str, curve: Config) -> Iterator[str]:
        yield from self._run_faults(where, curve, curve["methods"])
        parameter = curve["parameter"]
        for value in curve["values"]:
            if parameter != LABELS:
                for name in self._runnable(curve["methods"]):
                    yield from option_faults(
                        f"{where}.values", name, {parameter: value}
                    )
            elif not isinstance(value, int) or value < 1:
                yield f"{where}.values: expected a number of labels, got {value}."

    def _reading_faults(self, section: str, where: str, entry: Config) -> Iterator[str]:
        name, known = entry["id"], self.readings[section]
        if name not in known:
            yield unknown(f"{where}.id", name, known)
            return
        yield from self._run_faults(where, entry, known[name]["methods"])

    def _run_faults(
        self, where: str, entry: Config, methods: Iterable[str]
    ) -> Iterator[str]:
        """Yield faults of the methods, benchmarks, tasks and trials that are named."""
        chosen = entry.get("benchmarks", list(self.known.benchmarks))
        for name in methods:
            yield from self.known.missing(f"{where}.methods", "methods", name)
        for name in chosen:
            yield from self.known.missing(f"{where}.benchmarks", "benchmarks", name)
        yield from self._idle_faults(f"{where}.methods", methods, chosen)
        yield from self.known.task_faults(where, entry, chosen)
        yield from self.known.trial_faults(where, entry)

    def _runnable(self, methods: Iterable[str]) -> list[str]:
        return [n for n in methods if n in self.known.methods and n in available()]

    def _idle_faults(
        self, where: str, methods: Iterable[str], benchmarks: Iterable[str]
    ) -> Iterator[str]:
        """Yield the methods that run on none of the benchmarks."""
        if "benchmarks" in self.known.sound.unnamed:
            return
        for name in methods:
            runs_on = self.known.methods.get(name, {}).get("benchmarks", benchmarks)
            if not set(runs_on) & set(benchmarks):
                yield (
                    f"{where}: {name} runs on {', '.join(runs_on)} alone, the setting "
                    f"on {', '.join(benchmarks)}."
                )

    def _name_faults(self) -> Iterator[str]:
        """Yield names that two settings would have, as main, curves, readings do."""
        names = [MAIN, *self.known.names("settings"), *self.known.states]
        if any("grid" in entry for _, entry in self.known.entries("methods")):
            names += [in_state(SELECTED, state) for state in (REAL, *self.known.states)]
        names += [
            f"{opening}-{name}"
            for section, opening in READINGS.items()
            for name in self.known.names(section)
        ]
        names += [
            setting_of_value(curve["id"], value)
            for _, curve in self.known.entries("curves")
            for value in curve["values"]
        ]
        for name, count in Counter(names).items():
            if count > 1 and name == MAIN:
                yield f"settings: {MAIN} is the name of the main run, choose another."
            elif count > 1:
                sections = "settings, source_states, curves, deviations"
                yield f"{sections}: two runs would be called {name}."
