"""The report: one page that asks whether the source helped, and its plain-text gist."""

from __future__ import annotations

import csv
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.source_help import answer, read_comparisons
from cdspp.analysis.summary import Layout, Summary, read_summary
from cdspp.core.artifacts import atomic
from cdspp.core.errors import DataError
from cdspp.core.wording import marks, percent
from cdspp.report.figures.source_help import source_help_caption
from cdspp.report.page.audit import (
    data_section,
    graph_section,
    numbers_section,
    overlap_section,
    rerun_section,
    run_section,
)
from cdspp.report.page.blocks import Files, Section, figure_html, page_html
from cdspp.report.page.sections import (
    PAPER,
    TABLES,
    figure_section,
    header_html,
    single_table,
    table_section,
)

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
    max_bytes = min(_MAX_SVG, _SVG_BUDGET // max(1, len(figures)))
    files = Files.of([*tables, *figures], max_bytes=max_bytes)
    digests = [_named_digest(path) for path in map(Path, features)]
    sections = [
        *_results(summaries, files),
        overlap_section(summaries, files),
        graph_section(summaries),
        numbers_section(),
        data_section(study),
        run_section(summaries, read_fit_records(fit_records), study, digests),
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


def _results(summaries: Sequence[Summary], files: Files) -> list[Section]:
    """Return the sections from the chart to the deviations, in the page's order."""
    layouts = [summary.layout for summary in summaries]
    opening = figure_html("source-help", source_help_caption(layouts), files)
    return [
        Section("chart", "With the source, and without", opening),
        single_table("overview", "All methods at a glance", files, group=TABLES),
        single_table("gains", "Was the source worth it?", files, group=TABLES),
        *(table_section(summary, files) for summary in summaries),
        single_table("times", "What it costs", files, group=TABLES),
        single_table("printed", "Printed and reproduced", files, group=TABLES),
        *(figure_section(summary, files) for summary in summaries),
        single_table("claims", "What the paper claims", files, group=PAPER),
        single_table(
            "deviations",
            "Where paper and released code differ",
            files,
            group=PAPER,
        ),
    ]


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
        signs = marks(
            supervised=record["kind"] == "supervised",
            shortened=record["shortened"] == "true",
        )
        names.setdefault(record["row"], record["printed"] + signs)
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
