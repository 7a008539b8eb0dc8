"""The tables and figures of a study, in the order of the page: one line each.

What the workflow makes and what the page shows both follow from this list. Tables of
measured seconds have a folder of their own (`timings`): all others have equal bytes in
equal runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from cdspp.analysis.verdicts import INTERVAL_TRIALS
from cdspp.core.names import BASELINE, LABELS, REFERENCE
from cdspp.core.wording import task_title
from cdspp.methods.bridge import PAIRS
from cdspp.study.plan import CHOOSING, LEFT_OUT, BenchmarkPlan, Plans
from cdspp.study.plugins import plugin_classes

DETAILS, AUDIT = "Details", "Audit"
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
    """A table, a figure, or a table of seconds, made where a plan has what it needs.

    The name is the stem of its files, with ``{benchmark}`` or ``{curve}`` for each. One
    job makes all items of a maker, or those of each benchmark; without a maker, a file
    of rules of its section does. The caption may have the fields of `caption_fields`.
    A table that the page does not show is there as files to download.
    """

    kind: str
    name: str
    maker: Maker | None = None
    needs: Callable[[BenchmarkPlan], object] = lambda plan: True
    fold: Fold | None = None
    caption: str = ""
    shown: Callable[[BenchmarkPlan], bool] = lambda plan: True


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


class ItemJob(NamedTuple):
    """Items of one kind that one job makes by one maker; `captions` have their names.

    What is made of data only needs only the part of its plans that is of the data.
    """

    name: str
    kind: str
    maker: Maker
    plans: Plans
    of_data: bool
    captions: dict[str, str]


def _has(kind: str) -> Callable[[BenchmarkPlan], bool]:
    return lambda plan: any(row.kind == kind for row in plan.rows)


def _varies(parameter: str) -> Callable[[BenchmarkPlan], bool]:
    return lambda plan: parameter in plan.varied


def _of_options(plan: BenchmarkPlan) -> bool:
    return bool(plan.varied - {LABELS, PAIRS})


def _never(plan: BenchmarkPlan) -> bool:
    return False


def _several(plan: BenchmarkPlan) -> bool:
    return len(plan.tasks) > 1


def _maker(function: str, *inputs: str) -> Maker:
    return Maker(f"cdspp.report.{function}", inputs or ("scores",))


_showcase = attrgetter("showcase")
_OF_DATA = ("labels", "features", "splits")
_OF_SHOWCASE = ("fits", "subspace", "source_labels", "target_labels")
_SELECTING = ("scores", "comparisons", "selecting_records")
SCORES = _maker("tables.benchmark:write_benchmark")
OVERVIEW = _maker("tables.benchmark:write_overview")
DATA = _maker("tables.contents:write_contents", *_OF_DATA)
SELECTION = _maker("tables.selection:write_selection", *_SELECTING)
MATRIX = _maker("tables.source_help:write_matrix", "comparisons")
TASKS = _maker("tables.source_help:write_tasks", "scores", "rows")
CHARTS = _maker("figures.benchmark:write_benchmark")
BRIDGES = _maker("figures.benchmark:write_bridges")
SHOWCASE = _maker("figures.samples:write_showcase", *_OF_SHOWCASE)
OPENING = _maker("figures.source_help:write_opening", "comparisons")
WAYS = _maker("figures.ways:write_ways", "comparisons", "pairwise")
SELECTED = _maker("figures.source_help:write_selection", "selection")

EVERY_TASK = Fold(
    "Accuracy on every task",
    "Compare within a column: all methods of a task saw the same labelled samples.",
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
ITERATIONS = Fold(
    "Accuracy by iteration",
    "Whether further iterations still change anything, and whether they ever make a "
    "method worse.",
)
ONE_TASK = Fold(
    "One task in detail",
    "The samples of one trial in the common subspace by iteration, and which "
    "classes are taken for which.",
)
CONTENTS = Fold(
    "What the data hold",
    "Samples, features and classes of each domain, and how many samples stand on both "
    "sides of a task.",
)

# Captions, as the page shows them below a figure.
_GAINS = (
    "The gain of {reference} by its real source, in points, task by task: paired gain "
    "over the baseline (hollow squares) and over the source state that is hardest to "
    "beat (blue where the source helps, red where it hurts, black where it makes no "
    "difference, grey where it is undecided), which the text at the right names; mean "
    "over trials and 95 % t interval (from {interval_trials} trials on). {protocol}"
)
_BRIDGES = (
    "The gain from a bridge between the domains. Left: accuracy against the number of "
    "paired rows, objects that both views describe, without a label and outside both "
    "domains; lines across: methods without pairs, which use labels alone, the target "
    "alone, or shared columns. Right: the same methods against labelled samples per "
    "class. Mean over {curve_trials}; bars: 95 % t interval (from {interval_trials} "
    "trials on), side by side. Main run of {protocol}"
)
_STATES = (
    "The gain in accuracy of each method by its real source over each other state of "
    "the source, averaged over tasks. Signs and fills follow accuracy and balanced "
    "accuracy: ▲ dark: the real source is better by both; ▼: worse by both; =: equal "
    "within the margin by both; ◐ yellow: it depends on the measure, here or in the "
    "verdict over all states; white: the trials leave it open; in brackets: too few "
    "trials, or fits that collapsed or diverged. Each pair by a test at 5 %, after "
    "Holm's correction over the methods of a column unless the study says otherwise. "
    "{protocol}"
)
_METHODS = (
    "Accuracy of every method on every task: mean over trials and 95 % t interval "
    "(from {interval_trials} trials on). Hollow markers and stars: supervised methods. "
    "Every panel has the same scale, none starts at zero; arrows mark means far to its "
    "left, brackets fits that collapsed or diverged. † shortened runs. {protocol} The "
    "table names methods of fewer trials."
)
_LABELS = (
    "Accuracy against the number of labelled target samples per class, drawn nested "
    "from the seed: mean over {curve_trials}; band: 95 % t interval of {reference} "
    "(from {interval_trials} trials on); dashed: the baseline. Panels span equally "
    "many points, each around its own data; arrows name methods far below. All other "
    "samples are test samples, so the right has fewer of them. Main run of {protocol}"
)
_SENSITIVITY = (
    "Accuracy of {reference} against one parameter at a time, with one fit for each "
    "value. Thick: average over tasks; thin: single tasks; mean over {curve_trials}; "
    "band: 95 % t interval (from {interval_trials} trials on); grey bar: the value of "
    "the main run. One scale for all panels. Beyond the number of classes the closed "
    "form has no further direction, so the curve is flat. Main run of {protocol}"
)
_ITERATIONS = (
    "Accuracy by iteration: mean over trials, band: 95 % t interval of {reference} "
    "(from {interval_trials} trials on). Dashed: the baseline, which does not iterate. "
    "Arrows mark methods that end far below, brackets fits that collapsed or diverged. "
    "{protocol} The table names methods of fewer trials."
)
_SUBSPACE = (
    "The common subspace of {reference} on {task}, trial {trial}, iteration by "
    "iteration, and after one more fit on all pseudo-labels, which the paper's text "
    "describes and its released code omits; one fixed two-dimensional view. Squares: "
    "source; stars: labelled target samples; circles: unlabelled ones. Titles: "
    "accuracy on these. Colour: true class; only the picture uses it. {protocol}"
)
_CONFUSION = (
    "Which class is mistaken for which: {reference} on {task}, last iteration, summed "
    "over trials. Colour: share of the true class; numbers: samples. {protocol}"
)
_SELECTION = (
    "Accuracy with the default, with what each trial selected by cross-validation on "
    "its labelled rows, and with the value that is best in hindsight, on the test "
    "rows: averaged over tasks. Only the first two can be reached in practice; the "
    "third bounds the gain of any tuning. {protocol}"
)
_WAYS = (
    "The ways in which a source comes in: accuracy, and the gain over the most "
    "accurate method without a source, paired by trial, with its 95 % t interval. "
    "▲ helps: better than the same method without a source and with every other one, "
    "and through a bridge than all methods without a source. ▼ hurts: worse than "
    "without. ○ open. The reference stands for its way, for other ways the most "
    "accurate method, whose word is corrected for the number of methods. {protocol}"
)
_PAIRWISE = "Every method against the reference: rank, accuracy, and the paired gain."
_HELPED = (
    "Did the source help each method? The gain of each method by its real source over "
    "every other state of it, in points: where a number is negative, the method did "
    "better without."
)
_OVERVIEW = "Average accuracy of every method and control by benchmark."

_CHART = (
    Item(FIGURE, "bridges", BRIDGES, _varies(PAIRS), caption=_BRIDGES),
    Item(FIGURE, "source-help", OPENING, caption=_GAINS),
)
# What a figure shows, or another table, the page does not tell again as a table.
_BENCHMARK = (
    Item(TABLE, "accuracy_{benchmark}", SCORES, fold=EVERY_TASK, shown=_several),
    Item(FIGURE, "methods_{benchmark}", CHARTS, fold=EVERY_TASK, caption=_METHODS),
    Item(TABLE, "class-accuracy_{benchmark}", SCORES, fold=EVERY_TASK, shown=_never),
    Item(TABLE, "source-help_{benchmark}", TASKS, fold=BY_TASK, shown=_several),
    Item(TABLE, "pairwise_{benchmark}", TASKS, caption=_PAIRWISE),  # not folded: first
    Item(TABLE, "several-sources_{benchmark}", TASKS, _has(LEFT_OUT), SEVERAL),
    Item(FIGURE, "labels_{benchmark}", CHARTS, _varies(LABELS), CURVES, _LABELS),
    Item(FIGURE, "sensitivity_{benchmark}", CHARTS, _of_options, CURVES, _SENSITIVITY),
    Item(TABLE, "curve-{curve}_{benchmark}", SCORES, fold=CURVES, shown=_never),
    Item(
        FIGURE, "iterations_{benchmark}", CHARTS, fold=ITERATIONS, caption=_ITERATIONS
    ),
    Item(TABLE, "iterations_{benchmark}", SCORES, fold=ITERATIONS, shown=_never),
    Item(FIGURE, "subspace_{benchmark}", SHOWCASE, _showcase, ONE_TASK, _SUBSPACE),
    Item(FIGURE, "confusion_{benchmark}", SHOWCASE, _showcase, ONE_TASK, _CONFUSION),
    Item(TABLE, "contents_{benchmark}", DATA, fold=CONTENTS),
    Item(TABLE, "overlap_{benchmark}", DATA, fold=CONTENTS),
)
_SELECTIONS = (
    Item(FIGURE, "selection", SELECTED, _has(CHOOSING), caption=_SELECTION),
    Item(TABLE, "selection", SELECTION, _has(CHOOSING)),
)
_MATRIX = (
    Item(FIGURE, "source-states", OPENING, caption=_STATES),
    Item(TABLE, "source-help", MATRIX, caption=_HELPED, shown=_never),
)
_AT_A_GLANCE = Item(TABLE, "overview", OVERVIEW, caption=_OVERVIEW)

# What stands in the page before a part that is folded away, by its anchor.
_SENTENCES = {
    "overview": _OVERVIEW,
    "selection": "Whether a verdict turns on a hyper-parameter: accuracy with the "
    "default, with the value selected on the labelled target rows of each trial, and "
    "with the best in hindsight.",
    "times": "Processor time of three trials over all tasks, as a multiple of that of "
    "{reference}.",
    "graph": "The labels of the test samples meet the predictions after every fit, at "
    "the scores; no fit has them among its inputs.",
    "numbers": "The meaning of a trial, an average, an interval and a dash.",
    "data": "Sources and licences of the data, and the works to cite.",
    "run": "Versions, seeds, hardware, time by stage and method, digests, and the "
    "configuration.",
}


def _folded(anchor: str, heading: str, group: str, *items: Item) -> Part:
    return Part(anchor, heading, group, items, _SENTENCES[anchor])


OWN: tuple[Part, ...] = (
    Part("opening", "", items=(Item(FIGURE, "ways", WAYS, caption=_WAYS),)),
    Part("chart", "With the source, and without", items=_CHART),
    _folded("overview", "All methods at a glance", "", _AT_A_GLANCE),
    Part("benchmark-{benchmark}", "{title}", DETAILS, _BENCHMARK),
    Part("states", "Did the source help each method?", DETAILS, _MATRIX),
    _folded("selection", "Are hyper-parameters the reason?", DETAILS, *_SELECTIONS),
    _folded("times", "What it costs", DETAILS),
    _folded("graph", "Where the test labels go", AUDIT),
    _folded("numbers", "How the numbers are made", AUDIT),
    _folded("data", "Data, sources, licences", AUDIT),
    _folded("run", "What was run", AUDIT),
    Part("rerun", "How to run it again", AUDIT),
)


def page_parts() -> tuple[Part, ...]:
    """Return the parts of the page, with the parts of plug-ins."""
    parts = OWN
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
    jobs: dict[tuple[str, Maker, str], ItemJob] = {}
    pairs = [(part, item) for part in page_parts() for item in part.items]
    for part, item in pairs:
        if (maker := item.maker) is None:
            continue
        stem = re.sub(r"[-_]?{\w+}", "", item.name)
        of_data = set(maker.inputs) <= set(_OF_DATA)
        # The caption of a table is by default what opens its part.
        opening = item.fold or part
        end = "" if opening.heading.endswith("?") else "."
        text = item.caption or f"{opening.heading}{end} {opening.sentence}".strip()
        by_benchmark = "{benchmark}" in item.name
        for chosen in [[plan] for plan in plans] if by_benchmark else [plans]:
            if names := item_names(item, chosen):
                suffix = f"_{chosen[0].benchmark}" if by_benchmark else ""
                job = ItemJob(stem + suffix, item.kind, maker, chosen, of_data, {})
                captions = jobs.setdefault((item.kind, maker, suffix), job).captions
                caption = text.format(**caption_fields(chosen))
                captions |= dict.fromkeys(names, caption)
    return list(jobs.values())


def caption_fields(plans: Plans) -> dict[str, str]:
    """Return the values of the fields in captions and sentences."""
    fields = {"interval_trials": str(INTERVAL_TRIALS)}
    fields["protocol"] = " ".join(plan.protocol for plan in plans)
    numbers = sorted({curve.n_trials for plan in plans for curve in plan.curves})
    ends = " to ".join(dict.fromkeys(map(str, (*numbers[:1], *numbers[-1:]))))
    fields["curve_trials"] = f"{ends} trials" if ends != "1" else "one trial"
    for role in (REFERENCE, BASELINE):
        names = (plan.role_name(role) for plan in plans)
        fields[role] = next(filter(None, names), f"the {role}")
    for showcase in filter(None, (plan.showcase for plan in plans)):
        fields |= {"task": task_title(showcase), "trial": "1"}
    return fields
