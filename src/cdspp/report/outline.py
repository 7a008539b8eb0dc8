"""The tables and figures of a study, in the order of the page: one line each.

What the workflow makes and what the page shows both follow from this list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cdspp.core.names import LABELS
from cdspp.study.plan import BenchmarkPlan

__all__ = ["OUTLINE", "Item", "Part", "item_names", "outline_names", "part_plans"]

TABLES, FIGURES, PAPER, AUDIT = "Tables", "Figures", "The paper", "Audit"
TABLE, FIGURE = "table", "figure"


@dataclass(frozen=True)
class Item:
    """A table or a figure.

    Attributes
    ----------
    kind : {'table', 'figure'}
        Which of the two.
    name : str
        Stem of its files, with ``{benchmark}`` or ``{curve}`` for each of these.
    needs : str
        What a plan must have for it: a showcase, a curve over labels ("labels") or
        over an option ("sensitivity").
    fold : str
        Heading under which the page folds it away.
    """

    kind: str
    name: str
    needs: str = ""
    fold: str = ""


@dataclass(frozen=True)
class Part:
    """A section of the page: anchor, heading, its group in the contents, its items.

    An anchor with ``{benchmark}`` makes a section for each benchmark. The template of
    its prose is named after it, where there is one.
    """

    anchor: str
    heading: str
    group: str = ""
    items: tuple[Item, ...] = ()


OUTLINE: tuple[Part, ...] = (
    Part("chart", "With the source, and without", "", (Item(FIGURE, "source-help"),)),
    Part("overview", "All methods at a glance", TABLES, (Item(TABLE, "overview"),)),
    Part("gains", "Was the source worth it?", TABLES, (Item(TABLE, "gains"),)),
    Part(
        "tables-{benchmark}",
        "{title}: tables",
        TABLES,
        (
            Item(TABLE, "contents_{benchmark}"),
            Item(TABLE, "accuracy_{benchmark}"),
            Item(TABLE, "source-help_{benchmark}"),
            Item(TABLE, "class-accuracy_{benchmark}", fold="Mean accuracy per class"),
            Item(TABLE, "iterations_{benchmark}", fold="Accuracy by iteration"),
            Item(
                TABLE,
                "curve-{curve}_{benchmark}",
                fold="Accuracy against labels and parameters",
            ),
        ),
    ),
    Part("times", "What it costs", TABLES, (Item(TABLE, "times"),)),
    Part("printed", "Printed and reproduced", TABLES, (Item(TABLE, "printed"),)),
    Part(
        "figures-{benchmark}",
        "{title}: figures",
        FIGURES,
        (
            Item(FIGURE, "methods_{benchmark}"),
            Item(FIGURE, "labels_{benchmark}", needs="labels"),
            Item(FIGURE, "sensitivity_{benchmark}", needs="sensitivity"),
            Item(FIGURE, "iterations_{benchmark}"),
            Item(FIGURE, "subspace_{benchmark}", needs="showcase"),
            Item(FIGURE, "confusion_{benchmark}", needs="showcase"),
        ),
    ),
    Part("claims", "What the paper claims", PAPER, (Item(TABLE, "claims"),)),
    Part(
        "deviations",
        "Where paper and released code differ",
        PAPER,
        (Item(TABLE, "deviations"),),
    ),
    Part(
        "overlap", "Samples on both sides", AUDIT, (Item(TABLE, "overlap_{benchmark}"),)
    ),
    Part("graph", "Where the test labels go", AUDIT),
    Part("numbers", "How the numbers are made", AUDIT),
    Part("data", "Data, sources, licences", AUDIT),
    Part("run", "What was run", AUDIT),
    Part("rerun", "How to run it again"),
)


def outline_names(kind: str, plans: Sequence[BenchmarkPlan]) -> list[str]:
    """Return the names of all tables or all figures of a study, in order."""
    return [
        name
        for part in OUTLINE
        for item in part.items
        if item.kind == kind
        for name in item_names(item, plans)
    ]


def item_names(item: Item, plans: Sequence[BenchmarkPlan]) -> list[str]:
    """Return the names that an item has for some benchmarks, each once."""
    names = [name for plan in plans for name in _names(item, plan)]
    return list(dict.fromkeys(names))


def part_plans(
    part: Part, plans: Sequence[BenchmarkPlan]
) -> list[Sequence[BenchmarkPlan]]:
    """Return the benchmarks of each section that a part makes: one each, or all."""
    return [[plan] for plan in plans] if "{benchmark}" in part.anchor else [plans]


def _names(item: Item, plan: BenchmarkPlan) -> Iterator[str]:
    parameters = {curve.parameter for curve in plan.curves}
    has = {
        "": True,
        "showcase": plan.showcase is not None,
        "labels": LABELS in parameters,
        "sensitivity": bool(parameters - {LABELS}),
    }
    if has[item.needs]:
        curves = [curve.identifier for curve in plan.curves]
        for curve in curves if "{curve}" in item.name else [""]:
            yield item.name.format(benchmark=plan.benchmark, curve=curve)
