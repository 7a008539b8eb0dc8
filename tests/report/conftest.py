"""Studies on which every table, every figure and the page must hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.report_data import DIGIT_TASKS, make_plan
from support.score_data import curve_entry
from support.written_study import WrittenStudy

FEW = {"states": ()}
THREE = {"methods": ("svm-t", "cdspp", "cdspp-pca")}
ONE = {"trials": 1, "tasks": DIGIT_TASKS[:1]}
# Kinds of studies, from rich to poor: options of the first benchmark's plan.
KINDS: dict[str, dict[str, Any]] = {
    "rich": {},
    "failed": {**THREE, "trials": 3, "tasks": (*DIGIT_TASKS, "tilted_photo")},
    "collapsed": {**THREE, "trials": 5},
    "without states": FEW,
    "without the reference": {"methods": ("svm-t", "dama"), "trials": 5},
    "baseline alone": {"methods": ("svm-t",), **FEW},
    "without methods": {"methods": (), **FEW},
    "one trial": ONE,
}
SECOND: dict[str, Any] = {
    "benchmark": "docs",
    "title": 'Docs & <script>alert("50 % of_it")</script> | {code} $\\c{$',
    "tasks": ("docs_code", "code_code"),
    "methods": ("svm-t", "dama", "tit", "cdspp"),
    "shortened": {"tit": 2},
    "curves": [
        curve_entry("labels", values=[1, 3]),
        curve_entry("alpha", parameter="alpha", methods=["cdspp"], values=[1, 2]),
    ],
    "paper": {
        "printed": "office-caltech",
        "choices": [{"id": "unit-rows", "tasks": 1}],
    },
    "overlap": "keep",
}


def make_written(folder: Path, kind: str) -> WrittenStudy:
    """Write a study of a kind.

    The rich one alone has a showcase, and a second benchmark with curves.
    """
    showcase = {} if kind == "rich" else {"showcase": ""}
    plans = [make_plan(**KINDS[kind], **showcase)]
    changes: dict[str, Any] = {}
    if kind == "failed":
        first, second, *_ = plans[0].tasks
        lost = [("cdspp", first, trial) for trial in (1, 2, 3)]
        gone = [("svm-t", task, k) for task in plans[0].tasks for k in (1, 2, 3)]
        gone += [("noise", first, trial) for trial in (1, 2, 3)]
        failed = [*lost, ("noise", second, 1)]
        changes = {"digits": {"failed": failed, "missing": gone}}
    if kind == "collapsed":
        changes = {"digits": {"collapsed": ["cdspp", "cdspp-pca, class-noise"]}}
    if kind == "rich":
        plans.append(make_plan(**SECOND))
    return WrittenStudy(folder, plans, changes)


@pytest.fixture(scope="module", params=KINDS)
def written(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> WrittenStudy:
    """Return a study of each kind, to be read by several tests."""
    folder = tmp_path_factory.mktemp("study") / "results/embedded"
    return make_written(folder, request.param)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> WrittenStudy:
    """Return the richest study with its tables, to be read by several tests."""
    folder = tmp_path_factory.mktemp("study") / "results" / "embedded"
    study = make_written(folder, "rich")
    for kind in ("table", "timing"):
        study.make(kind)
    return study


@pytest.fixture
def brief(tmp_path: Path) -> WrittenStudy:
    """Return a study that has every table and figure, of as few scores as can be."""
    plans = [make_plan(**ONE), make_plan(**{**SECOND, **FEW, "trials": 3})]
    return WrittenStudy(tmp_path / "results" / "embedded", plans, {})


@pytest.fixture
def rich(tmp_path: Path) -> WrittenStudy:
    """Return the richest study, nothing made of it yet."""
    return make_written(tmp_path / "results" / "embedded", "rich")
