"""Random streams named by what they are for, equal in every process."""

from __future__ import annotations

import hashlib
import json

import numpy as np

__all__ = ["generator", "integer_seed"]


def _entropy(axes: tuple[str | int, ...]) -> int:
    text = json.dumps(axes, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(*axes: str | int) -> np.random.Generator:
    """Return the random stream of the given names, for instance (seed, task, trial).

    Examples
    --------
    >>> from cdspp.core.seeding import generator
    >>> generator(0, "digits", 1).random() == generator(0, "digits", 1).random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence(_entropy(axes)))


def integer_seed(*axes: str | int) -> int:
    """Return a seed of 32 bits for libraries that want a number."""
    return int(generator(*axes).integers(2**32))
