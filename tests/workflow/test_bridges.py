"""Paired rows in the job graph: inputs of the fits that use them, of no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toy_study import CONFIG, Project, shared

from cdspp.stages.formats import (
    LABEL_COLUMNS,
    PAIR_COLUMNS,
    SPLIT_COLUMNS,
    read_features,
    read_rows,
)

WORDS: dict[str, Any] = {"id": "words", "dataset": "words", "tasks": ["left_right"]}
WORDS |= {
    "source_view": "tfidf",
    "target_view": "tfidf",
    "labels": {"source": 4, "target": 2},
}
PAIRS = "results/pairs/splits/words/main/pairs/1-2.parquet"
N_PAIRS = 6


@pytest.fixture(scope="module")
def bridged(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose study used paired texts, and shared words, as bridges."""
    project = Project(repository, tmp_path_factory.mktemp("project"))
    for domain, words in (("left", "apple iron nile"), ("right", "pear zinc volga")):
        folder = project.folder / "texts" / domain / "both"
        folder.mkdir()
        for number in range(N_PAIRS):
            text = f"{words.split()[number % 3]} of {number} to the {domain}"
            (folder / f"{number}.txt").write_text(text)
    bridge = {"paired_rows": 4, "shared_columns": "same-names"}
    paired = {"id": "paired-map", "bridges": ["paired_rows"]}
    shared = {"id": "shared-columns", "bridges": ["shared_columns"]}
    project.write_config(
        study="pairs",
        trials=2,
        datasets=[{"id": "words", "folder": "texts", "paired": "both"}],
        views=CONFIG["views"][:1],
        benchmarks=[WORDS | {"bridge": bridge}],
        methods=[{"id": "svm-t"}, paired, shared],
        source_states={"states": ["shuffled-pairs", "shuffled-columns"]},
        curves=[],
        deviations=[],
    )
    project.snakemake("--cores", "1", "--", "results/pairs/scores/words.parquet")
    return project


def test_pairs_are_inputs_of_the_fits_that_use_them_alone(bridged: Project) -> None:
    made = bridged.fit_inputs("pairs")
    fits = {path.relative_to("results/pairs/fits/words").as_posix() for path in made}
    assert fits == {
        f"{state}/left_right/{method}/1-2.parquet"
        for state, method in (
            ("main", "svm-t"),
            ("main", "paired-map"),
            ("main", "shared-columns"),
            ("shuffled-pairs", "paired-map"),
            ("shuffled-columns", "shared-columns"),
        )
    }
    for path, inputs in made.items():
        assert (PAIRS in inputs) == ("paired-map" in path.parts)


def test_paired_samples_have_no_label_and_are_in_no_split(bridged: Project) -> None:
    pairs = read_rows(bridged.folder / PAIRS, PAIR_COLUMNS)
    assert set(pairs) == {"trial", "id"}
    ids = {*pairs["id"].tolist()}
    assert len(ids) == N_PAIRS
    first, second = (pairs["id"][pairs["trial"] == trial] for trial in (1, 2))
    assert {*first.tolist()} == {*second.tolist()} == ids
    assert not np.array_equal(first, second)  # drawn by trial
    for domain in ("left", "right"):
        views, labels = (
            bridged.folder / shared(bridged.folder, f"results/{name}")
            for name in (
                f"features/words/{domain}.tfidf.npz",
                f"labels/words/{domain}.parquet",
            )
        )
        assert ids < {*read_features(views).ids.tolist()}
        assert ids.isdisjoint(read_rows(labels, LABEL_COLUMNS)["id"].tolist())
    for split in (bridged.folder / "results/pairs/splits").rglob("*.parquet"):
        if split.parent.name != "pairs":
            assert ids.isdisjoint(read_rows(split, SPLIT_COLUMNS)["id"].tolist())
