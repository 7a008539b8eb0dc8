"""Published images: out of archives and Parquet files, compared and put in order."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.downloads import FOLDERS, IMAGES, Toy, put

from cdspp.core.errors import DataError
from cdspp.datasets.fetch import KEPT
from cdspp.datasets.image_files import manifest_rows

ORDER = {
    "paint": [f"images/paint/{name}.jpg" for name in ("mug/B", "mug/a", "bike/a")],
    "real": ["images/real/mug/a.jpg", "images/real/bike/a.jpg"],
}
MUG = "images/real/mug/a.jpg"


def parquet(rows: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def hub_rows(names: tuple[str, str] = ("00007.jpg", "00002.jpg")) -> list[Any]:
    def row(content: bytes, name: str, domain: str, label: Any) -> dict[str, Any]:
        image = {"bytes": content, "path": name}
        return {"image": image, "domain": domain, "label": label}

    return [
        row(b"first mug", names[0], "PAINT BOX", 0),
        row(b"real mug", "00009.jpg", "Real", 0),
        row(b"second mug", names[1], "Paint Box", 0),
        row(b"bike", "photo.png", "Paint Box", 1),
        row(b"real bike", "", "Real", 1),
    ]


@pytest.mark.parametrize("known", [True, False])
def test_images_come_out_of_an_archive_in_the_published_order(
    toy: Toy, known: bool
) -> None:
    way, more = toy.offer_images(), {"manifest": toy.manifest()} if known else {}
    record = toy.fetch(way, **more)
    assert toy.contents() == IMAGES
    assert record["images"] == ORDER
    assert record["files"] == sorted(IMAGES)
    assert record["origin"] == {"set.tar.gz": f"{toy.server.address}/i"}
    assert toy.fetch(way, **more)["origin"] == {"images": KEPT}
    assert toy.server.requests == ["i"]


def test_what_is_no_image_of_a_class_stays_in_the_archive(toy: Toy) -> None:
    more = {"images/real/mug/notes.txt": b"", "images/real/mug/._a.jpg": b"fork"}
    more |= {"images/real/lamp/a.jpg": b"", "images/other/mug/a.jpg": b"", "x.jpg": b""}
    toy.fetch(toy.offer_images({**IMAGES, **more}))
    assert toy.contents() == IMAGES


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: put(folder, {MUG: b"mug fake"}),
        lambda folder: (folder / MUG).unlink(),
        lambda folder: put(folder, {"images/real/mug/b.jpg": b"one more"}),
    ],
    ids=["changed", "removed", "added"],
)
def test_images_that_were_changed_on_disk_are_put_right(
    toy: Toy, change: Callable[[Path], Any]
) -> None:
    way, manifest = toy.offer_images(), toy.manifest()
    toy.fetch(way, manifest=manifest)
    change(toy.folder)
    toy.fetch(way, manifest=manifest)
    assert toy.contents() == IMAGES


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        (MUG, b"mug fake", r"mug/a\.jpg: expected git_blob"),
        (MUG, None, "1 of 5 images .*a"),
        ("images/paint/mug/a.jpg", bytes(9999), "more than the 33 bytes expected"),
    ],
)
def test_an_archive_of_other_images_than_the_manifests_is_refused(
    toy: Toy, path: str, content: bytes | None, message: str
) -> None:
    changed = {n: c for n, c in {**IMAGES, path: content}.items() if c is not None}
    toy.refuse(message, toy.offer_images(changed), manifest=toy.manifest())
    assert toy.contents() == toy.contents("archives") == {}


def hub(*urls: str) -> dict[str, Any]:
    files = [{"name": f"{k}.parquet", "urls": [url]} for k, url in enumerate(urls)]
    return {"parquet": files, "folders": FOLDERS}


def test_parquet_rows_become_files_under_the_names_they_had(toy: Toy) -> None:
    parts = {"0": hub_rows()[:2], "1": hub_rows()[2:]}
    urls = [toy.server.offer(name, parquet(rows)) for name, rows in parts.items()]
    record = toy.fetch(hub(*urls))
    assert toy.contents() == {
        "images/paint/mug/00007.jpg": b"first mug",
        "images/paint/mug/00002.jpg": b"second mug",
        "images/paint/bike/00001.jpg": b"bike",
        "images/real/mug/00009.jpg": b"real mug",
        "images/real/bike/00001.jpg": b"real bike",
    }
    assert record["origin"] == {"0.parquet": urls[0], "1.parquet": urls[1]}
    assert toy.fetch(hub(*urls))["origin"] == {"images": KEPT}


@pytest.mark.parametrize("names", [("00007.jpg", "00007.jpg"), ("00007.jpg", "7.jpg")])
def test_parquet_rows_without_good_names_are_numbered_in_their_order(
    toy: Toy, names: tuple[str, str]
) -> None:
    toy.fetch(hub(toy.server.offer("0", parquet(hub_rows(names)))))
    mugs = {n: c for n, c in toy.contents().items() if "paint/mug" in n}
    assert mugs == {
        "images/paint/mug/00001.jpg": b"first mug",
        "images/paint/mug/00002.jpg": b"second mug",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domain": "Sketch"}, "0.parquet: unknown domain 'Sketch', label 1; expected"),
        ({"label": -1}, "unknown domain 'Real', label -1"),
        ({"image": {"bytes": None, "path": "00001.jpg"}}, "0.parquet: .*row .* im"),
        ({"label": 0}, "0.parquet: domain real, class mug: expected 1 images, got 2"),
    ],
)
def test_a_faulty_parquet_row_is_refused(
    toy: Toy, change: dict[str, Any], message: str
) -> None:
    rows = hub_rows()
    rows[-1] |= change
    toy.refuse(message, hub(toy.server.offer("0", parquet(rows))))
    assert toy.contents() == toy.contents("archives") == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1 and no more", "0.parquet: damaged, or not a Parquet file"),
        (parquet([{"picture": 1, "label": 0}]), "no column image.bytes, image.path, d"),
    ],
)
def test_after_a_faulty_parquet_file_the_next_place_is_tried(
    toy: Toy, content: bytes, message: str
) -> None:
    bad = toy.server.offer("0", content)
    good = toy.server.offer("1", parquet(hub_rows()))
    toy.refuse(message, hub(bad))
    assert toy.contents("archives") == {}
    way = hub(bad)
    way["parquet"][0]["urls"].append(good)
    assert toy.fetch(way)["origin"] == {"0.parquet": good}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "manifest"),
        ("path,size\n", "header.* path, size, git_blob, tab-separated"),
        ("path\tsize\tgit_blob\nx.jpg\t12\n", r"line 2: expected path, .* got 'x\.jpg"),
    ],
)
def test_a_faulty_manifest_is_named(
    tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "set.tsv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=f"set.tsv: .*{message}"):
        manifest_rows(path)
