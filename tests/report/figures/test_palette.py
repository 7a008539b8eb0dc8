"""The colours of a panel are told apart without red or green, the markers as well."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from report.figures.colours import nearest
from support.report_data import CONTROLS

from cdspp.core.yaml_files import read_yaml
from cdspp.report.figures.style import STYLES, class_colours

ROOT = Path(__file__).parents[3]
# The least distance of colours in CIELAB: some 2 are just seen; lines and markers are
# thin.
FAR = 12.0
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


def test_classes_differ_in_colour() -> None:
    colours = class_colours()
    assert len(colours) == 10
    assert min(nearest(*pair) for pair in combinations(colours, 2)) > FAR


def test_red_and_green_of_one_lightness_are_near_without_either() -> None:
    assert nearest("#a65a00", "#6b7a00") < FAR < nearest("#0067a8", "#d98a00")
