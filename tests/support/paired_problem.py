"""A problem that paired rows solve, and labels hardly."""

from __future__ import annotations

import numpy as np

from cdspp import SourceDomain


def paired_problem() -> tuple[np.ndarray, np.ndarray, SourceDomain]:
    """Return ten classes that three labelled rows each hardly tell apart; 60 pairs."""
    rng = np.random.default_rng(0)
    centres, views = rng.standard_normal((10, 10)), rng.standard_normal((2, 10, 14))

    def draw(codes: np.ndarray) -> np.ndarray:
        return centres[codes] + 1.1 * rng.standard_normal((len(codes), 10))

    codes, truth = np.arange(120) % 10, np.arange(150) % 10
    objects = draw(rng.integers(10, size=60))
    X = draw(truth) @ views[1]
    y = np.where(np.arange(150) < 30, truth, -1)
    pairs = objects @ views[0], objects @ views[1]
    return X, y, SourceDomain(draw(codes) @ views[0], codes, paired_rows=pairs)
