"""Tables and figures of a study as parts of the page, self-contained."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

__all__ = ["Embedder", "Files", "inline_svg"]

PathLike = str | os.PathLike[str]

_MIME = {".csv": "text/csv", ".md": "text/markdown", ".tex": "application/x-tex"}
# Screen pixels a point: 9 pt labels show at the size of the page's small print.
_SCALE = 1.6


@dataclass(frozen=True)
class Files:
    """Tables and figures of a study by their names.

    Attributes
    ----------
    folders : mapping of str to tuple of path
        Where the files of each name are; a table and a figure may share one.
    max_bytes : int
        Largest SVG to embed where there is a PNG.
    """

    folders: Mapping[str, tuple[Path, ...]]
    max_bytes: int

    @classmethod
    def of(cls, paths: Iterable[PathLike], *, max_bytes: int) -> Files:
        """Take any form of a table or figure; the others are looked for beside it."""
        folders: dict[str, dict[Path, None]] = {}
        for path in map(Path, paths):
            folders.setdefault(path.stem, {})[path.parent] = None
        return cls({name: tuple(found) for name, found in folders.items()}, max_bytes)

    def find(self, name: str, suffix: str) -> Path | None:
        """Return the file of this name and form, if it exists."""
        paths = (room / f"{name}{suffix}" for room in self.folders.get(name, ()))
        return next((path for path in paths if path.is_file()), None)


class Embedder:
    """Writes a table or figure as HTML; nothing where it is absent.

    Parameters
    ----------
    files : Files
        Where to look.
    environment : Environment
        The page's templates.
    """

    def __init__(self, files: Files, environment: Environment) -> None:
        self.files = files
        self.frames: Any = environment.get_template("embed.html.j2").module

    def table(self, name: str) -> Markup:
        """Show a table as its file says, with its other forms to download."""
        fragment = self.files.find(name, ".html")
        if fragment is None:
            return Markup()
        forms = ((suffix, self.files.find(name, suffix)) for suffix in _MIME)
        downloads = [
            {
                "name": path.name,
                "form": suffix[1:],
                "mime": _MIME[suffix],
                "data": base64.b64encode(path.read_bytes()).decode(),
            }
            for suffix, path in forms
            if path is not None
        ]
        content = Markup(fragment.read_text(encoding="utf-8"))
        return Markup(self.frames.table(name, content, downloads)).strip()

    def figure(self, name: str, caption: Markup) -> Markup:
        """Embed a figure: its SVG if small enough, else its PNG."""
        svg, png = (self.files.find(name, suffix) for suffix in (".svg", ".png"))
        label = caption.striptags()
        if svg and (svg.stat().st_size <= self.files.max_bytes or not png):
            picture = inline_svg(svg.read_text("utf-8"), prefix=name, label=label)
        elif png:
            data = base64.b64encode(png.read_bytes()).decode()
            picture = Markup(self.frames.image(data, label)).strip()
        else:
            return Markup()
        return Markup(self.frames.figure(name, picture, caption)).strip()


def inline_svg(text: str, *, prefix: str, label: str) -> Markup:
    """Make an SVG file part of a page: own identifiers, own styles, no addresses.

    Parameters
    ----------
    text : str
        The file.
    prefix : str
        Put before each identifier, so that several figures do not clash.
    label : str
        Text that stands for the picture.
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
