"""From a configuration to a study: schema, cross-checks, all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.names import MAIN, NO_SCALE
from cdspp.datasets import FolderDataset
from cdspp.datasets.catalogue import holds_data, load_catalogue
from cdspp.methods import method_class
from cdspp.study.checks import CrossCheck
from cdspp.study.model import (
    Benchmark,
    Curve,
    Method,
    Setting,
    Study,
    StudyDataset,
    View,
)
from cdspp.study.settings import (
    chosen_tasks,
    curve_of,
    curve_settings,
    printed_names,
    read_readings,
    reading_setting,
    setting_of,
    state_setting,
    task_names,
)

__all__ = ["check_schema", "load_study", "merge_files"]

Config = Mapping[str, Any]
Benchmarks = Mapping[str, Benchmark]


def load_study(
    config: Config,
    *,
    schema: str | Path,
    catalogue: str | Path,
    paper: str | Path,
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
    paper : path
        Folder of what the paper printed, and where its released code differs.

    Raises
    ------
    ConfigError
        The message lists every fault found, one a line.
    """
    config = _with_switches(config)
    faults = list(check_schema(config, schema))
    if not faults:
        datasets, faults = _datasets(config, catalogue)
        known = read_readings(paper)
        faults += CrossCheck(config, datasets, known, printed_names(paper)).faults()
    if faults:
        lines = "\n".join(f"  - {fault}" for fault in faults)
        noun = "fault" if len(faults) == 1 else "faults"
        raise ConfigError(f"{len(faults)} {noun} in the configuration:\n{lines}")
    return _build(config, datasets, known)


def merge_files(files: Sequence[str | Path]) -> dict[str, Any]:
    """Return the configuration of several files as Snakemake merges them.

    Parameters
    ----------
    files : sequence of path
        YAML files; keys of later ones replace those of earlier ones.

    Raises
    ------
    ConfigError
        A file holds no mapping of keys.
    """
    import yaml

    merged: dict[str, Any] = {}
    for file in files:
        found = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
        if not isinstance(found, Mapping):
            raise ConfigError(f"{file}: expected keys and values, as in config.yaml.")
        merged |= found
    return merged


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
        whole = "all" if "const" in error.validator_value[0] else "a number"
        expected = f"expected {whole} or a list of <source>_<target>"
        yield f"{where}{expected}, got {error.instance!r}."
    else:
        yield f"{where}{error.message}."


def _place(path: Iterable[str | int]) -> str:
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return f"{text.lstrip('.')}: " if text else ""


def _datasets(
    config: Config, catalogue: str | Path
) -> tuple[dict[str, StudyDataset], list[str]]:
    """Return the data sets in use, and faults of the user's folders."""
    faults: list[str] = []
    datasets = {
        name: StudyDataset(name, entry["kind"], _named_sizes(entry), entry=entry)
        for name, entry in load_catalogue(catalogue).items()
        if holds_data(entry)
    }
    for i, entry in enumerate(config.get("datasets", [])):
        name, folder = entry["id"], entry["folder"]
        if name in datasets:
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
        datasets[name] = StudyDataset(name, index.kind, sizes, folder)
    return datasets, faults


def _named_sizes(entry: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {
        domain: dict(zip(entry["classes"], sizes, strict=True))
        for domain, sizes in entry["class_sizes"].items()
    }


def _build(
    config: Config,
    datasets: Mapping[str, StudyDataset],
    readings: Mapping[str, Mapping[str, Config]],
) -> Study:
    benchmarks = {
        entry["id"]: _benchmark(entry, datasets) for entry in config["benchmarks"]
    }
    trials = config["trials"]
    methods = {
        entry["id"]: _method(entry, config, benchmarks) for entry in config["methods"]
    }
    curves = tuple(
        curve_of(entry, benchmarks, methods, datasets, trials)
        for entry in config.get("curves", [])
    )
    measured = _measured(config, readings, benchmarks)
    return Study(
        name=config["study"],
        seed=config["seed"],
        trials=trials,
        block_size=config["block_size"],
        numeric_threads=config["numeric_threads"],
        partial=config.get("partial", False),
        datasets=datasets,
        views={entry["id"]: _view(entry) for entry in config["views"]},
        benchmarks=benchmarks,
        methods=methods,
        settings=_settings(config, benchmarks, methods, curves, measured),
        curves=curves,
        states=_states(config),
        margin=config.get("source_states", {}).get("margin", 1.0),
        **{section: _names(found) for section, found in measured.items()},
    )


def _measured(
    config: Config,
    readings: Mapping[str, Mapping[str, Config]],
    benchmarks: Benchmarks,
) -> dict[str, dict[str, Setting]]:
    """Return the settings of the deviations and choices that a study runs, by name."""
    return {
        section: {
            entry["id"]: reading_setting(section, entry, known[entry["id"]], benchmarks)
            for entry in config.get(section, [])
        }
        for section, known in readings.items()
    }


def _names(settings: Mapping[str, Setting]) -> dict[str, str]:
    return {name: setting.identifier for name, setting in settings.items()}


def _states(config: Config) -> tuple[str, ...]:
    return tuple(config.get("source_states", {}).get("states", ()))


def _settings(
    config: Config,
    benchmarks: Benchmarks,
    methods: Mapping[str, Method],
    curves: Iterable[Curve],
    measured: Mapping[str, Mapping[str, Setting]],
) -> dict[str, Setting]:
    settings = [
        Setting(MAIN, tuple(methods), chosen_tasks({}, benchmarks)),
        *(state_setting(state, methods, benchmarks) for state in _states(config)),
        *(setting_of(entry, benchmarks) for entry in config.get("settings", [])),
        *(setting for curve in curves for setting in curve_settings(curve)),
        *(setting for found in measured.values() for setting in found.values()),
    ]
    return {setting.identifier: setting for setting in settings}


def _method(entry: Config, config: Config, benchmarks: Benchmarks) -> Method:
    name, view = entry["id"], entry.get("source_view", {})
    left = {e["id"] for e in config["benchmarks"] if name in e.get("leave_out", ())}
    chosen = chosen_tasks(entry, benchmarks)
    return Method(
        identifier=name,
        options=_options(entry),
        trials=entry.get("trials", config["trials"]),
        tasks={place: tasks for place, tasks in chosen.items() if place not in left},
        shortened=entry.get("shortened", False),
        source_views=dict.fromkeys(benchmarks, view) if isinstance(view, str) else view,
        prior_file=entry.get("prior_file"),
        states=_method_states(entry, config),
    )


def _method_states(entry: Config, config: Config) -> tuple[str, ...]:
    """Return the states in which a method runs; none where it reads no source."""
    if not method_class(entry["id"]).uses_source:
        return ()
    chosen = entry.get("states", _states(config))
    return tuple(state for state in _states(config) if state in chosen)


def _options(entry: Config) -> dict[str, Any]:
    """Return the options of an entry; their order in the file is not to matter."""
    return dict(sorted(entry.get("options", {}).items()))


def _view(entry: Config) -> View:
    return View(
        identifier=entry["id"],
        extractor=entry["extractor"],
        options=_options(entry),
        view=entry.get("view"),
        scale=entry.get("scale", NO_SCALE),
    )


def _benchmark(entry: Config, datasets: Mapping[str, StudyDataset]) -> Benchmark:
    tasks = tuple(task_names(entry, datasets[entry["dataset"]].class_sizes))
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
        printed=entry.get("printed"),
    )
