"""The answer of `compare`: the bet, its forms, its tests, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from support.toy_problem import paired_problem

import cdspp
from benchmarks.planted import Planted
from cdspp import CDSPP, SourceDomain, compare
from cdspp.analysis.best_bet import LIKELY, OPEN, TARGET_ONLY
from cdspp.analysis.comparison import Comparison
from cdspp.core.errors import DataError, MethodFailed
from cdspp.core.scaling import fit_scaling

KEYS = Path(__file__).parents[2] / "docs/extensions/json_keys.yaml"
QUICK = ("svm-t", "cdspp-sup", "cdspp")


@cache
def run(geometry: str, seed: int = 0, **more: Any) -> Comparison:
    size = {"n_classes": 20, "n_labelled": 6, "n_unlabelled": 6, "n_latent": 8}
    planted = Planted(geometry, **{**size, "d_source": 60, "d_target": 40, **more})
    problem = planted.draw(seed)
    return compare(problem.X, problem.y, source=problem.source, methods=QUICK)


@pytest.fixture(scope="module")
def shared() -> Comparison:
    return run("shared", n_labelled=3, spread=1.0)


@pytest.fixture(scope="module")
def paired() -> tuple[np.ndarray, np.ndarray, SourceDomain]:
    return paired_problem()


@pytest.fixture(scope="module")
def bridged(paired: tuple[np.ndarray, np.ndarray, SourceDomain]) -> Comparison:
    X, y, source = paired
    return compare(X, y, source=source)


def test_a_source_that_helps_is_bet_on(shared: Comparison) -> None:
    assert (shared.best_bet, shared.evidence) == ("cdspp-sup", LIKELY)
    assert shared.uses_source
    assert shared.interval[0] < shared.expected_gain < shared.interval[1]


def test_paired_rows_give_a_likely_bet(bridged: Comparison) -> None:
    assert bridged.best_bet in {"paired-map-plus", "cdspp-bridge"}
    assert bridged.candidate == bridged.best_bet
    assert bridged.evidence == LIKELY
    assert bridged.probability >= 0.65
    assert bridged.candidates["method"].tolist()[0] == bridged.best_bet
    assert set(bridged.candidates["method"]) == {
        *("paired-map-plus", "cdspp-bridge", "cdspp", TARGET_ONLY)
    }
    assert "with the source. Its expected gain over target-only" in bridged.lines[0]
    assert 10 <= bridged.repeats <= 15


def test_the_bet_is_the_largest_mean_and_without_a_point_the_target(
    bridged: Comparison,
) -> None:
    found = bridged.candidates.set_index("method")["expected_gain"].drop(TARGET_ONLY)
    assert found.idxmax() == bridged.best_bet
    assert found.max() == bridged.expected_gain >= 0.01
    none = run("misleading")
    assert none.best_bet == TARGET_ONLY
    assert none.expected_gain < 0.01
    assert none.candidate in {"cdspp", "cdspp-sup"}
    assert "without the source. The best candidate with it is" in none.lines[0]


def test_one_label_of_a_class_leaves_the_prior() -> None:
    problem = Planted("shared", n_classes=3, n_labelled=1).draw(0)
    found = compare(problem.X, problem.y, source=problem.source)
    assert (found.best_bet, found.evidence, found.repeats) == (TARGET_ONLY, OPEN, 0)
    assert found.expected_gain == pytest.approx(-0.01)
    assert "nothing was cross-validated" in found.lines[1]
    assert found.candidates["accuracy"].isna().all()
    assert 0 <= found.disagreement <= 1


def test_two_classes_without_a_bridge_are_told_what_to_look_for() -> None:
    problem = Planted("shared", n_classes=2, n_labelled=6).draw(0)
    found = compare(problem.X, problem.y, source=problem.source)
    assert "labels by themselves transfer almost nothing" in found.remarks[0]
    assert not any("transfer almost" in text for text in run("misleading").remarks)


def test_the_forms_for_notebooks_and_programs_hold_the_answer(
    bridged: Comparison,
) -> None:
    html = bridged._repr_html_()
    assert "Best bet" in html
    assert "<table" in html
    assert "<p>To deploy it:</p><pre><code>import cdspp\n" in html
    frame = bridged.to_frame()
    assert frame.loc[frame["best_bet"], "method"].tolist() == [bridged.best_bet]
    axes = bridged.plot()
    assert len(axes.get_yticklabels()) >= 3
    answer = json.loads(json.dumps(bridged.to_dict()))
    assert answer["schema_version"] == 2
    listed = yaml.safe_load(KEYS.read_text())
    inner = {f"candidates.{key}" for row in answer["candidates"] for key in row}
    assert {*answer, *inner} - {"schema_version", "candidates"} == {*listed["compare"]}
    assert answer["candidates"][-1]["expected_gain"] is None


def recommended(found: Comparison, X: Any, y: Any, source: SourceDomain) -> Any:
    """Return the model that the code of an answer fits."""
    names: dict[str, Any] = {"cdspp": cdspp, "X": X, "y": y, "source": source}
    exec(found.next_steps[0], names)
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
    assert model[-1].identifier == shared.best_bet
    assert model[-1].transduction_.shape == problem.y.shape
    whole, batches, single = labels_in_batches(model, new)
    assert whole == batches == single
    assert len(set(whole)) == 3


@pytest.mark.parametrize("scale", ["none", "pca"])
def test_the_code_of_an_answer_without_a_source_runs_at_every_scale(scale: str) -> None:
    problem = Planted("shared", n_classes=3, n_labelled=4).draw(0)
    found = compare(problem.X, problem.y, scale=scale, source=problem.source)
    assert found.best_bet == TARGET_ONLY
    model = recommended(found, problem.X, problem.y, problem.source)
    whole, batches, single = labels_in_batches(model, problem.X)
    assert whole == batches == single
    scaling = fit_scaling(scale, problem.X)
    expected = CDSPP().fit(scaling.apply(problem.X), problem.y)
    assert whole == expected.predict(scaling.apply(problem.X)).tolist()


def test_a_source_without_use_is_not_used() -> None:
    found = run("none")
    assert found.best_bet == TARGET_ONLY
    assert "source" not in found.next_steps[0]


def test_a_collapse_is_named_with_another_scale_and_takes_no_bet() -> None:
    X, y = load_wine(return_X_y=True)
    labels = np.full(89, -1)
    for code in range(3):
        labels[np.flatnonzero(y[1::2] == code)[:4]] = code
    source = SourceDomain(X[::2, :7], y[::2])
    given: dict[str, Any] = {"source": source, "methods": QUICK, "repeats": 5}
    found = compare(X[1::2, 7:], labels, scale="none", **given)
    assert found.best_bet == TARGET_ONLY
    assert "CDSPP 100 %" in found.note
    assert "try the scale standardise" in found.note
    frame = found.candidates.set_index("method")
    assert np.isnan(frame.loc["cdspp", "expected_gain"])
    assert frame.loc["cdspp", "degenerate"] > 0.9
    assert "collapsed" not in compare(X[1::2, 7:], labels, **given).note


@pytest.mark.parametrize("n_fine", [0, 3])
def test_a_method_that_fails_takes_no_bet_and_gives_the_reason(
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
    assert found.best_bet == TARGET_ONLY
    assert "CDSPP failed: no convergence" in found.note
    assert np.isnan(found.disagreement)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repeats": 4}, "repeats.* at least 5, got 4"),
        ({"methods": ["pa"]}, "labels only the rows of its fit"),
        ({"y": [-1] * 6}, "y: .*row.*label"),
        ({"y": [0, 0, 1]}, "of 6 target rows, got 4 of 4 and 3"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    change: dict[str, Any], message: str
) -> None:
    given = {"X": np.eye(6), "y": [0, 0, 1, 1, -1, -1], **change}
    with pytest.raises(DataError, match=message):
        compare(**given, source=SourceDomain(np.eye(4), [0, 0, 1, 1]))


def test_classifiers_of_scikit_learn_are_controls_without_a_source() -> None:
    spreading = "sklearn.semi_supervised:LabelSpreading"
    problem = Planted("none", n_classes=4, n_labelled=6, n_unlabelled=6).draw(0)
    methods = ["cdspp-sup", spreading, RandomForestClassifier(n_estimators=5)]
    found = compare(problem.X, problem.y, source=problem.source, methods=methods)
    controls = [m for m in found.candidates["method"] if m.startswith("sklearn.")]
    assert len(controls) == 2
    kinds = found.candidates.set_index("method")["information"]
    assert set(kinds[controls]) == {"no source"}


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
