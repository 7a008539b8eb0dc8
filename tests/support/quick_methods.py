"""Every method that the package lists, with few iterations, for tests of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from cdspp.methods import available, make, option_defaults
from cdspp.methods.descriptions import Description, read_descriptions

# Options that select another code path of a method, by identifier and path.
FORMS: Mapping[str, Mapping[str, Any]] = {
    "shfa exact": {"solver": "exact"},
    "svm-t raw": {"l2": False},
    "svm-t platt": {"strategy": "platt"},
    "svm-t platt raw": {"strategy": "platt", "l2": False},
    "svm-t decision": {"strategy": "decision"},
    "svm-t decision raw": {"strategy": "decision", "l2": False},
}

every_method = pytest.mark.parametrize("name", available())
every_form = pytest.mark.parametrize("form", [*available(), *FORMS])


def method_of(form: str) -> str:
    return form.split()[0]


def description_of(form: str) -> Description:
    """Return the description of the method of a form."""
    return read_descriptions()[method_of(form)]


def options_for(form: str, test: str) -> Mapping[str, Any]:
    """Return the options that the description of a method has for a test."""
    options: Mapping[str, Any] = description_of(form).tests.get(test, {})
    return options


def reason(reasons: Mapping[str, list[str]], topic: str) -> str | None:
    """Return the reason that applies to a topic."""
    return next((why for why, topics in reasons.items() if topic in topics), None)


def quick(form: str, width: int = 128, **options: Any) -> Any:
    """Return a method with few iterations, and a fixed seed if it takes one.

    A network has `width` components, half of its own number, as that takes minutes.
    """
    name = method_of(form)
    known = option_defaults(name)
    usual = {"random_state": 0} if "random_state" in known else {}
    if "learning_rate" in known:
        usual["n_components"] = width
    # Fewer iterations if the authors' number would take minutes in total.
    usual |= {**options_for(form, "quick"), **FORMS.get(form, {})}
    return make(name, **{**usual, **options})


def numbers_of(part: Any) -> Iterator[np.ndarray]:
    """Yield the float arrays in a fitted model and its parts."""
    if isinstance(part, np.ndarray):
        if part.dtype.kind == "f":
            yield part
    elif isinstance(part, float):
        yield np.array(part)
    elif isinstance(part, (list, tuple)):
        for one in part:
            yield from numbers_of(one)
    elif type(part).__module__.startswith("cdspp."):
        for one in vars(part).values():
            yield from numbers_of(one)
