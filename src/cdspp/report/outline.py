"""The tables and figures of a study, in the order of the page: one line each.

What the workflow makes and what the page shows both follow from this list. Tables of
measured seconds are apart (*timings*): all others have equal bytes in equal runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from cdspp.core.names import LABELS
from cdspp.methods.bridge import PAIRS
from cdspp.study.guest_sections import guest_classes
from cdspp.study.plan import CHOOSING, LEFT_OUT, BenchmarkPlan

DETAILS, AUDIT = "Details", "Audit"
KINDS = TABLE, FIGURE, TIMING = ("table", "figure", "timing")


@dataclass(frozen=True)
class Fold:
    """A part that the page folds away; ``{reference}`` is the name of that method."""

    heading: str
    sentence: str = ""


@dataclass(frozen=True)
class Item:
    """A table, a figure, or a table of seconds, made where a plan has what it needs.

    The name is the stem of its files, with ``{benchmark}`` or ``{curve}`` for each.
    """

    kind: str
    name: str
    needs: Callable[[BenchmarkPlan], object] = lambda plan: True
    fold: Fold | None = None


@dataclass(frozen=True)
class Part:
    """A section of the page, or with ``{benchmark}`` in its anchor one for each.

    The template of its prose is named after it. With a sentence, the rest is folded.
    """

    anchor: str
    heading: str
    group: str = ""
    items: tuple[Item, ...] = ()
    sentence: str = ""


def has_pairs(plan: BenchmarkPlan) -> bool:
    """Whether a benchmark has a curve over paired rows."""
    return PAIRS in _varied(plan)


def few_tasks(plans: Sequence[BenchmarkPlan]) -> bool:
    """Whether the opening chart has room for every task, or for gains alone."""
    return sum(len(plan.tasks) for plan in plans) <= 10


def _varied(plan: BenchmarkPlan) -> set[str]:
    return {curve.parameter for curve in plan.curves}


def _has(kind: str) -> Callable[[BenchmarkPlan], bool]:
    return lambda plan: any(row.kind == kind for row in plan.rows)


EVERY_TASK = Fold(
    "Accuracy on every task",
    "Compare within a column: all methods of a task saw the same labelled samples.",
)
BALANCED = Fold(
    "Balanced accuracy",
    "The mean accuracy over classes: every class weighs the same. Where this falls "
    "well below the accuracy, a method gives up small classes.",
)
BY_TASK = Fold(
    "Did the source help, task by task",
    "The gain of {reference} by its real source over every other state, on the same "
    "trials; the source helps where it is better than all of them.",
)
SEVERAL = Fold(
    "Which of several sources helps",
    "The gain of each method with all sources of a task over the same method without "
    "one of them.",
)
CURVES = Fold(
    "Accuracy against labels and parameters",
    "How much a further labelled sample is worth, and how far a result depends on a "
    "value that somebody chose.",
)
ROUNDS = Fold(
    "Accuracy by iteration",
    "Whether further rounds still change anything, and whether they ever make a method "
    "worse.",
)
ONE_TASK = Fold(
    "One task in detail",
    "The samples of one trial in the common subspace, round by round, and which "
    "classes are taken for which.",
)
CONTENTS = Fold(
    "What the data hold",
    "Samples, features and classes of each domain, and how many samples stand on both "
    "sides of a task.",
)

OWN: tuple[Part, ...] = (
    Part(
        "chart",
        "With the source, and without",
        items=(
            Item(FIGURE, "bridges", has_pairs),
            Item(FIGURE, "source-help"),
            Item(FIGURE, "source-states"),
        ),
    ),
    Part("overview", "All methods at a glance", items=(Item(TABLE, "overview"),)),
    Part(
        "benchmark-{benchmark}",
        "{title}",
        DETAILS,
        (
            Item(TABLE, "accuracy_{benchmark}", fold=EVERY_TASK),
            Item(FIGURE, "methods_{benchmark}", fold=EVERY_TASK),
            Item(TABLE, "class-accuracy_{benchmark}", fold=BALANCED),
            Item(TABLE, "source-help_{benchmark}", fold=BY_TASK),
            Item(TABLE, "several-sources_{benchmark}", _has(LEFT_OUT), SEVERAL),
            Item(FIGURE, "labels_{benchmark}", lambda p: LABELS in _varied(p), CURVES),
            Item(
                FIGURE,
                "sensitivity_{benchmark}",
                lambda plan: bool(_varied(plan) - {LABELS, PAIRS}),
                CURVES,
            ),
            Item(TABLE, "curve-{curve}_{benchmark}", fold=CURVES),
            Item(FIGURE, "iterations_{benchmark}", fold=ROUNDS),
            Item(TABLE, "iterations_{benchmark}", fold=ROUNDS),
            Item(FIGURE, "subspace_{benchmark}", attrgetter("showcase"), ONE_TASK),
            Item(FIGURE, "confusion_{benchmark}", attrgetter("showcase"), ONE_TASK),
            Item(TABLE, "contents_{benchmark}", fold=CONTENTS),
            Item(TABLE, "overlap_{benchmark}", fold=CONTENTS),
        ),
    ),
    Part(
        "states",
        "Did the source help each method?",
        DETAILS,
        (Item(TABLE, "source-help"),),
        "The gain of each method by its real source over every other state of it, in "
        "points: where a number is negative, the method did better without.",
    ),
    Part(
        "selection",
        "Are hyper-parameters the reason?",
        DETAILS,
        tuple(Item(kind, "selection", _has(CHOOSING)) for kind in (FIGURE, TABLE)),
        "Whether a verdict turns on a hyper-parameter: accuracy with the default, with "
        "the value selected on the labelled target rows of each trial, and with the "
        "best in hindsight.",
    ),
    Part(
        "times",
        "What it costs",
        DETAILS,
        (Item(TIMING, "times"),),
        "Processor time of three trials over all tasks, as a multiple of that of "
        "{reference}.",
    ),
    Part(
        "graph",
        "Where the test labels go",
        AUDIT,
        sentence="The labels of the test samples meet the predictions after every fit, "
        "at the scores; no fit has them among its inputs.",
    ),
    Part(
        "numbers",
        "How the numbers are made",
        AUDIT,
        sentence="The meaning of a trial, an average, an interval and a dash.",
    ),
    Part(
        "data",
        "Data, sources, licences",
        AUDIT,
        sentence="Sources and licences of the data, and the works to cite.",
    ),
    Part(
        "run",
        "What was run",
        AUDIT,
        sentence="Versions, seeds, hardware, time by stage and method, digests, and "
        "the configuration.",
    ),
    Part("rerun", "How to run it again", AUDIT),
)


def outline() -> tuple[Part, ...]:
    """Return the parts of the page, those of guest sections among them."""
    parts = OWN
    for guest in guest_classes():
        parts = guest.parts(parts)
    return parts


def outline_names(kind: str, plans: Sequence[BenchmarkPlan]) -> list[str]:
    """Return the names of all items of a kind in a study, in order."""
    items = [item for part in outline() for item in part.items if item.kind == kind]
    return [name for item in items for name in item_names(item, plans)]


def item_names(item: Item, plans: Sequence[BenchmarkPlan]) -> list[str]:
    """Return the names that an item has for some benchmarks, each once."""
    names = []
    for plan in filter(item.needs, plans):
        curves = [curve.identifier for curve in plan.curves]
        for curve in curves if "{curve}" in item.name else [""]:
            names.append(item.name.format(benchmark=plan.benchmark, curve=curve))
    return list(dict.fromkeys(names))
