"""The job graph of a study as data, and its picture: where the test labels go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["EDGES", "STAGES", "Edge", "Stage"]

# The labels of test samples are among all labels.
ALL, KNOWN = "all labels", "known labels"


@dataclass(frozen=True)
class Stage:
    """One stage: its corner in the picture and what it makes."""

    corner: tuple[int, int]
    makes: str


@dataclass(frozen=True)
class Edge:
    """What one stage hands to another, and the corners of its line."""

    tail: str
    head: str
    carries: str
    route: tuple[tuple[int, int], ...]

    @property
    def kind(self) -> str:
        """How the line looks: with test labels, with known ones, without any."""
        return {ALL: "secret", KNOWN: "known"}.get(self.carries, "plain")

    @property
    def path(self) -> str:
        """The line as the path of an SVG."""
        return "M" + "L".join(f"{x} {y}" for x, y in self.route)


STAGES: Mapping[str, Stage] = {
    "data": Stage((16, 164), "files"),
    "features": Stage((190, 56), "vectors"),
    "labels": Stage((190, 272), "class names"),
    "splits": Stage((364, 164), "roles by trial"),
    "fit": Stage((538, 56), "predictions"),
    "score": Stage((712, 164), "accuracies"),
    "figures": Stage((886, 56), "svg, png, pdf"),
    "tables": Stage((886, 164), "csv, md, tex"),
    "report": Stage((1060, 110), "this page"),
}

EDGES: tuple[Edge, ...] = (
    Edge("data", "features", "images, texts", ((74, 164), (74, 84), (190, 84))),
    Edge("data", "labels", ALL, ((74, 220), (74, 300), (190, 300))),
    Edge("features", "fit", "vectors", ((306, 84), (538, 84))),
    Edge("labels", "splits", ALL, ((248, 272), (248, 192), (364, 192))),
    Edge("splits", "fit", KNOWN, ((480, 192), (596, 192), (596, 112))),
    Edge("labels", "score", ALL, ((306, 292), (770, 292), (770, 220))),
    Edge("fit", "score", "predictions", ((654, 94), (742, 94), (742, 164))),
    Edge("score", "tables", "accuracies", ((828, 202), (886, 202))),
    Edge("score", "figures", "accuracies", ((794, 164), (794, 90), (886, 90))),
    Edge("splits", "tables", KNOWN, ((422, 220), (422, 256), (944, 256), (944, 220))),
    Edge("fit", "figures", "predictions", ((654, 72), (886, 72))),
    Edge("labels", "figures", ALL, ((306, 312), (857, 312), (857, 102), (886, 102))),
    Edge(
        "features",
        "tables",
        "vectors",
        ((248, 56), (248, 6), (1028, 6), (1028, 176), (1002, 176)),
    ),
    Edge("labels", "tables", ALL, ((306, 324), (972, 324), (972, 220))),
    Edge("fit", "tables", "seconds", ((654, 82), (868, 82), (868, 178), (886, 178))),
    Edge("tables", "figures", "gains", ((980, 164), (980, 112))),
    Edge("figures", "report", "figures", ((1002, 84), (1118, 84), (1118, 110))),
    Edge("tables", "report", "tables", ((1002, 192), (1118, 192), (1118, 166))),
)
