"""How far colours are from each other, as readers with and without red or green see."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Of linear RGB, by Machado, Oliveira and Fernandes (2009), at full severity.
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def nearest(one: str, other: str) -> float:
    """Return the smallest distance of two colours in CIELAB over all visions."""
    pairs = ((lab(one, vision), lab(other, vision)) for vision in VISIONS.values())
    return min(float(np.linalg.norm(a - b)) for a, b in pairs)


def lab(colour: str, vision: Array) -> Array:
    """Return a colour as somebody sees it, in CIELAB (D65)."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = _TO_XYZ @ np.clip(vision @ linear, 0, 1) / _TO_XYZ.sum(axis=1)
    dark = (24389 / 27 * xyz + 16) / 116
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), dark)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
