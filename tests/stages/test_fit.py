"""The fit stage and the scores that follow it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from stages.room import METHOD, N_PER_CLASS, STATES, Room, fitted, written

from cdspp import CDSPP
from cdspp.core.errors import DataError, MethodFailed
from cdspp.core.files import read_json
from cdspp.core.names import fit_key
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.core.records import Specification
from cdspp.methods.shared import graphs
from cdspp.stages.fit import Fit, JobInputs, fit_block
from cdspp.stages.formats import (
    FIT_COLUMNS,
    SPLIT_COLUMNS,
    Features,
    read_fit,
    read_rows,
    write_features,
)
from cdspp.stages.subspace import fixed_view


@pytest.mark.parametrize("name", ["NA", "B"])
def test_a_class_of_any_name_is_fitted_and_scored(name: str, tmp_path: Path) -> None:
    room = Room(tmp_path, names=(name, "b", "c"))
    fit = room.fit()
    assert set(read_rows(fit, FIT_COLUMNS)["predicted"]) == {name, "b", "c"}
    assert room.score(fit)["accuracy"][-1] > 0.8


def test_scores_agree_with_a_count_by_hand_and_small_classes_weigh_as_large_ones(
    room: Room,
) -> None:
    fit, ids = room.fit(), [f"right{i:02d}" for i in range(3 * N_PER_CLASS)]
    truth = np.repeat(["a", "b", "c"], [20, 10, 6])
    room.write_labels("right", ids, truth)
    rows = pd.DataFrame(read_rows(fit, FIT_COLUMNS))
    rows["truth"] = rows["id"].map(dict(zip(ids, truth, strict=True)))
    rows["right"] = rows["predicted"] == rows["truth"]
    keys = ["trial", "iteration"]
    accuracy = rows.groupby(keys)["right"].mean()
    per_class = rows.groupby([*keys, "truth"])["right"].mean().groupby(keys).mean()
    scores = pd.DataFrame(room.score(fit)).set_index(keys)
    assert scores.index.tolist() == accuracy.index.tolist()
    np.testing.assert_allclose(scores["accuracy"], accuracy)
    np.testing.assert_allclose(scores["mean_class_accuracy"], per_class)
    assert not np.allclose(accuracy, per_class)


def test_a_change_of_the_source_does_not_reach_target_only(room: Room) -> None:
    plain = room.fit(method="target-only").read_bytes()
    noisy = room.fit(method="target-only", source={"name": "noise"})
    assert noisy.read_bytes() == plain


def test_cdspp_without_a_source_is_target_only(room: Room) -> None:
    alone = room.fit(source={"name": "none"}).read_bytes()
    assert room.fit(method="target-only").read_bytes() == alone
    assert room.fit().read_bytes() != alone


def contents(room: Room, method: str) -> dict[str, bytes]:
    return {name: room.output(name, method=method).read_bytes() for name in STATES}


@pytest.mark.parametrize("method", ["cdspp", "dama"])
def test_fits_of_one_job_have_the_bytes_that_they_have_alone(
    tmp_path: Path, method: str
) -> None:
    together, alone = Room(tmp_path / "together"), Room(tmp_path / "alone")
    together.fit_states(STATES, method=method)
    for name, state in STATES.items():
        alone.fit_states({name: state}, method=method)
    found = contents(together, method)
    assert found == contents(alone, method)
    assert len(set(found.values())) == len(STATES)


def test_states_of_one_job_share_the_graphs_of_rows_that_they_have_in_common(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bytes] = []

    def watched(
        X: Any, n_neighbors: int, inner: Any = graphs._heat_kernel_graph
    ) -> Any:
        made.append(X.tobytes())
        return inner(X, n_neighbors)

    monkeypatch.setattr(graphs, "_heat_kernel_graph", watched)
    room.fit_states(STATES, method="dama")
    # Of two trials the target once, and sources but for that with swapped classes.
    assert len(made) == len(set(made)) == 2 * (1 + len(STATES) - 1)
    room.fit_states({"other": {"name": "real"}}, method="dama")
    assert len(made) == len(set(made)) + 4


def test_an_added_setting_is_fitted_alone_and_others_are_kept(room: Room) -> None:
    two = {name: STATES[name] for name in ("main", "none")}
    assert fitted(room, two) == {"main", "none"}
    assert fitted(room, STATES) == {"swapped-classes", "class-noise"}
    assert fitted(room, STATES) == set()


def test_what_makes_a_fit_stale_is_its_own_options_inputs_and_code(room: Room) -> None:
    fitted(room, STATES)
    wider = {**STATES, "class-noise": {"name": "class-noise", "spread": 3.0}}
    assert fitted(room, wider) == {"class-noise"}
    room.output("none").with_suffix(".json").write_text("{")
    assert fitted(room, wider) == {"none"}
    other = room.output("none").read_bytes()
    room.output("class-noise").write_bytes(other)  # in its place, with its record kept
    assert fitted(room, wider) == {"class-noise"}
    room.output("main").unlink()
    assert fitted(room, wider) == {"main"}
    assert fitted(room, wider, options={"alpha": 2.0}) == set(STATES)
    assert fitted(room, wider, options={"alpha": 2.0}, code="2") == set(STATES)
    room.write_features("left", seed=1)
    kept = {"options": {"alpha": 2.0}, "code": "2"}
    assert fitted(room, wider, **kept) == set(STATES)
    room.write_features("left", seed=1)
    assert fitted(room, wider, **kept) == set()


def test_methods_of_one_job_are_fitted_and_kept_each_by_itself(room: Room) -> None:
    names = ("svm-t", "cdspp", "ddacl")
    made = {name: room.output("main", method=name) for name in names}

    def fit(code: Mapping[str, str]) -> set[str]:
        before = {name: written(path) for name, path in records.items()}
        job_inputs = JobInputs(room.files("left_right"), "toy", "left_right")
        given = {**METHOD, "source": {"name": "real"}, "seed": 0}
        options = ({**given, "method": name} for name in code)
        values = zip(options, code.values(), strict=True)
        wanted = (Specification({}, own, code=digest) for own, digest in values)
        files = (made[name] for name in code)
        fit_block(job_inputs, [*map(Fit.specified, files, wanted)])
        return {name for name in code if written(records[name]) != before[name]}

    records = {name: path.with_suffix(".json") for name, path in made.items()}
    alone = {name: room.fit(method=name).read_bytes() for name in names}
    assert fit(dict.fromkeys(names, "2")) == set(names)
    assert {name: path.read_bytes() for name, path in made.items()} == alone
    assert fit({**dict.fromkeys(names, "2"), "cdspp": "3"}) == {"cdspp"}


def test_a_method_that_fails_is_recorded_and_scored_as_failed(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CDSPP, "fit", Mock(side_effect=MethodFailed("too few rows")))
    fit = room.fit()
    results = read_fit(fit).record.trials
    assert [result["status"] for result in results] == ["failed", "failed"]
    assert results[0]["reason"] == "too few rows"
    scores = room.score(fit)
    assert scores["status"].tolist() == ["failed", "failed"]
    assert np.isnan(scores["accuracy"]).all()


def test_features_that_do_not_belong_to_the_splits_are_refused(room: Room) -> None:
    X = np.ones((3 * N_PER_CLASS, 5))
    ids = np.array([f"other{i:02d}" for i in range(len(X))])
    write_features(room.features("right"), Features(X, ids, {}))
    with pytest.raises(DataError, match="not those that the splits were drawn from"):
        room.fit()


def test_a_prediction_without_a_label_is_refused(room: Room) -> None:
    fit = room.fit()
    room.write_labels("right", ["right00"], ["a"])
    with pytest.raises(DataError, match="predicted samples have no label"):
        room.score(fit)


def test_the_record_says_what_the_fit_is_and_of_which_files(room: Room) -> None:
    fit = room.fit()
    record = read_json(fit.with_suffix(".json"))
    assert fit_key(record["file"]) == fit_key(fit)
    assert record["sha256"] == file_digest(fit)
    files = {"source_features": room.features("left")}
    files |= {"target_features": room.features("right")}
    files |= {"source_split": room.split("source", "left")}
    files |= {"target_split": room.split("target", "right")}
    assert record["inputs"] == {name: file_digest(path) for name, path in files.items()}
    split = pd.DataFrame(read_rows(files["target_split"], SPLIT_COLUMNS))
    tested = split[split["role"] == "unlabelled"].groupby("trial")["id"]
    trials = record["extra"]["trials"]
    assert [o["test_ids"] for o in trials] == [*tested.agg(ids_digest)]
    assert [o["tested"] for o in trials] == [*tested.size()]
    assert {o["rounds"] for o in trials} == {5}
    assert [o["trial"] for o in trials] == [1, 2]
    assert all(o["seconds"] > 0 for o in trials)
    assert record["extra"]["versions"]["numpy"] == np.__version__


def test_the_subspace_holds_every_row_in_every_round_of_the_fit(room: Room) -> None:
    content = room.project()
    assert set(content["iteration"]) == {1, 2, 3, 4, 5, 6}
    groups, counts = np.unique(content["group"], return_counts=True)
    assert groups.tolist() == ["labelled", "source", "unlabelled"]
    assert counts.tolist() == [6 * 9, 6 * 9, 6 * 27]
    assert np.isfinite(content["xy"]).all()
    assert content["final_fit"]
    fits = read_rows(room.fit(), FIT_COLUMNS)
    first = fits["trial"] == 1
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
