"""A room with data, in which the fit stage runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from stages.room import Room


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)
