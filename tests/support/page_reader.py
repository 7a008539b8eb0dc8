"""Readers of pages and pictures: unclosed tags, ids, texts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

Attributes = list[tuple[str, str | None]]
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Reader(HTMLParser):
    """Collect tags, identifiers and addresses; note tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.ids, self.addresses, self.open, self.faults = [], [], [], []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        self.addresses += [values[k] for k in ("src", "href") if values.get(k)]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def texts(svg: str) -> list[str]:
    """Return the texts of an SVG file."""
    elements = re.findall(r"<text[^>]*>(.*?)</text>", svg, flags=re.DOTALL)
    return [re.sub(r"<[^>]+>|\s*\n\s*", "", text) for text in elements]


def read_page(path: Path) -> tuple[str, Reader]:
    """Read a page; all elements must be closed, and % must follow a blank."""
    text = path.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.faults == reader.open == []
    return text.replace("\N{NO-BREAK SPACE}%", " %"), reader
