"""The job graph of the page: where test labels go, and its picture."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from support.page_reader import read_page
from support.report_data import make_plan
from support.written_study import WrittenStudy, write_page

Point = tuple[int, int]


class Edge(NamedTuple):
    """What a line of the picture says, and where it ends."""

    tail: str
    head: str
    carries: str
    kind: str
    end: Point


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> ElementTree.Element:
    """Return the job graph of a page that has nothing else to show."""
    folder = tmp_path_factory.mktemp("study") / "results" / "embedded"
    study = WrittenStudy(folder, [make_plan(methods=("svm-t",), states=())], {})
    page = folder / "report" / "index.html"
    write_page(study.plans, page, tables=[], figures=[], records=study.records)
    found = re.search(r'<svg class="graph".*?</svg>', read_page(page)[0], re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found.group())


@pytest.fixture
def stages(picture: ElementTree.Element) -> dict[str, Point]:
    """Return the corner of each stage."""
    boxes = [group for group in picture.iter("g") if group.find("rect") is not None]
    rects = {str(group.findtext("text")): group.find("rect") for group in boxes}
    return {name: (int(r.get("x")), int(r.get("y"))) for name, r in rects.items()}


@pytest.fixture
def edges(picture: ElementTree.Element) -> list[Edge]:
    """Return the lines between the stages."""
    found = []
    for group in filter(lambda group: group.findtext("title"), picture.iter("g")):
        told = re.fullmatch("(.*) to (.*): (.*)", str(group.findtext("title")))
        path = group.findall("path")[-1]
        end = path.get("d").rsplit("L")[-1].split()
        kind = path.get("class").split()[-1]
        found.append(Edge(*told.groups(), kind, tuple(map(int, end))))
    return found


def test_no_fit_is_handed_a_test_label(edges: list[Edge]) -> None:
    secret = {edge.head for edge in edges if edge.kind == "secret"}
    assert secret == {"labels", "splits", "score", "tables", "figures"}
    into_fit = {edge.tail: edge.carries for edge in edges if edge.head == "fit"}
    assert into_fit == {"features": "vectors", "splits": "known labels"}
    assert {edge.tail for edge in edges if edge.head == "features"} == {"data"}


def test_every_line_of_the_picture_ends_at_the_stage_that_it_leads_to(
    edges: list[Edge], stages: dict[str, Point]
) -> None:
    for edge in edges:
        x, y = stages[edge.head]
        assert x <= edge.end[0] <= x + 116
        assert y <= edge.end[1] <= y + 56
