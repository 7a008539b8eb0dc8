"""What the page says, and that it needs nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from io import BytesIO
from pathlib import Path

import pandas as pd
from support.page_reader import read_page
from support.report_data import draw_comparisons, make_plan
from support.written_study import write_page

from cdspp.analysis.answers import without_source
from cdspp.analysis.transfer import Transfer
from cdspp.core.files import read_json
from cdspp.core.provenance import file_digest
from cdspp.report.registry import RULE
from cdspp.report.tables.source_help import build_matrix_table
from cdspp.study.plan import BenchmarkPlan

OF_DIGITS = ("methods", "iterations", "subspace", "confusion")
MakePage = Callable[..., Path]


def in_order(text: str, *parts: str) -> bool:
    """Say whether the parts stand in the text in this order."""
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def test_the_page_asks_answers_and_then_shows(page: Path) -> None:
    text, reader = read_page(page)
    assert not re.search(r"\d %", page.read_text(encoding="utf-8"))  # breaks no line
    assert "<h1>Did the source help?</h1>" in text
    assert in_order(
        text,
        "Did the source help?</h1>",
        "The source helps CDSPP (labels only) on Digits; inconclusive for CDSPP",
        'id="figure-kinds"',
        'id="overview"',
        'id="figure-forest"',
        'id="chart"',
        'id="benchmark-digits"',
        'id="benchmark-docs-to-code"',
        'id="claims"',
        'id="times"',
        'id="deviations"',
        'id="graph"',
        'id="numbers"',
        'id="run"',
        'id="rerun"',
    )
    assert len(reader.ids) == len(set(reader.ids))


def section_of(text: str, anchor: str) -> str:
    section = text[text.index(f'<section id="{anchor}">') :]
    return section[: section.index("</section>")]


def test_every_way_is_a_line_with_accuracy_gain_sign_and_word(page: Path) -> None:
    text, _ = read_page(page)
    opening = text[text.index('id="figure-kinds"') : text.index("</figure>")]
    lines = re.findall(r'<li class="[\w-]+">.*?</li>', opening, re.DOTALL)
    assert [" ".join(re.sub(r"<[^>]*>", " ", line).split()) for line in lines] == [
        "Labels only CDSPP 82.4 % ▲ +4.9 ▲ positive transfer",
        "Labels only CDSPP 86.1 % ○ +0.8 ○ inconclusive "
        "trials do not decide (minimum detectable gain 2.0 at 80 % power)",
    ]
    for verdict in (Transfer.POSITIVE, Transfer.INCONCLUSIVE):
        assert opening.count(f'class="{verdict.key}"') == 1
    assert (
        "without a source: 77.7 % (CDSPP, no source, sizes matched), best of 7 fits"
        in opening
    )
    assert "Digits: 10 trials, 20 source and 3 target labels per class." in opening


def test_the_rule_stands_below_the_lines_with_the_states_and_the_margin(
    tmp_path: Path,
) -> None:
    text = text_of(tmp_path, replace(make_plan(), margin=0.5))
    rule = text[text.index('<details id="rule">') :]
    rule = unescape(rule[: rule.index("</details>")])
    shown = [f"<b>{each.label}</b>: {text}</li>" for each, text in RULE.items()]
    assert in_order(rule, *shown, "The margin is ±0.5, in points.", "Controls replace")


def test_every_benchmark_opens_with_the_method_that_leads(page: Path) -> None:
    section = section_of(read_page(page)[0], "benchmark-digits")
    first = section[section.index("<p>") : section.index("</p>")]
    assert first.startswith(
        "<p>CDSPP is the most accurate of 5 methods with all trials: 82.4"
    )
    assert in_order(
        section, "in four styles", 'id="table-pairwise_digits"', "<details>"
    )


def test_the_matrix_of_states_opens_with_the_number_of_methods(page: Path) -> None:
    section = section_of(read_page(page)[0], "overview")
    told = [
        "Digits, 3 methods with controls: positive transfer 2, inconclusive 1.",
        "Docs to code, 3 methods with controls: inconclusive 3.",
    ]
    shown = 'id="figure-forest"', 'id="figure-source-states"', 'id="table-overview"'
    assert in_order(section, *told, *shown)


def test_what_a_figure_shows_is_a_file_in_place_of_a_table(page: Path) -> None:
    text, reader = read_page(page)
    hidden = "source-help", "source-help_digits", "claims", "iterations_digits"
    for name in hidden:
        assert f"table-{name}" not in reader.ids
        for form in ("csv", "md", "tex"):
            assert f'download="{name}.{form}"' in text
    # Of a single task the averages stand in the overview alone.
    assert "table-accuracy_digits" in reader.ids
    assert "table-accuracy_docs-to-code" not in reader.ids
    assert 'download="accuracy_docs-to-code.csv"' in text


def test_numbers_of_labels_are_stated_once_and_names_have_subscripts(
    page: Path,
) -> None:
    text, _ = read_page(page)
    for plan in (make_plan(), make_plan(title="Docs to code")):
        assert text.count(plan.protocol) == 1
    assert "Dashed: SVM<sub>t</sub>, which does not iterate." in text
    assert "Main run of" not in text


def test_the_menu_reads_the_file_that_its_table_offers(page: Path) -> None:
    text, _ = read_page(page)
    place = text.index('id="table-pairwise_digits"')
    table = text[place : text.index("</figure>", place)]
    address = re.search(
        r'download="pairwise_digits.csv" href="data:text/csv;base64,(.*?)"', table
    )
    assert address is not None
    pairs = pd.read_csv(BytesIO(base64.b64decode(address.group(1))))
    order = pairs.drop_duplicates("row").sort_values("rank", kind="stable")
    names = re.findall(r'<th scope="row">(.*?)</th>', table)
    shown = [re.sub(r"<sub>(.*)</sub>", r"_\1", name) for name in names]
    assert shown == order["display_name"].tolist()
    assert {"row", "role", "rank", "comparator", "gain", "low", "high"} <= set(pairs)
    assert 'figure[id^="table-pairwise_"]' in text


def test_what_needs_no_source_is_told_by_averages_of_enough_trials(
    make_page: MakePage, page: Path
) -> None:
    first = section_of(read_page(page)[0], "chart").split("<p>")[1]
    assert re.match(
        r"Over SVM<sub>t</sub>, CDSPP gains \+\d+\.\d points with its source and "
        r"\+\d\.\d without it on Digits; \+\d\.\d and \+\d\.\d on Docs to code\.</p>",
        first,
    )
    text, _ = read_page(make_page([make_plan(tasks=["a_b"], trials=3)]))
    assert "points with its source and" not in text


def test_a_collapsed_method_has_no_share_of_its_gain_without_a_source() -> None:
    plan = make_plan(methods=("svm-t", "dama", "cdspp"))
    for collapsed, named in (((), {"DAMA", "CDSPP"}), (("dama",), {"CDSPP"})):
        found = draw_comparisons(plan, collapsed=collapsed)
        parts = without_source(found)
        assert {part.split()[0] for part in parts} == named
        table = build_matrix_table([found], [plan])
        shown = {line.cells[0].text: line.cells[-3].text != "–" for line in table.lines}
        assert {name for name, known in shown.items() if known} == named


def text_of(folder: Path, *plans: BenchmarkPlan) -> str:
    """Return what a page says of plans alone, without a table."""
    output = folder / "results" / "embedded" / "report" / "index.html"
    write_page(plans, output)
    return read_page(output)[0]


def test_a_method_that_is_told_of_the_test_samples_is_named(tmp_path: Path) -> None:
    plan = make_plan()
    rows = (replace(row, kind="informed") for row in plan.rows if row.key == "cdspp")
    told = replace(plan, rows=(*plan.rows[:2], *rows))
    assert "One exception: CDSPP receives" in text_of(tmp_path, told)
    assert "One exception:" not in text_of(tmp_path, plan)


def test_features_of_untrained_networks_are_told_where_the_benchmark_is(
    make_page: MakePage,
) -> None:
    page = make_page()
    tables = sorted((page.parents[1] / "tables").glob("*.csv"))
    [table] = (path for path in tables if path.stem == "contents_digits")
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace(",net,", ',"net, random weights",'), encoding="utf-8")
    told = "<p>Features of the target come from a network with random weights.</p>"
    assert told not in read_page(page)[0]
    write_page([make_plan()], page, tables=tables)
    text, _ = read_page(page)
    section = text[text.index('id="benchmark-digits"') :]
    assert told in section[: section.index("</section>")]


def test_the_page_needs_nothing_from_outside(page: Path) -> None:
    text, reader = read_page(page)
    assert not re.search(r"https?://|//cdn|@import|url\((?!#)", text)
    for address in reader.addresses:
        assert address.startswith(("#", "data:"))
    anchors = {address[1:] for address in reader.addresses if address[0] == "#"}
    assert anchors <= set(reader.ids)
    assert "default-src 'none'" in text
    assert text.count("<style") == 1  # a figure brings none of its own
    assert len(text) < 5_000_000


def test_every_identifier_used_inside_a_figure_exists_once(page: Path) -> None:
    text, reader = read_page(page)
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(reader.ids)
    for name in ("source-help", "methods_digits", "subspace_docs-to-code"):
        assert f"figure-{name}" in reader.ids
        assert f"{name}-figure_1" in reader.ids


def test_texts_of_the_configuration_are_escaped_in_captions_too(
    make_page: MakePage,
) -> None:
    few = {"tasks": ["a_b"], "methods": ("svm-t", "cdspp"), "trials": 3}
    plan = make_plan(title="<script>alert(1)</script>", **few)
    plan = replace(
        plan,
        summary='quoted " & <i>set</i>',
        rows=tuple(replace(r, display_name=f"<u>{r.key}</u>") for r in plan.rows),
        showcase="<s>_b",
        overlap="keep",
    )
    config = {"note": "</pre><script>alert(2)</script>"}
    entry = {"title": "<q>", "content": "<q>", "source": "<q>", "licence": "<q>"}
    page = make_page(
        [plan],
        config=config,
        commands=("make <study>",),
        name="<em>",
        data=({**entry, "cite": ["<q>"]},),
        failed="cdspp",
        figures=["source-states", *(f"{name}_digits" for name in OF_DIGITS)],
    )
    text, _ = read_page(page)
    assert len(re.findall(r"<script>", text)) == 1
    for part in ("<i>set", "<u>", "<s>", "<em>", "make <study>", "<q>", "<pairs>"):
        assert part not in text, part
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "make &lt;study&gt;" in text
    assert "Confusion matrix of &lt;u&gt;cdspp" in text


def test_the_page_says_what_was_run_and_what_failed(
    make_page: MakePage, tmp_path: Path
) -> None:
    features = tmp_path / "results/features/digits/print.sift-words.npz"
    features.parent.mkdir(parents=True)
    features.write_bytes(b"vectors")
    log = tmp_path / "job.log"
    log.write_text(
        "ready after 1.5 s of processor time\nfinished after 4.0 s of processor time\n"
    )
    page = make_page(failed="svm-t", files=[features], logs=(str(log),))
    text, _ = read_page(page)
    assert "<dt>Seed</dt><dd>7</dd>" in text
    assert "<dt>Fits</dt><dd>100 in 20 jobs, 5 failed</dd>" in text
    lead = text[: text.index('<p class="lead">')]
    assert '<p class="failed"><strong>5 of 100 fits failed (svm-t 5).</strong>' in lead
    assert "38 % of the CPU time of all jobs (2 s of 4 s)" in text
    assert "python 3.11.9" in text
    assert "x86_64" in text
    time = text[text.index('id="table-time"') :]
    assert '<th scope="row">CDSPP<sub>sup</sub></th><td data-value="25.0' in time
    digest = hashlib.sha256(b"vectors").hexdigest()
    name = "features/digits/print.sift-words.npz"
    offered = re.search(r'download="SHA256SUMS" href="data:.*?base64,(.*?)"', text)
    assert offered is not None
    assert base64.b64decode(offered.group(1)).decode() == f"{digest}  {name}\n"
    stated = read_json(page.with_name("digests.json"))
    assert stated["files"] == {name: digest}
    assert stated["page"] == file_digest(page)
    assert stated["configuration"]["seed"] == 7
    assert "digits, main, print_sketch, SVM_t, trial 2: no &lt;pairs&gt; left" in text
    whole, _ = read_page(make_page())
    assert '<p class="failed">' not in whole


def test_equal_studies_give_equal_pages(make_page: MakePage) -> None:
    first = make_page().read_bytes()
    assert make_page().read_bytes() == first


def test_without_kept_samples_the_job_graph_has_no_exception(tmp_path: Path) -> None:
    exception = "The protocol itself makes one exception"
    assert exception not in text_of(tmp_path, make_plan(overlap="exclude"))
    assert exception in text_of(tmp_path, make_plan(overlap="keep"))


def test_the_data_are_told_with_source_licence_and_citations(
    make_page: MakePage,
) -> None:
    entry = {"title": "Cups & hats", "content": "Many.", "source": "A shop."}
    cited = {"licence": "None stated.", "cite": ["A. Author. Cups. 2001"]}
    text, reader = read_page(make_page(data=(entry | cited,)))
    assert "data" in reader.ids
    assert "Cups &amp; hats" in text
    assert "Source: A shop." in text
    assert "<li>A. Author. Cups. 2001</li>" in text
