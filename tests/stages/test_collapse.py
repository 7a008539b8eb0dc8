"""A collapse on its way from a fit into the record and the scores."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from stages.room import Room
from support.result_files import write_fit

from cdspp import CDSPP
from cdspp.core.errors import MethodFailed
from cdspp.stages.formats import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    read_features,
    read_fit,
    read_rows,
    write_features,
    write_rows,
)
from cdspp.stages.score import write_scores

IDS = [f"right{i:02d}" for i in range(40)]
OK = {"status": "ok", "reason": "", "seconds": 1.0}


def results_of(room: Room, offset: float) -> list[dict[str, Any]]:
    """Fit CDSPP on two trials, `offset` added to all target features."""
    known = read_features(room.features("right"))
    write_features(room.features("right"), replace(known, X=known.X + offset))
    return [dict(trial) for trial in read_fit(room.fit()).record.trials]


def test_a_record_tells_a_collapse_in_place_of_the_warning(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        results = results_of(room, offset=100.0)
    assert {result["collapsed"] for result in results} <= {"one class", "parallel rows"}
    assert [text.rpartition(": ")[0] for text in caplog.messages] == [
        "trial 1: degenerate fit",
        "trial 2: degenerate fit",
    ]


def test_a_record_of_other_fits_tells_none(room: Room) -> None:
    results = results_of(room, offset=0.0)
    assert [result["collapsed"] for result in results] == ["", ""]


def test_a_fit_that_failed_has_not_collapsed(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CDSPP, "fit", Mock(side_effect=MethodFailed("no rows")))
    results = results_of(room, offset=100.0)
    told = [(result["status"], result["collapsed"]) for result in results]
    assert told == [("failed", "")] * 2


def scores_of(
    folder: Path, trials: Sequence[dict[str, Any]], right: int = 37
) -> dict[str, np.ndarray]:
    """Score two iterations of each trial that ran, by a record that is written here.

    All 40 rows are predicted as one class, which is that of `right` rows.
    """
    truth = ["a"] * right + ["b"] * (40 - right)
    labels = {"id": IDS, "label": truth, "position": range(40)}
    write_rows(folder / "right.parquet", LABEL_COLUMNS, labels)
    ran = [trial["trial"] for trial in trials if trial["status"] == "ok"]
    cells = [(trial, step, key) for trial in ran for step in (1, 2) for key in IDS]
    columns = zip(*((*cell, "a", 0.5) for cell in cells), strict=True)
    fit = folder / "fits/toy/main/left_right/cdspp/1-3.parquet"
    content = dict(zip(FIT_COLUMNS, columns, strict=True))
    write_fit(fit, content, {trial["trial"]: trial for trial in trials})
    output = folder / "scores.parquet"
    write_scores(
        fits=[fit],
        labels=[folder / "right.parquet"],
        output=output,
        rows=output.with_suffix(".npz"),
    )
    return read_rows(output, SCORE_COLUMNS)


def test_scores_mark_every_iteration_of_a_trial_that_collapsed(tmp_path: Path) -> None:
    scores = scores_of(
        tmp_path,
        [
            {"trial": 1, **OK, "collapsed": "one class"},
            {"trial": 2, **OK, "collapsed": ""},
            {"trial": 3, **OK, "status": "failed", "collapsed": ""},
        ],
    )
    assert scores["collapsed"].dtype == bool
    assert scores["trial"].tolist() == [1, 1, 2, 2, 3]
    assert scores["collapsed"].tolist() == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("kind", "right", "degenerate"),
    [
        ("one class", 37, True),
        ("one class", 38, False),  # 95 %
        ("one class", 0, True),  # nearly all rows are of one class, but of another
        ("parallel rows", 38, True),
    ],
)
def test_one_predicted_class_is_right_if_nearly_all_rows_are_of_it(
    tmp_path: Path, kind: str, right: int, degenerate: bool
) -> None:
    scores = scores_of(tmp_path, [{"trial": 1, **OK, "collapsed": kind}], right)
    assert scores["collapsed"][scores["trial"] == 1].tolist() == [degenerate] * 2
