"""Checks of what differs from the main run: settings, curves, deviations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cdspp.curves import LABELS
from cdspp.faults import option_faults, size_faults, unknown
from cdspp.methods import available
from cdspp.settings import setting_of_point, task_names
from cdspp.study import MAIN, DatasetFacts

__all__ = ["SettingCheck"]

Config = Mapping[str, Any]

DIFFERENCES = ("source", "options", "labels", "overlap")


class SettingCheck:
    """Checks of settings, curves and deviations that a schema cannot make.

    Parameters
    ----------
    config : mapping
        A configuration that keeps to the schema.
    facts : mapping
        What is known of each data set, by name.
    deviations : mapping
        Deviations that can be measured, by name.
    """

    def __init__(
        self,
        config: Config,
        facts: Mapping[str, DatasetFacts],
        deviations: Mapping[str, Config],
    ) -> None:
        self.config = config
        self.facts = facts
        self.deviations = deviations
        self.methods = {method["id"]: method for method in config["methods"]}
        self.benchmarks = {entry["id"]: entry for entry in config["benchmarks"]}

    def faults(self) -> Iterator[str]:
        """Yield every fault found."""
        for i, setting in enumerate(self.config.get("settings", [])):
            yield from self._setting_faults(f"settings[{i}]", setting)
        for i, curve in enumerate(self.config.get("curves", [])):
            yield from self._curve_faults(f"curves[{i}]", curve)
        for i, deviation in enumerate(self.config.get("deviations", [])):
            yield from self._deviation_faults(f"deviations[{i}]", deviation)
        yield from self._name_faults()

    def _setting_faults(self, where: str, setting: Config) -> Iterator[str]:
        if not set(DIFFERENCES) & set(setting):
            known = ", ".join(DIFFERENCES)
            yield f"{where}: nothing differs; give one of {known}."
        yield from self._run_faults(where, setting, setting["methods"])
        for name in self._known(setting["methods"]):
            yield from option_faults(
                f"{where}.options", name, setting.get("options", {})
            )
        for name in setting.get("benchmarks", self.benchmarks):
            entry = self.benchmarks.get(name, {})
            if entry.get("dataset") in self.facts:
                labels = setting.get("labels", {})
                domains = self.facts[entry["dataset"]].class_sizes
                yield from size_faults(f"{where}.labels", entry, labels, domains)

    def _curve_faults(self, where: str, curve: Config) -> Iterator[str]:
        yield from self._run_faults(where, curve, curve["methods"])
        parameter = curve["parameter"]
        for value in curve["values"]:
            if parameter != LABELS:
                for name in self._known(curve["methods"]):
                    yield from option_faults(
                        f"{where}.values", name, {parameter: value}
                    )
            elif not isinstance(value, int) or value < 1:
                yield f"{where}.values: expected a number of labels, got {value}."

    def _deviation_faults(self, where: str, entry: Config) -> Iterator[str]:
        name = entry["id"]
        if name not in self.deviations:
            yield unknown(f"{where}.id", name, self.deviations)
            return
        method = self.deviations[name]["method"]
        yield from self._run_faults(where, entry, [method])

    def _run_faults(
        self, where: str, entry: Config, methods: Iterable[str]
    ) -> Iterator[str]:
        """Yield faults of the methods, benchmarks, tasks and trials that are named."""
        chosen = entry.get("benchmarks", list(self.benchmarks))
        for name in methods:
            if name not in self.methods:
                yield unknown(f"{where}.methods", name, self.methods)
        for name in chosen:
            if name not in self.benchmarks:
                yield unknown(f"{where}.benchmarks", name, self.benchmarks)
        yield from self._idle_faults(f"{where}.methods", methods, chosen)
        yield from self._task_faults(where, entry, chosen)
        if entry.get("trials", 1) > self.config["trials"]:
            yield (
                f"{where}.trials: {entry['trials']} is more than the study's "
                f"{self.config['trials']} trials."
            )

    def _known(self, methods: Iterable[str]) -> list[str]:
        return [
            name for name in methods if name in self.methods and name in available()
        ]

    def _idle_faults(
        self, where: str, methods: Iterable[str], benchmarks: Iterable[str]
    ) -> Iterator[str]:
        """Yield the methods that run on none of the benchmarks."""
        for name in methods:
            runs_on = self.methods.get(name, {}).get("benchmarks", benchmarks)
            if not set(runs_on) & set(benchmarks):
                yield (
                    f"{where}: {name} runs on {', '.join(runs_on)} alone, the setting "
                    f"on {', '.join(benchmarks)}."
                )

    def _task_faults(
        self, where: str, entry: Config, benchmarks: Iterable[str]
    ) -> Iterator[str]:
        tasks = entry.get("tasks", [])
        known: dict[str, None] = {}
        for name in benchmarks:
            benchmark = self.benchmarks.get(name, {})
            if benchmark.get("dataset") in self.facts:
                domains = self.facts[benchmark["dataset"]].class_sizes
                known |= dict.fromkeys(task_names(benchmark, domains))
        for task in [] if isinstance(tasks, int) else tasks:
            if task not in known:
                yield unknown(f"{where}.tasks", task, known)

    def _name_faults(self) -> Iterator[str]:
        """Yield names that two settings would have, as main, curves, deviations do."""
        names = [MAIN, *(entry["id"] for entry in self.config.get("settings", []))]
        names += [f"deviation-{e['id']}" for e in self.config.get("deviations", [])]
        names += [
            setting_of_point(curve["id"], value)
            for curve in self.config.get("curves", [])
            for value in curve["values"]
        ]
        for name, count in Counter(names).items():
            if count > 1 and name == MAIN:
                yield f"settings: {MAIN} is the name of the main run, choose another."
            elif count > 1:
                yield f"settings, curves, deviations: two runs would be called {name}."
