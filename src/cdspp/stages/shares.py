"""Shares of the classes among the test samples: the one way past the usual rule.

The published numbers of SHFA rest on them, so a study may hand them to a method as its
prior; the row of that method then says so, and stays out of every comparison.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from cdspp.core.names import UNLABELLED_ROLE
from cdspp.stages.artifacts import (
    SHARE_COLUMNS,
    SPLIT_COLUMNS,
    labels_by_id,
    read_rows,
    write_rows,
)

__all__ = ["write_test_shares"]

PathLike = str | os.PathLike[str]


def write_test_shares(*, labels: PathLike, split: PathLike, output: PathLike) -> None:
    """Write what share of the test samples each class has, by trial and class.

    `labels` are those of the target domain, `split` is its split for a block.
    """
    truth = labels_by_id(labels)
    classes = np.unique(list(truth.values()))
    drawn = read_rows(split, SPLIT_COLUMNS)
    rows: dict[str, list[Any]] = {name: [] for name in SHARE_COLUMNS}
    for trial in np.unique(drawn["trial"]):
        tested = (drawn["trial"] == trial) & (drawn["role"] == UNLABELLED_ROLE)
        found = np.array([truth[name] for name in drawn["id"][tested]])
        rows["trial"] += [int(trial)] * len(classes)
        rows["label"] += classes.tolist()
        rows["share"] += [float(np.mean(found == label)) for label in classes]
    write_rows(output, SHARE_COLUMNS, rows)
