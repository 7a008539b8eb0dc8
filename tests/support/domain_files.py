"""Labels, features and splits of domains whose every sample is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from support.report_data import write_labels

from cdspp.stages.artifacts import SPLIT_COLUMNS, Features, write_features, write_rows

CLASSES = ("cup", "pen")


def write_domain(folder: Path, domain: str, view: str, each: int, width: int) -> None:
    """Write labels (`each` samples a class) and one view of a domain."""
    write_labels(folder / f"{domain}.parquet", domain, CLASSES, each)
    ids = np.array([f"{domain}-{c}-{i}" for c in CLASSES for i in range(each)])
    X = np.zeros((ids.size, width))
    write_features(folder / f"{domain}.{view}.npz", Features(X, ids[::-1], {}))


def write_block(
    folder: Path, role: str, domain: str, block: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Write rows of trial, id, role and label as a file of splits."""
    table = pd.DataFrame(rows, columns=["trial", "id", "role", "label"])
    path = folder / "splits" / role / domain / f"{block}.parquet"
    write_rows(path, SPLIT_COLUMNS, table.assign(row=range(len(rows))))
