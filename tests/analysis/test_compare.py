"""Should I use A for B: hold-outs, decisions, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from cdspp import CDSPP, SourceDomain, compare
from cdspp.analysis.decision import ALONE_BETTER, CANNOT_TELL, USE, Comparison
from cdspp.analysis.paired import gain_of
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.scaling import fit_scaling
from cdspp.datasets.planted import Planted

QUICK = ("svm-t", "cdspp-sup", "cdspp")


def run(geometry: str, seed: int = 0, **more: Any) -> Comparison:
    size = {"n_classes": 20, "n_labelled": 6, "n_unlabelled": 6, "n_latent": 8}
    planted = Planted(geometry, **{**size, "d_source": 60, "d_target": 40, **more})
    problem = planted.draw(seed)
    return compare(
        problem.X, problem.y, source=SourceDomain(*problem.source), methods=QUICK
    )


@pytest.fixture(scope="module")
def shared() -> Comparison:
    return run("shared", n_labelled=3)


def test_a_source_that_helps_is_used(shared: Comparison) -> None:
    assert shared.decision == USE
    assert shared.method in {"cdspp-sup", "cdspp"}
    assert shared.sentence.startswith("Use the source with CDSPP")
    helped = shared.verdicts.set_index("method").loc[shared.method]
    assert helped["accuracy"] > helped["alone"] + 0.05


def test_every_state_and_method_has_its_gain(shared: Comparison) -> None:
    assert len(shared.gains) == 2 * 5
    means = shared.accuracies.set_index(["method", "state", "labels"])["mean"]
    for gain in shared.gains.itertuples():
        pair = means[gain.method, "real", 2] - means[gain.method, gain.state, 2]
        assert gain.gain == pytest.approx(pair)
    assert ("svm-t", "real", 1) in means.index
    assert ("svm-t", "none", 2) not in means.index


def test_equal_input_gives_equal_answers(shared: Comparison) -> None:
    again = run("shared", n_labelled=3)
    pd.testing.assert_frame_equal(again.gains, shared.gains)
    assert again.sentence == shared.sentence


@pytest.mark.parametrize("geometry", ["none", "misleading"])
def test_a_source_without_use_is_not_used(geometry: str) -> None:
    found = run(geometry)
    assert found.decision in {ALONE_BETTER, CANNOT_TELL}
    assert found.decision == ALONE_BETTER or "needs about" in found.sentence


def test_the_rows_needed_are_those_of_methods_that_are_undecided() -> None:
    found = run("shared", n_labelled=2, shared=0.8)
    words = found.verdicts.set_index("method")
    assert words["verdict"].to_dict() == {"cdspp-sup": "undecided", "cdspp": "hurts"}
    assert found.decision == CANNOT_TELL
    least = words.loc["cdspp-sup", "detectable"]
    needed = int(np.ceil(40 * (least / 0.05) ** 2))
    told = f"a gain below {100 * least:.1f} points would be missed, and one of 5.0"
    assert f"with 40 labelled rows {told} needs about {needed}." in found.sentence


def test_a_source_that_hurts_every_method_leaves_the_target_alone() -> None:
    found = run("none", n_labelled=12)
    assert set(found.verdicts["verdict"]) == {"hurts"}
    assert found.decision == ALONE_BETTER
    assert found.sentence.startswith("Train on the target alone, for instance by ")
    assert found.sentence.endswith("is settled for each of 2 methods.")


def test_repeats_of_the_same_rows_do_not_narrow_the_interval_without_end() -> None:
    rng = np.random.default_rng(0)
    few, many = rng.standard_normal(15), rng.standard_normal(15_000)
    assert gain_of(many).error < 0.02
    assert gain_of(many, overlap=0.5).error == pytest.approx(0.5**0.5, rel=0.02)
    expected = few.std(ddof=1) * (1 / 15 + 0.5) ** 0.5
    assert gain_of(few, overlap=0.5).error == pytest.approx(expected)


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
    source = SourceDomain(*problem.source)
    compare(problem.X, problem.y, source=source, methods=["cdspp"], repeats=5)
    assert len(fitted) == 5 * (6 + 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repeats": 4}, "repeats must be 5 at least, got 4"),
        ({"methods": ["pa"]}, "pa labels the rows it is fitted on"),
        ({"methods": ["svm-t"]}, "none of svm-t uses a source. Add one that does"),
        ({"y": [0, 0, 1, -1, -1, -1]}, "but class 1 has 1"),
        ({"y": [-1] * 6}, "but no row has one"),
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
    source = SourceDomain(*problem.source)
    given: dict[str, Any] = {"source": source, "methods": ["cdspp"], "repeats": 5}
    compare(problem.X, problem.y, scale="standardise", **given)
    first, *others = learnt
    assert first is not None
    assert len(first) == len(problem.source.X)
    # Of three labelled rows a class one is held out, in each of the five repeats.
    whole = {len(X) for X in others[: 5 * 6]}
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
    source = SourceDomain(*problem.source)
    given: dict[str, Any] = {"source": source, "methods": ["cdspp"], "repeats": 5}
    found = compare(problem.X, problem.y, max_rows=12, **given)
    n_source = len(problem.source.X)
    assert sizes == {(12, 12), (12, 0)}
    assert found.note == (
        f"of 27 unlabelled target rows and {n_source} source rows at most about 12 are "
        "in each fit"
    )
    assert compare(problem.X, problem.y, **given).note == ""
