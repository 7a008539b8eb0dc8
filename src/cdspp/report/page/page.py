"""The report: one page that asks whether the source helped, from templates.

The order of its sections is that of `cdspp.report.outline`; what it says of gains, it
reads from the tables that it shows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cdspp.analysis.answers import (
    answer,
    overall_answer,
    said_form,
    verdict_of,
    without_source,
)
from cdspp.analysis.digests import stated_digests, write_page
from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.paired import INTERVAL_TRIALS
from cdspp.analysis.source_help import (
    no_comparisons,
    on_average,
    read_comparisons,
)
from cdspp.analysis.verdicts import RULE
from cdspp.core.names import BASELINE, REFERENCE
from cdspp.core.wording import task_title
from cdspp.report.figures.source_help import few_tasks
from cdspp.report.outline import Fold, Item, Part, item_names, outline, part_plans
from cdspp.report.page.embed import Embedder, Files
from cdspp.report.page.graph import EDGES, STAGES
from cdspp.report.page.run import describe_run
from cdspp.report.tables.contents import untrained_text
from cdspp.report.tables.table import html_name
from cdspp.study.model import RunDescription
from cdspp.study.plan import BenchmarkPlan

__all__ = ["environment", "template_file", "write_report"]

PathLike = str | os.PathLike[str]

_SVG_BUDGET = 3_000_000
_MAX_SVG = 800_000
_TEMPLATES = "cdspp.report.page", "templates"


@dataclass(frozen=True)
class _Section:
    anchor: str
    heading: str
    content: Markup
    group: str
    sentence: Markup


def write_report(
    *,
    plans: Sequence[BenchmarkPlan],
    tables: Sequence[PathLike],
    figures: Sequence[PathLike],
    fit_records: Sequence[PathLike],
    study: RunDescription,
    output: PathLike,
    files: Sequence[PathLike] = (),
) -> None:
    """Write the report: a single HTML file that needs nothing else.

    Parameters
    ----------
    plans : sequence of BenchmarkPlan
        The benchmarks.
    tables, figures : sequence of path
        Any form of the study's tables and figures; other forms of the same name are
        looked for beside it, absent ones are left out.
    fit_records : sequence of path
        The JSON files beside the predictions.
    study : RunDescription
        What was run.
    output : path
        File to write.
    files : sequence of path
        What the page rests on and shows: the digest of each is stated once, by its
        place in the folder that holds the study's.
    """
    shown = _shown(tables, figures)
    comparisons = {plan.benchmark: _comparisons(plan, shown) for plan in plans}
    records = read_fit_records(fit_records)
    digests = stated_digests(files, Path(output).absolute().parents[2])
    context = {
        "study": study,
        "rule": RULE,
        "margin": plans[0].margin if plans else 1.0,
        "kept": [plan.title for plan in plans if plan.overlap == "keep"],
        "told": _told(plans),
        "stages": STAGES,
        "edges": EDGES,
        "run": describe_run(records, plans, study, digests),
        "comparisons": comparisons,
        "without": _without(plans, comparisons),
    }
    templates = environment(plans)
    sections = list(_sections(plans, shown, templates, context))
    page = templates.get_template("page.html.j2").render(
        context,
        answer=overall_answer({p.title: comparisons[p.benchmark] for p in plans}),
        cards=[_card(plan.title, comparisons[plan.benchmark]) for plan in plans],
        sections=sections,
        contents=[(g, list(m)) for g, m in groupby(sections, lambda s: s.group)],
        style=Markup(template_file("report.css")),
        script=Markup(template_file("report.js")),
    )
    write_page(Path(output), page)


def _shown(tables: Sequence[PathLike], figures: Sequence[PathLike]) -> Files:
    n_figures = len({Path(figure).stem for figure in figures})
    max_bytes = min(_MAX_SVG, _SVG_BUDGET // max(1, n_figures))
    return Files.of([*tables, *figures], max_bytes=max_bytes)


def _told(plans: Sequence[BenchmarkPlan]) -> list[str]:
    """Name the methods that are told something of the test samples."""
    rows = (row for plan in plans for row in plan.main_rows)
    found = (row.display_name for row in rows if row.kind == "informed")
    return list(dict.fromkeys(found))


def _without(
    plans: Sequence[BenchmarkPlan], comparisons: Mapping[str, pd.DataFrame]
) -> list[tuple[str, list[str]]]:
    """Return by benchmark what methods gain without a source, where that is known."""
    told = ((p.title, without_source(comparisons[p.benchmark])) for p in plans)
    return [(title, parts) for title, parts in told if parts]


def environment(plans: Sequence[BenchmarkPlan] = ()) -> Environment:
    """Return the templates of the page.

    Their filter `named` puts the names of reference and baseline into a sentence.
    """
    templates = Environment(
        loader=PackageLoader(*_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["interval_trials"] = INTERVAL_TRIALS
    names = {
        role: Markup(html_name(next(filter(None, found), f"the {role}")))
        for role, found in (
            (REFERENCE, [plan.role_name(REFERENCE) for plan in plans]),
            (BASELINE, [plan.role_name(BASELINE) for plan in plans]),
        )
    }
    templates.filters["named"] = lambda text: escape(text).format(**names)
    return templates


def template_file(name: str) -> str:
    """Return a file that lies beside the templates."""
    folder = resources.files(_TEMPLATES[0]) / _TEMPLATES[1]
    return (folder / name).read_text(encoding="utf-8")


def _comparisons(plan: BenchmarkPlan, files: Files) -> pd.DataFrame:
    """Read the comparisons that the table of a benchmark shows; none without it."""
    path = files.find(f"source-help_{plan.benchmark}", ".csv")
    return no_comparisons() if path is None else read_comparisons(path)


def _card(title: str, comparisons: pd.DataFrame) -> dict[str, str]:
    found = verdict_of(on_average(said_form(comparisons)))
    return {
        "title": title,
        "answer": answer(comparisons),
        "verdict": found.replace(" ", "-"),
    }


def _sections(
    plans: Sequence[BenchmarkPlan],
    files: Files,
    templates: Environment,
    context: dict[str, Any],
) -> Iterator[_Section]:
    """Yield the sections of the page that have something to show."""
    embedder = Embedder(files, templates)
    captions: Any = templates.get_template("captions.html.j2").module
    for part in outline():
        name = part.anchor.partition("-{")[0]
        names = [f"sections/{name}.html.j2", "sections/items.html.j2"]
        template = templates.select_template(names)
        for chosen in part_plans(part, plans):
            plan = chosen[0] if len(chosen) == 1 else None
            folds = _folds(part, chosen, embedder, captions)
            own: dict[str, Any] = {"plan": plan, "folds": folds}
            if plan is not None:
                contents = files.find(f"contents_{plan.benchmark}", ".csv")
                own["untrained"] = "" if contents is None else untrained_text(contents)
                own["answer"] = answer(context["comparisons"][plan.benchmark])
            content = Markup(template.render(context, **own)).strip()
            if content:
                where = {} if plan is None else vars(plan)
                yield _Section(
                    part.anchor.format_map(where),
                    part.heading.format_map(where),
                    content,
                    part.group,
                    templates.filters["named"](part.sentence),
                )


def _folds(
    part: Part, plans: Sequence[BenchmarkPlan], embedder: Embedder, captions: Any
) -> list[tuple[Fold | None, list[Markup]]]:
    """Return what a section shows, together by the heading that folds it away."""
    shown = [
        (item.fold, markup)
        for item in part.items
        for name in item_names(item, plans)
        if (markup := _show(item, name, plans, embedder, captions))
    ]
    groups = groupby(shown, key=lambda pair: pair[0])
    return [(fold, [markup for _, markup in pairs]) for fold, pairs in groups]


def _show(
    item: Item,
    name: str,
    plans: Sequence[BenchmarkPlan],
    embedder: Embedder,
    captions: Any,
) -> Markup:
    if item.kind != "figure":
        return embedder.table(name)
    kind = name.partition("_")[0]
    if kind == name:
        caption = captions.study(name, few_tasks(plans))
    else:
        caption = captions.benchmark(kind, **_shown_in_detail(plans[0]))
    return embedder.figure(name, Markup(caption).strip())


def _shown_in_detail(plan: BenchmarkPlan) -> dict[str, Any]:
    showcase = plan.showcase
    return {
        "method": Markup(html_name(plan.role_name(REFERENCE))),
        "task": "" if showcase is None else task_title(showcase.task),
        "trial": "" if showcase is None else showcase.trial,
    }
