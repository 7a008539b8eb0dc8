"""The job graph of the page: where test labels go, and its picture."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from support.page_reader import read_page

from cdspp.report.page.graph import EDGES, STAGES


def test_no_fit_is_handed_a_test_label() -> None:
    secret = {edge.head for edge in EDGES if edge.kind == "secret"}
    assert secret == {"labels", "splits", "score", "tables", "figures"}
    into_fit = {edge.tail: edge.carries for edge in EDGES if edge.head == "fit"}
    assert into_fit == {"features": "vectors", "splits": "known labels"}
    assert {edge.tail for edge in EDGES if edge.head == "features"} == {"data"}


def test_the_graph_leads_from_the_data_to_the_report() -> None:
    heads = {edge.tail: set() for edge in EDGES}
    for edge in EDGES:
        heads[edge.tail].add(edge.head)
    reached, waiting = set(), {"data"}
    while waiting:
        reached |= waiting
        waiting = set().union(*(heads.get(s, set()) for s in waiting)) - reached
    assert reached == set(STAGES)
    assert [stage for stage in STAGES if stage not in heads] == ["report"]
    assert heads["score"] == {"tables", "figures"}


def test_the_picture_of_the_graph_has_every_stage_and_colours_test_labels(
    page: Path,
) -> None:
    text, _ = read_page(page)
    picture = re.search(r'<svg class="graph".*?</svg>', text, re.DOTALL)
    assert picture is not None
    root = ElementTree.fromstring(picture.group())
    assert set(STAGES) <= {text.text for text in root.iter("text")}
    secret = [
        edge.findtext("title")
        for edge in root.iter("g")
        if (paths := edge.findall("path")) and "secret" in paths[-1].get("class", "")
    ]
    expected = [f"{e.tail} to {e.head}: {e.carries}" for e in EDGES]
    assert secret == [text for text in expected if text.endswith("all labels")]


def test_every_line_of_the_picture_ends_at_the_stage_that_it_leads_to() -> None:
    for edge in EDGES:
        x, y = STAGES[edge.head].corner
        end = edge.route[-1]
        assert x <= end[0] <= x + 116
        assert y <= end[1] <= y + 56
