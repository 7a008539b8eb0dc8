"""The report: one page that asks whether the source helped, and its plain-text gist."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cdspp.answer import answer, read_comparisons
from cdspp.artifacts import atomic
from cdspp.errors import DataError
from cdspp.figures import benchmark_figures
from cdspp.report_page import Section, figure_html, page_html, table_html
from cdspp.report_run import read_fit_records
from cdspp.report_sections import (
    benchmark_section,
    graph_section,
    header_html,
    numbers_section,
    order_section,
    rerun_section,
    run_section,
)
from cdspp.statistics import Layout, read_summary
from cdspp.table_formats import percent
from cdspp.tables import build_overview

__all__ = ["headline", "write_report"]

PathLike = str | os.PathLike[str]

_SVG_BUDGET = 3_000_000
_OPENING = (
    "Accuracy of the baseline, of the controls and of the method with its real source, "
    "task by task: mean over trials and 95 % bootstrap interval. Right: the paired "
    "gain over the strongest control, in points, with its interval; blue where the "
    "source helps, red where it hurts, grey where there is no evidence. All panels "
    "have the same scale; none starts at zero."
)


def write_report(
    *,
    layouts: Sequence[Layout],
    tables_dir: PathLike,
    figures_dir: PathLike,
    scores: Sequence[PathLike],
    fit_records: Sequence[PathLike],
    study: Mapping[str, Any],
    output: PathLike,
) -> None:
    """Write the report: a single HTML file that needs nothing else.

    Parameters
    ----------
    layouts : sequence of mapping
        The benchmarks.
    tables_dir, figures_dir : path
        Folders of the study's tables and figures; absent ones are left out.
    scores : sequence of path
        Score files, in the order of `layouts`.
    fit_records : sequence of path
        The JSON files beside the predictions.
    study : mapping
        What was run; all keys are optional: study, title, seed, trials,
        numeric_threads, versions, hardware, features (digest by name), config,
        commands.
    output : path
        File to write.
    """
    summaries = [read_summary(*pair) for pair in zip(scores, layouts, strict=True)]
    records = read_fit_records(fit_records)
    n_figures = 1 + sum(len(benchmark_figures(layout)) for layout in layouts)
    max_bytes = min(800_000, _SVG_BUDGET // n_figures)
    opening = figure_html(
        "source-help", _OPENING, figures_dir=figures_dir, max_bytes=max_bytes
    )
    overview = table_html(build_overview(summaries), tables_dir=tables_dir)
    sections = [
        Section("chart", "With the source, and without", opening),
        Section("overview", "All methods at a glance", overview),
        *(
            benchmark_section(
                summary,
                tables_dir=tables_dir,
                figures_dir=figures_dir,
                max_bytes=max_bytes,
            )
            for summary in summaries
        ),
        order_section(summaries),
        numbers_section(),
        graph_section(),
        run_section(records, study, tables_dir=tables_dir),
        rerun_section(study),
    ]
    page = page_html(
        title=f"Did the source help? {study.get('title') or study.get('study') or ''}",
        header=header_html(summaries, study),
        sections=[section for section in sections if section.content],
        footer="Made by cdspp from the files named above.",
    )
    with atomic(output) as temporary:
        temporary.write_text(page, encoding="utf-8")


def headline(results_dir: PathLike) -> str:
    """Write the overview for a terminal, the answers, and where the report lies.

    Parameters
    ----------
    results_dir : path
        Folder of a study, ``results/<study>``.

    Returns
    -------
    str
        Aligned text, several lines.

    Raises
    ------
    DataError
        The study has no overview table yet.
    """
    folder = Path(results_dir)
    overview = folder / "tables" / "overview.csv"
    if not overview.is_file():
        raise DataError(f"{overview} does not exist. Run the study first: make study")
    with overview.open(encoding="utf-8", newline="") as stream:
        records = list(csv.DictReader(stream))
    lines = [*_aligned(records), ""]
    for name in dict.fromkeys(record["benchmark"] for record in records):
        path = folder / "tables" / f"source-help_{name}.csv"
        comparisons = read_comparisons(path) if path.is_file() else []
        if comparisons:
            lines += [f"{comparisons[0].title}: {answer(comparisons)}"]
    report = folder / "report" / "index.html"
    where = (
        f"Report: {report}" if report.is_file() else "The report is not written yet."
    )
    return "\n".join([*lines, "", where])


def _aligned(records: Sequence[Mapping[str, str]]) -> list[str]:
    titles = {record["benchmark"]: record["title"] for record in records}
    rows: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    for record in records:
        mean, sd = (float(record[key] or math.nan) for key in ("mean", "sd"))
        marks = "*" if record["kind"] == "supervised" else ""
        marks += "†" if record["shortened"] == "true" else ""
        names[record["row"]] = names.get(record["row"]) or record["printed"] + marks
        rows.setdefault(record["row"], {})[record["benchmark"]] = percent(mean, sd)
    grid = [["accuracy, percent (sd)", *titles.values()]]
    grid += [
        [names[r], *(cells.get(b, "–") for b in titles)] for r, cells in rows.items()
    ]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    return [
        "  ".join(
            [line[0].ljust(widths[0])]
            + [
                cell.rjust(width)
                for cell, width in zip(line[1:], widths[1:], strict=True)
            ]
        ).rstrip()
        for line in grid
    ]
