"""The digits of scikit-learn as PNG files in four renderings, with a few pairs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy  # loads ndimage on first use

from cdspp.datasets.base import Dataset, Sample

SIDE = 64
PERIOD = 17  # every 17th image of a class has all renderings
# The difficulty of each rendering was set by hand to approach the accuracies of a
# prototype: first those of the baseline only, then those of CDSPP as well. Absolute
# accuracies on this data set are therefore no evidence for a method; it serves
# comparisons on equal splits.
LINE_HALF_WIDTH = 2.5
GRAIN = 2.0
TEXTURE = 0.08
NOISE = 0.1
CONTRAST = 0.5
TILT_DEGREES = 25
SHEAR = 0.3


class Digits(Dataset):
    """1797 handwritten digits in four domains of disjoint images.

    Within each class, image number i in scikit-learn's order goes to domain i mod 4:
    ``print`` (as is: bright on black), ``sketch`` (dark outlines on white), ``photo``
    (on a textured, noisy background) or ``tilted`` (rotated and sheared). Every 17th
    image of a class has all four renderings instead, as unlabelled pairs. Random
    properties of an image are seeded by its number.
    """

    identifier = "digits"
    kind = "images"
    domains = ("print", "sketch", "photo", "tilted")
    classes = tuple("0123456789")
    packages = ("numpy", "scikit-learn", "scipy")

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Write ``<domain>/<class>/<id>.png`` below `folder`."""
        import cdspp.core.light_sklearn  # noqa: F401

        # isort: split
        from PIL import Image
        from sklearn.datasets import load_digits

        digits = load_digits()
        smooth = {"order": 1, "mode": "nearest", "grid_mode": True}
        samples: dict[str, list[Sample]] = {name: [] for name in self.domains}
        counts: Counter[int] = Counter()
        images = zip(digits.images, digits.target, strict=True)
        for number, (pixels, target) in enumerate(images):
            count, paired = counts[target], counts[target] % PERIOD == PERIOD - 1
            counts[target] += 1
            label = "" if paired else str(target)
            domains = self.domains if paired else [self.domains[count % len(STYLES)]]
            for domain in domains:
                path = f"{domain}/{label or 'paired'}/{number:04d}.png"
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                # Smoothly enlarged to the whole image; 1 is ink.
                ink = scipy.ndimage.zoom(pixels / 16, SIDE // len(pixels), **smooth)
                grey = STYLES[domain](np.clip(ink, 0, 1), np.random.default_rng(number))
                image = Image.fromarray(np.rint(255 * grey).astype(np.uint8))
                image.save(folder / path)
                sample = Sample(f"{number:04d}", path, label, paired=paired)
                samples[domain].append(sample)
        return samples


def _sketch(ink: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    inside = ink > 0.5
    distance = scipy.ndimage.distance_transform_edt(inside)
    distance += scipy.ndimage.distance_transform_edt(~inside)
    return np.asarray(np.clip(distance - LINE_HALF_WIDTH, 0, 1))


def _photo(ink: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    blotches = scipy.ndimage.gaussian_filter(rng.standard_normal((SIDE, SIDE)), GRAIN)
    background = 0.3 + TEXTURE * blotches / blotches.std()
    grey = background + CONTRAST * ink
    grey += NOISE * rng.standard_normal((SIDE, SIDE))
    return np.asarray(np.clip(grey, 0, 1))


def _tilted(ink: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    angle = np.deg2rad(rng.uniform(-TILT_DEGREES, TILT_DEGREES))
    shear = rng.uniform(-SHEAR, SHEAR)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = turn @ np.array([[1.0, 0.0], [shear, 1.0]])
    centre = np.full(2, (SIDE - 1) / 2)
    offset = centre - matrix @ centre
    tilted = scipy.ndimage.affine_transform(ink, matrix, offset, order=1)
    return np.asarray(np.clip(tilted, 0, 1))


STYLES: Mapping[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "print": lambda ink, rng: ink,
    "sketch": _sketch,
    "photo": _photo,
    "tilted": _tilted,
}
