"""Fail where a page would load anything over the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

__all__ = ["setup"]

# Links that a reader may follow are no loads; what a style sheet fetches is one.
LOADS = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//"
    r"|<link\b[^>]*\bhref=[\"']?(?:https?:)?//"
    r"|@import\s+(?:url\()?[\"']?(?:https?:)?//"
    r"|url\([\"']?(?:https?:)?//"
)


def _check(app: Any, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    for suffix in ("html", "css"):
        for path in sorted(Path(app.outdir).rglob(f"*.{suffix}")):
            if found := LOADS.search(path.read_text(encoding="utf-8")):
                raise ExtensionError(f"{path} loads from elsewhere: {found[0]}")


def setup(app: Any) -> dict[str, bool]:
    """Check all pages and style sheets once they are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
