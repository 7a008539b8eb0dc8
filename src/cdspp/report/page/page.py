"""The report: one page on whether the source helped, made from templates.

It reads gains from the tables that it shows.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cdspp.analysis import answers, fit_records, kinds
from cdspp.analysis.pairwise import leader, read_pairwise
from cdspp.analysis.source_help import of_reference, on_average, read_comparisons
from cdspp.analysis.transfer import OVER_OWN_FIT, OVER_STRONGEST, Transfer
from cdspp.analysis.verdicts import INTERVAL_TRIALS, MIN_TRIALS
from cdspp.core import wording
from cdspp.core.jobs import processor_time
from cdspp.core.names import BASELINE, REFERENCE, PathLike
from cdspp.core.outputs import atomic
from cdspp.report import registry
from cdspp.report.tables.contents import untrained_text
from cdspp.report.tables.table import (
    Cell,
    Table,
    from_markdown,
    html_name,
    number_cell,
    to_fragment,
)
from cdspp.study.files import FIGURE_FORMS, TABLE_FORMS
from cdspp.study.model import RunDescription
from cdspp.study.plan import Plans
from cdspp.study.shared_files import write_features_index
from cdspp.study.stale import digests_of_files, write_digests

if TYPE_CHECKING:
    from cdspp.analysis.comparison import Comparison

_CAPTION = re.compile(r"<dc:description>(.*?)</dc:description>", re.DOTALL)
_FORMS = [f".{form}" for form in (*TABLE_FORMS, *FIGURE_FORMS)]


def write_report(
    *,
    plans: Plans,
    tables: Sequence[PathLike],
    figures: Sequence[PathLike],
    records: Sequence[PathLike],
    study: RunDescription,
    output: PathLike,
    files: Sequence[PathLike] = (),
) -> None:
    """Write the report: a single self-contained HTML file.

    `tables` and `figures` are any format of each; other formats are expected next to
    it. The page and a file next to it state the digests of its input `files`.
    """
    page = Path(output)
    digests = digests_of_files(files, page.absolute().parents[2])
    stems = dict.fromkeys(Path(path).with_suffix("") for path in (*tables, *figures))
    candidates = [stem.with_name(stem.name + form) for stem in stems for form in _FORMS]
    assets = {file.name: file for file in reversed(candidates) if file.is_file()}
    fits = fit_records.read_fit_records(records, plans)
    context = {
        "study": study,
        "run": describe_run(fits, plans, study),
        "n_digests": len(digests),
        "digests": "".join(f"{digest}  {name}\n" for name, digest in digests.items()),
        **_findings(plans, assets),
    }
    templates = environment(plans)
    protocols = {plan.protocol for plan in plans}
    embedder = _Embedder(assets, _method_names(plans), protocols, templates)
    if forest := assets.get("forest.svg"):
        context["forest_caption"] = embedder.caption(forest)
    sections = list(_sections(plans, embedder, context))
    groups = groupby(sections, itemgetter("group"))
    text = templates.get_template("page.html.j2").render(
        context,
        sections=sections,
        contents=[(group, list(members)) for group, members in groups],
    )
    write_page(text, page)
    write_digests(page, study.config, digests)
    write_features_index(page.absolute().parents[2])


def write_page(text: str, output: PathLike) -> None:
    """Write a page on which no percentage breaks across lines."""
    text = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
    with atomic(output) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _findings(plans: Plans, files: Mapping[str, Path]) -> dict[str, Any]:
    rows = [row for plan in plans for row in plan.main_rows]
    informed = [row.display_name for row in rows if row.kind == "informed"]
    source_gains, notes, openings, counts = [], {}, [], []
    forest: list[tuple[str, list[kinds.MethodTransfer]]] = []
    for plan in plans:
        gains = files.get(f"source-help_{plan.benchmark}.csv")
        contents = files.get(f"contents_{plan.benchmark}.csv")
        pairs = files.get(f"pairwise_{plan.benchmark}.csv")
        comparisons, pairwise = read_comparisons(gains), read_pairwise(pairs)
        if pairs:
            openings.append(kinds.opening(comparisons, pairwise))
            corrected = plan.holm_over_methods
            methods = kinds.every_method(comparisons, pairwise, corrected=corrected)
            forest.append((plan.title, methods))
        untrained = untrained_text(contents) if contents else ""
        notes[plan.benchmark] = [leader(pairwise), plan.summary, untrained]
        counts.append(kinds.count_verdicts(plan.title, comparisons))
        average = on_average(of_reference(comparisons))
        average = average[average["trials"] >= MIN_TRIALS]
        if gains_of_reference := answers.gain_without_source(average):
            source_gains.append((plan.title, *gains_of_reference))
    return {
        "rule": registry.RULE,
        "margin": plans[0].margin if plans else 1.0,
        "over_own_fit": OVER_OWN_FIT,
        "over_strongest": OVER_STRONGEST,
        "kept": [plan.title for plan in plans if plan.overlap == "keep"],
        "informed": list(dict.fromkeys(informed)),
        "source_gains": source_gains,
        "question": kinds.QUESTION,
        "statement": kinds.statement(openings),
        "openings": openings,
        "words": Transfer.words(),
        **_forest(forest),
        "axis": Axis.of(kind.of for opening in openings for kind in opening.kinds),
        "protocols": [plan.protocol for plan in plans],
        "notes": notes,
        "counts": list(filter(None, counts)),
    }


def _forest(
    benchmarks: Sequence[tuple[str, Sequence[kinds.MethodTransfer]]],
) -> dict[str, Any]:
    """Return the methods by kind of each benchmark, and the axis of their gains."""
    every = [method for _, methods in benchmarks for method in methods]
    return {
        "forest": [(title, kinds.by_kind(methods)) for title, methods in benchmarks],
        "forest_axis": Axis.of([*every, *(each.over_strongest for each in every)]),
        "forest_caption": "",
    }


def environment(plans: Plans = ()) -> Environment:
    """Return the templates; `named` inserts reference and baseline into a sentence."""
    templates = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["interval_trials"] = INTERVAL_TRIALS
    fields = _fields(plans)
    templates.filters |= {
        "named": lambda text: escape(text).format(**fields),
        "in_points": wording.in_points,
        "share": lambda x: wording.DASH if x != x else f"{wording.in_points(x)} %",
        "capital": wording.sentence,
        "method_name": lambda name: Markup(html_name(name)),
        "task_title": wording.task_title,
        "base64": lambda content: base64.b64encode(content).decode(),
    }
    return templates


def _fields(plans: Plans) -> dict[str, str]:
    fields = registry.caption_fields(plans)
    names = {role: Markup(html_name(fields[role])) for role in (REFERENCE, BASELINE)}
    return {**fields, **names}


def _method_names(plans: Plans) -> set[str]:
    rows = [row for plan in plans for row in plan.rows]
    rows += [row for plan in plans for curve in plan.curves for row in curve.rows]
    return {row.display_name for row in rows}


def _sections(
    plans: Plans, embedder: _Embedder, context: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    templates = embedder.templates
    for part in registry.page_parts():
        name, of_each, _ = part.anchor.partition("-{")
        names = [f"sections/{name}.html.j2", "sections/items.html.j2"]
        template = templates.select_template(names)
        for plans_of_part in [[plan] for plan in plans] if of_each else [plans]:
            fields = vars(plans_of_part[0]) if plans_of_part else {}
            shown = [
                (item.fold, markup)
                for item in part.items
                for name in registry.item_names(item, plans_of_part)
                if (markup := embedder.show(item, name, plans_of_part))
            ]
            shown.sort(key=lambda pair: pair[0] is not None)  # folds come last
            groups = groupby(shown, key=itemgetter(0))
            folds = [(fold, [markup for _, markup in pairs]) for fold, pairs in groups]
            content = template.render(context, folds=folds, plan=fields)
            if content := Markup(content).strip():
                yield {
                    "anchor": part.anchor.format_map(fields),
                    "heading": part.heading.format_map(fields),
                    "content": content,
                    "group": part.group,
                    "sentence": templates.filters["named"](part.sentence),
                }


@dataclass(frozen=True)
class _Embedder:
    """Writes a table or figure as HTML, and nothing if it is absent."""

    files: Mapping[str, Path]
    method_names: Collection[str]
    protocols: Collection[str]
    templates: Environment

    def show(self, item: registry.Item, name: str, plans: Plans) -> Markup:
        """Show the parts of an item in `plans` under a name."""
        frames: Any = self.templates.get_template("embed.html.j2").module
        if item.kind != registry.FIGURE:
            files = (self.files.get(f"{name}.{form}") for form in TABLE_FORMS)
            downloads = list(filter(None, files))
            if not any(map(item.shown, plans)):
                return Markup(frames.files(downloads, name)).strip()
            if (markdown := self.files.get(f"{name}.md")) is None:
                return Markup()
            table = from_markdown(markdown.read_text("utf-8"), self.method_names)
            table = replace(table, caption=self.without_protocol(table.caption))
            content = Markup(to_fragment(table))
            return Markup(frames.table(name, content, downloads)).strip()
        svg = self.files.get(f"{name}.svg")
        if svg is None or not any(map(item.shown, plans)):
            return Markup()
        label = item.caption.format(**registry.caption_fields(plans))
        picture = inline_svg(svg.read_text("utf-8"), prefix=name, label=label)
        return Markup(frames.figure(name, picture, self.caption(svg))).strip()

    def caption(self, svg: Path) -> Markup:
        """Return the caption in the file of a figure, without the protocol."""
        text = str(escape(self.without_protocol(caption_of(svg))))
        names = {str(escape(name)): html_name(name) for name in self.method_names}
        for name in sorted((n for n in names if "_" in n), key=len, reverse=True):
            text = text.replace(name, names[name])
        return Markup(text)

    def without_protocol(self, text: str) -> str:
        """Remove the numbers of trials and labels, which the opening states."""
        for protocol in self.protocols:
            text = re.sub(f"( ?Main run of)? ?{re.escape(protocol)}", "", text)
        return text


def caption_of(svg: Path) -> str:
    """Return the caption in the file of a figure."""
    found = _CAPTION.search(svg.read_text("utf-8"))
    return unescape(found.group(1)) if found else ""


def inline_svg(text: str, *, prefix: str, label: str) -> Markup:
    """Embed an SVG file in a page: unique identifiers, own styles, no addresses."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<(metadata|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", text)
    text = text.replace("xlink:href=", "href=")
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    head, rest = text.split(">", 1)
    size = re.search(r'viewBox="0 0 ([\d.]+)', head)
    # Pixels per point: 9 pt labels appear at the size of the page's small print.
    wide = round(1.6 * float(size.group(1))) if size else 900
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
    return Markup(
        f'{head} role="img" aria-label="{escape(label)}" '
        f'style="--width:{wide}px;stroke-linejoin:round;stroke-linecap:butt">{rest}'
    )


def describe_run(
    records: fit_records.FitRecords, plans: Plans, study: RunDescription
) -> dict[str, Any]:
    """Describe a run for the page: jobs, failures, time, versions."""
    rows = [row for plan in plans for row in plan.rows if row.key == row.method]
    names = {row.method: row.display_name for row in rows}
    results = records.results
    table = to_fragment(_time_table(results, names)) if len(results) else ""
    return {
        "description": _description(records, study),
        "failed": fit_records.failure_text(results),
        "mixed": fit_records.mixed_fits_text(records.jobs),
        "names": names,
        "failures": list(records.failed.itertuples()),
        "time_table": Markup(table),
        "config": json.dumps(study.config, indent=2, ensure_ascii=False, default=str),
    }


def _time_table(results: pd.DataFrame, names: Mapping[str, str]) -> Table:
    fits = results.assign(failed=results["status"] != "ok")
    by_method = fits.groupby("method", sort=False).agg(
        fits=("status", "size"),
        failed=("failed", "sum"),
        median=("seconds", "median"),
        total=("seconds", lambda seconds: seconds.sum(min_count=1)),
        peak=("peak_memory_mb", "max"),
    )
    columns = {
        "Method": lambda method: Cell(names.get(method.Index, method.Index), name=True),
        "Fits": lambda method: number_cell(method.fits),
        "Failed": lambda method: number_cell(method.failed),
        "Median s": lambda method: number_cell(method.median, "{:.2f}"),
        "Total s": lambda method: number_cell(method.total, "{:.1f}"),
        "Peak MB": lambda method: number_cell(method.peak, "{:.0f}"),
    }
    return Table.of(
        "time",
        "Time and memory of the fits",
        "All settings together, without the start-up of the jobs. Memory: highest of "
        "any trial.",
        columns,
        by_method.itertuples(),
    )


def _description(
    records: fit_records.FitRecords, study: RunDescription
) -> list[tuple[str, str]]:
    results = records.results
    fits = f"{len(results)} in {len(records.jobs)} jobs, {len(records.failed)} failed"
    starting, total = processor_time(study.logs)
    start_up = ""
    if total:
        share = f"{100 * starting / total:.0f} % of the CPU time of all jobs"
        times = f"{wording.duration(starting)} of {wording.duration(total)}"
        start_up = f"{share} ({times})"
    pairs = [
        ("Study", study.name),
        ("Seed", study.config.get("seed")),
        ("Trials", study.config.get("trials")),
        ("Numeric threads", study.config.get("numeric_threads")),
        ("Fits", fits if len(results) else None),
        ("Accepted", fit_records.accepted_text(records.jobs)),
        ("Time in fits", wording.duration(results["seconds"].sum())),
        ("Start-up", start_up),
        ("Versions", _listed(records.common("versions"))),
        ("Hardware", _listed(records.common("platform"))),
    ]
    return [(name, str(value)) for name, value in pairs if value not in (None, "")]


def _listed(value: Any) -> str | None:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_listed(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(str(_listed(item)) for item in value)
    return None if value is None else str(value)


def write_comparison(comparison: Comparison, rows: list[str], output: PathLike) -> None:
    """Write a comparison as a single HTML file; `rows` describe the input files."""
    context: dict[str, Any] = {"gain": None}
    if gain := comparison.source_gain:
        numbers = {**gain._asdict(), "accuracy": comparison.accuracy.value}
        context = {"gain": SimpleNamespace(**numbers, verdict=gain.verdict)}
        context["axis"] = Axis.of([gain])
    template = environment().get_template("comparison.html.j2")
    write_page(template.render(context, comparison=comparison, rows=rows), output)


def write_inspection(
    parts: Sequence[tuple[str, Sequence[Sequence[str]]]],
    views: Sequence[tuple[str, Sequence[str]]],
    output: PathLike,
) -> None:
    """Write texts with their tables, and pictures below titles, as one HTML file."""
    template = environment().get_template("inspection.html.j2")
    write_page(template.render(parts=parts, views=views), output)


class Axis(NamedTuple):
    """An axis of gains, fractions, from `least` to `most`; positions in percent."""

    least: float
    most: float

    @classmethod
    def of(cls, lines: Iterable[Any]) -> Axis:
        """Return the axis of lines with a `gain` and its interval, including zero."""
        numbers = [end for line in lines for end in (line.gain, line.low, line.high)]
        ends = [-0.01, 0.01, *filter(math.isfinite, numbers)]
        return cls(min(ends), max(ends))

    @property
    def ticks(self) -> list[int]:
        """The numbers below the axis, in points."""
        span = 100 * (self.most - self.least)
        step = next((step for step in (1, 2, 5, 10, 20) if span <= 8 * step), 100)
        first, last = 100 * self.least / step, 100 * self.most / step
        return list(range(step * math.ceil(first), step * math.floor(last) + 1, step))

    def place(self, gain: float) -> float:
        """Return the position of a gain."""
        return round(100 * (gain - self.least) / (self.most - self.least), 2)

    def end(self, line: Any) -> float:
        """Return the end of a line: its interval, or its gain if that is unknown."""
        return self.place(line.gain if math.isnan(line.high) else line.high)
