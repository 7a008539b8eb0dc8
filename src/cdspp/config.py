"""From a configuration to a study: schema, cross-checks, all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cdspp.cross_checks import CrossCheck, task_names
from cdspp.datasets import FolderDataset
from cdspp.datasets.catalogue import holds_data, load_catalogue
from cdspp.discovery import did_you_mean
from cdspp.errors import ConfigError, DataError
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
        faults += CrossCheck(config, facts).faults()
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
        name: DatasetFacts(name, entry["kind"], _named_sizes(entry), entry=entry)
        for name, entry in load_catalogue(catalogue).items()
        if holds_data(entry)
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


def _build(config: Config, facts: Mapping[str, DatasetFacts]) -> Study:
    benchmarks = [_benchmark(entry, facts) for entry in config["benchmarks"]]
    everything = tuple(benchmark.identifier for benchmark in benchmarks)
    trials = config["trials"]
    methods = [
        Method(
            identifier=entry["id"],
            options=_options(entry),
            trials=entry.get("trials", trials),
            benchmarks=tuple(entry.get("benchmarks", everything)),
            shortened=entry.get("shortened", False),
        )
        for entry in config["methods"]
    ]
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
    tasks = tuple(task_names(entry, facts[entry["dataset"]].class_sizes))
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
        protocol=entry.get("protocol", "seeded"),
        overlap=entry.get("overlap", "exclude"),
    )


def _setting(entry: Config, benchmarks: tuple[str, ...]) -> Setting:
    return Setting(
        identifier=entry["id"],
        methods=tuple(entry["methods"]),
        benchmarks=tuple(entry.get("benchmarks", benchmarks)),
        source=entry.get("source", "as-is"),
        options=_options(entry),
        labels=entry.get("labels", {}),
        overlap=entry.get("overlap"),
        tasks=tuple(entry["tasks"]) if "tasks" in entry else None,
    )
