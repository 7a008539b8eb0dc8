"""What the page says, and that it needs nothing from outside."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from support.page_reader import read_page
from support.report_data import draw_comparisons, make_plan
from support.written_study import WrittenStudy, write_page

from cdspp.analysis.answers import answer
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.verdicts import RULE
from cdspp.core.files import read_json
from cdspp.core.provenance import file_digest
from cdspp.report.page import page as page_module
from cdspp.report.registry import Fold, Item, Part, page_parts
from cdspp.report.tables.source_help import build_matrix_table, build_task_table
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

OF_DIGITS = ("methods", "iterations", "subspace", "confusion")
MakePage = Callable[..., Path]
FOLD = re.compile(r"<details[^>]*>(?:(?!<details).)*?</details>", re.DOTALL)


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
        "On Digits the source helps CDSPP, and of 2 other methods the source helps 1;",
        "on Docs to code the trials leave open whether the source helps CDSPP",
        'id="chart"',
        'id="overview"',
        'id="claims"',
        'id="benchmark-digits"',
        'id="benchmark-docs-to-code"',
        'id="states"',
        'id="times"',
        'id="deviations"',
        'id="graph"',
        'id="numbers"',
        'id="run"',
        'id="rerun"',
    )
    assert len(reader.ids) == len(set(reader.ids))


def test_a_section_and_a_fold_with_headings_of_their_own_are_shown(
    make_page: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    item = Item("table", "overview", fold=Fold("A table of mine"))
    own = Part("mine", "A section of mine", "Details", (item,), "Of {reference}.")
    monkeypatch.setattr(
        page_module.registry, "page_parts", lambda: (*page_parts(), own)
    )
    text, _ = read_page(make_page())
    section = text[text.index('<section id="mine">') :]
    shown = "A section of mine", "Of CDSPP.", "A table of mine", "SVM"
    assert in_order(section, *shown)


def test_the_contents_list_the_sections_under_their_groups(page: Path) -> None:
    text, _ = read_page(page)
    contents = text[text.index("<nav") : text.index("</nav>")]
    groups = ["#chart", "#overview", "#claims", "<p>Details</p>", "#benchmark-digits"]
    assert in_order(contents, *groups, "<p>Audit</p>", "#graph", "#rerun")


def test_what_is_not_folded_is_the_answer_the_chart_and_two_tables(page: Path) -> None:
    text, _ = read_page(page)
    while (shorter := re.sub(FOLD, "", text)) != text:
        text = shorter
    shown = re.findall(r'<figure[^>]* id="(\S+)"', text)
    assert shown == [
        "figure-source-help",
        "figure-source-states",
        "table-overview",
        "table-claims-overview",
    ]


def test_every_benchmark_has_a_card_with_its_verdict_and_answer(page: Path) -> None:
    text, _ = read_page(page)
    pattern = r'<li class="(\S+)"><b>(.*?)</b> (.*?)\n(<ul>.*?</ul>)</li>'
    cards = re.findall(pattern, text)
    assert [card[:3] for card in cards] == [
        ("helps", "Digits", "On average over 4 tasks the source helps CDSPP."),
        (
            *("undecided", "Docs to code"),
            "The trials leave open whether the source helps CDSPP.",
        ),
    ]
    assert cards[0][3].startswith("<ul><li>Over no source it gains 4.9 points")
    assert "<li>Task by task: helps on 4.</li>" in cards[0][3]
    for word, title, said, reasons in cards:
        section = text[
            text.index(f'id="benchmark-{title.lower().replace(" ", "-")}"') :
        ]
        section = section[: section.index("</section>")]
        assert f"<p>{said}</p>\n{reasons}" in section, word


def test_a_card_keeps_every_word_of_the_answer(study: WrittenStudy) -> None:
    for path in sorted(study.folder.glob("tables/source-help_*.csv")):
        found = read_comparisons(path)
        card = page_module._card("", found)
        told = " ".join([card["answer"], *card["reasons"]])
        assert re.findall(r"[\w%]+", told.lower()) == re.findall(
            r"[\w%]+", answer(found).lower()
        )


def test_a_collapsed_method_has_no_share_of_its_gain_without_a_source(
    tmp_path: Path,
) -> None:
    plan = make_plan(methods=("svm-t", "dama", "cdspp"))
    for collapsed, named in (((), {"DAMA", "CDSPP"}), (("dama",), {"CDSPP"})):
        found = draw_comparisons(plan, collapsed=collapsed)
        path = tmp_path / f"source-help_{plan.benchmark}.csv"
        write_tables([build_task_table(found, plan)], [path])
        [(_, parts)] = page_module._findings([plan], {path.name: path})["without"]
        assert {part.split()[0] for part in parts} == named
        table = build_matrix_table([found], [plan])
        shown = {line.cells[0].text: line.cells[-3].text != "–" for line in table.lines}
        assert {name for name, known in shown.items() if known} == named


def text_of(folder: Path, *plans: BenchmarkPlan) -> str:
    """Return what a page says of plans alone, without a table."""
    output = folder / "results" / "embedded" / "report" / "index.html"
    write_page(plans, output)
    return read_page(output)[0]


def test_the_rule_stands_below_the_answer_with_the_states_and_the_margin(
    tmp_path: Path,
) -> None:
    text = text_of(tmp_path, replace(make_plan(), margin=0.5))
    rule = text[text.index('<p class="rule">') :]
    rule = unescape(rule[: rule.index("</p>")])
    assert rule.startswith(f'<p class="rule">{RULE} The other states of the source')
    assert rule.endswith("The margin is ±0.5, in points.")


def test_words_of_a_verdict_are_one_class_of_its_card(make_page: MakePage) -> None:
    short = {"tasks": ["a_b"], "methods": ("svm-t", "cdspp"), "trials": 3}
    plans = [make_plan(**short), make_plan(benchmark="b", states=(), **short)]
    text, _ = read_page(make_page(plans))
    classes = re.findall(r'<li class="(\S+)"><b>', text)
    assert classes == ["too-few-trials", "not-asked"]


def test_every_method_by_every_state_is_a_section_of_its_own(page: Path) -> None:
    text, _ = read_page(page)
    section = text[text.index('id="states"') :]
    section = section[: section.index("</section>")]
    assert "Did the source help each method?" in section
    assert 'id="table-source-help"' in section
    assert "where a number is negative, the method did better without" in section
    assert 'id="table-source-help_digits"' not in section
    assert 'id="table-source-help_digits"' in text


def test_captions_tell_the_charts_of_few_and_of_many_tasks(tmp_path: Path) -> None:
    def shown(plan: BenchmarkPlan) -> str:
        study = WrittenStudy(tmp_path, [plan], {})
        names = ("source-help", "source-states")  # of one job
        charts = [tmp_path / f"{name}.svg" for name in names]
        study.make_one("figure", names[0], charts)
        output = tmp_path / "results" / "embedded" / "report" / "index.html"
        write_page([plan], output, figures=sorted(tmp_path.glob("*.svg")))
        return read_page(output)[0]

    few = shown(make_plan(tasks=["a_b"]))
    told = "Target-only is the state without a source."
    chart = few[few.index('id="figure-source-help"') :]
    assert told in chart[: chart.index("</figure>")]
    matrix = few[few.index('id="figure-source-states"') :]
    assert "▲ dark: the real source is better" in matrix[: matrix.index("</figure>")]
    tasks = [f"a_b{place}" for place in range(11)]
    plan = make_plan(tasks=tasks, methods=("svm-t", "cdspp"), trials=2)
    many = shown(plan)
    assert told not in many
    assert "blue where the source helps, red where it hurts" in many


def test_a_method_that_is_told_of_the_test_samples_is_named(tmp_path: Path) -> None:
    plan = make_plan()
    rows = (replace(row, kind="informed") for row in plan.rows if row.key == "cdspp")
    told = replace(plan, rows=(*plan.rows[:2], *rows))
    assert "One exception: CDSPP receives" in text_of(tmp_path, told)
    assert "One exception:" not in text_of(tmp_path, plan)


def test_tables_come_from_their_files_with_all_forms(make_page: MakePage) -> None:
    text, reader = read_page(make_page())
    assert "table-accuracy_digits" in reader.ids
    place = text.index('id="table-accuracy_digits"')
    table = text[place : text.index("</figure>", place)]
    for form in ("csv", "md", "tex"):
        assert f'download="accuracy_digits.{form}"' in table
    assert "figure-methods_digits" not in reader.ids


def test_what_the_page_says_of_the_source_is_what_its_table_says(
    make_page: MakePage,
) -> None:
    page = make_page()
    table = page.parents[1] / "tables" / "source-help_digits.csv"
    heading, *_ = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text(heading, encoding="utf-8")
    write_page([make_plan()], page, tables=[table])
    text, _ = read_page(page)
    assert "helps on 4" not in text
    assert '<p class="lead">Not asked on Digits.</p>' in text


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


def test_captions_and_the_small_print_say_how_many_trials_have_an_interval(
    page: Path,
) -> None:
    text, _ = read_page(page)
    assert "Fewer than 3 trials have none" in text
    for name in ("source-help", "methods_digits", "iterations_digits"):
        figure = text[text.index(f'id="figure-{name}"') :]
        assert "(from 3 trials on)" in figure[: figure.index("</figure>")]


def test_the_page_needs_nothing_from_outside(page: Path) -> None:
    text, reader = read_page(page)
    assert not re.search(r"https?://|//cdn|@import|url\((?!#)", text)
    for address in reader.addresses:
        assert address.startswith(("#", "data:"))
    anchors = {address[1:] for address in reader.addresses if address[0] == "#"}
    assert anchors <= set(reader.ids)
    assert "default-src 'none'" in text
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
    assert "Which class is mistaken for which: &lt;u&gt;cdspp" in text


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
    assert f"<dt>{name}</dt><dd>{digest}</dd>" in text
    stated = read_json(page.with_name("digests.json"))
    assert stated["files"] == {name: digest}
    assert stated["page"] == file_digest(page)
    assert stated["configuration"]["seed"] == 7
    assert "digits, main, print_sketch, SVM_t, trial 2: no &lt;pairs&gt; left" in text
    whole, _ = read_page(make_page())
    assert '<p class="failed">' not in whole


def test_equal_studies_give_equal_pages(make_page: MakePage) -> None:
    two = {"tasks": ["a_b", "b_a"], "methods": ("svm-t", "cdspp"), "trials": 3}
    plans = [make_plan(**two), make_plan(benchmark="b", states=(), **two)]
    first = make_page(plans).read_bytes()
    assert make_page(plans).read_bytes() == first


def test_a_figure_too_big_as_svg_is_shown_as_png(tmp_path: Path) -> None:
    study = WrittenStudy(tmp_path, [make_plan()], {})
    big, small = (tmp_path / f"confusion_digits.{form}" for form in ("svg", "png"))
    study.make_one("figure", big.stem, [small])
    big.write_text(f"<svg>{'x' * 1_000_000}</svg>")
    output = tmp_path / "index.html"
    write_page(study.plans, output, figures=[big])
    text, _ = read_page(output)
    figure = re.search(r'id="figure-confusion_digits">.*?</figure>', text, re.DOTALL)
    assert figure is not None
    assert "data:image/png;base64," in figure.group()
    assert "CDSPP on print → sketch" in figure.group()
    assert "figure-subspace_digits" not in text


@pytest.mark.parametrize("shared", [True, False])
def test_the_overlap_audit_shows_the_tasks_that_share_samples(
    make_page: MakePage, shared: bool
) -> None:
    tasks = ["print_print", "print_sketch"] if shared else ["print_sketch"]
    few = {"methods": ("svm-t", "cdspp"), "states": (), "trials": 3}
    text, _ = read_page(make_page([make_plan(tasks=tasks, overlap="keep", **few)]))
    none = "None: no test sample of any task and trial is a labelled source sample"
    some = "No other task shares a sample in any trial"
    assert (some in text, none in text) == (shared, not shared)
    assert ("within one domain</small>" in text) == shared
    assert (
        "Digits keeps test samples that the source has labelled; the overlap table"
        in text
    )
    assert "Digits: test samples that the source has labelled" in text


def test_without_kept_samples_the_job_graph_has_no_exception(tmp_path: Path) -> None:
    exception = "One exception is the protocol"
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
