"""TIT: kernel alignment with a supervised graph and row sparsity, then an SVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from cdspp.core.linalg import counts
from cdspp.methods.base import Float, Int, Problem, Round
from cdspp.methods.shared.common_subspace import SubspaceMethod
from cdspp.methods.shared.constraints import COUNT, NON_NEGATIVE, POSITIVE
from cdspp.methods.svm_t.svm_t import SVMT
from cdspp.methods.tit.kernel_alignment import KernelBlock, class_graph, solve_alignment

__all__ = ["TIT"]

# Inside the root that weighs the rows of A: a zero row keeps a finite weight.
EPSILON = 2.2e-16


class TIT(SubspaceMethod):
    r"""Transfer independently together (TIT).

    Gives each sample a row of coefficients A, so that the new features ``Z = K A`` of
    both domains agree in the mean, keep classes close, and rest on few samples:

    .. math::

        \bigl[K (M + \beta L - \delta R) K + \alpha G\bigr] a = \varphi K H K a

    for the smallest :math:`|\varphi|`, with the columns a of A, the linear kernel K of
    rows of unit length (zero between the domains), the mean discrepancy M, the
    Laplacian L of a graph within classes, the target's indicator R, centring H, and
    ``G_ii = 1 / ||A_i||`` of the round before. A linear support vector machine on Z of
    all labelled rows then labels the unlabelled ones, which changes the graph.

    Parameters
    ----------
    n_components : int, default=100
        Number of new features; fewer where the kernel has a smaller rank.
    alpha : float, default=1.0
        Weight of the row sparsity, lambda in the paper.
    beta : float, default=0.1
        Weight of the graph.
    delta : float, default=0.01
        Reward for variance of the target rows.
    n_neighbors : int, default=8
        Neighbours of a sample in the graph.
    max_iter : int, default=5
        Number of rounds.
    C : float, default=1.0
        Cost of a margin violation of the support vector machines.

    Attributes
    ----------
    projection_, projection_source_, n_features_source_
        Maps of rows of unit length to the new features, the transposed rows times A;
        see `cdspp.methods.shared.common_subspace.SubspaceMethod`.
    classes_, transduction_, history_, n_iter_, n_features_in_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    Cost a round and domain of n rows and d features: O(n d^2 + d^3) where d < 0.75 n,
    else O(n^3); O(n min(n, d)) memory. The eigenproblem is solved by Lanczos iteration
    on its inverse, which needs no factor of the singular right matrix.

    As in the released code no sample is weighted in the support vector machine: it
    computes the paper's landmark weights and never uses them. Eigenvectors have unit
    2-norm, as in MATLAB; of unit ``a^T K H K a``, as in LAPACK, they lose tens of
    points. Features of equal number in both domains are treated as unrelated; the
    released code would take them as shared ones.

    References
    ----------
    .. [1] Li, J., Lu, K., Huang, Z., Zhu, L., Shen, H. T., "Transfer Independently
       Together: A Generalized Framework for Domain Adaptation", IEEE Transactions on
       Cybernetics 49(6), 2019. :doi:`10.1109/TCYB.2018.2820174`

    Examples
    --------
    >>> from cdspp import TIT, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> X = [[0.9, 0.1], [0.2, 1.0], [0.8, 0.3], [0.1, 0.7]]
    >>> TIT().fit(X, [*source.y, *source.y], source=source).predict([[1.0, 0.2]])
    array(['cat'], dtype='<U3')
    """

    identifier = "tit"
    display_name = "TIT"

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        "n_components": [COUNT],
        "alpha": [POSITIVE],
        "beta": [NON_NEGATIVE],
        "delta": [NON_NEGATIVE],
        "n_neighbors": [COUNT],
        "max_iter": [COUNT],
        "C": [POSITIVE],
    }

    def __init__(
        self,
        n_components: int = 100,
        alpha: float = 1.0,
        beta: float = 0.1,
        delta: float = 0.01,
        n_neighbors: int = 8,
        max_iter: int = 5,
        C: float = 1.0,
    ) -> None:
        self.n_components, self.n_neighbors = n_components, n_neighbors
        self.alpha, self.beta, self.delta = alpha, beta, delta
        self.max_iter, self.C = max_iter, C

    @classmethod
    def work(cls, size: Any) -> tuple[float, float]:
        """Return about how many seconds a fit takes, and MB beside the data."""
        sides = [(size.n_source, size.d_source), (size.n_target, size.d_target)]
        seconds, squares = 0.03, 0.0
        for n, d in sides:
            by_features = d <= 0.75 * n
            rank = d if by_features else n
            work = 5.0 * d**3 + 3.0 * n * d**2 if by_features else 4.0 * n**3
            seconds += n * d * min(n, d) / 7.5e9 + 5 * (work / 4e10 + 1.8e-7 * rank**2)
            squares += rank**2
        n_trained = size.n_source + size.n_labelled
        seconds += 2e-7 * n_trained * (n_trained + size.n_unlabelled)
        return seconds, 48e-6 * squares

    def _fit_problem(self, problem: Problem) -> list[Round]:
        problem = self._prepare(problem)
        source, labelled = problem.X_source, problem.X_labelled
        unlabelled = problem.X_unlabelled
        target = np.vstack([labelled, unlabelled])
        codes = np.concatenate([problem.y_source, problem.y_labelled])
        blocks = (KernelBlock.of_rows(source), KernelBlock.of_rows(target))
        weights = (np.ones(len(source)), np.ones(len(target)))
        options = {"alpha": self.alpha, "beta": self.beta, "delta": self.delta}
        self._learn(labelled, problem.y_labelled)
        prediction = self._vote(unlabelled)
        rounds = []
        for iteration in range(1, self.max_iter + 1):
            graphs = self._graphs(source, target, problem, prediction)
            A_source, A_target = solve_alignment(
                blocks, graphs, weights, n_components=self.n_components, **options
            )
            weights = (_row_lengths(A_source), _row_lengths(A_target))
            self.projection_source_ = source.T @ A_source
            self.projection_ = target.T @ A_target
            Z_source = source @ self.projection_source_
            Z_labelled = labelled @ self.projection_
            self._learn(np.vstack([Z_source, Z_labelled]), codes)
            prediction = self._vote(unlabelled @ self.projection_)
            rounds.append(Round(iteration, prediction, n_selected=len(prediction)))
        return rounds

    def _graphs(
        self, source: Float, target: Float, problem: Problem, prediction: Int
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the graphs of both domains by the current labels of the target."""
        codes = np.concatenate([problem.y_labelled, prediction])
        n_source = counts(problem.y_source, problem.n_classes)
        n_target = counts(codes, problem.n_classes)
        k = self.n_neighbors
        of_source = class_graph(source, problem.y_source, n_target, k)
        return of_source, class_graph(target, codes, n_source, k)

    def _learn(self, Z: Float, codes: Int) -> None:
        self._machine = SVMT(strategy="ovo", l2=False, C=self.C).fit(Z, codes)

    def _vote(self, Z: Float) -> Int:
        if not len(Z):
            return np.empty(0, dtype=np.intp)
        return np.asarray(self._machine.predict(Z), dtype=np.intp)

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self._vote(self._place_target(self._prepare_target(X))), None


def _row_lengths(A: Float) -> Float:
    """Return the 2-norm of each row, slightly enlarged: the inverse of G."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", A, A) + EPSILON))
