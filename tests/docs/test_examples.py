"""The examples of the documentation run, and find what their pages say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def run(name: str, folder: Path) -> None:
    runpy.run_path(str(EXAMPLES / name))["main"](folder)


@pytest.mark.slow
def test_two_files_lead_to_labels_new_rows_and_labels_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page includes the parts between these headings, and lines that open so."""
    run("two_tables.py", tmp_path)
    printed = capsys.readouterr().out
    steps = dict(part.split("\n", 1) for part in ("\n" + printed).split("\n# ")[1:])
    assert "column 'comment' holds text" in steps["Look at the files"]
    assert "\nUse the vote of " in steps["Compare"]
    assert "\n253 predictions" in steps["Fit, and label new rows"]
    assert "\n20 rows to label: rows.csv\n\nid,vote," in steps["Rows to label"]
    later = steps["Labels for these rows"].partition("\nMethod   ")[0]
    assert "\nOf 20 rows that you labelled, it had " in later
    assert "\nWhether the source helps is inconclusive: " in later
    assert "\nSince " in steps["Fit again"]
    shares = [int(number) for number in re.findall(r"# (\d+) of 100 new", printed)]
    assert len(shares) == 2
    assert min(shares) > 75


def test_the_two_tables_are_as_the_page_describes_them(tmp_path: Path) -> None:
    """Neither biopsies nor columns are in both, but for the radius."""
    runpy.run_path(str(EXAMPLES / "two_tables.py"))["write_tables"](tmp_path)
    lab = pd.read_csv(tmp_path / "lab.csv", sep=";", decimal=",")
    clinic, new = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("clinic", "new"))
    assert set(lab) & set(clinic) == {"case", "radius"}
    assert not {*lab["case"]} & {*clinic["case"], *new["case"]}
    assert not {*clinic["case"]} & {*new["case"]}
    invented = {"case", "diagnosis", "received", "site", "seen", "smoker", "comment"}
    assert [len(lab), len({*lab} - invented)] == [200, 20]
    assert [len(clinic), len({*clinic} - invented - {"dx"})] == [269, 11]
    assert set(clinic["dx"].value_counts()) == {8}


def test_a_study_of_a_folder_of_images_is_valid_and_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("image_folder.py", tmp_path)
    told = capsys.readouterr().out
    # Five trials in seven states, and without a source as target-only.
    assert re.search(r"^cdspp +1 +30 ", told, re.M)
    assert len(list(tmp_path.rglob("*.png"))) == 600
