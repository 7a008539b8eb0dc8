"""A page per method with its costs, and an overview, from the classes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from gallery_pages import examples
from known_answers import known_answer
from rst import heading, list_table

from benchmarks.measure import SIZES, describe_size
from cdspp.methods import available, method_class, needs
from cdspp.methods.base import ConfidentClassifier, HeterogeneousClassifier
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.methods.cost import fit_cost
from cdspp.methods.networks.networks import NetworkClassifier
from cdspp.methods.shared.common_subspace import CommonSpaceMethod, SubspaceMethod

__all__ = ["pages"]

FORMULA = ".. math::"
BRIDGES = {SHARED: "shared columns", PAIRS: "paired rows"}
PACKAGES = ("torch", "POT")
OVERVIEW_SIZE = "office-caltech"
OVERVIEW = """\
The cheapest method is first, by the seconds that the cost model forecasts for one task
of Office-Caltech (:doc:`/guide/costs`). :doc:`/vocabulary` explains the words.

* **Labels**: of *both* domains, or of the *target* only. Every method needs some
  labelled target rows, at best of every class.
* **Shared columns, paired rows**: *needed*, or *used* where the source has them
  (:doc:`/guide/two-tables`). All other methods ignore these.
* **Package**: an optional one, ``pip install 'cdspp[networks]'`` for torch,
  ``'cdspp[transport]'`` for POT.
* **Unlabelled**: unlabelled rows take part in the fit; a supervised method ignores
  them.
* **New rows**: `predict` takes rows that were not in `fit`. A transductive method
  labels only the rows of the fit, so it cannot be cross-validated.
* **Confidence**: the method has `predict_proba`.
* **Space**: `transform` and `transform_source` bring rows of both domains into one.
* **Seconds**: that forecast.
"""
# The class whose page tells of each.
FUNCTIONS = {
    **dict.fromkeys(("fit", "predict"), "base.HeterogeneousClassifier"),
    "predict_proba": "base.ConfidentClassifier",
    **dict.fromkeys(
        ("transform", "transform_source"), "shared.common_subspace.CommonSpaceMethod"
    ),
}

# The classes whose pages list attributes that many methods have.
ATTRIBUTES = {
    "base.HeterogeneousClassifier": HeterogeneousClassifier,
    "shared.common_subspace.SubspaceMethod": SubspaceMethod,
    "networks.networks.NetworkClassifier": NetworkClassifier,
}


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each page."""
    names = sorted(available(), key=lambda name: _cost(name, OVERVIEW_SIZE)[0])
    for name in names:
        yield f"methods/{name}.rst", _page(root, name)
    yield "methods/index.rst", _overview(names)


def _cost(name: str, size: str) -> tuple[float, float]:
    seconds, megabytes = fit_cost(method_class(name), SIZES[size])
    return seconds, megabytes


def _short(seconds: float) -> str:
    digits = 2 if seconds < 1 else 1 if seconds < 100 else 0
    return f"{seconds:.{digits}f}"


def _yes(value: bool) -> str:
    return "yes" if value else "–"


def _overview(names: list[str]) -> str:
    head = "Method|Identifier|Labels|Shared columns|Paired rows|Package|Unlabelled"
    rows = [[*head.split("|"), "New rows", "Confidence", "Space", "Seconds"]]
    for name in names:
        found, needed = method_class(name), needs(name)
        cells = [f":doc:`{found.display_name} <{name}>`", f"``{name}``"]
        cells.append("both" if "labels" in needed else "target")
        for part, words in BRIDGES.items():
            use = "needed" if words in needed else "used"
            cells.append(use if part in found.bridges else "–")
        cells.append(next((each for each in PACKAGES if each in needed), "–"))
        facts = [not found.supervised, not found.transductive]
        facts += [issubclass(found, ConfidentClassifier)]
        facts += [issubclass(found, CommonSpaceMethod)]
        cells += [_yes(fact) for fact in facts]
        rows.append([*cells, _short(_cost(name, OVERVIEW_SIZE)[0])])
    tree = "\n".join(f"   {name}" for name in sorted(names))
    return (
        f"{heading('Methods')}\n{OVERVIEW}\n{list_table(rows)}\n"
        f".. toctree::\n   :hidden:\n\n{tree}\n"
    )


def _page(root: Path, name: str) -> str:
    """Return the page of a method: facts, picture, docstring, costs, known answer."""
    found = method_class(name)
    answer = known_answer(root, name)
    return "\n".join(
        [
            _facts(name, found),
            _picture(root, name),
            _inherited_objective(found),
            f".. autoclass:: cdspp.{found.__name__}\n",
            *(".. rubric:: Forecast of one fit\n", _forecast(name)),
            *((".. rubric:: Known answer\n", f"{answer}\n") if answer else ()),
        ]
    )


def _facts(name: str, found: type) -> str:
    said = [f"needs {', '.join(needs(name))}"]
    said += ["supervised" if found.supervised else "uses unlabelled rows"]
    if not found.uses_source:
        said.append("never sees the source")
    if found.transductive:
        said.append("transductive")
    if not found.needs_bridge:
        said += [f"uses {BRIDGES[kind]}" for kind in BRIDGES if kind in found.bridges]
    offered = [key for key in FUNCTIONS if hasattr(found(), key)]
    links = ", ".join(
        f":py:meth:`{key} <cdspp.methods.{FUNCTIONS[key]}.{key}>`" for key in offered
    )
    bases = [
        f":py:class:`~cdspp.methods.{place}`"
        for place, base in ATTRIBUTES.items()
        if issubclass(found, base)
    ]
    return (
        f"{heading(found.display_name)}\n"
        f"| In studies and commands: ``{name}``\n"
        f"| {', '.join(said).capitalize()}\n"
        f"| Offers {links}\n"
        f"| Attributes after `fit`: those of {', '.join(bases)}, and any listed below\n"
    )


def _picture(root: Path, name: str) -> str:
    """Return the picture of the example in the gallery that has the method's name."""
    shown = {example.name.replace("_", "-"): example for example in examples(root)}
    if (example := shown.get(name)) is None:
        return ""
    return (
        f".. figure:: /generated/gallery/{example.name}.png\n"
        f"   :alt: {example.picture}\n\n"
        f"   {example.sentence} {example.picture}\n"
        f"   The script: :doc:`/generated/gallery/{example.name}`.\n"
    )


def _forecast(name: str) -> str:
    """Return what the cost model says of a fit at each size."""
    rows = [["Size", "Seconds on one thread", "Peak memory in MB"]]
    for size in SIZES.values():
        seconds, megabytes = _cost(name, size.name)
        rows.append([describe_size(size), _short(seconds), f"{megabytes:.0f}"])
    return list_table(rows, classes="prose")


def _inherited_objective(found: type) -> str:
    """Return the formulas of the method that one without formulas builds on."""
    if FORMULA in (found.__doc__ or ""):
        return ""
    lines = (c for c in found.__mro__ if FORMULA in (c.__dict__.get("__doc__") or ""))
    if (origin := next(lines, None)) is None:
        return ""
    told = inspect.cleandoc(origin.__doc__ or "")
    text = told.partition("\nParameters\n---")[0].partition("\n\n")[2]
    shown = origin.display_name  # type: ignore[attr-defined]
    parts = [f".. rubric:: The objective, that of {shown}\n", f"{text}\n"]
    if "\nReferences\n---" not in inspect.cleandoc(found.__doc__ or ""):
        parts += _paper(told)
    return "\n".join(parts)


def _paper(told: str) -> list[str]:
    """Return the references of a docstring, as a paragraph."""
    found = re.search(r"\nReferences\n-+\n(.*?)(?=\n\n\w|\Z)", told, re.S)
    if found is None:
        return []
    words = " ".join(re.sub(r"\.\. \[\d+\] ", "", found[1]).split())
    return [".. rubric:: Reference\n", f"{words}\n"]
