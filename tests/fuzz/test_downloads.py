"""Servers and archives that misbehave at random: the right file, or one sentence."""

from __future__ import annotations

import hashlib
import io
import random
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fuzz.damage import attacks, damaged_bytes, tried
from support.downloads import Answer, Server

from cdspp.core.errors import DataError
from cdspp.datasets import fetch
from cdspp.datasets.archives import extract
from cdspp.datasets.fetch import RemoteFile, fetch_file

CONTENT = bytes(range(256)) * 40
DIGEST = hashlib.sha256(CONTENT).hexdigest()
BODIES = (CONTENT, CONTENT[:-1], CONTENT[:5000], CONTENT + b"x", b"", CONTENT[::-1])
BODIES += (b"<!DOCTYPE html><p>Log in", b"version https://git-lfs.github.com/spec/v1")
CLAIMS = (None, None, None, "abc", "-1", 0, 9, len(CONTENT) + 9, 10**12, "7, 8")
STATES = (200, 200, 200, 200, 204, 206, 301, 302, 403, 404, 429, 500, 503)
PLACES = ("x.bin", "y.bin", "/x.bin", "http://[x", "file:///etc/hostname", "")
PLACES += ("http://127.0.0.1:9/x", "http://" + 300 * "a", "\xe9")
KNOWN: tuple[dict[str, Any], ...] = ({"sha256": DIGEST},)
KNOWN += ({"sha256": DIGEST, "size": len(CONTENT)},)
KNOWN += ({"md5": hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()},)
FORMS = ("", "gz", "bz2", "xz", "zip")
NAMES = ("a/one.txt", "a/b/two.txt", "three", "a/../two.txt", "../up", "/tmp/up", "a")


def some_answer(rng: random.Random) -> Answer:
    """Return a response of which anything may be wrong."""
    if rng.random() < 0.2:
        return Answer(CONTENT)
    body = rng.choice((*BODIES, damaged_bytes(CONTENT, rng)))
    answer = Answer(body, rng.choice(STATES), rng.choice(CLAIMS))
    if answer.status in (301, 302) or rng.random() < 0.1:
        answer = replace(answer, to=rng.choice(PLACES))
    slow = {"silence": 0.1} if rng.random() < 0.1 else {}
    if rng.random() < 0.1:
        slow |= {"repeat": rng.choice((0.0, 0.01))}
    return replace(answer, reset=rng.random() < 0.2, **slow)


@attacks(40, 1500)
def test_a_download_is_the_published_file_or_nothing(
    seeds: range, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"MOST_BYTES": 1 << 20, "TIMEOUT": (0.5, 0.05), "SLOW_FOR": 0.1}
    for name, value in {**limits, "LEAST_SPEED": 10**7}.items():
        monkeypatch.setattr(fetch, name, value)
    n_fetched = 0
    for seed in seeds:
        rng, folder = random.Random(seed), tmp_path / str(seed)
        server.answers.clear()
        urls = [
            server.offer(name, *(some_answer(rng) for _ in range(3)))
            for name in ("x.bin", "y.bin")
        ]
        file = RemoteFile("x.bin", tuple(urls), **rng.choice(KNOWN))
        found = tried(partial(fetch_file, file, folder / "x.bin"), f"seed {seed}")
        fetched = found in urls
        told = isinstance(found, DataError) and all(url in str(found) for url in urls)
        assert fetched or told, f"seed {seed}: {found!r}"
        left = {path.name: path.read_bytes() for path in folder.glob("**/*")}
        assert left == ({"x.bin": CONTENT} if fetched else {}), f"seed {seed}"
        n_fetched += fetched
    assert 0 < n_fetched < len(seeds)


def packed(members: Mapping[str, bytes], form: str) -> bytes:
    """Return an archive."""
    stream = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=stream, mode=f"w:{form}") as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@attacks(60, 2000)
def test_a_damaged_archive_is_refused_or_gives_files_below_its_folder(
    seeds: range, tmp_path: Path
) -> None:
    n_refused, archive = 0, tmp_path / "archive"
    for seed in seeds:
        rng, folder = random.Random(seed), tmp_path / str(seed)
        names = rng.sample(NAMES, rng.choice((1, 2)))
        content = packed(dict.fromkeys(names, b"rows " * 400), rng.choice(FORMS))
        archive.write_bytes(damaged_bytes(content, rng) if seed % 2 else content)
        call = partial(extract, archive, folder / "made", str, 10_000, name="archive")
        found = tried(call, f"seed {seed}")
        refused = isinstance(found, DataError)
        paths = [path for path in folder.rglob("*") if path.is_file()]
        expected = [] if refused else [folder / "made" / name for name in found]
        assert sorted(paths) == sorted(expected), f"seed {seed}: {found!r}"
        assert sum(path.stat().st_size for path in paths) <= 10_000
        assert not (refused and "\n" in str(found)), f"seed {seed}: {found}"
        n_refused += refused
    assert {path.name for path in tmp_path.iterdir()} <= {"archive", *map(str, seeds)}
    assert 0 < n_refused < len(seeds)
