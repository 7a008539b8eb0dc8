"""Methods from outside: a class with `fit` and `predict`, run like any other method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from cdspp.core.discovery import defaults_of, load_class
from cdspp.core.errors import ConfigError, MethodFailed
from cdspp.methods.base import (
    UNLABELLED,
    Float,
    HeterogeneousClassifier,
    Int,
    Problem,
    Round,
    SourceDomain,
    TransductiveClassifier,
)

__all__ = ["PREDICTIONS", "Guest", "class_path", "guest_class", "of_object"]

TARGET_KIND, PREDICTIONS = "target-only", "predictions"
# Of scikit-learn: these take -1 for a row without a label, where others see a class.
SEMI_SUPERVISED = "sklearn.semi_supervised"
NESTED = {"class", "options"}


@dataclass(frozen=True)
class Guest:
    """What a study says of a method from outside.

    Its module and class (``mine:MyMethod``); its name in tables and figures, that of
    the class by default; as kind ``target-only`` for a classifier that is fitted
    without the source, ``predictions`` where they are made elsewhere and nothing is
    fitted here; the seconds that a fit is expected to take; and of predictions, whether
    there are some in other source states.
    """

    place: str
    display_name: str = ""
    kind: str = ""
    seconds: float = 0.5
    states: bool = False


class GuestClassifier(HeterogeneousClassifier):
    """A class from outside as a method: it sees class codes, and -1 for no label.

    A subclass is made for each by `guest_class`. The outside model is fitted by
    ``fit(X, y, source=SourceDomain(...))`` on target rows, the labelled ones first. The
    others are labelled by `predict` or, of a class without it, by `transduction_`. Of
    the kind target-only it is fitted without a source, and on labelled rows alone
    unless it is one of `sklearn.semi_supervised`.
    """

    outside: ClassVar[type]

    def _fit_problem(self, problem: Problem) -> list[Round]:
        options = {k: _built(v) for k, v in self.get_params(deep=False).items()}
        self.model_ = self.outside(**options)
        X, y = problem.X_labelled, problem.y_labelled
        more = {}
        if not self.supervised:
            X = np.concatenate([X, problem.X_unlabelled])
            y = np.concatenate([y, np.full(len(problem.X_unlabelled), UNLABELLED)])
        if self.uses_source:
            more["source"] = SourceDomain(problem.X_source, problem.y_source)
        self.model_.fit(X, y, **more)
        if self.transductive:
            found = self.model_.transduction_[len(problem.y_labelled) :]
            return [Round(1, self._codes_of(found, problem.n_classes))]
        return []

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        found = self.model_.predict(X)
        return self._codes_of(found, len(self.classes_)), None

    def _codes_of(self, found: Any, n_classes: int) -> Int:
        codes = np.asarray(found)
        if not np.isin(codes, np.arange(n_classes)).all():
            raise ValueError(
                f"{self.display_name} predicts {np.setdiff1d(codes, range(n_classes))}"
                f", expected the labels that it was fitted on, 0 to {n_classes - 1}"
            )
        return codes.astype(np.intp)


class TransductiveGuest(TransductiveClassifier, GuestClassifier):
    """A class from outside that labels the rows it is fitted on and no others."""


class MadeElsewhere(TransductiveClassifier):
    """Predictions that are made elsewhere; the fit stage takes them from their file."""

    def _fit_problem(self, problem: Problem) -> list[Round]:
        raise MethodFailed(f"{self.display_name} is made elsewhere and not fitted")


def class_path(cls: type) -> str:
    """Return module and name of a class, as `load_class` takes them."""
    return f"{cls.__module__}:{cls.__qualname__}"


@cache
def guest_class(name: str, guest: Guest) -> type[HeterogeneousClassifier]:
    """Return a class from outside as a method with an identifier.

    ConfigError tells where it cannot be imported, or has not what a method has.
    """
    if guest.kind != PREDICTIONS:
        return _as_method(name, guest, load_class(guest.place))
    own = {
        "identifier": name,
        "display_name": guest.display_name or name,
        "uses_source": guest.states,
        "work": classmethod(lambda _, size: (0.01, 50.0)),
        "__module__": __name__,
    }
    return type("MadeElsewhere", (MadeElsewhere,), own)


def _as_method(name: str, guest: Guest, cls: type) -> type[HeterogeneousClassifier]:
    """Return `cls` as a method of an identifier; see `guest_class`."""
    own: dict[str, Any] = {"identifier": name}
    own |= {"__module__": cls.__module__, "__doc__": cls.__doc__}
    shown = getattr(cls, "display_name", cls.__name__)
    own["display_name"] = guest.display_name or shown
    if issubclass(cls, HeterogeneousClassifier):
        return type(cls.__name__, (cls,), own)
    target_only = guest.kind == TARGET_KIND
    _check_offers(guest.place, cls, target_only)
    own["outside"], own["uses_source"] = cls, not target_only
    own["supervised"] = target_only and not cls.__module__.startswith(SEMI_SUPERVISED)
    own["needs_torch"] = bool(getattr(cls, "needs_torch", False))
    own["__init__"] = _constructor(
        _named_options(cls), lambda model, given: vars(model).update(given)
    )
    own["work"] = classmethod(lambda _, size: (guest.seconds, 50.0))
    base = GuestClassifier if hasattr(cls, "predict") else TransductiveGuest
    return type(cls.__name__, (base,), own)


def _check_offers(place: str, cls: type, target_only: bool) -> None:
    """Check that a class has what a method must have."""
    fit = getattr(cls, "fit", None)
    if not callable(fit):
        raise ConfigError(f"{place}: has no fit(X, y, *, source=).")
    takes = inspect.signature(fit).parameters.values()
    named = {each.name for each in takes}
    open_ended = any(each.kind is each.VAR_KEYWORD for each in takes)
    if not target_only and "source" not in named and not open_ended:
        raise ConfigError(
            f"{place}: fit takes no source. Expected fit(X, y, *, source=), where "
            "source has X and y; say `kind: target-only` of a classifier without one."
        )


def _named_options(cls: type) -> list[inspect.Parameter]:
    """Return the parameters of a class, but for ``*args`` and ``**kwargs``."""
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    found = inspect.signature(cls).parameters.values()
    return [each for each in found if each.kind not in kinds]


def _constructor(
    options: Sequence[inspect.Parameter], then: Callable[[Any, dict[str, Any]], None]
) -> Any:
    """Return an ``__init__`` with these options, which calls `then` with their values.

    Its signature is what scikit-learn knows the options by.
    """
    signature = inspect.Signature(options)

    def __init__(self: Any, *positional: Any, **named: Any) -> None:
        bound = signature.bind(*positional, **named)
        bound.apply_defaults()
        then(self, bound.arguments)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    __init__.__signature__ = inspect.Signature([own, *options])  # type: ignore[attr-defined]
    return __init__


def _built(value: Any) -> Any:
    """Build an option that is a model of its own: ``{class: ..., options: {...}}``."""
    if not isinstance(value, Mapping) or "class" not in value or set(value) - NESTED:
        return value
    options = {k: _built(v) for k, v in value.get("options", {}).items()}
    return load_class(value["class"])(**options)


def of_object(method: Any) -> tuple[str, type[HeterogeneousClassifier]]:
    """Return name and method of a class, or of an instance with its options.

    ConfigError tells where it has not what a method has, or `get_params` is missing.
    """
    cls = method if inspect.isclass(method) else type(method)
    options: Mapping[str, Any] = {}
    if cls is not method:
        if not hasattr(method, "get_params"):
            raise ConfigError(
                f"an instance of {class_path(cls)} has no get_params, so that it "
                "cannot be fitted afresh. Pass the class, or derive it from "
                "scikit-learn's BaseEstimator."
            )
        options = method.get_params(deep=False)
    usual = defaults_of(cls)
    kept = {k: v for k, v in options.items() if repr(v) != repr(usual.get(k))}
    changed = ", ".join(f"{k}={v!r}" for k, v in kept.items())
    name = class_path(cls) + f"({changed})" * bool(changed)
    found = _as_method(name, Guest(class_path(cls)), cls)
    if not changed:
        return name, found
    known = [
        each.replace(default=options.get(each.name, each.default))
        for each in _named_options(found)
    ]
    init: Any = found.__init__
    own = {
        "__init__": _constructor(known, lambda model, given: init(model, **given)),
        "display_name": f"{found.display_name} ({changed})",
    }
    return name, type(found.__name__, (found,), own)
