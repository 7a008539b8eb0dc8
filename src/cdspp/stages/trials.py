"""The data of a fit: views, splits and pairs of a task, trial by trial."""

import math
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.files import content_digest
from cdspp.core.linalg import dense
from cdspp.core.names import LABELLED, PathLike
from cdspp.methods.base import UNLABELLED, SourceDomain
from cdspp.methods.bridge import PAIRS, SAME_NAMES, SHARED
from cdspp.stages import formats
from cdspp.stages.formats import Features


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial of a task, as visible to a fit.

    Labels `y` of the target rows are -1 if unlabelled; `test_ids` are the ids of the
    unlabelled rows, in their order.
    """

    number: int
    X: NDArray[Any]
    y: NDArray[Any]
    test_ids: NDArray[Any]
    sources: tuple[SourceDomain, ...]
    ids_of_sources: tuple[NDArray[Any], ...]
    labelled_ids: NDArray[Any]
    paired_ids: NDArray[Any] = field(default_factory=partial(np.empty, 0, object))
    prior: NDArray[Any] | None = None  # shares of the classes, sorted by name

    @property
    def source(self) -> SourceDomain:
        """The source, or the first one."""
        return self.sources[0]

    @property
    def source_ids(self) -> NDArray[Any]:
        """Ids of the rows of all sources."""
        return np.concatenate(self.ids_of_sources)

    @property
    def source_labels(self) -> NDArray[Any]:
        """Labels of the rows of all sources."""
        return np.concatenate([np.asarray(each.y) for each in self.sources])

    @property
    def labelled(self) -> SourceDomain:
        """The labelled target rows."""
        is_labelled = np.array([label != UNLABELLED for label in self.y])
        return SourceDomain(self.X[is_labelled], self.y[is_labelled])

    @property
    def classes(self) -> set[Any]:
        """Labels of source and target rows."""
        return {*self.source_labels, *self.y} - {UNLABELLED}

    def digest(self) -> str:
        """Return a digest of the ids, labels and shares that a fit reads, in order."""
        ids = self.source_ids, self.labelled_ids, self.test_ids, self.paired_ids
        labels = self.source_labels, np.asarray(self.labelled.y)
        parts = [*ids, *labels, () if self.prior is None else self.prior]
        return content_digest([[str(value) for value in part] for part in parts])


# Input files of a fit on a task, by name: `source_features`, `target_features`,
# `source_split` and `target_split`, without test labels; for a second source
# `source_features_2` and `source_split_2`. The only exception is `prior`
# (`cdspp.stages.splits.write_test_shares`). `predictions` are those of an external
# program, `pairs` the ids of paired rows.
TaskFiles = Mapping[str, PathLike]


def read_trials(
    files: TaskFiles,
    *,
    numbers: Container[int] | None = None,
    overlap: str = "exclude",
    bridge: Mapping[str, Any] = {},
    max_dense: float = math.inf,
) -> Iterator[Trial]:
    """Yield the trials of a batch, or those with some `numbers`.

    If `overlap` is "exclude", unlabelled target samples that are also labelled source
    samples of the same trial, by id, are left out. Sparse rows with more than
    `max_dense` values stay sparse. `bridge`, to the first source, may have
    `shared_columns`, "same-names" or pairs of names, and `paired_rows`, a number.
    DataError: a file is damaged, features and splits have different samples, columns
    have no names, or there are too few paired rows.
    """
    domains = [_read_domain(files, name, max_dense) for name in source_features(files)]
    source = domains[0][0]
    target, split = _read_domain(files, "target_features", max_dense)
    shared = _shared_columns(files, source, target, bridge.get(SHARED))
    pairs = _pair_reader(files, source, target, bridge.get(PAIRS, 0))
    prior = files.get("prior")
    shares = formats.read_rows(prior, formats.SHARE_COLUMNS) if prior else {}
    for number in _numbers(split, numbers):
        sides = [(each.X, _of_trial(of_source, number)) for each, of_source in domains]
        ids = tuple(left["id"] for _, left in sides)
        target_rows = _of_trial(split, number)
        is_labelled = target_rows["role"] == LABELLED
        if overlap == "exclude":
            sources = np.concatenate(ids).astype(str)
            kept = is_labelled | ~np.isin(target_rows["id"].astype(str), sources)
            target_rows = {name: values[kept] for name, values in target_rows.items()}
            is_labelled = is_labelled[kept]
        paired_ids, paired = pairs(number, *ids, target_rows["id"])
        bridge_parts: dict[str, Any] = {SHARED: shared, PAIRS: paired}
        parts = [(X[left["row"]], left["label"]) for X, left in sides]
        yield Trial(
            number=number,
            X=target.X[target_rows["row"]],
            y=np.where(is_labelled, target_rows["label"], UNLABELLED),
            test_ids=target_rows["id"][~is_labelled],
            sources=tuple(SourceDomain(*part, **bridge_parts) for part in parts),
            ids_of_sources=ids,
            labelled_ids=target_rows["id"][is_labelled],
            paired_ids=paired_ids,
            prior=_of_trial(shares, number)["share"] if shares else None,
        )


def _numbers(split: Mapping[str, Any], wanted: Container[int] | None) -> list[int]:
    numbers = np.unique(split["trial"]).tolist()
    return [n for n in numbers if wanted is None or n in wanted]


def source_features(files: TaskFiles) -> list[str]:
    """Return the names of the features of sources, in their order."""
    names = (name for name in files if name.startswith("source_features"))
    return sorted(names, key=lambda name: (len(name), name))


def _read_domain(
    files: TaskFiles, name: str, max_dense: float
) -> tuple[Features, dict[str, NDArray[Any]]]:
    features = formats.read_features(files[name])
    split_file = files[name.replace("features", "split")]
    split = formats.read_rows(split_file, formats.SPLIT_COLUMNS)
    rows, ids = split["row"], features.ids
    if rows.max(initial=-1) >= len(ids) or np.any(ids[rows] != split["id"].astype(str)):
        fault = "its samples are not those that the splits were drawn from"
        remedy = "Delete the features of this domain, and run the study again."
        raise DataError(f"{files[name]}: {fault}. {remedy}")
    if math.prod(features.X.shape) <= max_dense:
        features = replace(features, X=dense(features.X))
    return features, split


def _of_trial(split: Mapping[str, NDArray[Any]], trial: int) -> dict[str, NDArray[Any]]:
    in_trial = split["trial"] == trial
    return {name: values[in_trial] for name, values in split.items()}


def _shared_columns(
    files: TaskFiles, source: Features, target: Features, pairs: Any
) -> list[tuple[int, int]] | None:
    if not pairs:
        return None
    paths = files["source_features"], files["target_features"]
    sides = []
    for path, features in zip(paths, (source, target), strict=True):
        if features.columns is None:
            fault = "its columns have no names, so none can be shared"
            view = "a view of texts or tables, without pca (bridge: {view: ...})"
            raise DataError(f"{path}: {fault}. Name {view}.")
        sides.append({name: k for k, name in enumerate(features.columns.tolist())})
    source_places, target_places = sides
    if pairs == SAME_NAMES:
        pairs = [(name, name) for name in source_places if name in target_places]
    named = (each for pair in pairs for each in zip(pair, sides, strict=True))
    lost = [f"there is no column {name!r}" for name, side in named if name not in side]
    if lost or not pairs:
        where = ", ".join(map(str, paths))
        reason = (lost or ["there is no named column"])[0]
        raise DataError(f"{where}: {reason} to share. Correct shared_columns.")
    return [(source_places[name], target_places[other]) for name, other in pairs]


def _pair_reader(
    files: TaskFiles, source: Features, target: Features, number: int
) -> Callable[..., tuple[NDArray[Any], tuple[Any, Any] | None]]:
    if not number:
        return lambda *_: (np.empty(0, object), None)
    pairs = formats.read_rows(files["pairs"], formats.PAIR_COLUMNS)
    sides = [
        (features.X, {name: row for row, name in enumerate(features.ids.tolist())})
        for features in (source, target)
    ]

    def read(trial: int, *taken: NDArray[Any]) -> tuple[NDArray[Any], tuple[Any, Any]]:
        ids_of_trial = pairs["id"][pairs["trial"] == trial][:number]
        ids = ids_of_trial.tolist()
        are_known = all(name in rows for name in ids for _, rows in sides)
        are_separate = all({*ids}.isdisjoint(names) for names in taken)
        if len(ids) < number or not are_known or not are_separate:
            expected = f"{number} paired rows in both views and in no split"
            fault = f"trial {trial}: expected {expected}, got {len(ids)}"
            remedy = "Delete it and run the study again, or lower paired_rows."
            raise DataError(f"{files['pairs']}, {fault}. {remedy}")
        X_source, X_target = (X[[rows[name] for name in ids]] for X, rows in sides)
        return ids_of_trial, (X_source, X_target)

    return read
