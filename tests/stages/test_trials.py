"""Trials as fits read them: what source and target share besides labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from stages.room import Room

from cdspp.core.errors import DataError
from cdspp.core.files import write_json
from cdspp.stages.formats import (
    PAIR_COLUMNS,
    SPLIT_COLUMNS,
    Features,
    read_features,
    read_rows,
    write_features,
    write_rows,
)
from cdspp.stages.splits import write_pairs
from cdspp.stages.trials import TaskFiles, Trial, read_trials

N_PAIRS = 6
NAMES = {
    "left": [f"only{k}" for k in range(4)] + ["age", "chol", "sex"],
    "right": ["chol", "age", "weight", "height", "years"],
}


@pytest.fixture
def files(tmp_path: Path) -> TaskFiles:
    """Return a task whose views have names, and paired rows after all others."""
    room = Room(tmp_path)
    for domain in ("left", "right"):
        known = read_features(room.features(domain))
        ids = np.array([*known.ids, *(f"both{k}" for k in range(N_PAIRS))])
        more = np.arange(N_PAIRS)[:, None] + np.zeros((N_PAIRS, known.X.shape[1]))
        X, names = np.vstack([known.X, more]), np.array(NAMES[domain])
        write_features(room.features(domain), Features(X, ids, {}, names))
    pairs = tmp_path / "pairs.parquet"
    order = [f"both{k}" for k in (3, 0, 5, 1, 2, 4)]
    rows = {"trial": [1] * 6 + [2] * 6, "id": order + order[::-1]}
    write_rows(pairs, PAIR_COLUMNS, rows)
    return {**room.files("left_right"), "pairs": pairs}


def first(files: TaskFiles, **how: Any) -> Trial:
    return next(iter(read_trials(files, **how)))


def test_columns_of_the_same_name_are_shared_wherever_they_stand(
    files: TaskFiles,
) -> None:
    trial = first(files, bridge={"shared_columns": "same-names"})
    assert trial.source.shared_columns == [(4, 1), (5, 0)]
    assert trial.source.paired_rows is None


def test_columns_may_be_shared_under_two_names(files: TaskFiles) -> None:
    trial = first(files, bridge={"shared_columns": [["age", "years"]]})
    assert trial.source.shared_columns == [(4, 4)]


@pytest.mark.parametrize("pair", [["age", "ages"], ["ages", "age"]])
def test_columns_that_are_not_there_are_named(files: TaskFiles, pair: Any) -> None:
    with pytest.raises(DataError, match="column 'ages' to share"):
        first(files, bridge={"shared_columns": [pair]})


def test_columns_without_names_or_without_a_common_one_are_refused(
    files: TaskFiles,
) -> None:
    known = read_features(files["target_features"])
    names = np.array([f"other{k}" for k in range(5)])
    for columns, message in ((names, "name.*share"), (None, "no names")):
        write_features(files["target_features"], replace(known, columns=columns))
        with pytest.raises(DataError, match=message):
            first(files, bridge={"shared_columns": "same-names"})


def test_pairs_are_the_first_of_their_trial_and_the_same_on_both_sides(
    files: TaskFiles,
) -> None:
    for number, wanted in ((2, [3, 0]), (4, [3, 0, 5, 1])):
        ours, theirs = first(files, bridge={"paired_rows": number}).source.paired_rows
        assert ours[:, 0].tolist() == theirs[:, 0].tolist() == wanted
        assert (ours.shape[1], theirs.shape[1]) == (7, 5)


def test_too_few_pairs_and_pairs_that_a_split_takes_are_refused(
    files: TaskFiles,
) -> None:
    with pytest.raises(DataError, match="expected 7 paired rows"):
        first(files, bridge={"paired_rows": 7})
    split = pd.DataFrame(read_rows(files["source_split"], SPLIT_COLUMNS))
    place = read_features(files["source_features"]).ids.tolist().index("both3")
    split.loc[0, ["id", "row"]] = "both3", place
    write_rows(files["source_split"], SPLIT_COLUMNS, split)
    with pytest.raises(DataError, match="in no split"):
        first(files, bridge={"paired_rows": 1})


def test_without_a_bridge_a_trial_has_none_and_no_paired_row(files: TaskFiles) -> None:
    trial, bridged = first(files), first(files, bridge={"paired_rows": 3})
    assert trial.source.shared_columns is None
    assert trial.source.paired_rows is None
    for one, other in ((trial.X, bridged.X), (trial.source.X, bridged.source.X)):
        np.testing.assert_array_equal(one, other)
    assert not any(str(name).startswith("both") for name in trial.test_ids)


def test_sparse_rows_stay_sparse_where_a_method_takes_them(files: TaskFiles) -> None:
    for path in (files["source_features"], files["target_features"]):
        known = read_features(path)
        write_features(path, replace(known, X=sparse.csr_array(known.X)))
    for keep, most in ((True, 0), (True, 9), (False, 10**6)):
        trial = first(files, bridge={"paired_rows": 2}, max_dense=most)
        parts = (trial.X, trial.source.X, *trial.source.paired_rows)
        assert {sparse.issparse(part) for part in parts} == {keep}


def test_a_trial_has_every_source_and_tests_no_sample_of_any(files: TaskFiles) -> None:
    more = {"source_features_2": files["target_features"]}
    more |= {"source_split_2": Path(files["source_split"]).with_name("right.parquet")}
    trial, one = first({**files, **more}), first(files)
    assert [source.X.shape[1] for source in trial.sources] == [7, 5]
    np.testing.assert_array_equal(trial.source.X, one.source.X)
    ours, theirs = trial.ids_of_sources
    assert [*trial.source_ids] == [*ours, *theirs]
    assert len(trial.source_labels) == len(trial.source_ids)
    assert {*trial.test_ids} == {*one.test_ids} - {*theirs}


def test_pairs_are_drawn_by_trial_and_seed_whatever_the_block(tmp_path: Path) -> None:
    samples = [
        {"id": f"s{k}", "path": "", "label": "", "paired": k > 1} for k in range(9)
    ]
    for sample in samples[:2]:
        sample["label"] = "a"
    domains = [{"name": "left", "samples": samples, "sha256": ""}]
    index = {"dataset": "d", "kind": "features", "classes": ["a"], "versions": {}}
    write_json(tmp_path / "index.json", index | {"domains": domains})

    def drawn(block: str, seed: int = 0) -> list[tuple[int, str]]:
        output = tmp_path / "pairs.parquet"
        write_pairs(
            index=tmp_path / "index.json", output=output, block=block, seed=seed
        )
        rows = read_rows(output, PAIR_COLUMNS)
        return list(zip(rows["trial"].tolist(), rows["id"].tolist(), strict=True))

    whole = drawn("1-4")
    assert whole == drawn("1-2") + drawn("3-4")
    assert whole != drawn("1-4", seed=1)
    orders = [[name for number, name in whole if number == k] for k in (1, 2, 3, 4)]
    assert {tuple(sorted(order)) for order in orders} == {
        tuple(f"s{k}" for k in range(2, 9))
    }
    assert len({tuple(order) for order in orders}) == 4
