"""What the page says, that it needs nothing from outside, and the headline."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cdspp.report.page.blocks import inline_svg
from support.page_reader import read_page
from support.report_data import (
    make_layout,
    write_fit_records,
    write_scores,
    write_showcase,
)

from cdspp.core.errors import DataError
from cdspp.report.figures.benchmark import (
    draw_confusion,
    draw_methods,
    draw_source_help,
)
from cdspp.report.page.graph import EDGES, STAGES, graph_svg, reached_by_test_labels
from cdspp.report.page.page import headline, write_report
from cdspp.report.tables.benchmark import (
    benchmark_tables,
    write_benchmark_tables,
    write_overview,
)
from cdspp.report.tables.overlap import Overlap, overlap_table
from cdspp.report.tables.table import Table, write_tables


@pytest.fixture
def study(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a study of two benchmarks and its page."""

    def make(
        layouts=None,
        *,
        records=True,
        figures=True,
        failed="",
        features=(),
        shared=0.5,
        **study,
    ):
        folder = tmp_path / "results" / "embedded"
        layouts = layouts or [
            make_layout(),
            make_layout(
                benchmark="docs-to-code", title="Docs to code", tasks=["docs_code"]
            ),
        ]
        helps = iter((0.06, 0.0))
        scores = [
            write_scores(
                folder / f"{layout['benchmark']}.parquet",
                layout,
                source_helps=next(helps),
            )
            for layout in layouts
        ]
        for path, layout in zip(scores, layouts, strict=True):
            names = benchmark_tables(layout)
            outputs = forms(folder, *names)
            write_benchmark_tables(scores=path, layout=layout, outputs=outputs)
        overlaps = [Overlap("print_print", 10, 40, 40 * shared, shared, 0.0, shared)]
        overlaps.append(Overlap("print_sketch", 10, 40, 0.0, 0.0, 0.0, 0.0))
        table = overlap_table(overlaps, {"overlap": "exclude", **layouts[0]})
        write_tables([table], forms(folder, table.name))
        outputs = forms(folder, "overview")
        write_overview(scores=scores, layouts=layouts, outputs=outputs)
        for name in ("gains", "claims", "deviations"):
            table = Table(name, f"What {name} are", "Text.", ("Method",), (), ())
            write_tables([table], forms(folder, name))
        if figures:
            draw_all(folder, layouts, scores)
        fits = [write_fit_records(folder, x, failed=failed) for x in layouts]
        output = folder / "report" / "index.html"
        write_report(
            layouts=layouts,
            tables=sorted((folder / "tables").glob("*.csv")),
            figures=sorted((folder / "figures").glob("*")),
            scores=scores,
            fit_records=sum(fits, []) if records else [],
            study={"study": "embedded", "seed": 7, **study},
            output=output,
            features=features,
        )
        return output

    return make


def forms(folder: Path, *names: str) -> list[Path]:
    """Return the files of tables that the page needs."""
    room = folder / "tables"
    return [room / f"{name}{suffix}" for name in names for suffix in (".csv", ".html")]


def draw_all(folder: Path, layouts: list[dict[str, Any]], scores: list[Path]) -> None:
    """Draw some figures, one of them as PNG alone."""
    pictures = folder / "figures"
    outputs = [pictures / "source-help.svg"]
    draw_source_help(scores=scores, layouts=layouts, outputs=outputs)
    for path, layout in zip(scores, layouts, strict=True):
        name = layout["benchmark"]
        outputs = [pictures / f"methods_{name}.svg"]
        draw_methods(scores=path, layout=layout, outputs=outputs)
        room = folder / name
        room.mkdir()
        paths = write_showcase(room, classes=("a", "b"), each=6)
        draw_confusion(
            fits=paths["fits"],
            labels=paths["target_labels"],
            layout=layout,
            outputs=[pictures / f"confusion_{name}.png"],
        )


def test_the_page_asks_answers_and_then_shows(study: Callable[..., Path]) -> None:
    text, reader = read_page(study())
    assert "<h1>Did the source help?</h1>" in text
    assert (
        "It helps on 4 of 4 tasks of Digits; no evidence that it helps on Docs to code."
        in text
    )
    order = ["Did the source help?</h1>", "It helps on", 'id="chart"', 'id="overview"']
    order += ['id="gains"', 'id="tables-digits"', 'id="tables-docs-to-code"']
    order += ['id="figures-digits"', 'id="figures-docs-to-code"', 'id="claims"']
    order += ['id="deviations"', 'id="overlap"', 'id="graph"', 'id="numbers"']
    order += ['id="run"', 'id="rerun"']
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert len(reader.ids) == len(set(reader.ids))


def test_the_contents_list_the_sections_under_their_groups(
    study: Callable[..., Path],
) -> None:
    text, _ = read_page(study())
    contents = text[text.index("<nav") : text.index("</nav>")]
    parts = ["#chart", "<p>Tables</p>", "#overview", "<p>Figures</p>", "#claims"]
    parts += ["<p>Audit</p>", "#overlap", "#rerun"]
    places = [contents.index(part) for part in parts]
    assert places == sorted(places)


def test_tables_come_from_their_files_with_all_forms(
    study: Callable[..., Path],
) -> None:
    text, reader = read_page(study())
    assert "table-accuracy_digits" in reader.ids
    place = text.index('id="table-accuracy_digits"')
    table = text[place : text.index("</figure>", place)]
    assert 'download="accuracy_digits.csv"' in table
    assert "table-printed" not in reader.ids


def test_the_page_needs_nothing_from_outside(study: Callable[..., Path]) -> None:
    text, reader = read_page(study())
    assert not re.search(r"https?://|//cdn|@import|url\((?!#)", text)
    for address in reader.addresses:
        assert address.startswith(("#", "data:"))
    anchors = {address[1:] for address in reader.addresses if address[0] == "#"}
    assert anchors <= set(reader.ids)
    assert "default-src 'none'" in text
    assert len(text) < 5_000_000


def test_every_identifier_used_inside_a_figure_exists_once(
    study: Callable[..., Path],
) -> None:
    text, reader = read_page(study())
    used = set(re.findall(r"url\(#([^)]+)\)", text))
    assert used <= set(reader.ids)
    assert "figure-source-help" in reader.ids
    assert "source-help-figure_1" in reader.ids
    assert "methods_digits-figure_1" in reader.ids


def test_texts_of_the_configuration_are_escaped(study: Callable[..., Path]) -> None:
    layout = make_layout(title="<script>alert(1)</script>", tasks=["a_b"])
    layout["summary"] = 'quoted " & <i>set</i>'
    layout["methods"][0]["printed"] = "<u>SVM_t</u>"
    layout["showcase"]["task"] = "<s>_b"
    config = {"note": "</pre><script>alert(2)</script>"}
    page = study([layout], config=config, commands=["make <study>"], title="<em>")
    text, _ = read_page(page)
    assert len(re.findall(r"<script>", text)) == 1
    for part in ("<i>set", "<u>", "<s>", "<em>", "make <study>"):
        assert part not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "make &lt;study&gt;" in text


def test_the_page_says_what_was_run_and_what_failed(
    study: Callable[..., Path], tmp_path: Path
) -> None:
    features = tmp_path / "digits" / "print.sift-words.npz"
    features.parent.mkdir()
    features.write_bytes(b"vectors")
    log = tmp_path / "job.log"
    log.write_text(
        "ready after 1.5 s of processor time\nfinished after 4.0 s of processor time\n"
    )
    page = study(failed="svm-t", features=[features], trials=10, logs=[str(log)])
    text, _ = read_page(page)
    assert "<dt>Seed</dt><dd>7</dd>" in text
    assert "<dt>Fits</dt><dd>100 in 20 jobs, 5 failed</dd>" in text
    assert "38 % of the CPU time of all jobs (2 s of 4 s)" in text
    assert "python 3.11.9" in text
    assert "x86_64" in text
    time = text[text.index('id="table-time"') :]
    assert '<th scope="row">CDSPP<sub>sup</sub></th><td class="text">main</td>' in time
    digest = hashlib.sha256(b"vectors").hexdigest()
    assert f"<dt>digits/print.sift-words</dt><dd>{digest}</dd>" in text
    assert "digits, main, print_sketch, SVM_t, trial 2: no &lt;pairs&gt; left" in text


def test_equal_studies_give_equal_pages(
    study: Callable[..., Path], tmp_path: Path
) -> None:
    first = study(figures=False).read_bytes()
    assert study(figures=False).read_bytes() == first


@pytest.mark.parametrize(
    "change",
    [
        {"controls": ()},
        {"methods": ("cdspp",), "controls": ()},
        {"methods": ("svm-t",)},
        {"methods": (), "controls": ()},
        {"trials": 1, "tasks": ("a_b",)},
    ],
)
def test_shorter_studies_have_a_page_too(
    study: Callable[..., Path], change: dict[str, Any]
) -> None:
    text, _ = read_page(study([make_layout(**change)], records=False, figures=False))
    assert "nan" not in re.sub(r"data:[^\"]+", "", text)
    assert "Did the source help?" in text


def test_a_figure_too_big_as_svg_is_shown_as_png(study: Callable[..., Path]) -> None:
    text, _ = read_page(study())
    figure = re.search(r'id="figure-confusion_digits">.*?</figure>', text, re.DOTALL)
    assert "data:image/png;base64," in figure.group()
    assert "CDSPP on print → sketch" in figure.group()
    assert "figure-subspace_digits" not in text


def test_an_inlined_svg_keeps_its_references_and_loses_its_addresses() -> None:
    svg = (
        '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "http://www.w3.org/dtd">'
        '<svg xmlns="http://www.w3.org/2000/svg" width="100pt" viewBox="0 0 100 50">'
        "<metadata><a>http://purl.org</a></metadata><style>*{fill:red}</style>"
        '<defs><clipPath id="p1"/></defs><g clip-path="url(#p1)"/>'
        '<use xlink:href="#p1"/></svg>'
    )
    text = inline_svg(svg, prefix="a", label="picture")
    assert 'id="a-p1"' in text
    assert 'url(#a-p1)"' in text
    assert 'href="#a-p1"' in text
    assert 'aria-label="picture"' in text
    assert "http" not in text
    assert "style>" not in text


def test_no_fit_is_handed_a_test_label() -> None:
    assert reached_by_test_labels() == {
        "labels",
        "splits",
        "score",
        "tables",
        "figures",
    }
    into_fit = {edge.tail: edge.carries for edge in EDGES if edge.head == "fit"}
    assert into_fit == {"features": "vectors", "splits": "known labels"}
    into_features = {edge.tail for edge in EDGES if edge.head == "features"}
    assert into_features == {"data"}


def test_the_graph_leads_from_the_data_to_the_report() -> None:
    edges = {(edge.tail, edge.head) for edge in EDGES}
    for pair in [
        ("data", "features"),
        ("data", "labels"),
        ("labels", "splits"),
        ("labels", "score"),
        ("fit", "score"),
        ("score", "tables"),
        ("score", "figures"),
        ("tables", "report"),
        ("figures", "report"),
    ]:
        assert pair in edges
    assert {name for pair in edges for name in pair} == set(STAGES)


def test_the_picture_of_the_graph_has_every_stage_and_colours_test_labels() -> None:
    root = ElementTree.fromstring(graph_svg())
    names = {text.text for text in root.iter("text")}
    assert set(STAGES) <= names
    secret = [
        edge.find("title").text
        for edge in root.iter("g")
        if (paths := edge.findall("path")) and "secret" in paths[-1].get("class")
    ]
    expected = [f"{e.tail} to {e.head}: {e.carries}" for e in EDGES]
    assert secret == [text for text in expected if text.endswith("all labels")]
    for edge in EDGES:
        x, y = STAGES[edge.head].corner
        end = edge.route[-1]
        assert x <= end[0] <= x + 116
        assert y <= end[1] <= y + 56


def test_the_headline_is_aligned_and_says_where_the_page_is(
    study: Callable[..., Path],
) -> None:
    page = study(figures=False)
    text = headline(page.parents[1])
    lines = text.splitlines()
    grid = lines[: lines.index("")]
    assert grid[0].split("  ")[0] == "accuracy, percent (sd)"
    assert grid[1].startswith("SVM_t*")
    assert len({len(line) for line in grid}) == 1
    assert "Digits: The source helps on 4 of 4 tasks." in text
    assert "Docs to code: No evidence that the source helps." in text
    assert lines[-1] == f"Report: {page}"
    page.unlink()
    assert headline(page.parents[1]).endswith("The report is not written yet.")


def test_a_headline_without_tables_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make study"):
        headline(tmp_path)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.5, "No other task shares a sample in any trial"),
        (0.0, "None: no test sample of any task and trial is a labelled source sample"),
    ],
)
def test_the_overlap_audit_shows_the_tasks_that_share_samples(
    study: Callable[..., Path], share: float, said: str
) -> None:
    layouts = [{**make_layout(), "overlap": "keep"}]
    text, _ = read_page(study(layouts, figures=False, shared=share))
    assert said in text
    assert ("within one domain</small>" in text) == (share > 0)
    assert "are kept in Digits; the overlap table counts them" in text


def test_without_kept_samples_the_job_graph_has_no_exception(
    study: Callable[..., Path],
) -> None:
    text, _ = read_page(study([{**make_layout(), "overlap": "exclude"}]))
    assert "One exception is the protocol" not in text


def test_the_data_are_told_with_source_licence_and_citations(
    study: Callable[..., Path],
) -> None:
    entry = {"title": "Cups & hats", "content": "Many.", "source": "A shop."}
    entry |= {"licence": "None stated.", "cite": ["A. Author. Cups. 2001"]}
    text, reader = read_page(study(figures=False, data=[entry]))
    assert "data" in reader.ids
    for part in (
        "Cups &amp; hats",
        "Source: A shop.",
        "<li>A. Author. Cups. 2001</li>",
    ):
        assert part in text
