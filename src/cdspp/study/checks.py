"""Checks of a configuration that its schema cannot make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError
from cdspp.core.names import LABELS, MAIN, PUBLISHED
from cdspp.datasets.catalogue import published_storage
from cdspp.features import available_extractors, extractor_kind, make_extractor
from cdspp.methods import available, method_class, option_defaults
from cdspp.stages.source_states import SourceState
from cdspp.study.model import StudyDataset
from cdspp.study.settings import READINGS, setting_of_value, task_names

__all__ = ["CrossCheck"]

Config = Mapping[str, Any]

VIEWS = ("source_view", "target_view")
DIFFERENCES = ("source", "options", "labels", "overlap")
SECTIONS = ("datasets", "views", "benchmarks", "methods", "settings", "curves")


class CrossCheck:
    """Checks of what a schema cannot know: names that exist, sizes that fit.

    Parameters
    ----------
    config : mapping
        A configuration that keeps to the schema.
    datasets : mapping
        What is known of each data set, by name.
    readings : mapping
        Deviations and choices that can be run another way, by section and name.
    printed : sequence of str
        Benchmarks whose printed numbers are at hand.
    """

    def __init__(
        self,
        config: Config,
        datasets: Mapping[str, StudyDataset],
        readings: Mapping[str, Mapping[str, Config]],
        printed: Sequence[str],
    ) -> None:
        self.config = config
        self.datasets = datasets
        self.readings = readings
        self.printed = printed
        self.views = {view["id"]: view for view in config["views"]}
        self.methods = {method["id"]: method for method in config["methods"]}
        self.benchmarks = {entry["id"]: entry for entry in config["benchmarks"]}
        self.states = config.get("source_states", {}).get("states", [])

    def faults(self) -> list[str]:
        """Return every fault found."""
        return [
            *self._repeated(),
            *self._view_faults(),
            *self._benchmark_faults(),
            *self._printed_faults(),
            *self._method_faults(),
            *self._run_section_faults(),
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
                yield _unknown(f"{where}.extractor", extractor, available_extractors())
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
                yield _unknown(f"{where}.view", view["view"], self.views)
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
            for key in VIEWS:
                if entry[key] not in self.views:
                    yield _unknown(f"{where}.{key}", entry[key], self.views)
            if entry["dataset"] not in self.datasets:
                yield _unknown(f"{where}.dataset", entry["dataset"], self.datasets)
                continue
            if all(self._root(entry[key]) for key in VIEWS):
                for key in VIEWS:
                    yield from self._kind_faults(where, entry, key)
                yield from self._option_domain_faults(where, entry)
            yield from self._task_faults(where, entry)
            domains = self.datasets[entry["dataset"]].class_sizes
            yield from _size_faults(f"{where}.labels", entry, entry["labels"], domains)
            for name in entry.get("leave_out", []):
                if name not in available():
                    yield _unknown(f"{where}.leave_out", name, available())

    def _printed_faults(self) -> Iterator[str]:
        named = [entry.get("printed") for entry in self.config["benchmarks"]]
        for i, name in enumerate(named):
            if name is not None and name not in self.printed:
                yield _unknown(f"benchmarks[{i}].printed", name, self.printed)
            elif name is not None and name in named[:i]:
                yield f"benchmarks[{i}].printed: {name} is named more than once."

    def _kind_faults(self, where: str, entry: Config, key: str) -> Iterator[str]:
        """Yield what keeps the view that a key names from being made of the data."""
        dataset, place = self.datasets[entry["dataset"]], VIEWS.index(key)
        root = self.views.get(self._root(entry[key]) or "", {})
        extractor = root.get("extractor")
        if extractor not in available_extractors():
            return
        if extractor == PUBLISHED:
            tasks = task_names(entry, dataset.class_sizes)
            domains = dict.fromkeys(task.split("_")[place] for task in tasks)
            yield from _published_faults(f"{where}.{key}", root, dataset, domains)
            return
        kind = extractor_kind(extractor)
        if kind not in {"view", dataset.kind}:
            yield (
                f"{where}.{key}: {extractor} reads {kind}, but "
                f"{dataset.identifier} holds {dataset.kind}."
            )
        domain = root.get("options", {}).get("codebook_domain")
        if domain is not None and domain not in dataset.class_sizes:
            name = f"{where}.{key}: codebook_domain"
            yield _unknown(name, domain, dataset.class_sizes)

    def _option_domain_faults(self, where: str, entry: Config) -> Iterator[str]:
        """Yield the domains that an option given by domain leaves out."""
        for place, key in enumerate(VIEWS):
            tasks = task_names(entry, self.datasets[entry["dataset"]].class_sizes)
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
        domains = self.datasets[entry["dataset"]].class_sizes
        tasks = task_names(entry, domains)
        for task in tasks:
            for domain in task.split("_"):
                if domain not in domains:
                    yield _unknown(f"{where}.tasks: {task}: domain", domain, domains)
        if "showcase" in entry and entry["showcase"] not in tasks:
            yield _unknown(f"{where}.showcase", entry["showcase"], tasks)

    def _method_faults(self) -> Iterator[str]:
        for i, method in enumerate(self.config["methods"]):
            where, name = f"methods[{i}]", method["id"]
            if name not in available():
                yield _unknown(f"{where}.id", name, available())
                continue
            yield from _option_faults(
                f"{where}.options", name, method.get("options", {})
            )
            if method.get("trials", 1) > self.config["trials"]:
                yield (
                    f"{where}.trials: {method['trials']} is more than the study's "
                    f"{self.config['trials']} trials."
                )
            for benchmark in method.get("benchmarks", []):
                if benchmark not in self.benchmarks:
                    yield _unknown(f"{where}.benchmarks", benchmark, self.benchmarks)
            if "states" in method and not method_class(name).uses_source:
                yield f"{where}.states: method {name} uses no source; remove the key."
            for state in method.get("states", []):
                if state not in self.states:
                    yield _unknown(f"{where}.states", state, self.states)
            yield from self._named_task_faults(where, method, list(self.benchmarks))
            yield from self._own_input_faults(where, method)

    def _own_input_faults(self, where: str, method: Config) -> Iterator[str]:
        """Yield what is wrong with a source view or prior that is a method's own."""
        given, place = method.get("source_view", {}), f"{where}.source_view"
        ran = method.get("benchmarks", self.benchmarks)
        own = dict.fromkeys(ran, given) if isinstance(given, str) else given
        for name, view in own.items():
            entry = {**self.benchmarks.get(name, {}), "source_view": view}
            if name not in self.benchmarks:
                yield _unknown(place, name, self.benchmarks)
            elif view not in self.views:
                yield _unknown(place, view, self.views)
            elif self._root(view) and entry["dataset"] in self.datasets:
                yield from self._kind_faults(where, entry, "source_view")
        if "prior_file" in method and "prior" not in option_defaults(method["id"]):
            yield f"{where}.prior_file: method {method['id']} has no option prior."

    def _run_section_faults(self) -> Iterator[str]:
        """Yield faults of what differs from the main run."""
        for i, setting in enumerate(self.config.get("settings", [])):
            yield from self._setting_faults(f"settings[{i}]", setting)
        for i, curve in enumerate(self.config.get("curves", [])):
            yield from self._curve_faults(f"curves[{i}]", curve)
        for section in self.readings:
            for i, entry in enumerate(self.config.get(section, [])):
                yield from self._reading_faults(section, f"{section}[{i}]", entry)
        yield from self._name_faults()

    def _setting_faults(self, where: str, setting: Config) -> Iterator[str]:
        if not set(DIFFERENCES) & set(setting):
            known = ", ".join(DIFFERENCES)
            yield f"{where}: nothing differs; give one of {known}."
        try:
            SourceState(**setting.get("source", {}))
        except ValueError as error:
            yield f"{where}.source: {error}"
        yield from self._run_faults(where, setting, setting["methods"])
        for name in self._known(setting["methods"]):
            yield from _option_faults(
                f"{where}.options", name, setting.get("options", {})
            )
        for name in setting.get("benchmarks", self.benchmarks):
            entry = self.benchmarks.get(name, {})
            if entry.get("dataset") in self.datasets:
                labels = setting.get("labels", {})
                domains = self.datasets[entry["dataset"]].class_sizes
                yield from _size_faults(f"{where}.labels", entry, labels, domains)

    def _curve_faults(self, where: str, curve: Config) -> Iterator[str]:
        yield from self._run_faults(where, curve, curve["methods"])
        parameter = curve["parameter"]
        for value in curve["values"]:
            if parameter != LABELS:
                for name in self._known(curve["methods"]):
                    yield from _option_faults(
                        f"{where}.values", name, {parameter: value}
                    )
            elif not isinstance(value, int) or value < 1:
                yield f"{where}.values: expected a number of labels, got {value}."

    def _reading_faults(self, section: str, where: str, entry: Config) -> Iterator[str]:
        name, known = entry["id"], self.readings[section]
        if name not in known:
            yield _unknown(f"{where}.id", name, known)
            return
        yield from self._run_faults(where, entry, known[name]["methods"])

    def _run_faults(
        self, where: str, entry: Config, methods: Iterable[str]
    ) -> Iterator[str]:
        """Yield faults of the methods, benchmarks, tasks and trials that are named."""
        chosen = entry.get("benchmarks", list(self.benchmarks))
        for name in methods:
            if name not in self.methods:
                yield _unknown(f"{where}.methods", name, self.methods)
        for name in chosen:
            if name not in self.benchmarks:
                yield _unknown(f"{where}.benchmarks", name, self.benchmarks)
        yield from self._idle_faults(f"{where}.methods", methods, chosen)
        yield from self._named_task_faults(where, entry, chosen)
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

    def _named_task_faults(
        self, where: str, entry: Config, benchmarks: Iterable[str]
    ) -> Iterator[str]:
        tasks = entry.get("tasks", [])
        known: dict[str, None] = {}
        for name in benchmarks:
            benchmark = self.benchmarks.get(name, {})
            if benchmark.get("dataset") in self.datasets:
                domains = self.datasets[benchmark["dataset"]].class_sizes
                known |= dict.fromkeys(task_names(benchmark, domains))
        for task in [] if isinstance(tasks, int) else tasks:
            if task not in known:
                yield _unknown(f"{where}.tasks", task, known)

    def _name_faults(self) -> Iterator[str]:
        """Yield names that two settings would have, as main, curves, readings do."""
        names = [MAIN, *(entry["id"] for entry in self.config.get("settings", []))]
        names += self.states
        names += [
            f"{opening}-{entry['id']}"
            for section, opening in READINGS.items()
            for entry in self.config.get(section, [])
        ]
        names += [
            setting_of_value(curve["id"], value)
            for curve in self.config.get("curves", [])
            for value in curve["values"]
        ]
        for name, count in Counter(names).items():
            if count > 1 and name == MAIN:
                yield f"settings: {MAIN} is the name of the main run, choose another."
            elif count > 1:
                sections = "settings, source_states, curves, deviations"
                yield f"{sections}: two runs would be called {name}."


def _published_faults(
    where: str, view: Config, dataset: StudyDataset, domains: Iterable[str]
) -> Iterator[str]:
    """Yield what keeps a published view from being read for `domains`."""
    name, known = (
        view.get("options", {}).get("name"),
        dataset.entry.get("published", {}),
    )
    if name not in known:
        yield _unknown(f"{where}: published view", name, known)
        return
    for domain in domains:
        if published_storage(dataset.entry, name, domain) is None:
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


def _unknown(where: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which one may be meant."""
    known = list(known)
    return f"{where}: unknown name {name!r}{did_you_mean(name, known)}"


def _option_faults(where: str, method: str, options: Config) -> Iterator[str]:
    """Yield what is wrong with options of a method: their names or values."""
    known = option_defaults(method)
    for option in options:
        if option not in known:
            yield (
                f"{where}: method {method} has no option {option!r}"
                f"{did_you_mean(option, known)}"
            )
    if all(option in known for option in options):
        try:
            method_class(method)(**options)._validate_params()
        except ValueError as error:
            yield f"{where}: {error}"


def _size_faults(
    where: str,
    benchmark: Config,
    labels: Config,
    domains: Mapping[str, Mapping[str, int]],
) -> Iterator[str]:
    """Yield the target domains of a benchmark that are too small for its labels."""
    counts = {**benchmark["labels"], **labels}
    asked, more = counts["target"], counts.get("unlabelled", 1)
    tasks = task_names(benchmark, domains)
    for domain in dict.fromkeys(task.split("_")[1] for task in tasks):
        sizes = domains.get(domain, {})
        small = [f"{c} ({size})" for c, size in sizes.items() if size < asked + more]
        if small:
            left = "no test sample" if more == 1 else f"fewer than {more} others"
            yield (
                f"{where}.target: {asked} labelled samples per class leave {left} "
                f"in domain {domain}, class {', '.join(small)}."
            )
