"""The report: one page that asks whether the source helped, and its plain-text gist."""

from __future__ import annotations

import csv
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from cdspp.answer import answer, read_comparisons
from cdspp.artifacts import atomic
from cdspp.errors import DataError
from cdspp.figure_source import source_help_caption
from cdspp.overlap import Overlap, read_overlap
from cdspp.report_page import Files, Section, figure_html, page_html, table_html
from cdspp.report_run import read_fit_records
from cdspp.report_sections import (
    benchmark_section,
    data_section,
    graph_section,
    header_html,
    numbers_section,
    order_section,
    rerun_section,
    run_section,
)
from cdspp.statistics import Layout, Summary, read_summary
from cdspp.table_formats import percent
from cdspp.tables import build_overview

__all__ = ["headline", "write_report"]

PathLike = str | os.PathLike[str]

_SVG_BUDGET = 3_000_000
_MAX_SVG = 800_000


def write_report(
    *,
    layouts: Sequence[Layout],
    scores: Sequence[PathLike],
    tables: Sequence[PathLike],
    figures: Sequence[PathLike],
    fit_records: Sequence[PathLike],
    study: Mapping[str, Any],
    output: PathLike,
    features: Sequence[PathLike] = (),
) -> None:
    """Write the report: a single HTML file that needs nothing else.

    Parameters
    ----------
    layouts : sequence of mapping
        The benchmarks.
    scores : sequence of path
        Score files, in the order of `layouts`.
    tables, figures : sequence of path
        Any form of the study's tables and figures; other forms of the same name are
        looked for beside it, absent ones are left out.
    fit_records : sequence of path
        The JSON files beside the predictions.
    study : mapping
        What was run; all keys are optional: study, title, seed, trials,
        numeric_threads, versions, hardware, config, commands, data (entries of the
        catalogue), and logs, the files and folders that tell the processor time of
        the jobs.
    output : path
        File to write.
    features : sequence of path
        Feature files (``<dataset>/<domain>.<view>.npz``) whose digests are stated.
    """
    summaries = [read_summary(*pair) for pair in zip(scores, layouts, strict=True)]
    records = read_fit_records(fit_records)
    max_bytes = min(_MAX_SVG, _SVG_BUDGET // max(1, len(figures)))
    files = Files.of([*tables, *figures], max_bytes=max_bytes)
    digests = [_named_digest(path) for path in map(Path, features)]
    opening = figure_html("source-help", source_help_caption(layouts), files)
    overview = table_html(build_overview(summaries), files)
    overlaps = [_overlaps(summary, tables) for summary in summaries]
    sections = [
        Section("chart", "With the source, and without", opening),
        Section("overview", "All methods at a glance", overview),
        *map(benchmark_section, summaries, repeat(files), overlaps),
        order_section(summaries),
        numbers_section(),
        graph_section(summaries),
        data_section(study),
        run_section(summaries, records, study, digests, files),
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


def _overlaps(summary: Summary, tables: Sequence[PathLike]) -> list[Overlap]:
    name = f"overlap_{summary.layout['benchmark']}.csv"
    found = (path for path in map(Path, tables) if path.name == name)
    return [overlap for path in found for overlap in read_overlap(path)]


def _named_digest(path: Path) -> tuple[str, str]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return f"{path.parent.name}/{path.stem}", digest


def _aligned(records: Sequence[Mapping[str, str]]) -> list[str]:
    titles = {record["benchmark"]: record["title"] for record in records}
    rows: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    for record in records:
        mean, sd = (float(record[key] or math.nan) for key in ("mean", "sd"))
        marks = "*" if record["kind"] == "supervised" else ""
        marks += "†" if record["shortened"] == "true" else ""
        names.setdefault(record["row"], record["printed"] + marks)
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
