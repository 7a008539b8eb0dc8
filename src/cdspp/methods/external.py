"""External methods: classes with `fit` and `predict`, run like built-in methods."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import make_pipeline

from cdspp.core.discovery import defaults_of, load_class
from cdspp.core.errors import ConfigError, MethodFailed
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem, SourceDomain
from cdspp.methods.problem import Collapse, find_collapse

__all__ = ["PREDICTIONS", "ExternalMethod", "class_path", "wrap_class", "wrap_object"]

TARGET_KIND, PREDICTIONS = "target-only", "predictions"


@dataclass(frozen=True)
class ExternalMethod:
    """An external method, as a study describes it."""

    place: str  #: ``module:Class``
    display_name: str = ""  #: Name in tables; by default the class's.
    kind: str = ""  #: ``target-only``, as scikit-learn's, or ``predictions``.
    seconds: float = 0.5  #: Expected seconds of a fit.
    states: bool = False  #: Whether there are predictions under controls.
    #: Class paths of transformers that rows go through first.
    preprocessing: tuple[str, ...] = ()


class ExternalClassifier(base.HeterogeneousClassifier):
    """An external class as a method: it sees class codes, and -1 for no label.

    ``fit(X, y, source=SourceDomain(...))`` receives the labelled target rows first.
    `predict` labels the other rows, or `transduction_` if the class has no `predict`. A
    class of the kind target-only receives no source, and unlabelled rows only if it is
    from `sklearn.semi_supervised`.
    """

    wrapped_class: ClassVar[type]
    preprocessing: ClassVar[tuple[str, ...]] = ()

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        self.model_ = model = self.wrapped_class(
            **build_options(self.get_params(deep=False))
        )
        if self.preprocessing:
            transformers = [load_class(place)() for place in self.preprocessing]
            self.model_ = make_pipeline(*transformers, model)
        X, y = problem.X_labelled, problem.y_labelled
        keywords = {}
        if not self.supervised:
            X = np.concatenate([X, problem.X_unlabelled])
            y = np.concatenate([y, np.full(len(problem.X_unlabelled), base.UNLABELLED)])
        if self.uses_source:
            keywords["source"] = SourceDomain(problem.X_source, problem.y_source)
        self.model_.fit(X, y, **keywords)
        if self.transductive:
            labels = model.transduction_[len(problem.y_labelled) :]
            return [Iteration(1, self._checked_codes(labels))]
        return []

    def _find_collapse(self, *signs: Any, **options: Any) -> Collapse:
        estimator = self.model_[-1] if self.preprocessing else self.model_
        iterations = getattr(estimator, "labeled_iter_", None)  # 0: given, -1: never
        if iterations is None or (iterations != -1).all() or (iterations > 0).any():
            return find_collapse(*signs, **options)
        return Collapse(
            "no pseudo-label",
            f"adopts pseudo-labels for none of {(iterations == -1).sum()} unlabelled "
            "rows, so it equals its estimator on the labelled rows. Lower threshold, "
            "scale the rows (preprocessing), or regularise its estimator less.",
        )

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self._checked_codes(self.model_.predict(X)), None

    def _checked_codes(self, labels: Any) -> Int:
        codes, n_classes = np.asarray(labels), len(self.classes_)
        if not np.isin(codes, np.arange(n_classes)).all():
            raise ValueError(
                f"{self.display_name} predicts {np.setdiff1d(codes, range(n_classes))}"
                f", expected labels of its fit, 0 to {n_classes - 1}"
            )
        return codes.astype(np.intp)


class ExternalTransduction(base.TransductiveClassifier, ExternalClassifier):
    """An external class that labels only the rows of its fit."""


class ExternalPredictions(base.TransductiveClassifier):
    """Predictions of another program, which the fit stage reads from their file."""

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        raise MethodFailed(f"{self.display_name} has external predictions and no fit")


def class_path(cls: type) -> str:
    """Return the path ``module:name`` of a class, as `load_class` takes it."""
    return f"{cls.__module__}:{cls.__qualname__}"


@cache
def wrap_class(name: str, method: ExternalMethod) -> type[base.HeterogeneousClassifier]:
    """Return an external class as a method with an identifier."""
    if method.kind != PREDICTIONS:
        return _as_method(name, method, load_class(method.place), {})
    attrs = {
        "identifier": name,
        "display_name": method.display_name or name,
        "uses_source": method.states,
        "cost": classmethod(lambda _, size: (0.01, 50.0)),
    }
    return type("ExternalPredictions", (ExternalPredictions,), attrs)


def _as_method(
    name: str, method: ExternalMethod, cls: type, options: Mapping[str, Any]
) -> type[base.HeterogeneousClassifier]:
    """Return `cls` as a method, with `options` as its defaults."""
    attrs: dict[str, Any] = {"identifier": name, "variant_of": cls}
    attrs |= {"__module__": cls.__module__, "__doc__": cls.__doc__}
    parts = name, method, cls, dict(options)
    attrs["__reduce__"] = lambda self: (_rebuild, parts, self.__getstate__())
    title = getattr(cls, "display_name", cls.__name__)
    attrs["display_name"] = method.display_name or title
    if issubclass(cls, base.HeterogeneousClassifier):
        if method.preprocessing:
            text = "the class prepares its rows itself; remove preprocessing."
            raise ConfigError(f"{method.place}: {text}")
        if options:
            init: Any = cls.__init__
            attrs["__init__"] = _constructor(cls, options, lambda m, kw: init(m, **kw))
        return type(cls.__name__, (cls,), attrs)
    target_only = method.kind == TARGET_KIND or cls.__module__.startswith("sklearn.")
    _check_fit_signature(method.place, cls, target_only)
    attrs["wrapped_class"], attrs["uses_source"] = cls, not target_only
    attrs["preprocessing"] = method.preprocessing
    # These take -1 for an unlabelled row; to other classifiers, -1 is a class.
    takes_unlabelled = cls.__module__.startswith("sklearn.semi_supervised")
    attrs["supervised"] = target_only and not takes_unlabelled
    attrs["needs_torch"] = bool(getattr(cls, "needs_torch", False))
    attrs["__init__"] = _constructor(cls, options, lambda m, kw: vars(m).update(kw))
    attrs["cost"] = classmethod(lambda _, size: (method.seconds, 50.0))
    parent = ExternalClassifier if hasattr(cls, "predict") else ExternalTransduction
    return type(cls.__name__, (parent,), attrs)


def _rebuild(*parts: Any) -> base.HeterogeneousClassifier:
    """Return a new object of a class of `_as_method`, for pickle."""
    cls = _as_method(*parts)
    return cls.__new__(cls)


def _check_fit_signature(place: str, cls: type, target_only: bool) -> None:
    """Refuse a class whose `fit` takes no source, unless it is target-only."""
    fit = getattr(cls, "fit", None)
    parameters = inspect.signature(fit).parameters.values() if callable(fit) else ()
    kinds = {parameter.name: parameter.kind for parameter in parameters}
    takes_source = "source" in kinds or inspect.Parameter.VAR_KEYWORD in kinds.values()
    if not (kinds and (target_only or takes_source)):
        raise ConfigError(
            f"{place}: expected a class with fit(X, y, *, source=), where source has X "
            "and y; for a classifier without a source, set `kind: target-only`."
        )


def _constructor(
    cls: type, values: Mapping[str, Any], setter: Callable[[Any, dict[str, Any]], None]
) -> Any:
    """Return an ``__init__`` with the options of `cls`, which calls `setter` with them.

    scikit-learn reads options from the signature, which therefore omits ``*args`` and
    ``**kwargs``.
    """
    options = [
        parameter.replace(default=values.get(parameter.name, parameter.default))
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    signature = inspect.Signature(options)

    def __init__(self: Any, *positional: Any, **named: Any) -> None:
        bound = signature.bind(*positional, **named)
        bound.apply_defaults()
        setter(self, bound.arguments)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    __init__.__signature__ = inspect.Signature([own, *options])  # type: ignore[attr-defined]
    return __init__


def build_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Build each option that is a model: ``{class: ..., options: {...}}``."""
    built = dict(options)
    for name, value in options.items():
        nested = isinstance(value, Mapping) and "class" in value
        if nested and not set(value) - {"class", "options"}:
            built[name] = load_class(value["class"])(
                **build_options(value.get("options", {}))
            )
    return built


def wrap_object(method: Any) -> tuple[str, type[base.HeterogeneousClassifier]]:
    """Return name and method of a class, or of an instance with its options."""
    cls = method if inspect.isclass(method) else type(method)
    path, changes = class_path(cls), {}
    if cls is not method:
        if not hasattr(method, "get_params"):
            raise ConfigError(
                f"an instance of {path} has no get_params, so it cannot be "
                "cloned and fitted. Pass the class, or derive it from "
                "scikit-learn's BaseEstimator."
            )
        defaults, options = defaults_of(cls), method.get_params(deep=False)
        changes = {k: v for k, v in options.items() if repr(v) != repr(defaults.get(k))}
    text = ", ".join(f"{k}={v!r}" for k, v in changes.items())
    name = f"{path}({text})" if text else path
    wrapped = _as_method(name, ExternalMethod(path), cls, changes)
    if text:
        title = getattr(cls, "named_with_options", wrapped.display_name)
        wrapped.display_name = f"{title} ({text})"
    return name, wrapped
