"""Heterogeneous domain adaptation with CDSPP and the methods it is compared with."""

import logging
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from cdspp.core.version import VERSION

__version__ = VERSION
# Messages logged here reach handlers of the program, and no screen without handlers.
logging.getLogger(__name__).addHandler(logging.NullHandler())
# The module of each public name; `__init__.pyi` lists the same for type checkers.
_NAMED = re.compile(r"^from (\S+) import \(?\s*(\w+) as", flags=re.MULTILINE)
_LIST = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_PLACES = {name: module for module, name in _NAMED.findall(_LIST)}
__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    """Import names on first use, because most jobs of a study need no estimator."""
    if name not in _PLACES:
        raise AttributeError(f"module 'cdspp' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
