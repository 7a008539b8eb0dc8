"""Transport plans: Sinkhorn's algorithm, and methods that label rows by a plan."""

import os
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from cdspp.core.errors import MethodFailed, install_hint
from cdspp.core.linalg import row_normalise, softmax, squared_distances
from cdspp.core.memory import require_memory
from cdspp.methods import base
from cdspp.methods.base import Float, Iteration, Problem
from cdspp.methods.bridge import row_keys

LARGEST = 1e50  # limit of the scalings, which are then absorbed into the potentials
COPIES = 6  # number of arrays of a plan's size that exist at once
TOLERANCE = 1e-6  # of the total error of row sums
# POT imports every array library that it finds, but these methods only use NumPy.
OTHER_BACKENDS = ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")


def require_plan(method: str, n_source: int, n_target: int, squares: int = 0) -> None:
    """Raise DataError if plans, and `squares` matrices per domain, exceed memory."""
    require_memory(
        COPIES * n_source * n_target + squares * (n_source**2 + n_target**2),
        f"{method} holds plans of {n_source} x {n_target} rows",
        "Leave rows out, or choose a method without a plan.",
    )


def divide_by_largest(values: Float) -> Float:
    """Return values divided by the largest, unless all are zero."""
    return values / (float(values.max(initial=0.0)) or 1.0)


def sinkhorn(cost: Float, epsilon: float, max_iter: int) -> Float:
    """Return the plan of least cost with an entropic term, between uniform masses."""
    f, g = potentials(cost, epsilon, max_iter)
    plan = np.exp((f[:, None] + g - cost) / epsilon)
    if not np.isfinite(plan).all():
        raise MethodFailed("the transport plan overflows; raise epsilon")
    return np.asarray(plan)


def potentials(cost: Float, epsilon: float, max_iter: int) -> tuple[Float, Float]:
    """Return the potentials f and g of the plan ``exp((f + g - cost) / epsilon)``.

    Uses Sinkhorn's scalings, which the potentials absorb before they overflow
    (Schmitzer, SIAM J. Sci. Comput. 41(3), 2019).
    """
    n, m = cost.shape
    tiny = np.finfo(float).tiny
    f, g = cost.min(axis=1), np.zeros(m)
    kernel = np.exp((f[:, None] - cost) / epsilon)
    u, v = np.ones(n), np.ones(m)
    for _ in range(max_iter):
        u = 1.0 / n / np.maximum(kernel @ v, tiny)
        v = 1.0 / m / np.maximum(kernel.T @ u, tiny)
        if max(u.max(), v.max()) > LARGEST:
            f, g = f + epsilon * np.log(u), g + epsilon * np.log(v)
            kernel = np.exp((f[:, None] + g - cost) / epsilon)
            u, v = np.ones(n), np.ones(m)
        elif np.abs(u * (kernel @ v) - 1.0 / n).sum() < TOLERANCE:
            break
    return f + epsilon * np.log(u), g + epsilon * np.log(v)


def transport_library(module: str) -> Any:
    """Return a module of POT; ModuleNotFoundError says how to install it."""
    for name in OTHER_BACKENDS:
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{name}", "1")
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        text = install_hint("ot", "a transport plan")
        raise ModuleNotFoundError(text, name="ot") from error


def label_cost(problem: Problem) -> Float:
    """Return 1 if a source row and a labelled target row differ in class, else 0."""
    differ = problem.y_source[:, None] != problem.y_labelled
    return np.pad(differ.astype(np.float64), ((0, 0), (0, len(problem.X_unlabelled))))


class PlanClassifier(base.ConfidentClassifier):
    """A method that labels a target row by the source rows to which a plan ties it."""

    @abstractmethod
    def _fit_plan(self, problem: Problem, X: Float) -> None:
        """Fit the plan between the source and all target rows `X`, labelled first."""

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        problem.require_every_class(self.classes_)
        X = np.vstack([problem.X_labelled, problem.X_unlabelled])
        require_plan(type(self).__name__, len(problem.X_source), len(X))
        self._classes = np.eye(problem.n_classes)[problem.y_source]
        self._fit_plan(problem, X)
        return []


@dataclass(eq=False, repr=False)
class COOT(PlanClassifier):
    r"""Co-optimal transport of rows and columns, with class costs (COOT).

    One plan matches source rows with target rows, another matches source features with
    target features; each plan defines the costs of the other:

    .. math::

        \min_{\pi, \gamma} \sum_{ijkl} (x_{ik} - z_{jl})^2 \pi_{ij} \gamma_{kl}
        + \beta \sum_{ij} \pi_{ij} [y_i \neq y_j]
        - \varepsilon (H(\pi) + H(\gamma))

    The second term covers labelled target rows. All masses are uniform. A target row
    takes the class from which it receives most mass.

    Parameters
    ----------
    epsilon : float, default=0.1
        Weight of both entropies; the mean cost of two rows is about 2.
    label_cost : float, default=1.0
        Cost ``beta`` of tying a labelled target row to a source row of another class.
    max_iter : int, default=100
        Maximum number of alternations of both plans.

    Attributes
    ----------
    feature_plan_ : ndarray of shape (n_features_source, n_features_in_)
        The plan of the features.

    Notes
    -----
    An alternation costs O(n_s n_t + d_s d_t) times Sinkhorn's iterations, and products
    of O(n_s d_s d_t + n_s n_t d_t); both plans are in memory. Rows have unit length
    times the root of their number of features. New rows are tied to source rows by the
    feature plan and the potentials of the source. Uniform masses move rows across
    classes whose shares differ between the domains. The published comparison draws
    equally many rows per class in both domains, from CaffeNet files that are not
    available, so its numbers cannot be compared. Its code does not scale rows, and uses
    ``epsilon`` 1 for rows, an exact plan of the features and ``beta`` 100; the defaults
    here are this package's own, except `max_iter`. With rows and options as here, that
    code gave the 50 unlabelled rows of a problem (CaffeNet of DSLR to GoogLeNet of
    Webcam) the same classes. `fit` raises `MethodFailed` on a class in only one domain.

    References
    ----------
    .. [1] Redko, I., Vayer, T., Flamary, R., Courty, N., "CO-Optimal Transport",
       NeurIPS 2020. :doi:`10.48550/arXiv.2002.03731`
    .. [2] Flamary, R., et al., "POT: Python Optimal Transport", JMLR 22(78), 2021. It
       computes both plans.

    Examples
    --------
    >>> from cdspp import COOT, SourceDomain
    >>> source = SourceDomain([[9.0, 1], [8, 0], [1, 9], [0, 8]], [0, 0, 1, 1])
    >>> X, y = [[5.0, 0.0], [0.0, 4.0], [4.0, 1.0], [1.0, 6.0]], [0, 1, -1, -1]
    >>> COOT().fit(X, y, source=source).transduction_
    array([0, 1, 0, 1])
    """

    epsilon: float = 0.1
    label_cost: float = 1.0
    max_iter: int = 100

    _parameter_constraints = {
        "epsilon": [base.POSITIVE],
        "label_cost": [base.POSITIVE],
        "max_iter": [base.COUNT],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        rows, features = size.n_source * size.n_target, size.d_source * size.d_target
        # With more features, their costs spread more widely, and iterations increase.
        return 0.1 + 1e-6 * rows + 2e-9 * features**1.5, 8e-6 * 8 * (rows + features)

    def _fit_plan(self, problem: Problem, X: Float) -> None:
        module = transport_library("ot.coot")
        self._source, target = _scaled(problem.X_source), _scaled(X)
        labels = label_cost(problem)
        with warnings.catch_warnings():  # of alternations before the last one
            warnings.filterwarnings("ignore", "Sinkhorn did not converge")
            _, self.feature_plan_ = module.co_optimal_transport(
                self._source,
                target,
                epsilon=self.epsilon,
                alpha=(self.label_cost, 0.0),
                M_samp=labels,
                nits_bcd=self.max_iter,
            )
        cost = self._costs(target) + self.label_cost * labels
        self._potentials, _ = potentials(cost, self.epsilon, 1000)

    def _costs(self, target: Float) -> Float:
        """Return the costs of tying scaled target rows to each source row."""
        plan = self.feature_plan_
        to_source, to_target = (plan.sum(axis=k) for k in (1, 0))
        squares = (self._source**2 @ to_source)[:, None] + target**2 @ to_target
        return np.asarray(squares - 2.0 * self._source @ (plan @ target.T))

    def _probabilities(self, X: Float) -> Float:
        ties = (self._potentials[:, None] - self._costs(_scaled(X))).T / self.epsilon
        return np.asarray(softmax(ties) @ self._classes)


def _scaled(X: Float) -> Float:
    return np.asarray(row_normalise(X) * np.sqrt(X.shape[1]))


@dataclass(eq=False, repr=False)
class UCOOT(COOT):
    r"""Co-optimal transport whose rows and features may leave mass behind (UCOOT).

    The two plans of `COOT` with equal totals, and a penalty instead of fixed masses:

    .. math::

        \min_{\pi, \gamma} \sum_{ijkl} (x_{ik} - z_{jl})^2 \pi_{ij} \gamma_{kl}
        + \beta \sum_{ij} \pi_{ij} [y_i \neq y_j] + \varepsilon (K(\pi) + K(\gamma))
        + \rho K(\pi 1 \otimes \gamma 1) + \rho K(\pi^T 1 \otimes \gamma^T 1)

    with the Kullback-Leibler divergence K from uniform masses. Rows are prepared, and
    labels predicted, as in `COOT`. `fit` raises `MethodFailed` if iterations underflow.

    Parameters
    ----------
    epsilon, label_cost, max_iter
        As in `COOT`, which also has the attribute and an example.
    relaxation : float, default=10.0
        Weight ``rho`` of the masses; the limit of large weights is `COOT`.

    Notes
    -----
    Cost as for `COOT`, with up to 500 Sinkhorn iterations per alternation, which start
    from the result of the previous ones. The default of `relaxation` is POT's, that of
    `max_iter` is POT's and the authors', and the others are those of `COOT`. The
    options and splits of the paper's experiments are not available, so its numbers
    cannot be compared. `fit` raises `MethodFailed` for a class in only one domain.

    References
    ----------
    .. [1] Tran, Q. H., Janati, H., Courty, N., Flamary, R., Redko, I., Demetci, P.,
       Singh, R., "Unbalanced CO-optimal transport", AAAI 2023.
       :doi:`10.1609/aaai.v37i8.26193`
    .. [2] Flamary et al., 2021, which computes the plans: see `COOT`.
    """

    relaxation: float = 10.0

    _parameter_constraints = {
        **COOT._parameter_constraints,
        "relaxation": [base.POSITIVE],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        seconds, megabytes = super().cost(size)
        return 3.2 * seconds, megabytes

    def _fit_plan(self, problem: Problem, X: Float) -> None:
        module = transport_library("ot.gromov")
        self._source = _scaled(problem.X_source)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.filterwarnings("error", "Numerical errors", UserWarning)
            try:
                _, self.feature_plan_, log = module.unbalanced_co_optimal_transport(
                    self._source,
                    _scaled(X),
                    reg_marginals=self.relaxation,
                    epsilon=self.epsilon,
                    unbalanced_solver="sinkhorn",
                    alpha=(self.label_cost, 0.0),
                    M_samp=label_cost(problem),
                    max_iter=self.max_iter,
                    log=True,
                )
            except UserWarning as error:
                text = "iterations underflow; raise epsilon, or scale features alike"
                raise MethodFailed(text) from error
        self._potentials = self.epsilon * np.asarray(log["duals_sample"][0])


@dataclass(eq=False, repr=False)
class SemiRelaxedFGW(PlanClassifier):
    r"""Transport that keeps distances, with free source masses (srFGW).

    .. math::

        \min_{T \ge 0,\; T 1 = 1 / n_t} (1 - \alpha) \sum_{ij} T_{ij} [y_i \neq y_j]
        + \alpha \sum_{ijkl} (D^t_{ik} - D^s_{jl})^2 T_{ij} T_{kl}

    D are distances within the domains. Every target row sends its mass to source rows,
    which may receive any share, so that class sizes may differ between the domains. The
    first term covers labelled target rows; distances are squared and at most one.
    Mirror descent decreases the objective F: after a step of size ``1 / epsilon``, each
    row of the plan is proportional to ``T exp(-F'(T) / epsilon)``. A target row takes
    the class that receives most of its mass.

    Parameters
    ----------
    alpha : float, default=0.5
        Weight of the distances, between 0 and 1.
    epsilon : float, default=0.01
        Inverse step size: larger values need more steps. The objective has no entropy.
    max_iter : int, default=200
        Maximum number of steps of mirror descent.

    Attributes
    ----------
    plan_ : ndarray of shape (n_target, n_source)
        The plan, labelled target rows first.

    Notes
    -----
    A step costs O(n_s n_t (n_s + n_t)), and a fit holds 3 (n_s^2 + n_t^2) + 8 n_s n_t
    numbers. Rows have unit length. Rows of the fit, recognised by exact values, keep
    the class that the plan gives them. A new row goes to the source row with the
    smallest ``F'(T)``, as fitted rows eventually do; this agrees with the plan on 99 %
    of the rows of the fit (photographs, default options). Labels by one more step for
    every row were up to 8 points more accurate on photographs with the default
    `epsilon`, and 22 to 38 points less accurate with 0.1. The paper only has graphs, so
    no reported results can be compared, and all defaults are this package's own. `fit`
    raises `MethodFailed` for a class in only one domain.

    References
    ----------
    .. [1] Vincent-Cuaz, C., Flamary, R., Corneli, M., Vayer, T., Courty, N.,
       "Semi-relaxed Gromov-Wasserstein divergence and applications on graphs", ICLR
       2022. :doi:`10.48550/arXiv.2110.02753`
    .. [2] Flamary et al., 2021, which computes the plan: see `COOT`.

    Examples
    --------
    >>> from cdspp import SemiRelaxedFGW, SourceDomain
    >>> source = SourceDomain([[9.0, 1], [8, 0], [1, 9], [0, 8]], [0, 0, 1, 1])
    >>> X, y = [[5.0, 0.0], [0.0, 4.0], [4.0, 1.0], [1.0, 6.0]], [0, 1, -1, -1]
    >>> SemiRelaxedFGW().fit(X, y, source=source).transduction_
    array([0, 1, 0, 1])
    """

    alpha: float = 0.5
    epsilon: float = 0.01
    max_iter: int = 200

    _parameter_constraints = {
        "alpha": [base.SHARE],
        "epsilon": [base.POSITIVE],
        "max_iter": [base.COUNT],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        n, m = float(size.n_source), float(size.n_target)
        seconds = n * m * (3.5e-6 + 8e-9 * (n + m))
        return seconds, 8e-6 * (8 * n * m + 3 * (n**2 + m**2))

    def _fit_plan(self, problem: Problem, X: Float) -> None:
        module = transport_library("ot.gromov")
        require_plan(type(self).__name__, len(problem.X_source), len(X), squares=3)
        self._rows = X
        source, target = row_normalise(problem.X_source), row_normalise(X)
        target_distances = squared_distances(target, target)
        self._scale = float(target_distances.max()) or 1.0
        self._distances = divide_by_largest(squared_distances(source, source))
        labels = np.ascontiguousarray(label_cost(problem).T)
        # Mirrored solutions are equally good; starting from the labels selects one.
        first_plan = (1.0 - labels) / (1.0 - labels).sum(axis=1, keepdims=True) / len(X)
        self.plan_ = module.entropic_semirelaxed_fused_gromov_wasserstein(
            labels,
            target_distances / self._scale,
            self._distances,
            alpha=self.alpha,
            epsilon=self.epsilon,
            G0=first_plan,
            max_iter=self.max_iter,
        )

    def _probabilities(self, X: Float) -> Float:
        shares = self.plan_ @ self._classes
        shares /= shares.sum(axis=1, keepdims=True)
        fitted_shares = dict(zip(row_keys(self._rows), shares, strict=True))
        # A new row goes to the source row with the smallest slope of the objective.
        to_target = squared_distances(row_normalise(X), row_normalise(self._rows))
        cross_terms = 2.0 / self._scale * to_target @ self.plan_ @ self._distances
        slopes = self._distances**2 @ self.plan_.sum(axis=0) - cross_terms
        new_shares = self._classes[slopes.argmin(axis=1)]
        rows = zip(row_keys(X), new_shares, strict=True)
        return np.array([fitted_shares.get(key, share) for key, share in rows])
