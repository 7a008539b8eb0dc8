"""What holds for every figure of the outline, whatever the study."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.written_study import PICTURES, WrittenStudy

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figures(written: WrittenStudy) -> Path:
    """Return the folder of all figures of each kind of study."""
    return written.draw_figures()


def test_every_figure_is_drawn_and_shows_numbers_alone(
    written: WrittenStudy, figures: Path
) -> None:
    names = {f"{n}{suffix}" for n in written.names("figure") for suffix in PICTURES}
    assert {path.name for path in figures.iterdir()} == names
    for path in sorted(figures.glob("*.svg")):
        texts = [text.text or "" for text in read_svg(path).iter(f"{SVG}text")]
        assert texts
        assert not [text for text in texts if re.search(r"\b(nan|inf)\b", text)], path
        assert "<dc:date>" not in path.read_text(encoding="utf-8")


def read_svg(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()


def test_a_picture_is_no_wider_than_a_column_of_the_page(figures: Path) -> None:
    for path in figures.glob("*.png"):
        width, height = struct.unpack(">II", path.read_bytes()[16:24])
        assert width <= 1000, path
        assert height <= 2000, path


def test_equal_studies_give_equal_bytes(rich: WrittenStudy) -> None:
    def all_bytes() -> dict[str, bytes]:
        folder = rich.draw_figures()
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert all_bytes() == all_bytes()


def test_a_figure_of_another_kind_is_refused_and_nothing_drawn(
    rich: WrittenStudy,
) -> None:
    folder = rich.folder / "figures"
    for name in rich.names("figure"):
        if name == "source-help":
            continue  # the only figure of its job, whatever its name
        kind = name.partition("_")[0]
        outputs = [folder / f"{name}.svg", folder / f"x{name}.svg"]
        with pytest.raises(SystemExit, match=f"x{name}.*{kind}_"):
            rich.draw_figure(name, outputs)
        assert not list(folder.glob("*.svg")), name


def test_a_figure_of_another_suffix_is_refused(rich: WrittenStudy) -> None:
    for name in rich.names("figure"):
        output = rich.folder / "figures" / f"{name}.pdf"
        with pytest.raises(SystemExit, match=rf"{name}\.pdf: expected the suffix"):
            rich.draw_figure(name, [output])
