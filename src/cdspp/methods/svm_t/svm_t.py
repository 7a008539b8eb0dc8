"""SVM_t: a linear support vector machine on the labelled target rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Float, HeterogeneousClassifier, Int, Problem, Round
from cdspp.methods.shared.constraints import POSITIVE
from cdspp.methods.svm_t.platt import fit_sigmoid

__all__ = ["SVMT"]

N_FOLDS = 5


class SVMT(HeterogeneousClassifier):
    r"""Linear support vector machine on the labelled target rows (SVM_t).

    The baseline that never sees the source. Each binary problem is

    .. math::

        \min_{w, b} \tfrac12 \lVert w \rVert^2
        + C \sum_i \max\bigl(0, 1 - y_i (w^T x_i + b)\bigr)

    solved by LIBSVM on a Gram matrix computed once.

    Parameters
    ----------
    strategy : {"platt", "decision", "ovo"}, default="platt"
        One-vs-rest by Platt probability, which is what the paper's tables use;
        one-vs-rest by decision value; or one-vs-one by votes, ties to the first class.
    l2 : bool, default=False
        Scale rows to unit length first.
    C : float, default=1.0
        Cost of a margin violation.
    random_state : int, RandomState or None, default=None
        Draws the five folds of Platt scaling; nothing else is random.

    Attributes
    ----------
    classes_, transduction_, history_, n_iter_, n_features_in_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    Cost O(n^2 d) for the Gram matrix of the n labelled rows and O(C n^2) for the
    solver, six times that with Platt scaling. With three rows a class Platt scaling is
    noisy: the folds alone move the accuracy by points. As LIBSVM's interface re-seeds
    its generator for each binary problem and groups the rows by class, one shuffle of
    the grouped rows serves all classes: a fold then loses the rows of every class or of
    none, which keeps the probabilities comparable. A class without a labelled target
    row is never predicted.

    References
    ----------
    .. [1] Chang, C.-C., Lin, C.-J., "LIBSVM: a library for support vector machines",
       ACM TIST 2(3), 2011. :doi:`10.1145/1961189.1961199`

    Examples
    --------
    >>> from cdspp import SVMT
    >>> SVMT(strategy="ovo").fit([[0.0], [1.0], [0.9]], [0, 1, -1]).transduction_
    array([0, 1, 1])
    """

    identifier = "svm-t"
    display_name = "SVM_t"
    supervised = True

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        "strategy": [StrOptions({"platt", "decision", "ovo"})],
        "l2": ["boolean"],
        "C": [POSITIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        strategy: str = "platt",
        l2: bool = False,
        C: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.strategy = strategy
        self.l2 = l2
        self.C = C
        self.random_state = random_state

    def _prepare(self, X: Float) -> Float:
        return row_normalise(X) if self.l2 else X

    def _fit_problem(self, problem: Problem) -> list[Round]:
        self._rows = self._prepare(problem.X_labelled)
        self._present = np.unique(problem.y_labelled)
        codes = problem.y_labelled
        gram = self._gram()
        self._machines: list[SVC] = []
        self._sigmoids: list[tuple[float, float]] = []
        if len(self._present) < 2:
            return []
        if self.strategy == "ovo":
            self._machines = [self._machine(gram, codes)]
            return []
        shuffle = check_random_state(self.random_state).permutation(len(codes))
        for code in self._present:
            positive = codes == code
            self._machines.append(self._machine(gram, positive))
            if self.strategy == "platt":
                values = self._out_of_fold(gram, positive, shuffle)
                self._sigmoids.append(fit_sigmoid(values, positive))
        return []

    def _gram(self) -> Float:
        with np.errstate(over="ignore", invalid="ignore"):
            gram: Float = self._rows @ self._rows.T
        if not np.isfinite(gram).all():
            raise MethodFailed(
                "inner products of the rows overflow: scale the features or set l2"
            )
        return gram

    def _machine(self, gram: Float, labels: Any) -> SVC:
        machine = SVC(C=self.C, kernel="precomputed", tol=1e-3)
        return machine.fit(gram, labels)

    def _out_of_fold(
        self, gram: Float, positive: NDArray[np.bool_], shuffle: Int
    ) -> Float:
        """Return decision values of rows by machines that did not see them."""
        n = len(positive)
        values = np.empty(n)
        grouped = np.argsort(positive, kind="stable")
        for fold in np.array_split(grouped[shuffle], min(N_FOLDS, n)):
            rest = np.setdiff1d(np.arange(n), fold)
            labels = positive[rest]
            if labels.all() or not labels.any():
                values[fold] = 1.0 if labels.all() else -1.0
                continue
            machine = self._machine(gram[np.ix_(rest, rest)], labels)
            values[fold] = machine.decision_function(gram[np.ix_(fold, rest)])
        return values

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        if not self._machines:
            return np.repeat(self._present, len(X)), None
        kernel = self._prepare(X) @ self._rows.T
        if self.strategy == "ovo":
            return self._machines[0].predict(kernel), None
        scores = np.column_stack([m.decision_function(kernel) for m in self._machines])
        if self.strategy == "platt":
            slopes, offsets = np.array(self._sigmoids).T
            scores = -(slopes * scores + offsets)
        return self._present[scores.argmax(axis=1)], None
