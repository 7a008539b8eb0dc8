"""YAML files of the checkout, parsed once a process: tests read them again and again.

Files of a test itself are read each time, and so is what has changed.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from cdspp.core import yaml_files
from cdspp.datasets import catalogue

ROOT = Path(__file__).parents[2]
Read = Callable[[str | os.PathLike[str]], Any]


def keep_shipped_files() -> None:
    """Let the library's readers keep what they found; before others import them."""
    yaml_files.read_yaml = _kept(yaml_files.read_yaml)
    catalogue.load_catalogue = _kept(catalogue.load_catalogue)


def _kept(read: Read) -> Read:
    found: dict[tuple[Path, int], Any] = {}

    @wraps(read)
    def reading(path: str | os.PathLike[str]) -> Any:
        place = Path(path).absolute()
        if not place.is_relative_to(ROOT) or not place.is_file():
            return read(path)
        state = place, place.stat().st_mtime_ns
        if state not in found:
            found[state] = read(path)
        return copy.deepcopy(found[state])

    return reading
