"""Tables and figures of a study as parts of the page, self-contained."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

__all__ = ["Embedder", "files_beside", "inline_svg"]

_MIME = {".csv": "text/csv", ".md": "text/markdown", ".tex": "application/x-tex"}
_FORMS = (*_MIME, ".html", ".svg", ".png")
# Screen pixels a point: 9 pt labels show at the size of the page's small print.
_SCALE = 1.6


def files_beside(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Return all forms of tables and figures of which any are given, by their names."""
    stems = dict.fromkeys(Path(path).with_suffix("") for path in paths)
    files = [stem.with_name(stem.name + form) for stem in stems for form in _FORMS]
    return {file.name: file for file in reversed(files) if file.is_file()}


class Embedder:
    """Writes a table or figure as HTML; nothing where it is absent.

    An SVG of more than `max_bytes` is left out where there is a PNG.
    """

    def __init__(
        self, files: Mapping[str, Path], max_bytes: int, environment: Environment
    ) -> None:
        self.files = files
        self.max_bytes = max_bytes
        self.frames: Any = environment.get_template("embed.html.j2").module

    def table(self, name: str) -> Markup:
        """Show a table as its file says, with its other forms to download."""
        fragment = self.files.get(f"{name}.html")
        if fragment is None:
            return Markup()
        downloads = [
            {
                "name": path.name,
                "form": suffix[1:],
                "mime": mime,
                "data": base64.b64encode(path.read_bytes()).decode(),
            }
            for suffix, mime in _MIME.items()
            if (path := self.files.get(f"{name}{suffix}"))
        ]
        content = Markup(fragment.read_text(encoding="utf-8"))
        return Markup(self.frames.table(name, content, downloads)).strip()

    def figure(self, name: str, caption: Markup) -> Markup:
        """Embed a figure: its SVG if small enough, else its PNG."""
        svg, png = (self.files.get(f"{name}{suffix}") for suffix in (".svg", ".png"))
        label = caption.striptags()
        if svg and (svg.stat().st_size <= self.max_bytes or not png):
            picture = inline_svg(svg.read_text("utf-8"), prefix=name, label=label)
        elif png:
            data = base64.b64encode(png.read_bytes()).decode()
            picture = Markup(self.frames.image(data, label)).strip()
        else:
            return Markup()
        return Markup(self.frames.figure(name, picture, caption)).strip()


def inline_svg(text: str, *, prefix: str, label: str) -> Markup:
    """Make an SVG file part of a page: own identifiers, own styles, no addresses.

    `prefix` stands before each identifier, so that several figures do not clash;
    `label` is the text that stands for the picture.
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", text)
    text = text.replace("xlink:href=", "href=")
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    head, rest = text.split(">", 1)
    size = re.search(r'viewBox="0 0 ([\d.]+)', head)
    wide = round(_SCALE * float(size.group(1))) if size else 900
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
    return Markup(
        f'{head} role="img" aria-label="{escape(label)}" '
        f'style="--width:{wide}px;stroke-linejoin:round;stroke-linecap:butt">{rest}'
    )
