"""Values of images: one range for a domain, and never a black picture in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cdspp.core.errors import DataError
from cdspp.datasets import FolderDataset
from cdspp.datasets.pixels import read_images

RAMP = np.linspace(0, 1, 4096).reshape(64, 64)
SAVED = "Save them as 8-bit"


def saved(values: np.ndarray, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(values).save(path)
    return path


def greys(*files: Path) -> list[np.ndarray]:
    return [np.asarray(image) for image in read_images(files, "L")]


@pytest.mark.parametrize(
    "values",
    [
        RAMP.astype(np.float32),
        (4095 * RAMP).astype(np.float32),
        (RAMP - 0.5).astype(np.float32),
        (4095 * RAMP).astype(np.uint16),
        (65535 * RAMP).astype(np.uint16),
        (255 * RAMP).astype(np.int32),
        (4000 * RAMP - 1000).astype(np.int32),
    ],
)
def test_values_of_any_range_keep_their_levels(
    values: np.ndarray, tmp_path: Path
) -> None:
    [grey] = greys(saved(values, tmp_path / "a.tif"))
    assert (grey.min(), grey.max(), len(np.unique(grey))) == (0, 255, 256)
    np.testing.assert_allclose(grey, 255 * RAMP, atol=1.1)


def test_a_domain_has_one_range(tmp_path: Path) -> None:
    bright = saved((4095 * RAMP).astype(np.uint16), tmp_path / "bright.tif")
    dark = saved((1000 * RAMP).astype(np.uint16), tmp_path / "dark.png")
    eight = saved((255 * RAMP).astype(np.uint8), tmp_path / "eight.png")
    maxima = [int(grey.max()) for grey in greys(bright, dark, eight)]
    assert maxima == [255, 62, 255]
    assert greys(dark)[0].max() == 249  # of 1023, alone


def test_integers_of_eight_bits_are_read_as_such(tmp_path: Path) -> None:
    mask = (np.arange(64 * 64).reshape(64, 64) % 5).astype(np.int32)
    [grey] = greys(saved(mask, tmp_path / "mask.tif"))
    np.testing.assert_array_equal(grey, mask)


def test_a_negative_of_16_bits_is_turned(tmp_path: Path) -> None:
    image = Image.fromarray((65535 * RAMP).astype(np.uint16))
    image.save(tmp_path / "film.tif", tiffinfo={262: 0})
    [grey] = greys(tmp_path / "film.tif")
    assert grey[0, 0] == 255
    assert grey[-1, -1] == 0


def with_missing(path: Path) -> list[Path]:
    return [saved(np.where(RAMP < 0.1, -9999, RAMP).astype(np.float32), path)]


def with_nan(path: Path) -> list[Path]:
    return [saved(np.where(RAMP < 0.1, np.nan, RAMP).astype(np.float32), path)]


def of_two_kinds(path: Path) -> list[Path]:
    whole = saved((4095 * RAMP).astype(np.uint16), path.with_suffix(".png"))
    return [whole, saved(RAMP.astype(np.float32), path)]


def of_colours(path: Path) -> list[Path]:
    cv2 = pytest.importorskip("cv2")
    grey = (4095 * RAMP).astype(np.uint16)[..., None]
    for channels, name in ((3, "rgb.png"), (4, "rgba.png")):
        colours = np.repeat(grey, channels, axis=2)
        if channels == 4:
            colours[..., 3] = 65535
        cv2.imwrite(str(path.with_name(name)), colours)
    return [path.with_name("rgba.png"), path.with_name("rgb.png")]


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (with_missing, rf"values -9999 to 1 .* 2 levels .*missing.* {SAVED}"),
        (with_nan, r"1 image with pixels that are not numbers: .*a\.tif"),
        (of_two_kinds, rf"whole numbers \(.*png\); floating point \(.*tif\)\. {SAVED}"),
        (of_colours, rf"16-bit colours use only 16 of 256 levels\. {SAVED}"),
    ],
)
def test_values_without_a_range_are_refused(
    write: Callable[[Path], list[Path]], message: str, tmp_path: Path
) -> None:
    files = write(tmp_path / "a.tif")
    with pytest.raises(DataError, match=message):
        greys(*files)


def test_frames_and_depths_are_told_with_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    grey = (255 * RAMP).astype(np.uint8)
    for domain in ("web", "phone"):
        saved(grey, folder / domain / "cup/a.png")
    more = [Image.new("L", (64, 64))]
    place = folder / "web/cup/b.gif"
    Image.fromarray(grey).save(place, save_all=True, append_images=more)
    saved((4095 * RAMP).astype(np.uint16), folder / "phone/cup/b.tif")
    memory = tmp_path / "data" / "digests.json"
    for _ in "12":  # computed, then from the cache
        assert FolderDataset("photos", folder, memory).notes() == [
            f"{folder}/phone: 1 of 2 images have over 8 bits per value "
            "(whole numbers), which share one range.",
            f"{folder}/web: 1 of 2 images have several frames, of which only the first "
            "is read: cup/b.gif (2)",
        ]
    saved(
        np.where(RAMP < 0.1, np.nan, RAMP).astype(np.float32), folder / "web/cup/c.tif"
    )
    with pytest.raises(DataError, match="not numbers"):
        FolderDataset("photos", folder).generate(tmp_path)
