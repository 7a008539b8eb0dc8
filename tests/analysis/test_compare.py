"""Should I use A for B: hold-outs, decisions, and what is refused."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import cdspp
from benchmarks.planted import Planted
from cdspp import CDSPP, SourceDomain, compare
from cdspp.analysis.compare import _folds, _problem
from cdspp.analysis.decision import (
    ALONE_BETTER,
    BEST_ALONE,
    CANNOT_TELL,
    USE,
    Comparison,
)
from cdspp.core.errors import ConfigError, DataError, MethodFailed
from cdspp.core.scaling import fit_scaling
from cdspp.methods.problem import scale_domains

QUICK = ("svm-t", "cdspp-sup", "cdspp")


def run(geometry: str, seed: int = 0, **more: Any) -> Comparison:
    size = {"n_classes": 20, "n_labelled": 6, "n_unlabelled": 6, "n_latent": 8}
    planted = Planted(geometry, **{**size, "d_source": 60, "d_target": 40, **more})
    problem = planted.draw(seed)
    return compare(problem.X, problem.y, source=problem.source, methods=QUICK)


@pytest.fixture(scope="module")
def shared() -> Comparison:
    return run("shared", n_labelled=3, spread=1.0)


def test_a_source_that_helps_is_used(shared: Comparison) -> None:
    assert shared.decision == USE
    assert shared.method in {"cdspp-sup", "cdspp"}
    assert shared.finding.startswith("Use the source with CDSPP")
    assert "fitted on 2 labelled rows per class it gains" in shared.finding
    helped = shared.verdicts.set_index("method").loc[shared.method]
    assert helped["accuracy"] > helped["alone"] + 0.05
    assert shared.sentence.startswith(f"{shared.finding} Next:\n    from sklearn.")


def test_the_gain_that_is_said_is_less_than_the_one_that_was_seen(
    shared: Comparison,
) -> None:
    means = shared.accuracies.set_index(["method", "state", "labels"])["mean"]
    alone = max(
        means["svm-t", "real", 2], *means.loc[["cdspp", "cdspp-sup"], "none", 2]
    )
    seen = means[shared.method, "real", 2] - alone
    assert shared.gain is not None
    assert 0 < shared.gain.gain < seen
    assert shared.gain.low < shared.gain.gain < shared.gain.high


def test_every_state_and_method_has_its_gain(shared: Comparison) -> None:
    assert len(shared.gains) == 2 * (6 + 1)
    means = shared.accuracies.set_index(["method", "state", "labels"])["mean"]
    for gain in shared.gains.itertuples():
        best = gain.state == BEST_ALONE
        alone = "real" if gain.rival == "svm-t" else "none"
        rival = means[gain.rival, alone if best else gain.state, 2]
        assert gain.gain == pytest.approx(means[gain.method, "real", 2] - rival)
    assert ("svm-t", "real", 1) in means.index
    assert ("cdspp", "none", 1) in means.index
    assert ("svm-t", "none", 2) not in means.index


def test_equal_input_gives_equal_answers() -> None:
    problem = Planted("shared", n_classes=3, n_labelled=4).draw(0)
    source = problem.source
    given: dict[str, Any] = {"source": source, "methods": ["cdspp"], "repeats": 5}
    once, again = (compare(problem.X, problem.y, **given) for _ in range(2))
    pd.testing.assert_frame_equal(again.gains, once.gains)
    assert again.sentence == once.sentence


def test_what_is_printed_fits_on_one_screen(shared: Comparison) -> None:
    lines = repr(shared).splitlines()
    assert len(lines) < 24
    assert lines[0] == "Comparison: use"
    assert shared.sentence in repr(shared)
    assert any(line.startswith("SVM_t") for line in lines)


def recommended(found: Comparison, X: Any, y: Any, source: SourceDomain) -> Any:
    """Return the model that the code of an answer fits."""
    names: dict[str, Any] = {"cdspp": cdspp, "X": X, "y": y, "source": source}
    exec(textwrap.dedent(found.sentence.partition(" Next:")[2]).strip("` "), names)
    return names["model"]


def labels_in_batches(model: Any, X: np.ndarray) -> list[list[Any]]:
    """Return labels of rows given at once, in batches, and one by one."""
    return [
        np.concatenate([model.predict(X[k : k + size]) for k in range(0, len(X), size)])
        .tolist()
        for size in (len(X), 7, 1)
    ]  # fmt: skip


def test_the_code_of_an_answer_labels_new_rows_alike_in_any_batches(
    shared: Comparison,
) -> None:
    planted = Planted("shared", n_classes=3)
    problem, new = planted.draw(0), planted.draw(0).X + 0.01
    model = recommended(shared, problem.X, problem.y, problem.source)
    assert model[-1].identifier == shared.method
    assert model[-1].transduction_.shape == problem.y.shape
    whole, batches, single = labels_in_batches(model, new)
    assert whole == batches == single
    assert len(set(whole)) == 3


@pytest.mark.parametrize("scale", ["none", "unit", "standardise-each", "pca"])
def test_the_code_of_an_answer_without_a_source_runs_at_every_scale(scale: str) -> None:
    problem = Planted("shared", n_classes=3, n_labelled=4).draw(0)
    given: dict[str, Any] = {"source": problem.source, "methods": ["cdspp"]}
    found = compare(problem.X, problem.y, repeats=5, scale=scale, **given)
    model = recommended(found, problem.X, problem.y, problem.source)
    whole, batches, single = labels_in_batches(model, problem.X)
    assert whole == batches == single
    scaling = fit_scaling(scale, problem.X)
    expected = CDSPP().fit(scaling.apply(problem.X), problem.y)
    assert whole == expected.predict(scaling.apply(problem.X)).tolist()


@pytest.mark.parametrize("geometry", ["none", "misleading"])
def test_a_source_without_use_is_not_used(geometry: str) -> None:
    assert run(geometry).decision in {ALONE_BETTER, CANNOT_TELL}


def test_a_source_that_hurts_every_method_leaves_the_target_alone() -> None:
    found = run("none", n_labelled=12)
    assert found.verdicts["out"].all()
    assert found.decision == ALONE_BETTER
    assert found.finding.startswith("Train on the target alone, for instance by ")
    assert "the source hurts each of 2 methods, makes" in found.finding
    assert "source" not in found.next_step


def test_with_two_classes_swapping_them_is_no_control() -> None:
    problem = Planted("shared", n_classes=2, n_labelled=6, spread=1.5).draw(0)
    found = compare(
        problem.X,
        problem.y,
        source=problem.source,
        methods=["cdspp-sup"],
        repeats=5,
    )
    assert "swapped-classes" not in set(found.gains["state"])
    assert "with two classes it is no control" in found.note


def test_a_collapse_is_said_and_withholds_the_word() -> None:
    X, y = load_wine(return_X_y=True)
    labels = np.full(89, -1)
    for code in range(3):
        labels[np.flatnonzero(y[1::2] == code)[:4]] = code
    source = SourceDomain(X[::2, :7], y[::2])
    given: dict[str, Any] = {"source": source, "methods": QUICK, "repeats": 5}
    found = compare(X[1::2, 7:], labels, scale="none", **given)
    assert found.decision == CANNOT_TELL
    assert set(found.verdicts["verdict"]) == {"collapsed"}
    assert "collapsed or diverged: CDSPP_sup, CDSPP" in found.finding
    assert "CDSPP 100 %" in found.note
    assert (found.accuracies["collapsed"] > 0.9).any()
    assert found.method == ""
    assert found.next_step.endswith("scale='standardise')")
    assert "collapsed" not in compare(X[1::2, 7:], labels, **given).finding


@pytest.mark.parametrize("n_fine", [0, 3])
def test_a_method_that_fails_is_excluded_with_the_reason(
    n_fine: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, calls = CDSPP.fit, iter(range(1000))

    def fit(self: CDSPP, *args: Any, **more: Any) -> CDSPP:
        if next(calls) >= n_fine:
            raise MethodFailed("no convergence")
        return kept(self, *args, **more)

    monkeypatch.setattr(CDSPP, "fit", fit)
    problem = Planted("shared", n_classes=3, n_labelled=6, n_unlabelled=6).draw(0)
    given: Any = {"source": problem.source, "methods": ["svm-t", "cdspp"], "repeats": 5}
    found = compare(problem.X, problem.y, **given)
    assert (found.decision, found.method) == (CANNOT_TELL, "svm-t")
    assert "Excluded, because fits have failed, collapsed or diverged" in found.finding
    assert "CDSPP failed: no convergence" in found.note
    assert found.verdicts["verdict"].tolist() == ["collapsed"]


def test_held_out_rows_are_in_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    from cdspp.methods.cdspp.cdspp import CDSPP

    fitted: list[set[bytes]] = []
    plain = CDSPP.fit, CDSPP.predict

    def fit(self: CDSPP, X: Any, y: Any, *, source: Any = None) -> CDSPP:
        fitted.append({row.tobytes() for row in X})
        return plain[0](self, X, y, source=source)

    def predict(self: CDSPP, X: Any) -> Any:
        assert not fitted[-1] & {row.tobytes() for row in X}
        return plain[1](self, X)

    monkeypatch.setattr(CDSPP, "fit", fit)
    monkeypatch.setattr(CDSPP, "predict", predict)
    problem = Planted(n_classes=3, n_labelled=4).draw(0)
    source = problem.source
    compare(problem.X, problem.y, source=source, methods=["cdspp"], repeats=5)
    assert len(fitted) == 5 * (7 + 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repeats": 4}, "repeats must be 5 at least, got 4"),
        ({"methods": ["pa"]}, "pa labels the rows it is fitted on"),
        ({"methods": ["svm-t"]}, "none of svm-t uses a source. Add one that does"),
        ({"y": [0, 0, 1, -1, -1, -1]}, "but class 1 has 1"),
        ({"y": [-1] * 6}, "y: no row has a label"),
        ({"y": [0, 0, 1]}, "of 6 target rows, got 4 of 4 and 3"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    change: dict[str, Any], message: str
) -> None:
    given = {"X": np.eye(6), "y": [0, 0, 1, 1, -1, -1], **change}
    with pytest.raises(DataError, match=message):
        compare(**given, source=SourceDomain(np.eye(4), [0, 0, 1, 1]))


def test_a_scale_is_learnt_from_the_rows_of_the_fit_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Planted("shared", n_classes=3, n_labelled=3, n_unlabelled=5).draw(0)
    learnt: list[np.ndarray] = []

    def spy(kind: str, X: np.ndarray) -> Any:
        learnt.append(X)
        return fit_scaling(kind, X)

    monkeypatch.setattr("cdspp.analysis.compare.fit_scaling", spy)
    source = problem.source
    given: dict[str, Any] = {"source": source, "methods": ["cdspp"], "repeats": 5}
    compare(problem.X, problem.y, scale="standardise", **given)
    first, *others = learnt
    assert first is not None
    assert len(first) == len(problem.source.X)
    # Of three labelled rows a class one is held out, in each of the five repeats.
    whole = {len(X) for X in others[: 5 * 7]}
    assert whole == {3 * 2 + 3 * 5}
    assert len({X.tobytes() for X in others[:5]}) == 5
    with pytest.raises(ConfigError, match="scale must be one of none, unit"):
        compare(problem.X, problem.y, scale="log", **given)


def test_of_very_many_rows_a_part_is_in_each_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Planted("shared", n_classes=3, n_labelled=3, n_unlabelled=9).draw(0)
    sizes: set[tuple[int, int]] = set()
    fit = CDSPP.fit

    def spy(self: CDSPP, X: np.ndarray, y: np.ndarray, source: Any) -> CDSPP:
        sizes.add((len(X) - np.sum(y != -1), len(source.X) if source else 0))
        assert source is None or set(source.y) == {0, 1, 2}
        return fit(self, X, y, source=source)

    monkeypatch.setattr(CDSPP, "fit", spy)
    source = problem.source
    given: dict[str, Any] = {"source": source, "methods": ["cdspp"], "repeats": 5}
    found = compare(problem.X, problem.y, max_rows=12, **given)
    n_source = len(problem.source.X)
    assert sizes == {(12, 12), (12, 0)}
    assert found.note == (
        f"of 27 unlabelled target rows and {n_source} source rows at most about 12 are "
        "in each fit"
    )
    assert compare(problem.X, problem.y, **given).note == ""


def test_of_very_many_labelled_rows_a_part_is_fitted_and_all_are_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Planted("shared", n_classes=3, n_labelled=10, n_unlabelled=3).draw(0)
    sizes: list[int] = []
    tested: list[int] = []
    fit, predict = CDSPP.fit, CDSPP.predict

    def spy(self: CDSPP, X: np.ndarray, y: np.ndarray, source: Any) -> CDSPP:
        sizes.append(int(np.sum(y != -1)))
        return fit(self, X, y, source=source)

    def count(self: CDSPP, X: np.ndarray) -> np.ndarray:
        tested.append(len(X))
        return predict(self, X)

    monkeypatch.setattr(CDSPP, "fit", spy)
    monkeypatch.setattr(CDSPP, "predict", count)
    given: dict[str, Any] = {"methods": ["cdspp"], "repeats": 5, "max_rows": 12}
    found = compare(problem.X, problem.y, source=problem.source, **given)
    assert (set(sizes), set(tested)) == ({12, 6}, {6})
    n_source = len(problem.source.X)
    assert found.note.startswith(
        f"of 30 labelled target rows and {n_source} source rows at most about 12 are "
    )
    again = compare(problem.X, problem.y, source=problem.source, **given)
    assert str(again) == str(found)


def test_rows_of_a_class_are_held_out_in_turn() -> None:
    problem = _problem(
        np.eye(17), [0] * 5 + [1] * 12, SourceDomain(np.eye(4), [0, 0, 1, 1]), "none"
    )
    folds = _folds(problem, 10, 0.2, 2000, 0)
    times = np.bincount(np.concatenate([test for _, test in folds]), minlength=17)
    assert set(times) == {2}
    for train, test in folds:
        assert not set(test) & set(np.concatenate(train))


def paired_problem() -> tuple[np.ndarray, np.ndarray, SourceDomain]:
    """Return ten classes that three labelled rows each hardly tell apart; 60 pairs."""
    rng = np.random.default_rng(0)
    centres, views = rng.standard_normal((10, 10)), rng.standard_normal((2, 10, 14))

    def draw(codes: np.ndarray) -> np.ndarray:
        return centres[codes] + 1.1 * rng.standard_normal((len(codes), 10))

    codes, truth = np.arange(120) % 10, np.arange(150) % 10
    objects = draw(rng.integers(10, size=60))
    X = draw(truth) @ views[1]
    y = np.where(np.arange(150) < 30, truth, -1)
    pairs = objects @ views[0], objects @ views[1]
    return X, y, SourceDomain(draw(codes) @ views[0], codes, paired_rows=pairs)


def test_a_source_is_used_through_its_paired_rows_where_these_suffice() -> None:
    X, y, source = paired_problem()
    found = compare(X, y, source=source, methods=["svm-t", "cdspp", "paired-map"])
    assert (found.decision, found.method) == (USE, "paired-map")
    assert (
        "Use the source, through the 60 paired rows, with paired map" in found.finding
    )
    model = recommended(found, X, y, source)
    whole, batches, single = labels_in_batches(model, X)
    assert whole == batches == single
    assert np.mean(whole == np.arange(150) % 10) > 0.6
    states = found.gains.loc[found.gains["method"] == "paired-map", "state"]
    assert "shuffled-pairs" in set(states)
    rivals = found.gains.loc[found.gains["state"] == BEST_ALONE, "rival"]
    assert "paired-map" not in set(rivals)


def test_paired_rows_are_scaled_as_the_rows_of_their_domain() -> None:
    X, _, source = paired_problem()
    scaling, scaled = scale_domains("standardise", X, source)
    np.testing.assert_allclose(scaled.X.std(axis=0), 1.0)
    left, right = scaled.paired_rows
    np.testing.assert_array_equal(right, scaling.apply(source.paired_rows[1]))
    expected = fit_scaling("standardise", source.X).apply(source.paired_rows[0])
    np.testing.assert_array_equal(left, expected)


def test_shared_columns_are_scaled_as_in_the_source_or_each_by_its_rows() -> None:
    rng = np.random.default_rng(0)
    X, X_source = rng.normal(5.0, 2.0, size=(30, 3)), rng.normal(1.0, 3.0, size=(40, 2))
    source = SourceDomain(X_source, np.arange(40) % 2, shared_columns=[(1, 2)])
    rows = scale_domains("standardise", X, source)[0].apply(X)
    mean, sd = X_source[:, 1].mean(), X_source[:, 1].std()
    np.testing.assert_allclose(rows[:, 2], (X[:, 2] - mean) / sd)
    np.testing.assert_allclose(rows[:, :2].mean(axis=0), 0.0, atol=1e-12)
    each, other = scale_domains("standardise-each", X, source)
    np.testing.assert_allclose(each.apply(X).mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(other.X.mean(axis=0), 0.0, atol=1e-12)


def test_with_too_few_labelled_rows_the_next_step_is_a_fit() -> None:
    problem = Planted("shared", n_classes=2, n_labelled=2, n_unlabelled=9).draw(0)
    given: Any = {"methods": ["svm-t", "cdspp", "target-only"], "repeats": 5}
    found = compare(problem.X, problem.y, source=problem.source, **given)
    assert (found.decision, found.method) == (CANNOT_TELL, "target-only")
    assert found.finding.startswith("Cannot tell: label 5 rows at least. Until then ")
    assert "compare" not in found.next_step
    model = recommended(found, problem.X, problem.y, problem.source)
    assert model[-1].identifier == "target-only"


def test_equal_names_that_nothing_is_said_of_are_noted() -> None:
    X, y, source = paired_problem()
    frame = pd.DataFrame(X, columns=["age", *(f"t{k}" for k in range(13))])
    other = pd.DataFrame(source.X, columns=["age", *(f"s{k}" for k in range(13))])
    found = compare(
        frame, y, source=SourceDomain(other, source.y), methods=["svm-t", "cdspp-sup"]
    )
    assert "1 column has the same name in both domains: age" in found.note


def test_a_method_without_its_bridge_is_refused() -> None:
    X, y, source = paired_problem()
    with pytest.raises(DataError, match="shared-columns needs shared_columns of the"):
        compare(X, y, source=source, methods=["shared-columns"])


def test_classifiers_of_scikit_learn_are_controls_without_a_source() -> None:
    spreading = "sklearn.semi_supervised:LabelSpreading"
    problem = Planted("none", n_classes=4, n_labelled=6, n_unlabelled=6).draw(0)
    methods = ["cdspp-sup", spreading, RandomForestClassifier(n_estimators=5)]
    found = compare(
        problem.X, problem.y, source=problem.source, methods=methods, repeats=5
    )
    states = found.accuracies.groupby("method")["state"].agg(set)
    controls = states.drop("cdspp-sup")
    assert len(controls) == 2
    assert all(each == {"real"} for each in controls)
    rivals = found.gains.loc[found.gains["state"] == BEST_ALONE, "rival"]
    assert set(rivals) <= {"cdspp-sup", *controls.index}
