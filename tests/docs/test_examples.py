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
def test_two_tables_are_compared_fitted_and_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("two_tables.py", tmp_path)
    told = capsys.readouterr().out
    assert "\nCannot tell: " in told
    shares = [float(share) for share in re.findall(r"([\d.]+) % right", told)]
    assert len(shares) == 2
    assert min(shares) > 85
    target = pd.read_csv(tmp_path / "target.csv", index_col="id")
    predicted = pd.read_csv(tmp_path / "predictions.csv", index_col="id")
    assert list(predicted.index) == list(target.index[target["label"].isna()])
    assert len(pd.read_csv(tmp_path / "more.csv")) == len(
        pd.read_csv(tmp_path / "new.csv")
    )


def test_the_two_tables_share_neither_wines_nor_columns(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "two_tables.py"))["write_tables"](tmp_path)
    names = ("source", "target", "new")
    source, target, new = (pd.read_csv(tmp_path / f"{name}.csv") for name in names)
    assert not set(source) & (set(target) - {"label"})
    assert not set(target["id"]) & set(new["id"])
    assert len(source) + len(target) + len(new) == 178
    assert set(target["label"].value_counts()) == {4}


def test_a_study_of_a_folder_of_images_is_valid_and_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("image_folder.py", tmp_path)
    told = capsys.readouterr().out
    # Five trials in seven states, and without a source as target-only.
    assert re.search(r"^cdspp +1 +30 ", told, re.M)
    assert len(list(tmp_path.rglob("*.png"))) == 600
