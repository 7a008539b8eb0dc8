"""Histograms of SIFT visual words: counts of the nearest words of a codebook."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cdspp.core.errors import DataError
from cdspp.datasets.pixels import read_images
from cdspp.features.base import WordExtractor

if TYPE_CHECKING:
    from PIL.Image import Image

logger = logging.getLogger(__name__)

DESCRIPTOR_LENGTH = 128


@dataclass(frozen=True)
class VisualWords(WordExtractor):
    """Counts of SIFT visual words in grey images.

    Words are the centres of mini-batch k-means. Images without keypoints are zero.
    """

    identifier: ClassVar[str] = "visual-words"
    kind: ClassVar[str] = "images"
    modules: ClassVar[tuple[str, ...]] = ("numpy", "PIL", "cv2", "sklearn.cluster")

    n_words: int = 200  #: Size of the codebook.
    #: Domain from whose images the workflow learns the words.
    codebook_domain: str | None = None
    #: ``dense``: keypoints on a regular grid; ``detected``: where SIFT finds them.
    sampling: str = "dense"
    # Grid of ``dense``, in pixels.
    step: int = 6  #: Distance of the centres.
    size: int = 12  #: Diameter of a keypoint.
    margin: int = 8  #: Distance of the first and last centres from the border.
    #: Images whose longer side exceeds this are shrunk to it first.
    max_side: int | None = 256
    #: Approximate number of descriptors for the codebook: each image gives at most an
    #: equal share, drawn at random.
    max_descriptors: int = 100_000
    seed: int = 0  #: Seed of that draw and of the clustering.

    def __post_init__(self) -> None:
        """Check the options."""
        for option in ("n_words", "step", "size", "max_descriptors"):
            self.check_integer(option, 1)
        for option in ("margin", "seed"):
            self.check_integer(option, 0)
        self.check_integer("max_side", 1, optional=True)
        self.check_choice("sampling", ("dense", "detected"))
        if not isinstance(self.codebook_domain, str | None):
            raise self.refuse("codebook_domain", "the name of a domain")

    def width(self) -> int:
        """Return the number of features."""
        return self.n_words

    def seconds(self, n_rows: int, width: int) -> float:
        """Return the processor seconds for a domain, including its codebook."""
        return 0.4 * n_rows

    def fit_codebook(self, files: Sequence[Path]) -> np.ndarray:
        """Learn the words, (n_words, 128) float32, from the images of one domain."""
        from sklearn.cluster import MiniBatchKMeans

        rng = np.random.default_rng(self.seed)
        max_rows = -(-self.max_descriptors // max(len(files), 1))
        samples = [np.empty((0, DESCRIPTOR_LENGTH))]
        for rows in self._all_descriptors(files):
            if len(rows) > max_rows:
                rows = rows[np.sort(rng.choice(len(rows), max_rows, replace=False))]
            samples.append(rows)
        descriptors = np.concatenate(samples)
        if len(descriptors) < self.n_words:
            fault = f"{len(files)} images give {len(descriptors)} descriptors, too few"
            remedy = "Lower n_words or step, or use another codebook_domain."
            raise DataError(f"{fault} for n_words {self.n_words}. {remedy}")
        clusters = MiniBatchKMeans(
            self.n_words, batch_size=4096, n_init=3, random_state=self.seed
        )
        return np.asarray(clusters.fit(descriptors).cluster_centers_, dtype=np.float32)

    def extract(self, files: Sequence[Path], codebook: np.ndarray) -> np.ndarray:
        """Return the counts of the words in `files`, one row per image, float32."""
        if codebook.shape != (self.n_words, DESCRIPTOR_LENGTH):
            expected = f"({self.n_words}, {DESCRIPTOR_LENGTH})"
            fault = f"the codebook has shape {codebook.shape}, expected {expected}"
            raise DataError(f"{fault}. Rebuild it with the same n_words.")
        words = codebook.astype(np.float64)
        half_norms = (words**2).sum(axis=1) / 2
        counts = np.zeros((len(files), self.n_words), dtype=np.float32)
        for row, descriptors in enumerate(self._all_descriptors(files)):
            nearest = np.argmax(descriptors @ words.T - half_norms, axis=1)
            counts[row] = np.bincount(nearest, minlength=self.n_words)
        if n_empty := int((counts.sum(axis=1) == 0).sum()):
            empty = "%d of %d images have no keypoints: their rows are zero"
            logger.warning(empty, n_empty, len(files))
        return counts

    def _all_descriptors(self, files: Sequence[Path]) -> Iterator[np.ndarray]:
        import cv2

        sift = cv2.SIFT.create()
        for image in self.prepared(files):
            yield self._descriptors(sift, np.asarray(image))

    def prepared(self, files: Sequence[Path]) -> Iterator[Image]:
        """Yield the images of a domain as keypoints are described in them."""
        for image in read_images(files, "L"):
            if self.max_side is not None:
                image.thumbnail((self.max_side, self.max_side))
            yield image

    def _descriptors(self, sift: Any, pixels: np.ndarray) -> np.ndarray:
        if self.sampling == "dense":
            keypoints = self._grid(*pixels.shape)
            descriptors = sift.compute(pixels, keypoints)[1] if keypoints else None
        else:
            descriptors = sift.detectAndCompute(pixels, None)[1]
        if descriptors is None:
            return np.empty((0, DESCRIPTOR_LENGTH))
        return np.asarray(descriptors, dtype=np.float64)

    def _grid(self, height: int, width: int) -> list[Any]:
        import cv2

        first, size = self.margin, float(self.size)
        return [
            cv2.KeyPoint(float(x), float(y), size, 0.0)
            for y in range(first, height - first + 1, self.step)
            for x in range(first, width - first + 1, self.step)
        ]
