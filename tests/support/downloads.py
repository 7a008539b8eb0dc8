"""A web server on this machine, and a published data set to fetch from it."""

from __future__ import annotations

import hashlib
import io
import json
import socket
import struct
import tarfile
import threading
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdspp.core.errors import DataError
from cdspp.datasets.resources import fetch_resource

IMAGES = {
    "images/paint/mug/a.jpg": b"mug a",
    "images/paint/mug/B.jpg": b"mug B",
    "images/paint/bike/a.jpg": b"bike a",
    "images/real/mug/a.jpg": b"mug real",
    "images/real/bike/a.jpg": b"bike real",
}
ENTRY = {
    "title": "Toy",
    "kind": "images",
    "classes": ["mug", "bike"],
    "class_sizes": {"paint": [2, 1], "real": [1, 1]},
    "licence": "none",
    "source": "this test",
    "content": "five images",
}
WORDS = {"EN/Index_EN-EN": b"C15 1:0.5\n", "SP/Index_SP-SP": b"M11 2:0.5\n"}
FOLDERS = {"paint": "Paint Box"}


@dataclass(frozen=True)
class Answer:
    """One response; `claimed` is the length it states, if not that of the body."""

    body: bytes = b""
    status: int = 200
    claimed: int | str | None = None
    silence: float = 0.0  # seconds before it
    stall: float = 0.0  # seconds after the body, before the connection is closed
    reset: bool = False  # breaks the connection instead of closing it
    repeat: float | None = None  # seconds between endless repetitions of the body
    to: str = ""  # Location of a redirect


@dataclass
class Server:
    """The answers of each path, in turn; the last one is repeated."""

    address: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    requests: list[str] = field(default_factory=list)

    def offer(self, path: str, *answers: Answer | bytes) -> str:
        """Set the answers of `path`, and return its URL."""
        for answer in answers:
            full = answer if isinstance(answer, Answer) else Answer(answer)
            self.answers[path].append(full)
        return f"{self.address}/{path}"

    def answer(self, path: str) -> Answer:
        """Return the next answer; 404 if the path has none."""
        self.requests.append(path)
        waiting = self.answers.get(path, [Answer(b"not here", 404)])
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


@contextmanager
def serving() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = state.answer(self.path.lstrip("/"))
            time.sleep(answer.silence)
            self.send_response(answer.status)
            length = len(answer.body) if answer.claimed is None else answer.claimed
            if answer.repeat is None or answer.claimed is not None:
                self.send_header("Content-Length", str(length))
            if answer.to:
                self.send_header("Location", answer.to)
            with suppress(ConnectionError):  # the client may have given up
                self.end_headers()
                self.wfile.write(answer.body)
                while answer.repeat is not None:
                    time.sleep(answer.repeat)
                    self.wfile.write(answer.body)
            time.sleep(answer.stall)
            if answer.reset:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.block_on_close = False  # do not wait for a stalled answer
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Toy:
    """A data set with one resource called `toy`, and a server to fetch it from."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server
        self.catalogue = root / "resources" / "datasets.yaml"
        self.catalogue.parent.mkdir()
        self.folder = root / "data" / "set"
        self.record = self.folder / "toy.fetched.json"
        self.mirror: str | None = None

    def offer_images(self, files: Mapping[str, bytes] = IMAGES) -> dict[str, Any]:
        """Serve an archive of these images at `i`, and return the way to it."""
        return tree(self.server.offer("i", image_archive(files)))

    def manifest(self) -> str:
        lines = ["path\tsize\tgit_blob\n"]
        for path, content in IMAGES.items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            lines.append(f"{path}\t{len(content)}\t{blob}\n")
        (self.catalogue.parent / "set.tsv").write_text("".join(lines))
        return "set.tsv"

    def fetch(self, *ways: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        self.describe(*ways, **more)
        return self.fetch_described()

    def describe(self, *ways: Mapping[str, Any], **more: Any) -> None:
        entry = ENTRY | {"resources": {"toy": {"ways": list(ways), **more}}}
        self.catalogue.write_text(yaml.safe_dump({"set": entry}))

    def fetch_described(self) -> dict[str, Any]:
        fetch_resource(
            dataset="set",
            resource="toy",
            catalogue=self.catalogue,
            output=self.record,
            mirror=self.mirror,
        )
        return json.loads(self.record.read_text())

    def refuse(self, message: str, *ways: Mapping[str, Any], **more: Any) -> None:
        """Check that fetching fails, and leaves neither a record nor partial files."""
        with pytest.raises(DataError, match=message):
            self.fetch(*ways, **more)
        assert not self.record.exists()
        assert not list(self.root.glob("data/**/.*"))

    def contents(self, folder: str = "set") -> dict[str, bytes]:
        files = contents(self.root / "data" / folder)
        return {path: files[path] for path in files if path != self.record.name}


def put(root: Path, files: Mapping[str, bytes]) -> Path:
    """Write files, given by path, below a folder; return the folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def contents(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def make_tar(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def make_zip(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def image_archive(files: Mapping[str, bytes]) -> bytes:
    renamed = {
        f"repo-0bcf/{path.replace('/paint/', '/Paint Box/')}": content
        for path, content in files.items()
    }
    return make_tar({"repo-0bcf/README.md": b"read me", **renamed})


def tree(*urls: str, **checks: Any) -> dict[str, Any]:
    archive = {"name": "set.tar.gz", "urls": list(urls), **checks}
    return {"archive": archive, "tree": "*/images", "folders": FOLDERS}
