"""The colours of a panel are told apart without red or green, the markers as well."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from report.figures.colours import ciede2000, nearest
from support.report_data import CONTROLS

from cdspp.core.yaml_files import read_yaml
from cdspp.methods import available
from cdspp.report.figures.style import STYLES, class_colours

ROOT = Path(__file__).parents[3]
# The least distance of colours, by CIEDE2000: 1 is just seen, 5 at a glance; lines and
# markers are thin, so that it is twice as much.
FAR = 10.0
ITERATE = (
    *("cdls", "pa", "tit", "ddacl", "dama-plus", "cdspp", "cdspp-pca", "target-only"),
    *("shared-columns-plus", "paired-map-plus", "cdspp-bridge"),
)


def panels() -> dict[str, tuple[str, ...]]:
    """Return methods and controls that a legend tells apart in the same panel."""
    found = {
        "iterations": ("svm-t", *ITERATE),
        "opening": ("svm-t", "cdspp", *CONTROLS),
    }
    for file in [ROOT / "config.yaml", *sorted(ROOT.glob("resources/[ps]*s/*.yaml"))]:
        for curve in read_yaml(file).get("curves", ()):
            methods = curve["methods"]
            if curve["parameter"] == "paired_rows":  # and lines across, without pairs
                methods = [*methods, "svm-t", "cdspp", "shared-columns", "target-only"]
            if len(methods := sorted({*methods} & {*STYLES})) > 1:
                found[f"{file.stem}: {curve['id']}"] = tuple(methods)
    return found


@pytest.mark.parametrize("keys", panels().values(), ids=panels())
def test_who_shares_a_panel_differs_in_colour_and_marker(keys: tuple[str, ...]) -> None:
    near = {}
    for pair in combinations(keys, 2):
        one, other = (STYLES[key] for key in pair)
        assert (one.marker, one.filled) != (other.marker, other.filled), pair
        if (distance := nearest(one.colour, other.colour)) < FAR:
            near[pair] = round(distance, 1)
    assert not near


def test_the_curves_of_studies_are_among_the_panels() -> None:
    found = panels()
    assert "cdspp-bridge" in found["bridges: pairs"]
    assert len(found) > 10
    assert {*ITERATE} <= {*available()}


def test_classes_differ_in_colour() -> None:
    colours = class_colours()
    assert len(colours) == 10
    assert min(nearest(*pair) for pair in combinations(colours, 2)) > FAR


def test_red_and_green_of_one_lightness_are_near_without_either() -> None:
    assert nearest("#a65a00", "#6b7a00") < FAR < 15 < nearest("#0067a8", "#d98a00")


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [  # from the table of Sharma, Wu and Dalal (2005)
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ],
)
def test_distances_are_those_of_the_table(
    one: tuple[float, ...], other: tuple[float, ...], distance: float
) -> None:
    found = ciede2000(np.array(one, float), np.array(other, float))
    assert found == pytest.approx(distance, abs=5e-5)
