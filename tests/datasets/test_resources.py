"""Resources: every way to published files, resumed, verified and recorded."""

from __future__ import annotations

import hashlib
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.downloads import (
    IMAGES,
    WORDS,
    Toy,
    image_archive,
    make_tar,
    make_zip,
    put,
    tree,
)

from cdspp.core.errors import DataError, DiskFullError
from cdspp.datasets import archives, resources
from cdspp.datasets.base import read_fetched, record_path
from cdspp.datasets.fetch import KEPT, digest_of
from cdspp.datasets.resources import fetch_resource


def plain_files(toy: Toy, **changes: bytes) -> dict[str, Any]:
    files = []
    for name, content in WORDS.items():
        url = toy.server.offer(name, changes.get(name[:2], content))
        md5 = hashlib.md5(content).hexdigest()
        files.append({"name": name, "urls": [url], "md5": md5})
    return {"files": files}


def make_words() -> bytes:
    """Return an archive with the files of the resource in a folder."""
    return make_zip({f"v1/{name}": content for name, content in WORDS.items()})


def members(*urls: str, **checks: Any) -> dict[str, Any]:
    archive = {"name": "words.zip", "urls": list(urls), **checks}
    return {"archive": archive, "members": {name: f"*/{name}" for name in WORDS}}


def test_plain_files_are_fetched_and_recorded_with_their_addresses(toy: Toy) -> None:
    record = toy.fetch(way := plain_files(toy))
    assert toy.contents() == WORDS
    requests = [*toy.server.requests]
    assert toy.fetch(way)["origin"] == dict.fromkeys(WORDS, KEPT)
    assert toy.server.requests == requests
    origin = {file["name"]: file["urls"][0] for file in way["files"]}
    expected = {"dataset": "set", "resource": "toy", "files": sorted(WORDS)}
    assert record == {**expected, "origin": origin}


def test_an_interrupted_fetch_takes_up_where_it_stopped(toy: Toy) -> None:
    toy.refuse("expected md5", plain_files(toy, SP=b"other"))
    assert toy.contents() == {"EN/Index_EN-EN": WORDS["EN/Index_EN-EN"]}
    toy.server.answers.clear()
    toy.server.requests.clear()
    toy.fetch(plain_files(toy))
    assert toy.server.requests == ["SP/Index_SP-SP"]


def test_a_file_that_was_changed_on_disk_is_put_right(toy: Toy) -> None:
    toy.fetch(way := plain_files(toy))
    (toy.folder / "EN" / "Index_EN-EN").write_bytes(b"E21 1:0.5\n")
    toy.fetch(way)
    assert toy.contents() == WORDS


def test_a_record_does_not_outlive_its_files(toy: Toy) -> None:
    toy.fetch(way := plain_files(toy))
    (toy.folder / "EN" / "Index_EN-EN").unlink()
    toy.server.answers.clear()
    toy.refuse("404", way)


def test_an_archive_that_another_resource_fetched_is_not_fetched_again(
    toy: Toy,
) -> None:
    content = make_words()
    way = members(toy.server.offer("w", content), md5=hashlib.md5(content).hexdigest())
    toy.fetch(way)
    (toy.folder / "EN" / "Index_EN-EN").unlink()
    assert toy.fetch(way)["origin"] == {"words.zip": KEPT}
    assert toy.server.requests == ["w"]
    assert toy.contents() == WORDS


def test_an_archive_within_an_archive_is_unpacked_in_turn(toy: Toy) -> None:
    inner = make_tar({f"words/{n}": c for n, c in WORDS.items()}, "w:bz2")
    url = toy.server.offer("w", make_zip({"readme": b"", "x/words.tar.bz2": inner}))
    toy.fetch({**members(url), "inner": "*words.tar.bz2"})
    assert toy.contents() == WORDS


def test_a_missing_member_is_named_and_a_verified_archive_stays(toy: Toy) -> None:
    content = make_zip({"v2/EN/Index_EN-EN": b"x", "v2/es/Index_SP-SP": b"y"})
    way = members(toy.server.offer("w", content), md5=hashlib.md5(content).hexdigest())
    message = "words.zip: .*SP/Index_SP-SP'.* v2/es/I"
    toy.refuse(message, way)
    assert toy.contents() == {}
    assert list(toy.contents("archives")) == ["words.zip"]


def test_members_are_held_against_what_another_way_says_of_them(toy: Toy) -> None:
    files = plain_files(toy, EN=b"gone wrong")
    url = toy.server.offer("w", make_zip({f"v1/{n}": b"old" for n in WORDS}))
    toy.refuse("Way 2, archive: (.|\n)*Index_EN-EN: expected md5", files, members(url))
    assert toy.contents() == {}


def test_the_next_way_is_taken_where_one_fails_and_else_all_reasons_are_told(
    toy: Toy,
) -> None:
    files, url = plain_files(toy, EN=b"gone wrong"), toy.server.offer("w", make_words())
    message = "toy could not be fetched(.|\n)*Way 1, files(.|\n)*Way 2, arch"
    toy.refuse(message, files, members(f"{toy.server.address}/gone.zip"))
    record = toy.fetch(files, members(url))
    assert record["origin"] == {"words.zip": url}
    assert toy.contents() == WORDS


def test_a_way_that_a_mirror_serves_entirely_goes_first(
    toy: Toy, tmp_path: Path
) -> None:
    toy.mirror = str(put(tmp_path / "mirror", {"words.zip": make_words()}))
    record = toy.fetch(plain_files(toy), members(f"{toy.server.address}/w"))
    assert record["origin"] == {"words.zip": "mirror:words.zip"}
    assert toy.server.requests == []


def test_a_mirror_is_that_of_the_configuration_or_else_of_the_environment(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = put(tmp_path / "mirror", {"set.tar.gz": image_archive(IMAGES)})
    way, manifest = tree(f"{toy.server.address}/x"), toy.manifest()
    for of_environment, of_configuration in ((mirror, None), ("empty", str(mirror))):
        monkeypatch.setenv("CDSPP_MIRROR", str(of_environment))
        toy.mirror = of_configuration
        record = toy.fetch(way, manifest=manifest)
        assert record["origin"] == {"set.tar.gz": "mirror:set.tar.gz"}
        assert str(tmp_path) not in toy.record.read_text()
        shutil.rmtree(toy.root / "data")


def test_after_a_damaged_archive_the_next_place_is_tried(toy: Toy) -> None:
    whole = image_archive(IMAGES)
    damaged, good = toy.server.offer("a", whole[:-50]), toy.server.offer("b", whole)
    assert toy.fetch(tree(damaged, good))["origin"] == {"set.tar.gz": good}
    toy.record.unlink()
    (toy.folder / "images" / "real" / "mug" / "a.jpg").unlink()
    put(toy.root, {"data/archives/set.tar.gz": whole[:-50]})
    assert toy.fetch(tree(good))["origin"] == {"set.tar.gz": good}


def test_what_a_killed_fetch_left_is_cleared(toy: Toy) -> None:
    left = (".toy.partial/.out.x1/images/a.jpg", "images/real/mug/a.jpg")
    put(toy.folder, dict.fromkeys(left, b"part"))
    toy.fetch(toy.offer_images())
    assert {path.name for path in toy.folder.iterdir()} == {"images", toy.record.name}
    assert toy.contents() == IMAGES


def test_of_runs_that_fetch_the_same_one_does_and_the_others_wait(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def slow(*args: Any, **named: Any) -> Any:
        time.sleep(0.2)
        return archives.extract(*args, **named)

    monkeypatch.setattr(resources, "extract", extract := Mock(side_effect=slow))
    caplog.set_level("INFO")
    content = image_archive(IMAGES)
    md5 = hashlib.md5(content).hexdigest()
    toy.describe(tree(toy.server.offer("i", content), md5=md5))
    with ThreadPoolExecutor(4) as pool:
        records = list(pool.map(lambda _: toy.fetch_described(), range(4)))
    assert {tuple(record["files"]) for record in records} == {tuple(sorted(IMAGES))}
    assert toy.contents() == IMAGES
    assert extract.call_count == 1
    assert "toy.fetched.json: another run is fetching it; waiting" in caplog.text


def test_a_full_disk_ends_all_ways(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "extract", Mock(side_effect=DiskFullError))
    url = toy.server.offer("i", image_archive(IMAGES))
    with pytest.raises(DiskFullError):
        toy.fetch(tree(url, f"{url}-2"), tree(f"{url}-3"))
    assert toy.server.requests == ["i"]
    assert toy.contents() == toy.contents("archives") == {}


X, Y = {"files": [{"name": "x"}]}, {"files": [{"name": "y"}]}
FAULTY: list[tuple[list[Any], str]] = [
    ([], "no `ways` to fetch"),
    ([{}], "one of files, archive, parquet"),
    ([{"archive": {"name": "x"}}], "archive .*members or tree"),
    ([{"files": [], "members": {}}], "unknown key 'members'"),
    ([{"files": [{"name": "x", "md6": ""}]}], "'md6': did you mean 'md5'"),
    ([{"archive": {"name": "x"}, "members": {"../y": "y"}}], "relative path without"),
    (
        [{"parquet": [{"name": "x"}], "folders": {"reel": "Real"}}],
        "folders: unknown domain 'reel'; known are paint, real",
    ),
    ([X, Y], "different files"),
]


@pytest.mark.parametrize(("ways", "message"), FAULTY)
def test_faulty_ways_are_named_with_their_resource(
    toy: Toy, ways: list[Any], message: str
) -> None:
    toy.refuse(f"datasets.yaml, set, resource toy: .*{message}", *ways)


def test_an_unknown_data_set_or_resource_is_named(toy: Toy) -> None:
    with pytest.raises(DataError, match="name"):
        toy.fetch({"files": [{}]})
    here = {"catalogue": toy.catalogue, "output": toy.record}
    with pytest.raises(DataError, match="data.* 'sets': did you mean 'set'"):
        fetch_resource(dataset="sets", resource="toy", **here)
    with pytest.raises(DataError, match="set: no resource 'toys': did you mean 'toy'"):
        fetch_resource(dataset="set", resource="toys", **here)


def test_published_photographs_and_features_come_from_the_mirror(
    mirror_folder: Path, repository: Path, tmp_path: Path
) -> None:
    office: dict[str, Any] = {"dataset": "office-caltech-10"}
    office |= {"catalogue": repository / "resources/datasets.yaml"}
    surf, images = (
        record_path(tmp_path, "office-caltech-10", name) for name in ("surf", "images")
    )
    mirror = str(mirror_folder)
    fetch_resource(**office, resource="surf", output=surf, mirror=mirror)
    fetch_resource(**office, resource="images", output=images, mirror=mirror)
    assert len(read_fetched(surf)["files"]) == 4
    paths = read_fetched(images)["images"]
    sizes = {domain: len(paths[domain]) for domain in paths}
    assert sizes == {"caltech": 1123, "amazon": 958, "dslr": 157, "webcam": 295}
    assert paths["caltech"][0] == "images/caltech/backpack/003_0001.jpg"
    blob = "7e5f886e2bb70aef904dcfeb194065ead3644e82"
    assert digest_of(images.parent / paths["caltech"][0], "git_blob") == blob


def test_the_mirror_of_the_configuration_goes_before_the_environments(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDSPP_MIRROR", str(tmp_path / "empty"))
    toy.mirror = str(put(tmp_path / "mirror", {"set.tar.gz": image_archive(IMAGES)}))
    record = toy.fetch(tree(f"{toy.server.address}/x"), manifest=toy.manifest())
    assert record["origin"] == {"set.tar.gz": "mirror:set.tar.gz"}
