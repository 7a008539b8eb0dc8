"""Extractors of images: networks and visual words, and how images are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cdspp.core.errors import ConfigError, DataError
from cdspp.datasets.pixels import read_images
from cdspp.features import own_digests
from cdspp.features.cnn import IMAGES_PER_PASS, Cnn, _normalised, load_torchvision
from cdspp.features.visual_words import VisualWords


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return noise of several sizes as colour images, more than one pass of them."""
    folder, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    files = []
    for number in range(IMAGES_PER_PASS + 1):
        pixels = rng.integers(0, 256, (40 + number, 60, 3), dtype=np.uint8)
        files.append(saved(Image.fromarray(pixels), folder / f"{number}.png"))
    return files


def saved(image: Image.Image, path: Path) -> Path:
    image.save(path)
    return path


@pytest.mark.parametrize("mode", ["1", "P", "RGB", "LA", "I;16", "CMYK"])
def test_images_of_any_mode_are_read_alike(mode: str, tmp_path: Path) -> None:
    grey = np.zeros((4, 4), dtype=np.uint8)
    grey[:2] = 255
    if mode == "I;16":
        image = Image.fromarray(grey.astype(np.uint16) * 257)
    else:
        image = Image.fromarray(grey).convert(mode)
    suffix = "tif" if mode == "CMYK" else "png"
    path = saved(image, tmp_path / f"image.{suffix}")
    colour = np.asarray(next(read_images([path], "RGB")))
    assert colour.shape == (4, 4, 3)
    np.testing.assert_array_equal(colour, np.repeat(grey[..., None], 3, axis=2))
    np.testing.assert_array_equal(np.asarray(next(read_images([path], "L"))), grey)


def test_sixteen_bits_keep_their_shades(tmp_path: Path) -> None:
    shades = np.linspace(0, 65535, 16).reshape(4, 4).astype(np.uint16)
    path = saved(Image.fromarray(shades), tmp_path / "deep.png")
    read = np.asarray(next(read_images([path], "L")))
    np.testing.assert_array_equal(read, shades // 257)


def test_what_is_transparent_is_read_as_white(tmp_path: Path) -> None:
    path = saved(Image.new("RGBA", (3, 3), (0, 0, 0, 0)), tmp_path / "clear.png")
    assert np.asarray(next(read_images([path], "L"))).min() == 255


def test_a_picture_taken_sideways_is_read_upright(tmp_path: Path) -> None:
    image = Image.new("RGB", (6, 2))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "sideways.jpg", exif=exif)
    assert next(read_images([tmp_path / "sideways.jpg"], "RGB")).size == (2, 6)


@pytest.mark.parametrize("content", [b"", b"no image", "cut", None])
def test_an_unreadable_image_is_named(
    content: bytes | str | None, photos: list[Path], tmp_path: Path
) -> None:
    path = tmp_path / "broken.png"
    if content == "cut":
        path.write_bytes(photos[0].read_bytes()[:1000])
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"broken\.png: .*read.*image"):
        VisualWords(n_words=2).fit_codebook([photos[0], path])


def test_a_network_gives_one_finite_row_an_image(photos: list[Path]) -> None:
    X = Cnn().extract(photos)
    assert (X.shape, X.dtype) == ((len(photos), 4096), np.float32)
    assert np.isfinite(X).all()
    assert (X >= 0).all()
    assert len(np.unique(X, axis=0)) == len(photos)


def test_the_layer_is_that_of_the_whole_network(photos: list[Path]) -> None:
    torch = pytest.importorskip("torch")
    cnn = Cnn(layer="fc7", seed=3)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = load_torchvision().models.alexnet(weights=None).eval()
    pixels = torch.from_numpy(np.stack([*map(_normalised, cnn.prepared(photos[:2]))]))
    with torch.inference_mode():
        flat = torch.flatten(model.avgpool(model.features(pixels)), 1)
        expected = model.classifier[:6](flat).numpy()
    np.testing.assert_allclose(cnn.extract(photos[:2]), expected, atol=1e-6)


def test_the_same_network_gives_the_same_bits_whatever_ran_before(
    photos: list[Path],
) -> None:
    torch = pytest.importorskip("torch")
    cnn = Cnn(seed=5, layer="pool")
    first = cnn.extract(photos[:2])
    torch.rand(7)
    state = torch.get_rng_state()
    np.testing.assert_array_equal(cnn.extract(photos[:2]), first)
    assert torch.equal(torch.get_rng_state(), state)
    assert not np.array_equal(Cnn(seed=6, layer="pool").extract(photos[:2]), first)


def test_crop_keeps_the_middle(tmp_path: Path) -> None:
    image = Image.new("L", (768, 256), 0)
    image.paste(255, (256, 0, 512, 256))
    wide = [saved(image, tmp_path / "wide.png")]
    pixels = np.asarray(next(Cnn(resize="crop").prepared(wide)))
    assert pixels.shape == (224, 224, 3)
    assert pixels[50:170, 50:170].min() == 255
    assert np.asarray(next(Cnn().prepared(wide))).min() == 0


def test_own_weights_count_by_their_content(tmp_path: Path) -> None:
    path = tmp_path / "w.pth"
    options = {"weights": str(path)}
    path.write_bytes(b"one")
    before = own_digests("cnn", options)
    path.write_bytes(b"two")
    assert own_digests("cnn", options) != before
    assert own_digests("cnn", {"weights": "random"}) == {}
    assert own_digests("cnn", {"weights": "IMAGENET1K_V1"}) == {}


def test_weights_from_a_file_replace_the_random_ones(
    photos: list[Path], tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    cnn = Cnn(layer="pool", seed=1)
    path = tmp_path / "alexnet.pth"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        whole = load_torchvision().models.alexnet(weights=None)
    body = {k: v for k, v in whole.state_dict().items() if k.startswith("features")}
    torch.save(body, path)
    stored = Cnn(layer="pool", weights=str(path), seed=9)
    np.testing.assert_array_equal(stored.extract(photos[:2]), cnn.extract(photos[:2]))
    assert stored.recorded_options()["weights"].startswith("sha256:")
    message = r"classifier\.1\.weight needs \(4096, 9216\), got nothing"
    with pytest.raises(DataError, match=message):
        Cnn(layer="fc6", weights=str(path)).extract(photos[:1])
    torch.save(body | {"features.0.weight": torch.zeros(2, 2)}, path)
    with pytest.raises(DataError, match=r"features\.0\.weight needs .* got \(2, 2\)"):
        stored.extract(photos[:1])


def test_unusable_files_of_weights_are_named(
    photos: list[Path], tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "weights.pth"
    cnn = Cnn(weights=str(path))
    for use in (cnn.recorded_options, lambda: cnn.extract(photos[:1])):
        with pytest.raises(DataError, match=r"file.*weights .*weights\.pth"):
            use()
    for content in (b"not a state dict", b"<!doctype html>", b""):
        path.write_bytes(content)
        with pytest.raises(
            DataError, match=r"weights\.pth: expected a state dict, but"
        ):
            cnn.check_own_files()
    torch.save([1, 2], path)
    with pytest.raises(DataError, match="state dict, got list"):
        cnn.check_own_files()
    torch.save(torch.nn.Linear(1, 1), path)
    with pytest.raises(DataError, match=r"pickled objects, .*not loaded\.") as caught:
        cnn.check_own_files()
    assert "weights_only" not in str(caught.value)


def test_weights_are_found_inside_a_checkpoint(
    photos: list[Path], tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    cnn = Cnn(layer="pool", seed=1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        whole = load_torchvision().models.alexnet(weights=None)
    body = {k: v for k, v in whole.state_dict().items() if k.startswith("features")}
    wrapped = {f"module.{name}": value for name, value in body.items()}
    steps = {"state": {0: {"step": torch.tensor(1.0)}}, "param_groups": [{"lr": 0.1}]}
    path = tmp_path / "net.pth"
    stored, expected = Cnn(layer="pool", weights=str(path)), cnn.extract(photos[:1])
    for checkpoint in (
        {"epoch": 3, "state_dict": wrapped, "optimizer": steps},
        {"model": body, "best": 0.9},
    ):
        torch.save(checkpoint, path)
        np.testing.assert_array_equal(stored.extract(photos[:1]), expected)
    torch.save({"state_dict": body, "state_dict_ema": body}, path)
    with pytest.raises(DataError, match=r"2 networks \(state_dict\., state_dict_ema\."):
        stored.check_own_files()
    save_file(body, tmp_path / "net.safetensors")
    other = Cnn(layer="pool", weights=str(tmp_path / "net.safetensors"))
    np.testing.assert_array_equal(other.extract(photos[:1]), expected)


def test_a_device_that_is_not_there_is_named(photos: list[Path]) -> None:
    message = "device.*auto.* 'abacus'"
    with pytest.raises(ConfigError, match=message):
        Cnn(device="abacus").extract(photos[:1])


def test_words_are_counted_on_the_grid(photos: list[Path]) -> None:
    words = VisualWords(n_words=5)
    counts = words.extract(photos, words.fit_codebook(photos))
    assert (counts.shape, counts.dtype) == ((len(photos), 5), np.float32)
    columns = len(range(8, 60 - 8 + 1, 6))
    rows = [len(range(8, 40 + n - 8 + 1, 6)) for n in range(len(photos))]
    np.testing.assert_array_equal(counts.sum(axis=1), np.multiply(rows, columns))


def test_each_descriptor_counts_for_its_nearest_word(photos: list[Path]) -> None:
    words = VisualWords(n_words=4)
    codebook = words.fit_codebook(photos)
    descriptors = next(words._all_descriptors(photos[:1]))
    distances = ((descriptors[:, None] - codebook[None]) ** 2).sum(axis=2)
    expected = np.bincount(distances.argmin(axis=1), minlength=4)
    np.testing.assert_array_equal(words.extract(photos[:1], codebook)[0], expected)


def test_an_image_without_keypoints_gives_a_zero_row_and_a_warning(
    photos: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = VisualWords(n_words=2, sampling="detected")
    blank = saved(Image.new("L", (64, 64), 255), tmp_path / "blank.png")
    counts = words.extract([photos[0], blank], words.fit_codebook(photos))
    assert counts[0].sum() > 0
    assert not counts[1].any()
    assert "1 of 2 images have no keypoints" in caplog.text


def test_large_images_are_shrunk(tmp_path: Path) -> None:
    large = saved(Image.new("L", (640, 320)), tmp_path / "large.png")
    for max_side, n_keypoints in ((64, 9 * 3), (None, 105 * 51)):
        words = VisualWords(n_words=1, max_side=max_side)
        assert words.extract([large], np.zeros((1, 128))).item() == n_keypoints


def test_too_few_descriptors_for_the_words_is_said(photos: list[Path]) -> None:
    with pytest.raises(DataError, match="give 40 descriptors, .*few.* n_words 200"):
        VisualWords().fit_codebook(photos[:1])


def test_a_codebook_of_another_size_is_refused(photos: list[Path]) -> None:
    with pytest.raises(DataError, match=r"shape \(3, 128\), expected \(2, 128\)"):
        VisualWords(n_words=2).extract(photos, np.zeros((3, 128)))


def test_resnet_gives_its_global_average(photos: list[Path]) -> None:
    X = Cnn(network="resnet50", layer="pool").extract(photos[:1])
    assert X.shape == (1, 2048)
    assert (X >= 0).all()


def test_the_codebook_is_the_same_each_time_and_depends_on_its_seed(
    photos: list[Path],
) -> None:
    words = VisualWords(n_words=6, max_descriptors=90)
    codebook = words.fit_codebook(photos)
    np.testing.assert_array_equal(words.fit_codebook(photos), codebook)
    other = VisualWords(n_words=6, max_descriptors=90, seed=1)
    assert not np.array_equal(other.fit_codebook(photos), codebook)
