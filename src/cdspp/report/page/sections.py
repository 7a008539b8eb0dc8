"""The parts of the report that show results: answer, tables, figures, claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from cdspp.analysis.source_help import (
    RULE,
    answer,
    by_task,
    compare,
    overall_answer,
    verdict,
)
from cdspp.analysis.summary import Summary
from cdspp.core.names import AVERAGE
from cdspp.core.wording import task_title
from cdspp.report.figures.benchmark import benchmark_figures
from cdspp.report.figures.curves import curve_figures
from cdspp.report.page.blocks import Files, Section, details, figure_html, table_html
from cdspp.report.tables.contents import contents_tables
from cdspp.report.tables.curves import curve_tables
from cdspp.report.tables.table import html_name

__all__ = [
    "FIGURES",
    "PAPER",
    "TABLES",
    "figure_section",
    "header_html",
    "single_table",
    "table_section",
]

TABLES, FIGURES, PAPER = "Tables", "Figures", "The paper"

_CAPTIONS = {
    "methods": (
        "Accuracy of every method on every task: mean over trials and 95 % bootstrap "
        "interval. Hollow markers and stars: supervised methods. Every panel has the "
        "same scale, none starts at zero; arrows give what lies far to its left. "
        "† shortened runs."
    ),
    "iterations": (
        "Accuracy by iteration: mean over trials, band: 95 % bootstrap interval. "
        "Dashed: the baseline, which does not iterate. Arrows give what ends far below."
    ),
    "labels": (
        "Accuracy against the number of labelled target samples per class, drawn "
        "nested from the seed: mean over trials; band: 95 % bootstrap interval of "
        "{method}; dashed: the baseline. Panels span equally many points, each around "
        "its own data; arrows name what lies far below. All other samples are the "
        "test, so it is smaller on the right."
    ),
    "sensitivity": (
        "Accuracy of {method} against one parameter at a time, every value a fit of "
        "its own. Thick: average over tasks; thin: single tasks; band: 95 % bootstrap "
        "interval; grey bar: the value of the main run. One scale for all panels. "
        "Beyond the number of classes the closed form has no further direction: flat "
        "there by construction."
    ),
    "confusion": (
        "Who is mistaken for whom: {method} on {task}, last iteration, summed over "
        "trials. Colour: share of the true class; numbers: samples."
    ),
    "subspace": (
        "The common subspace of {method} on {task}, trial {trial}, iteration by "
        "iteration, and after one more fit on all pseudo-labels, which the paper's "
        "text has and its released code leaves out; one fixed two-dimensional view. "
        "Squares: source; stars: labelled target samples; circles: unlabelled ones. "
        "Titles: accuracy on these. Colour: true class, used for the picture only."
    ),
}
_MOST_TASKS = 6  # whose comparisons are shown at once


def header_html(summaries: Sequence[Summary], study: Mapping[str, Any]) -> str:
    """Ask the question and answer it, for all benchmarks and for each."""
    groups = {_title(summary): compare(summary) for summary in summaries}
    cards = []
    for title, comparisons in groups.items():
        tasks = by_task(comparisons)
        overall = tasks.get(AVERAGE) or next(iter(tasks.values()), [])
        cards.append(
            f'<li class="{verdict(overall)}"><b>{escape(title)}</b> '
            f"{escape(answer(comparisons))}</li>"
        )
    name = study.get("title") or study.get("study") or "study"
    return (
        f'<p class="kicker">Heterogeneous domain adaptation: {escape(str(name))}</p>\n'
        "<h1>Did the source help?</h1>\n"
        f'<p class="lead">{escape(overall_answer(groups))}</p>\n'
        f'<ul class="answers">{"".join(cards)}</ul>\n'
        f'<p class="rule">{escape(RULE)} The controls are the same learner without a '
        "source (target-only), with permuted source labels (placebo), or with noise "
        "in place of the source rows (noise). A gain that they share comes from the "
        "target samples, not from the source.</p>"
    )


def single_table(
    anchor: str, heading: str, files: Files, *, opening: str = "", group: str = ""
) -> Section:
    """Show one table of the whole study under its own heading.

    Parameters
    ----------
    anchor : str
        Name of the table, and of the section.
    heading : str
        Heading.
    files : Files
        Where the table is.
    opening : str, default=""
        A paragraph in front of it.
    group : str, default=""
        Where the section is listed.
    """
    table = table_html(anchor, files)
    text = f"<p>{escape(opening)}</p>\n" if opening and table else ""
    return Section(anchor, heading, text + table, group)


def table_section(summary: Summary, files: Files) -> Section:
    """Show the tables of one benchmark."""
    layout = summary.layout
    name, facts = layout["benchmark"], str(layout.get("summary", ""))
    helped = table_html(f"source-help_{name}", files)
    if len(summary.tasks) > _MOST_TASKS:
        helped = _folded("Did the source help, task by task", [helped])
    curves = [table_html(table, files) for table in curve_tables(layout)]
    by_class = table_html(f"class-accuracy_{name}", files)
    parts = [
        f"<p>{escape(facts)}</p>" if facts else "",
        f"<p>{escape(answer(compare(summary)))}</p>",
        *(table_html(table, files) for table in contents_tables(layout)),
        table_html(f"accuracy_{name}", files),
        helped,
        _folded("Mean accuracy per class", [by_class]),
        _folded("Accuracy by iteration", [table_html(f"iterations_{name}", files)]),
        _folded("Accuracy against labels and parameters", curves),
    ]
    content = "\n".join(filter(None, parts))
    return Section(f"tables-{name}", f"{_title(summary)}: tables", content, TABLES)


def figure_section(summary: Summary, files: Files) -> Section:
    """Show the figures of one benchmark."""
    layout = summary.layout
    order = ("methods", "labels", "sensitivity", "iterations", "subspace", "confusion")
    names = {
        name.partition("_")[0]: name
        for name in (*benchmark_figures(layout), *curve_figures(layout))
    }
    figures = [
        figure_html(names[kind], _caption(kind, summary), files)
        for kind in order
        if kind in names
    ]
    anchor = f"figures-{layout['benchmark']}"
    content = "\n".join(filter(None, figures))
    return Section(anchor, f"{_title(summary)}: figures", content, FIGURES)


def _folded(heading: str, tables: Sequence[str]) -> str:
    shown = "\n".join(filter(None, tables))
    return details(heading, shown) if shown else ""


def _caption(kind: str, summary: Summary) -> str:
    showcase = summary.layout.get("showcase") or {}
    key = showcase.get("method", summary.layout.get("reference"))
    row = summary.find(key)
    method = str(key or "") if row is None else summary.rows[row].display_name
    return escape(_CAPTIONS[kind]).format(
        method=html_name(method),
        task=escape(task_title(str(showcase.get("task", "")))),
        trial=escape(str(showcase.get("trial", ""))),
    )


def _title(summary: Summary) -> str:
    return str(summary.layout.get("title", summary.layout["benchmark"]))
