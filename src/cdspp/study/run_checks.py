"""Checks of what runs: methods, what differs from the main run, foreign predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.names import BASELINE, LABELS, MAIN, REAL, REFERENCE, SELECTED
from cdspp.methods import available, method_class
from cdspp.methods.bridge import PAIRS
from cdspp.stages.source_states import SourceState
from cdspp.study.guest_sections import GuestSection
from cdspp.study.known_names import KnownNames, option_faults, unknown
from cdspp.study.settings import in_state, setting_of_value

__all__ = ["method_faults", "role_faults", "run_faults", "run_section_faults"]

Config = Mapping[str, Any]
DIFFERENCES = ("source", "options", "labels", "overlap")


def method_faults(known: KnownNames, where: str, method: Config) -> Iterator[str]:
    """Yield what is wrong with an entry of `methods`, but for its view."""
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
    yield from known.trial_faults(where, method.get("trials", 1))
    for benchmark in method.get("benchmarks", []):
        yield from known.missing(f"{where}.benchmarks", "benchmarks", benchmark)
    if "states" in method and not found.uses_source:
        yield f"{where}.states: method {name} uses no source; remove the key."
    for state in method.get("states", []):
        yield from known.missing(f"{where}.states", "source_states", state)
    yield from known.task_faults(where, method.get("tasks", []), known.ran(method))


def _bridge_use_faults(known: KnownNames, where: str, method: Config) -> Iterator[str]:
    """Yield that a method uses no such part of a bridge, or needs one in vain."""
    usable = method_class(method["id"]).bridges
    chosen = method.get("bridges", usable)
    for kind in (kind for kind in chosen if kind not in usable):
        yield unknown(f"{where}.bridges", kind, usable)
    ran = (known.benchmarks.get(name, {}) for name in known.ran(method))
    lacks = not any({*chosen} & {*entry.get("bridge", {})} for entry in ran)
    if chosen and lacks and "benchmarks" not in known.sound.unnamed:
        yield (
            f"{where}.id: {method['id']} uses {' and '.join(sorted(chosen))}, which no "
            "benchmark gives it; add them to one: bridge: {...}."
        )


def role_faults(known: KnownNames) -> Iterator[str]:
    """Yield what is wrong with the methods that are named as reference and baseline."""
    if not known.methods.keys() <= set(available()):
        return  # these faults come first
    for role in (REFERENCE, BASELINE):
        name = known.config.get(role)
        if name is not None and name not in known.methods:
            yield from known.missing(role, "methods", name)
        elif role == REFERENCE and name and not method_class(name).uses_source:
            yield f"{role}: {name} uses no source; name a method that does."


def run_section_faults(
    known: KnownNames, guests: Sequence[GuestSection]
) -> Iterator[str]:
    """Yield the faults of what differs from the main run."""
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


def _setting_faults(known: KnownNames, where: str, setting: Config) -> Iterator[str]:
    if where not in known.sound.cut and not {*DIFFERENCES} & {*setting}:
        yield f"{where}: nothing differs; give one of {', '.join(DIFFERENCES)}."
    try:
        SourceState(**setting.get("source", {}))
    except ValueError as error:
        yield f"{where}.source: {error}"
    yield from run_faults(known, where, setting, setting["methods"])
    for name in _runnable(known, setting["methods"]):
        yield from option_faults(f"{where}.options", name, setting.get("options", {}))
    for name in known.ran(setting) if "labels" in setting else ():
        if known.domains(name) is not None:
            entry, labels = known.benchmarks[name], setting["labels"]
            yield from known.size_faults(f"{where}.labels", entry, labels)


def _curve_faults(known: KnownNames, where: str, curve: Config) -> Iterator[str]:
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
) -> Iterator[str]:
    """Yield faults of the methods, benchmarks, tasks and trials that are named."""
    chosen = known.ran(entry)
    for name in methods:
        yield from known.missing(f"{where}.methods", "methods", name)
    for name in chosen:
        yield from known.missing(f"{where}.benchmarks", "benchmarks", name)
    for name in methods if "benchmarks" not in known.sound.unnamed else ():
        runs_on = known.methods.get(name, {}).get("benchmarks", chosen)
        if not {*runs_on} & {*chosen}:
            told = f"runs on {', '.join(runs_on)} alone, the setting on"
            yield f"{where}.methods: {name} {told} {', '.join(chosen)}."
    yield from known.task_faults(where, entry.get("tasks", []), chosen)
    yield from known.trial_faults(where, entry.get("trials", 1))


def _runnable(known: KnownNames, methods: Iterable[str]) -> list[str]:
    return [n for n in methods if n in known.methods and n in available()]


def _foreign_faults(
    known: KnownNames, where: str, method: Config, settings: Iterable[str]
) -> Iterator[str]:
    """Yield the names in a file of predictions that the study does not have."""
    # Not above: it needs pandas, and few studies have such a file.
    from cdspp.stages.foreign import foreign_places

    try:
        found = foreign_places(method["predictions"])
    except DataError as error:
        yield f"{where}: {error}"
        return
    yield from known.task_faults(where, found["task"], known.ran(method))
    yield from known.trial_faults(where, max(found["trial"], default=1))
    for name in found["benchmark"]:
        yield from known.missing(f"{where}.benchmark", "benchmarks", name)
    for name in found["setting"]:
        if name not in settings:
            yield unknown(f"{where}.setting", name, settings)


def _setting_names(known: KnownNames, guests: Sequence[GuestSection]) -> list[str]:
    """Return the names of all settings, of main, curves and guests, too."""
    names = [MAIN, *known.names("settings"), *known.states]
    if any("grid" in entry for _, entry in known.entries("methods")):
        names += [in_state(SELECTED, state) for state in (REAL, *known.states)]
    names += [name for guest in guests for name in guest.setting_names(known)]
    names += [
        in_state(setting_of_value(curve["id"], value), state)
        for _, curve in known.entries("curves")
        for value in curve["values"]
        for state in (REAL, *curve.get("states", []))
    ]
    return names
