"""The parts of the report that let a reader check it: overlap, labels, data, run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from cdspp.analysis.fit_records import FitRecord
from cdspp.analysis.resampling import RESAMPLES
from cdspp.analysis.summary import Summary
from cdspp.core.names import MAIN
from cdspp.report.page.blocks import (
    Files,
    Section,
    details,
    fragment_html,
    pairs_html,
    table_html,
)
from cdspp.report.page.graph import graph_svg
from cdspp.report.page.run import failed_trials, run_facts, time_table
from cdspp.report.tables.table import to_fragment

__all__ = [
    "AUDIT",
    "data_section",
    "graph_section",
    "numbers_section",
    "overlap_section",
    "rerun_section",
    "run_section",
]

AUDIT = "Audit"


def overlap_section(summaries: Sequence[Summary], files: Files) -> Section:
    """Count the test samples that the source has labelled, benchmark by benchmark."""
    tables = [
        table_html(f"overlap_{summary.layout['benchmark']}", files)
        for summary in summaries
    ]
    content = "\n".join(filter(None, tables))
    return Section("overlap", "Samples on both sides", content, AUDIT)


def graph_section(summaries: Sequence[Summary]) -> Section:
    """Draw the job graph and say what it proves."""
    kept = [s for s in summaries if s.layout.get("overlap") == "keep"]
    titles = " and ".join(str(summary.layout["title"]) for summary in kept)
    exception = (
        "<p>One exception is the protocol's own: in a task within one domain the "
        "published splits draw source and target samples from the same files. Those on "
        "both sides, where the source names the class of a test sample, are kept in "
        f"{escape(titles)}; the overlap table counts them.</p>\n"
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
    return Section("graph", "Where the test labels go", content, AUDIT)


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
        "Gains over several tasks have intervals over target domains: all tasks of a "
        "target share its samples and its baseline, so that they are no independent "
        "samples. With few target domains such an interval is coarse.",
        "A dash is a cell that did not run or failed; where only some trials ran, the "
        "cell says how many. Such cells and shortened rows take no part in bold.",
    )
    items = "".join(f"<li>{escape(point)}</li>" for point in points)
    return Section("numbers", "How the numbers are made", f"<ul>{items}</ul>", AUDIT)


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
    return Section("data", "Data, sources, licences", "\n".join(items), AUDIT)


def run_section(
    summaries: Sequence[Summary],
    records: Sequence[FitRecord],
    study: Mapping[str, Any],
    digests: Sequence[tuple[str, str]],
) -> Section:
    """Say what was run, where, for how long, and what failed."""
    rows = [row for summary in summaries for row in summary.rows]
    names = {row.method: row.display_name for row in rows if row.setting == MAIN}
    parts = [pairs_html(run_facts(records, study))]
    if failed := failed_trials(records, names):
        items = "".join(f"<li>{escape(text)}</li>" for text in failed)
        heading = f"Failed trials ({len(failed)})"
        parts.append(details(heading, f"<ul>{items}</ul>", opened=len(failed) <= 10))
    if records:
        times = time_table(records, names)
        parts.append(fragment_html(times.name, to_fragment(times)))
    if digests:
        parts.append(details("Digests of the features (SHA-256)", pairs_html(digests)))
    if config := study.get("config"):
        text = json.dumps(config, indent=2, ensure_ascii=False, default=str)
        parts.append(details("The configuration as run", f"<pre>{escape(text)}</pre>"))
    return Section("run", "What was run", "\n".join(parts), AUDIT)


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
