"""Adds each method to `src/cdspp/__init__.pyi`, for type checkers (`make format`)."""

from __future__ import annotations

import re
from pathlib import Path

from cdspp.methods.descriptions import read_descriptions

__all__ = ["with_methods"]

STUB = Path(__file__).parents[1] / "src/cdspp/__init__.pyi"


def with_methods(stub: str) -> str:
    """Return a stub that imports every method; `ruff` sorts the lines."""
    lines = [
        f"from {each.module} import {each.class_name} as {each.class_name}\n"
        for each in read_descriptions().values()
        if not re.search(rf"\b{each.class_name} as ", stub)
    ]
    head, version, rest = stub.partition("\n__version__")
    return head + "".join(lines) + version + rest


if __name__ == "__main__":
    STUB.write_text(with_methods(STUB.read_text(encoding="utf-8")), encoding="utf-8")
