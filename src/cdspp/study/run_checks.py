"""Checks of what runs: methods, those from outside too, and settings beside main."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cdspp.core.errors import ConfigError, DataError
from cdspp.core.names import (
    BASELINE,
    LABELS,
    MAIN,
    REAL,
    REFERENCE,
    SELECTED,
    role_domains,
    several_sources,
)
from cdspp.methods import (
    available,
    make,
    method_class,
    option_defaults,
    seed_option,
    set_guests,
)
from cdspp.methods.base import UNLABELLED, SourceDomain
from cdspp.methods.bridge import PAIRS
from cdspp.methods.guests import PREDICTIONS
from cdspp.stages.source_states import SourceState
from cdspp.study.guest_sections import GuestSection
from cdspp.study.known_names import Faults, KnownNames, option_faults, unknown_of
from cdspp.study.settings import in_state, setting_of_value, without

__all__ = [
    "method_faults",
    "role_faults",
    "run_faults",
    "run_section_faults",
    "welcome_guests",
]

Config = Mapping[str, Any]
DIFFERENCES = ("source", "options", "labels", "overlap")
SAID = ("display_name", "kind", "seconds")
# What belongs to a method that is fitted here.
FITTED = ("class", "kind", "seconds", "options", "grid", "prior_file", "source_view")


def method_faults(known: KnownNames, where: str, method: Config) -> Faults:
    """Yield the faults of an entry of `methods`, but for its view."""
    name, found = method["id"], method_class(method["id"])
    yield from _bridge_use_faults(known, where, method)
    yield from option_faults(f"{where}.options", name, method.get("options", {}))
    grid = method.get("grid", {})
    if grid and found.transductive:
        yield (
            f"{where}.grid: method {name} labels the rows it is fitted on, and those "
            "that select are held out; remove the key."
        )
    for option, values in grid.items():
        for value in values:
            yield from option_faults(f"{where}.grid", name, {option: value})
    if "states" in method and not found.uses_source:
        yield f"{where}.states: method {name} uses no source; remove the key."
    states = method.get("states", [])
    yield from known.missing(f"{where}.states", "source_states", *states)
    yield from run_faults(known, where, method, ())


def _bridge_use_faults(known: KnownNames, where: str, method: Config) -> Faults:
    """Yield that a method uses no such part of a bridge, or needs one in vain."""
    usable = method_class(method["id"]).bridges
    chosen = method.get("bridges", usable)
    yield from unknown_of(f"{where}.bridges", chosen, usable)
    ran = (known.benchmarks.get(name, {}) for name in known.ran(method))
    lacks = not any({*chosen} & {*entry.get("bridge", {})} for entry in ran)
    if chosen and lacks and "benchmarks" not in known.sound.unnamed:
        yield (
            f"{where}.id: {method['id']} uses {' and '.join(sorted(chosen))}, which no "
            "benchmark gives it; add them to one: bridge: {...}."
        )


def role_faults(known: KnownNames) -> Faults:
    """Yield the faults of the methods that are named as reference and baseline."""
    if not known.methods.keys() <= set(available()):
        return  # these faults come first
    for role in (REFERENCE, BASELINE):
        name = known.config.get(role)
        if name is not None and name not in known.methods:
            yield from known.missing(role, "methods", name)
        elif role == REFERENCE and name and not method_class(name).uses_source:
            yield f"{role}: {name} uses no source; name a method that does."


def run_section_faults(known: KnownNames, guests: Sequence[GuestSection]) -> Faults:
    """Yield the faults of runs beside the main one."""
    for where, setting in known.entries("settings"):
        yield from _setting_faults(known, where, setting)
    for where, curve in known.entries("curves"):
        yield from _curve_faults(known, where, curve)
    for guest in guests:
        yield from guest.faults(known)
    names = _setting_names(known, guests)
    for name, count in Counter(names).items():
        if count > 1 and name == MAIN:
            yield f"settings: {MAIN} is the name of the main run, choose another."
        elif count > 1:
            sections = "settings, source_states, curves, deviations"
            yield f"{sections}: two runs would be called {name}."
    for where, method in known.entries("methods"):
        if "predictions" in method:
            yield from _foreign_faults(known, f"{where}.predictions", method, names)


def _setting_faults(known: KnownNames, where: str, setting: Config) -> Faults:
    if where not in known.sound.cut and not {*DIFFERENCES} & {*setting}:
        yield f"{where}: nothing differs; give one of {', '.join(DIFFERENCES)}."
    try:
        SourceState(**setting.get("source", {}))
    except ValueError as error:
        yield f"{where}.source: {error}"
    yield from _source_domain_faults(known, where, setting)
    yield from run_faults(known, where, setting, setting["methods"])
    for name in _runnable(known, setting["methods"]):
        yield from option_faults(f"{where}.options", name, setting.get("options", {}))
    for name in known.ran(setting) if "labels" in setting else ():
        if known.domains(name) is not None:
            entry, labels = known.benchmarks[name], setting["labels"]
            yield from known.size_faults(f"{where}.labels", entry, labels)


def _source_domain_faults(known: KnownNames, where: str, setting: Config) -> Faults:
    """Yield the domain of a setting's source that is no source of any of its tasks."""
    domain = setting.get("source", {}).get("domain")
    tasks = known.tasks(known.ran(setting))
    if domain is not None and tasks is not None:
        sources = role_domains(tasks)["source"]
        yield from unknown_of(f"{where}.source.domain", [domain], sources)


def _curve_faults(known: KnownNames, where: str, curve: Config) -> Faults:
    yield from run_faults(known, where, curve, curve["methods"])
    parameter, methods = curve["parameter"], _runnable(known, curve["methods"])
    counts = parameter in (LABELS, PAIRS)
    for value in curve["values"]:
        for name in methods:
            if not counts:
                yield from option_faults(f"{where}.values", name, {parameter: value})
            elif parameter == PAIRS and PAIRS not in method_class(name).bridges:
                yield f"{where}.methods: {name} uses no {PAIRS}; leave it out."
        if counts and (not isinstance(value, int) or value < 1):
            yield f"{where}.values: expected a number of {parameter}, got {value}."


def run_faults(
    known: KnownNames, where: str, entry: Config, methods: Collection[str]
) -> Faults:
    """Yield faults of the methods, benchmarks, tasks and trials that are named."""
    chosen, tasks = known.ran(entry), entry.get("tasks", [])
    yield from known.missing(f"{where}.methods", "methods", *methods)
    yield from known.missing(f"{where}.benchmarks", "benchmarks", *chosen)
    for name in methods if "benchmarks" not in known.sound.unnamed else ():
        runs_on = known.methods.get(name, {}).get("benchmarks", chosen)
        if not {*runs_on} & {*chosen}:
            told = f"runs on {', '.join(runs_on)} alone, the setting on"
            yield f"{where}.methods: {name} {told} {', '.join(chosen)}."
    there = known.tasks(chosen)
    if there is not None and not isinstance(tasks, int):
        yield from unknown_of(f"{where}.tasks", tasks, there)
    if (trials := entry.get("trials", 1)) > known.trials:
        more = f"{trials} is more than the study's {known.trials} trials"
        yield f"{where}.trials: {more}."


def _runnable(known: KnownNames, methods: Iterable[str]) -> list[str]:
    return [n for n in methods if n in known.methods and n in available()]


def _foreign_faults(
    known: KnownNames, where: str, method: Config, settings: Iterable[str]
) -> Faults:
    """Yield the names in a file of predictions that the study does not have."""
    # Not above: it needs pandas, and few studies have such a file.
    from cdspp.stages.foreign import foreign_places

    try:
        found = foreign_places(method["predictions"])
    except DataError as error:
        yield f"{where}: {error}"
        return
    ran = [name for name in known.ran(method) if name in known.benchmarks]
    asked = {"tasks": found["task"], "trials": max(found["trial"], default=1)}
    yield from run_faults(known, where, {**asked, "benchmarks": ran}, ())
    yield from known.missing(f"{where}.benchmark", "benchmarks", *found["benchmark"])
    yield from unknown_of(f"{where}.setting", found["setting"], settings)


def _setting_names(known: KnownNames, guests: Sequence[GuestSection]) -> list[str]:
    """Return the names of all settings, of main, curves and guests, too."""
    names = [MAIN, *known.names("settings"), *known.states]
    if any("grid" in entry for _, entry in known.entries("methods")):
        names += [in_state(SELECTED, state) for state in (REAL, *known.states)]
    if known.states and (tasks := known.tasks(known.benchmarks)):
        several = filter(several_sources, tasks)
        names += map(without, role_domains(several)["source"])
    names += [name for guest in guests for name in guest.setting_names(known)]
    names += [
        in_state(setting_of_value(curve["id"], value), state)
        for _, curve in known.entries("curves")
        for value in curve["values"]
        for state in (REAL, *curve.get("states", []))
    ]
    return names


def welcome_guests(config: Config) -> Faults:
    """Make the classes that a configuration names known as methods; yield the faults.

    Those at fault are not known afterwards, and neither are those of a study before.
    """
    guests: dict[str, dict[str, Any]] = {}
    set_guests({})
    for i, entry in enumerate(config.get("methods", [])):
        where, name = f"methods[{i}]", entry.get("id")
        made, own = "predictions" in entry, "class" in entry
        told = "stands beside a class; remove it, or name one"
        if made:
            told = "predictions made elsewhere are not fitted; remove it"
        for key in FITTED if made else () if own else SAID:
            if key in entry:
                yield f"{where}.{key}: {told}."
        if not (made or own):
            continue
        if name in available():
            taken = f"{name} is a method of cdspp or of a package"
            yield f"{where}.id: {taken}; choose another id."
        elif not made and (fault := _fault(name, entry)):
            yield f"{where}.class: {fault}"
        else:
            guests[name] = _said(entry)
    set_guests(guests)


def _said(entry: Config) -> dict[str, Any]:
    told = {key: entry[key] for key in SAID if key in entry}
    if "predictions" in entry:
        asked = bool(entry.get("states"))
        return told | {"place": "", "kind": PREDICTIONS, "states": asked}
    return told | {"place": entry["class"]}


def _fault(name: str, entry: Config) -> str:
    """Return the fault of an entry's class, in a sentence."""
    set_guests({name: _said(entry)})
    try:
        known = option_defaults(name)  # others are refused elsewhere
        given = entry.get("options", {})
        _fit_toy(name, {k: v for k, v in given.items() if k in known})
    except ConfigError as error:
        return str(error)
    except Exception as error:
        return (
            f"{entry['class']} stops on a toy problem ({type(error).__name__}: "
            f"{error}). Expected fit(X, y, *, source=), where y is -1 for a row "
            "without a label, and predict."
        )
    return ""


def _fit_toy(name: str, options: Config) -> None:
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(3), 6)
    X_source = rng.standard_normal((18, 4)) + 5 * np.eye(3, 4)[classes]
    X = rng.standard_normal((18, 5)) + 5 * np.eye(3, 5)[classes]
    y = np.where(np.arange(18) % 2, classes, UNLABELLED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name, **{**seed_option(name, 0), **options})
        model.fit(X, y, source=SourceDomain(X_source, classes))
