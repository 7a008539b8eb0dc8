"""From a configuration to a study: schema, cross-checks, all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdspp.datasets import FolderDataset
from cdspp.datasets.catalogue import load_catalogue
from cdspp.discovery import did_you_mean
from cdspp.errors import ConfigError, DataError
from cdspp.features import available_extractors, extractor_kind, make_extractor
from cdspp.methods import available, method_class, option_defaults
from cdspp.study import (
    MAIN,
    Benchmark,
    DatasetFacts,
    Method,
    Setting,
    Study,
    View,
)

__all__ = ["check_schema", "load_study"]

Config = Mapping[str, Any]


def load_study(
    config: Config,
    *,
    schema: str | Path,
    catalogue: str | Path,
) -> Study:
    """Check a configuration and return the study it describes.

    Parameters
    ----------
    config : mapping
        The configuration as read from YAML.
    schema : path
        JSON schema of the configuration, as YAML.
    catalogue : path
        Catalogue of the data sets.

    Raises
    ------
    ConfigError
        The message lists every fault found, one a line.
    """
    config = _with_switches(config)
    faults = list(check_schema(config, schema))
    if not faults:
        facts, faults = _dataset_facts(config, catalogue)
        faults += _CrossCheck(config, facts).faults()
    if faults:
        lines = "\n".join(f"  - {fault}" for fault in faults)
        noun = "fault" if len(faults) == 1 else "faults"
        raise ConfigError(f"{len(faults)} {noun} in the configuration:\n{lines}")
    return _build(config, facts)


def _with_switches(config: Config) -> Config:
    """Return the configuration with ``--config partial=true`` read as a switch."""
    switches = {"true": True, "false": False}
    given = config.get("partial")
    return (
        {**config, "partial": switches[given]}
        if isinstance(given, str) and given in switches
        else config
    )


def check_schema(config: Config, schema: str | Path) -> Iterator[str]:
    """Yield one sentence for each way in which `config` breaks the schema."""
    import yaml
    from jsonschema import Draft202012Validator

    rules = yaml.safe_load(Path(schema).read_text())
    errors = Draft202012Validator(rules).iter_errors(config)
    for error in sorted(errors, key=lambda error: list(map(str, error.absolute_path))):
        yield from _sentences(error)


def _sentences(error: Any) -> Iterator[str]:
    where = _place(error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        for key in error.instance:
            if key not in known:
                yield f"{where}unknown key {key!r}{did_you_mean(key, known)}"
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        yield f"{where}missing {', '.join(missing)}."
    elif error.validator == "oneOf":
        expected = "expected all or a list of <source>_<target>"
        yield f"{where}{expected}, got {error.instance!r}."
    else:
        yield f"{where}{error.message}."


def _place(path: Iterable[str | int]) -> str:
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return f"{text.lstrip('.')}: " if text else ""


def _dataset_facts(
    config: Config, catalogue: str | Path
) -> tuple[dict[str, DatasetFacts], list[str]]:
    """Return the facts of the data sets in use, and faults of the user's folders."""
    faults: list[str] = []
    facts = {
        name: DatasetFacts(name, entry["kind"], _named_sizes(entry))
        for name, entry in load_catalogue(catalogue).items()
    }
    for i, entry in enumerate(config.get("datasets", [])):
        name, folder = entry["id"], entry["folder"]
        if name in facts:
            faults.append(f"datasets[{i}].id: {name!r} is taken, choose another name.")
            continue
        try:
            index = FolderDataset(name, folder).scan()
        except (ConfigError, DataError) as error:
            faults.append(f"datasets[{i}]: {error}")
            continue
        sizes = {
            domain: dict(zip(index.classes, index.class_sizes(domain), strict=True))
            for domain in index.domains
        }
        facts[name] = DatasetFacts(name, index.kind, sizes, folder)
    return facts, faults


def _named_sizes(entry: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {
        domain: dict(zip(entry["classes"], sizes, strict=True))
        for domain, sizes in entry["class_sizes"].items()
    }


class _CrossCheck:
    """Checks of what a schema cannot know: names that exist, sizes that fit."""

    def __init__(self, config: Config, facts: Mapping[str, DatasetFacts]) -> None:
        self.config = config
        self.facts = facts
        self.views = {view["id"]: view for view in config["views"]}
        self.methods = {method["id"]: method for method in config["methods"]}
        self.benchmarks = {entry["id"]: entry for entry in config["benchmarks"]}

    def faults(self) -> list[str]:
        """Return every fault found."""
        return [
            *self._repeated(),
            *self._view_faults(),
            *self._benchmark_faults(),
            *self._method_faults(),
            *self._setting_faults(),
        ]

    def _repeated(self) -> Iterator[str]:
        for section in ("datasets", "views", "benchmarks", "methods", "settings"):
            names = [entry["id"] for entry in self.config.get(section, [])]
            for name in sorted({name for name in names if names.count(name) > 1}):
                yield f"{section}: the id {name!r} is there more than once."

    def _view_faults(self) -> Iterator[str]:
        for i, view in enumerate(self.config["views"]):
            where, extractor = f"views[{i}]", view["extractor"]
            if extractor not in available_extractors():
                yield _unknown(f"{where}.extractor", extractor, available_extractors())
                continue
            try:
                make_extractor(extractor, **view.get("options", {}))
            except ConfigError as error:
                yield f"{where}.options: {error}"
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
            for key in ("source_view", "target_view"):
                if entry[key] not in self.views:
                    yield _unknown(f"{where}.{key}", entry[key], self.views)
            if entry["dataset"] not in self.facts:
                yield _unknown(f"{where}.dataset", entry["dataset"], self.facts)
                continue
            yield from self._kind_faults(where, entry)
            yield from self._task_faults(where, entry)
            yield from self._size_faults(f"{where}.labels", entry, entry["labels"])

    def _kind_faults(self, where: str, entry: Config) -> Iterator[str]:
        facts = self.facts[entry["dataset"]]
        for key in ("source_view", "target_view"):
            root = self.views.get(self._root(entry[key]) or "", {})
            extractor = root.get("extractor")
            if extractor not in available_extractors():
                continue
            kind = extractor_kind(extractor)
            if kind not in {"view", facts.kind}:
                yield (
                    f"{where}.{key}: {extractor} reads {kind}, but {facts.identifier} "
                    f"holds {facts.kind}."
                )
            domain = root.get("options", {}).get("codebook_domain")
            if domain is not None and domain not in facts.class_sizes:
                place = f"{where}.{key}: codebook_domain"
                yield _unknown(place, domain, facts.class_sizes)

    def _task_faults(self, where: str, entry: Config) -> Iterator[str]:
        domains = self.facts[entry["dataset"]].class_sizes
        tasks = _tasks(entry, domains)
        for task in tasks:
            for domain in task.split("_"):
                if domain not in domains:
                    yield _unknown(f"{where}.tasks: {task}: domain", domain, domains)
        if "showcase" in entry and entry["showcase"] not in tasks:
            yield _unknown(f"{where}.showcase", entry["showcase"], tasks)

    def _size_faults(self, where: str, entry: Config, labels: Config) -> Iterator[str]:
        domains = self.facts[entry["dataset"]].class_sizes
        asked = labels.get("target", 0)
        for domain in dict.fromkeys(t.split("_")[1] for t in _tasks(entry, domains)):
            sizes = domains.get(domain, {})
            small = [
                f"{name} ({size})" for name, size in sizes.items() if size <= asked
            ]
            if small:
                yield (
                    f"{where}.target: {asked} labelled samples per class leave no test "
                    f"sample in domain {domain}, class {', '.join(small)}."
                )

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

    def _setting_faults(self) -> Iterator[str]:
        for i, setting in enumerate(self.config.get("settings", [])):
            where = f"settings[{i}]"
            if setting["id"] == MAIN:
                yield f"{where}.id: {MAIN} is the name of the main run, choose another."
            if not {"source", "options", "labels"} & set(setting):
                yield f"{where}: nothing differs; give source, options or labels."
            for name in setting["methods"]:
                if name not in self.methods:
                    yield _unknown(f"{where}.methods", name, self.methods)
                elif name in available():
                    options = setting.get("options", {})
                    yield from _option_faults(f"{where}.options", name, options)
            for name in setting.get("benchmarks", self.benchmarks):
                if name not in self.benchmarks:
                    yield _unknown(f"{where}.benchmarks", name, self.benchmarks)
                elif self.benchmarks[name]["dataset"] in self.facts:
                    entry, labels = self.benchmarks[name], setting.get("labels", {})
                    yield from self._size_faults(f"{where}.labels", entry, labels)


def _unknown(where: str, name: str, known: Iterable[str]) -> str:
    known = list(known)
    return f"{where}: unknown name {name!r}{did_you_mean(name, known)}"


def _option_faults(where: str, method: str, options: Config) -> Iterator[str]:
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


def _tasks(entry: Config, domains: Iterable[str]) -> Sequence[str]:
    if entry["tasks"] == "all":
        names = list(domains)
        return [f"{source}_{target}" for source in names for target in names]
    return list(entry["tasks"])


def _build(config: Config, facts: Mapping[str, DatasetFacts]) -> Study:
    benchmarks = [_benchmark(entry, facts) for entry in config["benchmarks"]]
    trials = config["trials"]
    methods = [
        Method(
            entry["id"],
            _options(entry),
            entry.get("trials", trials),
            entry.get("shortened", False),
        )
        for entry in config["methods"]
    ]
    everything = tuple(benchmark.identifier for benchmark in benchmarks)
    main = Setting(MAIN, tuple(method.identifier for method in methods), everything)
    return Study(
        name=config["study"],
        seed=config["seed"],
        trials=trials,
        block_size=config["block_size"],
        numeric_threads=config["numeric_threads"],
        partial=config.get("partial", False),
        datasets=facts,
        views={
            v["id"]: View(v["id"], v["extractor"], _options(v), v.get("view"))
            for v in config["views"]
        },
        benchmarks={benchmark.identifier: benchmark for benchmark in benchmarks},
        methods={method.identifier: method for method in methods},
        settings={MAIN: main}
        | {s["id"]: _setting(s, everything) for s in config.get("settings", [])},
    )


def _options(entry: Config) -> dict[str, Any]:
    """Return the options of an entry; their order in the file is not to matter."""
    return dict(sorted(entry.get("options", {}).items()))


def _benchmark(entry: Config, facts: Mapping[str, DatasetFacts]) -> Benchmark:
    tasks = tuple(_tasks(entry, facts[entry["dataset"]].class_sizes))
    return Benchmark(
        identifier=entry["id"],
        title=entry.get("title", entry["id"]),
        summary=entry.get("summary", ""),
        dataset=entry["dataset"],
        source_view=entry["source_view"],
        target_view=entry["target_view"],
        tasks=tasks,
        labels=entry["labels"],
        showcase=entry.get("showcase", tasks[0]),
    )


def _setting(entry: Config, benchmarks: tuple[str, ...]) -> Setting:
    return Setting(
        identifier=entry["id"],
        methods=tuple(entry["methods"]),
        benchmarks=tuple(entry.get("benchmarks", benchmarks)),
        source=entry.get("source", "as-is"),
        options=_options(entry),
        labels=entry.get("labels", {}),
    )
