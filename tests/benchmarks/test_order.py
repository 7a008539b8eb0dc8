"""Labels that change with the order of rows and the names of classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.toy_problem import toy_problem

from benchmarks import order
from benchmarks.__main__ import main
from cdspp import SourceDomain


def test_the_command_shows_shares_and_keeps_those_of_other_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    toy = toy_problem(spread=1.0, unlabelled_per_class=25, seed=1)
    parts = toy.X, toy.y, SourceDomain(toy.source.X, toy.source.y)
    monkeypatch.setattr(order, "problem", lambda draw: parts)
    known = pd.DataFrame(
        [("ddacl", "rows", 3.0), ("svm-t", "rows", 9.0)],
        columns=["method", "change", "share"],
    )
    order.write_shares(known, tmp_path)
    assert main(["order", "svm-t", "cdspp", "--output", str(tmp_path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == ["change", *order.CHANGES]
    assert ["svm-t", "0.0", "2.0"] in [line.split() for line in shown]
    found = pd.read_csv(tmp_path / "order.csv")
    assert found[found.method == "svm-t"].share.tolist() == [0.0, 2.0]
    assert found.method.unique().tolist() == ["cdspp", "ddacl", "svm-t"]
