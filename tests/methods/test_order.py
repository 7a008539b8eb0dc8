"""The order of rows and the names of classes: docstrings explain a change of labels.

`python -m benchmarks order` measures the shares and writes them to docs, whose pages
state them.
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from support.toy_problem import toy_problem

from benchmarks.order import HALVES, NAMES, ROWS, changed_shares
from cdspp import SourceDomain
from cdspp.methods import available, method_class

MEASURED = Path(__file__).parents[2] / "docs/order.csv"
PHRASES = {
    ROWS: "reordering the rows",
    NAMES: "renaming the classes",
    HALVES: "halves of a source",
}
UNBRIDGED = [name for name in available() if not method_class(name).bridges]
# A fit with default options takes hundredths of a second.
QUICK = ("cdspp", "cdspp-sup", "cdspp-pca", "dama", "dama-plus", "target-only", "svm-t")


@cache
def measured() -> dict[tuple[str, str], float]:
    table = pd.read_csv(MEASURED)
    return {(n.method, n.change): n.share for n in table.itertuples()}


@pytest.mark.parametrize("change", [ROWS, NAMES, HALVES])
@pytest.mark.parametrize("name", UNBRIDGED)
def test_a_docstring_explains_a_change_and_has_no_share(name: str, change: str) -> None:
    text = " ".join((method_class(name).__doc__ or "").split()).lower()
    if measured().get((name, change), 0.0):
        assert PHRASES[change] in text
    assert not re.search(rf"{PHRASES[change]}[^.;:]* [\d.]+ %", text)


def test_the_pages_state_the_measured_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(MEASURED.parent / "extensions"))
    pages = importlib.import_module("method_pages")
    assert pages._order(MEASURED.parents[1], "stn").splitlines()[-1] == (
        "Reordering the rows changes 0.3 %; renaming the classes changes 4 %; another "
        "seed changes 3 % of the labels of the embedded digits."
    )
    assert "into two changes 3 % of" in pages._order(MEASURED.parents[1], "cdspp")
    assert pages._order(MEASURED.parents[1], "shared-columns") == ""


def test_every_method_without_a_bridge_is_measured() -> None:
    missing = {*UNBRIDGED} - {name for name, _ in measured()}
    assert not missing, f"run python -m benchmarks order {' '.join(sorted(missing))}"
    assert {name for name, _ in measured()} == {*UNBRIDGED}


@pytest.mark.parametrize("name", QUICK)
def test_the_shares_are_those_of_unlabelled_rows(name: str) -> None:
    problem = toy_problem(spread=1.0, unlabelled_per_class=25, seed=1)
    plain = SourceDomain(problem.source.X, problem.source.y)
    found = changed_shares(name, problem.X, problem.y, plain)
    several = method_class(name).several_sources and method_class(name).uses_source
    assert found.keys() == {ROWS, NAMES, *([HALVES] if several else [])}
    assert found[ROWS] == 0
    assert (found[NAMES] > 0) == (name == "svm-t")
    assert found.get(HALVES, 1.0) > 0
