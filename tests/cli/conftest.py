"""What a command of one test leaves in its process must not reach the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cdspp.methods import register_external


@pytest.fixture(autouse=True)
def _no_external_methods() -> Iterator[None]:
    """Forget the methods from outside of the studies that a command has read."""
    yield
    register_external({})
