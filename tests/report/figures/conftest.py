"""A look at figures before they are files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from matplotlib.figure import Figure

from cdspp.report.figures.style import canvas

Watch = Callable[[ModuleType], list[Figure]]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Return a function that collects the figures which a module draws."""

    def start(module: ModuleType) -> list[Figure]:
        drawn: list[Figure] = []

        @contextmanager
        def keep(*args: Any) -> Iterator[Figure]:
            with canvas(*args) as figure:
                yield figure
                drawn.append(figure)

        monkeypatch.setattr(module, "canvas", keep)
        return drawn

    return start
