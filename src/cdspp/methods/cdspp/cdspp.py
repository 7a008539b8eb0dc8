"""CDSPP: supervised, semi-supervised, on principal components, or without a source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metaestimators import available_if

from cdspp.core.linalg import row_normalise
from cdspp.methods.base import COUNT, Float, Int, Iteration, Problem
from cdspp.methods.cdspp.structure_preserving import (
    Projection,
    RowsInUse,
    Solver,
    Solvers,
    make_solver,
    solve_projection,
    solve_several,
)
from cdspp.methods.shared.common_subspace import (
    SubspaceClassifier,
    SubspaceRecogniser,
    components_of,
    one_or_list,
    selective_pseudo_labelling,
)
from cdspp.methods.shared.machines import stacked


@dataclass(eq=False, repr=False)
class CDSPPSup(SubspaceRecogniser):
    r"""Supervised cross-domain structure preserving projection (CDSPP_sup).

    Finds projections of both domains in which samples of one class lie close together,
    whatever their domain:

    .. math::

        \max_{P_s, P_t} \operatorname{tr} \bigl(P_s^T X_s^T Y_s Y_t^T X_t P_t\bigr)
        \quad \text{s.t.} \quad
        P_s^T (X_s^T L_s X_s + \alpha I) P_s + P_t^T (X_t^T L_t X_t + \alpha I) P_t = I

    with ``L_s = diag(s_c + t_c / 2) - Y_s Y_s^T``, ``L_t`` likewise, and the class
    sizes `s_c` and `t_c`. Rows are scaled to unit length first. Unlabelled rows are
    ignored; `CDSPP` gives them pseudo-labels.

    Parameters
    ----------
    alpha : float, default=10.0
        Weight of the regulariser.
    n_components : int, default=None
        Dimension of the subspace; by default the number of classes, and at most the
        number of positive eigenvalues.
    center : bool, default=True
        Whether to subtract the mean of projected labelled rows before classification.
    normalize_means : bool, default=True
        Whether to scale class means to unit length.
    eigenvector_scaling : {"metric", "unit"}, default="metric"
        Scaling of the directions: by the constraint, or to unit length. It matters
        because projected rows are normalised afterwards.
    classifier : estimator, default=None
        scikit-learn classifier for the subspace, with `predict_proba` or
        `decision_function`; by default the nearest class mean.
    dtype : {"float64", "float32"}, default="float64"
        Precision of rows and matrices. Single precision halves the memory and roughly
        halves the time of a fit, but may change a few labels.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the directions, all positive, descending.

    Notes
    -----
    Cost O(n d min(n, d) + min(n, d)^3) per domain and O(C^3) for the eigenproblem. The
    paper's text mentions neither the centring nor the scaled means; the released code
    does both, and so do the defaults. For sparse rows, replace n d by the number of
    stored values. A class in only one domain has a mean in the subspace and may be
    predicted, though nothing ties it to the other domain. Large classes have more
    weight in the projection, but not in the labels. Two halves of a source, given as
    two sources, are two domains with a regulariser each, which may change labels.

    References
    ----------
    .. [1] Wang, Q., Breckon, T. P., "Cross-Domain Structure Preserving Projection for
       Heterogeneous Domain Adaptation", Pattern Recognition 123, 2022.
       :doi:`10.1016/j.patcog.2021.108362`

    Examples
    --------
    >>> from cdspp import CDSPPSup, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> model = CDSPPSup().fit([[0.9, 0.1], [0.2, 1.0]], ["cat", "dog"], source=source)
    >>> model.predict([[1.0, 0.3]])
    array(['cat'], dtype='<U3')
    """

    alpha: float = 10.0
    n_components: int | None = None
    # Fixed here, options in `CDSPP`: one iteration, without pseudo-labels.
    max_iter: int = field(default=1, init=False)
    selection: str = field(default="class", init=False)
    final_fit: bool = field(default=False, init=False)
    center: bool = True
    normalize_means: bool = True
    eigenvector_scaling: str = "metric"
    classifier: Any = None
    keep_projections: bool = field(default=False, init=False)
    dtype: str = "float64"

    option_notes = {
        "n_components": (
            "CDSPP's closed form has no direction beyond the number of classes "
            "({n_classes}): for larger d the curve is flat by construction."
        ),
        "max_iter": (
            "Each T is a separate fit: its iteration k + 1 uses the share k / T of the "
            "pseudo-labels."
        ),
    }

    _parameter_constraints = SubspaceRecogniser._parameter_constraints | {
        "center": ["boolean"],
        "normalize_means": ["boolean"],
        "classifier": [
            None,
            HasMethods(["fit", "predict_proba"]),
            HasMethods(["fit", "decision_function"]),
        ],
        "dtype": [StrOptions({"float32", "float64"})],
    }

    @property
    def _row_type(self) -> Any:
        return np.dtype(self.dtype)

    def _set_options(self, options: Mapping[str, Any]) -> None:
        """Set the options, given as the local variables of a constructor."""
        for name in self._get_param_names():
            setattr(self, name, options[name])

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        n_target = size.n_labelled if cls.supervised else size.n_target
        # Five iterations on a growing share of rows cost as much as three.
        fits = 1 if cls.supervised else 3
        sides = [(size.n_source, size.d_source, 1), (n_target, size.d_target, fits)]
        products = sum(
            k * min(n, d) ** 2 * (min(n, d) + size.density * max(n, d))
            for n, d, k in sides
        )
        squares = sum(min(n, d) ** 2 for n, d, _ in sides)
        C, per_row = size.n_classes, (n_target + size.n_source) * size.n_classes
        by_class = (1 if cls.supervised else 5) * (4e-10 * C**3 + 2e-8 * per_row)
        megabytes = 24e-6 * squares + 8e-6 * (6 * C**2 + 2 * per_row)
        return 0.004 + 2.5e-11 * products + by_class, megabytes

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        prepared = self._prepare(problem)
        domains = [RowsInUse(X, y) for X, y in prepared.sources]
        labelled = RowsInUse(prepared.X_labelled, prepared.y_labelled)
        pairs_source, pairs_target = self._pairs(prepared)
        n_classes = problem.n_classes + sum(len(part.codes) for part in pairs_source)
        alpha = float(self.alpha)
        sources = [make_solver([d, *pairs_source], n_classes, alpha) for d in domains]
        projection: Projection

        def fit_predict(selected: Int, codes: Int) -> Iteration:
            nonlocal projection
            parts = [labelled, RowsInUse(prepared.X_unlabelled, codes, selected)]
            target = make_solver([*parts, *pairs_target], n_classes, alpha)
            projection = self._solve(sources, target, prepared)
            self.projection_ = projection.target
            self.eigenvalues_ = projection.eigenvalues
            projected = [part.project(projection.target) for part in parts]
            Z_unlabelled = projected[1].X
            if projection.rows_target is not None:
                projected = [RowsInUse(projection.rows_target, target.codes)]
            self._fit_recogniser(projection, domains, projected)
            probabilities = self._recogniser.probabilities(Z_unlabelled)
            prediction, confidence = self._most_probable(probabilities)
            kept = None
            if self.keep_projections:
                kept = one_or_list(projection.sources), projection.target
            return Iteration(1, prediction, confidence, projections=kept)

        iterations = selective_pseudo_labelling(
            fit_predict,
            int(self.max_iter),
            per_class=self.selection == "class",
            final_fit=self.final_fit,
        )
        self.projection_source_ = one_or_list(projection.sources)
        return iterations

    # Rows may be overwritten: they belong to the problem, and are not read again.
    _prepare_unlabelled = staticmethod(partial(row_normalise, overwrite=True))

    def _pairs(self, prepared: Problem) -> tuple[list[RowsInUse], list[RowsInUse]]:
        """Return the paired rows of both domains; each pair is a class."""
        return [], []

    def _solve(self, sources: Solvers, target: Solver, prepared: Problem) -> Projection:
        """Return the projection, without projected rows if they include paired rows."""
        k, scaling = self.n_components, self.eigenvector_scaling
        if len(sources) > 1:
            return solve_several([*sources, target], k, scaling=scaling)
        return solve_projection(sources[0], target, k, scaling=scaling)

    def _fit_recogniser(
        self,
        projection: Projection,
        domains: list[RowsInUse],
        projected: list[RowsInUse],
    ) -> None:
        sources = zip(domains, projection.rows_sources, strict=True)
        in_use = [
            own.project(projection.sources[k]) if Z is None else RowsInUse(Z, own.codes)
            for k, (own, Z) in enumerate(sources)
        ]
        in_use += projected
        parts = (chunk for part in in_use for chunk in part.chunks())
        rows, codes = map(np.concatenate, zip(*parts, strict=True))
        mean = rows.mean(axis=0, dtype=np.float64)
        self._recogniser = SubspaceClassifier.fit(
            rows,
            codes,
            mean if self.center else np.zeros_like(mean),
            len(self.classes_),
            normalize_means=self.normalize_means,
            classifier=self.classifier,
        )


@dataclass(eq=False, repr=False)
class CDSPP(CDSPPSup):
    """Semi-supervised CDSPP: the projection with selective pseudo-labelling.

    Fits `CDSPPSup` on the labelled rows, predicts the unlabelled rows, takes the most
    confident predictions of each class as labels, and fits again; the share of these
    pseudo-labels grows from ``1 / max_iter`` to one. Attributes and reference are those
    of `CDSPPSup`; `history_` has an entry per fit. `TargetOnly` is the same method
    without a source.

    Parameters
    ----------
    max_iter : int, default=5
        Number of iterations T, on which the shares depend.
    selection : {"class", "all"}, default="class"
        Whether to take the share from each predicted class, as the released code does,
        or from all unlabelled rows, as the paper's text says. A fraction of a row,
        which the paper does not mention, is rounded up. For some sizes of a class, the
        floating-point arithmetic of the released code adds a row. Rows tied at the
        threshold are all taken.
    final_fit : bool, default=False
        Whether to fit once more on all pseudo-labels: T + 1 fits, as in Algorithm 2 of
        the paper. The released code reports iteration T, which precedes that fit.
    keep_projections : bool, default=False
        Whether to keep the projections of each iteration in `history_`.
    alpha, n_components, center, normalize_means, eigenvector_scaling, classifier, dtype
        As in `CDSPPSup`.

    Notes
    -----
    The source's Gram matrix and class sums are computed once; each iteration costs one
    symmetric product of the target rows in use and one Cholesky factor per domain. A
    class in only one domain is treated as in `CDSPPSup`; two halves of a source, given
    as two sources, may change labels, as there.

    Examples
    --------
    >>> from cdspp import CDSPP, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], [0, 1])
    >>> X = [[0.9, 0.1], [0.2, 1.0], [0.8, 0.3], [0.1, 0.7]]
    >>> CDSPP().fit(X, [0, 1, -1, -1], source=source).transduction_
    array([0, 1, 0, 1])
    """

    max_iter: int = 5
    selection: str = "class"
    final_fit: bool = False
    keep_projections: bool = False

    _parameter_constraints = CDSPPSup._parameter_constraints | {
        "max_iter": [COUNT],
        "selection": [StrOptions({"class", "all"})],
        "final_fit": ["boolean"],
        "keep_projections": ["boolean"],
    }


# Constraints of variants, here and in other modules, that only use double precision.
DOUBLE_CONSTRAINTS = {**CDSPP._parameter_constraints}
del DOUBLE_CONSTRAINTS["dtype"]


class CDSPPPCA(CDSPP):
    """CDSPP on principal components of both feature sets (CDSPP+PCA).

    Applies `CDSPP` to the leading principal components of each domain. These are fitted
    without labels to all rows of the domain, before rows are scaled to unit length.
    Sparse rows (SciPy's CSR), such as bags of words, are never made dense. A class in
    only one domain is treated as in `CDSPPSup`.

    Parameters
    ----------
    pca_components : int, default=50
        Number of principal components; capped at the rank of a domain.
    alpha, n_components, max_iter, selection, final_fit, center, normalize_means
        As in `CDSPP`.
    eigenvector_scaling, classifier, keep_projections
        Likewise.
    """

    _parameter_constraints = DOUBLE_CONSTRAINTS | {"pca_components": [COUNT]}

    pca_components: int

    def __init__(
        self,
        pca_components: int = 50,
        alpha: float = 10.0,
        n_components: int | None = None,
        max_iter: int = 5,
        selection: str = "class",
        final_fit: bool = False,
        center: bool = True,
        normalize_means: bool = True,
        eigenvector_scaling: str = "metric",
        classifier: Any = None,
        keep_projections: bool = False,
    ) -> None:
        self._set_options(locals())

    def _prepare_source(self, X: Float) -> Float:
        return row_normalise(self._pca_source.transform(X))

    def _prepare_target(self, X: Float) -> Float:
        return row_normalise(self._pca_target.transform(X))

    _prepare_unlabelled = _prepare_target

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        X_target = stacked([problem.X_labelled, problem.X_unlabelled])
        k = self.pca_components
        self._pca_source = components_of(self, "source", problem.X_source, k)
        self._pca_target = components_of(self, "target", X_target, k)
        return super()._fit_problem(problem)


class TargetOnly(CDSPP):
    """CDSPP that never sees the source: the control for every transfer result.

    The labelled target rows serve as the source, so its gain over a supervised method
    comes from the unlabelled target rows. Parameters and attributes are those of
    `CDSPP`; there is no `transform_source`. A class in only one domain is predicted if
    that is the target, never if it is the source, which is not used.
    """

    # The space belongs to the target, so source rows cannot be transformed into it.
    transform_source = available_if(lambda _: False)(CDSPP.transform_source)

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        without_source = problem.replace_source(problem.X_labelled, problem.y_labelled)
        return super()._fit_problem(without_source)
