"""Base classes of all methods: validation, class codes, transduction, prediction."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import validation
from sklearn.utils._param_validation import Interval, StrOptions

from cdspp.core.errors import CollapseWarning, LabelWarning
from cdspp.core.files import storable
from cdspp.core.labels import UNLABELLED
from cdspp.core.linalg import Float, Int
from cdspp.methods.bridge import (
    Bridge,
    check_shared_names,
    read_bridge,
    row_keys,
)
from cdspp.methods.cost import warn_of_cost
from cdspp.methods.descriptions import ATTRIBUTES, description_of_class
from cdspp.methods.labels import (
    Labels,
    check_classes,
    compare_classes,
    in_form_of,
    labelled_accuracy,
    read_labels,
)
from cdspp.methods.problem import (
    Collapse,
    Problem,
    SourceDomain,
    find_collapse,
    note_missing_source,
    number_errors,
)

if TYPE_CHECKING:
    # Untyped bases would let a type checker accept any argument of a method.
    class BaseEstimator:  # noqa: D101
        n_features_in_: int

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **params: Any) -> Self: ...  # noqa: D102
        def _validate_params(self) -> None: ...
        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin: ...  # noqa: D101
else:
    from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = [
    "UNLABELLED",
    "ConfidentClassifier",
    "Float",
    "HeterogeneousClassifier",
    "Int",
    "Problem",
    "Iteration",
    "SourceDomain",
    "Sources",
    "TransductiveClassifier",
]


Sources = SourceDomain | list[SourceDomain]

# Ranges of options, in scikit-learn's terms.
COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")


@storable
@dataclass(frozen=True, eq=False)
class Iteration:
    """One iteration of a method: its prediction for the unlabelled rows, in order."""

    iteration: int  #: Number of the iteration, from 1.
    prediction: NDArray[Any]  #: Predicted labels.
    confidence: Float | None = None  #: Probability of the label, if available.
    n_selected: int = 0  #: Number of pseudo-labelled rows in its fit.
    #: Source and target projection of the iteration, with ``keep_projections=True``;
    #: for several sources, a list replaces the first.
    projections: tuple[Float | list[Float], Float] | None = None


class HeterogeneousClassifier(ClassifierMixin, BaseEstimator):
    """Base class of all methods: validation, label codes, transduction, prediction.

    A subclass has `_fit_problem` and `_predict_codes`, and only sees class codes. Its
    description, with `identifier` and `display_name`, is in a file next to its module
    (``cdspp.methods.descriptions``), or in its body if it is no built-in method. Unless
    its page says otherwise, its labels depend neither on the order of the rows nor on
    the names of the classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes of the labelled target rows and the source, sorted.
    transduction_ : ndarray of shape (n_target,)
        Labels of all target rows of the fit, given and predicted.
    history_ : list of Iteration
        One entry per iteration, or a single one; the last is the result.
    n_iter_, n_features_in_ : int
        Number of iterations; number of target features.
    collapsed_ : str
        Kind of a degenerate fit, or empty: "diverged" (the objective has no
        minimum), "no pseudo-label" (self-training adopts none), "one class" (the method
        predicts one class for nearly all unlabelled rows) or "parallel rows" (the rows
        of a domain have nearly one direction, and the method does not centre them).
        `fit` then issues a `cdspp.core.errors.CollapseWarning`.
    """

    # `cdspp.methods.descriptions.Description` describes each.
    identifier: ClassVar[str]
    display_name: ClassVar[str]
    supervised: ClassVar[bool] = False
    transductive: ClassVar[bool] = False
    needs_torch: ClassVar[bool] = False
    needs_pot: ClassVar[bool] = False
    uses_source: ClassVar[bool] = True
    without_source_of: ClassVar[str] = ""
    option_notes: ClassVar[Mapping[str, str]] = {}  # on the curve of an option
    centres_rows: ClassVar[bool] = False
    accepts_sparse: ClassVar[bool] = False
    several_sources: ClassVar[bool] = False
    bridges: ClassVar[frozenset[str]] = frozenset()
    needs_bridge: ClassVar[bool] = False

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {}
    _row_type: Any = np.float64  # to which rows are converted

    classes_: NDArray[Any]
    collapsed_: str
    history_: list[Iteration]
    transduction_: NDArray[Any]
    n_iter_: int

    def __init_subclass__(cls, **options: Any) -> None:
        """Describe a built-in method, and sort the choices of its options.

        The order of a set differs from run to run.
        """
        super().__init_subclass__(**options)
        if found := description_of_class(cls):
            for name in ATTRIBUTES:
                if name not in vars(cls):  # a variant with options has its own names
                    setattr(cls, name, getattr(found, name))
        for constraint in chain(*cls._parameter_constraints.values()):
            if isinstance(constraint, StrOptions):
                constraint.options = dict.fromkeys(sorted(constraint.options))

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        return 0.5, 50.0

    @abstractmethod
    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        """Fit on class codes; return the iterations, or none to predict just once."""

    @abstractmethod
    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        """Return class codes of target rows, and confidences if available."""

    def fit(self, X: ArrayLike, y: Labels, *, source: Sources | None = None) -> Self:
        """Fit on target rows, labelled and unlabelled, and a labelled source.

        Parameters
        ----------
        X : array-like of shape (n_target, n_features)
            Target rows.
        y : array-like of shape (n_target,)
            Their labels. None, NaN, pandas' NA, blank text and -1 mark unlabelled rows;
            an array that mixes text with -1 must have the type object.
        source : SourceDomain or list of SourceDomain, default=None
            Labelled source rows; by default, the labelled target rows serve as source.
            Methods with `several_sources` take a list of sources of any widths, and
            methods without a source ignore it; `cdspp.SourceVote` fits any other method
            once per source and lets the fits vote.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            A parameter is out of range; X, y or the source is malformed, not finite or
            inconsistent; no target row is labelled; the domains share no class.
        """
        self._validate_params()
        original, (X, y_target, labelled) = X, self._validate_target(X, y)
        sources = self._check_sources(source) if isinstance(source, list) else [source]
        first, *more = sources
        if first is None and self.uses_source:
            note_missing_source()
        X_source, y_source = self._validate_source(first, X[labelled], y_target)
        others = [self._validate_source(each, X, y_target) for each in more]
        labels = np.concatenate([y_source, *(y for _, y in others)])
        of_sources = [X_source, *(Z for Z, _ in others)]
        for each, Z in zip(sources, of_sources, strict=True):
            check_shared_names(each, (Z, X), original)
        if first is not None:
            bridged = first.shared_columns is not None or first.paired_rows is not None
            several = self.uses_source and not bridged
            compare_classes(y_target, labels, type(self).__name__, several=several)
        classes = np.unique(np.concatenate([y_target, labels]))
        problem = Problem(
            X_source=X_source,
            y_source=np.searchsorted(classes, y_source),
            more_sources=tuple((Z, np.searchsorted(classes, y)) for Z, y in others),
            X_labelled=X[labelled],
            y_labelled=np.searchsorted(classes, y_target),
            X_unlabelled=X[~labelled],
            n_classes=len(classes),
            bridge=self._read_bridge(first, (X_source, X), original)
            if self.bridges
            else None,
        )
        warn_of_cost(self, problem)
        self.classes_ = classes
        self._fit_and_label(problem, labelled)
        rows = {"target": X} | ({"source": X_source} if self.uses_source else {})
        rows |= {f"source {k}": Z for k, (Z, _) in enumerate(others, 2)}
        self._note_collapse(self.transduction_[~labelled], y_target, rows)
        return self

    def _note_collapse(
        self, labels: NDArray[Any], given: NDArray[Any], rows: Mapping[str, Any]
    ) -> None:
        """Warn if the labels of unlabelled rows are degenerate."""
        self.collapsed_, sentence = self._find_collapse(
            labels,
            n_labelled_classes=len(np.unique(given)),
            rows={} if self.centres_rows else rows,
        )
        if sentence:
            sentence = f"{type(self).__name__} {sentence}"
            warnings.warn(sentence, CollapseWarning, stacklevel=3)

    # A subclass may first check for its own signs of a degenerate fit.
    _find_collapse: Callable[..., Collapse] = staticmethod(find_collapse)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the labels of target rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target rows, seen in `fit` or new.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.
        """
        validation.check_is_fitted(self)
        codes, _ = self._predict_codes(self._read_rows(X))
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: Labels, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows, as `cdspp.labelled_accuracy`."""
        return labelled_accuracy(self, X, y, sample_weight)

    def _read_rows(
        self, X: Any, name: str = "X", *, of_source: bool = False, reset: bool = False
    ) -> Any:
        """Return validated rows."""
        if hasattr(X, "obs") and hasattr(X, "X"):
            raise TypeError(
                f"{name} is an {type(X).__name__} object, expected rows of numbers. "
                "Pass its to_df(), or its X, and labels such as obs['kind']."
            )
        form = "csr" if self.accepts_sparse else False
        checks: dict[str, Any] = {"dtype": self._row_type, "accept_sparse": form}
        with number_errors(X, name, sparse=self.accepts_sparse):
            if of_source:
                return validation.check_array(X, input_name=name, **checks)
            return validation.validate_data(self, X, reset=reset, **checks)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn which rows the method takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts_sparse
        return tags

    def _fit_and_label(self, problem: Problem, labelled: NDArray[np.bool_]) -> None:
        """Fit, and turn the iterations' class codes into labels."""
        iterations = self._fit_problem(problem)
        iterations = iterations or [self._single_iteration(problem.X_unlabelled)]
        self.history_ = [
            replace(entry, prediction=self.classes_[entry.prediction])
            for entry in iterations
        ]
        self.n_iter_ = len(iterations)
        codes = np.empty(len(labelled), dtype=np.intp)
        codes[labelled] = problem.y_labelled
        codes[~labelled] = iterations[-1].prediction
        self.transduction_ = self.classes_[codes]

    def _single_iteration(self, X: Float) -> Iteration:
        if not X.shape[0]:
            return Iteration(1, np.empty(0, dtype=np.intp))
        return Iteration(1, *self._predict_codes(X))

    def _validate_target(
        self, X: ArrayLike, y: Labels
    ) -> tuple[Float, NDArray[Any], NDArray[np.bool_]]:
        name = type(self).__name__
        if y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None"
            )
        rows: Float = self._read_rows(X, reset=True)
        labels, labelled = read_labels(y)
        validation.check_consistent_length(rows, labelled)
        if not len(labels):
            raise ValueError(
                f"{name} needs at least one labelled target row, got {len(labelled)} "
                "rows without a label (y = -1). Label some target rows."
            )
        check_classes(labels)
        if self.transductive and labelled.all():
            text = f"{name} labels only rows of the fit, and all of them have a label."
            warnings.warn(text, LabelWarning, stacklevel=3)
        return rows, labels, labelled

    def _check_sources(self, sources: list[SourceDomain]) -> list[SourceDomain]:
        """Return the sources; ValueError if the method accepts fewer."""
        name = type(self).__name__
        if not sources:
            raise ValueError(
                "source: expected a SourceDomain or a list of them, got an empty list. "
                f"Pass None to fit {name} without a source."
            )
        if len(sources) > 1 and self.uses_source and not self.several_sources:
            raise ValueError(
                f"{name} takes one source, got {len(sources)}. SourceVote({name}()) "
                "fits it once per source and lets the fits vote."
            )
        return sources

    def _validate_source(
        self, source: SourceDomain | None, X: Float, y: NDArray[Any]
    ) -> tuple[Float, NDArray[Any]]:
        if source is None:
            source = SourceDomain(X, y)
        if not isinstance(source, SourceDomain):
            raise TypeError(
                f"source must be a SourceDomain or None, got {type(source).__name__}. "
                "Pass source=SourceDomain(X_source, y_source)."
            )
        X_source = self._read_rows(source.X, "source.X", of_source=True)
        y_source, labelled = read_labels(source.y)
        y_source = in_form_of(y, y_source)
        validation.check_consistent_length(X_source, labelled)
        if not labelled.all():
            raise ValueError(
                f"source.y must label every source row, got {np.sum(~labelled)} "
                "without a label. Leave unlabelled source rows out."
            )
        check_classes(y_source, "source.y")
        return X_source, y_source

    def _read_bridge(
        self, source: SourceDomain | None, domains: tuple[Any, Any], original: Any
    ) -> Bridge:
        """Return what the domains share."""
        if source is None:
            columns = np.arange(domains[1].shape[1])
            return Bridge(columns, columns, one_domain=True)
        form = "csr" if self.accepts_sparse else False
        check = partial(validation.check_array, dtype=np.float64, accept_sparse=form)
        bridged = source.with_bridges(self.bridges)
        return read_bridge(bridged, domains, (source.X, original), check)


class ConfidentClassifier(HeterogeneousClassifier):
    """A method with confidences: `predict_proba` from `_probabilities`."""

    @abstractmethod
    def _probabilities(self, X: Float) -> Float:
        """Return class probabilities (n, n_classes) of validated target rows."""

    def predict_proba(self, X: ArrayLike) -> Float:
        """Return class probabilities of target rows, given as to `predict`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of `classes_`; rows sum to one.
        """
        validation.check_is_fitted(self)
        return self._probabilities(self._read_rows(X))

    def _predict_codes(self, X: Float) -> tuple[Int, Float]:
        return self._most_probable(self._probabilities(X))

    @staticmethod
    def _most_probable(probabilities: Float) -> tuple[Int, Float]:
        return probabilities.argmax(axis=1), probabilities.max(axis=1)


class TransductiveClassifier(HeterogeneousClassifier):
    """A method that labels only the rows of its fit, which it knows by exact values."""

    transductive = True

    def _fit_and_label(self, problem: Problem, labelled: NDArray[np.bool_]) -> None:
        super()._fit_and_label(problem, labelled)
        codes = np.searchsorted(self.classes_, self.history_[-1].prediction)
        all_codes = [*codes.tolist(), *problem.y_labelled.tolist()]
        keys = [*row_keys(problem.X_unlabelled), *row_keys(problem.X_labelled)]
        self._codes = dict(zip(keys, all_codes, strict=True))

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        codes = [self._codes.get(key) for key in row_keys(X)]
        if unknown := sum(code is None for code in codes):
            raise ValueError(
                f"{type(self).__name__} is transductive, and its fit did not have "
                f"{unknown} of {len(X)} rows. Fit again with them as unlabelled rows."
            )
        return np.array(codes, dtype=np.intp), None
