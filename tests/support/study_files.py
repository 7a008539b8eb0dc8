"""Study files of the project, loaded by the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cdspp.study.config import load_study, merge_files, merge_presets
from cdspp.study.model import Study

ROOT = Path(__file__).parents[2]


def load(config: dict[str, Any]) -> Study:
    return load_study(config, ROOT)


def load_own(own: dict[str, Any]) -> Study:
    return load(merge_presets(own, ROOT)[0])


def read_study(name: str) -> dict[str, Any]:
    """Return the configuration of a shipped study."""
    own = merge_files([ROOT / f"resources/studies/{name}.yaml"])
    return merge_presets(own, ROOT)[0]
