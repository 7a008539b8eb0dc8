"""A look at figures before they are files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from matplotlib.figure import Figure

from cdspp.report.figures import style
from cdspp.report.figures.style import canvas

Watch = Callable[[], list[Figure]]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Return a function that collects the figures that are drawn from then on."""

    def start() -> list[Figure]:
        drawn: list[Figure] = []

        @contextmanager
        def keep(*args: Any) -> Iterator[Figure]:
            with canvas(*args) as figure:
                yield figure
                drawn.append(figure)

        monkeypatch.setattr(style, "canvas", keep)
        return drawn

    return start
