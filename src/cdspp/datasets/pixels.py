"""Pixels of image files: whether they can be read, and their values as 8 bits.

Values of more than 8 bits have no range of their own: those of all images of a domain
share one. Whole numbers that are not negative extend from 0 to the smallest 2^k - 1
with k >= 8 that none exceeds; others from the lowest to the highest.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.wording import counted, shortened

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["ImageHeader", "ValueRange", "check_images", "read_header", "read_images"]

log = logging.getLogger(__name__)

SHRINK = 8  # largest reduction when decoding JPEG files, for speed
WHOLE, FLOAT, COLOUR = "whole numbers", "floating point", "16-bit colour"
PHOTOMETRIC, SAMPLE_FORMAT, SIGNED = 262, 339, 2  # tags of TIFF, and a value
SAMPLED = 1000  # values of an image, and images of a domain, to count levels
FEWEST_LEVELS = 16
SAVE = "Save them as 8-bit images, with the contrast that an extractor should see."


class ImageHeader(NamedTuple):
    """Format, mode and frames of an image file; `deep` names values of over 8 bits."""

    format: str
    mode: str
    frames: int
    deep: str


class ValueRange(NamedTuple):
    """The values of a domain that become 0 and 255."""

    low: float
    high: float
    whole: bool

    def to_bytes(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Return values as 8 bits."""
        scaled = (values - self.low) * 255 / ((self.high - self.low) or 1)
        return (np.floor(scaled) if self.whole else np.rint(scaled)).astype(np.uint8)


def read_images(files: Sequence[Path], mode: str) -> Iterator[Image]:
    """Yield the images of a domain as ``RGB`` or ``L``, upright, transparency in white.

    DataError: an image cannot be read, or the values have no common range.
    """
    from PIL import Image, ImageOps

    values_range = value_range(files)
    if values_range is not None:
        low, high, _ = values_range
        log.info("%s: values %g to %g become 0 to 255", _place(files), low, high)
    for path in files:
        with _opened(path) as stored:
            image = ImageOps.exif_transpose(stored)
            if values_range is not None and _deep(stored) in (WHOLE, FLOAT):
                grey = values_range.to_bytes(_values(stored, image))
                is_inverted = _tag(stored, PHOTOMETRIC) == 0
                image = Image.fromarray(255 - grey if is_inverted else grey)
            if image.has_transparency_data:
                image = image.convert("RGBA")
                white = Image.new("RGBA", image.size, "white")
                image = Image.alpha_composite(white, image).convert("RGB")
            image = image.convert(mode)
        yield image


def value_range(files: Sequence[Path]) -> ValueRange | None:
    """Return the range of the images with more than 8 bits, None if there is none.

    DataError: these are of several kinds, hold a value that is not finite, or leave few
    of the 256 levels.
    """
    first: dict[str, Path] = {}
    ends, samples = list[float](), list[NDArray[np.float64]]()
    not_finite: list[str] = []
    for path in files:
        with _opened(path) as stored:
            if not (kind := _deep(stored)):
                continue
            first.setdefault(kind, path)
            values = _values(stored, stored)
        if not np.isfinite(values).all():
            not_finite.append(str(path))
            continue
        ends += [float(values.min()), float(values.max())]
        if len(samples) < SAMPLED:
            samples.append(values.ravel()[:: 1 + values.size // SAMPLED])
    if not_finite:
        fault = f"{counted(len(not_finite), 'image')} with pixels that are not numbers"
        raise DataError(f"{fault}: {shortened(not_finite, 5)}. Give them a value.")
    if not first:
        return None
    if len(first) > 1:
        kinds = "; ".join(f"{kind} ({path})" for kind, path in first.items())
        fault = "images with more than 8 bits per value are of several kinds, without a"
        raise DataError(f"{_place(files)}: {fault} common range: {kinds}. {SAVE}")
    (kind,), pooled = first, np.unique(np.concatenate(samples))
    if kind == COLOUR:  # of which Pillow reads the upper bytes
        if max(ends) < 128:
            text = f"values of 16-bit colours use only {1 + max(ends):g} of 256 levels"
            raise DataError(f"{_place(files)}: {text}. {SAVE}")
        return None
    return _checked(_range_of(ends, whole=kind == WHOLE), pooled, files)


def _range_of(ends: Sequence[float], *, whole: bool) -> ValueRange:
    low, high = min(ends), max(ends)
    if whole and low >= 0:
        low, high = 0.0, float(2 ** max(8, int(high).bit_length()) - 1)
    return ValueRange(low, high, whole)


def _checked(
    found: ValueRange, sample: NDArray[np.float64], files: Sequence[Path]
) -> ValueRange:
    """Return a range; DataError if a sample of its values falls into few levels."""
    levels = len(np.unique(found.to_bytes(sample)))
    if levels < FEWEST_LEVELS and len(sample) > 2 * levels:
        text = f"values {found.low:g} to {found.high:g} are to become 0 to 255, which"
        text += f" leaves {counted(levels, 'level')} for nearly all pixels"
        remedy = f"Replace values that mark missing pixels. {SAVE}"
        raise DataError(f"{_place(files)}: {text}. {remedy}")
    return found


def _deep(image: Image) -> str:
    """Return the kind of values with more than 8 bits; empty for others."""
    if image.mode == "F":
        return FLOAT
    if image.mode.startswith("I"):
        return WHOLE
    tiles = getattr(image, "tile", None)  # whose last part has the type of the values
    return COLOUR if tiles and ";16" in str(tiles[0][3]) else ""


def _values(stored: Image, image: Image) -> NDArray[np.float64]:
    """Return the values of an image, which may be a turned copy of the stored one."""
    values = np.asarray(image)
    unsigned = stored.format == "TIFF" and _tag(stored, SAMPLE_FORMAT) != SIGNED
    if image.mode == "I" and unsigned:  # Pillow takes 32 bits for signed numbers
        values = values.view(np.uint32)
    if image.mode in ("LA", "RGBA"):  # without transparency
        values = values[..., :-1]
    return values.astype(np.float64)


def _tag(image: Image, number: int) -> int | None:
    value = getattr(image, "tag_v2", {}).get(number)
    return value[0] if isinstance(value, tuple) else value


def _place(files: Sequence[Path]) -> str:
    return os.path.commonpath([path.parent for path in files])


@contextmanager
def _opened(path: Path) -> Iterator[Image]:
    from PIL import Image

    try:
        with Image.open(path) as image:
            yield image
    except DataError:
        raise
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        message = f"{path}: cannot be read as an image ({error})."
        raise DataError(f"{message} Replace or remove the file.") from error


def read_header(path: Path) -> ImageHeader | None:
    """Return what the header of an image says; None if it cannot be read."""
    try:
        with _opened(path) as image:
            frames, kind = getattr(image, "n_frames", 1), image.format or ""
            return ImageHeader(kind, image.mode, frames, _deep(image))
    except DataError:
        return None


def header_notes(place: Path, headers: Mapping[str, Sequence[Any] | None]) -> list[str]:
    """Return notes on the images of a domain, by name, that 8 bits do not hold."""
    known = {name: ImageHeader(*header) for name, header in headers.items() if header}
    notes = []
    if several := [f"{n} ({h.frames})" for n, h in known.items() if h.frames > 1]:
        text = f"{len(several)} of {len(headers)} images have several frames, of which"
        notes.append(f"{place}: {text} only the first is read: {shortened(several, 5)}")
    kinds = Counter(header.deep for header in known.values() if header.deep)
    if number := kinds.total():
        text = f"{number} of {len(headers)} images have over 8 bits per value"
        kind = f"({', '.join(kinds)}), which share one range"
        notes.append(f"{place}: {text} {kind}.")
    return notes


def check_images(domains: Mapping[str, Sequence[Path]]) -> None:
    """Read all images once, before any fit; DataError names damaged ones.

    It also refuses a domain whose values have no common range.
    """
    files = [path for paths in domains.values() for path in paths]
    faults = [str(path) for path in files if not _is_readable(path)]
    if faults:
        message = f"{len(faults)} of {len(files)} images cannot be read"
        raise DataError(f"{message}: {shortened(faults, 20)}. Replace or remove them.")
    for paths in domains.values():
        value_range(paths)


def _is_readable(path: Path) -> bool:
    try:
        with _opened(path) as image:
            if image.format == "PNG":
                image.verify()  # checksums are faster than decoding
            else:
                # A truncated image may have an intact header.
                width, height = (max(1, side // SHRINK) for side in image.size)
                image.draft("L", (width, height))
                image.load()
    except DataError:
        return False
    return True
