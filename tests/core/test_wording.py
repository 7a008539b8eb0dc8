"""How numbers and names are written."""

from __future__ import annotations

import math

import pytest

from cdspp.core import wording
from cdspp.core.memory import memory_text
from cdspp.core.names import fit_key


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (wording.percent(0.9234, 0.0121), "92.3 (1.2)"),
        (wording.percent(0.5, math.nan), "50.0 (–)"),
        (wording.percent(math.nan, 0.1), "–"),
        (wording.in_points(0.0491, sign=True), "+4.9"),
        (wording.in_points(-0.0004), "0.0"),
        (wording.counted(1, "trial"), "1 trial"),
        (wording.counted(2, "class"), "2 classes"),
        (wording.shortened(["age", "chol", "slope", "thal"]), "age, chol, slope, ..."),
        (wording.duration(31), "31 s"),
        (wording.duration(600), "10 min"),
        (wording.duration(7200), "2.0 h"),
        (wording.duration(1e6), "278 h"),
        (wording.escape_invisible("class\n\0 ü"), "class\\n\\x00 ü"),
        (wording.task_title("print_sketch"), "print → sketch"),
        (memory_text(300), "300 MB"),
        (memory_text(3 * 1024), "3.0 GB"),
    ],
)
def test_numbers_and_names_have_one_form(written: str, expected: str) -> None:
    assert written == expected


def test_the_path_of_a_fit_names_its_parts() -> None:
    path = "fits/digits/main/print_photo/cdspp/1-5.parquet"
    assert fit_key(path) == ("digits", "main", "print_photo", "cdspp", "1-5")
