"""What resources/generate.py makes is what is shipped, and what was published."""

from __future__ import annotations

import hashlib
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.downloads import put

from cdspp.core.errors import DataError
from cdspp.datasets.image_files import manifest_rows

RESOURCES = Path(__file__).parents[2] / "resources"
MANIFEST = "manifests/office-caltech-10.tsv"
MANIFEST_ROWS = manifest_rows(RESOURCES / MANIFEST)
# The folder of photographs in the published commit, as git names its content.
PUBLISHED_TREE = "903acdb0b594c1074c019b6228f39f933f9cd508"
WAY = {"tree": "*/images", "folders": {"shop": "Shop 1"}}
ENTRY: dict[str, Any] = {
    "classes": ["mug", "TV", "bike"],
    "class_sizes": {"web": [2, 1, 1], "shop": [1, 1, 1]},
    "resources": {"images": {"ways": [WAY]}},
}
PHOTOGRAPHS = {
    "web/mug/b.jpg": b"one",
    "web/mug/B.jpg": b"two",
    "web/TV/1.jpg": b"three",
    "web/bike/1.jpg": b"four",
    "Shop 1/mug/1.jpg": b"five",
    "Shop 1/TV/1.jpg": b"six",
    "Shop 1/bike/1.jpg": b"seven",
}


@pytest.fixture(scope="module")
def script() -> Mapping[str, Callable[..., Any]]:
    """Return the functions of the script by name."""
    return runpy.run_path(str(RESOURCES / "generate.py"))


def generate(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RESOURCES / "generate.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def tree_id(files: Mapping[str, str]) -> str:
    """Return git's id of a folder, from the blob ids of plain files by their paths."""
    folders: dict[str, dict[str, str]] = {}
    entries = []
    for path, blob in files.items():
        name, _, rest = path.partition("/")
        if rest:
            folders.setdefault(name, {})[rest] = blob
        else:
            entries.append((name, b"100644", blob))
    entries += [
        (f"{name}/", b"40000", tree_id(inner)) for name, inner in folders.items()
    ]
    body = b"".join(
        mode + b" " + name.rstrip("/").encode() + b"\0" + bytes.fromhex(object_id)
        for name, mode, object_id in sorted(entries)
    )
    return hashlib.sha1(b"tree %d\0" % len(body) + body).hexdigest()


@pytest.mark.parametrize(
    ("options", "given", "shipped"),
    [
        (["manifest", "--images"], "office-caltech-10-images.tar.gz", MANIFEST),
        (["splits", "--folder"], "cdspp-hda", "published-splits.json"),
    ],
    ids=["manifest", "splits"],
)
def test_what_is_shipped_is_made_from_the_published_files(
    mirror_folder: Path, tmp_path: Path, options: list[str], given: str, shipped: str
) -> None:
    output = tmp_path / "made"
    done = generate(*options, mirror_folder / given, "--output", output)
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == (RESOURCES / shipped).read_bytes()


def test_the_manifest_lists_exactly_the_published_commit() -> None:
    paths = [row.name.removeprefix("images/") for row in MANIFEST_ROWS]
    published = [path.replace("caltech/", "caltech10/", 1) for path in paths]
    blobs = [row.git_blob for row in MANIFEST_ROWS]
    assert tree_id(dict(zip(published, blobs, strict=True))) == PUBLISHED_TREE
    assert sum(row.size or 0 for row in MANIFEST_ROWS) == 55_275_304


def test_classes_stand_in_catalogue_order_and_files_in_the_order_of_bytes(
    script: Mapping[str, Callable[..., Any]], tmp_path: Path
) -> None:
    output = tmp_path / "made.tsv"
    script["write_manifest"](put(tmp_path / "images", PHOTOGRAPHS), ENTRY, output)
    rows = manifest_rows(output)
    assert [row.name for row in rows] == [
        "images/web/mug/B.jpg",
        "images/web/mug/b.jpg",
        "images/web/TV/1.jpg",
        "images/web/bike/1.jpg",
        "images/shop/mug/1.jpg",
        "images/shop/TV/1.jpg",
        "images/shop/bike/1.jpg",
    ]
    assert (rows[-1].size, rows[-1].git_blob) == (
        5,
        hashlib.sha1(b"blob 5\0seven").hexdigest(),
    )


def test_a_missing_photograph_is_named_and_no_manifest_is_written(
    script: Mapping[str, Callable[..., Any]], tmp_path: Path
) -> None:
    folder = put(tmp_path / "images", PHOTOGRAPHS)
    (folder / "Shop 1/TV/1.jpg").unlink()
    output = tmp_path / "made.tsv"
    with pytest.raises(DataError, match="Shop 1/TV: expected 1 .* shop, TV, got 0"):
        script["write_manifest"](folder, ENTRY, output)
    assert list(tmp_path.iterdir()) == [folder]


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    output = tmp_path / "made.json"
    done = generate("splits", "--folder", tmp_path, "--output", output)
    assert done.returncode == 1
    assert "office10-dataSplits.mat" in done.stderr
    assert "Traceback" not in done.stderr
    assert not output.exists()
