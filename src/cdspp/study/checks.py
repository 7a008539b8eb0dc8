"""Checks of a configuration that its schema cannot make."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from cdspp.core.errors import ConfigError
from cdspp.core.names import BASELINE, PCA, PUBLISHED, REFERENCE, UNTRAINED
from cdspp.datasets.catalogue import published_storage
from cdspp.features import (
    available_extractors,
    extractor_class,
    is_extractor,
    make_extractor,
    pretrained_network,
)
from cdspp.methods import available, method_class, option_defaults
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.study.fitting import option_faults, size_faults
from cdspp.study.guest_sections import GuestSection
from cdspp.study.known_names import KnownNames, unknown
from cdspp.study.model import StudyDataset
from cdspp.study.run_checks import run_section_faults
from cdspp.study.schema import Sound
from cdspp.study.settings import task_names

__all__ = ["CrossCheck"]

Config = Mapping[str, Any]

VIEWS = ("source_view", "target_view")
OWN_BENCHMARKS = (
    "The benchmark is that of config.yaml: give benchmarks of your own with your "
    "views, or add the views of config.yaml to yours."
)
SECTIONS = ("datasets", "views", "benchmarks", "methods", "settings", "curves")


class CrossCheck:
    """Checks of what a schema cannot know: names that exist, sizes that fit.

    Parameters
    ----------
    sound : Sound
        What of the configuration keeps to the schema.
    datasets : mapping
        What is known of each data set, by name.
    guests : sequence of GuestSection
        Guest sections, which check their own keys.
    inherited : collection of str, default=()
        Sections that config.yaml gives.
    """

    def __init__(
        self,
        sound: Sound,
        datasets: Mapping[str, StudyDataset],
        guests: Sequence[GuestSection],
        inherited: Collection[str] = (),
    ) -> None:
        self.known = KnownNames(sound, datasets, inherited)
        self.datasets = datasets
        self.guests = guests
        self.views = self.known.views

    def faults(self) -> list[str]:
        """Return every fault found."""
        return [
            *self._repeated(),
            *self._view_faults(),
            *self._weight_faults(),
            *self._benchmark_faults(),
            *self._method_faults(),
            *self._role_faults(),
            *run_section_faults(self.known, self.guests),
        ]

    def _repeated(self) -> Iterator[str]:
        for section in SECTIONS:
            names = self.known.names(section)
            for name in sorted({name for name in names if names.count(name) > 1}):
                yield f"{section}: the id {name!r} is there more than once."

    def _role_faults(self) -> Iterator[str]:
        if not self.known.methods.keys() <= set(available()):
            return  # these faults come first
        for role in (REFERENCE, BASELINE):
            name = self.known.config.get(role)
            if name is not None and name not in self.known.methods:
                yield from self.known.missing(role, "methods", name)
            elif role == REFERENCE and name and not method_class(name).uses_source:
                yield f"{role}: {name} uses no source; name a method that does."

    def _view_faults(self) -> Iterator[str]:
        for i, view in self.known.entries("views"):
            where, extractor = f"views[{i}]", view["extractor"]
            try:
                known = is_extractor(extractor)
            except ConfigError as error:
                yield f"{where}.extractor: {error}"
                continue
            if not known:
                yield unknown(f"{where}.extractor", extractor, available_extractors())
                continue
            lost = ("views", i) in self.known.sound.cut and "options" not in view
            for options in [] if lost else _options_by_domain(view):
                try:
                    make_extractor(extractor, **options)
                except (TypeError, ValueError) as error:
                    yield f"{where}.options: {error}"
                    break
            needs_view = extractor_class(extractor).kind == "view"
            if needs_view and "view" not in view:
                yield f"{where}: {extractor} needs the key view, the view it reduces."
            elif not needs_view and "view" in view:
                yield f"{where}.view: {extractor} reads files, not a view; remove it."
            elif needs_view and view["view"] not in self.views:
                yield from self.known.missing(f"{where}.view", "views", view["view"])
            elif needs_view and self._root(view["id"]) is None:
                yield f"{where}.view: the views rest on each other in a circle."

    def _weight_faults(self) -> Iterator[str]:
        """Yield the files of weights that are not there, each once."""
        told: set[str] = set()
        for i, view in self.known.entries("views"):
            for options in _options_by_domain(view):
                path = _weight_file(view["extractor"], options)
                if path is None or path in told or os.path.isfile(path):
                    continue
                told.add(path)
                yield (
                    f"views[{i}].options.weights: no such file: {path}. Expected the "
                    "path of a state dict, from the folder of the run; or random, or "
                    "IMAGENET1K_V1, which is fetched."
                )

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
        for i, entry in self.known.entries("benchmarks"):
            where = f"benchmarks[{i}]"
            yield from self._missing_views(where, entry)
            for name in entry.get("leave_out", []):
                if name not in available():
                    yield unknown(f"{where}.leave_out", name, available())
            dataset = entry["dataset"]
            if dataset not in self.datasets:
                yield from self.known.missing(f"{where}.dataset", "datasets", dataset)
                continue
            if all(self._root(entry[key]) for key in VIEWS):
                for key in VIEWS:
                    yield from self._kind_faults(where, entry, key)
                yield from self._option_domain_faults(where, entry)
            yield from self._task_faults(where, entry)
            if "bridge" in entry:
                yield from self._bridge_faults(f"{where}.bridge", entry)
            domains = self.datasets[dataset].class_sizes
            yield from size_faults(f"{where}.labels", entry, entry["labels"], domains)

    def _missing_views(self, where: str, entry: Config) -> Iterator[str]:
        """Yield the views that a benchmark names and nobody gives, and what to do."""
        known = self.known
        ours = "benchmarks" in known.inherited and "views" not in known.inherited
        remedy = f" {OWN_BENCHMARKS}" if ours else ""
        for key in VIEWS:
            for fault in known.missing(f"{where}.{key}", "views", entry[key]):
                yield fault + remedy
                remedy = ""

    def _kind_faults(self, where: str, entry: Config, key: str) -> Iterator[str]:
        """Yield what keeps the view that a key names from being made of the data."""
        dataset, place = self.datasets[entry["dataset"]], VIEWS.index(key)
        root = self.views.get(self._root(entry[key]) or "", {})
        extractor = root.get("extractor", "")
        if not _is_sound(extractor):
            return
        if extractor == PUBLISHED:
            tasks = task_names(entry, dataset.class_sizes)
            domains = dict.fromkeys(task.split("_")[place] for task in tasks)
            yield from _published_faults(f"{where}.{key}", root, dataset, domains)
            return
        kind = extractor_class(extractor).kind
        if kind not in {"view", dataset.kind}:
            yield (
                f"{where}.{key}: {extractor} reads {kind}, but "
                f"{dataset.identifier} holds {dataset.kind}."
            )
        domain = root.get("options", {}).get("codebook_domain")
        if domain is not None and str(domain) not in dataset.class_sizes:
            name = f"{where}.{key}: codebook_domain"
            yield unknown(name, str(domain), dataset.class_sizes)

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
                    yield unknown(f"{where}.tasks: {task}: domain", domain, domains)
        if "showcase" in entry and entry["showcase"] not in tasks:
            yield unknown(f"{where}.showcase", entry["showcase"], tasks)

    def _method_faults(self) -> Iterator[str]:
        for i, method in self.known.entries("methods"):
            where, name = f"methods[{i}]", method["id"]
            if name not in available():
                if "class" not in method:  # of a class it is told already
                    yield unknown(f"{where}.id", name, available())
                continue
            yield from self._bridge_use_faults(where, method)
            yield from option_faults(
                f"{where}.options", name, method.get("options", {})
            )
            yield from _grid_faults(f"{where}.grid", name, method.get("grid", {}))
            yield from self.known.trial_faults(where, method)
            for benchmark in method.get("benchmarks", []):
                place = f"{where}.benchmarks"
                yield from self.known.missing(place, "benchmarks", benchmark)
            if "states" in method and not method_class(name).uses_source:
                yield f"{where}.states: method {name} uses no source; remove the key."
            for state in method.get("states", []):
                yield from self.known.missing(f"{where}.states", "source_states", state)
            ran = method.get("benchmarks", self.known.benchmarks)
            yield from self.known.task_faults(where, method, ran)
            yield from self._own_input_faults(where, method)

    def _bridge_use_faults(self, where: str, method: Config) -> Iterator[str]:
        """Yield that a method uses no such part of a bridge, or needs one in vain."""
        found = method_class(method["id"])
        chosen = method.get("bridges", found.bridges)
        for kind in chosen:
            if kind not in found.bridges:
                yield unknown(f"{where}.bridges", kind, found.bridges)
        ran = method.get("benchmarks", self.known.benchmarks)
        given = [self.known.benchmarks.get(name, {}).get("bridge", {}) for name in ran]
        lacks = not any({*chosen} & {*bridge} for bridge in given)
        if chosen and lacks and "benchmarks" not in self.known.sound.unnamed:
            yield (
                f"{where}.id: {method['id']} uses {' and '.join(sorted(chosen))}, "
                "which no benchmark gives it; add them to one: bridge: {...}."
            )

    def _bridge_faults(self, where: str, entry: Config) -> Iterator[str]:
        """Yield what keeps the domains of a benchmark from sharing what it says."""
        bridge, dataset = entry["bridge"], self.datasets[entry["dataset"]]
        if not {SHARED, PAIRS} & {*bridge}:
            yield f"{where}: nothing is shared; give {SHARED} or {PAIRS}."
        if "view" in bridge:
            chosen = {**entry, **dict.fromkeys(VIEWS, bridge["view"])}
            place = f"{where}.view"
            if bridge["view"] not in self.views:
                yield from self.known.missing(place, "views", bridge["view"])
                return
            for key in VIEWS if self._root(bridge["view"]) else ():
                for fault in self._kind_faults(where, chosen, key):
                    yield fault.replace(key, "view", 1)
        names = dict.fromkeys(bridge.get("view", entry[key]) for key in VIEWS)
        for name in names if SHARED in bridge else ():
            view = self.views.get(name, {})
            extractor = view.get("extractor", "")
            if not _is_sound(extractor):
                continue
            if extractor_class(extractor).names_columns and view.get("scale") != PCA:
                continue
            yield (
                f"{where}.{SHARED}: the columns of view {name} ({extractor}) have no "
                "names; give one of texts or tables, without pca: view: ..."
            )
        if bridge.get(PAIRS, 0) > dataset.paired:
            yield (
                f"{where}.{PAIRS}: {bridge[PAIRS]} are asked for, {dataset.identifier} "
                f"has {dataset.paired}."
            )

    def _own_input_faults(self, where: str, method: Config) -> Iterator[str]:
        """Yield what is wrong with a source view or prior that is a method's own."""
        given, place = method.get("source_view", {}), f"{where}.source_view"
        ran = method.get("benchmarks", self.known.benchmarks)
        own = dict.fromkeys(ran, given) if isinstance(given, str) else given
        for name, view in own.items():
            entry = {**self.known.benchmarks.get(name, {}), "source_view": view}
            if name not in self.known.benchmarks:
                yield from self.known.missing(place, "benchmarks", name)
            elif view not in self.views:
                yield from self.known.missing(place, "views", view)
            elif self._root(view) and entry.get("dataset") in self.datasets:
                yield from self._kind_faults(where, entry, "source_view")
        if "prior_file" in method and "prior" not in option_defaults(method["id"]):
            yield f"{where}.prior_file: method {method['id']} has no option prior."


def _grid_faults(where: str, method: str, grid: Config) -> Iterator[str]:
    """Yield what keeps a method from selecting of a grid of values."""
    if grid and method_class(method).transductive:
        yield (
            f"{where}: method {method} labels the rows it is fitted on, and those that "
            "select are held out; remove the key."
        )
    for option, values in grid.items():
        for value in values:
            yield from option_faults(where, method, {option: value})


def _published_faults(
    where: str, view: Config, dataset: StudyDataset, domains: Iterable[str]
) -> Iterator[str]:
    """Yield what keeps a published view from being read for `domains`."""
    name, known = (
        view.get("options", {}).get("name"),
        dataset.entry.get("published", {}),
    )
    if name not in known:
        yield unknown(f"{where}: published view", name, known)
        return
    for domain in domains:
        if published_storage(dataset.entry, name, domain) is None:
            yield f"{where}: {name} is not published for domain {domain}."


def _is_sound(extractor: str) -> bool:
    with suppress(ConfigError):  # which is said of the view
        return is_extractor(extractor)
    return False


def _weight_file(extractor: str, options: Config) -> str | None:
    """Return the file of the user's own that a view's weights come from, if any."""
    weights = options.get("weights", UNTRAINED)
    own = isinstance(weights, str) and weights != UNTRAINED
    if not _is_sound(extractor) or not own:
        return None
    return None if pretrained_network(extractor, options) else weights


def _options_by_domain(view: Config) -> Iterator[dict[str, Any]]:
    """Yield the options of a view once for each domain that they tell apart."""
    options = view.get("options", {})
    named = [value for value in options.values() if isinstance(value, Mapping)]
    for domain in dict.fromkeys(d for value in named for d in value) or [None]:
        yield {
            key: value.get(domain) if isinstance(value, Mapping) else value
            for key, value in options.items()
        }
