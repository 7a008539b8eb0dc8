"""Read image files of any mode the same way for every extractor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cdspp.core.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["read_image"]


def read_image(path: Path, mode: str) -> Image:
    """Read an image as ``RGB`` or ``L``, upright, transparent parts white.

    DataError names a file that is no image.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as stored:
            image = ImageOps.exif_transpose(stored)
            if image.mode.startswith("I"):  # 16 bits; Pillow would cut the values off
                values = np.clip(np.asarray(image, dtype=np.int64), 0, 65535)
                image = Image.fromarray((values // 257).astype(np.uint8))
            if image.has_transparency_data:
                image = image.convert("RGBA")
                white = Image.new("RGBA", image.size, "white")
                image = Image.alpha_composite(white, image).convert("RGB")
            return image.convert(mode)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        message = f"{path}: cannot be read as an image ({error})."
        raise DataError(f"{message} Replace or remove the file.") from error
