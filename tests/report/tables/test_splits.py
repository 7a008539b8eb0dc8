"""Splits, read by role and domain."""

from __future__ import annotations

from pathlib import Path

from cdspp.report.tables.contents import read_splits
from cdspp.stages.formats import SPLIT_COLUMNS, write_rows


def write_block(path: Path, *trials: int) -> Path:
    """Write a block with one sample a trial."""
    values = {name: ["x"] * len(trials) for name in ("id", "role", "label")}
    write_rows(path, SPLIT_COLUMNS, {**values, "trial": trials, "row": trials})
    return path


def test_blocks_of_a_domain_in_a_role_are_joined_in_order(tmp_path: Path) -> None:
    splits = read_splits(
        [
            write_block(tmp_path / "target/web/1-2.parquet", 1, 2),
            write_block(tmp_path / "source/web/1-1.parquet", 1),
            write_block(tmp_path / "target/web/3-3.parquet", 3),
        ]
    )
    assert set(splits) == {("target", "web"), ("source", "web")}
    assert splits["target", "web"]["trial"].tolist() == [1, 2, 3]
    assert splits["target", "web"].index.tolist() == [0, 1, 2]
