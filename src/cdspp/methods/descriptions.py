"""Descriptions of the methods: entries in a TOML file next to the module of the class.

Reading them imports neither the classes nor NumPy. `HeterogeneousClassifier` gives each
class the keys that are attributes of methods, so that no class repeats them.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from cdspp.core.discovery import check_options
from cdspp.core.errors import ConfigError

__all__ = [
    "ATTRIBUTES",
    "Description",
    "cites_of",
    "description_of_class",
    "looks",
    "read_descriptions",
]

# Keys that affect a fit, and are therefore part of its recipe.
OF_FITS = (
    *("accepts_sparse", "bridges", "centres_rows", "needs_torch"),
    *("several_sources", "supervised", "transductive", "uses_source"),
)
# Keys that are attributes of the class; external classes have them in their body.
ATTRIBUTES = (
    *("identifier", "display_name", "without_source_of"),
    *("needs_bridge", "needs_pot", *OF_FITS),
)


@dataclass(frozen=True)
class Description:
    """One method, as its file describes it; the key ``class`` is `class_name` here.

    `tests` has what the contract tests need where the defaults do not suit the method:
    the options `quick` (a fit of milliseconds), `one_fit` (as quick as possible),
    `able` and `enough` (they learn clear classes), `seeded` (they use a seed), values
    `out_of_range` by option, `refuses` (edge cases by the error's text), `problems`
    (spreads, shapes and tolerances for `depends_on`), `shown` (a problem where a class
    of the source only is predicted), `few_axes` and `iterations`.
    """

    identifier: str  #: Name in studies and commands: the heading of the entry.
    module: str  #: Module of the class: the place of the file.
    class_name: str
    display_name: str  #: Name in tables and figures.
    #: Parts of the source that affect the labels: nothing, rows, or rows and labels.
    reads_of_source: str = "rows and labels"
    supervised: bool = False  #: Learns from labelled rows only.
    transductive: bool = False  #: Labels only rows of the fit.
    several_sources: bool = False  #: Accepts a list as `source`.
    accepts_sparse: bool = False  #: Accepts rows in SciPy's sparse formats, as CSR.
    centres_rows: bool = False  #: Centres rows before it compares their directions.
    bridges: frozenset[str] = frozenset()  #: Shared information that it can use.
    needs_bridge: bool = False
    needs_torch: bool = False
    needs_pot: bool = False
    keeps_rows: bool = False  #: Its models hold rows of the fit.
    without_source_of: str = ""  #: Identifier of its form with a source.
    #: A class without labelled target rows: refused, never, or may be predicted.
    class_of_source_only: str = ""
    #: A class without source rows: refused, learned, or lost.
    class_of_target_only: str = ""
    favours_large_class: bool = False  #: Predicts the largest source class too often.
    colour: str = ""
    marker: str = ""
    cites: tuple[str, ...] = ()  #: Keys in ``resources/references.bib``.
    #: Changes that carry no information but affect the labels, by the reason: of
    #: order, names, rotation, lengths, scale, extremes, padding (test_invariances.py).
    depends_on: Mapping[str, list[str]] = field(default_factory=dict)
    #: What it fails to learn, by the reason: of clear classes, classes of one domain,
    #: no unlabelled rows (test_learning.py).
    cannot_learn: Mapping[str, list[str]] = field(default_factory=dict)
    #: Options and problems for the contract tests.
    tests: Mapping[str, Any] = field(default_factory=dict)

    @property
    def uses_source(self) -> bool:
        """True if the labels depend on the source."""
        return self.reads_of_source != "nothing"

    @property
    def fit_text(self) -> str:
        """The keys that affect a fit, with their values, as text for its recipe."""
        values = {name: getattr(self, name) for name in OF_FITS}
        return json.dumps(values | {"bridges": sorted(self.bridges)})


@cache
def read_descriptions() -> Mapping[str, Description]:
    """Return the description of each built-in method by identifier, sorted.

    ConfigError names an unknown key, and an identifier that two files have.
    """
    found: dict[str, Description] = {}
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.toml")):
        place = path.relative_to(folder).with_suffix("").parts
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        for identifier, entry in entries.items():
            if identifier in found:
                raise ConfigError(f"{path}: another file has the method {identifier}.")
            module = ".".join((__package__, *place))
            found[identifier] = _read_entry(path, identifier, module, entry)
    return dict(sorted(found.items()))


def _read_entry(
    path: Path, identifier: str, module: str, entry: Mapping[str, Any]
) -> Description:
    known = {each.name for each in fields(Description)} - {"identifier", "module"}
    keys = [*(known - {"class_name"}), "class"]
    owner = f"{path}: the method {identifier}"
    check_options(owner, entry, sorted(keys))
    if missing := [key for key in ("class", "display_name") if key not in entry]:
        raise ConfigError(f"{owner} has no {missing[0]}. Add this key.")
    values = {key: value for key, value in entry.items() if key != "class"}
    values["bridges"] = frozenset(entry.get("bridges", ()))
    values["cites"] = tuple(entry.get("cites", ()))
    return Description(identifier, module, entry["class"], **values)


def cites_of(name: str) -> tuple[str, ...]:
    """Return the keys of the publications of a method, none if it is external."""
    return found.cites if (found := read_descriptions().get(name)) else ()


def looks() -> Mapping[str, tuple[str, str, bool]]:
    """Return colour, marker and fill of each method that has a colour, for figures."""
    return {
        name: (each.colour, each.marker, not each.supervised)
        for name, each in read_descriptions().items()
        if each.colour
    }


@cache
def _by_class() -> Mapping[tuple[str, str], Description]:
    return {
        (each.module, each.class_name): each for each in read_descriptions().values()
    }


def description_of_class(cls: type) -> Description | None:
    """Return the description of a class; None if it is no built-in method."""
    return _by_class().get((cls.__module__, cls.__name__))
