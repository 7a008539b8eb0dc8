"""Random streams named by their purpose, equal in every process."""

import hashlib
import json

import numpy as np


def generator(*axes: str | int) -> np.random.Generator:
    """Return the random stream of these names, for instance (seed, task, trial)."""
    text = json.dumps(axes, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def integer_seed(*axes: str | int) -> int:
    """Return a 32-bit seed for libraries that expect an integer."""
    return int(generator(*axes).integers(2**32))
