"""Checks of a configuration that its schema cannot make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cdspp.datasets.catalogue import published_layout
from cdspp.errors import ConfigError
from cdspp.faults import option_faults, size_faults, unknown
from cdspp.features import available_extractors, extractor_kind, make_extractor
from cdspp.methods import available
from cdspp.setting_checks import SettingCheck
from cdspp.settings import task_names
from cdspp.study import PUBLISHED, DatasetFacts

__all__ = ["CrossCheck"]

Config = Mapping[str, Any]

SECTIONS = ("datasets", "views", "benchmarks", "methods", "settings", "curves")


class CrossCheck:
    """Checks of what a schema cannot know: names that exist, sizes that fit.

    Parameters
    ----------
    config : mapping
        A configuration that keeps to the schema.
    facts : mapping
        What is known of each data set, by name.
    deviations : mapping
        Deviations that can be measured, by name.
    printed : sequence of str
        Benchmarks whose printed numbers are at hand.
    """

    def __init__(
        self,
        config: Config,
        facts: Mapping[str, DatasetFacts],
        deviations: Mapping[str, Config],
        printed: Sequence[str],
    ) -> None:
        self.config = config
        self.facts = facts
        self.deviations = deviations
        self.printed = printed
        self.views = {view["id"]: view for view in config["views"]}
        self.methods = {method["id"]: method for method in config["methods"]}
        self.benchmarks = {entry["id"]: entry for entry in config["benchmarks"]}

    def faults(self) -> list[str]:
        """Return every fault found."""
        return [
            *self._repeated(),
            *self._view_faults(),
            *self._benchmark_faults(),
            *self._printed_faults(),
            *self._method_faults(),
            *SettingCheck(self.config, self.facts, self.deviations).faults(),
        ]

    def _repeated(self) -> Iterator[str]:
        for section in SECTIONS:
            names = [entry["id"] for entry in self.config.get(section, [])]
            for name in sorted({name for name in names if names.count(name) > 1}):
                yield f"{section}: the id {name!r} is there more than once."

    def _view_faults(self) -> Iterator[str]:
        for i, view in enumerate(self.config["views"]):
            where, extractor = f"views[{i}]", view["extractor"]
            if extractor not in available_extractors():
                yield unknown(f"{where}.extractor", extractor, available_extractors())
                continue
            for options in _options_by_domain(view):
                try:
                    make_extractor(extractor, **options)
                except ConfigError as error:
                    yield f"{where}.options: {error}"
                    break
            needs_view = extractor_kind(extractor) == "view"
            if needs_view and "view" not in view:
                yield f"{where}: {extractor} needs the key view, the view it reduces."
            elif not needs_view and "view" in view:
                yield f"{where}.view: {extractor} reads files, not a view; remove it."
            elif needs_view and view["view"] not in self.views:
                yield unknown(f"{where}.view", view["view"], self.views)
            elif needs_view and self._root(view["id"]) is None:
                yield f"{where}.view: the views rest on each other in a circle."

    def _root(self, name: str) -> str | None:
        """Return the view made of files on which a view rests, None in a circle."""
        seen: set[str] = set()
        while name in self.views and "view" in self.views[name]:
            if name in seen:
                return None
            seen.add(name)
            name = self.views[name]["view"]
        return name

    def _benchmark_faults(self) -> Iterator[str]:
        for i, entry in enumerate(self.config["benchmarks"]):
            where = f"benchmarks[{i}]"
            for key in ("source_view", "target_view"):
                if entry[key] not in self.views:
                    yield unknown(f"{where}.{key}", entry[key], self.views)
            if entry["dataset"] not in self.facts:
                yield unknown(f"{where}.dataset", entry["dataset"], self.facts)
                continue
            if all(self._root(entry[k]) for k in ("source_view", "target_view")):
                yield from self._kind_faults(where, entry)
                yield from self._option_domain_faults(where, entry)
            yield from self._task_faults(where, entry)
            domains = self.facts[entry["dataset"]].class_sizes
            yield from size_faults(f"{where}.labels", entry, entry["labels"], domains)

    def _printed_faults(self) -> Iterator[str]:
        named = [entry.get("printed") for entry in self.config["benchmarks"]]
        for i, name in enumerate(named):
            if name is not None and name not in self.printed:
                yield unknown(f"benchmarks[{i}].printed", name, self.printed)
            elif name is not None and name in named[:i]:
                yield f"benchmarks[{i}].printed: {name} is named more than once."

    def _kind_faults(self, where: str, entry: Config) -> Iterator[str]:
        facts = self.facts[entry["dataset"]]
        for place, key in enumerate(("source_view", "target_view")):
            root = self.views.get(self._root(entry[key]) or "", {})
            extractor = root.get("extractor")
            if extractor not in available_extractors():
                continue
            tasks = task_names(entry, facts.class_sizes)
            domains = dict.fromkeys(task.split("_")[place] for task in tasks)
            if extractor == PUBLISHED:
                yield from _published_faults(f"{where}.{key}", root, facts, domains)
                continue
            kind = extractor_kind(extractor)
            if kind not in {"view", facts.kind}:
                yield (
                    f"{where}.{key}: {extractor} reads {kind}, but {facts.identifier} "
                    f"holds {facts.kind}."
                )
            domain = root.get("options", {}).get("codebook_domain")
            if domain is not None and domain not in facts.class_sizes:
                name = f"{where}.{key}: codebook_domain"
                yield unknown(name, domain, facts.class_sizes)

    def _option_domain_faults(self, where: str, entry: Config) -> Iterator[str]:
        """Yield the domains that an option given by domain leaves out."""
        for place, key in enumerate(("source_view", "target_view")):
            tasks = task_names(entry, self.facts[entry["dataset"]].class_sizes)
            name: str | None = entry[key]
            while name in self.views:
                for option, value in self.views[name].get("options", {}).items():
                    for domain in dict.fromkeys(t.split("_")[place] for t in tasks):
                        if isinstance(value, Mapping) and domain not in value:
                            yield (
                                f"{where}.{key}: option {option} of view {name} names "
                                f"no value for domain {domain}."
                            )
                name = self.views[name].get("view")

    def _task_faults(self, where: str, entry: Config) -> Iterator[str]:
        domains = self.facts[entry["dataset"]].class_sizes
        tasks = task_names(entry, domains)
        for task in tasks:
            for domain in task.split("_"):
                if domain not in domains:
                    yield unknown(f"{where}.tasks: {task}: domain", domain, domains)
        if "showcase" in entry and entry["showcase"] not in tasks:
            yield unknown(f"{where}.showcase", entry["showcase"], tasks)

    def _method_faults(self) -> Iterator[str]:
        for i, method in enumerate(self.config["methods"]):
            where, name = f"methods[{i}]", method["id"]
            if name not in available():
                yield unknown(f"{where}.id", name, available())
                continue
            yield from option_faults(
                f"{where}.options", name, method.get("options", {})
            )
            if method.get("trials", 1) > self.config["trials"]:
                yield (
                    f"{where}.trials: {method['trials']} is more than the study's "
                    f"{self.config['trials']} trials."
                )
            for benchmark in method.get("benchmarks", []):
                if benchmark not in self.benchmarks:
                    yield unknown(f"{where}.benchmarks", benchmark, self.benchmarks)


def _published_faults(
    where: str, view: Config, facts: DatasetFacts, domains: Iterable[str]
) -> Iterator[str]:
    """Yield what keeps a published view from being read for `domains`."""
    name, known = view.get("options", {}).get("name"), facts.entry.get("published", {})
    if name not in known:
        yield unknown(f"{where}: published view", name, known)
        return
    for domain in domains:
        if published_layout(facts.entry, name, domain) is None:
            yield f"{where}: {name} is not published for domain {domain}."


def _options_by_domain(view: Config) -> Iterator[dict[str, Any]]:
    """Yield the options of a view once for each domain that they tell apart."""
    options = view.get("options", {})
    named = [value for value in options.values() if isinstance(value, Mapping)]
    for domain in dict.fromkeys(d for value in named for d in value) or [None]:
        yield {
            key: value.get(domain) if isinstance(value, Mapping) else value
            for key, value in options.items()
        }
