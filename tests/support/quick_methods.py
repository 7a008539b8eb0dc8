"""Every method that the package lists, with few iterations, for tests of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cdspp.methods import available, make, option_defaults

__all__ = ["every_method", "quick"]

every_method = pytest.mark.parametrize("name", available())

# Fewer iterations where the authors' number would take minutes in all.
QUICK: Mapping[str, Mapping[str, Any]] = {
    "hfa": {"max_iter": 5},
    "shfa": {"max_iter": 5},
    "stn": {"max_iter": 10},
    "ssan": {"max_iter": 20},
}


def quick(name: str) -> Any:
    """Return a method with a fixed seed where it has one, and few iterations."""
    seed = {"random_state": 0} if "random_state" in option_defaults(name) else {}
    return make(name, **seed, **QUICK.get(name, {}))
