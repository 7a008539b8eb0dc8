"""Labels as they are given: what counts as none, what is refused, what is told."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from cdspp import CDSPP, SourceDomain, compare, keep_labels, make
from cdspp.core.errors import CollapseWarning, DataError, LabelWarning
from cdspp.core.labels import require_common
from cdspp.methods.labels import read_labels

pytestmark = pytest.mark.usefixtures("few_trees")

N_PER_CLASS, NAMES = 8, ("cat", "dog", "owl")
CODES = np.repeat(np.arange(3), N_PER_CLASS)
LABELLED = np.arange(len(CODES)) % N_PER_CLASS < 2


def given(none: Any, labels: Callable[[int], Any]) -> list[Any]:
    """Return a label per row, and `none` where there is none."""
    return [
        labels(code) if known else none
        for code, known in zip(CODES.tolist(), LABELLED, strict=True)
    ]


def name_of(code: int) -> str:
    return NAMES[code]


def as_objects(values: list[Any]) -> np.ndarray:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


TEXTS: dict[str, Any] = {
    "a list with None": given(None, name_of),
    "a list with NaN": given(float("nan"), name_of),
    "a list with -1": given(-1, name_of),
    "an array of text with empty ones": np.array(given("", name_of)),
    "an object array with -1": as_objects(given(-1, name_of)),
    "an object array with NA": as_objects(given(pd.NA, name_of)),
    "a Series of strings": pd.Series(given(pd.NA, name_of), dtype="string"),
    "a Series of str": pd.Series(given(None, name_of)),
    "a list with bytes": given(None, lambda code: name_of(code).encode()),
    "a masked array": np.ma.array(given("cat", name_of), mask=~LABELLED),
    "a Categorical": pd.Series(pd.Categorical(given(None, name_of))),
}
NUMBERS: dict[str, Any] = {
    "a list with None": given(None, int),
    "an array of integers": np.array(given(-1, int)),
    "an array of floats with NaN": np.array(given(np.nan, float)),
    "a masked array": np.ma.array(given(1, int), mask=~LABELLED),
    "a Series of floats": pd.Series(given(np.nan, float)),
    "a Series of Int64": pd.Series(given(pd.NA, int), dtype="Int64"),
    "a Categorical of integers": pd.Series(pd.Categorical(given(None, int))),
}


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return tuple(
        rng.random((len(CODES), width)) + 2 * np.eye(3, width)[CODES]
        for width in (4, 6)
    )


def predictions(y: Any, source_y: Any) -> list[Any]:
    X, X_source = rows()
    model = CDSPP().fit(X, y, source=SourceDomain(X_source, source_y))
    assert len(model.classes_) == 3
    return model.transduction_.tolist()


@pytest.mark.parametrize("y", TEXTS.values(), ids=TEXTS)
def test_every_way_to_say_no_label_is_the_same_for_text(y: Any) -> None:
    source_y = [NAMES[code] for code in CODES]
    found = predictions(y, source_y)
    assert found == predictions(TEXTS["an object array with -1"], source_y)
    assert set(found) == set(NAMES)


@pytest.mark.parametrize("y", NUMBERS.values(), ids=NUMBERS)
def test_every_way_to_say_no_label_is_the_same_for_numbers(y: Any) -> None:
    found = predictions(y, CODES)
    assert found == predictions(NUMBERS["an array of integers"], CODES)
    assert set(found) == {0, 1, 2}


def test_booleans_may_lack_a_label() -> None:
    values, labelled = read_labels(pd.Series([True, None, False], dtype="boolean"))
    assert values.tolist() == [True, False]
    assert labelled.tolist() == [True, False, True]
    assert read_labels([True, False])[1].all()


def test_text_and_numbers_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="'cat' and 7 .*labels"):
        read_labels(["cat", None, 7])


def test_the_text_of_minus_one_is_refused() -> None:
    with pytest.raises(ValueError, match='text "-1"'):
        read_labels(["cat", "-1"])


def test_classes_that_differ_in_capitals_or_blanks_are_named() -> None:
    names = ["Cat", "dog ", "owl"]
    message = r"'cat' \(target\), 'Cat' \(source\); 'dog' \(target\), 'dog ' \(source\)"
    with pytest.raises(ValueError, match=message):
        predictions(TEXTS["a list with None"], [names[code] for code in CODES])


def test_capitals_that_both_domains_tell_apart_are_classes_with_a_warning() -> None:
    letters = ["a", "A", "b"]
    y, source_y = given(None, letters.__getitem__), [letters[code] for code in CODES]
    with pytest.warns(LabelWarning, match=r"'A' \(y\), 'a' \(y\)"):
        assert set(predictions(y, source_y)) == set(letters)
    X, X_source = rows()
    with pytest.warns(LabelWarning, match=r"'A' \(source.y\), 'a' \(source.y\)"):
        compare(X, y, source=SourceDomain(X_source, source_y), methods=["cdspp-sup"])
    with keep_labels("A"), warnings.catch_warnings():
        warnings.simplefilter("error", LabelWarning)
        predictions(y, source_y)


def test_words_for_no_label_are_told_with_counts_unless_they_are_kept() -> None:
    y = given("NULL", name_of)
    y[-1], source_y = " n/a", [NAMES[code] for code in CODES]
    with pytest.warns(LabelWarning, match="unlabelled: 17 'NULL' and 1 'n/a'. If"):
        assert predictions(y, source_y) == predictions(
            TEXTS["a list with None"], source_y
        )
    with keep_labels("n/a"), pytest.warns(LabelWarning, match="n/a   1 +-"):
        model = CDSPP().fit(rows()[0], y, source=SourceDomain(rows()[1], source_y))
    assert " n/a" in model.classes_


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ValueError, match=r"b'\\xff' .*type bytes.* UTF-8"):
        read_labels([b"cat", b"\xff"])


@pytest.mark.parametrize(
    ("source_names", "told"),
    [
        (("cat", "dog", "dog"), "owl    2         -\n"),
        (("cat", "dog", "emu"), "emu    -         8\n    owl    2         -"),
    ],
)
def test_classes_without_a_partner_are_told(
    source_names: tuple[str, ...], told: str
) -> None:
    X, X_source = rows()
    source = SourceDomain(X_source, [source_names[code] for code in CODES])
    with pytest.warns(LabelWarning, match=told):
        make("cdspp-sup").fit(X, TEXTS["a list with None"], source=source)


def test_domains_without_a_class_in_common_are_refused() -> None:
    X, X_source = rows()
    source = SourceDomain(X_source, [("Katze", "dogs", "emu")[code] for code in CODES])
    told = "^CDSPPSup: .*'dog' may be 'dogs'.*\n.*\n    Katze  -         8\n"
    with pytest.raises(ValueError, match=told):
        make("cdspp-sup").fit(X, TEXTS["a list with None"], source=source)


def test_a_transductive_method_says_where_there_is_nothing_to_predict() -> None:
    X, _ = rows()
    with pytest.warns(LabelWarning, match="row.*label"):
        make("pa").fit(X, CODES)


@pytest.mark.parametrize("X", [[[1.0], [2.0]], np.ones((2, 3))])
def test_a_source_checks_its_lengths_when_it_is_made(X: Any) -> None:
    with pytest.raises(ValueError, match="X has 2 rows.* 3 labels"):
        SourceDomain(X, [0, 1, 1])


def test_numbers_are_matched_by_value_and_text_beside_numbers_is_named() -> None:
    classes = {"y": np.array([0.0, 1.0]), "source.y": np.array([1, 0])}
    require_common(classes)
    require_common(classes | {"y": np.array(["0", "1"])})
    with pytest.raises(DataError, match=r"no class in common\. Spell the same"):
        require_common(classes | {"y": np.array([2, 3])})
    y = np.array([0.0, 0.0, 1.0, 1.0, np.nan])
    source = SourceDomain([[0.0], [1.0], [0.0], [1.0]], [0, 1, 0, 1])
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.5, 0.5]]
    assert compare(X, y, source=source, methods=["cdspp-sup"], repeats=5).lines


def test_one_labelled_class_is_refused_without_a_bridge() -> None:
    y, source_y = np.array([0, 0, -1]), np.array([0, 1, 2])
    X, source_X = np.eye(3), np.eye(3, 4)
    told = "^CDSPP: y: .*class '0'; source.y .* 0, 1, 2. .*label rows"
    with pytest.raises(ValueError, match=told):
        CDSPP().fit(X, y, source=SourceDomain(source_X, source_y))
    shared = SourceDomain(source_X, source_y, shared_columns=[(0, 0), (1, 1), (2, 2)])
    with pytest.warns(LabelWarning, match="1 +- +1\n +2 +- +1"):
        found = make("shared-columns").fit(X, y, source=shared)
    assert found.predict(X)[2] == 2


def test_one_label_a_class_is_usual_and_gives_no_warning() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.repeat(np.arange(30), 2)
    source = SourceDomain(rng.standard_normal((30, 5)), np.arange(30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CollapseWarning)
        make("cdspp").fit(X, np.where(np.arange(60) % 2, y, -1), source=source)


@pytest.mark.parametrize("domain", ["X", "source.X"])
def test_sparse_rows_are_refused_with_the_remedy(domain: str) -> None:
    X, X_source = rows()
    target = csr_array(X) if domain == "X" else X
    given_source = csr_array(X_source) if domain == "source.X" else X_source
    message = f"^{domain}: .* sparse rows.*toarray.*: cdspp, "
    with pytest.raises(ValueError, match=message):
        make("cdspp-bridge").fit(
            target, CODES, source=SourceDomain(given_source, CODES)
        )
