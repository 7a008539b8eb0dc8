"""Small files in exactly the forms in which features are published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

CLASSES = ["apple", "pear", "plum"]
CODES = np.array([0, 0, 1, 1, 1, 2])
LABELS = [CLASSES[code] for code in CODES]
N_ROWS, WIDTH = len(CODES), 5
COUNTS = np.arange(40, 40 + N_ROWS * WIDTH).reshape(N_ROWS, WIDTH)
REAL = (COUNTS - 55) / 8

Case = tuple[dict[str, Any], dict[str, Any], np.ndarray]
MAT_CASES: dict[str, Case] = {
    "Office-Caltech SURF": (
        {"X": "fts", "labels": "labels", "label_base": 1},
        {
            "fts": COUNTS.astype(np.uint8),
            "labels": (CODES + 1).astype(np.uint8)[:, None],
        },
        COUNTS,
    ),
    "Office-Caltech GoogLeNet": (
        {"X": "fts", "labels": "labels", "label_base": 1},
        {
            "fts": REAL.astype(np.float32),
            "labels": (CODES + 1).astype(np.int64)[None, :],
        },
        REAL,
    ),
    "Office-Caltech DeCAF6": (
        {"X": "feas", "labels": "labels", "label_base": 1, "orientation": "rows"},
        {"feas": REAL, "labels": (CODES + 1.0)[:, None]},
        REAL,
    ),
    "NUS tags": (
        {"X": "data", "labels": "label", "label_base": 1, "orientation": "columns"},
        {"data": REAL.T, "label": (CODES + 1).astype(np.uint8)[None, :]},
        REAL,
    ),
    "Office-Home VGG16": (
        {"X": "vgg16_features", "labels": "labels", "label_base": 0},
        {"vgg16_features": REAL.astype(np.float32), "labels": CODES[None, :]},
        REAL,
    ),
    "Office-Home ResNet50": (
        {"X": "resnet50_features", "labels": "labels", "label_base": 0},
        {
            "resnet50_features": REAL.astype(np.float32)[:, :, None, None],
            "labels": CODES[None, :],
        },
        REAL,
    ),
    "authors' text": (
        {"X": "feature_pca", "labels": "label", "label_base": 1},
        {"feature_pca": REAL, "label": (CODES + 1.0)[:, None]},
        REAL,
    ),
}


def write_mat(
    folder: Path, case: str, *, compressed: bool = True, **changes: Any
) -> tuple[Path, dict[str, Any], np.ndarray]:
    """Write a case of MAT_CASES; return file, storage and expected matrix.

    A change replaces the variable of this name, or removes it where it is None.
    """
    storage, variables, expected = MAT_CASES[case]
    variables = {k: v for k, v in (variables | changes).items() if v is not None}
    path = folder / "published.mat"
    savemat(path, variables, do_compression=compressed)
    return path, mat_storage(storage), expected


def mat_storage(storage: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a complete storage of format mat."""
    return (
        {"format": "mat", "file": "published.mat", "width": WIDTH} | storage | changes
    )


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
    """Write word weights as the 600 documents of Reuters have them."""
    path = folder / "reuters.mat"
    truth = (CODES + 1).astype(np.uint8)[:, None]
    savemat(path, {"EN_EN_sample": table, "truth": truth}, do_compression=True)
    storage = {"format": "triplets", "file": path.name, "X": "EN_EN_sample"}
    storage |= {"labels": "truth", "label_base": 1}
    return path, storage | {"width": WIDTH, "rows": N_ROWS}


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
    """Write documents as the multilingual Reuters collection has them."""
    path = folder / "Index_EN-EN"
    path.write_bytes(("\n".join(lines) + end).encode())
    return path, {"format": "words", "file": path.name, "width": WIDTH}


CSV_HEADER = ["0", "1", "2", "3", "4", "label", "domain"]


def write_csv(
    folder: Path, labels: list[Any] = LABELS, **changes: Any
) -> tuple[Path, dict[str, Any]]:
    """Write two domains, line by line in turn, as the features on figshare are.

    A change `header` or `line` replaces the header or the third line.
    """
    lines = [changes.get("header", CSV_HEADER)]
    for values, label in zip(REAL, labels, strict=True):
        lines.append([*values, label, "art"])
        lines.append([*-values, label, "RealWorld"])
    if "line" in changes:
        lines[2] = changes["line"]
    path = folder / "features.csv"
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    storage = {"format": "csv", "file": path.name, "domain": "realworld"}
    return path, storage | {"width": WIDTH, "label_base": 0}
