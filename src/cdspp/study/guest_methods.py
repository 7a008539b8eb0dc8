"""Methods from outside: classes that a study names, and predictions made elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cdspp.core.errors import ConfigError
from cdspp.methods import available, make_seeded, option_defaults, set_guests
from cdspp.methods.base import UNLABELLED, SourceDomain
from cdspp.methods.guests import PREDICTIONS

Config = Mapping[str, Any]
SAID = ("display_name", "kind", "seconds", "preprocessing")
# What belongs to a method that is fitted here.
FITTED = ("class", *SAID[1:], "options", "grid", "prior_file", "source_view")


def welcome_guests(config: Config) -> Iterator[str]:
    """Make the classes that a configuration names known as methods; yield the faults.

    Those at fault are not known afterwards, and neither are those of a study before.
    """
    guests: dict[str, dict[str, Any]] = {}
    set_guests({})
    for i, entry in enumerate(config.get("methods", [])):
        where, name = f"methods[{i}]", entry.get("id")
        made, own = "predictions" in entry, "class" in entry
        text = "stands beside a class; remove it, or name one"
        if made:
            text = "predictions made elsewhere are not fitted; remove it"
        for key in FITTED if made else () if own else SAID:
            if key in entry:
                yield f"{where}.{key}: {text}."
        if not (made or own):
            continue
        if name in available():
            taken = f"{name} is a method of cdspp or of a package"
            yield f"{where}.id: {taken}; choose another id."
        elif not made and (fault := _fault(name, entry)):
            yield f"{where}.class: {fault}"
        else:
            guests[name] = _said(entry)
    set_guests(guests)


def _said(entry: Config) -> dict[str, Any]:
    given = {key: entry[key] for key in SAID if key in entry}
    if "predictions" in entry:
        asked = bool(entry.get("states"))
        return given | {"place": "", "kind": PREDICTIONS, "states": asked}
    return given | {"place": entry["class"]}


def _fault(name: str, entry: Config) -> str:
    set_guests({name: _said(entry)})
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(3), 6)
    X_source = rng.standard_normal((18, 4)) + 5 * np.eye(3, 4)[classes]
    X = rng.standard_normal((18, 5)) + 5 * np.eye(3, 5)[classes]
    y = np.where(np.arange(18) % 2, classes, UNLABELLED)
    try:
        known = option_defaults(name)  # others are refused elsewhere
        given = {k: v for k, v in entry.get("options", {}).items() if k in known}
        with warnings.catch_warnings(action="ignore"):
            model = make_seeded(name, 0, **given)
            model.fit(X, y, source=SourceDomain(X_source, classes))
    except ConfigError as error:
        return str(error)
    except Exception as error:
        return (
            f"{entry['class']} stops on a toy problem ({type(error).__name__}: "
            f"{error}). Expected fit(X, y, *, source=), where y is -1 for a row "
            "without a label, and predict."
        )
    return ""
