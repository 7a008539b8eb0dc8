"""Edits of code: those that outdate a result, and those that do not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from cdspp.core import code_digests
from cdspp.core.code_texts import without_texts

PACKAGE = Path(code_digests.__file__).parents[1]

# Edits of words: file, text, its replacement.
WORDS = {
    "a docstring": ("methods/svm_t.py", '"""Linear', '"""A linear'),
    "a comment": ("core/linalg.py", "# with fewer classes,", "# with few classes,"),
    "a raised message": (
        *("core/linalg.py", 'f"{message}: {shown}{more}. {remedy}"'),
        'f"{message}: {shown}{more}; {remedy}"',
    ),
    "a message in parts": (
        *("stages/trials.py", "its samples are not those", "they are not those"),
    ),
    "words of a helper": ("core/wording.py", ".0f} min", ".0f} minutes"),
    "an error's own words": ("core/errors.py", "pip install", "python -m pip install"),
    "a warning": ("methods/labels.py", "read as unlabelled:", "taken as unlabelled:"),
    "a line of a log": ("stages/fit.py", "%s exists, with equal", "%s is kept, equal"),
    "a forecast": ("methods/cost.py", "START_UP_MB, TORCH_MB = 250.0", "A, B = 200.0"),
    "an annotation": ("stages/trials.py", "trial: int) -> dict", "trial: Any) -> dict"),
}
# Edits of numbers, or of what decides about them.
NUMBERS = {
    "a constant": ("core/linalg.py", "MANY_CLASSES = 50", "MANY_CLASSES = 49"),
    "an operator": (
        *("methods/cdspp/structure_preserving.py", "B /= np.sqrt", "B *= np.sqrt"),
    ),
    "the condition of an error": (
        *("stages/trials.py", "rows.max(initial=-1) >=", "rows.max(initial=-1) >"),
    ),
    "the class of an error": (
        *("stages/trials.py", "raise DataError(f\"{files['pairs']}"),
        "raise MethodFailed(f\"{files['pairs']}",
    ),
    "a default": ("methods/svm_t.py", "C: float = 1.0", "C: float = 2.0"),
    "a key": ("stages/trials.py", '== "exclude"', '== "include"'),
    "an argument": ("stages/trials.py", "strict=True", "strict=False"),
    "a draw": ("stages/source_states.py", "rng.permutation(n)", "rng.choice(n, n)"),
    "a seed's name": ("stages/fit.py", 'integer_seed("selection"', 'integer_seed("s"'),
    "folds": ("stages/fit.py", "FOLDS = 3", "FOLDS = 4"),
}


def identity(name: str, text: str) -> str:
    module = f"cdspp.{name.removesuffix('.py').replace('/', '.')}"
    if module in code_digests.NO_NUMBERS:
        return ""
    return ast.dump(without_texts(ast.parse(text), code_digests.NO_NUMBERS))


@pytest.mark.parametrize("edit", [*WORDS, *NUMBERS])
def test_an_edit_of_numbers_alone_makes_another_result(edit: str) -> None:
    name, old, new = (WORDS | NUMBERS)[edit]
    text = (PACKAGE / name).read_text()
    assert old in text
    changed = identity(name, text.replace(old, new)) != identity(name, text)
    assert changed == (edit in NUMBERS)


def small(text: str) -> str:
    kept = without_texts(ast.parse(text), {"own.errors"})
    return ast.unparse(ast.fix_missing_locations(kept))


def test_what_serves_only_a_message_goes_and_no_more() -> None:
    text = """
from own.errors import Fault, words
REMEDY, _LIMIT = "Do so.", 3

def _told(n):
    return words(n)

def keep(rows, rng):
    n, fault = len(rows), f"{REMEDY}"
    drawn = rng.random()
    if n > _LIMIT:
        raise Fault(f"{fault}: {drawn} {_told(3)}") from None
    return rows
"""
    assert small(text).split("\n\n") == [
        "REMEDY, _LIMIT = ('Do so.', 3)",
        "def keep(rows, rng):\n"
        "    n, = (len(rows),)\n"
        "    drawn = rng.random()\n"
        "    if n > _LIMIT:\n"
        "        raise Fault\n"
        "    return rows",
    ]
