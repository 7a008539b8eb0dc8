"""Linear machines on rows of both domains, joined by shared columns or paired rows."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import issparse

from cdspp.core.linalg import dense, joint_rows, mean_length, row_normalise
from cdspp.core.scaling import PrincipalComponents
from cdspp.methods import base
from cdspp.methods.base import COUNT, POSITIVE, Float, Int, Iteration, Problem
from cdspp.methods.bridge import Bridge, bridge_error
from cdspp.methods.problem import Collapse, find_collapse
from cdspp.methods.shared.common_subspace import (
    CommonSpaceMethod,
    components_of,
    selective_pseudo_labelling,
)
from cdspp.methods.shared.machines import LinearMachine, linear_svc, stacked


@dataclass(eq=False, repr=False)
class JointMachine(CommonSpaceMethod, base.ConfidentClassifier):
    """Base class of methods that map both domains into one space by what they share.

    `_prepare_source` and `_prepare_target` return rows in that space.
    """

    C: float = 1.0

    max_iter = 1

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"C": [POSITIVE]}

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        rows = size.n_source + size.n_labelled
        iterations = cls.max_iter
        row_passes = iterations * (rows + (iterations > 1) * size.n_unlabelled / 2)
        values = row_passes * size.density * (size.d_source + size.d_target) / 2
        megabytes = 16e-6 * (values / iterations + size.n_classes * size.n_unlabelled)
        return 0.006 + 2.5e-8 * size.n_classes * values, megabytes

    @abstractmethod
    def _build(self, problem: Problem, bridge: Bridge) -> None:
        """Learn the joint space from the rows as given."""

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        assert problem.bridge is not None
        self._build(problem, problem.bridge)
        prepared = self._prepare(problem)
        unlabelled, n_source = prepared.X_unlabelled, len(prepared.y_source)

        def fit_predict(selected: Int, codes: Int) -> Iteration:
            X = stacked([prepared.X_source, prepared.X_labelled, unlabelled[selected]])
            n_target = X.shape[0] - n_source
            weights = np.ones(X.shape[0])
            weights[n_source:] = max(0.25 * n_source, n_target) / n_target
            y = np.concatenate([prepared.y_source, prepared.y_labelled, codes])
            self._machine = self._fit_machine(X, y, weights, prepared)
            probabilities = self._machine.probabilities(unlabelled)
            return Iteration(1, *self._most_probable(probabilities))

        return selective_pseudo_labelling(fit_predict, self.max_iter)

    def _fit_machine(
        self, X: Any, codes: Int, weights: Float, prepared: Problem
    ) -> LinearMachine:
        return LinearMachine.fit(X, codes, prepared.n_classes, self.C, weights)

    def _probabilities(self, X: Any) -> Float:
        return self._machine.probabilities(self._prepare_target(X))


def _zeros(X: Any, width: int) -> Any:
    shape = (X.shape[0], width)
    return sparse.csr_array(shape) if issparse(X) else np.zeros(shape)


@dataclass(eq=False, repr=False)
class SharedColumns(JointMachine):
    r"""Linear machine on the columns that both domains share (shared columns).

    Trains one machine per class against all others, on the shared columns of source
    rows and labelled target rows:

    .. math::

        \min_{w, b} \tfrac12 \lVert w \rVert^2 + \tfrac12 b^2
        + C \sum_i v_i \max\bigl(0, 1 - y_i (w^T x_i + b)\bigr)^2

    with the weight ``v_i = 1`` of a source row. The total weight of labelled target
    rows is a quarter of that of the source, or their number if that is larger.
    Unlabelled rows are ignored.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation.
    unit_rows : bool, default=None
        If true, each row of the joint space is scaled to unit length, which suits texts
        and counts. If false, all rows of both domains are divided by one number, the
        root mean square of the lengths of the source's rows, so that a value has the
        same size in every row: this suits tables, and few columns. Only rows with a
        value above thirty of these lengths are scaled down. By default, rows are
        scaled to unit length if those of the target are sparse.

    Attributes
    ----------
    columns_source_, columns_ : ndarray of shape (n_shared,)
        The shared columns of the source and of the target.

    Notes
    -----
    Cost O(nnz) per pass over the rows, with some ten passes: coordinate descent by rows
    if there are fewer rows than features, else Newton's method with a trust region.
    Sparse rows stay sparse. Without a source, every column is shared. Columns are used
    as given, so convert both domains to the same units, and scale shared columns alike.
    A class in only one domain trains its machine there and may be predicted. All rows
    of a domain count equally, so large classes have more weight.

    References
    ----------
    .. [1] Fan, R.-E., Chang, K.-W., Hsieh, C.-J., Wang, X.-R., Lin, C.-J., "LIBLINEAR:
       a library for large linear classification", JMLR 9, 2008.
       https://www.jmlr.org/papers/v9/fan08a.html

    Examples
    --------
    >>> from cdspp import SharedColumns, SourceDomain
    >>> source = SourceDomain(
    ...     [[5.0, 0.1], [0.2, 4.0]], ["cat", "dog"], shared_columns=[(0, 1), (1, 2)]
    ... )
    >>> X = [[7.0, 4.0, 0.0], [7.0, 0.3, 5.0], [7.0, 0.0, 3.0]]
    >>> SharedColumns().fit(X, ["cat", None, None], source=source).transduction_
    array(['cat', 'dog', 'dog'], dtype='<U3')
    """

    unit_rows: bool | None = field(default=None, kw_only=True)

    _parameter_constraints = JointMachine._parameter_constraints | {
        "unit_rows": [None, "boolean"]
    }

    # Parts of joint rows: shared columns, copies in one domain, the target's own.
    _parts: ClassVar[tuple[str, ...]] = ("shared",)

    def _build(self, problem: Problem, bridge: Bridge) -> None:
        if not len(bridge.source):
            example = 'shared_columns="same-names"'
            raise bridge_error(self, "shared columns", example, "--shared")
        self.columns_source_, self.columns_ = bridge.source, bridge.target
        self._own = np.setdiff1d(np.arange(problem.X_labelled.shape[1]), bridge.target)
        is_unit = self.unit_rows
        if is_unit is None:
            is_unit = issparse(problem.X_labelled)
        self._length: float | None = None if is_unit else 1.0
        if not is_unit:
            self._length = mean_length(self._prepare_source(problem.X_source))

    def _prepare_source(self, X: Any) -> Any:
        shared = X[:, self.columns_source_]
        return self._joint(shared, _zeros(shared, len(self._own)), "source")

    def _prepare_target(self, X: Any) -> Any:
        return self._joint(X[:, self.columns_], X[:, self._own], "target")

    def _joint(self, shared: Any, target_only: Any, domain: str) -> Any:
        zeros = _zeros(shared, shared.shape[1])
        parts = {"shared": shared, "source": zeros, "target": zeros, "own": target_only}
        parts[domain] = shared
        rows = stacked([parts[name] for name in self._parts], columns=True)
        return joint_rows(rows, self._length)

    def _find_collapse(self, *signs: Any, **options: Any) -> Collapse:
        found = find_collapse(*signs, **options)
        if found.kind and self._length is None and len(self.columns_) == 1:
            fault = "a single shared column of unit length is only its sign; set "
            sentence = f"{found.sentence.partition(';')[0]}; {fault}unit_rows=False."
            return Collapse(found.kind, sentence)
        return found


@dataclass(eq=False, repr=False)
class SharedColumnsPlus(SharedColumns):
    """Shared columns with the target's own, and selective pseudo-labels.

    `SharedColumns` with two additions: the machine also uses the other columns of the
    target, which are zero in the source, and it is fitted `max_iter` times. After
    iteration k, the share ``k / max_iter`` of its predictions, the most confident per
    class, become labels. A class in only one domain is treated as in `SharedColumns`.

    Parameters
    ----------
    C, unit_rows
        As in `SharedColumns`, which also lists the attributes.
    max_iter : int, default=5
        Number of iterations, on which the shares depend.

    References
    ----------
    .. [1] Wang, Q., Breckon, T. P., "Unsupervised domain adaptation via structured
       prediction based selective pseudo-labeling", AAAI 2020.
       :doi:`10.1609/aaai.v34i04.6091`
    """

    max_iter: int = 5

    _parts = ("shared", "own")

    _parameter_constraints = SharedColumns._parameter_constraints | {
        "max_iter": [COUNT]
    }


class EasyAdapt(SharedColumns):
    """Frustratingly easy domain adaptation on the shared columns (EasyAdapt).

    Like `SharedColumns`, with three copies of each shared column: for both domains, for
    the source only, for the target only. A source row ``x`` becomes ``(x, x, 0, 0)``,
    and a target row with own columns ``z`` becomes ``(x, 0, x, z)``, so that a column
    may have a different meaning in each domain. Parameters, attributes and the
    treatment of a class in only one domain are those of `SharedColumns`.

    References
    ----------
    .. [1] Daumé III, H., "Frustratingly easy domain adaptation", ACL 2007.
       https://aclanthology.org/P07-1033/
    """

    _parts = ("shared", "source", "target", "own")


@dataclass(eq=False, repr=False)
class EasyAdaptPlus(EasyAdapt):
    r"""EasyAdapt whose two hypotheses agree on unlabelled target rows (EasyAdapt++).

    `EasyAdapt` learns one hypothesis per domain. An unlabelled target row becomes ``u =
    (0, x, -x, -z)``, so that the machine's value is the difference of both hypotheses,
    and counts once with each sign. Per class, this adds to the objective of `EasyAdapt`

    .. math:: C \mu \sum_u \sum_{\pm} \max\bigl(0, 1 \mp w^T u\bigr)^2

    which is ``2 C mu (w^T u)^2`` plus a constant, for differences of up to one.

    Parameters
    ----------
    C, unit_rows
        As in `SharedColumns`, which also has the attributes and an example.
    unlabelled_weight : float, default=1.0
        Weight ``mu`` of an unlabelled row with each sign; a source row has weight 1.

    Notes
    -----
    Cost as for `SharedColumns`, with twice the unlabelled rows. The mapping, and equal
    weights of all rows, are the paper's; the squared loss and `C` are those of
    `EasyAdapt`; one machine per class, and own columns, are this package's. Neither the
    authors' code nor their data were found, so tests compare with a naive version. A
    class in only one domain is treated as in `SharedColumns`.

    References
    ----------
    .. [1] Daumé III, H., Kumar, A., Saha, A., "Co-regularization based semi-supervised
       domain adaptation", NeurIPS 2010.
       https://papers.nips.cc/paper/4009-co-regularization-based-semi-supervised-domain-adaptation
    """

    unlabelled_weight: float = 1.0

    _parameter_constraints = SharedColumns._parameter_constraints | {
        "unlabelled_weight": [POSITIVE]
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        target = (size.n_labelled + 2 * size.n_unlabelled) * size.d_target
        values = size.density * (size.n_source * size.d_source + target)
        megabytes = 16e-6 * (values + size.n_classes * size.n_unlabelled)
        return 0.006 + 4e-8 * size.n_classes * values, megabytes

    def _fit_machine(
        self, X: Any, codes: Int, weights: Float, prepared: Problem
    ) -> LinearMachine:
        n, k, Z = X.shape[0], len(self.columns_), prepared.X_unlabelled
        if not (m := Z.shape[0]):
            return super()._fit_machine(X, codes, weights, prepared)
        shared, target_only = Z[:, :k], Z[:, 3 * k :]
        parts = [_zeros(shared, k), shared, -shared, -target_only]
        differences = stacked(parts, columns=True)
        if self._length is None:
            differences = row_normalise(differences)
        # The constant is part of both hypotheses, so it cancels in their difference.
        constant = np.repeat([[1.0], [0.0]], [n, 2 * m], axis=0)
        rows = stacked([stacked([X, differences, differences]), constant], columns=True)
        all_weights = np.append(weights, np.full(2 * m, self.unlabelled_weight))
        machine = linear_svc(rows, self.C, intercept=False)
        present, vectors = np.unique(codes), []
        for code in present:
            signs = np.append(np.where(codes == code, 1, -1), np.repeat([1, -1], m))
            vectors.append(machine.fit(rows, signs, sample_weight=all_weights).coef_[0])
        W = np.ascontiguousarray(np.transpose(vectors))
        return LinearMachine(W[:-1], W[-1], present, prepared.n_classes)


# Penalties to try, relative to the mean squared singular value of paired source rows.
PENALTIES = np.logspace(-3, 2, 11)


def ridge_map(A: Float, B: Float) -> tuple[Float, float]:
    """Return the ridge regression of `B` on `A`, and its penalty.

    The penalty has the smallest generalised cross-validation error ``m rss / (m -
    df)^2`` of `PENALTIES`. One singular value decomposition serves all of them.
    """
    U, values, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
    squares, targets = values**2, U.T @ B
    total, explained = (B**2).sum(), (targets**2).sum(axis=1)

    def error(penalty: float) -> float:
        factors = squares / (squares + penalty)
        rss = total - ((2.0 - factors) * factors) @ explained
        freedom = len(A) - factors.sum()
        return float(rss / freedom**2) if freedom > 0 else np.inf

    if not values.any():
        return np.zeros((A.shape[1], B.shape[1])), 0.0
    penalty = min(PENALTIES * squares.mean(), key=error)
    shrunk = values / (squares + penalty)
    return Vt.T @ (shrunk[:, None] * targets), float(penalty)


@dataclass(eq=False, repr=False)
class PairedMap(JointMachine):
    r"""Source rows mapped into the target's space by a ridge map of pairs (paired map).

    A ridge regression, learnt from the paired rows only, predicts the target's features
    from those of the source. All rows are scaled to unit length:

    .. math::

        \min_W \sum_k \lVert W^T p^s_k - p^t_k \rVert^2 + \lambda \lVert W \rVert_F^2

    The machine of `SharedColumns` is then trained on mapped source rows and labelled
    target rows. Pairs need no labels, and unlabelled target rows are ignored.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation.
    n_components : int, default=100
        Rows with more features are first reduced to this number of uncentred principal
        components, fitted to the rows in use and the pairs of their domain.

    Attributes
    ----------
    map_ : ndarray
        The map from components of the source to those of the target.
    penalty_ : float
        Penalty of the ridge regression, selected by generalised cross-validation from
        1e-3 to 1e2 times the mean squared singular value of the paired source rows.

    Notes
    -----
    Cost O(nnz k) for k components of sparse rows, which are never made dense, and
    O(m k^2) for m pairs. Without a source, the map is the identity. A class in only one
    domain is treated as in `SharedColumns`, and mapped by the pairs.

    References
    ----------
    .. [1] Golub, G. H., Heath, M., Wahba, G., "Generalized cross-validation as a method
       for choosing a good ridge parameter", Technometrics 21(2), 1979.
       :doi:`10.1080/00401706.1979.10489751`

    Examples
    --------
    >>> from cdspp import PairedMap, SourceDomain
    >>> left, right = [[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]], [[2, 1], [1, 2], [1, 3]]
    >>> source = SourceDomain([[9.0, 1], [1, 9]], [0, 1], paired_rows=(left, right))
    >>> PairedMap().fit([[8.0, 0.0], [0.0, 7.0]], [1, -1], source=source).transduction_
    array([1, 0])
    """

    n_components: int = 100

    _parameter_constraints = {"C": [POSITIVE], "n_components": [COUNT]}

    @classmethod
    def cost(cls, size: Any, n_components: int = 100) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        source, target = (min(d, n_components) for d in (size.d_source, size.d_target))
        return super().cost(replace(size, d_source=source, d_target=target, density=1))

    def _build(self, problem: Problem, bridge: Bridge) -> None:
        source, target = [problem.X_source], [problem.X_labelled]
        if not self.supervised:
            target.append(problem.X_unlabelled)
        if bridge.n_pairs:
            source.append(bridge.pairs_source)
            target.append(bridge.pairs_target)
        elif not bridge.one_domain:
            example = "paired_rows=(rows_source, rows_target)"
            raise bridge_error(self, "paired rows", example, "--paired")
        self._axes_target = self._axes("target", target)
        if bridge.one_domain:
            self._axes_source = self._axes_target
            width = self._prepare_target(problem.X_labelled[:1]).shape[1]
            self.map_, self.penalty_ = np.eye(width), 0.0
            return
        self._axes_source = self._axes("source", source)
        pairs_source = self._reduced(self._axes_source, bridge.pairs_source)
        self._learn(pairs_source, self._prepare_target(bridge.pairs_target))

    def _learn(self, A: Float, B: Float) -> None:
        self.map_, self.penalty_ = ridge_map(A, B)

    def _axes(self, domain: str, parts: list[Any]) -> PrincipalComponents | None:
        """Return the principal components of a wide domain, None for a narrow one."""
        if parts[0].shape[1] <= self.n_components:
            return None
        X = row_normalise(stacked(parts))
        return components_of(self, domain, X, self.n_components, center=False)

    @staticmethod
    def _reduced(axes: PrincipalComponents | None, X: Any) -> Float:
        rows = row_normalise(X)
        if axes is not None:
            return row_normalise(axes.transform(rows))
        return dense(rows)

    def _prepare_source(self, X: Any) -> Any:
        return row_normalise(self._reduced(self._axes_source, X) @ self.map_)

    def _prepare_target(self, X: Any) -> Float:
        return self._reduced(self._axes_target, X)


@dataclass(eq=False, repr=False)
class PairedMapPlus(PairedMap):
    """The paired map with selective pseudo-labels on the unlabelled target rows.

    A class in only one domain is treated as in `PairedMap`.

    Parameters
    ----------
    C : float, default=1.0
        As in `PairedMap`, which also has the attributes.
    n_components : int, default=100
        As in `PairedMap`. They are fitted to unlabelled target rows as well.
    max_iter : int, default=5
        Number of iterations, as in `SharedColumnsPlus`.
    """

    max_iter: int = 5

    _parameter_constraints = PairedMap._parameter_constraints | {"max_iter": [COUNT]}


class Procrustes(PairedMap):
    r"""Source rows rotated into the target's space by pairs (Procrustes).

    Like `PairedMap`, with the same parameters and attributes, but with an orthogonal
    map and a penalty of zero:

    .. math::

        \operatorname{argmax}_W \operatorname{tr} \bigl(W^T P_s^T P_t\bigr) = U V^T
        \quad \text{for} \quad P_s^T P_t = U \Sigma V^T

    Directions are limited by the span of the pairs and the features of both domains. A
    class in only one domain is treated as in `PairedMap`.

    References
    ----------
    .. [1] Schönemann, P. H., "A generalized solution of the orthogonal Procrustes
       problem", Psychometrika 31, 1966. :doi:`10.1007/BF02289451`
    """

    def _learn(self, A: Float, B: Float) -> None:
        U, values, Vt = linalg.svd(A.T @ B, full_matrices=False, check_finite=False)
        # With fewer pairs than features, the other directions would be arbitrary.
        rank = int(np.sum(values > 1e-10 * values[0]))
        self.map_, self.penalty_ = U[:, :rank] @ Vt[:rank], 0.0
