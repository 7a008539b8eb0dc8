"""Output as pages show it: parts in their order, with dots for what is left out."""

from __future__ import annotations

__all__ = ["is_excerpt"]


def is_excerpt(shown: str, printed: str) -> bool:
    """Whether the parts between lines of dots are printed, whole and in this order."""
    place = 0
    for part in f"\n{shown}".split("\n...\n"):
        lines = part.strip("\n")
        found = f"\n{printed}\n".find(f"\n{lines}\n", place)
        if found < 0:
            return False
        place = found + len(lines)
    return True
