"""The order of rows and the names of classes: pages say what they change, with a share.

`python -m benchmarks order` measures the shares, and writes them to docs.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from support.toy_problem import toy_problem

from benchmarks.order import HALVES, NAMES, ROWS, SEED, changed_shares
from cdspp import SourceDomain
from cdspp.methods import available, method_class

MEASURED = Path(__file__).parents[2] / "docs/order.csv"
PHRASES = {
    ROWS: "reordering the rows",
    NAMES: "renaming the classes",
    HALVES: "halves of a source",
    SEED: "another seed",
}
UNBRIDGED = [name for name in available() if not method_class(name).bridges]
# A fit with default options takes hundredths of a second.
QUICK = ("cdspp", "cdspp-sup", "cdspp-pca", "dama", "dama-plus", "target-only", "svm-t")


@cache
def measured() -> dict[tuple[str, str], float]:
    table = pd.read_csv(MEASURED)
    return {(n.method, n.change): n.share for n in table.itertuples()}


def stated(name: str, change: str) -> str | None:
    """Return the share that the page of a method states of a change, if any."""
    text = " ".join((method_class(name).__doc__ or "").split())
    found = re.search(rf"(?i){PHRASES[change]}(?:(?!\. )[^;:])*? ([\d.]+) %", text)
    return found and found[1]


def shown(share: float) -> str | None:
    """Return a share as a page states it: none where no label changes."""
    if not share:
        return None
    return f"{share:.0f}" if share >= 1 else f"{share:.1f}"


@pytest.mark.parametrize("change", [ROWS, NAMES, HALVES])
@pytest.mark.parametrize("name", UNBRIDGED)
def test_a_page_states_the_share_of_labels_that_changes(name: str, change: str) -> None:
    assert stated(name, change) == shown(measured().get((name, change), 0.0))


@pytest.mark.parametrize("name", UNBRIDGED)
def test_a_page_that_compares_with_another_seed_has_its_share(name: str) -> None:
    if said := stated(name, SEED):
        assert said == shown(measured()[name, SEED])


def test_every_method_without_a_bridge_is_measured() -> None:
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
