"""Bridges that `cdspp init` proposes as comments of a study."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.own_tables import write_table

from cdspp.cli.main import main


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_similar(n_lab: int, n_field: int, **more: Any) -> list[str]:
    """Write tables of one length in two units; 30 objects in both have no label."""
    numbers, codes = np.random.default_rng(0).normal(size=120), [*"ab"] * 60
    for domain, name, size, place, named in (
        ("lab", "Length (mm)", 10.0, slice(0, 80), slice(0, n_lab)),
        ("field", "length_cm", 1.0, slice(50, 120), slice(120 - n_field, 120)),
    ):
        labels = [""] * 120
        labels[named] = codes[named]
        ids = [f"p{3 * k}" for k in range(120)]
        columns = {"id": ids, name: numbers * size, "label": labels}
        columns |= {key: numbers[::-1] for key in more.get(domain, ())}
        write_table(Path(f"{domain}.csv"), {k: v[place] for k, v in columns.items()})
    return ["init", "mini", "--table", "lab.csv", "--table", "field.csv", "--force"]


# Where a user takes away the sign of a comment.
KEYS = "add|bridge|paired|paired_rows|shared_columns"
PROPOSED = re.compile(rf"^( *)# (?= *({KEYS}):| *- \[)", re.MULTILINE)
PAIR = ["Length (mm)", "length_cm"]


@pytest.mark.parametrize(
    ("same", "n_labelled"), [((), (50, 40)), (("age", "a: b"), (80, 70))]
)
def test_proposals_are_comments_which_hold_once_they_are_none(
    same: tuple[str, ...], n_labelled: tuple[int, int], away: Path, capsys: Any
) -> None:
    init = write_similar(*n_labelled, lab=same, field=same)
    assert main(init) == 0
    text = Path("mini.yaml").read_text()
    result = yaml.safe_load(text)
    assert result["benchmarks"][0].get("bridge", {}) == (
        {"shared_columns": "same-names"} if same else {}
    )
    assert "paired" not in result["datasets"][0]
    assert "# similarity of names 1.00, distance of contents 0." in text
    text = PROPOSED.sub(r"\1", text.replace("shared_columns: same-names", ""))
    Path("mini.yaml").write_text(text)
    result = yaml.safe_load(text)
    bridge = result["benchmarks"][0]["bridge"]
    assert bridge["shared_columns"] == [*([name] * 2 for name in same), PAIR]
    in_both = n_labelled == (50, 40)
    assert bridge.get("paired_rows", 0) == 30 * in_both
    assert result["datasets"][0].get("paired", False) == in_both
    assert {"shared-columns", "cdspp-bridge"} <= {*result["add"]}
    assert main(["plan", "mini.yaml"]) == 0
    planned = capsys.readouterr().out
    assert all(f"\n{name} " in planned for name in result["add"])


def test_proposals_are_of_the_source_and_the_target_that_are_asked_for(
    away: Path,
) -> None:
    assert main([*write_similar(50, 40), "--source", "field"]) == 0
    assert "- [length_cm, Length (mm)]" in Path("mini.yaml").read_text()
