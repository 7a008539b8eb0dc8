"""The parts of the report: answer, benchmarks, order found, how it was made, run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from cdspp.answer import (
    AVERAGE,
    RULE,
    answer,
    by_task,
    compare,
    overall_answer,
    task_title,
    verdict,
)
from cdspp.figures import benchmark_figures
from cdspp.overlap import Overlap, overlap_table
from cdspp.report_graph import graph_svg
from cdspp.report_page import (
    Files,
    Section,
    details,
    figure_html,
    pairs_html,
    table_html,
)
from cdspp.report_run import (
    FitRecord,
    failed_trials,
    run_facts,
    time_table,
)
from cdspp.statistics import RESAMPLES, Summary, mean_sd
from cdspp.table_formats import html_name
from cdspp.tables import build_benchmark_tables

__all__ = [
    "benchmark_section",
    "data_section",
    "graph_section",
    "header_html",
    "numbers_section",
    "order_section",
    "rerun_section",
    "run_section",
]

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
    "confusion": (
        "Who is mistaken for whom: {method} on {task}, last iteration, summed over "
        "trials. Colour: share of the true class; numbers: samples."
    ),
    "subspace": (
        "The common subspace of {method} on {task}, trial {trial}, in one fixed "
        "two-dimensional view for all iterations. Colour: true class (used for the "
        "picture only)."
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


def benchmark_section(
    summary: Summary, files: Files, overlaps: Sequence[Overlap] = ()
) -> Section:
    """Show the tables and figures of one benchmark, and what is on both sides."""
    tables = {
        table.name.partition("_")[0]: table_html(table, files)
        for table in build_benchmark_tables(summary)
    }
    figures = {
        kind: figure_html(name, _caption(kind, summary), files)
        for name in benchmark_figures(summary.layout)
        if (kind := name.partition("_")[0])
    }
    facts = str(summary.layout.get("summary", ""))
    helped, few = tables["source-help"], len(summary.tasks) <= _MOST_TASKS
    parts = [
        f"<p>{escape(facts)}</p>" if facts else "",
        f"<p>{escape(answer(compare(summary)))}</p>",
        tables["accuracy"],
        figures["methods"],
        helped if few else details("Did the source help, task by task", helped),
        figures["iterations"],
        figures.get("subspace", ""),
        figures.get("confusion", ""),
        _overlap_html(summary, files, overlaps),
        details("Mean accuracy per class", tables["class-accuracy"]),
        details("Accuracy by iteration, as a table", tables["iterations"]),
    ]
    anchor = f"benchmark-{summary.layout['benchmark']}"
    return Section(anchor, _title(summary), "\n".join(filter(None, parts)))


def _overlap_html(summary: Summary, files: Files, overlaps: Sequence[Overlap]) -> str:
    """Show the audit: the tasks that share samples, and that the others share none."""
    if not overlaps:
        return ""
    if shared := [overlap for overlap in overlaps if overlap.shared_samples]:
        table = table_html(overlap_table(shared, summary.layout), files)
        none = "<p>No other task shares a sample in any trial.</p>"
        return table + (none if len(shared) < len(overlaps) else "")
    return (
        "<p>Overlap audit: no test sample of any task and trial is a labelled source "
        "sample.</p>"
    )


def order_section(summaries: Sequence[Summary]) -> Section:
    """Order the baseline, the supervised variant and the reference on each task."""
    lines = []
    for summary in summaries:
        layout = summary.layout
        reference = layout.get("reference")
        keys = (layout.get("baseline"), f"{reference}-sup", reference)
        rows = [row for key in keys if (row := summary.find(key)) is not None]
        for place, task in enumerate(summary.tasks):
            chain, share = _order(summary, rows, place)
            lines.append(
                f'<tr><th scope="row">{escape(_title(summary))}</th>'
                f'<td class="text">{escape(task_title(task))}</td>'
                f'<td class="text chain">{chain}</td><td>{share}</td></tr>'
            )
    content = (
        "<p>In the paper the baseline comes last, the supervised variant in the "
        "middle, the full method first. Here, in percent, by mean over trials:</p>\n"
        '<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Benchmark'
        '</th><th scope="col" class="text">Task</th><th scope="col" class="text">Order '
        'found</th><th scope="col">Trials in the paper\'s order</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    return Section("order", "The order found", content)


def numbers_section() -> Section:
    """Say how the numbers are made."""
    points = (
        "A trial is one draw of labelled samples. All methods see the same draws, so "
        "differences are taken trial by trial (paired).",
        "Accuracy is measured on the unlabelled target samples. They are both what a "
        "semi-supervised method learns from (without labels) and what it is tested on: "
        "the transductive protocol of the paper.",
        "The result of a trial is its last iteration; no iteration is picked by its "
        "accuracy.",
        "A number in parentheses is the standard deviation over trials, divided by "
        "n − 1. A deviation of a single trial is a dash.",
        "An average over tasks is taken within each trial first, then over trials. A "
        "trial counts only if every task has it.",
        f"Intervals are 95 % percentile bootstrap intervals over trials "
        f"({RESAMPLES:,} resamples, fixed seed). With ten trials they are a little too "
        "short. They speak of other draws of labelled samples from the same data, not "
        "of other data, and are not corrected for the number of tasks.",
        "A dash is a cell that did not run or failed; where only some trials ran, the "
        "cell says how many. Such cells and shortened rows take no part in bold.",
    )
    items = "".join(f"<li>{escape(point)}</li>" for point in points)
    return Section("numbers", "How the numbers are made", f"<ul>{items}</ul>")


def data_section(study: Mapping[str, Any]) -> Section:
    """Say what the data are, where they come from and how to cite them."""
    items = []
    for entry in study.get("data", ()):
        cites = "".join(f"<li>{escape(text)}</li>" for text in entry.get("cite", ()))
        items.append(
            f"<p><b>{escape(entry['title'])}.</b> {escape(entry['content'])} Source: "
            f"{escape(entry['source'])} Licence: {escape(entry['licence'])}</p>"
            + (f"<ul>{cites}</ul>" if cites else "")
        )
    return Section("data", "The data", "\n".join(items))


def graph_section(summaries: Sequence[Summary]) -> Section:
    """Draw the job graph and say what it proves."""
    kept = [s for s in summaries if s.layout.get("overlap") == "keep"]
    exception = (
        "<p>One exception is the protocol's own: in a task within one domain the "
        "published splits draw source and target samples from the same files. Those on "
        "both sides, where the source names the class of a test sample, are kept in "
        f"{escape(' and '.join(map(_title, kept)))}; the overlap table counts them."
        "</p>\n"
    )
    content = (
        "<p>The labels of test samples are kept out of every fit by the job graph, not "
        "by trust. No input of a fit holds one: features have no labels at all, and "
        "the splits keep only those of source samples and of the few labelled target "
        "samples. The subspace that a figure shows is computed from the same inputs as "
        "the fit.</p>\n"
        f"{exception if kept else ''}"
        f'<figure><div class="scroll" tabindex="0">{graph_svg()}</div>\n'
        '<figcaption class="key"><i class="secret"></i>with test labels'
        '<i class="known"></i>labels of source and labelled target rows only'
        "<i></i>no labels</figcaption></figure>"
    )
    return Section("graph", "Where the test labels go", content)


def run_section(
    summaries: Sequence[Summary],
    records: Sequence[FitRecord],
    study: Mapping[str, Any],
    digests: Sequence[tuple[str, str]],
    files: Files,
) -> Section:
    """Say what was run, where, for how long, and what failed."""
    rows = [row for summary in summaries for row in summary.rows]
    names = {row.method: row.printed for row in rows if row.setting == "main"}
    parts = [pairs_html(run_facts(records, study))]
    if failed := failed_trials(records, names):
        items = "".join(f"<li>{escape(text)}</li>" for text in failed)
        heading = f"Failed trials ({len(failed)})"
        parts.append(details(heading, f"<ul>{items}</ul>", opened=len(failed) <= 10))
    if records:
        parts.append(table_html(time_table(records, names), files))
    if digests:
        parts.append(details("Digests of the features (SHA-256)", pairs_html(digests)))
    if config := study.get("config"):
        text = json.dumps(config, indent=2, ensure_ascii=False, default=str)
        parts.append(details("The configuration as run", f"<pre>{escape(text)}</pre>"))
    return Section("run", "What was run", "\n".join(parts))


def rerun_section(study: Mapping[str, Any]) -> Section:
    """Say how to run it again."""
    name = shlex.quote(str(study.get("study", "embedded")))
    commands = study.get("commands") or ["make study", "snakemake --cores 8"]
    text = "\n".join(map(str, commands))
    content = (
        f"<pre><code>{escape(text)}</code></pre>\n"
        "<p>Finished jobs are not repeated: more trials, a new task or a new method "
        "add only what is missing. Equal configuration, versions and machine type give "
        "equal predictions, byte for byte. "
        f"<code>{escape(f'cdspp summary results/{name}')}</code> prints the headline "
        "again.</p>"
    )
    return Section("rerun", "How to run it again", content)


def _order(summary: Summary, rows: Sequence[int], task: int) -> tuple[str, str]:
    values = summary.accuracy[list(rows), task]
    means = [mean_sd(trials)[0] for trials in values]
    known = sorted(
        (mean, row) for mean, row in zip(means, rows, strict=True) if np.isfinite(mean)
    )
    chain = " &lt; ".join(
        f"<span>{html_name(summary.rows[row].printed)} {100 * mean:.1f}</span>"
        for mean, row in known
    )
    both = values[:, np.isfinite(values).all(axis=0)] if len(values) else values
    if len(rows) < 2 or not both.shape[1]:
        return chain or "–", "–"
    kept = int((np.diff(both, axis=0) > 0).all(axis=0).sum())
    return chain, f"{kept} of {both.shape[1]}"


def _caption(kind: str, summary: Summary) -> str:
    showcase = summary.layout.get("showcase") or {}
    row = summary.find(showcase.get("method"))
    method = (
        str(showcase.get("method", "")) if row is None else summary.rows[row].printed
    )
    return escape(_CAPTIONS[kind]).format(
        method=html_name(method),
        task=escape(task_title(str(showcase.get("task", "")))),
        trial=escape(str(showcase.get("trial", ""))),
    )


def _title(summary: Summary) -> str:
    return str(summary.layout.get("title", summary.layout["benchmark"]))
