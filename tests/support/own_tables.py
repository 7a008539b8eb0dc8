"""Tables as files, for tests of commands on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_table(path: Path, columns: dict[str, Any]) -> str:
    """Write columns as CSV, and return the path."""
    lines = zip(*columns.values(), strict=True)
    rows = [",".join(columns), *(",".join(map(str, line)) for line in lines)]
    path.write_text("\n".join(rows) + "\n")
    return str(path)
