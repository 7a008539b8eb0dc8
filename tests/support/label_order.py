"""Whether an order of samples shows their classes, for tests of data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def are_mixed(labels: Sequence[str]) -> bool:
    """Return whether neighbours differ nearly as often as in a random order."""
    found = np.array(labels)
    shares = np.unique(found, return_counts=True)[1] / len(found)
    changes = np.count_nonzero(found[1:] != found[:-1]) / len(found)
    return bool(changes > 0.8 * (1 - np.sum(shares**2)))
