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
    """Return the smallest CIEDE2000 distance of two colours over all visions."""
    return min(ciede2000(lab(one, v), lab(other, v)) for v in VISIONS.values())


def lab(colour: str, vision: Array) -> Array:
    """Return a colour as somebody sees it, in CIELAB (D65)."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = _TO_XYZ @ np.clip(vision @ linear, 0, 1) / _TO_XYZ.sum(axis=1)
    dark = (24389 / 27 * xyz + 16) / 116
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), dark)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def ciede2000(one: Array, other: Array) -> float:
    """Return the distance of colours in CIELAB, as Sharma et al. (2005) write it."""
    pair = np.stack([one, other])
    chroma = np.hypot(pair[:, 1], pair[:, 2]).mean()
    pair[:, 1] *= 1.5 - 0.5 * _towards_blue(chroma)
    light, (first, second) = pair[:, 0], np.hypot(pair[:, 1], pair[:, 2])
    hues = np.degrees(np.arctan2(pair[:, 2], pair[:, 1])) % 360
    turn = (hues[1] - hues[0] + 180) % 360 - 180 if first * second else 0.0
    hue = hues[0] + turn / 2 if first * second else hues.sum()
    chroma = (first + second) / 2
    waves = zip((-0.17, 0.24, 0.32, -0.20), (1, 2, 3, 4), (-30, 0, 6, -63), strict=True)
    tone = 1 + sum(a * np.cos(np.radians(k * hue + shift)) for a, k, shift in waves)
    off = (light.mean() - 50) ** 2
    steps = (
        (light[1] - light[0]) / (1 + 0.015 * off / np.sqrt(20 + off)),
        (second - first) / (1 + 0.045 * chroma),
        2
        * np.sqrt(first * second)
        * np.sin(np.radians(turn / 2))
        / (1 + 0.015 * chroma * tone),
    )
    bend = 60 * np.exp(-((((hue % 360) - 275) / 25) ** 2))
    twist = -2 * _towards_blue(chroma) * np.sin(np.radians(bend)) * steps[1] * steps[2]
    return float(np.sqrt(np.square(steps).sum() + twist))


def _towards_blue(chroma: float) -> float:
    return float(np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
