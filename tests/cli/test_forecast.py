"""Costs said before a fit: seconds, memory, and signs of life."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toy_problem import toy_problem

from cdspp.__main__ import main
from cdspp.cli import rows as own_rows
from cdspp.cli.rows import expected_cost
from cdspp.core.errors import DataError
from cdspp.datasets.table_rows import DomainRows
from cdspp.methods import method_class
from cdspp.methods.cost import Cost, Size, fit_cost


def rows(n: int, d: int, labels: list[str]) -> DomainRows:
    return DomainRows("f.csv", np.zeros((n, d)), [str(k) for k in range(n)], labels)


def test_the_cost_is_that_of_the_model_at_the_size_of_the_rows() -> None:
    target = rows(10, 3, ["a", "b"] + [""] * 8)
    source = rows(6, 4, list("aabbcc"))
    size = Size("f.csv", 3, 6, 4, 2, 8, 3)
    for name in ("cdspp", "hfa", "shfa"):
        assert expected_cost(name, target, source) == fit_cost(method_class(name), size)
    alone = Size("f.csv", 2, 2, 3, 2, 8, 3)
    assert expected_cost("cdspp", target, None) == fit_cost(
        method_class("cdspp"), alone
    )


def test_a_fit_that_needs_more_memory_than_is_free_is_refused_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = rows(10, 3, ["a", "b"] + [""] * 8), rows(6, 4, list("aabbcc"))
    large = Cost(1.0, 19046.0)
    monkeypatch.setattr(own_rows, "fit_cost", lambda *_: large)
    monkeypatch.setattr(own_rows, "available_megabytes", lambda: 2048.0)
    with pytest.raises(DataError) as caught:
        expected_cost("shfa", *both, remedy="wait")
    message = "shfa would need about 18.6 GB of memory for these rows, but only 2.0"
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("choose another method, or wait.")
    assert expected_cost("shfa", *both) == large
    for free in (19046.0, None):  # as much as is needed, or unknown
        monkeypatch.setattr(own_rows, "available_megabytes", lambda free=free: free)
        assert expected_cost("shfa", *both, remedy="wait") == large


def test_long_work_is_announced_and_gives_signs_of_life(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(own_rows, "LONG_SECONDS", 0.05)
    with caplog.at_level(logging.INFO), own_rows.log_progress("cdls", 7200.0):
        time.sleep(0.3)
    first, *others = [record.getMessage() for record in caplog.records]
    assert first == "cdls: about 2.0 h on one core"
    assert others
    assert set(others) == {"cdls: 0 s of about 2.0 h"}


def test_the_commands_refuse_beforehand_and_fit_anyway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    problem = toy_problem(spread=0.3)
    np.savez(tmp_path / "s.npz", X=problem.source.X, y=problem.source.y)
    np.savez(tmp_path / "t.npz", X=problem.X, y=problem.y)
    monkeypatch.setattr(own_rows, "available_megabytes", lambda: 100.0)
    both = ["--source", str(tmp_path / "s.npz"), "--target", str(tmp_path / "t.npz")]
    output = ["--output", str(tmp_path / "p.csv")]
    assert main(["fit", *both, *output]) == 2
    assert "but only 100 MB is free" in capsys.readouterr().err
    assert not (tmp_path / "p.csv").exists()
    assert main(["compare", *both, "--method", "cdspp"]) == 2
    assert "or leave this one out." in capsys.readouterr().err
    assert main(["fit", *both, *output, "--anyway"]) == 0
    assert (tmp_path / "p.csv").exists()
