"""PA: progressive alignment by sparse codes over one dictionary for both domains."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils._param_validation import Interval, StrOptions

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import column_signs, principal_axes, row_normalise
from cdspp.methods.base import Float, Int, Problem, Round, TransductiveClassifier
from cdspp.methods.pa.sparse_coding import (
    CodingProblem,
    fit_dictionary,
    random_dictionary,
)
from cdspp.methods.shared.constraints import COUNT, NON_NEGATIVE, POSITIVE
from cdspp.methods.shared.graphs import heat_kernel_graph

# How far the number of active coefficients stays below features and atoms.
CAP_MARGIN = 10


class PA(TransductiveClassifier):
    r"""Progressive alignment: sparse codes over one dictionary (PA).

    PA brings both domains to one width and codes all samples together:

    .. math::

        \min_{B, S} \tfrac12 \lVert X - B S \rVert_F^2
        + \tfrac\alpha2 \operatorname{tr}(S L S^T)
        + \tfrac\mu2 \operatorname{tr}(S M S^T)
        + \gamma \sum_i \lVert s_i \rVert_1
        \quad \text{s.t.} \quad \lVert b_k \rVert \le 1

    with the Laplacian `L` of a graph of nearest neighbours across both domains and
    `M` the squared distance between the mean codes of the domains. Logistic regression
    on the codes of the labelled target rows then labels the others. Source labels take
    no part.

    Parameters
    ----------
    n_components : int, default=100
        Principal directions of all rows together that are kept, at most.
    n_atoms : int, default=128
        Number of atoms of the dictionary.
    alpha : float, default=1.0
        Weight of the graph.
    mu : float, default=10000.0
        Weight of the distance between the domains' mean codes.
    gamma : float, default=0.01
        Weight of the 1-norm of the codes.
    max_iter : int, default=10
        Number of codings; the first takes no part in `history_`.
    C : float, default=100.0
        Inverse regularisation of logistic regression.
    target_axes : {'all', 'labelled'}, default='all'
        Target rows whose principal axes narrow a target wider than the source: all of
        them, with zeros where the axes are too few, or the labelled ones alone, whose
        axes are followed by the first features, made orthogonal.
    random_state : int, RandomState or None, default=None
        Draws the first dictionary; nothing else is random.

    Attributes
    ----------
    classes_, transduction_, history_, n_iter_, n_features_in_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.
        `history_` has an entry for each coding but the first, none with confidences.

    Notes
    -----
    With n rows in all, p components and K atoms a coding costs at most about
    O(n K^3), the graph O(n^2 p); the first coding, from zero, is the dearest.

    The paper aligns features first and distributions second. The released code, which
    this follows, has both in one objective, trains on the codes of the labelled target
    rows alone, uses neither pseudo-labels nor weights of samples, and stops a search
    for codes once min(p, K) - 10 coefficients are active, which these settings always
    reach. Zeros stand in where the principal axes of the wider domain are fewer than
    the features of the other. The axes of the target are those of labelled and
    unlabelled rows together, by default; commented-out lines of the code give each its
    own axes, on which the two cannot be compared. The bandwidth of the graph is the
    mean of all distances, not of a random part. The rows must differ in two directions
    or more: a dictionary of centred atoms has none otherwise. With barely more than ten
    the codes have next to no coefficients and the labels are poor. A class without a
    labelled target row is never predicted; without unlabelled rows nothing is coded.

    References
    ----------
    .. [1] Li, J., Lu, K., Huang, Z., Zhu, L., Shen, H. T., "Heterogeneous domain
       adaptation through progressive alignment", IEEE Transactions on Neural Networks
       and Learning Systems 30(5), 2019. :doi:`10.1109/TNNLS.2018.2868854`
    .. [2] Lee, H., Battle, A., Raina, R., Ng, A. Y., "Efficient sparse coding
       algorithms", NIPS 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from cdspp import PA, SourceDomain
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(30) % 2
    >>> source = SourceDomain(np.eye(2, 20)[truth] + 0.1 * rng.random((30, 20)), truth)
    >>> X = np.eye(2, 25)[truth] + 0.1 * rng.random((30, 25))
    >>> y = np.where(np.arange(30) < 6, truth, -1)
    >>> model = PA(random_state=0).fit(X, y, source=source)
    >>> bool((model.transduction_ == truth).all())
    True
    """

    identifier = "pa"
    display_name = "PA"

    _parameter_constraints = {
        "n_components": [COUNT],
        "n_atoms": [COUNT],
        "alpha": [NON_NEGATIVE],
        "mu": [POSITIVE],
        "gamma": [POSITIVE],
        "max_iter": [Interval(Integral, 2, None, closed="left")],
        "C": [POSITIVE],
        "target_axes": [StrOptions({"all", "labelled"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 100,
        n_atoms: int = 128,
        alpha: float = 1.0,
        mu: float = 10000.0,
        gamma: float = 0.01,
        max_iter: int = 10,
        C: float = 100.0,
        target_axes: str = "all",
        random_state: Any = None,
    ) -> None:
        self.n_components, self.n_atoms = n_components, n_atoms
        self.alpha, self.mu, self.gamma = alpha, mu, gamma
        self.max_iter, self.C = max_iter, C
        self.target_axes, self.random_state = target_axes, random_state

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Return about how many seconds a fit takes, and MB beside the data."""
        # Codings of all rows, the first of which adds one coefficient after another;
        # the graph; principal axes of the wider domain and of all rows together.
        n = size.n_source + size.n_target
        width = min(size.d_source, size.d_target)
        domains = (size.n_source, size.d_source), (size.n_target, size.d_target)
        sides = [(n, width), *(side for side in domains if side[1] > width)]
        codings = n * (3.2e-3 + 2e-5 * min(100, width))
        axes = 7e-11 * sum(min(side) ** 2 * sum(side) for side in sides)
        seconds = 0.3 + codings + 3e-8 * n**2 + 0.016 * size.n_classes + axes
        return seconds, 16e-6 * sum(min(side) ** 2 for side in sides) + 0.01 * n

    def _fit_problem(self, problem: Problem) -> list[Round]:
        if not len(problem.X_unlabelled):
            return []
        X, y, n_source = self._align(problem), problem.y_labelled, len(problem.y_source)
        n_target, n_known = len(X) - n_source, n_source + len(y)
        contrast = np.repeat([1 / n_source, -1 / n_target], [n_source, n_target])
        cap = max(1, min(X.shape[1], self.n_atoms) - CAP_MARGIN)
        weights = self.alpha, self.mu, self.gamma
        coding = CodingProblem(X, heat_kernel_graph(X), contrast, *weights, cap)
        random = self.random_state
        if not isinstance(random, np.random.RandomState):
            random = np.random.default_rng(random)
        dictionary = random_dictionary(X.shape[1], self.n_atoms, random)
        codes, rounds = coding.code(dictionary), list[Round]()
        for iteration in range(1, self.max_iter):
            if rounds:
                dictionary = fit_dictionary(X, codes)
            codes = coding.code(dictionary, codes)
            prediction = self._classify(codes[n_source:n_known], y, codes[n_known:])
            rounds.append(Round(iteration, prediction))
        return rounds

    def _align(self, problem: Problem) -> Float:
        """Return all rows, source first, in one space and of unit length."""
        target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        width = min(problem.X_source.shape[1], target.shape[1])
        n_fitted = None if self.target_axes == "all" else len(problem.X_labelled)
        source = _narrow(_unit_scale(problem.X_source), width)
        target = _narrow(_unit_scale(target), width, n_fitted)
        rows = np.vstack([row_normalise(source), row_normalise(target)])
        axes = principal_axes(rows, self.n_components)
        if axes.shape[1] < 2:
            raise MethodFailed(
                "PA needs n_components of 2 or more and rows that differ in as many "
                f"directions once scaled to unit length, got {axes.shape[1]}"
            )
        return row_normalise(rows @ axes)

    def _classify(self, labelled: Float, y: Int, unlabelled: Float) -> Int:
        if len(np.unique(y)) < 2:
            return np.repeat(y[:1], len(unlabelled))
        options = {"solver": "liblinear", "fit_intercept": False, "tol": 0.01}
        machine = OneVsRestClassifier(LogisticRegression(C=self.C, **options))
        return np.asarray(machine.fit(labelled, y).predict(unlabelled))


def _narrow(X: Float, width: int, n_fitted: int | None = None) -> Float:
    """Return rows of `width` columns: on principal axes where there were more."""
    if X.shape[1] == width:
        return X
    axes = principal_axes(X[:n_fitted], width)
    scores = X @ (axes if n_fitted is None else _filled(axes, width))
    return np.pad(scores, ((0, 0), (0, width - scores.shape[1])))


def _filled(axes: Float, width: int) -> Float:
    """Return `width` orthonormal columns: `axes`, then the first features."""
    basis = np.linalg.qr(np.hstack([axes, np.eye(len(axes), width)]))[0]
    rest = basis[:, axes.shape[1] : width]
    return np.hstack([axes, rest * column_signs(rest)])


def _unit_scale(X: Float) -> Float:
    """Return `X` times a power of two, so that no square over- or underflows."""
    return np.asarray(np.ldexp(X, -np.frexp(np.abs(X).max())[1]))
