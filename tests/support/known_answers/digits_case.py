"""The digits case: a small problem that anyone can rebuild from scikit-learn alone.

Scans of handwritten digits, divided by 16. The source view are the 64 pixels; the
target view are histograms of gradient orientations in nine overlapping cells. The first
898 scans are the source half, the others the target half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SOURCE_HALF = 898
N_SOURCE, N_LABELLED, N_UNLABELLED = 20, 3, 30
N_OCTANTS = 8
CORNERS = (0, 2, 4)
CELL = 4


@dataclass(frozen=True, eq=False)
class DigitsCase:
    """200 source rows, 30 labelled and 300 unlabelled target rows, with the truth."""

    X_source: np.ndarray
    y_source: np.ndarray
    X_labelled: np.ndarray
    y_labelled: np.ndarray
    X_unlabelled: np.ndarray
    y_unlabelled: np.ndarray

    def target(self) -> tuple[np.ndarray, np.ndarray]:
        """Return target rows and labels, -1 where unlabelled."""
        unlabelled = np.full(len(self.y_unlabelled), -1)
        return (
            np.vstack([self.X_labelled, self.X_unlabelled]),
            np.concatenate([self.y_labelled, unlabelled]),
        )


def _octants(gx: np.ndarray, gy: np.ndarray) -> np.ndarray:
    """Return floor(angle / 45 degrees) by comparisons, exact on axes and diagonals."""
    ax, ay = np.abs(gx), np.abs(gy)
    from_x_axis, from_y_axis = (ay >= ax).astype(int), (ax >= ay).astype(int)
    quadrants = [
        (gx > 0) & (gy >= 0),
        (gx <= 0) & (gy > 0),
        (gx < 0) & (gy <= 0),
        (gx >= 0) & (gy < 0),
    ]
    choices = [from_x_axis, 2 + from_y_axis, 4 + from_x_axis, 6 + from_y_axis]
    return np.select(quadrants, choices, default=0)


def _orientation_histograms(images: np.ndarray) -> np.ndarray:
    gy, gx = np.gradient(images, axis=1), np.gradient(images, axis=2)
    magnitude, octant = np.hypot(gx, gy), _octants(gx, gy)
    per_octant = np.stack(
        [np.where(octant == k, magnitude, 0.0) for k in range(N_OCTANTS)], axis=-1
    )
    cells = [
        per_octant[:, row : row + CELL, column : column + CELL].sum(axis=(1, 2))
        for row in CORNERS
        for column in CORNERS
    ]
    return np.concatenate(cells, axis=1)


def digits_case() -> DigitsCase:
    """Rebuild the case."""
    from sklearn.datasets import load_digits

    digits: Any = load_digits()
    images, labels = digits.images / 16.0, digits.target
    index = np.arange(len(labels))

    def rows(half: np.ndarray, start: int, stop: int) -> np.ndarray:
        return np.concatenate(
            [index[half & (labels == c)][start:stop] for c in range(10)]
        )

    source = rows(index < SOURCE_HALF, 0, N_SOURCE)
    labelled = rows(index >= SOURCE_HALF, 0, N_LABELLED)
    unlabelled = rows(index >= SOURCE_HALF, N_LABELLED, N_LABELLED + N_UNLABELLED)
    pixels, histograms = (
        images.reshape(len(images), -1),
        _orientation_histograms(images),
    )
    return DigitsCase(
        pixels[source],
        labels[source],
        histograms[labelled],
        labels[labelled],
        histograms[unlabelled],
        labels[unlabelled],
    )
