"""Plug-ins of the report: they add settings, checks, rules and sections of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.core.discovery import load_class, plugin_paths

if TYPE_CHECKING:
    from cdspp.study.known_names import KnownNames
    from cdspp.study.model import Benchmark, Setting, Study

OFFERED = "cdspp.sections"  # group of entry points of installed packages
BUILT_IN = ("cdspp.paper.plugin:Paper",)


class ReportPlugin:
    """Base class of the plug-ins of the report; one object of each serves a study.

    Parameters
    ----------
    resources : Path
        Folder of the files that the project ships for studies.

    Attributes
    ----------
    name : str
        Of its settings, and of its part of a plan.
    rules : str
        File of rules, absolute, that make what its items without a maker name; empty
        without such. What `workflow/rules/common.smk` defines is at hand in it.
    """

    name: str
    rules: str = ""

    def __init__(self, resources: Path) -> None:
        self.resources = resources

    def faults(self, known: KnownNames) -> Iterable[str]:
        """Return the faults of its keys, a line each."""
        return ()

    def settings(
        self, config: Mapping[str, Any], benchmarks: Mapping[str, Benchmark]
    ) -> Iterable[Setting]:
        """Return the settings that it adds; they carry its name as their `plugin`."""
        return ()

    def plan(
        self, study: Study, config: Mapping[str, Any], benchmark: str
    ) -> dict[str, Any]:
        """Return the needs of its tables for a benchmark, as JSON could hold them."""
        return {}

    @staticmethod
    def parts(outline: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the outline of the page with its own parts and items."""
        return outline


@cache
def plugin_classes() -> tuple[type[ReportPlugin], ...]:
    """Return the plug-ins of the project, then those of installed packages."""
    return tuple(map(load_class, (*BUILT_IN, *plugin_paths(OFFERED).values())))
