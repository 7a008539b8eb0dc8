"""What the examples print, from a run in a folder that is thrown away."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["pages"]

EXAMPLES = ("two_tables", "image_folder")


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of what each example prints."""
    for name in EXAMPLES:
        script = root / "docs" / "examples" / f"{name}.py"
        yield f"examples/{name}.txt", _printed(root, script)


def _printed(root: Path, script: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(script), folder],
            cwd=root,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        )
        return done.stdout.replace(f"{folder}{os.sep}", "")
