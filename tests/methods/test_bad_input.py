"""Every method on inputs at the edge: a defined result, or one reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.every_case import check_all
from support.quick_methods import (
    FORMS,
    description_of,
    every_form,
    every_method,
    numbers_of,
    quick,
    reason,
)
from support.toy_problem import (
    SHAPES,
    ToyProblem,
    doubled,
    scaled,
    some_rows,
    some_source,
    toy_problem,
    variant,
)

from cdspp import CDSPP, SourceDomain, make
from cdspp.core.errors import MethodFailed
from cdspp.methods.problem import scale_domains

pytestmark = pytest.mark.usefixtures("few_trees")

# Cases that methods refuse as they refuse an incomplete domain; other reasons, and the
# cases of each, are in the description of a method, under `tests.refuses`.
NO_SOURCE, NO_LABEL = "class 3 .*source row", "class 3 .*labelled.*row"
INCOMPLETE = {
    "a class without a label": NO_LABEL,
    "a class without a target row": NO_LABEL,
    "a class without a source row": NO_SOURCE,
    "a class of the source alone": NO_LABEL.replace("3", ".*"),
    "one labelled row": NO_LABEL.replace("3", ".*"),
    "one source row": NO_SOURCE.replace("3", ".*"),
}
RAW = {"svm-t raw", "svm-t platt raw", "svm-t decision raw"}


def alone(X: Any, y: Any) -> ToyProblem:
    """Return a problem without a source."""
    rows, labels = np.array(X), np.array(y)
    return ToyProblem(rows, labels, labels, None)


def damaged(shape: str, value: float) -> ToyProblem:
    """Return a problem with constant features, and rows equal to others or to zero."""
    problem = toy_problem(**SHAPES[shape])
    X, X_source = problem.X.copy(), problem.source.X.copy()
    X[:, 2:] = X_source[:, 3:] = value
    X[1], X[-1], X_source[1] = X[0], 0.0, X_source[0]
    return variant(problem, X=X, X_source=X_source)


def nearly_equal(scale: float) -> ToyProblem:
    """Return a problem whose source rows are equal, as are most of its target rows."""
    X = scale * np.vstack([BASE.X[:5], BASE.X[:1].repeat(47, axis=0)])
    return variant(BASE, X=X, X_source=scale * np.ones((8, 3)), y_source=ROWS[:8] % 4)


BASE = toy_problem()
X, Y = BASE.X, BASE.y
X_SOURCE, Y_SOURCE = BASE.source.X, BASE.source.y
FIRST = np.array([np.flatnonzero(code == Y)[0] for code in range(4)])
FIRST_SOURCE = np.array([np.flatnonzero(code == Y_SOURCE)[0] for code in range(4)])
LABELLED = np.flatnonzero(Y != -1)
ROWS = np.arange(len(X))
FEW = {"source_per_class": 1, "labelled_per_class": 1}
ONES, SOURCE_ONES = np.ones_like(X), np.ones_like(X_SOURCE)

CASES: Mapping[str, ToyProblem] = {
    # Classes that lack rows.
    "a class without a label": variant(BASE, y=np.where(Y != 3, Y, -1)),
    "a class without a target row": some_rows(BASE, BASE.truth != 3),
    "a class without a source row": some_source(BASE, Y_SOURCE != 3),
    "a class of the source alone": variant(
        BASE, X_source=X_SOURCE[ROWS % 32], y_source=np.array([*Y_SOURCE, *[9] * 20])
    ),
    "one labelled row": variant(BASE, y=np.where(ROWS == 0, Y, -1)),
    "one source row": some_source(BASE, [0]),
    "one class and feature, no source": alone([[0.0], [1.0], [2.0]], [5, 5, -1]),
    "one labelled row, no source": alone([[1.0, 2.0], [0.0, 1.0]], [3, -1]),
    # Few rows, classes or features.
    "one label a class": variant(BASE, y=np.where(np.isin(ROWS, FIRST), Y, -1)),
    "one source row a class": some_source(BASE, FIRST_SOURCE),
    "no unlabelled row": some_rows(BASE, LABELLED),
    "one unlabelled row": some_rows(BASE, [*LABELLED, len(X) - 1]),
    "two rows": toy_problem(n_classes=2, unlabelled_per_class=0, **FEW),
    "one class": toy_problem(n_classes=1),
    "one class of one row": toy_problem(n_classes=1, **FEW),
    "two labels": toy_problem(n_classes=2, labelled_per_class=1),
    "more classes than source features": toy_problem(
        n_classes=12, d_source=2, d_target=3, spread=0.1
    ),
    "more classes than target features": toy_problem(
        n_classes=12, d_source=3, d_target=2
    ),
    "one target feature": variant(BASE, X=X[:, :1]),
    "one source feature": variant(BASE, X_source=X_SOURCE[:, :1]),
    "one feature in each domain": toy_problem(d_source=1, d_target=1),
    "more features than rows": toy_problem(d_source=90, d_target=120),
    # Rows that are equal, zero or of extreme size.
    "every row twice": doubled(BASE),
    "few different rows": variant(BASE, X=X[[*LABELLED, *(12 + ROWS[:40] // 8)]]),
    "rows of zeros": scaled(BASE, (ROWS % 51 > 0)[:, None], (Y_SOURCE > 0)[:, None]),
    "equal target rows": variant(BASE, X=ONES),
    "target rows of zeros": scaled(BASE, 0.0, 1.0),
    "equal source rows": variant(BASE, X_source=SOURCE_ONES),
    "source rows of zeros": scaled(BASE, 1.0, 0.0),
    "equal rows": variant(BASE, X=0.3 * ONES, X_source=SOURCE_ONES),
    "huge target values": scaled(BASE, 1e300, 1.0),
    "tiny target values": scaled(BASE, 1e-300, 1.0),
    "huge values": scaled(BASE, 1e100, 1e100),
    "damaged rows": damaged("narrow", 3.0),
    "damaged wide rows": damaged("wide", 0.0),
    "damaged rows of a wide target": damaged("wide target", 3.0),
    "nearly equal rows": nearly_equal(1.0),
    "nearly equal rows of zeros": nearly_equal(0.0),
    "nearly equal tiny rows": nearly_equal(1e-200),
    "nearly equal huge rows": nearly_equal(1e200),
}


def refusal(form: str, case: str) -> str | None:
    """Return the reason for which a form refuses a case; it labels all others."""
    if form in RAW:
        overflows = {"huge target values": "overflow", "huge values": "large values"}
        return {"nearly equal huge rows": "overflow", **overflows}.get(case)
    description = description_of(form)
    if description.class_of_source_only == "refused" and case in INCOMPLETE:
        return INCOMPLETE[case]
    refuses = {} if form in FORMS else description.tests.get("refuses", {})
    return reason(refuses, case)


# Sockets of earlier tests may be closed by the garbage collector meanwhile.
@every_form
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::cdspp.core.errors.CollapseWarning")
@pytest.mark.filterwarnings("ignore::cdspp.core.errors.LabelWarning")
@pytest.mark.filterwarnings("ignore::cdspp.core.errors.BridgeWarning")
@pytest.mark.filterwarnings("error")
def test_an_edge_is_labelled_or_refused_with_a_reason(form: str) -> None:
    check_all(CASES, partial(check_edge, form))


def check_edge(form: str, case: str) -> None:
    problem, model = CASES[case], quick(form)
    if why := refusal(form, case):
        # Of one row in all scikit-learn expects a ValueError.
        with pytest.raises((MethodFailed, ValueError), match=why):
            problem.fit(model)
        return
    problem.fit(model)
    kept = problem.labelled
    np.testing.assert_array_equal(model.transduction_[kept], problem.y[kept])
    reads_labels = "labels" in description_of(form).reads_of_source
    known = model.classes_ if reads_labels else problem.y[kept]
    assert set(model.transduction_) <= set(known)
    assert all(np.isfinite(numbers).all() for numbers in numbers_of(model))
    if not model.transductive:
        assert model.predict(problem.X[:1] + 0.1) in model.classes_
    for call in ("predict_proba", "transform"):
        if hasattr(model, call):
            assert np.isfinite(getattr(model, call)(problem.X)).all()


TEXTS = np.array(["ant", "bee", "cat", "dog"])[BASE.truth]
WITHOUT_LABELS = np.where(Y == -1, "-1", TEXTS)
AMONG_OBJECTS = WITHOUT_LABELS.astype(object)
AMONG_OBJECTS[-1] = -1
TEXT_HERE = TEXTS.astype(object)
TEXT_HERE[Y == -1] = -1
HINT = 'text "-1".*integer -1 .*object array'
NO_LABELS = "labelled.*row, got 52 rows.*label"
UNLABELLED_SOURCE = r"source.y .*label.*row, got \d+ .*label"
SAME_KIND = "Use text.*numbers"

MALFORMED: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "no y": ({"y": None}, "requires.*passed"),
    "too few labels": ({"y": Y[:2]}, "inconsistent numbers"),
    "no class in common": (
        {"y_source": Y_SOURCE + 10},
        r"no class in common.*\n.*source.y\n    0 +3 +-\n",
    ),
    "no label": ({"y": np.full_like(Y, -1)}, NO_LABELS),
    "continuous labels": ({"y": np.where(Y == -1, -1, Y + 0.5)}, "Unknown label type"),
    "several labels a row": ({"y": np.stack([Y, Y], axis=1)}, "y should be a 1d array"),
    "the text -1": ({"y": WITHOUT_LABELS, "y_source": TEXTS[ROWS[:32]]}, HINT),
    "the text -1 among objects": ({"y": AMONG_OBJECTS}, HINT),
    "text in the target alone": ({"y": TEXT_HERE}, SAME_KIND),
    "text in the source alone": ({"y_source": TEXTS[ROWS[:32]]}, SAME_KIND),
    "NaN in the target": ({"X": np.nan * X}, "Input X contains NaN"),
    "NaN in the source": ({"X_source": np.nan * X_SOURCE}, "source.X contains NaN"),
    "no source label": ({"y_source": np.full(32, -1)}, UNLABELLED_SOURCE),
    "a source row without label": ({"y_source": Y_SOURCE - 1}, UNLABELLED_SOURCE),
}


@every_method
def test_a_malformed_problem_is_refused_with_the_reason(name: str) -> None:
    def check(fault: str) -> None:
        changes, message = MALFORMED[fault]
        given = {"X": X, "y": Y, "X_source": X_SOURCE, "y_source": Y_SOURCE, **changes}
        source = SourceDomain(given["X_source"], given["y_source"])
        with pytest.raises(ValueError, match=message):
            quick(name).fit(given["X"], given["y"], source=source)

    check_all(MALFORMED, check)


@every_method
def test_a_source_of_another_type_is_refused_by_name(name: str) -> None:
    with pytest.raises(TypeError, match="SourceDomain or None, got tuple.*source=Sour"):
        quick(name).fit(X, Y, source=(X_SOURCE, Y_SOURCE))


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_in_place_of_rows_is_named_with_its_reader(kind: Any) -> None:
    y = np.array([0, 1] * 3)
    with pytest.raises(ValueError, match=r"^X: .*'t.csv'.*cdspp.read_table"):
        make("cdspp").fit(kind("t.csv"), y)
    source = SourceDomain(kind("s.csv"), y)
    with pytest.raises(ValueError, match=r"^source.X: .*'s.csv'.*cdspp.read_table"):
        make("cdspp").fit(np.eye(6), y, source=source)


def test_columns_of_text_and_dates_are_named() -> None:
    frame = pd.DataFrame(
        {"a": [1.0, 2.0], "day": pd.to_datetime(["2020-01-01"] * 2), "site": ["P", "Q"]}
    )
    source = SourceDomain([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"X: 2 .*text.*dates \(day, site\)"):
        make("cdspp").fit(frame, [0, 1], source=source)
    with pytest.raises(ValueError, match="source.X: 2 .*text.*dates"):
        make("cdspp").fit([[0.0], [1.0]], [0, 1], source=SourceDomain(frame, [0, 1]))


def test_masked_values_are_no_numbers() -> None:
    rows = np.ma.masked_array(X, X > 1)
    told = f"{rows.mask.sum()} .* masked array"
    with pytest.raises(ValueError, match=f"^X: {told}"):
        make("svm-t").fit(rows, Y, source=BASE.source)
    with pytest.raises(ValueError, match=f"^X: {told}"):
        make("svm-t").fit(X, Y, source=BASE.source).predict(rows)
    source = SourceDomain(np.ma.masked_greater(X_SOURCE, 1), Y_SOURCE)
    with pytest.raises(ValueError, match=r"^source.X: \d+ .*masked array"):
        scale_domains("standardise", X, source)


@dataclass
class Annotated:
    """Stands in for an AnnData object."""

    X: np.ndarray
    obs: pd.DataFrame

    def to_df(self) -> pd.DataFrame:
        return pd.DataFrame(self.X)


def test_annotated_data_is_refused_and_the_recipe_for_it_runs() -> None:
    rng, codes = np.random.default_rng(0), np.repeat([0, 1, 2], 8)
    kinds = pd.Series(list("abc")).iloc[codes].reset_index(drop=True)
    atlas, cells = (
        Annotated(rng.random((24, d)) + np.eye(3, d)[codes], pd.DataFrame({"kind": k}))
        for d, k in ((5, kinds), (4, kinds.where(np.arange(24) % 8 < 2)))
    )
    source = SourceDomain(atlas.to_df(), kinds)
    for X, given in ((cells, source), (cells.to_df(), SourceDomain(atlas, kinds))):
        with pytest.raises(TypeError, match=r"an Annotated object.* to_df\(\)"):
            CDSPP().fit(X, cells.obs["kind"], source=given)
    page = Path(__file__).parents[2] / "docs/guide/labels.md"
    recipe = page.read_text().partition("## AnnData")[2].partition("(data-frames)")[0]
    lines = [line.strip() for line in recipe.splitlines() if line.startswith("    ")]
    found = {"atlas": atlas, "cells": cells, "SourceDomain": SourceDomain}
    exec("\n".join(lines), found | {"CDSPP": CDSPP}, found)
    assert set(found["model"].transduction_) == {"a", "b", "c"}
