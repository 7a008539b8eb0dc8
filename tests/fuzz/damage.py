"""Random damage to files, configurations and calls, and what may come of it."""

from __future__ import annotations

import copy
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from cdspp.core.errors import DataError, MethodFailed

TOKENS = (b'"', b",", b";", b"\t", b"\n", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf")
TOKENS += (b"NaN", b"1e999", b"-1", b"NA", b"'", b"{", b"]", b": ", b"PK", b" " * 50)
ODD: tuple[Any, ...] = (None, True, -1, 0, 2.5, 1e308, float("nan"), "", "x", "\xe9")
ODD += ([], {}, [None], {"a": 1}, ["x", "x"], "9" * 400, [[1]], "-" * 2000, 10**30)

# Words of Python and NumPy for a mistake of the code, which no user can mend.
INTERNAL = re.compile(
    "unpack|has no attribute|NoneType|not iterable|not subscriptable|broadcast|"
    "unsupported operand|invalid literal|index out of|is not in list"
)


def attacks(quick: int, long: int) -> Any:
    """Give a test its seeds: a few in every run, many in the slow one."""
    return pytest.mark.parametrize(
        "seeds",
        [
            pytest.param(range(quick), id="some"),
            pytest.param(range(quick, long), id="many", marks=pytest.mark.slow),
        ],
    )


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return a file with one to three places changed, cut out, doubled or put in."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(data) + 1)
        end = min(start + rng.choice((1, 1, 4, 40, 4000)), len(data))
        cut = data[start:end]
        piece = rng.choice(
            (b"", rng.choice(TOKENS), rng.randbytes(end - start), 2 * cut)
        )
        data[start:end] = piece
    return bytes(data)


def damaged_tree(tree: Any, rng: random.Random) -> Any:
    """Return lists and mappings with one to three values lost, doubled or odd."""
    copied = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 3)):
        places = [*_places(copied)]
        if not places:
            return copied
        holder, key = rng.choice(places)
        how = rng.randrange(4)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif how == 1:
            holder[f"{key}x"] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))
    return copied


def _places(tree: Any) -> Any:
    """Yield each holder in a tree with each of its keys or places."""
    if isinstance(tree, dict | list):
        for key in [*tree] if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from _places(tree[key])


def tried(call: Callable[[], Any], what: str) -> Any:
    """Return what a call gives, or the error that says in words what is wrong.

    Any other error fails the test, and so does one without a sentence of ours.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except (ValueError, TypeError, MethodFailed, OSError, MemoryError) as error:
        text = str(error)
        ours = isinstance(error, DataError)  # which may quote another's words
        if not text.strip() or (not ours and INTERNAL.search(text)):
            raise AssertionError(f"{what}: {type(error).__name__}: {text}") from error
        return error
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
