"""Configurations to be changed by a test."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from support.study_files import ROOT

FEW = ("svm-t", "cdspp-sup", "cdspp", "cdspp-pca", "target-only")


@pytest.fixture
def embedded() -> dict[str, Any]:
    """Return the configuration of the embedded study."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())
    return config


@pytest.fixture
def config(embedded: dict[str, Any]) -> dict[str, Any]:
    """Return that of the embedded study with few methods, no grids and no curves.

    Its settings are two kinds of noise in place of the source.
    """
    embedded["methods"] = [
        {key: value for key, value in entry.items() if key != "grid"}
        for entry in embedded["methods"]
        if entry["id"] in FEW
    ]
    settings = [
        {"id": "hiss", "source": {"name": "noise"}, "methods": ["cdspp"]},
        {"id": "wide", "source": {"name": "class-noise"}, "methods": ["cdspp"]},
    ]
    return embedded | {"settings": settings, "curves": [], "deviations": []}
