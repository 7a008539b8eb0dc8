"""The files that readers of tables are measured by, and the verdicts on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.tables import FILES, bench_tables, judge, tables_table
from cdspp.core.yaml_files import read_yaml

CASE = {"y": ["a", None], "X": {"width": [1.5, None]}}
VERDICTS = [
    ({"kind": ["a", ""], "width": [1.5, np.nan]}, "right"),
    ({"kind": ["a", ""], "width": ["1,5", ""]}, "refused"),
    ({"kind": ["a", ""]}, "refused"),
    ({"kind": ["a", ""], "width": [15.0, np.nan]}, "WRONG"),
    ({"kind": ["a", "", "n = 2"], "width": [1.5, np.nan, 2]}, "WRONG"),
]


@pytest.mark.parametrize(("found", "verdict"), VERDICTS)
def test_a_table_is_right_refused_or_wrong(
    found: dict[str, object], verdict: str
) -> None:
    assert judge(pd.DataFrame(found), CASE)[0] == verdict


def test_our_reader_is_never_wrong_and_right_more_often_than_pandas() -> None:
    found = bench_tables()
    counts = found.groupby("reader")["verdict"].value_counts().unstack(fill_value=0)
    assert len(read_yaml(FILES)) == counts.loc["cdspp"].sum() >= 60
    assert counts.loc["cdspp", "WRONG"] == 0
    assert counts.loc["cdspp", "right"] == 45
    assert counts["right"].idxmax() == "cdspp"
    page = (Path(__file__).parents[2] / "docs/decisions.md").read_text()
    pandas = counts.loc["pandas"]
    told = f"reads {pandas['right']} right and is silently wrong on {pandas['WRONG']},"
    assert told in " ".join(page.split())
    lines = tables_table(found).splitlines()
    assert lines[0].split()[:2] == ["file", "cdspp"]
    assert [line.split()[1] for line in lines if "de-euro" in line] == ["refused"]


def test_a_file_is_read_alike_in_every_format_that_can_hold_it() -> None:
    verdicts = bench_tables()
    ours = verdicts[verdicts["reader"].str.startswith("cdspp")]
    held = ours[ours["verdict"] != "-"]
    assert len(held) > 2 * 68 - 20
    differ = held.groupby("file")["verdict"].nunique() > 1
    assert not differ.any(), held[held["file"].isin(differ.index[differ])]
