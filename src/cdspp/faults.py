"""Sentences about faults of a configuration that several checks have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cdspp.discovery import did_you_mean
from cdspp.methods import method_class, option_defaults
from cdspp.settings import task_names

__all__ = ["option_faults", "size_faults", "unknown"]

Config = Mapping[str, Any]


def unknown(where: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which one may be meant."""
    known = list(known)
    return f"{where}: unknown name {name!r}{did_you_mean(name, known)}"


def option_faults(where: str, method: str, options: Config) -> Iterator[str]:
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


def size_faults(
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
