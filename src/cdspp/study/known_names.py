"""The names that a configuration declares, and what is said of one that it does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.study.model import StudyDataset
from cdspp.study.schema import Sound
from cdspp.study.settings import task_names

__all__ = ["KnownNames", "unknown"]

Config = Mapping[str, Any]


class KnownNames:
    """The sections of a configuration by name, and which of their entries are sound.

    Parameters
    ----------
    sound : Sound
        What of the configuration keeps to the schema.
    datasets : mapping
        What is known of each data set, by name.
    inherited : collection of str
        Sections that config.yaml gives.
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
        self.views = self._by_name("views")
        self.methods = self._by_name("methods")
        self.benchmarks = self._by_name("benchmarks")
        self.states = self.config.get("source_states", {}).get("states", [])
        self.trials = self.config.get("trials", float("inf"))

    def entries(self, section: str) -> Iterator[tuple[int, Config]]:
        """Yield the sound entries of a section with their places."""
        for i, entry in enumerate(self.config.get(section, [])):
            if (section, i) not in self.sound.broken:
                yield i, entry

    def names(self, section: str) -> list[str]:
        """Return the names in a section, those of broken entries too."""
        found = self.config.get(section, [])
        return [entry["id"] for entry in found if "id" in entry]

    def missing(self, where: str, section: str, name: str) -> Iterator[str]:
        """Yield what is wrong with a name that should be one of a section."""
        known: Collection[str] = self.names(section)
        if section == "datasets":
            known = [*self.datasets, *known]
        elif section == "source_states":
            known = self.states
        if name not in known and section not in self.sound.unnamed:
            yield unknown(where, name, known)

    def domains(self, benchmark: str) -> Mapping[str, Mapping[str, int]] | None:
        """Return the class sizes of a benchmark by domain, None where unknown."""
        name = self.benchmarks.get(benchmark, {}).get("dataset", "")
        return self.datasets[name].class_sizes if name in self.datasets else None

    def task_faults(
        self, where: str, entry: Config, benchmarks: Iterable[str]
    ) -> Iterator[str]:
        """Yield the tasks that an entry names and none of the benchmarks has."""
        tasks = entry.get("tasks", [])
        known: dict[str, None] = {}
        for name in benchmarks:
            if (domains := self.domains(name)) is None:
                return
            known |= dict.fromkeys(task_names(self.benchmarks[name], domains))
        for task in [] if isinstance(tasks, int) else tasks:
            if task not in known:
                yield unknown(f"{where}.tasks", task, known)

    def trial_faults(self, where: str, entry: Config) -> Iterator[str]:
        """Yield that an entry asks for more trials than the study has."""
        if entry.get("trials", 1) > self.trials:
            yield (
                f"{where}.trials: {entry['trials']} is more than the study's "
                f"{self.trials} trials."
            )

    def _by_name(self, section: str) -> dict[str, Config]:
        """Return the entries of a section; of a broken one its name alone."""
        found = self.config.get(section, [])
        return {entry["id"]: entry for entry in found if "id" in entry}


def unknown(where: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which one may be meant."""
    known = list(known)
    return f"{where}: unknown name {name!r}{did_you_mean(name, known)}"
