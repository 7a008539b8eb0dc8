"""What of a study that ran is the same wherever it runs."""

from __future__ import annotations

from pathlib import Path


def results(folder: Path) -> dict[str, bytes]:
    """Return scores, predictions and tables of all studies below a folder, by name."""
    patterns = ("*/scores/*", "*/fits/**/*.parquet", "*/tables/*.csv")
    root = folder / "results"
    found = {path for pattern in patterns for path in root.glob(pattern)}
    assert found
    files = sorted(path for path in found if path.suffix != ".json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
