"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Test processes share the cores; workers and their children inherit this.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the folder of the checkout."""
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def reference_folder() -> Path:
    """Return the folder of the authors' cases, or skip where there is none."""
    folder = os.environ.get("CDSPP_REFERENCE")
    if not folder:
        pytest.skip("CDSPP_REFERENCE names no folder of reference cases")
    return Path(folder)


@pytest.fixture(scope="session")
def mirror_folder() -> Path:
    """Return the folder of published files, or skip where there is none."""
    folder = os.environ.get("CDSPP_MIRROR")
    if not folder:
        pytest.skip("CDSPP_MIRROR names no folder of published files")
    return Path(folder)
