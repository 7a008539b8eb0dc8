"""Study files and presets, merged into a configuration and checked as a study."""

import copy
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import cdspp.core.light_sklearn  # noqa: F401
from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError, DataError, problems_text
from cdspp.core.names import BASELINE, REFERENCE, PathLike, Paths, several_sources
from cdspp.core.removed import KEYS, removal_text
from cdspp.core.yaml_files import read_yaml
from cdspp.datasets import Dataset, own_dataset
from cdspp.datasets.base import KINDS, digests_path
from cdspp.datasets.catalogue import load_catalogue
from cdspp.methods import (
    available,
    make_seeded,
    method_class,
    option_defaults,
    register_external,
)
from cdspp.methods.base import UNLABELLED, SourceDomain
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.methods.external import PREDICTIONS
from cdspp.study import settings
from cdspp.study.checks import cross_faults, external_faults
from cdspp.study.model import (
    Benchmark,
    Config,
    Method,
    Study,
    StudyDataset,
    View,
    from_fields,
)
from cdspp.study.plugins import ConfigNames, ReportPlugin, plugin_classes, unknown

__all__ = ["load_study", "merge_files", "merge_presets"]

EMBEDDED = "embedded"  # the study of config.yaml, as a preset
EXTERNAL_KEYS = ("display_name", "kind", "seconds", "preprocessing")
# Keys of a method that the study fits itself.
FITTED = ("class", *EXTERNAL_KEYS[1:], "options", "grid", "prior_file", "source_view")
KINDS_OF_VALUES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "keys with values",
}
SHOWN = 100  # letters of a value in a message, at either end
NAME_A_PRESET = (
    "Add them, or name presets that have them, as in `preset: [embedded, quick]`: "
    "quick has methods, all-methods more and curves, embedded all of config.yaml."
)


def merge_presets(study: Config, folder: PathLike) -> tuple[dict[str, Any], list[str]]:
    """Merge the keys of a study over those of the presets that it names, and defaults.

    Returns the configuration, and notes for the user. `folder` has ``config.yaml`` and
    ``resources/presets``. ConfigError: no such preset.
    """
    paths = sorted(Path(folder, "resources/presets").glob("*.yaml"))
    files = {file.stem: file for file in paths}
    defaults = merge_files([files.pop("default")])
    files[EMBEDDED] = Path(folder, "config.yaml")
    preset_names = study.get("preset", [])
    preset_names = preset_names if isinstance(preset_names, list) else [preset_names]
    for name in preset_names:
        if name not in list(files):
            raise ConfigError(unknown("preset", name, files))
    preset = merge_files([files[name] for name in preset_names])
    preset.pop("study", None)
    merged = _merge(_merge(defaults, preset), study)
    config = {key: merged[key] for key in (*study, *merged)}  # keys of the file first
    for key in ("methods", "add"):  # entries may be plain names
        if isinstance(entries := config.get(key), list):
            config[key] = [{"id": x} if isinstance(x, str) else x for x in entries]
    methods = config.get("methods")
    if isinstance(methods, list) and isinstance(config.get("add"), list):
        config["methods"] = methods = _add_methods(methods, config.pop("add"))
    method_ids = set(map(_name, methods)) if isinstance(methods, list) else set()
    notes = []
    if REFERENCE not in study and (name := _own_reference(study)):
        config[REFERENCE] = name
        notes.append(f"reference: by default, the study's own class {name}.")
    for role in (REFERENCE, BASELINE):  # by default one of the study's methods
        if role not in study and config[role] not in method_ids:
            del config[role]
    if common_keys := [key for key in preset if key in study]:
        text = f"{', '.join(common_keys)} of the preset {', '.join(preset_names)}."
        notes.append(f"The study replaces {text}")
    return config, notes


def _own_reference(own: Config) -> str:
    """Return the study's first method that is a class of its own with a source."""
    lists = [own[key] for key in ("methods", "add") if isinstance(own.get(key), list)]
    for entry in chain(*lists):
        match entry:
            case {"id": str(name), "class": str(place)}:
                with suppress(ConfigError, ValueError):  # reported by `load_study`
                    if entry.get("kind") is None and method_class(place).uses_source:
                        return name
    return ""


def _add_methods(methods: list[Any], additions: list[Any]) -> list[Any]:
    """Return methods followed by others, which replace methods of the same name."""
    ids = {*map(_name, methods)} - {""}
    replacements = {name: entry for entry in additions if (name := _name(entry)) in ids}
    merged = [replacements.get(_name(entry), entry) for entry in methods]
    return merged + [entry for entry in additions if _name(entry) not in ids]


def _name(entry: Any) -> str:
    name = entry.get("id") if isinstance(entry, Mapping) else ""
    return name if isinstance(name, str) else ""


def merge_files(files: Paths, overrides: Config | None = None) -> dict[str, Any]:
    """Merge the keys of YAML files, and more, as Snakemake does: the last one wins.

    ConfigError names a file that is not YAML, or has no mapping of keys.
    """
    merged: dict[str, Any] = {}
    for file in files:
        if not os.path.isfile(file):
            raise ConfigError(f"{file}: no such study file. cdspp init writes one.")
        keys = read_yaml(file)
        if not isinstance(keys, Mapping):
            raise ConfigError(f"{file}: expected keys and values, as in config.yaml.")
        merged = _merge(merged, keys)
    return _merge(merged, overrides or {})


def _merge(base: Config, overrides: Config) -> dict[str, Any]:
    """Return the keys of both: mappings are merged, anything else is replaced."""
    merged = copy.deepcopy(dict(base))
    for key, value in overrides.items():
        nested = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if nested else copy.deepcopy(value)
    return merged


def load_study(
    config: Config, folder: str | Path, data: str | Path | None = None
) -> Study:
    """Check a configuration by the files of a workflow, and return its study.

    The folder `data` of the data sets caches digests of the user's own files, so that
    none is read twice. ConfigError lists all faults, one per line, of the schema first.
    """
    resources = Path(folder, "resources")
    if (partial := config.get("partial")) in ("true", "false"):  # from a command line
        config = {**config, "partial": partial == "true"}
    if config.get("source_states") == []:  # off, like other sections
        config = {**config, "source_states": {"states": []}}
    _refuse(schema_faults(config, Path(folder, "workflow/schemas/config.schema.yaml")))
    plugins = [plugin(resources) for plugin in plugin_classes()]
    faults = list(register_external_methods(config))
    datasets, more, notes = _datasets(config, resources / "datasets.yaml", data)
    index = ConfigNames(config, datasets)
    _refuse([*faults, *more, *cross_faults(index, plugins)])
    study = _build(index, plugins, notes)
    _refuse([*external_faults(index, study.settings)])
    return study


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise ConfigError(problems_text("the configuration", faults))


def schema_faults(config: Config, schema: PathLike) -> list[str]:
    """Return a sentence for each violation of the schema."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # JSON has one type of number, so 2.0 trials would pass as two.
    kinds = Draft202012Validator.TYPE_CHECKER
    kinds = kinds.redefine("integer", lambda _, value: type(value) is int)
    validator = extend(Draft202012Validator, type_checker=kinds)(
        read_yaml(schema, own=True)
    )
    errors = validator.iter_errors(config)
    errors = sorted(errors, key=lambda e: [*map(str, e.absolute_path)])
    # If several keys are missing in one place, each error names all of them.
    sentences = (sentence for error in errors for sentence in _sentences(error))
    return list(dict.fromkeys(sentences))


def _sentences(error: Any) -> Iterator[str]:
    path = error.absolute_path
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    where = f"{text.lstrip('.')}: " if text else ""
    if error.validator == "additionalProperties":
        properties = error.schema["properties"]
        for key in error.instance:
            if key in properties:
                continue
            names = [part for part in (*path, key) if isinstance(part, str)]
            if remedy := KEYS.get(".".join(names)):
                yield f"{where}{removal_text(f'the key {key}', remedy)}"
            else:
                yield f"{where}unknown key {key!r}{did_you_mean(key, properties)}"
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        remedy = f" {NAME_A_PRESET}" if not path and {*missing} - {"study"} else ""
        yield f"{where}missing {', '.join(missing)}.{remedy}"
    elif error.validator == "oneOf":
        inner = [each for each in error.context if each.relative_path]
        if inner and isinstance(error.instance, Mapping):
            for each in inner:
                yield from _sentences(each)
            return
        tasks = "tasks" in path
        choices = [_expected(rule, tasks=tasks) for rule in error.validator_value]
        text = f"{where}expected {' or '.join(choices)}, got {error.instance!r}"
        yield f"{text}{_quoted(error.instance)}."
    elif error.validator == "type":
        expected = _expected(error.schema)
        hint = _quoted(error.instance) if error.validator_value == "string" else ""
        got = _cut(repr(error.instance))
        if isinstance(error.instance, str) and error.validator_value == "array":
            hint = f": write [{error.instance}]"
        yield f"{where}expected {expected}, got {got}{hint}."
    else:
        yield f"{where}{_cut(error.message)}."


def _cut(text: str) -> str:
    """Return the beginning and end of a long text: a value, and the rule."""
    return text if len(text) <= 2 * SHOWN else f"{text[:SHOWN]} ... {text[-SHOWN:]}"


def _expected(rule: Mapping[str, Any], *, tasks: bool = False) -> str:
    """Return in words what a rule of the schema accepts."""
    if "const" in rule:
        return str(rule["const"])
    if tasks and rule["type"] == "array":
        return "a list of <source>_<target>"
    kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    return " or ".join(KINDS_OF_VALUES[kind] for kind in kinds)


def _quoted(value: object) -> str:
    """Return the advice to quote what YAML reads as another type than text."""
    if isinstance(value, bool):
        word = "YES" if value else "NO"
        return f" (YAML reads {word} so): write it in quotes, as '{word}'"
    simple = value is None or isinstance(value, (int, float, date))
    word = "NULL" if value is None else str(value)
    return f": write '{word}', in quotes" if simple else ""


def register_external_methods(config: Config) -> Iterator[str]:
    """Register classes and external predictions of a study as methods; yield faults.

    Faulty ones are left out, and those of an earlier study are removed.
    """
    entries: dict[str, dict[str, Any]] = {}
    register_external({})
    for i, entry in enumerate(config.get("methods", [])):
        where, name = f"methods[{i}]", entry.get("id")
        has_predictions, has_class = "predictions" in entry, "class" in entry
        text = "is given together with a class; keep one of the two"
        if has_predictions:
            text = "the study does not fit external predictions; remove the key"
        for key in FITTED if has_predictions else () if has_class else EXTERNAL_KEYS:
            if key in entry:
                yield f"{where}.{key}: {text}."
        if not (has_predictions or has_class):
            continue
        if name in available():
            owner = f"{name} is a method of cdspp or of a package"
            yield f"{where}.id: {owner}; choose another id."
        elif not has_predictions and (fault := _toy_problem_fault(name, entry)):
            yield f"{where}.class: {fault}"
        else:
            entries[name] = _external_method(entry)
    register_external(entries)


def _external_method(entry: Config) -> dict[str, Any]:
    fields = {key: entry[key] for key in EXTERNAL_KEYS if key in entry}
    if "predictions" in entry:
        has_states = bool(entry.get("states"))
        return fields | {"place": "", "kind": PREDICTIONS, "states": has_states}
    return fields | {"place": entry["class"]}


def _toy_problem_fault(name: str, entry: Config) -> str:
    register_external({name: _external_method(entry)})
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(3), 6)
    X_source = rng.standard_normal((18, 4)) + 5 * np.eye(3, 4)[classes]
    X = rng.standard_normal((18, 5)) + 5 * np.eye(3, 5)[classes]
    y = np.where(np.arange(18) % 2, classes, UNLABELLED)
    try:
        defaults = option_defaults(name)  # other methods are refused elsewhere
        options = {k: v for k, v in entry.get("options", {}).items() if k in defaults}
        with warnings.catch_warnings(action="ignore"):
            model = make_seeded(name, 0, **options)
            model.fit(X, y, source=SourceDomain(X_source, classes))
    except ConfigError as error:
        return str(error)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        labels = "where y is -1 for a row without a label"
        expected = f"Expected fit(X, y, *, source=), {labels}, and predict."
        return f"{entry['class']} failed on a toy problem ({reason}). {expected}"
    return ""


def _datasets(
    config: Config, catalogue: str | Path, data: str | Path | None
) -> tuple[dict[str, StudyDataset], list[str], list[str]]:
    faults, notes = list[str](), list[str]()
    datasets: dict[str, StudyDataset] = {}
    for name, entry in load_catalogue(catalogue).items():
        if (kind := entry["kind"]) in KINDS:
            sizes = {}
            for domain, counts in entry["class_sizes"].items():
                sizes[domain] = dict(zip(entry["classes"], counts, strict=True))
            paired = entry.get("paired", 0)
            datasets[name] = StudyDataset(name, kind, sizes, entry=entry, paired=paired)
    for i, entry in enumerate(config.get("datasets", [])):
        place, name = f"datasets[{i}]", entry["id"]
        if name in datasets:
            faults.append(f"{place}.id: {name!r} is taken; choose another name.")
            continue
        try:
            dataset = own_dataset(name, entry, digests_path(data, name))
            datasets[name] = _user_dataset(dataset, entry)
            notes += [f"{place}: {note}" for note in dataset.notes()]
        except (ConfigError, DataError) as error:
            faults.append(f"{place}: {error}")
    return datasets, faults, notes


def _user_dataset(dataset: Dataset, entry: Config) -> StudyDataset:
    contents = dataset.contents()
    unlabelled = {name: n[""] for name, n in contents.items() if "" in n}
    sizes = {}
    for domain, counts in contents.items():
        sizes[domain] = {label: n for label, n in counts.items() if label}
    location = {key: value for key, value in entry.items() if key != "id"}
    columns = getattr(dataset, "features", {})
    name, kind, paired = dataset.identifier, dataset.kind, dataset.n_paired
    more: dict[str, Any] = {"features": columns}
    more |= {key: getattr(dataset, key, {}) for key in ("undecided", "facts")}
    return StudyDataset(name, kind, sizes, location, unlabelled, {}, paired, **more)


def _build(index: ConfigNames, plugins: list[ReportPlugin], notes: list[str]) -> Study:
    config, benchmarks = index.config, {}
    for entry in config["benchmarks"]:
        sizes = index.datasets[entry["dataset"]].class_sizes
        tasks = tuple(settings.task_names(entry, sizes))
        showcase = next(task for task in tasks if not several_sources(task))
        fields = {"title": entry["id"], "showcase": showcase, **entry}
        benchmarks[entry["id"]] = from_fields(Benchmark, fields, tasks=tasks)
    methods = {e["id"]: _method(e, config, benchmarks) for e in config["methods"]}
    roles, role_notes = _roles(config, methods)
    numbers = ("seed", "trials", "block_size", "numeric_threads", "partial", "gpus")
    options = {key: config[key] for key in numbers if key in config}
    if style := config.get("figures", {}).get("style"):
        options["figure_style"] = style
    states = config.get("source_states", {})
    study = Study(
        name=config["study"],
        datasets=index.datasets,
        views={entry["id"]: from_fields(View, entry) for entry in config["views"]},
        benchmarks=benchmarks,
        methods=methods,
        settings={},
        notes=(*notes, *role_notes),
        config=config,
        **roles,
        **{**options, **states, "states": tuple(states.get("states", ()))},
    )
    more = (each for own in plugins for each in own.settings(config, benchmarks))
    study = settings.with_settings(config, study, more)
    plans = {}
    for name in benchmarks:
        plans[name] = {own.name: own.plan(study, config, name) for own in plugins}
    notes = [*study.notes, *settings.bridge_state_notes(study), *_idle_bridges(study)]
    return replace(study, notes=tuple(notes), plugins=plans)


def _roles(
    config: Config, methods: Mapping[str, Method]
) -> tuple[dict[str, Any], list[str]]:
    roles: dict[str, Any] = {}
    notes = []
    classes = {name: method_class(name) for name in methods}
    own = {n: m for n, m in classes.items() if not m.without_source_of}
    for role, kind in {REFERENCE: "semi-supervised", BASELINE: "supervised"}.items():
        roles[role] = config.get(role) or ""
        if roles[role] not in methods:
            sides = role == REFERENCE, role == BASELINE  # has a source, is supervised
            fit = (n for n, m in own.items() if (m.uses_source, m.supervised) == sides)
            roles[role] = next(fit, "")
            text = f"none, because no method of the study is {kind}"
            if roles[role]:
                text = f"by default, {roles[role]}, the first {kind} method"
            notes.append(f"{role}: {text}.")
    return roles, notes


def _idle_bridges(study: Study) -> Iterator[str]:
    idle: dict[str, list[str]] = {}
    for name, benchmark in study.benchmarks.items():
        used = {p for m in study.methods.values() if name in m.tasks for p in m.bridges}
        for part in sorted({SHARED, PAIRS} & benchmark.bridge.keys() - used):
            idle.setdefault(part, []).append(name)
    if idle:
        able = (n for n in available() if {*method_class(n).bridges} & idle.keys())
        parts = "; ".join(f"{part} of {', '.join(n)}" for part, n in idle.items())
        text = f"bridge: no method of the study uses {parts}"
        yield f"{text}. These do (add: [NAME]): {', '.join(able)}."


def _method(entry: Config, config: Config, benchmarks: settings.Benchmarks) -> Method:
    name, view = entry["id"], entry.get("source_view", {})
    cls = method_class(name)
    states = config.get("source_states", {}).get("states", ())
    excluded = {e["id"] for e in config["benchmarks"] if name in e.get("leave_out", ())}
    bridges = tuple(sorted(entry.get("bridges", cls.bridges)))
    if bridges:
        excluded |= {b for b in benchmarks if not {*bridges} & {*benchmarks[b].bridge}}
    # Methods without a source have no control; controls of columns or pairs need these.
    idle = {state for state, kind in settings.SHUFFLED.items() if kind not in bridges}
    own_states = {*entry.get("states", states)} - idle if cls.uses_source else ()
    tasks = {}
    for place, names in settings.chosen_tasks(entry, benchmarks).items():
        # Several sources share only labels.
        runnable = tuple(t for t in names if not (bridges and several_sources(t)))
        if runnable and place not in excluded:
            tasks[place] = runnable
    return from_fields(
        Method,
        entry,
        trials=min(entry.get("trials", config["trials"]), config["trials"]),
        tasks=tasks,
        source_views=dict.fromkeys(benchmarks, view) if isinstance(view, str) else view,
        bridges=bridges,
        states=tuple(state for state in states if state in own_states),
        grid={name: tuple(values) for name, values in entry.get("grid", {}).items()},
    )
