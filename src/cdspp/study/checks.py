"""Checks beyond the schema: names that exist, and data that fit."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cdspp import features
from cdspp.core import names
from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.labels import no_common_class
from cdspp.datasets.catalogue import published_spec
from cdspp.features.base import WordExtractor
from cdspp.methods import available, method_class, option_defaults
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.stages.source_states import SourceState
from cdspp.study.model import PUBLISHED, Config
from cdspp.study.plugins import ConfigNames, Faults, ReportPlugin, unknown, unknown_of
from cdspp.study.settings import task_names

VIEWS = ("source_view", "target_view")
DIFFERENCES = ("source", "options", "labels", "overlap")


def cross_faults(index: ConfigNames, plugins: Sequence[ReportPlugin]) -> list[str]:
    """Return all faults; plug-ins check their own keys."""
    settings, curves = index.entries("settings"), index.entries("curves")
    taken = index.config["study"] in ("features", "labels", "codebooks")
    return [
        *["study: all studies share a folder of this name; choose another."] * taken,
        *_repeated_ids(index),
        *_view_faults(index),
        *_own_file_faults(index),
        *_benchmark_faults(index),
        *_method_faults(index),
        *_role_faults(index),
        *(fault for entry in settings for fault in _setting_faults(index, *entry)),
        *(fault for entry in curves for fault in _curve_faults(index, *entry)),
        *(fault for plugin in plugins for fault in plugin.faults(index)),
    ]


def _repeated_ids(index: ConfigNames) -> Faults:
    for section in ("datasets", "views", "benchmarks", "methods", "settings", "curves"):
        counts = Counter(entry["id"] for _, entry in index.entries(section))
        for name, count in sorted(counts.items()):
            if count > 1:
                yield f"{section}: the id {name!r} occurs more than once."


def _view_faults(index: ConfigNames) -> Faults:
    for where, view in index.entries("views"):
        extractor = view["extractor"]
        try:
            needs_view = features.extractor_class(extractor).kind == "view"
        except ConfigError as error:
            yield f"{where}.extractor: {error}"
            continue
        for options in _options_by_domain(view):
            try:
                features.make_extractor(extractor, **options)
            except (TypeError, ValueError) as error:
                yield f"{where}.options: {error}"
                break
        if needs_view and "view" not in view:
            yield f"{where}: {extractor} needs the key view, the view it reduces."
        elif not needs_view and "view" in view:
            yield f"{where}.view: {extractor} reads files, not a view; remove it."
        elif needs_view and view["view"] not in index.views:
            yield from index.missing(f"{where}.view", "views", view["view"])
        elif needs_view and index.root(view["id"]) is None:
            yield f"{where}.view: the views are based on each other in a circle."


def _own_file_faults(index: ConfigNames) -> Faults:
    places: dict[str, str] = {}
    for where, view in index.entries("views"):
        for options in _options_by_domain(view):
            with suppress(TypeError, ValueError):  # reported as a fault of the view
                for path in features.own_files(view["extractor"], options):
                    named = (k for k, v in options.items() if str(Path(str(v))) == path)
                    places.setdefault(path, f"{where}.options.{next(named, '')}")
    for path, where in places.items():
        if not os.path.isfile(path):
            others = ", or random, or IMAGENET1K_V1, which is fetched"
            others = others if where.endswith(".weights") else ""
            expected = f"a path from the folder of the run{others}"
            yield f"{where}: no such file: {path}. Expected {expected}."


def _extractor(view: Config) -> type[features.Extractor] | None:
    with suppress(ConfigError):  # reported as a fault of the view
        return features.extractor_class(view["extractor"])
    return None


def _options_by_domain(view: Config) -> Iterator[dict[str, Any]]:
    """Yield the options of a view for each domain with its own values."""
    options = view.get("options", {})
    mappings = [value for value in options.values() if isinstance(value, Mapping)]
    for domain in dict.fromkeys(d for value in mappings for d in value) or [None]:
        yield {
            key: value.get(domain) if isinstance(value, Mapping) else value
            for key, value in options.items()
        }


def _benchmark_faults(index: ConfigNames) -> Faults:
    for where, entry in index.entries("benchmarks"):
        for key in VIEWS:
            yield from index.missing(f"{where}.{key}", "views", entry[key])
        left_out, dataset = entry.get("leave_out", []), entry["dataset"]
        yield from unknown_of(f"{where}.leave_out", left_out, available())
        if dataset not in index.datasets:
            yield from index.missing(f"{where}.dataset", "datasets", dataset)
            continue
        for key in VIEWS if all(index.root(entry[key]) for key in VIEWS) else ():
            yield from _kind_faults(index, where, entry, key)
            yield from _value_faults(index, where, entry, key)
        yield from _domain_faults(index, where, entry)
        yield from _class_faults(index, where, entry)
        if "bridge" in entry:
            yield from _bridge_faults(index, f"{where}.bridge", entry)
        yield from index.size_faults(f"{where}.labels", entry, entry["labels"])


def _domains_of(index: ConfigNames, entry: Config, key: str) -> tuple[str, ...]:
    tasks = task_names(entry, index.datasets[entry["dataset"]].class_sizes)
    return names.role_domains(tasks)[key.removesuffix("_view")]


def _kind_faults(index: ConfigNames, where: str, entry: Config, key: str) -> Faults:
    dataset = index.datasets[entry["dataset"]]
    root = index.views.get(index.root(entry[key]) or "")
    if root is None or (extractor := _extractor(root)) is None:
        return
    options, place = root.get("options", {}), f"{where}.{key}"
    if root["extractor"] == PUBLISHED:
        name, published = options.get("name"), dataset.entry.get("published", {})
        if name not in published:
            yield unknown(f"{place}: published features", name, published)
            return
        for domain in _domains_of(index, entry, key):
            if published_spec(dataset.entry, name, domain) is None:
                yield f"{place}: {name} is not published for domain {domain}."
        return
    of_files = extractor.kind == "files" and dataset.kind in ("images", "texts")
    if extractor.kind not in {"view", dataset.kind} and not of_files:
        text = f"{dataset.identifier} has {dataset.kind}"
        yield f"{place}: {root['extractor']} reads {extractor.kind}, but {text}."
    if issubclass(extractor, WordExtractor):
        domain, domains = options.get("codebook_domain"), dataset.class_sizes
        if domain is None:
            expected = f"codebook_domain, one of {', '.join(domains)}"
            yield f"{place}: {root['extractor']} needs the option {expected}."
        else:
            yield from unknown_of(f"{place}: codebook_domain", [str(domain)], domains)


def _value_faults(index: ConfigNames, where: str, entry: Config, key: str) -> Faults:
    domains = _domains_of(index, entry, key)
    name: str | None = entry[key]
    while name in index.views:
        for option, value in index.views[name].get("options", {}).items():
            for domain in domains if isinstance(value, Mapping) else ():
                if domain not in value:
                    text = f"option {option} of view {name} has no value for domain"
                    yield f"{where}.{key}: {text} {domain}."
        name = index.views[name].get("view")


def _domain_faults(index: ConfigNames, where: str, entry: Config) -> Faults:
    domains = index.datasets[entry["dataset"]].class_sizes
    tasks = task_names(entry, domains)
    for task in tasks:
        sources, target = names.task_domains(task)
        task_domains = dict.fromkeys((*sources, target))
        yield from unknown_of(f"{where}.tasks: {task}: domain", task_domains, domains)
        if names.several_sources(task) and len(task_domains) <= len(sources):
            remedy = "name every source once, and the target only as the target"
            yield f"{where}.tasks: {task}: {remedy}."
    showcases = [task for task in tasks if not names.several_sources(task)]
    if not showcases:
        yield f"{where}.tasks: expected a task with one source, to be the showcase."
    elif entry.get("showcase", showcases[0]) not in showcases:
        yield unknown(f"{where}.showcase", entry["showcase"], showcases)


def _class_faults(index: ConfigNames, where: str, entry: Config) -> Faults:
    dataset, domains = index.datasets[entry["dataset"]], {}
    for name, sizes in dataset.class_sizes.items():
        domains[name] = Counter({label: size for label, size in sizes.items() if size})
    for name in names.role_domains(task_names(entry, domains))["source"]:
        if n := dataset.undecided.get(name):
            text = f"{n} labels of the source {name} are -1, a class or no label?"
            remedy = "Say keep_labels: ['-1'] or unlabelled: ['-1']"
            yield f"{where}.dataset: {text} {remedy} in the data set."
    for task in task_names(entry, domains):
        sides: dict[str, Counter[str]] = {}
        sources, target = names.task_domains(task)
        for side in (sources, (target,)):
            found = (domains.get(name, Counter()) for name in side)
            sides["+".join(side)] = sum(found, Counter[str]())
        if all(map(len, sides.values())):
            option = "map_labels: FILE" if dataset.kind == "tables" else ""
            facts = (dataset.facts.get(name) for name in (*sources, target))
            notes = "".join(f"\n    {fact}" for fact in facts if fact)
            for fault in no_common_class(sides, option):
                yield f"{where}.tasks: {task}: {fault}{notes}"
        for name, labels in sides.items():
            if len(labels) == 1:
                text = f"domain {name} has only the class {[*labels][0]}. Add rows of"
                yield f"{where}.tasks: {task}: {text} another, or remove the task."


def _bridge_faults(index: ConfigNames, where: str, entry: Config) -> Faults:
    bridge, dataset = entry["bridge"], index.datasets[entry["dataset"]]
    if not {SHARED, PAIRS} & {*bridge}:
        yield f"{where}: nothing is shared; give {SHARED} or {PAIRS}."
    if "view" in bridge:
        bridge_entry = {**entry, **dict.fromkeys(VIEWS, bridge["view"])}
        if bridge["view"] not in index.views:
            yield from index.missing(f"{where}.view", "views", bridge["view"])
            return
        for key in VIEWS if index.root(bridge["view"]) else ():
            for fault in _kind_faults(index, where, bridge_entry, key):
                yield fault.replace(key, "view", 1)
    views = dict.fromkeys(bridge.get("view", entry[key]) for key in VIEWS)
    for name in views if SHARED in bridge else ():
        view = index.views.get(name, {})
        kind = _extractor(view) if view else None
        if kind and (not kind.names_columns or view.get("scale") == names.PCA):
            fault = f"the columns of view {name} ({view['extractor']}) have no names"
            remedy = "give one of texts or tables, without pca: view: ..."
            yield f"{where}.{SHARED}: {fault}; {remedy}"
    if (n_pairs := bridge.get(PAIRS, 0)) > dataset.paired:
        text = f"{n_pairs} requested, but {dataset.identifier} has {dataset.paired}"
        yield f"{where}.{PAIRS}: {text}."


def _method_faults(index: ConfigNames) -> Faults:
    for where, method in index.entries("methods"):
        name = method["id"]
        if name not in available():
            if "class" not in method:  # otherwise reported already
                yield unknown(f"{where}.id", name, available())
            continue
        cls, options = method_class(name), method.get("options", {})
        yield from _bridge_use_faults(index, where, method)
        yield from _option_faults(f"{where}.options", name, options)
        grid = method.get("grid", {})
        if grid and cls.transductive:
            fault = "but selection predicts held-out rows; remove the key"
            what = f"method {name} labels only the rows of its fit"
            yield f"{where}.grid: {what}, {fault}."
        for option, value in ((o, v) for o in grid for v in grid[o]):
            yield from _option_faults(f"{where}.grid", name, {option: value})
        states = method.get("states", [])
        if "states" in method and not cls.uses_source:
            yield f"{where}.states: method {name} uses no source; remove the key."
        yield from unknown_of(f"{where}.states", states, index.states)
        runs_alone = names.NO_SOURCE in method.get("states", index.states)
        if method.get("row_without_source") and not (runs_alone and cls.uses_source):
            fault = f"does not run under the control {names.NO_SOURCE}; remove the key"
            yield f"{where}.row_without_source: method {name} {fault}."
        yield from run_faults(index, where, method, ())
        yield from _own_view_faults(index, where, method)
        if "prior_file" in method and "prior" not in option_defaults(name):
            yield f"{where}.prior_file: method {name} has no option prior."


def _own_view_faults(index: ConfigNames, where: str, method: Config) -> Faults:
    value, place = method.get("source_view", {}), f"{where}.source_view"
    views = dict.fromkeys(index.ran(method), value) if isinstance(value, str) else value
    for name, view in views.items():
        entry = {**index.benchmarks.get(name, {}), "source_view": view}
        if name not in index.benchmarks:
            yield from index.missing(place, "benchmarks", name)
        elif view not in index.views:
            yield from index.missing(place, "views", view)
        elif index.root(view) and entry.get("dataset") in index.datasets:
            yield from _kind_faults(index, where, entry, "source_view")


def _option_faults(where: str, method: str, options: Config) -> Faults:
    defaults = option_defaults(method)
    unknown_options = [option for option in options if option not in defaults]
    for option in unknown_options:
        hint = did_you_mean(option, defaults)
        yield f"{where}: method {method} has no option {option!r}{hint}"
    for option in options.keys() & defaults:  # YAML reads yes as true
        if isinstance(options[option], bool) and type(defaults[option]) in (int, float):
            yield f"{where}.{option}: expected a number, got {options[option]}."
    if not unknown_options:
        try:
            method_class(method)(**options)._validate_params()
        except ValueError as error:
            yield f"{where}: {error}"


def _bridge_use_faults(index: ConfigNames, where: str, method: Config) -> Faults:
    usable = method_class(method["id"]).bridges
    parts = method.get("bridges", usable)
    yield from unknown_of(f"{where}.bridges", parts, usable)
    benchmarks = (index.benchmarks.get(name, {}) for name in index.ran(method))
    is_idle = not any({*parts} & {*entry.get("bridge", {})} for entry in benchmarks)
    if parts and is_idle:
        used = f"{method['id']} uses {' and '.join(sorted(parts))}"
        fault = "which no benchmark offers; add them to one: bridge: {...}."
        yield f"{where}.id: {used}, {fault}"


def _role_faults(index: ConfigNames) -> Faults:
    if not index.methods.keys() <= set(available()):
        return  # unknown methods are reported first
    for role in (names.REFERENCE, names.BASELINE):
        name = index.config.get(role)
        if name is not None and name not in index.methods:
            yield from index.missing(role, "methods", name)
        elif role == names.REFERENCE and name and not method_class(name).uses_source:
            yield f"{role}: {name} uses no source; name a method that does."


def _setting_faults(index: ConfigNames, where: str, setting: Config) -> Faults:
    if not {*DIFFERENCES} & {*setting}:
        yield f"{where}: equals the main setting; give one of {', '.join(DIFFERENCES)}."
    try:
        SourceState(**setting.get("source", {}))
    except ValueError as error:
        yield f"{where}.source: {error}"
    domain = setting.get("source", {}).get("domain")
    tasks = index.tasks(index.ran(setting))
    if domain is not None and tasks is not None:
        sources = names.role_domains(tasks)["source"]
        yield from unknown_of(f"{where}.source.domain", [domain], sources)
    yield from run_faults(index, where, setting, setting["methods"])
    for name in _runnable(index, setting["methods"]):
        yield from _option_faults(f"{where}.options", name, setting.get("options", {}))
    for name in index.ran(setting) if "labels" in setting else ():
        if index.domains(name) is not None:
            entry, labels = index.benchmarks[name], setting["labels"]
            yield from index.size_faults(f"{where}.labels", entry, labels)


def _curve_faults(index: ConfigNames, where: str, curve: Config) -> Faults:
    yield from run_faults(index, where, curve, curve["methods"])
    parameter, methods = curve["parameter"], _runnable(index, curve["methods"])
    counts = parameter in (names.LABELS, PAIRS)
    for value in curve["values"]:
        for name in methods:
            if not counts:
                yield from _option_faults(f"{where}.values", name, {parameter: value})
            elif parameter == PAIRS and PAIRS not in method_class(name).bridges:
                yield f"{where}.methods: {name} uses no {PAIRS}; leave it out."
        if counts and (not isinstance(value, int) or value < 1):
            yield f"{where}.values: expected a number of {parameter}, got {value}."


def run_faults(
    index: ConfigNames, where: str, entry: Config, methods: Collection[str]
) -> Faults:
    """Yield faults of the named methods, benchmarks and tasks."""
    benchmarks, tasks = index.ran(entry), entry.get("tasks", [])
    yield from index.missing(f"{where}.methods", "methods", *methods)
    yield from index.missing(f"{where}.benchmarks", "benchmarks", *benchmarks)
    for name in methods:
        runs_on = index.methods.get(name, {}).get("benchmarks", benchmarks)
        if not {*runs_on} & {*benchmarks}:
            text = f"runs only on {', '.join(runs_on)}, but the setting on"
            yield f"{where}.methods: {name} {text} {', '.join(benchmarks)}."
    existing = index.tasks(benchmarks)
    if existing is not None and not isinstance(tasks, int):
        yield from unknown_of(f"{where}.tasks", tasks, existing)


def _runnable(index: ConfigNames, methods: Iterable[str]) -> list[str]:
    return [n for n in methods if n in index.methods and n in available()]


def external_faults(index: ConfigNames, settings: Collection[str]) -> Faults:
    """Yield tasks, trials and the like of external predictions that a study lacks."""
    for place, method in index.entries("methods"):
        if "predictions" not in method:
            continue
        # Not at the top: it needs pandas, and few studies have predictions.
        from cdspp.stages.external import external_places

        where = f"{place}.predictions"
        try:
            places = external_places(method["predictions"])
        except DataError as error:
            yield f"{where}: {error}"
            continue
        benchmarks = [b for b in index.ran(method) if b in index.benchmarks]
        selection = {"tasks": places["task"], "benchmarks": benchmarks}
        yield from run_faults(index, where, selection, ())
        trials, most = max(places["trial"], default=1), index.config["trials"]
        if trials > most:
            yield f"{where}.trials: {trials} is more than the study's {most} trials."
        place = f"{where}.benchmark"
        yield from index.missing(place, "benchmarks", *places["benchmark"])
        yield from unknown_of(f"{where}.setting", places["setting"], settings)
