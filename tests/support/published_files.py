"""Small files in the exact formats of published features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.io import savemat

CLASSES = ["apple", "pear", "plum"]
CODES = np.array([0, 0, 1, 1, 1, 2])
LABELS = [CLASSES[code] for code in CODES]
N_ROWS, WIDTH = len(CODES), 5
COUNTS = np.arange(40, 40 + N_ROWS * WIDTH).reshape(N_ROWS, WIDTH)
REAL = (COUNTS - 55) / 8

REAL32, COLUMN = REAL.astype(np.float32), CODES[:, None] + 1


class MatCase(NamedTuple):
    """Rows and labels as MATLAB variables, the rows expected, and storage options."""

    variables: dict[str, np.ndarray]
    expected: np.ndarray = REAL
    spec: Mapping[str, Any] = {}


MAT_CASES: dict[str, MatCase] = {
    "Office-Caltech SURF": MatCase(
        {"fts": COUNTS.astype(np.uint8), "labels": COLUMN.astype(np.uint8)}, COUNTS
    ),
    "Office-Caltech GoogLeNet": MatCase({"fts": REAL32, "labels": COLUMN.T}),
    "Office-Caltech DeCAF6": MatCase(
        {"feas": REAL, "labels": COLUMN * 1.0}, spec={"orientation": "rows"}
    ),
    "NUS tags": MatCase(
        {"data": REAL.T, "label": COLUMN.T.astype(np.uint8)},
        spec={"orientation": "columns"},
    ),
    "Office-Home VGG16": MatCase(
        {"vgg16_features": REAL32, "labels": COLUMN.T - 1}, spec={"label_base": 0}
    ),
    "Office-Home ResNet50": MatCase(
        {"resnet50_features": REAL32[:, :, None, None], "labels": COLUMN.T - 1},
        spec={"label_base": 0},
    ),
    "authors' text": MatCase({"feature_pca": REAL, "label": COLUMN * 1.0}),
}


def write_mat(
    folder: Path, case: str, *, compressed: bool = True, **changes: Any
) -> tuple[Path, dict[str, Any]]:
    """Write a case of MAT_CASES; return file and storage.

    A change replaces the variable of this name, or removes it if it is None.
    """
    arrays, _, more = MAT_CASES[case]
    variables = {k: v for k, v in (arrays | changes).items() if v is not None}
    path = folder / "published.mat"
    savemat(path, variables, do_compression=compressed)
    X, labels = arrays
    spec = {"format": "mat", "file": path.name, "X": X, "labels": labels}
    return path, {**spec, "label_base": 1, "width": WIDTH, **more}


TRIPLETS = np.array(
    [[1, 1, -4.5], [1, 3, 1.25], [2, 5, 3], [4, 2, 0.5], [6, 1, 2], [6, 5, 7.5]]
)
TRIPLET_ROWS = [
    [-4.5, 0, 1.25, 0, 0],
    [0, 0, 0, 0, 3],
    [0, 0, 0, 0, 0],
    [0, 0.5, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [2, 0, 0, 0, 7.5],
]


def write_triplets(
    folder: Path, table: np.ndarray = TRIPLETS
) -> tuple[Path, dict[str, Any]]:
    """Write word weights in the format of the 600 documents of Reuters."""
    path = folder / "reuters.mat"
    truth = (CODES + 1).astype(np.uint8)[:, None]
    savemat(path, {"EN_EN_sample": table, "truth": truth}, do_compression=True)
    spec = {"format": "triplets", "file": path.name, "X": "EN_EN_sample"}
    spec |= {"labels": "truth", "label_base": 1}
    return path, spec | {"width": WIDTH, "rows": N_ROWS}


WORD_LINES = [
    "apple 1:-4.5 3:1.25",
    "apple 5:3 ",
    "pear",
    "pear 2:.5",
    "pear   ",
    "plum 1:2.0 5:7.5",
]


def write_words(
    folder: Path, lines: list[str] = WORD_LINES, *, end: str = "\n"
) -> tuple[Path, dict[str, Any]]:
    """Write documents in the format of the multilingual Reuters collection."""
    path = folder / "Index_EN-EN"
    path.write_bytes(("\n".join(lines) + end).encode())
    return path, {"format": "words", "file": path.name, "width": WIDTH}


def are_mixed(labels: Sequence[str]) -> bool:
    """Return whether adjacent labels differ nearly as often as in random order."""
    names = np.array(labels)
    shares = np.unique(names, return_counts=True)[1] / len(names)
    changes = np.count_nonzero(names[1:] != names[:-1]) / len(names)
    return bool(changes > 0.8 * (1 - np.sum(shares**2)))
