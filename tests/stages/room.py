"""Two domains in a folder, and the fit stage on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.records import Specification
from cdspp.stages.fit import Fit, JobInputs, fit_block
from cdspp.stages.formats import (
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    Features,
    read_rows,
    write_features,
    write_rows,
)
from cdspp.stages.score import write_scores
from cdspp.stages.splits import write_split
from cdspp.stages.subspace import write_subspace
from cdspp.stages.trials import TaskFiles

N_PER_CLASS = 12
ROLES = {"source": "left", "target": "right"}
WIDTHS = {"left": 7, "right": 5}
SPLITS: dict[str, Any] = {"protocol": "seeded", "per_class": 3, "unlabelled": None}
SPLITS |= {"classes": ["a", "b", "c"], "block": "1-2", "seed": 0}
METHOD: dict[str, Any] = {"method": "cdspp", "options": {}}
METHOD |= {"overlap": "exclude", "numeric_threads": 1}
STATES = {
    "main": {"name": "real"},
    "none": {"name": "none"},
    "swapped-classes": {"name": "swapped-classes"},
    "class-noise": {"name": "class-noise", "spread": 2.0},
}
OF_JOB = ("benchmark", "task", "files", "gpus")  # else of each fit


class Room:
    """Features, labels and splits of two domains in a folder."""

    def __init__(self, folder: Path, names: Sequence[str] = ("a", "b", "c")) -> None:
        self.folder = folder
        self.classes = np.repeat(names, N_PER_CLASS)
        for seed, domain in enumerate(WIDTHS):
            ids = self.write_features(domain, seed)
            self.write_labels(domain, ids, self.classes)
            for role in ("source", "target"):
                write_split(
                    labels=self.labels(domain),
                    output=self.split(role, domain),
                    dataset="toy",
                    domain=domain,
                    role=role,
                    **{**SPLITS, "classes": list(names)},
                )

    def features(self, domain: str) -> Path:
        return self.folder / f"{domain}.alexnet-pca-1f.npz"

    def write_features(self, domain: str, seed: int) -> NDArray[np.str_]:
        width = WIDTHS[domain]
        means = 2 * np.eye(3, width)[np.repeat([0, 1, 2], N_PER_CLASS)]
        X = np.random.default_rng(seed).random((len(means), width)) + means
        ids = np.array([f"{domain}{i:02d}" for i in range(len(X))])
        write_features(self.features(domain), Features(X, ids, {}))
        return ids

    def labels(self, domain: str) -> Path:
        return self.folder / "labels" / f"{domain}.parquet"

    def write_labels(
        self, domain: str, ids: Sequence[str], labels: Sequence[str]
    ) -> None:
        rows = {"id": ids, "label": labels, "position": range(len(ids))}
        write_rows(self.labels(domain), LABEL_COLUMNS, rows)

    def split(self, role: str, domain: str) -> Path:
        return self.folder / role / f"{domain}.parquet"

    def files(self, task: str) -> TaskFiles:
        source, target = task.split("_")
        return {
            "source_features": self.features(source),
            "target_features": self.features(target),
            "source_split": self.split("source", source),
            "target_split": self.split("target", target),
        }

    def fit(self, task: str = "left_right", **changes: Any) -> Path:
        state = changes.pop("source", {"name": "real"})
        self.fit_states({"main": state}, task, **changes)
        return self.output("main", task, changes.get("method", "cdspp"))

    def fit_states(
        self,
        states: Mapping[str, Mapping[str, Any]],
        task: str = "left_right",
        **changes: Any,
    ) -> None:
        """Make the fits of one job, which differ in the state of the source."""
        own = {**METHOD, "seed": 0, "benchmark": "toy", "task": task}
        own |= {"files": self.files(task), **changes}
        shared = {name: own.pop(name) for name in OF_JOB if name in own}
        code = own.pop("code", "1")
        outputs = [self.output(name, task, own["method"]) for name in states]
        fits = [
            Fit.specified(path, Specification({}, {**own, "source": state}, code=code))
            for path, state in zip(outputs, states.values(), strict=True)
        ]
        fit_block(JobInputs(**shared), fits)

    def output(
        self, setting: str, task: str = "left_right", method: str = "cdspp"
    ) -> Path:
        return self.folder / "fits/toy" / setting / task / method / "1-2.parquet"

    def project(self) -> dict[str, np.ndarray]:
        """Return the subspace that is written of the task."""
        output = self.folder / "subspace.npz"
        write_subspace(files=self.files("left_right"), output=output, **METHOD)
        with np.load(output) as content:
            return dict(content)

    def score(self, *fits: Path) -> dict[str, np.ndarray]:
        output = self.folder / "scores.parquet"
        labels = [self.labels(domain) for domain in ("left", "right")]
        write_scores(
            fits=fits, labels=labels, output=output, rows=output.with_suffix(".npz")
        )
        return read_rows(output, SCORE_COLUMNS)


def written(path: Path) -> int | None:
    """Return what tells a file from one that takes its place, with equal bytes even.

    Its time does not: a fit that is kept is touched.
    """
    return path.stat().st_ino if path.exists() else None


def fitted(room: Room, states: Mapping[str, Any], **changes: Any) -> set[str]:
    """Return the settings that a job fits anew: those whose records are written."""
    records = {name: room.output(name).with_suffix(".json") for name in STATES}
    before = {name: written(path) for name, path in records.items()}
    room.fit_states(states, **changes)
    return {name for name in states if written(records[name]) != before[name]}
