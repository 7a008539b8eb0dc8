"""The fit stage and the scores that follow it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cdspp.core.artifacts import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    Features,
    read_json,
    read_rows,
    write_features,
    write_rows,
)
from cdspp.core.errors import DataError, MethodFailed
from cdspp.stages import fit as experiment
from cdspp.stages.fit import TaskFiles, fit_block, read_trials
from cdspp.stages.score import write_scores
from cdspp.stages.splits import write_split
from cdspp.stages.subspace import fixed_view, write_subspace

N_PER_CLASS = 12


class Room:
    """Features, labels and splits of two domains in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.classes = np.repeat(["a", "b", "c"], N_PER_CLASS)
        rng = np.random.default_rng(0)
        for domain, width in (("left", 7), ("right", 5)):
            means = 2 * np.eye(3, width)[np.repeat([0, 1, 2], N_PER_CLASS)]
            X = rng.random((len(means), width)) + means
            ids = np.array([f"{domain}{i:02d}" for i in range(len(X))])
            write_features(self.features(domain), Features(X, ids, {}))
            rows = {"id": ids, "label": self.classes, "position": range(len(X))}
            write_rows(self.labels(domain), LABEL_COLUMNS, rows)
            for role in ("source", "target"):
                write_split(
                    labels=self.labels(domain),
                    output=self.split(role, domain),
                    dataset="toy",
                    domain=domain,
                    role=role,
                    protocol="seeded",
                    per_class=3,
                    unlabelled=None,
                    classes=["a", "b", "c"],
                    block="1-2",
                    seed=0,
                )

    def features(self, domain: str) -> Path:
        return self.folder / f"{domain}.npz"

    def labels(self, domain: str) -> Path:
        return self.folder / "labels" / f"{domain}.parquet"

    def split(self, role: str, domain: str) -> Path:
        return self.folder / role / f"{domain}.parquet"

    def files(self, task: str) -> TaskFiles:
        source, target = task.split("_")
        return TaskFiles(
            source_features=self.features(source),
            target_features=self.features(target),
            source_split=self.split("source", source),
            target_split=self.split("target", target),
        )

    def fit(self, task: str = "left_right", **changes: Any) -> Path:
        method = changes.get("method", "cdspp")
        output = self.folder / "fits/toy/main" / task / method / "1-2.parquet"
        options: dict[str, Any] = {
            "method": "cdspp",
            "options": {},
            "source_change": "as-is",
            "overlap": "exclude",
            "predictions": output,
            "record": output.with_suffix(".json"),
            "benchmark": "toy",
            "task": task,
            "block": "1-2",
            "seed": 0,
            "numeric_threads": 1,
        }
        fit_block(files=self.files(task), **{**options, **changes})
        return output

    def project(self, output: Path, task: str = "left_right") -> None:
        write_subspace(
            files=self.files(task),
            method="cdspp",
            options={},
            output=output,
            task=task,
            overlap="exclude",
            numeric_threads=1,
        )

    def score(self, *fits: Path) -> dict[str, np.ndarray]:
        output = self.folder / "scores.parquet"
        labels = [self.labels(domain) for domain in ("left", "right")]
        write_scores(fits=fits, labels=labels, output=output)
        return read_rows(output, SCORE_COLUMNS)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_predictions_cover_each_test_sample_once_a_round(room: Room) -> None:
    rows = read_rows(room.fit(), FIT_COLUMNS)
    n_test = 3 * (N_PER_CLASS - 3)
    assert len(rows["id"]) == 2 * 5 * n_test
    keys = set(zip(rows["trial"], rows["iteration"], rows["id"], strict=True))
    assert len(keys) == len(rows["id"])
    assert np.all((rows["confidence"] > 0) & (rows["confidence"] <= 1))


def test_scores_agree_with_a_count_by_hand(room: Room) -> None:
    fit = room.fit()
    rows, scores = read_rows(fit, FIT_COLUMNS), room.score(fit)
    truth = {f"right{i:02d}": name for i, name in enumerate(room.classes)}
    last = (rows["trial"] == 2) & (rows["iteration"] == 5)
    hits = [
        truth[key] == predicted
        for key, predicted in zip(
            rows["id"][last], rows["predicted"][last], strict=True
        )
    ]
    found = (scores["trial"] == 2) & (scores["iteration"] == 5)
    assert scores["accuracy"][found].tolist() == [pytest.approx(np.mean(hits))]
    assert scores["accuracy"][found][0] > 0.8


def test_a_small_class_weighs_as_much_as_a_large_one(room: Room) -> None:
    fit, ids = room.fit(), [f"right{i:02d}" for i in range(3 * N_PER_CLASS)]
    truth = np.repeat(["a", "b", "c"], [20, 10, 6])
    rows = {"id": ids, "label": truth, "position": range(len(ids))}
    write_rows(room.labels("right"), LABEL_COLUMNS, rows)
    columns, scores = read_rows(fit, FIT_COLUMNS), room.score(fit)
    here = (columns["trial"] == 1) & (columns["iteration"] == 1)
    true = np.array([truth[ids.index(key)] for key in columns["id"][here]])
    hits = columns["predicted"][here] == true
    expected = np.mean([hits[true == name].mean() for name in "abc"])
    found = (scores["trial"] == 1) & (scores["iteration"] == 1)
    assert expected != pytest.approx(hits.mean())
    assert scores["mean_class_accuracy"][found] == pytest.approx(expected)


def test_samples_on_both_sides_are_tested_only_where_they_are_kept(room: Room) -> None:
    files = room.files("right_right")
    for trial in read_trials(files):
        assert not set(trial.source_ids) & set(trial.test_ids)
        assert len(trial.X) == len(trial.test_ids) + len(trial.labelled_ids)
    for trial in read_trials(files, overlap="keep"):
        assert len(trial.test_ids) == 3 * (N_PER_CLASS - 3)
        assert set(trial.source_ids) & set(trial.test_ids)


def test_the_placebo_permutes_the_source_labels_alone(room: Room) -> None:
    trial = next(read_trials(room.files("left_right")))
    rng = np.random.default_rng(0)
    changed = experiment.SOURCE_CHANGES["permuted-labels"](trial.source, rng)
    assert changed.X is trial.source.X
    assert sorted(changed.y) == sorted(trial.source.y)
    assert list(changed.y) != list(trial.source.y)


def test_the_noise_keeps_shape_and_labels_of_the_source(room: Room) -> None:
    trial = next(read_trials(room.files("left_right")))
    changed = experiment.SOURCE_CHANGES["noise"](trial.source, np.random.default_rng(0))
    assert np.shape(changed.X) == np.shape(trial.source.X)
    assert np.min(changed.X) >= 0
    assert changed.y is trial.source.y


def test_a_change_of_the_source_does_not_reach_target_only(room: Room) -> None:
    plain = read_rows(room.fit(method="target-only"), FIT_COLUMNS)
    noisy = room.fit(method="target-only", source_change="noise")
    changed = read_rows(noisy, FIT_COLUMNS)
    for name in FIT_COLUMNS:
        np.testing.assert_array_equal(plain[name], changed[name])


def test_a_fit_writes_the_same_bytes_again(room: Room) -> None:
    first = room.fit(method="svm-t").read_bytes()
    assert room.fit(method="svm-t").read_bytes() == first


def test_a_method_that_fails_is_recorded_and_scored_as_failed(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise MethodFailed("too few rows")

    monkeypatch.setattr("cdspp.methods.cdspp.cdspp.CDSPP.fit", refuse)
    fit = room.fit()
    outcomes = read_json(fit.with_suffix(".json"))["trials"]
    assert [outcome["status"] for outcome in outcomes] == ["failed", "failed"]
    assert outcomes[0]["reason"] == "too few rows"
    scores = room.score(fit)
    assert scores["status"].tolist() == ["failed", "failed"]
    assert np.isnan(scores["accuracy"]).all()


def test_any_other_error_fails_the_job(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("cdspp.methods.cdspp.cdspp.CDSPP.fit", break_down)
    with pytest.raises(ZeroDivisionError):
        room.fit()


def test_features_that_do_not_belong_to_the_splits_are_refused(room: Room) -> None:
    X = np.ones((3 * N_PER_CLASS, 5))
    ids = np.array([f"other{i:02d}" for i in range(len(X))])
    write_features(room.features("right"), Features(X, ids, {}))
    with pytest.raises(DataError, match="not those that the splits were drawn from"):
        room.fit()


def test_a_prediction_without_a_label_is_refused(room: Room) -> None:
    fit = room.fit()
    rows = {"id": ["right00"], "label": ["a"], "position": [0]}
    write_rows(room.labels("right"), LABEL_COLUMNS, rows)
    with pytest.raises(DataError, match="predicted samples have no label"):
        room.score(fit)


def test_the_record_says_what_ran(room: Room) -> None:
    record = read_json(room.fit().with_suffix(".json"))
    assert record["versions"]["numpy"] == np.__version__
    assert [outcome["trial"] for outcome in record["trials"]] == [1, 2]
    assert all(outcome["seconds"] > 0 for outcome in record["trials"])


def test_the_subspace_holds_every_row_in_every_round(room: Room) -> None:
    output = room.folder / "subspace.npz"
    room.project(output)
    with np.load(output) as content:
        assert set(content["iteration"]) == {1, 2, 3, 4, 5, 6}
        groups, counts = np.unique(content["group"], return_counts=True)
        assert groups.tolist() == ["labelled", "source", "unlabelled"]
        assert counts.tolist() == [6 * 9, 6 * 9, 6 * 27]
        assert np.isfinite(content["xy"]).all()
        assert content["final_fit"]


def test_the_subspace_holds_the_predictions_of_the_fit_stage(room: Room) -> None:
    fits, output = read_rows(room.fit(), FIT_COLUMNS), room.folder / "subspace.npz"
    room.project(output)
    first = fits["trial"] == 1
    with np.load(output) as content:
        ours = (content["group"] == "unlabelled") & (content["iteration"] <= 5)
        assert set(content["predicted"][content["group"] != "unlabelled"]) == {""}
        for name in ("iteration", "id", "predicted"):
            assert content[name][ours].tolist() == fits[name][first].tolist()


def test_a_rotated_round_looks_the_same_in_the_fixed_view() -> None:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((20, 4))
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    first, last = fixed_view([Z @ rotation, Z], anchors=20)
    np.testing.assert_allclose(first, last, atol=1e-12)
