"""A method that stops with an error of its own."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from stages.room import ROLES, STATES, Room, fitted
from support.report_data import make_plan

from cdspp import CDSPP
from cdspp.core.errors import DataError
from cdspp.methods.base import Iteration
from cdspp.report.figures.samples import draw_subspace
from cdspp.stages.formats import FIT_COLUMNS, read_fit, read_rows


def crash_in(
    monkeypatch: pytest.MonkeyPatch, trial: int, error: BaseException
) -> list[int]:
    """Let the n-th fit of CDSPP stop with an error; return a list that counts fits."""
    fit, calls = CDSPP.fit, list[int]()

    def stopping(self: CDSPP, *args: Any, **kwargs: Any) -> CDSPP:
        calls.append(len(calls) + 1)
        if calls[-1] == trial:
            raise error
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(CDSPP, "fit", stopping)
    return calls


def test_a_crash_of_a_method_costs_its_own_trial_alone(
    room: Room, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = pd.DataFrame(read_rows(room.fit(), FIT_COLUMNS))
    crash_in(monkeypatch, 1, KeyError("no\nsuch row"))
    states = {name: STATES[name] for name in ("main", "none")}
    room.fit_states(states, code="2")
    first, second = read_fit(room.output("main")).record.trials
    assert (first["status"], first["crashed"]) == ("failed", True)
    assert re.fullmatch(
        r"KeyError: 'no\\nsuch row' \(test_crashes.py, line \d+: raise error\)",
        first["reason"],
    )
    assert (second["status"], second["crashed"]) == ("ok", False)
    left = pd.DataFrame(read_rows(room.output("main"), FIT_COLUMNS))
    kept = whole[whole["trial"] == 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(left, kept)
    other = read_fit(room.output("none")).record.trials
    assert [trial["status"] for trial in other] == ["ok", "ok"]
    assert "Traceback" in caplog.text
    assert room.score(room.output("main"))["status"].tolist()[:2] == ["failed", "ok"]


def test_a_fit_that_crashed_is_made_again_and_then_as_ever(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = room.fit().read_bytes()
    with monkeypatch.context() as patch:
        crash_in(patch, 2, RuntimeError("the device was lost"))
        assert room.fit(code="2").read_bytes() != whole
    states = {name: STATES[name] for name in ("main", "none")}
    assert fitted(room, states, code="2") == {"main", "none"}
    assert room.output("main").read_bytes() == whole
    assert fitted(room, states, code="2") == set()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
        OSError(errno.ENOSPC, "No space left on device"),
        DataError("a.npz: damaged"),
        ModuleNotFoundError("No module named 'torch'"),
        KeyboardInterrupt(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_no_fault_of_the_method_ends_the_job(
    room: Room, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    crash_in(monkeypatch, 2, error)
    with pytest.raises(type(error)):
        room.fit()
    assert not room.output("main").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda r: replace(r, prediction=r.prediction[:-1]),
        lambda r: replace(r, confidence=r.confidence[:-1]),
        lambda r: replace(r, prediction=np.full(len(r.prediction), "d", object)),
    ],
)
def test_a_method_that_gives_no_known_label_for_each_row_has_crashed(
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Iteration], Iteration],
) -> None:
    fit = CDSPP.fit

    def wrong(self: CDSPP, *args: Any, **kwargs: Any) -> CDSPP:
        fit(self, *args, **kwargs)
        self.history_[1] = change(self.history_[1])
        return self

    monkeypatch.setattr(CDSPP, "fit", wrong)
    results = read_fit(room.fit()).record.trials
    assert [result["crashed"] for result in results] == [True, True]
    told = "ValueError: iteration 2: expected one of the 3 labels for each of 27"
    assert results[0]["reason"].startswith(told)


def test_a_subspace_of_a_method_that_fails_is_empty_and_drawn_as_such(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CDSPP, "fit", Mock(side_effect=ZeroDivisionError))
    content = room.project()
    assert {name: len(content[name]) for name in ("iteration", "xy")} == {
        "iteration": 0,
        "xy": 0,
    }
    labels = {f"{r}_labels": room.labels(d) for r, d in ROLES.items()}
    drawn = room.folder / "subspace.svg"
    given = {"subspace": room.folder / "subspace.npz", **labels}
    draw_subspace(**given, plan=make_plan(), outputs=[drawn])
    assert "the fit failed" in drawn.read_text()
