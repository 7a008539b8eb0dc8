"""Downloads: from the first good place, verified, and nothing half-written."""

from __future__ import annotations

import errno
import hashlib
import logging
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.downloads import Answer, Server, put

from cdspp.core.errors import DataError, DiskFullError
from cdspp.datasets import fetch
from cdspp.datasets.fetch import (
    KEPT,
    RemoteFile,
    UnreachableError,
    fetch_file,
    in_mirror,
)

CONTENT = b"the published bytes"
OTHER = b"some ot\xffer bytes!!"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()
BLOB = hashlib.sha1(b"blob 19\0" + CONTENT).hexdigest()
CHECKS: dict[str, Any] = {"size": 19, "sha256": SHA256, "md5": MD5, "git_blob": BLOB}


class Client:
    """Where a file goes to, and the server that it may come from."""

    def __init__(self, root: Path, server: Server) -> None:
        self.target, self.server = root / "data" / "x.mat", server
        self.offer, self.requests = server.offer, server.requests

    def fetch(self, *urls: str, **given: Any) -> str:
        """Fetch the file, and return where it came from."""
        how = {name: given.pop(name) for name in ("mirror", "accept") if name in given}
        return fetch_file(remote(*urls, **given), self.target, **how)

    def refuse(self, message: str, *urls: str, **given: Any) -> str:
        """Fetch, in vain, and leave nothing; return what was said."""
        with pytest.raises(given.pop("error", DataError), match=message) as caught:
            self.fetch(*urls, **given)
        assert self.left() == []
        return str(caught.value)

    def left(self) -> list[str]:
        """Return what stands in the folder of the file."""
        return [path.name for path in self.target.parent.iterdir()]

    def content(self) -> bytes:
        return self.target.read_bytes()


@pytest.fixture
def client(tmp_path: Path, server: Server) -> Client:
    return Client(tmp_path, server)


def remote(*urls: str, **checks: Any) -> RemoteFile:
    return RemoteFile("features/x.mat", urls, **checks)


def test_a_file_comes_from_its_address_and_is_verified(client: Client) -> None:
    url = client.offer("x.mat", CONTENT)
    assert client.fetch(url, **CHECKS, sha256_prefix=SHA256[:8]) == url
    assert client.content() == CONTENT
    assert client.left() == ["x.mat"]


@pytest.mark.parametrize(
    ("checks", "content", "message"),
    [
        ({"sha256": SHA256}, OTHER, f"expected sha256 {SHA256}, got [0-9a-f]{{64}}"),
        ({"md5": MD5}, OTHER, f"expected md5 {MD5}, got [0-9a-f]{{32}}"),
        ({"git_blob": BLOB}, OTHER, f"expected git_blob {BLOB}, got [0-9a-f]{{40}}"),
        ({"sha256_prefix": SHA256[:8]}, OTHER, f"expected sha256_prefix {SHA256[:8]}"),
        ({"size": 19}, CONTENT[:7], "expected 19 bytes, got 7 bytes"),
        ({}, b"", "expected data, got 0 bytes"),
        ({}, b"\n<!DOCTYPE HTML><title>Sign in", "HTML page"),
        ({}, b"<!-- moved -->\n<!-- " + b"x" * 999 + b" --><html>", "HTML page"),
        ({}, b"<!-- an error " + b"x" * (1 << 17), "HTML page"),
        ({}, b"\xef\xbb\xbf<?xml version='1.0'?><!DOCTYPE html>", "HTML page"),
        ({}, "<html>".encode("utf-16"), "HTML page"),
        ({}, b"<meta http-equiv='refresh' content='0'>", "HTML page"),
        ({}, b"version https://git-lfs.github.com", "got a Git LFS pointer"),
    ],
)
def test_wrong_content_is_refused_at_once_and_leaves_nothing(
    client: Client, checks: dict[str, Any], content: bytes, message: str
) -> None:
    url = client.offer("x.mat", content)
    client.refuse(f"{url}: features/x.mat: .*{message}", url, **checks)
    assert client.requests == ["x.mat"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(CONTENT, 203), "the server says 203 .*, not 200 OK"),
        (Answer(CONTENT, 206), "the server says 206 Partial Content, not 200 OK"),
        (Answer(CONTENT, 202), "the server says 202 Accepted, not 200 OK"),
        (Answer(CONTENT, claimed=-19), "the length '-19' of the file"),
        (Answer(CONTENT, claimed="1_9"), "the length '1_9' of the file"),
    ],
)
def test_only_a_whole_answer_is_stored(
    client: Client, answer: Answer, message: str
) -> None:
    url = client.offer("x.mat", answer)
    client.refuse(f"{url}: .*{message}", url)
    assert client.requests == ["x.mat"]


@pytest.mark.parametrize("content", [b"<x/>", b"<?xml version='1.0'?><!-- c --><x/>"])
def test_a_file_that_nothing_pins_is_told(
    client: Client, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    url, digest = client.offer("x.mat", content), hashlib.sha256(content).hexdigest()
    for origin in (url, KEPT):
        assert client.fetch(url) == origin
        note = f"no digest pins this file, whose sha256 is {digest}"
        assert caplog.messages[-1] == f"features/x.mat: {note}"


def test_without_a_network_one_line_names_the_addresses(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    urls = "http://127.0.0.1:9/a", "http://[::1]:9/b"
    lines = client.refuse("x", *urls, mirror=str(tmp_path), error=UnreachableError)
    named = f"({', '.join(urls)})"
    assert lines == f"features/x.mat: no server can be reached {named}."
    gone = f"{client.server.address}/gone"
    assert "404" in client.refuse("3 problems", gone, *urls)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(CONTENT[:7], claimed=19), "connection failed .*7 bytes read"),
        (Answer(b"slow down", 429), "429 Too Many Requests"),
        (Answer(CONTENT[:7], claimed=19, stall=0.5), "connection failed .*timed out"),
    ],
)
def test_a_fault_that_may_pass_is_met_three_times_and_leaves_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, answer: Answer, message: str
) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT", (0.2, 0.2))
    url = client.offer("x.mat", answer)
    client.refuse(f"{url}: .*{message}", url)
    assert client.requests == ["x.mat"] * 3


def test_a_fault_that_passed_is_forgotten(client: Client) -> None:
    url = client.offer("x.mat", Answer(CONTENT[:7], claimed=19, reset=True), CONTENT)
    assert client.fetch(url, **CHECKS) == url
    assert client.content() == CONTENT


def test_pauses_between_attempts_grow(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(fetch, "PAUSE", 2.0)
    monkeypatch.setattr(time, "sleep", pauses.append)
    client.refuse("503", client.offer("x.mat", Answer(b"", 503)))
    assert [pause for pause in pauses if pause] == [2.0, 4.0]


def test_what_is_not_found_is_not_asked_for_again(client: Client) -> None:
    url = f"{client.server.address}/x.mat"
    client.refuse("x.mat: .*server.* 404 Not Found", url)
    assert client.requests == ["x.mat"]


def test_a_full_disk_ends_a_download_at_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(url: str, path: Path, *_: object) -> None:
        path.write_bytes(CONTENT[:7])
        raise OSError(errno.EDQUOT, "No space left on device")

    monkeypatch.setattr(fetch, "_transfer", full)
    second = client.offer("second.mat", CONTENT)
    first = f"{client.server.address}/first.mat"
    message = "data: .*space.*disk .* Make room.*run"
    client.refuse(message, first, second, error=DiskFullError)
    assert client.requests == []


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    return put(tmp_path / "mirror", {"features/x.mat": CONTENT})


def test_a_mirror_folder_comes_first(client: Client, mirror: Path) -> None:
    url = client.offer("x.mat", CONTENT)
    origin = client.fetch(url, **CHECKS, mirror=str(mirror))
    assert origin == "mirror:features/x.mat"
    assert client.content() == CONTENT
    assert client.requests == []
    assert in_mirror(remote(url), str(mirror))
    assert not in_mirror(remote(url), client.server.address)


def test_the_origin_of_a_file_address_names_no_folder(
    client: Client, mirror: Path
) -> None:
    url = (mirror / "features" / "x.mat").as_uri()
    assert client.fetch(url, **CHECKS) == "file:x.mat"


def test_a_warning_names_a_file_that_a_mirror_lacks(
    client: Client, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "cdspp")
    url = client.offer("x.mat", CONTENT)
    assert client.fetch(url, **CHECKS, mirror=str(tmp_path / "mirrow")) == url
    path = tmp_path / "mirrow" / "features" / "x.mat"
    [warning] = caplog.messages
    assert warning.startswith(f"features/x.mat: {path}: cannot be read ([Errno 2]")


def test_a_mirror_may_be_an_address(client: Client) -> None:
    client.offer("here/some%20where/%23x.mat", CONTENT)
    file = RemoteFile("x.mat", mirror="some where/#x.mat")
    origin = fetch_file(file, client.target, mirror=f"{client.server.address}/here/")
    assert origin == "mirror:some where/#x.mat"


def test_when_every_place_fails_each_is_listed_with_the_remedy(
    client: Client, tmp_path: Path
) -> None:
    wrong, gone = client.offer("a.mat", OTHER), f"{client.server.address}/b.mat"
    message = client.refuse("3 problems:", wrong, gone, md5=MD5, mirror=str(tmp_path))
    first, *tried, remedy = message.splitlines()
    assert first == "features/x.mat could not be fetched: 3 problems:"
    places = [line.split(": ")[0].removeprefix("  - ") for line in tried]
    assert places == [f"{tmp_path}/features/x.mat", wrong, gone]
    assert "by hand to FOLDER/features/x.mat, and name FOLDER in `cdspp" in remedy
    assert "CDSPP_MIRROR" in remedy


def test_a_download_that_was_killed_is_cleared_by_the_next(client: Client) -> None:
    url = client.offer("x.mat", Answer(CONTENT[:7], claimed=19, stall=30.0), CONTENT)
    code = "import sys; from pathlib import Path\n"
    code += "from cdspp.datasets.fetch import RemoteFile, fetch_file\n"
    code += "fetch_file(RemoteFile('x.mat', (sys.argv[1],)), Path(sys.argv[2]))"
    running = subprocess.Popen([sys.executable, "-c", code, url, str(client.target)])
    deadline = time.monotonic() + 60
    while not client.requests and time.monotonic() < deadline:
        time.sleep(0.05)
    running.kill()
    running.wait()
    lock, leftover = sorted(client.left())
    assert lock == ".lock.x.mat"
    assert leftover.startswith(".x.mat.")
    assert client.fetch(url, **CHECKS) == url
    assert client.left() == ["x.mat"]


def test_jobs_that_need_the_same_file_fetch_it_once(client: Client) -> None:
    file = remote(client.offer("x.mat", Answer(CONTENT, silence=0.2)), **CHECKS)
    with ThreadPoolExecutor(4) as pool:
        origins = list(pool.map(lambda _: fetch_file(file, client.target), range(4)))
    assert sorted(origins) == sorted([*file.urls, KEPT, KEPT, KEPT])
    assert client.requests == ["x.mat"]


def test_progress_is_logged_with_name_and_size(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cdspp")
    monkeypatch.setattr(fetch, "REPORT_EVERY", 0.0)
    client.fetch(client.offer("x.mat", bytes(3 << 20)))
    assert "features/x.mat: 3.0 MiB of 3.0 MiB (100%)" in caplog.messages


ENDLESS = Answer(bytes(1 << 16), repeat=0.0)


@pytest.mark.parametrize(
    ("answer", "size", "message"),
    [
        (ENDLESS, 19, "expected 19 bytes at most, got more"),
        (ENDLESS, None, "expected 1048576 bytes at most, got more"),
        (Answer(b"x", repeat=0.02), 19 << 20, "slower than 1000 bytes.*second"),
        (Answer(CONTENT, claimed="abc"), 19, "length 'abc'"),
        (Answer(b"", 302, to="http://[x"), None, "fetched .*IPv6"),
    ],
)
def test_a_transfer_that_cannot_be_right_is_given_up_for_the_next_place(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    size: int | None,
    message: str,
) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(fetch, "SLOW_FOR", 0.2)
    first, second = client.offer("a.mat", answer), client.offer("b.mat", b"")
    text = client.refuse(message, first, second, size=size)
    assert f"{second}: features/x.mat: " in text
    assert client.requests == ["a.mat", "b.mat"]


def test_the_body_of_a_redirect_is_not_read(client: Client) -> None:
    to = client.offer("b.mat", CONTENT)
    first = client.offer("a.mat", Answer(bytes(1 << 16), 302, repeat=0.0, to=to))
    assert client.fetch(first) == first
    assert client.content() == CONTENT


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"urls": []}, "file.*name, got"),
        ({"name": "x", "sha265": SHA256}, "x: unknown key 'sha265': did you mean 'sha"),
        ({"name": "../x"}, "'../x' .*relative path"),
        ({"name": "x", "urls": ["ftp://x"]}, "urls.*http, https.*file"),
        ({"name": "x", "size": "9"}, "size.*positive.*, got '"),
        ({"name": "x", "md5": SHA256}, "md5 must be 32 hexadecimal.*quotes"),
        ({"name": "x", "sha256_prefix": 12345678}, "8 hexadecimal.*quotes"),
    ],
)
def test_a_faulty_entry_is_named(entry: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        RemoteFile.from_entry(entry)


def run_out_of_space(path: str | Path, number: int = errno.ENOSPC) -> None:
    """Write a part of the file, and fail as a full disk makes it fail."""
    Path(path).write_bytes(CONTENT[:7])
    raise OSError(number, "No space left on device")


def test_a_full_disk_ends_a_copy_at_once(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch.shutil, "copyfile", lambda _, to: run_out_of_space(to))
    url = client.offer("x.mat", CONTENT)
    client.refuse("no space", url, mirror=str(tmp_path), error=DiskFullError)
    assert client.requests == []


def test_after_a_mirror_with_other_content_comes_the_next_place(
    client: Client, mirror: Path
) -> None:
    put(mirror, {"features/x.mat": OTHER})
    url = client.offer("x.mat", CONTENT)
    assert client.fetch(url, **CHECKS, mirror=str(mirror)) == url
