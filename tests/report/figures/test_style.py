"""The forms of a figure: SVG, PNG and PDF."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdspp.core.errors import DataError
from cdspp.report.figures.style import canvas


def draw(path: Path) -> bytes:
    with canvas(2, 1, [path]) as figure:
        figure.subplots().set_title("accuracy")
    return path.read_bytes()


def test_a_pdf_holds_its_fonts_and_no_date(tmp_path: Path) -> None:
    drawn = draw(tmp_path / "a.pdf")
    assert drawn.startswith(b"%PDF-")
    assert b"/FontFile2" in drawn
    assert b"/Type3" not in drawn
    assert b"Date" not in drawn
    assert draw(tmp_path / "b.pdf") == drawn


def test_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.jpg: .*suffix \.svg, \.png"):
        draw(tmp_path / "a.jpg")
