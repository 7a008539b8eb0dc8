"""Pages of the public names: those of `cdspp`, then module by module."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from rst import heading

import cdspp
from cdspp.methods import estimators

__all__ = ["pages"]

# A title, and the modules that a page shows.
METHODS = (
    "cdspp.methods",
    "cdspp.methods.base",
    "cdspp.methods.problem",
    "cdspp.methods.cost",
    "cdspp.methods.shared.common_subspace",
    "cdspp.methods.networks.networks",
    "cdspp.methods.labels",
    "cdspp.methods.external",
)
ANALYSIS = (
    "cdspp.analysis.compare",
    "cdspp.analysis.comparison",
    "cdspp.analysis.vote",
    "cdspp.analysis.pool",
    "cdspp.analysis.transfer",
    "cdspp.analysis.verdicts",
)
OTHERS = (
    "cdspp.core.errors",
    "cdspp.core.scaling",
    "cdspp.datasets",
    "cdspp.datasets.base",
    "cdspp.datasets.folder",
    "cdspp.datasets.tables",
    "cdspp.datasets.table_rows",
    "cdspp.features",
    "cdspp.features.base",
    "cdspp.stages.source_states",
    "cdspp.study.config",
    "cdspp.report.results",
)
# Of a module that holds more than users need.
ONLY = {
    "cdspp.datasets.tables": ["TablesDataset"],
    "cdspp.methods.networks.networks": ["NetworkClassifier"],
    "cdspp.methods.shared.common_subspace": [
        "CommonSpaceMethod",
        "SubspaceClassifier",
        "SubspaceMethod",
        "SubspaceRecogniser",
        "components_of",
        "expand_classes",
        "one_or_list",
    ],
}
TOP = """\
The names that ``from cdspp import ...`` offers. The classes of the methods have
:doc:`pages of their own </generated/methods/index>`.
"""
WRITERS = """\
The contract of a method, and the parts that several methods share.
"""
READERS = """\
How the numbers and verdicts of a report are computed.
"""
BUILDERS = """\
For new data sets and extractors, and for the handling of errors.
"""


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each page."""
    yield "api/cdspp.rst", _top()
    yield "api/methods.rst", _modules("What methods share", WRITERS, METHODS)
    yield "api/analysis.rst", _modules("Analysis", READERS, ANALYSIS)
    yield "api/others.rst", _modules("Data, studies, errors", BUILDERS, OTHERS)


def _public() -> list[str]:
    others = {"__version__", *estimators()}  # methods have pages of their own
    return [name for name in cdspp.__all__ if name not in others]


def _top() -> str:
    parts = [heading("Public names"), ".. py:module:: cdspp\n", TOP]
    for name in _public():
        kind = "autoclass" if isinstance(getattr(cdspp, name), type) else "autofunction"
        members = "   :members:\n" if kind == "autoclass" else ""
        parts.append(f".. {kind}:: cdspp.{name}\n{members}")
    return "\n".join(parts)


def _modules(title: str, readers: str, modules: Sequence[str]) -> str:
    return "\n".join([heading(title), readers, *map(_module, modules)])


def _module(name: str) -> str:
    """Return a section of a module, without what is shown elsewhere."""
    elsewhere = {id(getattr(cdspp, other)) for other in (*_public(), *estimators())}
    module = importlib.import_module(name)
    listed = ONLY.get(name, getattr(module, "__all__", ()))
    shown = listed or [member for member in vars(module) if not member.startswith("_")]
    without_module = name if listed else ""  # numbers and text
    here = [
        member
        for member in shown
        if id(getattr(module, member)) not in elsewhere
        and getattr(getattr(module, member), "__module__", without_module) == name
    ]
    return (
        f"{heading(name, '-')}\n.. automodule:: {name}\n"
        f"   :members: {', '.join(here)}\n   :ignore-module-all:\n"
    )
