"""A web server on this machine that misbehaves as told, for tests of downloads."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One response; `claimed` is the length it names, if that is not the body's."""

    body: bytes = b""
    status: int = 200
    claimed: int | str | None = None
    silence: float = 0.0  # seconds before it
    stall: float = 0.0  # seconds after the body, before the connection is closed
    reset: bool = False  # breaks the connection instead of closing it
    repeat: float | None = None  # sends the body for ever, so many seconds apart
    to: str = ""  # Location of a redirect


@dataclass
class Server:
    """What each path answers, in turn; the last answer is given again and again."""

    address: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    requests: list[str] = field(default_factory=list)

    def offer(self, path: str, *answers: Answer | bytes) -> str:
        """Let `path` answer so, and return its URL."""
        for answer in answers:
            made = answer if isinstance(answer, Answer) else Answer(answer)
            self.answers[path].append(made)
        return f"{self.address}/{path}"

    def answer(self, path: str) -> Answer:
        """Return the next answer; 404 where nothing was offered."""
        self.requests.append(path)
        waiting = self.answers.get(path, [Answer(b"not here", 404)])
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server on a free port of the loopback device."""
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
    server.block_on_close = False  # a stalled answer need not be waited for
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
