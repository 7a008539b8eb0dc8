"""The tables and figures of a study, in the order of the page: one line each.

Both the outputs of the workflow and the contents of the page follow from this list.
Tables of measured seconds have their own folder (`timings`), because all others have
equal bytes in equal runs.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.analysis.transfer import OVER_STRONGEST, Transfer
from cdspp.core.names import BASELINE, LABELS, REFERENCE
from cdspp.methods.bridge import PAIRS
from cdspp.report.tables.table import marks_legend
from cdspp.study.plan import LEFT_OUT, BenchmarkPlan, Plans
from cdspp.study.plugins import plugin_classes

DETAILS, AUDIT = "Details", "Audit"
Needs = Callable[[BenchmarkPlan], object]
KINDS = TABLE, FIGURE, TIME_TABLE = ("table", "figure", "timing")


@dataclass(frozen=True)
class Maker:
    """A function ``module:function`` that writes tables or figures, and its inputs.

    It is called with `plans`, a list of paths for each of the `inputs` (names of
    `cdspp.study.files.INPUTS`), the folder of each of the `resources`, and `outputs`.
    """

    function: str
    inputs: tuple[str, ...] = ("scores",)
    resources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fold:
    """A part that the page folds away; ``{reference}`` is the name of that method."""

    heading: str
    sentence: str = ""


@dataclass(frozen=True)
class Item:
    """A table, a figure, or a table of seconds, made if a plan has what it needs.

    The name is the stem of its files, with ``{benchmark}`` or ``{curve}`` for each. One
    call of a maker makes all its items, or those of a benchmark; without a maker, a
    file of rules of its section does. The caption may have the fields of
    `caption_fields`; a figure file has more sentences, on what was drawn. The page has
    a template instead of a figure that it does not show, and offers tables as files.
    """

    kind: str
    name: str
    maker: Maker | None = None
    needs: Needs = lambda plan: True
    fold: Fold | None = None
    caption: str = ""
    shown: Callable[[BenchmarkPlan], bool] = lambda plan: True


@dataclass(frozen=True)
class Part:
    """A section of the page; with ``{benchmark}`` in its anchor, one per benchmark.

    The template of its prose has its name. With a sentence, the rest is folded.
    """

    anchor: str
    heading: str
    group: str = ""
    items: tuple[Item, ...] = ()
    sentence: str = ""


class ItemGroup(NamedTuple):
    """Items of one kind that one call of a maker makes; `captions` have their names.

    Items made only from data need only the part of their plans that concerns the data.
    """

    kind: str
    maker: Maker
    of_data: bool
    captions: dict[str, str]


class ItemJob(NamedTuple):
    """The items of a benchmark, by whose name it goes, or those over all (no name)."""

    name: str
    plans: Plans
    groups: list[ItemGroup]


def _has(kind: str) -> Callable[[BenchmarkPlan], bool]:
    return lambda plan: any(row.kind == kind for row in plan.rows)


def _varies(parameter: str) -> Callable[[BenchmarkPlan], bool]:
    return lambda plan: parameter in plan.varied


def _of_options(plan: BenchmarkPlan) -> bool:
    return bool(plan.varied - {LABELS, PAIRS})


def never(plan: BenchmarkPlan) -> bool:
    """Return False: the page shows an item of no plan."""
    return False


def _several(plan: BenchmarkPlan) -> bool:
    return len(plan.tasks) > 1


def _maker(function: str, *inputs: str) -> Maker:
    return Maker(f"cdspp.report.{function}", inputs or ("scores",))


def _prose(section: str, name: str) -> str:
    return " ".join(_PROSE[section][name].split())


def _fold(name: str) -> Fold:
    texts = _PROSE["folds"][name]
    return Fold(texts["heading"], " ".join(texts["sentence"].split()))


def _figure(
    name: str, maker: Maker, needs: Needs = lambda plan: True, **more: Any
) -> Item:
    title = FIGURE_CAPTIONS[name.removesuffix("_{benchmark}")]["title"]
    return Item(FIGURE, name, maker, needs, caption=title, **more)


def _table(name: str, maker: Maker, **more: Any) -> Item:
    title = _prose("tables", name.replace("_{benchmark}", "-of-benchmark"))
    return Item(TABLE, name, maker, caption=title, **more)


# The rule of verdicts, folds, and the text before a folded part of the page.
_PROSE = tomllib.loads(
    Path(__file__).with_name("page").joinpath("templates/prose.toml").read_text("utf-8")
)
FIGURE_CAPTIONS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("captions").joinpath("figures.toml").read_text("utf-8")
)
RULE = {each: _prose("rule", each.name.lower()) for each in Transfer}
_showcase = attrgetter("showcase")
_OF_DATA = ("labels", "features", "splits")
_OF_TABLES = {"comparisons", "pairwise"}
_OF_SHOWCASE = ("fits", "subspace", "source_labels", "target_labels")
SCORES = _maker("tables.benchmark:write_benchmark")
DATA = _maker("tables.contents:write_contents", *_OF_DATA)
MATRIX = _maker("tables.source_help:write_matrix", "comparisons")
TASKS = _maker("tables.source_help:write_tasks", "scores", "rows")
CHARTS = _maker("figures.benchmark:write_benchmark")
SHOWCASE = _maker("figures.samples:write_showcase", *_OF_SHOWCASE)
OPENING = _maker("figures.source_help:write_opening", "comparisons")
KINDS_OF_TRANSFER = _maker("figures.kinds:write_kinds", "comparisons", "pairwise")
FOREST = _maker("figures.forest:write_forest", "comparisons", "pairwise")

EVERY_TASK = _fold("every-task")
CURVES = _fold("curves")
ITERATIONS = _fold("iterations")
ONE_TASK = _fold("one-task")
CONTENTS = _fold("contents")

_CHART = (
    _figure("bridges", _maker("figures.benchmark:write_bridges"), _varies(PAIRS)),
    _figure("source-help", OPENING),
)
# The page does not repeat, as a table, the content of a figure or another table.
_BENCHMARK = (
    Item(TABLE, "accuracy_{benchmark}", SCORES, fold=EVERY_TASK, shown=_several),
    _figure("methods_{benchmark}", CHARTS, fold=EVERY_TASK),
    Item(TABLE, "class-accuracy_{benchmark}", SCORES, fold=EVERY_TASK, shown=never),
    _table("source-help_{benchmark}", TASKS, fold=EVERY_TASK, shown=never),
    _table("pairwise_{benchmark}", TASKS),  # not folded: first
    Item(TABLE, "several-sources_{benchmark}", TASKS, _has(LEFT_OUT), _fold("several")),
    _figure("labels_{benchmark}", CHARTS, _varies(LABELS), fold=CURVES),
    _figure("sensitivity_{benchmark}", CHARTS, _of_options, fold=CURVES),
    Item(TABLE, "curve-{curve}_{benchmark}", SCORES, fold=CURVES, shown=never),
    _figure("iterations_{benchmark}", CHARTS, fold=ITERATIONS),
    Item(TABLE, "iterations_{benchmark}", SCORES, fold=ITERATIONS, shown=never),
    _figure("subspace_{benchmark}", SHOWCASE, _showcase, fold=ONE_TASK),
    _figure("confusion_{benchmark}", SHOWCASE, _showcase, fold=ONE_TASK),
    Item(TABLE, "contents_{benchmark}", DATA, fold=CONTENTS),
    Item(TABLE, "overlap_{benchmark}", DATA, fold=CONTENTS),
)
_AT_A_GLANCE = (
    _figure("forest", FOREST, shown=never),
    _figure("source-states", OPENING),
    _table("source-help", MATRIX, shown=never),
    _table("overview", _maker("tables.benchmark:write_overview")),
)


def _folded(anchor: str, heading: str, group: str, *items: Item) -> Part:
    return Part(anchor, heading, group, items, _prose("parts", anchor))


PARTS: tuple[Part, ...] = (
    Part(
        "opening",
        "",
        items=(_figure("kinds-of-transfer", KINDS_OF_TRANSFER, shown=never),),
    ),
    Part("overview", "All methods at a glance", items=_AT_A_GLANCE),
    Part("chart", "With the source, and without", items=_CHART),
    Part("benchmark-{benchmark}", "{title}", DETAILS, _BENCHMARK),
    _folded("times", "Costs", DETAILS),
    _folded("graph", "Path of the test labels", AUDIT),
    _folded("numbers", "Definitions of the numbers", AUDIT),
    _folded("data", "Data, sources, licences", AUDIT),
    _folded("run", "What was run", AUDIT),
    Part("rerun", "How to run it again", AUDIT),
)


def page_parts() -> tuple[Part, ...]:
    """Return the parts of the page, with the parts of plug-ins."""
    parts = PARTS
    for plugin in plugin_classes():
        parts = plugin.parts(parts)
    return parts


def names_of_kind(kind: str, plans: Plans) -> list[str]:
    """Return the names of all items of a kind in a study, in order."""
    items = [item for part in page_parts() for item in part.items if item.kind == kind]
    return [name for item in items for name in item_names(item, plans)]


def item_names(item: Item, plans: Plans) -> list[str]:
    """Return the names that an item has for some benchmarks, each once."""
    names = []
    for plan in filter(item.needs, plans):
        curves = [curve.identifier for curve in plan.curves]
        for curve in curves if "{curve}" in item.name else [""]:
            names.append(item.name.format(benchmark=plan.benchmark, curve=curve))
    return list(dict.fromkeys(names))


def item_jobs(plans: Plans) -> list[ItemJob]:
    """Return the jobs that make the tables and figures of a study, in order."""
    jobs: dict[str, ItemJob] = {}
    groups: dict[tuple[str, str, Maker], ItemGroup] = {}
    pairs = [(part, item) for part in page_parts() for item in part.items]
    for part, item in pairs:
        if (maker := item.maker) is None:
            continue
        # The caption of a table is by default the text that opens its part.
        opening = item.fold or part
        end = "" if opening.heading.endswith("?") else "."
        text = item.caption or f"{opening.heading}{end} {opening.sentence}".strip()
        by_benchmark = "{benchmark}" in item.name
        # A job cannot read tables that it makes.
        suffix = "" if _OF_TABLES.isdisjoint(maker.inputs) else "_from_tables"
        for chosen in [[plan] for plan in plans] if by_benchmark else [plans]:
            if names := item_names(item, chosen):
                name = f"{chosen[0].benchmark}{suffix}" if by_benchmark else ""
                job = jobs.setdefault(name, ItemJob(name, chosen, []))
                key = name, item.kind, maker
                if key not in groups:
                    of_data = {*maker.inputs} <= {*_OF_DATA}
                    groups[key] = ItemGroup(item.kind, maker, of_data, {})
                    job.groups.append(groups[key])
                caption = text.format(**caption_fields(chosen))
                groups[key].captions.update(dict.fromkeys(names, caption))
    return list(jobs.values())


def caption_fields(plans: Plans) -> dict[str, str]:
    """Return the values of the fields in captions and sentences."""
    rows = (row for plan in plans for row in plan.shown_rows)
    fields = Transfer.words() | {"marks": marks_legend(row.marks for row in rows)}
    switched_off = [not plan.holm_over_methods for plan in plans]
    fields["switched_off"] = (
        ", which this study switches off" if any(switched_off) else ""
    )
    fields["over_strongest"] = OVER_STRONGEST
    fields["protocol"] = " ".join(plan.protocol for plan in plans)
    for role in (REFERENCE, BASELINE):
        names = (plan.role_name(role) for plan in plans)
        fields[role] = next(filter(None, names), f"the {role}")
    return fields
