"""Building blocks of the report page: sections, figures, downloads, the page itself."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path

__all__ = [
    "Files",
    "Section",
    "details",
    "figure_html",
    "fragment_html",
    "inline_svg",
    "page_html",
    "pairs_html",
    "table_html",
    "template_digest",
]

PathLike = str | os.PathLike[str]

_MIME = {".csv": "text/csv", ".md": "text/markdown", ".tex": "application/x-tex"}
# Screen pixels a point: 9 pt labels show at the size of the page's small print.
_SCALE = 1.6
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'"
)


@dataclass(frozen=True)
class Section:
    """A part of the page: anchor, heading, HTML content, and where it is listed."""

    anchor: str
    heading: str
    content: str
    group: str = ""


def template_digest() -> str:
    """Return a digest of the page's style and script, which are no Python code."""
    return hashlib.sha256("".join(_templates()).encode()).hexdigest()[:16]


def _templates() -> tuple[str, str]:
    folder = resources.files("cdspp.report.page") / "templates"
    style = (folder / "report.css").read_text(encoding="utf-8")
    return style, (folder / "report.js").read_text(encoding="utf-8")


def page_html(
    *, title: str, header: str, sections: Sequence[Section], footer: str
) -> str:
    """Assemble the page; styles and script come with the package, nothing from afar."""
    style, script = _templates()
    body = "\n".join(
        f'<section id="{escape(section.anchor)}">\n<h2>{escape(section.heading)}</h2>\n'
        f"{section.content}\n</section>"
        for section in sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<div class="page">\n<nav aria-label="Contents">\n{_contents(sections)}\n'
        f"</nav>\n<main>\n<header>\n{header}\n</header>\n{body}\n"
        f"<footer>{footer}</footer>\n</main>\n</div>\n<script>\n{script}</script>\n"
        "</body>\n</html>\n"
    )


def _contents(sections: Sequence[Section]) -> str:
    """List the sections, those of a group under its name."""
    parts = []
    for group, members in groupby(sections, key=lambda section: section.group):
        entries = "\n".join(
            f'<li><a href="#{escape(s.anchor)}">{escape(s.heading)}</a></li>'
            for s in members
        )
        title = f"<p>{escape(group)}</p>\n" if group else ""
        parts.append(f"{title}<ol>\n{entries}\n</ol>")
    return "\n".join(parts)


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


def figure_html(name: str, caption: str, files: Files) -> str:
    """Embed a figure: its SVG if small enough, else its PNG; nothing if it is absent.

    Parameters
    ----------
    name : str
        File stem.
    caption : str
        HTML of the caption.
    files : Files
        Where to look.
    """
    svg, png = files.find(name, ".svg"), files.find(name, ".png")
    alt = escape(re.sub(r"<[^>]+>", "", caption))
    if svg and (svg.stat().st_size <= files.max_bytes or not png):
        picture = inline_svg(svg.read_text(encoding="utf-8"), prefix=name, label=alt)
    elif png:
        data = base64.b64encode(png.read_bytes()).decode()
        picture = (
            f'<img alt="{alt}" style="--width:860px" '
            f'src="data:image/png;base64,{data}">'
        )
    else:
        return ""
    return (
        f'<figure id="figure-{escape(name)}">\n<div class="plot scroll" tabindex="0">'
        f"{picture}</div>\n<figcaption>{caption}</figcaption>\n</figure>"
    )


def inline_svg(text: str, *, prefix: str, label: str) -> str:
    """Make an SVG file part of a page: own identifiers, own styles, no addresses.

    Parameters
    ----------
    text : str
        The file.
    prefix : str
        Put before each identifier, so that several figures do not clash.
    label : str
        Escaped text that stands for the picture.
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
    return (
        f'{head} role="img" aria-label="{label}" '
        f'style="--width:{wide}px;stroke-linejoin:round;stroke-linecap:butt">{rest}'
    )


def table_html(name: str, files: Files) -> str:
    """Show a table as its file says, with its other forms; nothing if it is absent.

    Parameters
    ----------
    name : str
        File stem.
    files : Files
        Where to look.
    """
    fragment = files.find(name, ".html")
    if fragment is None:
        return ""
    links = []
    for suffix, mime in _MIME.items():
        if path := files.find(name, suffix):
            data = base64.b64encode(path.read_bytes()).decode()
            links.append(
                f'<a download="{escape(path.name)}" '
                f'href="data:{mime};base64,{data}">{suffix[1:]}</a>'
            )
    download = f'<p class="files">{" ".join(links)}</p>' if links else ""
    return fragment_html(name, fragment.read_text(encoding="utf-8") + download)


def fragment_html(name: str, content: str) -> str:
    """Frame a table's caption and body (HTML) for the page."""
    return f'<figure class="table" id="table-{escape(name)}">\n{content}\n</figure>'


def details(summary: str, content: str, *, opened: bool = False) -> str:
    """Fold `content` (HTML) away behind a line of text."""
    state = " open" if opened else ""
    return (
        f"<details{state}><summary>{escape(summary)}</summary>\n{content}\n</details>"
    )


def pairs_html(pairs: Sequence[tuple[str, str]]) -> str:
    """List names and values (text) side by side."""
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in pairs
    )
    return f'<dl class="facts">{rows}</dl>'
