"""Whether options fit a method, and numbers of labels the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.methods import method_class, option_defaults
from cdspp.study.settings import task_names

__all__ = ["option_faults", "size_faults"]

Config = Mapping[str, Any]
Sizes = Mapping[str, Mapping[str, int]]


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
    domains: Sizes,
) -> Iterator[str]:
    """Yield what the domains of a benchmark are too small for."""
    counts = {**benchmark["labels"], **labels}
    tasks = task_names(benchmark, domains)
    yield from _target_faults(where, counts, tasks, domains)
    if "source" in labels:
        yield from _source_faults(where, labels["source"], tasks, domains)


def _target_faults(
    where: str, counts: Config, tasks: Iterable[str], domains: Sizes
) -> Iterator[str]:
    """Yield the target domains in which a class would keep no test sample."""
    asked, more = counts["target"], counts.get("unlabelled", 1)
    for domain in dict.fromkeys(task.split("_")[1] for task in tasks):
        sizes = domains.get(domain, {})
        small = [f"{c} ({size})" for c, size in sizes.items() if size < asked + more]
        if small:
            left = "no test sample" if more == 1 else f"fewer than {more} others"
            yield (
                f"{where}.target: {asked} labelled samples per class leave {left} "
                f"in domain {domain}, class {', '.join(small)}."
            )


def _source_faults(
    where: str, asked: int, tasks: Iterable[str], domains: Sizes
) -> Iterator[str]:
    """Yield that no class of any source domain has as many samples as are asked."""
    sizes = {
        (size, label, domain)
        for domain in dict.fromkeys(task.split("_")[0] for task in tasks)
        for label, size in domains.get(domain, {}).items()
    }
    largest, label, domain = max(sizes, default=(asked, "", ""))
    if largest < asked:
        yield (
            f"{where}.source: {asked} labelled samples per class are more than any "
            f"class of the source domains has: the largest, {label} in {domain}, has "
            f"{largest}. Ask for {largest} or fewer; a smaller class gives all it has."
        )
