"""The examples of the documentation run, and find what their pages say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest
from support.excerpts import is_excerpt

from cdspp.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def undated(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d(?=: \d| to)", "DATE", text)


def console_blocks(page: str) -> list[str]:
    """Return what a page of the guide shows of a terminal."""
    text = (EXAMPLES.parent / f"guide/{page}.md").read_text(encoding="utf-8")
    return [
        undated(b) for b in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M)
    ]


def run(name: str, folder: Path) -> None:
    runpy.run_path(str(EXAMPLES / name))["main"](folder)


@pytest.mark.slow
def test_two_files_lead_to_labels_new_rows_and_labels_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its output is what the page shows, except for dates."""
    run("two_tables.py", tmp_path)
    printed = capsys.readouterr().out
    shown = console_blocks("two-tables")
    assert len(shown) == 6
    assert not [block for block in shown if not is_excerpt(block, undated(printed))]
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
    [shown] = console_blocks("data")
    assert is_excerpt(shown, told)


def test_the_page_on_the_paper_shows_the_plan_and_the_table_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(EXAMPLES.parents[1])
    assert main(["plan", "resources/studies/printed.yaml"]) == 0
    [shown] = console_blocks("paper-table")
    assert is_excerpt(shown, capsys.readouterr().out)
    docs = EXAMPLES.parent
    table = (docs / "results/printed-methods.txt").read_text(encoding="utf-8")
    assert table in (docs / "guide/paper-table.md").read_text(encoding="utf-8")
