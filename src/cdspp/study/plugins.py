"""Plug-ins of the report: they add settings, checks, rules and sections of the page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cdspp.core.discovery import did_you_mean, load_class, plugin_paths
from cdspp.core.names import role_domains
from cdspp.study.model import Config, Setting, Study, StudyDataset
from cdspp.study.settings import Benchmarks, task_names

Faults = Iterator[str]

OFFERED = "cdspp.sections"  # group of entry points of installed packages
BUILT_IN = ("cdspp.paper.plugin:Paper",)


class ReportPlugin:
    """Base class of the plug-ins of the report; each study has one object of each.

    Its settings and its part of a plan have its `name`; `resources` is the folder of
    the files that the project ships for studies. The file `rules`, absolute, has the
    rules for items without a maker; it is empty if there are none. They can use the
    definitions of `workflow/rules/common.smk`.
    """

    name: str
    rules: str = ""

    def __init__(self, resources: Path) -> None:
        self.resources = resources

    def faults(self, index: ConfigNames) -> Iterable[str]:
        """Return the faults of its keys, one line each."""
        return ()

    def settings(self, config: Config, benchmarks: Benchmarks) -> Iterable[Setting]:
        """Return the settings that it adds, with its name as their `plugin`."""
        return ()

    def plan(self, study: Study, config: Config, benchmark: str) -> dict[str, Any]:
        """Return the needs of its tables for a benchmark, suitable for JSON."""
        return {}

    @staticmethod
    def parts(page_parts: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the parts of the page including its own."""
        return page_parts


@cache
def plugin_classes() -> tuple[type[ReportPlugin], ...]:
    """Return the plug-ins of the project, then those of installed packages."""
    return tuple(map(load_class, (*BUILT_IN, *plugin_paths(OFFERED).values())))


class ConfigNames:
    """The sections of a configuration by name, and its data sets."""

    def __init__(self, config: Config, datasets: Mapping[str, StudyDataset]) -> None:
        self.config = config
        self.datasets = datasets
        self.views = {entry["id"]: entry for entry in config["views"]}
        self.methods = {entry["id"]: entry for entry in config["methods"]}
        self.benchmarks = {entry["id"]: entry for entry in config["benchmarks"]}
        self.states = config.get("source_states", {}).get("states", [])

    def entries(self, section: str) -> Iterator[tuple[str, Config]]:
        """Yield the entries of a section, each with its location: ``views[0]``."""
        for i, entry in enumerate(self.config.get(section, [])):
            yield f"{section}[{i}]", entry

    def missing(self, where: str, section: str, *names: str) -> Faults:
        """Yield the names that a section lacks."""
        known = [*self.datasets] if section == "datasets" else []
        known += [entry["id"] for _, entry in self.entries(section)]
        yield from unknown_of(where, names, known)

    def root(self, view: str) -> str | None:
        """Return the view of files on which a view is based, None in a circle."""
        seen: set[str] = set()
        while view in self.views and "view" in self.views[view]:
            if view in seen:
                return None
            seen.add(view)
            view = self.views[view]["view"]
        return view

    def ran(self, entry: Config) -> Collection[str]:
        """Return the names of the benchmarks on which an entry runs."""
        names: Collection[str] = entry.get("benchmarks", self.benchmarks)
        return names

    def domains(self, benchmark: str) -> Mapping[str, Mapping[str, int]] | None:
        """Return the class sizes of a benchmark by domain, None if unknown."""
        name = self.benchmarks.get(benchmark, {}).get("dataset", "")
        return self.datasets[name].class_sizes if name in self.datasets else None

    def tasks(self, benchmarks: Iterable[str]) -> dict[str, None] | None:
        """Return the tasks of some benchmarks, None if some are unknown."""
        tasks: dict[str, None] = {}
        for name in benchmarks:
            domains = self.domains(name)
            if domains is None:
                return None
            tasks |= dict.fromkeys(task_names(self.benchmarks[name], domains))
        return tasks

    def size_faults(self, where: str, benchmark: Config, labels: Config) -> Faults:
        """Yield the classes that are too small for the labels of an entry."""
        domains = self.datasets[benchmark["dataset"]].class_sizes
        roles = role_domains(task_names(benchmark, domains))
        counts = {**benchmark["labels"], **labels}
        labelled, rest = counts["target"], counts.get("unlabelled", 1)
        remainder = "no test sample" if rest == 1 else f"fewer than {rest} others"
        for domain in roles["target"]:
            sizes = domains.get(domain, {}).items()
            small = [f"{c} ({size})" for c, size in sizes if size < labelled + rest]
            if small:
                fault = f"{labelled} labelled samples per class leave {remainder}"
                place = f"in domain {domain}, class {', '.join(small)}"
                yield f"{where}.target: {fault} {place}; lower it."
        n_source = labels.get("source", 0)
        sources = []
        for domain in roles["source"]:
            sizes = domains.get(domain, {}).items()
            sources += [(size, label, domain) for label, size in sizes]
        largest, label, domain = max(sources, default=(n_source, "", ""))
        if largest < n_source:
            most = f"the largest, {label} in {domain}, has {largest}"
            fault = f"no class of the source domains has {n_source} samples: {most}"
            remedy = f"Request at most {largest}; smaller classes are used whole."
            yield f"{where}.source: {fault}. {remedy}"


def unknown(where: str, name: str, known: Iterable[str]) -> str:
    """Return the fault of an unknown name, with the known ones."""
    names = [*known]
    hint = f"{did_you_mean(name, names)} Known: {', '.join(names) or 'none'}."
    return f"{where}: unknown name {name!r}{hint}"


def unknown_of(where: str, names: Iterable[str], known: Iterable[str]) -> Faults:
    """Yield the names that are not among the known ones."""
    known = list(known)
    yield from (unknown(where, name, known) for name in names if name not in known)
