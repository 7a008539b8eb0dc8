"""Random streams named by what they are for, equal in every process."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(*axes: str | int) -> np.random.Generator:
    """Return the random stream of the given names, for instance (seed, task, trial)."""
    text = json.dumps(axes, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def integer_seed(*axes: str | int) -> int:
    """Return a seed of 32 bits for libraries that want a number."""
    return int(generator(*axes).integers(2**32))
