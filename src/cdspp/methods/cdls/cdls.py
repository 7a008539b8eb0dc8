"""CDLS: cross-domain landmark selection, supervised and semi-supervised."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.svm import NuSVC
from sklearn.utils._param_validation import Interval, StrOptions

from cdspp.core.errors import MethodFailed
from cdspp.core.files import storable
from cdspp.core.linalg import principal_axes, symmetric_product
from cdspp.methods.base import COUNT, POSITIVE, Float, Int, Iteration, Problem
from cdspp.methods.cdls.landmarks import (
    ClassTargets,
    LandmarkProgram,
    ProjectedTarget,
    solve_landmarks,
)
from cdspp.methods.labels import ignore_few_rows
from cdspp.methods.shared.common_subspace import SubspaceMethod
from cdspp.methods.shared.machines import LinearPairs, OneVersusOne

# A smaller weight counts as zero: the interior-point method only approaches zero.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class SourceMap:
    r"""Ridge regression that maps source rows onto the target rows of their class.

    Minimises the squared distances of weighted means and pairs by solving ``(M + ridge
    I) A = R``, where ``M = F^T F`` and ``R = F^T W`` for rows `F` computed from the
    source rows X, (n, d). Every class needs a source row.
    """

    X: Float
    codes: Int
    n_classes: int
    ridge: float

    @cached_property
    def _gram(self) -> Float:
        upper = symmetric_product(self.X, of_rows=True)
        return np.asarray(np.triu(upper) + np.triu(upper, 1).T)

    def fit(self, weights: Float, targets: ClassTargets) -> tuple[Float, Float]:
        """Return the mapped source rows (n, m) and the map A (d, m)."""
        sums, labelled, pseudo, mean = targets
        totals = np.bincount(self.codes, weights=weights, minlength=self.n_classes)
        pairs = 1.0 / (totals * pseudo + pseudo * labelled + labelled * totals)
        factors = 1.0 / (labelled + pseudo) + pairs * totals
        right_sides = np.vstack([mean, factors[:, None] * sums])
        shares = np.eye(self.n_classes)[self.codes].T * (weights / totals[self.codes])
        means = np.vstack([weights / totals.sum(), shares])
        scales = np.sqrt(weights * (pairs * (pseudo + labelled))[self.codes])
        n, d = self.X.shape
        solve = self._solve_by_rows if n + len(means) < d else self._solve_by_features
        return solve(scales, means, right_sides)

    def _solve_by_features(
        self, scales: Float, means: Float, right_sides: Float
    ) -> tuple[Float, Float]:
        """Factorise ``F^T F + ridge I`` of size d x d."""
        centres = means @ self.X
        F = np.vstack([scales[:, None] * self.X, centres])
        M = symmetric_product(F, of_rows=False)
        A = _solve_ridge(M, self.ridge, centres.T @ right_sides)
        return self.X @ A, A

    def _solve_by_rows(
        self, scales: Float, means: Float, right_sides: Float
    ) -> tuple[Float, Float]:
        """Factorise ``F F^T + ridge I`` of size n + 1 + n_classes."""
        n = len(self.X)
        similarity = means @ self._gram
        M = np.empty((n + len(means),) * 2)
        M[:n, :n] = scales[:, None] * self._gram * scales
        M[:n, n:] = scales[:, None] * similarity.T
        M[n:, n:] = similarity @ means.T
        solution = _solve_ridge(M, self.ridge, np.pad(right_sides, ((n, 0), (0, 0))))
        combination = scales[:, None] * solution[:n] + means.T @ solution[n:]
        return self._gram @ combination, self.X.T @ combination


def _solve_ridge(M: Float, ridge: float, right_sides: Float) -> Float:
    """Solve ``(M + ridge I) A = right_sides``, given the upper triangle of M."""
    M[np.diag_indices_from(M)] += ridge
    try:
        factor = linalg.cho_factor(M, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise MethodFailed(f"ridge={ridge} is too small for these rows") from error
    return np.asarray(linalg.cho_solve(factor, right_sides, check_finite=False))


@storable
@dataclass(frozen=True, eq=False)
class WeightedMachine:
    """A weighted one-vs-one nu-SVC; the heaviest class if there are no features."""

    machine: LinearPairs | None
    heaviest: int
    nu: float

    @classmethod
    def fit(
        cls, Z: Float, codes: Int, weights: Float, n_classes: int, nu: float
    ) -> WeightedMachine:
        """Train the machine, with a lower `nu` if the class weights require it."""
        sizes = np.bincount(codes, weights=weights, minlength=n_classes)
        heaviest = int(sizes.argmax())
        if n_classes == 1 or not Z.shape[1]:
            return cls(None, heaviest, nu)
        limit = 2.0 * sizes.min() / (sizes.min() + sizes.max())
        if nu > limit * (1.0 + 1e-12):
            warnings.warn(
                f"nu={nu} is too large for class weights of {sizes.min():.3g} and "
                f"{sizes.max():.3g}: at most {limit:.3g} is feasible. Using 0.99 of "
                "that, unlike the released code.",
                stacklevel=2,
            )
            nu = 0.99 * limit
        rows, machine = weights >= NEGLIGIBLE, NuSVC(nu=nu, kernel="linear", tol=1e-3)
        try:
            with ignore_few_rows():
                machine.fit(Z[rows], codes[rows], sample_weight=weights[rows])
        except ValueError as error:
            raise MethodFailed(
                "the nu-SVC on the projected rows has no solution, as happens if no "
                f"margin separates two classes: {error}"
            ) from error
        return cls(OneVersusOne.of(machine).linear(Z[rows]), heaviest, nu)

    def predict(self, Z: Float) -> Int:
        """Return class codes."""
        if self.machine is None or not len(Z):
            return np.full(len(Z), self.heaviest, dtype=np.intp)
        return self.machine.predict(Z)


@dataclass(eq=False, repr=False)
class CDLSSup(SubspaceMethod):
    r"""Supervised cross-domain landmark selection (CDLS_sup): no selection, one map.

    Maps the source into the target's principal subspace so that the means of domains
    and classes, and the pairs of rows of one class, lie close together:

    .. math::

        \min_A \lVert \bar z_s - \bar z_l \rVert^2
        + \sum_c \lVert \bar z_s^c - \bar z_l^c \rVert^2
        + \sum_c \frac{1}{n_s^c n_l^c} \sum_{i, l \in c} \lVert A^T x_i - z_l \rVert^2
        + \lambda \lVert A \rVert_F^2

    with mapped source rows :math:`z_s = A^T x` and projected labelled target rows
    :math:`z_l`; rows are first scaled to unit length. A linear support vector machine,
    trained on both, labels target rows. Unlabelled rows are ignored.

    Parameters
    ----------
    n_components : int, default=100
        Number of principal axes of the target, at most as many as there are.
    ridge : float, default=0.5
        Weight :math:`\lambda` of the squared norm of the map.
    nu : float, default=0.5
        Parameter of the nu-SVC; lowered, with a warning, if class weights require it.
    source_weight : {"classes", "rows"}, default="classes"
        Weight of a source row in the nu-SVC: the ratio of labelled target to source in
        the size of the largest class, or in the number of rows.

    Attributes
    ----------
    nu_ : float
        The nu of the last iteration.

    Notes
    -----
    Cost O(n d min(n, d) + min(n, d)^3) for the axes and for the map, with n labelled
    rows of the domain, and C^2 / 2 small machines. The axes are those of the labelled
    rows only, so there are fewer axes than labelled rows. The released code has no
    supervised program; this one combines parts of it: an uncentred projection and a
    nu-SVC with row weights. `fit` raises `MethodFailed` if no margin separates two
    classes, and for a class in only one domain, without a source row or a labelled
    target row. In the class terms, all classes count equally, whatever their sizes.
    Renaming the classes may change labels, because tied votes go to the first class, as
    in LIBSVM.

    References
    ----------
    .. [1] Tsai, Y.-H. H., Yeh, Y.-R., Wang, Y.-C. F., "Learning Cross-Domain Landmarks
       for Heterogeneous Domain Adaptation", CVPR 2016, pp. 5081-5090.
       :doi:`10.1109/CVPR.2016.549`

    Examples
    --------
    >>> from cdspp import CDLSSup, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> model = CDLSSup().fit([[0.9, 0.1], [0.2, 1.0]], ["cat", "dog"], source=source)
    >>> model.predict([[1.0, 0.3]])
    array(['cat'], dtype='<U3')
    """

    n_components: int = 100
    ridge: float = 0.5
    nu: float = 0.5
    source_weight: str = "classes"

    _parameter_constraints = {
        "n_components": [COUNT],
        "ridge": [POSITIVE],
        "nu": [Interval(Real, 0, 1, closed="right")],
        "source_weight": [StrOptions({"classes", "rows"})],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        n_source, d_source = size.n_source, size.d_source
        predicted = size.n_unlabelled * (n_source + size.n_labelled)
        side = min(n_source + size.n_classes, d_source)
        seconds = 0.004 + 5e-8 * (n_source * d_source + size.n_target * size.d_target)
        seconds += 3.5e-11 * n_source * d_source * side + 4.4e-8 * predicted
        n_pairs = size.n_classes**2 / 2  # each with a machine
        seconds += 1.5e-8 * (n_source + size.n_labelled) ** 2 + 5e-6 * n_pairs
        seconds += 7e-8 * n_pairs * size.n_unlabelled
        by_pair = 24e-6 * min(100, size.d_target) + 16e-6 * size.n_unlabelled
        return seconds, 32e-6 * n_source**2 + n_pairs * by_pair

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        problem.require_every_class(self.classes_)
        problem = self._prepare(problem)
        X, codes, n_classes = problem.X_labelled, problem.y_labelled, problem.n_classes
        if not self.supervised:
            X = np.vstack([X, problem.X_unlabelled])
        self.projection_ = principal_axes(X, self.n_components)
        Z, n = X @ self.projection_, len(codes)
        return self._fit_all(
            SourceMap(problem.X_source, problem.y_source, n_classes, float(self.ridge)),
            ProjectedTarget(Z[:n], codes, Z[n:], n_classes),
        )

    def _fit_all(self, source: SourceMap, target: ProjectedTarget) -> list[Iteration]:
        self._fit_once(source, np.ones(len(source.X)), target, target.initial_targets())
        return []

    def _fit_once(
        self,
        source: SourceMap,
        weights: Float,
        target: ProjectedTarget,
        targets: ClassTargets,
    ) -> Float:
        """Fit the map and the machine; return the mapped source rows."""
        mapped, self.projection_source_ = source.fit(weights, targets)
        size = np.sum if self.source_weight == "rows" else np.max
        of_source, of_target = (size(np.bincount(d.codes)) for d in (source, target))
        source_weights = weights * of_target / of_source
        self._machine = WeightedMachine.fit(
            np.vstack([mapped, target.labelled]),
            np.concatenate([source.codes, target.codes]),
            np.concatenate([source_weights, np.ones(len(target.codes))]),
            target.n_classes,
            float(self.nu),
        )
        self.nu_ = self._machine.nu
        return mapped

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self._machine.predict(self._map_target(self._prepare_target(X))), None


class CDLS(CDLSSup):
    r"""Cross-domain landmark selection (CDLS): a map, and weights of all samples.

    Predicts the unlabelled rows, weights them (:math:`\beta`) and the source rows
    (:math:`\alpha`) by how well they align the domains, and fits again:

    .. math::

        \min_{A, \alpha, \beta} E_M(A, \alpha, \beta)
        + \sum_c \bigl(E_C^c(A, \alpha, \beta) + e_c E_P^c(A, \alpha, \beta)\bigr)
        + \lambda \lVert A \rVert_F^2
        \quad \text{s.t.} \quad 0 \le \alpha, \beta \le 1, \;
        \sum_{i \in c} \alpha_i = \delta n_s^c, \;
        \sum_{j \in c} \beta_j = \delta n_u^c

    where the terms are the squared distances of the domains' weighted means, of the
    classes' weighted means, and of all pairs of one class from different sets.

    Parameters
    ----------
    n_components, ridge, nu, source_weight
        As in `CDLSSup`, which also has the reference and an example.
    delta : float, default=0.5
        Sum of the weights of a class as a share of its size; 1 selects nothing.
    max_iter : int, default=5
        Number of iterations; each predicts all unlabelled rows anew.
    mixed_normaliser : bool, default=True
        In the marginal term of the program for the weights, whether to weight inner
        products of unlabelled rows by the product of both domains' normalisers, as the
        released code does, or by the square of the target's.
    norms_of_all_classes : bool, default=True
        In the pair term of the program, whether to sum squared norms over pairs of all
        classes, as the released code does, which favours samples with a small projected
        norm, or over pairs of one class.

    Attributes
    ----------
    weights_source_, weights_unlabelled_ : ndarray of shape (n_source,), (n_unlabelled,)
        Landmark weights of source and unlabelled rows in the last iteration.

    Notes
    -----
    `history_` has an entry per iteration, whose `n_selected` counts unlabelled rows of
    positive weight. In addition to the cost of `CDLSSup`, with all target rows for the
    axes, each iteration solves the program for the weights with an interior-point
    method in 10 to 20 steps of ``O(sum of n_c^3 + n m^2 + (m + C)^3)`` for m components
    and n_c samples of class c. The axes and the marginal mean include the unlabelled
    rows from the first iteration on, as in the released code; the paper describes a
    start from `CDLSSup`. Pairs are weighted linearly in the landmark weights. From the
    second iteration on, the weight of the source in the machine is multiplied by
    `delta`: ``delta=1`` is better on some data. A class in only one domain is refused
    as in `CDLSSup`. Renaming the classes may change labels, because of tied votes.
    """

    _parameter_constraints = {
        **CDLSSup._parameter_constraints,
        "delta": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [COUNT],
        "mixed_normaliser": ["boolean"],
        "norms_of_all_classes": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 100,
        ridge: float = 0.5,
        delta: float = 0.5,
        max_iter: int = 5,
        nu: float = 0.5,
        source_weight: str = "classes",
        mixed_normaliser: bool = True,
        norms_of_all_classes: bool = True,
    ) -> None:
        super().__init__(n_components, ridge, nu, source_weight)
        self.delta, self.max_iter = delta, max_iter
        self.mixed_normaliser = mixed_normaliser
        self.norms_of_all_classes = norms_of_all_classes

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        seconds, megabytes = super().cost(size)
        n, n_classes = size.n_source + size.n_unlabelled, size.n_classes
        side = min(size.n_target, size.d_target)
        axes = 3.5e-11 * size.n_target * size.d_target * side + 6e-11 * side**3
        program = 4 * (8e-5 * n + 2e-10 * n**3 / n_classes**2)
        program_megabytes = 8e-6 * (3 * side**2 + 3 * n**2 / n_classes + 600 * n)
        return 5 * seconds + axes + program, megabytes + program_megabytes

    def _fit_all(self, source: SourceMap, target: ProjectedTarget) -> list[Iteration]:
        alpha, beta = np.ones(len(source.X)), np.ones(len(target.unlabelled))
        targets, iterations = target.initial_targets(), list[Iteration]()
        options = float(self.delta), self.mixed_normaliser, self.norms_of_all_classes
        for iteration in range(1, self.max_iter + 1):
            mapped = self._fit_once(source, alpha, target, targets)
            prediction = self._machine.predict(target.unlabelled)
            n_selected = int((beta >= NEGLIGIBLE).sum()) if iterations else 0
            iterations.append(Iteration(iteration, prediction, n_selected=n_selected))
            self.weights_source_, self.weights_unlabelled_ = alpha, beta
            if iteration < self.max_iter and self.delta < 1:
                samples = mapped, source.codes, target, prediction
                program = LandmarkProgram.build(*samples, *options)
                alpha, beta = np.split(solve_landmarks(program), [len(mapped)])
            targets = target.targets(prediction, beta)
        return iterations
