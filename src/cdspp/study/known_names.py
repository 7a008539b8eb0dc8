"""What a configuration names, and what is wrong with names, options and sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.methods import method_class, option_defaults
from cdspp.study.model import StudyDataset
from cdspp.study.schema import Sound
from cdspp.study.settings import task_names

__all__ = ["KnownNames", "option_faults", "unknown"]

Config = Mapping[str, Any]


class KnownNames:
    """The sections of a configuration by name, and which of their entries are sound.

    `inherited` names the sections that config.yaml gives.
    """

    def __init__(
        self,
        sound: Sound,
        datasets: Mapping[str, StudyDataset],
        inherited: Collection[str] = (),
    ) -> None:
        self.config = sound.config
        self.sound = sound
        self.datasets = datasets
        self.inherited = inherited
        # Of a broken entry the name alone.
        self.views, self.methods, self.benchmarks = (
            {entry["id"]: entry for entry in self.config.get(section, []) if entry}
            for section in ("views", "methods", "benchmarks")
        )
        self.states = self.config.get("source_states", {}).get("states", [])
        self.trials = self.config.get("trials", float("inf"))

    def entries(self, section: str) -> Iterator[tuple[str, Config]]:
        """Yield the sound entries of a section, each with its place: ``views[0]``."""
        for i, entry in enumerate(self.config.get(section, [])):
            if (place := f"{section}[{i}]") not in self.sound.broken:
                yield place, entry

    def names(self, section: str) -> list[str]:
        """Return the names in a section, those of broken entries too."""
        return [entry["id"] for entry in self.config.get(section, []) if entry]

    def missing(self, where: str, section: str, name: str) -> Iterator[str]:
        """Yield what is wrong with a name that should be one of a section."""
        states = section == "source_states"
        known = self.states if states else self.names(section)
        if section == "datasets":
            known = [*self.datasets, *known]
        if name not in known and section not in self.sound.unnamed:
            yield unknown(where, name, known)

    def root(self, view: str) -> str | None:
        """Return the view made of files on which a view rests, None in a circle."""
        seen: set[str] = set()
        while view in self.views and "view" in self.views[view]:
            if view in seen:
                return None
            seen.add(view)
            view = self.views[view]["view"]
        return view

    def ran(self, entry: Config) -> Collection[str]:
        """Return the names of the benchmarks that an entry runs on."""
        found: Collection[str] = entry.get("benchmarks", self.benchmarks)
        return found

    def domains(self, benchmark: str) -> Mapping[str, Mapping[str, int]] | None:
        """Return the class sizes of a benchmark by domain, None where unknown."""
        name = self.benchmarks.get(benchmark, {}).get("dataset", "")
        return self.datasets[name].class_sizes if name in self.datasets else None

    def tasks(self, benchmarks: Iterable[str]) -> dict[str, None] | None:
        """Return the tasks of some benchmarks, None where not all are known."""
        tasks: dict[str, None] = {}
        for name in benchmarks:
            domains = self.domains(name)
            if domains is None or "tasks" not in self.benchmarks[name]:
                return None
            tasks |= dict.fromkeys(task_names(self.benchmarks[name], domains))
        return tasks

    def task_faults(
        self, where: str, asked: Any, benchmarks: Iterable[str]
    ) -> Iterator[str]:
        """Yield the tasks, if named, that none of the benchmarks has."""
        known = self.tasks(benchmarks)
        if known is not None and not isinstance(asked, int):
            for task in (task for task in asked if task not in known):
                yield unknown(f"{where}.tasks", task, known)

    def trial_faults(self, where: str, trials: int) -> Iterator[str]:
        """Yield that more trials are asked for than the study has."""
        if trials > self.trials:
            more = f"{trials} is more than the study's {self.trials} trials"
            yield f"{where}.trials: {more}."

    def size_faults(
        self, where: str, benchmark: Config, asked: Config
    ) -> Iterator[str]:
        """Yield the classes that are too small for the labels that an entry wants."""
        domains = self.datasets[benchmark["dataset"]].class_sizes
        tasks = [task.split("_") for task in task_names(benchmark, domains)]
        counts = {**benchmark["labels"], **asked}
        labelled, more = counts["target"], counts.get("unlabelled", 1)
        left = "no test sample" if more == 1 else f"fewer than {more} others"
        for domain in dict.fromkeys(target for _, target in tasks):
            sizes = domains.get(domain, {}).items()
            small = [f"{c} ({size})" for c, size in sizes if size < labelled + more]
            if small:
                yield (
                    f"{where}.target: {labelled} labelled samples per class leave "
                    f"{left} in domain {domain}, class {', '.join(small)}."
                )
        wanted = asked.get("source", 0)
        sources = (
            (size, label, domain)
            for domain, _ in tasks
            for label, size in domains.get(domain, {}).items()
        )
        largest, label, domain = max(sources, default=(wanted, "", ""))
        if largest < wanted:
            yield (
                f"{where}.source: {wanted} labelled samples per class are more than "
                f"any class of the source domains has: the largest, {label} in "
                f"{domain}, has {largest}. Ask for {largest} or fewer; a smaller class "
                "gives all it has."
            )


def unknown(where: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which one may be meant."""
    return f"{where}: unknown name {name!r}{did_you_mean(name, known)}"


def option_faults(where: str, method: str, options: Config) -> Iterator[str]:
    """Yield what is wrong with options of a method: their names or values."""
    known = option_defaults(method)
    foreign = [option for option in options if option not in known]
    for option in foreign:
        near = did_you_mean(option, known)
        yield f"{where}: method {method} has no option {option!r}{near}"
    if not foreign:
        try:
            method_class(method)(**options)._validate_params()
        except ValueError as error:
            yield f"{where}: {error}"
