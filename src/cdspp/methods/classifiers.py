"""Classifiers of scikit-learn: on the target, on pooled shared columns, or stacked."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, StrOptions

from cdspp.core.discovery import load_class
from cdspp.core.errors import MethodFailed
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem
from cdspp.methods.bridge import bridge_error
from cdspp.methods.external import build_options
from cdspp.methods.shared.rules import Rule, fit_rule, predicted_codes

# The classifiers that have names: class and options.
CLASSIFIERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "logistic-regression": (
        "sklearn.linear_model:LogisticRegression",
        {"C": 1.0, "max_iter": 1000},
    ),
    "shrunken-lda": (
        "sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
        {"solver": "lsqr", "shrinkage": 0.5},
    ),
    "random-forest": ("sklearn.ensemble:RandomForestClassifier", {}),
    "extra-trees": ("sklearn.ensemble:ExtraTreesClassifier", {}),
}
CLASSIFIER = [StrOptions({*CLASSIFIERS}), HasMethods(["fit", "predict"]), dict]
LARGEST_VALUE = 1e30  # trees compare in single precision, and squares must not overflow
SHARPNESS = 3.0  # of stacked probabilities, beside standardised columns


class ClassifierMethod(base.HeterogeneousClassifier):
    """Base class of methods that fit a classifier of scikit-learn, the `estimator`.

    It is the name of one in `CLASSIFIERS`, an object, or a mapping with the keys
    ``class`` and ``options``, as in a study file.
    """

    estimator: Any
    random_state: Any = None
    _trees: ClassVar[int] = 100  # for the estimate of costs

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        rows = size.n_labelled + bool(cls.bridges) * size.n_source
        values = rows * size.d_target * size.density
        seconds = 0.2 + 2e-7 * size.n_classes * values + 4e-6 * cls._trees * rows
        seconds += 2e-8 * cls._trees * size.n_unlabelled * np.log2(rows + 2)
        return float(seconds), 1.0 + 8e-6 * (2 * values + cls._trees * rows * 8)

    def _classifier(self, estimator: Any) -> Any:
        """Return an unfitted classifier, with the seed of the method if it has none."""
        if isinstance(estimator, str):
            path, options = CLASSIFIERS[estimator]
            built = load_class(path)(**options)
        elif isinstance(estimator, Mapping):
            built = build_options({"estimator": estimator})["estimator"]
        else:
            built = clone(estimator)
        if built.get_params(deep=False).get("random_state", 0) is None:
            built.set_params(random_state=self.random_state)
        return built

    def _fitted(
        self, estimator: Any, X: Float, codes: Int, weights: Float | None = None
    ) -> Rule:
        if (largest := np.abs(X).max(initial=0.0)) > LARGEST_VALUE:
            fault = f"values above {LARGEST_VALUE:.0e}, up to {largest:.0e}"
            raise MethodFailed(f"{fault}. Scale the columns.")
        classifier, n_classes = self._classifier(estimator), len(self.classes_)
        return fit_rule(classifier, X, codes, n_classes, weights)

    @abstractmethod
    def _inputs(self, X: Float) -> Float:
        """Return target rows as the classifier sees them."""

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return predicted_codes(self._rule, self._inputs(X)), None

    _rule: Rule


class OnTarget(ClassifierMethod):
    """Base class of classifiers on labelled target rows."""

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        X, codes = problem.X_labelled, problem.y_labelled
        self._rule = self._fitted(self.estimator, X, codes)
        return []

    def _inputs(self, X: Float) -> Float:
        return X


class TargetLogisticRegression(OnTarget):
    r"""Logistic regression on the labelled target rows, with C = 1.

    .. math::

        \min_{W, b} \tfrac12 \lVert W \rVert_F^2 - C \sum_i \log p_{y_i}(x_i),
        \qquad p(x) = \operatorname{softmax}(W^T x + b)

    Scale the columns alike.

    References
    ----------
    .. [1] Cox, D. R., "The regression analysis of binary sequences", Journal of the
       Royal Statistical Society B 20(2), 1958.
       :doi:`10.1111/j.2517-6161.1958.tb00292.x`
    """

    estimator = "logistic-regression"
    _trees = 0


class TargetLDA(OnTarget):
    r"""Linear discriminant analysis of the labelled target rows, shrunk by a half.

    The covariance is the mean of that within the classes, S, and of a multiple of the
    identity with the same trace:

    .. math:: \Sigma = \tfrac12 S + \tfrac12 \frac{\operatorname{tr} S}{d} I

    With one row per class there is none, and the nearest
    row decides.

    References
    ----------
    .. [1] Friedman, J. H., "Regularized discriminant analysis", Journal of the American
       Statistical Association 84(405), 1989. :doi:`10.1080/01621459.1989.10478752`
    """

    estimator = "shrunken-lda"
    _trees = 0


@dataclass(eq=False, repr=False)
class TargetRandomForest(OnTarget):
    r"""Random forest of 100 trees on the labelled target rows.

    Each tree t splits rows by one column at a time and has the shares ``p_t`` of the
    classes in its leaves; the forest predicts the largest mean share:

    .. math:: \operatorname{argmax}_c \tfrac{1}{100} \sum_t p_t(c \mid x)

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed of the samples and columns of the trees.

    References
    ----------
    .. [1] Breiman, L., "Random forests", Machine Learning 45(1), 2001.
       :doi:`10.1023/A:1010933404324`
    """

    random_state: Any = None

    estimator = "random-forest"
    _parameter_constraints = {"random_state": ["random_state"]}


@dataclass(eq=False, repr=False)
class TargetExtraTrees(OnTarget):
    r"""Extremely randomised trees, 100 of them, on the labelled target rows.

    Each tree t splits rows by one column at a time and has the shares ``p_t`` of the
    classes in its leaves; the forest predicts the largest mean share:

    .. math:: \operatorname{argmax}_c \tfrac{1}{100} \sum_t p_t(c \mid x)

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed of the columns and thresholds of the trees.

    References
    ----------
    .. [1] Geurts, P., Ernst, D., Wehenkel, L., "Extremely randomized trees", Machine
       Learning 63(1), 2006. :doi:`10.1007/s10994-006-6226-1`
    """

    random_state: Any = None

    estimator = "extra-trees"
    _parameter_constraints = {"random_state": ["random_state"]}


class OnShared(ClassifierMethod):
    """Base class of classifiers that see the source through shared columns."""

    def _shared(self, problem: Problem) -> tuple[Float, Float]:
        """Return the shared columns of the source and of labelled target rows."""
        bridge = problem.bridge
        if bridge is None or not len(bridge.source):
            example = 'shared_columns="same-names"'
            raise bridge_error(self, "shared columns", example, "--shared")
        self.columns_ = bridge.target
        return problem.X_source[:, bridge.source], self._of_target(problem.X_labelled)

    def _of_target(self, X: Float) -> Float:
        return X[:, self.columns_]


class OnPooled(OnShared):
    """Base class of classifiers on the pooled rows of both domains."""

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        source, target = self._shared(problem)
        weights = np.ones(len(source) + len(target))
        weights[len(source) :] = len(source) / len(target)
        codes = np.concatenate([problem.y_source, problem.y_labelled])
        X = np.concatenate([source, target])
        self._rule = self._fitted(self.estimator, X, codes, weights)
        return []

    def _inputs(self, X: Float) -> Float:
        return self._of_target(X)


@dataclass(eq=False, repr=False)
class Pooled(OnPooled):
    r"""Any classifier of scikit-learn on pooled shared columns.

    Source rows and labelled target rows are training rows alike, described by the
    shared columns. With the loss of the classifier, it minimises

    .. math::

        \sum_{i \in \text{source}} \ell(x_i, y_i)
        + \frac{n_s}{n_t} \sum_{j \in \text{target}} \ell(x_j, y_j)

    for n_s source rows and n_t labelled target rows, which so have equal total weights,
    if the classifier's `fit` takes ``sample_weight``; otherwise every row counts once.

    Parameters
    ----------
    estimator : str, classifier or dict, default="logistic-regression"
        The classifier: an object with `fit` and `predict`; or one of the names
        logistic-regression (C = 1), shrunken-lda (shrinkage 0.5), random-forest and
        extra-trees (100 trees); or, in a study file, a mapping with the keys ``class``
        and ``options``.
    random_state : int, RandomState instance or None, default=None
        Seed of a classifier that draws random numbers and has no seed.

    Attributes
    ----------
    columns_ : ndarray of shape (n_shared,)
        The shared columns of the target.

    Notes
    -----
    Columns are used as given: convert both domains to the same units, and scale shared
    columns alike. Only the named classifiers and scikit-learn's classes of these names
    can be saved in a model file.

    References
    ----------
    .. [1] Daumé III, H., "Frustratingly easy domain adaptation", ACL 2007 (there
       "weighted"). https://aclanthology.org/P07-1033/

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from cdspp import Pooled, SourceDomain
    >>> source = SourceDomain(
    ...     [[5.0, 0.1], [0.2, 4.0]], ["cat", "dog"], shared_columns=[(0, 1), (1, 2)]
    ... )
    >>> X = [[7.0, 4.0, 0.0], [7.0, 0.3, 5.0], [7.0, 0.0, 3.0]]
    >>> model = Pooled(KNeighborsClassifier(n_neighbors=1))
    >>> model.fit(X, ["cat", None, None], source=source).transduction_
    array(['cat', 'dog', 'dog'], dtype='<U3')
    """

    estimator: Any = "logistic-regression"
    random_state: Any = None

    named_with_options = "pooled"
    _parameter_constraints = {
        "estimator": CLASSIFIER,
        "random_state": ["random_state"],
    }


@dataclass(eq=False, repr=False)
class PooledRandomForest(OnPooled):
    r"""Random forest of 100 trees on pooled shared columns, as `Pooled` has them.

    It predicts the largest mean share of the classes in the leaves of its trees:

    .. math:: \operatorname{argmax}_c \tfrac{1}{100} \sum_t p_t(c \mid x)

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed of the samples and columns of the trees.

    References
    ----------
    .. [1] Breiman, L., "Random forests", Machine Learning 45(1), 2001.
       :doi:`10.1023/A:1010933404324`
    """

    random_state: Any = None

    estimator = "random-forest"
    _parameter_constraints = {"random_state": ["random_state"]}


@dataclass(eq=False, repr=False)
class Stacked(OnShared):
    r"""Any classifier of scikit-learn on the target, with a source model's predictions.

    A source model, trained on the shared columns of the source, predicts class
    probabilities p of target rows. These, times three, are further columns next to all
    columns of the target, on which the classifier is trained with the labelled rows:

    .. math:: x \mapsto \bigl(3 \, p(x_{\text{shared}}), \, x\bigr)

    Parameters
    ----------
    estimator : str, classifier or dict, default="logistic-regression"
        The classifier of the target, as in `Pooled`.
    source_estimator : str, classifier or dict, default=None
        The source model, with `predict_proba` or `decision_function`; None for another
        one like `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seed of classifiers that draw random numbers and have no seed.

    Attributes
    ----------
    columns_ : ndarray of shape (n_shared,)
        The shared columns of the target.

    Notes
    -----
    Scale the columns of the target to a standard deviation of one, so that they weigh
    like the probabilities. What can be saved is as for `Pooled`.

    References
    ----------
    .. [1] Daumé III, H., "Frustratingly easy domain adaptation", ACL 2007 (there
       "pred"). https://aclanthology.org/P07-1033/
    .. [2] Wolpert, D. H., "Stacked generalization", Neural Networks 5(2), 1992.
       :doi:`10.1016/S0893-6080(05)80023-1`
    """

    estimator: Any = "logistic-regression"
    source_estimator: Any = None
    random_state: Any = None

    named_with_options = "stacked"
    _parameter_constraints = {
        "estimator": CLASSIFIER,
        "source_estimator": [None, *CLASSIFIER],
        "random_state": ["random_state"],
    }

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        source, _ = self._shared(problem)
        chosen = self.source_estimator
        model = self.estimator if chosen is None else chosen
        self._source_rule = self._fitted(model, source, problem.y_source)
        X, codes = self._inputs(problem.X_labelled), problem.y_labelled
        self._rule = self._fitted(self.estimator, X, codes)
        return []

    def _inputs(self, X: Float) -> Float:
        told = self._source_rule.probabilities(self._of_target(X))
        return np.hstack([SHARPNESS * told, X])
