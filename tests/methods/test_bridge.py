"""What a source shares with the target besides labels: read, refused, warned of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score

from cdspp import CDSPP, LabelledKFold, SharedColumns, SourceDomain, make
from cdspp.core.errors import BridgeWarning, NoSourceWarning
from cdspp.methods.bridge import Bridge, read_bridge
from cdspp.methods.problem import note_missing_source

RNG = np.random.default_rng(0)
X_SOURCE, X = RNG.normal(size=(12, 3)), RNG.normal(size=(15, 4))
Y_SOURCE = np.arange(12) % 2
SOURCE_TABLE = pd.DataFrame(X_SOURCE, columns=["age", "chol", "slope"])
TABLE = pd.DataFrame(X, columns=["chol", "weight", "age", "thal"])
PAIRS = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 4))


def read(source: Any = X_SOURCE, target: Any = X, **bridge: Any) -> Bridge:
    domains = tuple(
        rows if sparse.issparse(rows) else np.asarray(rows) for rows in (source, target)
    )
    given = SourceDomain(source, Y_SOURCE, **bridge)
    return read_bridge(given, domains, (source, target), lambda rows, input_name: rows)


@pytest.mark.parametrize(
    ("source", "target", "shared"),
    [
        (SOURCE_TABLE, TABLE, "same-names"),
        (SOURCE_TABLE, TABLE, [("age", "age"), ("chol", "chol")]),
        (X_SOURCE, TABLE, [(0, "age"), (1, "chol")]),
        (X_SOURCE, X, np.array([[0, 2], [1, 0]])),
        (sparse.csr_array(X_SOURCE), sparse.csr_array(X), [(0, 2), (1, 0)]),
    ],
)
def test_columns_are_shared_by_number_or_by_name(
    source: Any, target: Any, shared: Any
) -> None:
    found = read(source, target, shared_columns=shared)
    assert found.source.tolist() == [0, 1]
    assert found.target.tolist() == [2, 0]
    assert found.n_pairs == 0


@pytest.mark.parametrize(
    ("shared", "reason"),
    [
        ([(0, 1), (0, 2)], "source column 0 .*twice"),
        ([(0, 1), (2, 1)], "target column 1 .*twice"),
        ([(0, 4)], "target.*column 4, .*columns.* 0 to 3"),
        ([(-1, 0)], "source.*column -1"),
        ([("age", 0)], "columns.*names. Give .*number"),
        ([0, 1], "expected 'same-names' or pairs"),
        (["ab"], "expected 'same-names' or pairs"),
        ("names", "expected 'same-names' or pairs .source column, target column., got"),
        ("same-names", "frames.*sides"),
    ],
)
def test_a_fault_of_shared_columns_is_one_line(shared: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        read(shared_columns=shared)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "shared", "reason"),
    [
        ([*TABLE], [("age", "wight")], "no column 'wight': did you mean 'weight'?"),
        ([*TABLE], [("age", "age"), (0, "chol")], "column.*twice, by n"),
        (["age", "chol", "age", "thal"], "same-names", "target.*columns 'age'"),
        ([*"abcd"], "same-names", "column.*same name"),
    ],
)
def test_a_fault_of_names_is_told(names: list[str], shared: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read(SOURCE_TABLE, TABLE.set_axis(names, axis=1), shared_columns=shared)


def test_twenty_thousand_names_are_found_at_once() -> None:
    names = [f"w{k}" for k in range(20_000)]
    table = pd.DataFrame(np.zeros((12, len(names)), dtype="float32"), columns=names)
    found = read(table, table, shared_columns="same-names")
    assert found.source.tolist() == list(range(20_000))


def test_every_pair_of_a_known_row_is_left_out() -> None:
    twice = np.vstack([X_SOURCE[:1], X_SOURCE[:1], PAIRS[0][:1]])
    with pytest.warns(BridgeWarning, match="2 of 3 pairs.*equal"):
        assert read(paired_rows=(twice, PAIRS[1][:3])).n_pairs == 1


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ((PAIRS[0], PAIRS[1][:4]), "5 rows.*source.* 4 .*target"),
        ((PAIRS[0],), "arrays"),
        (
            (PAIRS[0], PAIRS[0]),
            "target side has 3 columns, expected 4",
        ),
        ((pd.DataFrame(PAIRS[0], columns=[*"abc"]), PAIRS[1]), "columns.*source"),
    ],
)
def test_a_fault_of_paired_rows_is_one_line(pairs: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        read(SOURCE_TABLE, X, paired_rows=pairs)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("side", [0, 1])
def test_a_pair_with_a_row_of_its_domain_is_left_out(form: Any, side: int) -> None:
    pairs = [part.copy() for part in PAIRS]
    pairs[side][3] = (X_SOURCE, X)[side][7]
    with pytest.warns(
        BridgeWarning, match=f"1 of 5 pairs.* {('source', 'target')[side]}"
    ):
        found = read(form(X_SOURCE), form(X), paired_rows=tuple(map(form, pairs)))
    assert found.n_pairs == 4
    kept = sparse.csr_array(found.pairs_source).toarray()
    np.testing.assert_array_equal(kept, np.delete(pairs[0], 3, axis=0))


@pytest.mark.filterwarnings("ignore::cdspp.core.errors.BridgeWarning")
def test_pairs_that_are_all_left_out_are_refused_with_the_reason() -> None:
    known = np.vstack([X_SOURCE[:2], PAIRS[0][:1]]), np.vstack([PAIRS[1][:2], X[:1]])
    with pytest.raises(ValueError, match="all of 3 pairs equal"):
        read(paired_rows=known)


def test_rows_of_zeros_are_no_sign_of_one_object() -> None:
    zeros = np.zeros_like(X[:1])
    target, pairs = np.vstack([X, zeros]), (PAIRS[0][:1], zeros)
    assert read(target=target, paired_rows=pairs).n_pairs == 1


def test_units_that_differ_by_orders_are_warned_of() -> None:
    told = r"age: median -?\d.*, spread \d.*, .*column age: median"
    with pytest.warns(BridgeWarning, match=told):
        read(SOURCE_TABLE * [30, 1, 1], TABLE, shared_columns="same-names")


def test_a_method_without_use_for_a_bridge_ignores_it() -> None:
    labels = np.where(np.arange(15) < 6, np.arange(15) % 2, -1)
    bridged = SourceDomain(
        X_SOURCE, Y_SOURCE, shared_columns=[(0, 0)], paired_rows=PAIRS
    )
    expected = CDSPP().fit(X, labels, source=SourceDomain(X_SOURCE, Y_SOURCE))
    found = CDSPP().fit(X, labels, source=bridged)
    np.testing.assert_array_equal(found.projection_, expected.projection_)


def test_a_method_that_needs_a_bridge_asks_for_it() -> None:
    labels = np.where(np.arange(15) < 6, np.arange(15) % 2, -1)
    with pytest.raises(ValueError, match="SharedColumns .*shared columns: pass Source"):
        SharedColumns().fit(X, labels, source=SourceDomain(X_SOURCE, Y_SOURCE))


@pytest.mark.parametrize("method", ["cdspp", "svm-t", "shared-columns"])
def test_a_shared_column_that_a_side_lacks_is_an_error_in_every_method(
    method: str,
) -> None:
    labels = np.where(np.arange(len(X)) < 4, np.arange(len(X)) % 2, -1)
    source = SourceDomain(SOURCE_TABLE, Y_SOURCE, shared_columns=[("age", "zz")])
    with pytest.raises(ValueError, match="shared_columns: the target has no column 'z"):
        make(method).fit(TABLE, labels, source=source)
    source = SourceDomain(X_SOURCE, Y_SOURCE, shared_columns=[(0, 99)])
    with pytest.raises(ValueError, match="shared_columns: the target has no column 99"):
        make(method).fit(X, labels, source=source)


def test_a_forgotten_source_is_noted_once_a_process() -> None:
    labels = np.where(np.arange(len(X)) % 3, np.arange(len(X)) % 2, -1)
    note_missing_source.cache_clear()
    with pytest.warns(NoSourceWarning, match="params={'source': ...}") as told:
        cross_val_score(CDSPP(), X, labels, cv=LabelledKFold(2))
    assert len([each for each in told if each.category is NoSourceWarning]) == 1
    note_missing_source.cache_clear()
    with warnings.catch_warnings(action="error", category=NoSourceWarning):
        make("target-only").fit(X, labels)
        CDSPP().fit(X, labels, source=SourceDomain(X_SOURCE, Y_SOURCE))
    with pytest.warns(NoSourceWarning):
        CDSPP().fit(X, labels)


def test_a_source_is_shown_on_one_line() -> None:
    source = SourceDomain(
        np.zeros((3, 2)), [0, 1, 1], shared_columns=[(0, 0)], paired_rows=([[1]], [[2]])
    )
    assert repr(source) == (
        "<SourceDomain: rows: 3, columns: 2, shared columns: 1, paired rows: 1>"
    )
    bare = repr(SourceDomain([[1.0, 2.0]], ["cat"], shared_columns="same-names"))
    assert bare == "<SourceDomain: rows: 1, columns: 2, shared columns: equal names>"
