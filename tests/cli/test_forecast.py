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

pytestmark = pytest.mark.usefixtures("few_candidates")


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
