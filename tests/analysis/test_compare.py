"""The answer of `compare`: the vote, its forms, few labels, and what is refused."""

from __future__ import annotations

import json
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from support.toy_problem import paired_problem

from benchmarks.planted import Planted
from cdspp import CDSPP, SourceDomain, compare
from cdspp.analysis import pool
from cdspp.analysis.comparison import Comparison
from cdspp.analysis.pool import TARGET_ONLY
from cdspp.core.errors import DataError, MethodFailed

pytestmark = pytest.mark.usefixtures("few_candidates")
WHOLE = pool.WITHOUT_SOURCE
KEYS = Path(__file__).parents[2] / "docs/extensions/json_keys.yaml"


@pytest.fixture(scope="module")
def paired() -> tuple[np.ndarray, np.ndarray, SourceDomain]:
    return paired_problem()


@pytest.fixture(scope="module")
def bridged(paired: tuple[np.ndarray, np.ndarray, SourceDomain]) -> Comparison:
    X, y, source = paired
    return compare(X, y, source=source)


def wine(per_class: int, fewest: int | None = None) -> tuple[Any, Any, Any, Any]:
    """Return target rows, labels and true classes of wine, and a source of 3 columns.

    `fewest` is the number of labels of the first class, if it differs.
    """
    data, rng = load_wine(), np.random.default_rng(2)
    rows = rng.permutation(178)
    first, last = rows[:89], rows[89:]
    truth, y = data.target[last], np.full(89, -1)
    for code in range(3):
        number = per_class if code or fewest is None else fewest
        known = np.flatnonzero(truth == code)[:number]
        y[known] = code
    shared = [(0, 0), (6, 6), (9, 9)]
    source = SourceDomain(
        data.data[first, :10], data.target[first], shared_columns=shared
    )
    return data.data[last], y, truth, source


@cache
def found_in_wine(per_class: int, fewest: int | None = None) -> Comparison:
    X, y, _, source = wine(per_class, fewest)
    return compare(X, y, source=source)


def test_candidates_are_chosen_by_the_kind_of_source() -> None:
    plain = pool.default_candidates([], 9, 3)
    shared = pool.default_candidates(["shared_columns"], 9, 3)
    paired = pool.default_candidates(["paired_rows"], 9, 3)
    assert {*shared} - {*plain} == {"shared-columns-plus", "cdspp-bridge"}
    assert {*paired} - {*plain} == {"paired-map-plus", "cdspp-bridge"}


def test_the_whole_pool_votes_on_a_target_without_a_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "WITHOUT_SOURCE", WHOLE)
    X, y, _, _ = wine(2)
    found = compare(X, y, repeats=5)
    # Each fit has a label per class, and a covariance needs more.
    assert {*found.candidates["method"]} == {*WHOLE} - {"shrunken-lda"}
    assert found.source_gain is None
    assert "source" not in " ".join(found.lines)
    assert {*found.candidates["information"]} == {"no source"}


def test_the_vote_is_at_least_as_good_as_its_reference_and_says_so(
    bridged: Comparison, paired: tuple[np.ndarray, np.ndarray, SourceDomain]
) -> None:
    table = bridged.candidates.set_index("method")
    assert table["weight"].sum() == pytest.approx(1)
    assert table["weight"].idxmax() in {"paired-map-plus", "cdspp-bridge"}
    assert table.loc[TARGET_ONLY, "gain"] == 0
    assert bridged.accuracy.low < bridged.accuracy.value <= bridged.accuracy.high
    gain = bridged.source_gain
    assert gain is not None
    assert -gain.differing <= gain.low <= gain.gain <= gain.high <= gain.differing
    assert str(gain.verdict) == "positive transfer"
    lines = bridged.lines
    assert lines[0].startswith(f"Use the vote of {len(table)} methods: about ")
    assert lines[2].startswith("▲ The source helps: ")
    assert lines[-1].startswith("To improve it, label the 20 rows ")


@pytest.mark.parametrize("max_rows", [20, 2000])
def test_the_estimator_knows_all_rows_whether_or_not_it_takes_over_fits(
    max_rows: int, paired: tuple[np.ndarray, np.ndarray, SourceDomain]
) -> None:
    X, y, source = paired
    model = compare(X, y, source=source, max_rows=max_rows).estimator
    again = clone(model).fit(X, y, source=source)
    np.testing.assert_array_equal(model.votes_, again.votes_)
    np.testing.assert_array_equal(model.votes(1.1 * X), again.votes(1.1 * X))


def test_the_estimator_is_the_vote_that_was_described(
    bridged: Comparison, paired: tuple[np.ndarray, np.ndarray, SourceDomain]
) -> None:
    X, y, _ = paired
    model, rows = bridged.estimator, bridged.rows_to_label
    assert model is bridged.estimator
    assert model.transduction_[rows["row"]].tolist() == rows["vote"].tolist()
    labelled = np.asarray(y) != -1
    assert (model.transduction_[labelled] == np.asarray(y)[labelled]).all()
    margins = (
        np.sort(model.votes_, axis=1)[:, -1] - np.sort(model.votes_, axis=1)[:, -2]
    )
    np.testing.assert_allclose(margins[rows["row"]], rows["margin"], atol=1e-9)
    assert rows["margin"].is_monotonic_increasing
    one_by_one = [model.predict(row[None])[0] for row in np.asarray(X)[:9]]
    assert model.predict(X)[:9].tolist() == one_by_one
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_a_named_candidate_is_shown_and_joins_unless_the_vote_gets_worse() -> None:
    X, y, _, source = wine(4)
    plain = found_in_wine(4)
    methods = ["cdspp", RandomForestClassifier(n_estimators=5, random_state=1)]
    found = compare(X, y, source=source, methods=methods)
    assert len(found.candidates) == len(plain.candidates) + 1  # cdspp was there
    assert found.accuracy.value >= plain.accuracy.value
    one = compare(*wine(1)[:2], source=source, methods=methods)
    named = one.candidates.set_index("method")["weight"]
    assert named[named.index.str.startswith("sklearn")].tolist() == [0.0]
    assert "does not vote" in str(one)
    bad = compare(X, y, source=source, methods=[DummyClassifier()])
    assert len(bad.candidates) == len(plain.candidates) + 1
    assert bad.accuracy.value >= plain.accuracy.value


def test_a_singleton_class_stays_in_training_and_the_others_are_tested() -> None:
    found = found_in_wine(10, fewest=1)
    assert (found.fewest, found.repeats, found.untested) == (1, 8, ("0",))
    assert found.accuracy.low < found.accuracy.value
    assert "omit classes with a single label (0)" in found.lines[1]
    truth = wine(10, fewest=1)[2]
    rows = found.rows_to_label
    assert np.mean(truth[rows["row"]] == rows["vote"]) > 0.7


def test_one_label_per_class_gives_equal_weights_and_no_accuracy() -> None:
    found = found_in_wine(1)
    assert (found.repeats, found.untested) == (0, ())
    assert found.candidates["weight"].nunique() == 1
    assert np.isnan(found.accuracy.value)
    assert "no class has two labels" in found.lines[0]
    assert found.source_gain is not None
    assert found.source_gain.high <= found.source_gain.differing
    assert not any("every class counts" in line for line in found.lines)


def test_a_target_without_labels_gets_those_of_the_source_unchecked() -> None:
    X, y, truth, source = wine(0)
    found = compare(X, y, source=source)
    assert "unchecked: no row of the target has a label" in found.lines[0]
    assert found.n_labelled == 0
    assert {*found.candidates["information"]} == {"source labels"}
    assert len(found.rows_to_label) == len(X)
    labels = found.estimator.transduction_
    assert np.mean(labels == truth) > 0.8
    assert labels.shape == truth.shape
    rows = found.rows_to_label.head(12)
    rows = rows.assign(label=truth[rows["row"]].astype(str))
    again = compare(X, y, source=source, labelled=rows)
    assert again.n_labelled == 12
    assert again.repeats == 8
    one = rows.assign(label=rows["label"].where(np.arange(12) < 1, ""))
    assert compare(X, y, source=source, labelled=one).added.n_rows == 1


def test_pairs_label_a_target_without_labels() -> None:
    data, rng = load_iris(), np.random.default_rng(0)
    order = rng.permutation(150)
    other = data.data @ rng.normal(size=(4, 6)) + 0.05 * rng.normal(size=(150, 6))
    first, pairs, last = order[:60], order[60:90], order[90:]
    source = SourceDomain(
        data.data[first],
        data.target[first],
        paired_rows=(data.data[pairs], other[pairs]),
    )
    found = compare(other[last], np.full(60, -1), source=source)
    assert np.mean(found.estimator.transduction_ == data.target[last]) > 0.85
    bare = SourceDomain(data.data[first], data.target[first])
    with pytest.raises(DataError, match="y: no row has a label"):
        compare(other[last], np.full(60, -1), source=bare)


def test_the_forms_for_notebooks_and_programs_hold_the_answer(
    bridged: Comparison,
) -> None:
    html = bridged._repr_html_()
    assert "Use the vote" in html
    assert "<table" in html
    assert "<p>To deploy it:</p><pre><code>model = found.estimator" in html
    axes = bridged.plot()
    assert len(axes.get_yticklabels()) == len(bridged.members)
    answer = json.loads(json.dumps(bridged.to_dict(), allow_nan=False))
    assert answer["schema_version"] == 3
    listed = yaml.safe_load(KEYS.read_text())
    inner = {
        f"{part}.{key}"
        for part in ("accuracy", "balanced_accuracy", "source_gain")
        + ("labelled_on_purpose",)
        for key in answer[part]
    }
    inner |= {f"candidates.{key}" for row in answer["candidates"] for key in row}
    parts = {key.partition(".")[0] for key in inner}
    keys = {*answer, *inner} - {"schema_version", *parts}
    assert keys == {*listed["compare"]}
    json.dumps(found_in_wine(1).to_dict(), allow_nan=False)


def test_a_collapse_is_named_with_another_scale() -> None:
    X, y = load_wine(return_X_y=True)
    labels = np.full(89, -1)
    for code in range(3):
        labels[np.flatnonzero(y[1::2] == code)[:4]] = code
    source = SourceDomain(X[::2, :7], y[::2])
    given: dict[str, Any] = {"source": source, "repeats": 5}
    found = compare(X[1::2, 7:], labels, scale="none", **given)
    assert "CDSPP 100 %" in found.note
    assert "try the scale standardise" in found.note
    assert "collapsed" not in compare(X[1::2, 7:], labels, **given).note


@pytest.mark.parametrize("n_fine", [0, 3])
def test_a_method_that_fails_has_no_vote_and_gives_the_reason(
    n_fine: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, calls = CDSPP.fit, iter(range(1000))

    def fit(self: CDSPP, *args: Any, **more: Any) -> CDSPP:
        if self.identifier == "cdspp" and next(calls) >= n_fine:
            raise MethodFailed("no convergence")
        return kept(self, *args, **more)

    monkeypatch.setattr(CDSPP, "fit", fit)
    problem = Planted("shared", n_classes=3, n_labelled=6, n_unlabelled=6).draw(0)
    found = compare(problem.X, problem.y, source=problem.source, repeats=5)
    assert "cdspp" not in {*found.candidates["method"]}
    assert "CDSPP failed: no convergence" in found.note


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repeats": 4}, "repeats.* at least 5, got 4"),
        ({"methods": ["pa"]}, "labels only the rows of its fit"),
        ({"y": [-1] * 6}, "y: .*row.*label"),
        ({"y": [0, 0, 1]}, "of 6 target rows, got 4 of 4 and 3"),
        ({"source": None, "y": [0, 0, 0, -1, -1, -1]}, "1 class, expected two or more"),
        ({"source": None, "methods": ["tit"]}, "tit needs a source"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    change: dict[str, Any], message: str
) -> None:
    source = SourceDomain(np.eye(4), [0, 0, 1, 1])
    given = {"X": np.eye(6), "y": [0, 0, 1, 1, -1, -1], "source": source, **change}
    with pytest.raises(DataError, match=message):
        compare(**given)


def test_another_scale_is_named_where_the_target_alone_is_better_with_it() -> None:
    """Standardising gives columns of noise the weight of the first components."""
    rng = np.random.default_rng(0)
    centres, codes = 3 * rng.standard_normal((5, 4)), np.arange(300) % 5
    signal = centres[codes] + rng.standard_normal((300, 4))
    X = np.hstack([signal, 1e-3 * rng.standard_normal((300, 300))])
    y = np.where(np.arange(300) < 50, codes, -1)
    source = SourceDomain(signal, codes)
    found = compare(X, y, source=source)
    assert "with the scale none target-only is expected to gain +" in found.note
    assert "with the scale" not in compare(X, y, source=source, scale="none").note
    assert "with the scale" not in compare(signal, y, source=source).note
