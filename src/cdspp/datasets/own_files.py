"""Files of the user's own: whether images can be read, and what content they have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.provenance import file_digest
from cdspp.core.whole_files import read_json, write_json

__all__ = ["check_images", "file_digests", "read_kept"]

NAMED = 20  # of unreadable images in one error
SHRINK = 8  # the most by which JPEG files are decoded smaller, which is quicker


def check_images(files: Sequence[Path]) -> None:
    """Read images once, so that no fit waits for one that cannot be decoded.

    DataError names those that cannot.
    """
    faults = [str(path) for path in files if not _is_readable(path)]
    if faults:
        told = ", ".join(faults[:NAMED]) + ", ..." * (len(faults) > NAMED)
        message = f"{len(faults)} of {len(files)} images cannot be read: {told}"
        raise DataError(f"{message}. Replace or remove them.")


def _is_readable(path: Path) -> bool:
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.format == "PNG":
                image.verify()  # by its checksums, which is quicker than decoding
            else:
                # The header alone would let an image pass that ends too early.
                width, height = (max(1, side // SHRINK) for side in image.size)
                image.draft("L", (width, height))
                image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def file_digests(
    files: Sequence[Path], memory: str | Path | None = None
) -> dict[str, str]:
    """Return a digest of the content of each file, by its path.

    The JSON file `memory` keeps what the last call found: a file of equal size and time
    of change is not read again.
    """
    kept = read_kept(memory).items()
    known = {path: entry for path, entry in kept if isinstance(entry, list)}
    found: dict[str, list[Any]] = {}
    for path in files:
        status = path.stat()
        state = [status.st_size, status.st_mtime_ns]
        entry = known.get(str(path), [])
        if entry[:2] != state:
            entry = [*state, file_digest(path)]
        found[str(path)] = entry
    if memory is not None and found != known:
        write_json(memory, found)
    return {path: content for path, (*_, content) in found.items()}


def read_kept(path: str | Path | None) -> dict[str, Any]:
    """Return what was kept in a JSON file, nothing where that is damaged."""
    try:
        known = {} if path is None else read_json(path)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
