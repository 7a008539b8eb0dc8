"""Checks of what runs beside the main run, and of predictions made elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.names import LABELS, MAIN, REAL, SELECTED
from cdspp.methods import available, method_class
from cdspp.methods.bridge import PAIRS
from cdspp.stages.source_states import SourceState
from cdspp.study.fitting import option_faults, size_faults
from cdspp.study.guest_sections import GuestSection
from cdspp.study.known_names import KnownNames, unknown
from cdspp.study.settings import in_state, setting_of_value

__all__ = ["run_faults", "run_section_faults"]

Config = Mapping[str, Any]
DIFFERENCES = ("source", "options", "labels", "overlap")


def run_section_faults(
    known: KnownNames, guests: Sequence[GuestSection]
) -> Iterator[str]:
    """Yield the faults of what differs from the main run.

    Parameters
    ----------
    known : KnownNames
        The configuration by its names.
    guests : sequence of GuestSection
        Guest sections, which check their own keys.
    """
    for i, setting in known.entries("settings"):
        yield from _setting_faults(known, i, setting)
    for i, curve in known.entries("curves"):
        yield from _curve_faults(known, f"curves[{i}]", curve)
    for guest in guests:
        yield from guest.faults(known)
    names = _setting_names(known, guests)
    yield from _name_faults(names)
    for i, method in known.entries("methods"):
        if "predictions" in method:
            yield from _foreign_faults(
                known, f"methods[{i}].predictions", method, names
            )


def _setting_faults(known: KnownNames, place: int, setting: Config) -> Iterator[str]:
    where = f"settings[{place}]"
    whole = ("settings", place) not in known.sound.cut
    if whole and not set(DIFFERENCES) & set(setting):
        differences = ", ".join(DIFFERENCES)
        yield f"{where}: nothing differs; give one of {differences}."
    try:
        SourceState(**setting.get("source", {}))
    except ValueError as error:
        yield f"{where}.source: {error}"
    yield from run_faults(known, where, setting, setting["methods"])
    for name in _runnable(known, setting["methods"]):
        yield from option_faults(f"{where}.options", name, setting.get("options", {}))
    if "labels" in setting:
        yield from _label_faults(known, f"{where}.labels", setting)


def _label_faults(known: KnownNames, where: str, setting: Config) -> Iterator[str]:
    for name in setting.get("benchmarks", known.benchmarks):
        if (domains := known.domains(name)) is not None:
            benchmark = known.benchmarks[name]
            yield from size_faults(where, benchmark, setting["labels"], domains)


def _curve_faults(known: KnownNames, where: str, curve: Config) -> Iterator[str]:
    yield from run_faults(known, where, curve, curve["methods"])
    parameter = curve["parameter"]
    for value in curve["values"]:
        if parameter == PAIRS:
            yield from _pair_faults(known, where, curve, value)
        elif parameter != LABELS:
            for name in _runnable(known, curve["methods"]):
                yield from option_faults(f"{where}.values", name, {parameter: value})
        elif not isinstance(value, int) or value < 1:
            yield f"{where}.values: expected a number of labels, got {value}."


def _pair_faults(
    known: KnownNames, where: str, curve: Config, value: Any
) -> Iterator[str]:
    """Yield that a curve asks for pairs that methods do not use, or that are not."""
    for name in _runnable(known, curve["methods"]):
        if PAIRS not in method_class(name).bridges:
            yield f"{where}.methods: {name} uses no {PAIRS}; leave it out."
    if not isinstance(value, int) or value < 1:
        yield f"{where}.values: expected a number of {PAIRS}, got {value}."


def run_faults(
    known: KnownNames, where: str, entry: Config, methods: Iterable[str]
) -> Iterator[str]:
    """Yield faults of the methods, benchmarks, tasks and trials that are named."""
    chosen = entry.get("benchmarks", list(known.benchmarks))
    for name in methods:
        yield from known.missing(f"{where}.methods", "methods", name)
    for name in chosen:
        yield from known.missing(f"{where}.benchmarks", "benchmarks", name)
    yield from _idle_faults(known, f"{where}.methods", methods, chosen)
    yield from known.task_faults(where, entry, chosen)
    yield from known.trial_faults(where, entry)


def _runnable(known: KnownNames, methods: Iterable[str]) -> list[str]:
    return [n for n in methods if n in known.methods and n in available()]


def _idle_faults(
    known: KnownNames, where: str, methods: Iterable[str], benchmarks: Iterable[str]
) -> Iterator[str]:
    """Yield the methods that run on none of the benchmarks."""
    if "benchmarks" in known.sound.unnamed:
        return
    for name in methods:
        runs_on = known.methods.get(name, {}).get("benchmarks", benchmarks)
        if not set(runs_on) & set(benchmarks):
            yield (
                f"{where}: {name} runs on {', '.join(runs_on)} alone, the setting "
                f"on {', '.join(benchmarks)}."
            )


def _foreign_faults(
    known: KnownNames, where: str, method: Config, settings: Iterable[str]
) -> Iterator[str]:
    """Yield of what a file of predictions tells that the study does not have."""
    # Not above: it needs pandas, and few studies have such a file.
    from cdspp.stages.foreign import foreign_places

    try:
        found = foreign_places(method["predictions"])
    except DataError as error:
        yield f"{where}: {error}"
        return
    ran = method.get("benchmarks", known.benchmarks)
    yield from known.task_faults(where, {"tasks": found["task"]}, ran)
    yield from known.trial_faults(where, {"trials": max(found["trial"], default=1)})
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


def _name_faults(names: Iterable[str]) -> Iterator[str]:
    """Yield names that two settings would have."""
    for name, count in Counter(names).items():
        if count > 1 and name == MAIN:
            yield f"settings: {MAIN} is the name of the main run, choose another."
        elif count > 1:
            sections = "settings, source_states, curves, deviations"
            yield f"{sections}: two runs would be called {name}."
