"""Files of the user's own: strays, images that cannot be read, and their content."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cdspp.core.errors import DataError
from cdspp.datasets import FolderDataset, dataset_recipe, own_dataset
from cdspp.datasets.base import file_digests, read_index
from cdspp.datasets.pixels import check_images


def write_image(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(values).save(path)
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for name in ("web/cup/a.jpg", "web/mug/b.png", "phone/cup/c.gif"):
        write_image(tmp_path / "photos" / name)
    for name in ("phone/mug/d.tif", "phone/mug/e.jpg"):
        write_image(tmp_path / "photos" / name)
    return tmp_path / "photos"


def test_a_study_that_is_moved_with_its_files_stays_as_it_is(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = {"folder": photos.name}
    FolderDataset("photos", photos.name).prepare(Path("data/photos"))
    before = dataset_recipe("photos", own), Path("data/photos/index.json").read_text()
    moved = tmp_path.with_name(f"{tmp_path.name}-moved")
    tmp_path.rename(moved)
    monkeypatch.chdir(moved)
    assert all(path.is_file() for path in read_index("data/photos").files("web"))
    FolderDataset("photos", photos.name).prepare(Path("data/photos"))
    text = Path("data/photos/index.json").read_text()
    assert (dataset_recipe("photos", own), text) == before
    assert str(tmp_path) not in text


def test_stray_files_are_skipped_and_named(
    photos: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (photos / "web/cup/notes.txt").write_text("taken on Monday")
    (photos / "phone/mug/Thumbs.db").write_bytes(b"\0")
    dataset = FolderDataset("photos", photos)
    index = dataset.prepare(tmp_path / "data")
    assert index.kind == "images"
    assert {d: index.class_sizes(d) for d in index.domains} == {
        "phone": [1, 2],
        "web": [1, 1],
    }
    assert dataset.notes() == [
        f"{photos}: 2 files skipped, not images by suffix: phone/mug/Thumbs.db, "
        "web/cup/notes.txt"
    ]
    assert caplog.messages == dataset.notes()


def test_every_unreadable_image_is_named_before_any_feature(
    photos: Path, tmp_path: Path
) -> None:
    cut = photos / "web/cup/a.jpg"
    cut.write_bytes(cut.read_bytes()[:-300])
    for name in ("phone/cup/text.png", "phone/mug/e.jpg"):
        (photos / name).write_text("no image")
    (photos / "web/mug/empty.bmp").touch()
    dataset = FolderDataset("photos", photos)
    with pytest.raises(DataError, match="4 of 7 images.*read: .*Replace") as e:
        dataset.prepare(tmp_path / "data")
    for name in ("a.jpg", "text.png", "e.jpg", "empty.bmp"):
        assert name in str(e.value)


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp", "tif"])
@pytest.mark.parametrize("part", [0.02, 0.9])
def test_an_image_that_ends_too_early_is_unreadable(
    tmp_path: Path, suffix: str, part: float
) -> None:
    path = write_image(tmp_path / f"a.{suffix}")
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(DataError, match="1 of 1 images.*read"):
        check_images({"web": [path]})


def test_readable_images_of_any_kind_pass(tmp_path: Path) -> None:
    suffixes = ("bmp", "gif", "jpeg", "jpg", "png", "ppm", "tif", "tiff", "webp")
    check_images(
        {"web": [write_image(tmp_path / f"a.{suffix}") for suffix in suffixes]}
    )
    Image.new("1", (1, 1)).save(tmp_path / "small.png")
    Image.new("L", (3, 3)).save(tmp_path / "small.jpg")
    check_images({"web": [tmp_path / "small.png", tmp_path / "small.jpg"]})


def test_a_touched_file_changes_no_recipe_and_new_content_does(
    photos: Path, tmp_path: Path
) -> None:
    memory, path = tmp_path / "digests.json", photos / "web/mug/b.png"
    before = dataset_recipe("photos", {"folder": str(photos)}, None, memory)
    assert dataset_recipe("photos", {"folder": str(photos)}) == before
    os.utime(path, (1, 1))
    assert dataset_recipe("photos", {"folder": str(photos)}, None, memory) == before
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"x")
    assert dataset_recipe("photos", {"folder": str(photos)}, None, memory) != before


def write_in_place(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def move_into_place(file: Path, content: bytes) -> None:
    other = file.with_name("other")
    other.write_bytes(content)
    other.replace(file)


@pytest.mark.parametrize("write", [write_in_place, move_into_place])
@pytest.mark.parametrize("kind", ["folder", "tables"])
def test_a_file_replaced_with_equal_size_and_time_is_read_again(
    photos: Path, tmp_path: Path, write: Callable[[Path, bytes], None], kind: str
) -> None:
    table, memory = tmp_path / "lab.csv", tmp_path / "digests.json"
    table.write_text("a,label\n1,x\n2,y\n")
    own, file = {
        "folder": ({"folder": str(photos)}, photos / "web/mug/b.png"),
        "tables": ({"tables": {"lab": str(table)}}, table),
    }[kind]
    before, status = dataset_recipe("mine", own, None, memory), file.stat()
    write(file, file.read_bytes()[:-2] + b"z\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert dataset_recipe("mine", own, None, memory) != before


def test_where_nothing_can_be_kept_files_are_read_all_the_same(tmp_path: Path) -> None:
    file, taken = tmp_path / "a.csv", tmp_path / "data"
    file.write_text("a,label\n1,x\n2,y\n")
    taken.write_text("no folder")
    own = {"tables": {"lab": str(file)}}
    expected = dataset_recipe("mine", own)
    assert dataset_recipe("mine", own, None, taken / "digests.json") == expected
    assert own_dataset("mine", own, taken / "digests.json").contents()


@pytest.mark.parametrize("content", ["[]", "{", '{"x": 1}'])
def test_a_damaged_memory_is_forgotten(tmp_path: Path, content: str) -> None:
    file, memory = tmp_path / "a.txt", tmp_path / "digests.json"
    file.write_text("text")
    memory.write_text(content.replace("x", str(file)))
    assert file_digests([file], memory) == file_digests([file])
