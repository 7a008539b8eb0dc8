"""A linear machine on the rows of both domains, brought into one space by a bridge."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse import issparse
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from cdspp.core.files import storable
from cdspp.core.linalg import row_normalise, softmax
from cdspp.methods.base import ConfidentClassifier, Float, Int, Problem, Round
from cdspp.methods.bridge import Bridge
from cdspp.methods.shared.common_subspace import CommonSpaceMethod, expand_classes
from cdspp.methods.shared.constraints import POSITIVE
from cdspp.methods.shared.pseudo_labelling import selective_pseudo_labelling


def unit_rows(X: Any) -> Any:
    """Return rows of unit length, sparse ones as CSR; a zero row stays zero."""
    if not issparse(X):
        return row_normalise(X)
    return normalize(X) if X.shape[0] else X


def stacked(parts: list[Any], *, columns: bool = False) -> Any:
    """Return dense or sparse rows below each other, or `columns` next to each other."""
    if any(map(issparse, parts)):
        joined = (sparse.hstack if columns else sparse.vstack)(parts, format="csr")
        if joined.nnz < np.iinfo(np.int32).max:  # LIBLINEAR takes no longer ones
            joined.indices = joined.indices.astype(np.int32, copy=False)
            joined.indptr = joined.indptr.astype(np.int32, copy=False)
        return joined
    return np.hstack(parts) if columns else np.vstack(parts)


@storable
@dataclass(frozen=True, eq=False)
class LinearMachine:
    """A linear machine for each class present: weights (d, n_present), intercepts."""

    weights: Float
    intercepts: Float
    present: Int
    n_classes: int

    @classmethod
    def fit(
        cls, X: Any, codes: Int, n_classes: int, C: float, weights: Float | None = None
    ) -> LinearMachine:
        """Fit to rows (n, d), perhaps with a weight each, in O(nnz) a pass."""
        present = np.unique(codes)
        if len(present) == 1:
            return cls(np.zeros((X.shape[1], 1)), np.zeros(1), present, n_classes)
        # By rows, the order of passes is drawn from a fixed seed: nothing is random.
        by_rows = X.shape[0] < X.shape[1]
        machine = LinearSVC(C=C, dual=by_rows, random_state=0, max_iter=10_000)
        machine.fit(X, codes, sample_weight=weights)
        W, b = machine.coef_.T, machine.intercept_
        if len(present) == 2:
            W, b = np.hstack([-W, W]), np.concatenate([-b, b])
        return cls(np.ascontiguousarray(W), b, present, n_classes)

    def probabilities(self, X: Any) -> Float:
        """Return the softmax of the decision values, zero for a class without one."""
        scores = softmax(X @ self.weights + self.intercepts)
        return expand_classes(scores, self.present, self.n_classes)


class JointMachine(CommonSpaceMethod, ConfidentClassifier):
    """Base of the methods that bring both domains into one space by a bridge.

    `_prepare_source` and `_prepare_target` return rows of unit length in that space.
    """

    accepts_sparse = True
    needs_bridge = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"C": [POSITIVE]}

    C: float
    max_iter = 1
    _machine: LinearMachine

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        rows = size.n_source + size.n_labelled
        rounds = 1 if cls.supervised else 5
        passed = rounds * (rows + (rounds > 1) * size.n_unlabelled / 2)
        values = passed * size.density * (size.d_source + size.d_target) / 2
        megabytes = 16e-6 * (values / rounds + size.n_classes * size.n_unlabelled)
        return 0.006 + 2.5e-8 * size.n_classes * values, megabytes

    @abstractmethod
    def _build(self, problem: Problem, bridge: Bridge) -> None:
        """Learn the joint space, of rows as they were given."""

    def _fit_problem(self, problem: Problem) -> list[Round]:
        assert problem.bridge is not None
        self._build(problem, problem.bridge)
        parts = self._prepare(problem)
        X_unlabelled, n_source = parts.X_unlabelled, len(parts.y_source)

        def fit_predict(selected: Int, codes: Int) -> Round:
            X = stacked([parts.X_source, parts.X_labelled, X_unlabelled[selected]])
            n_target = X.shape[0] - n_source
            weights = np.ones(X.shape[0])
            weights[n_source:] = max(0.25 * n_source, n_target) / n_target
            y = np.concatenate([parts.y_source, parts.y_labelled, codes])
            self._machine = LinearMachine.fit(X, y, parts.n_classes, self.C, weights)
            probabilities = self._machine.probabilities(X_unlabelled)
            return Round(1, *self._most_probable(probabilities))

        return selective_pseudo_labelling(fit_predict, self.max_iter)

    def _probabilities(self, X: Any) -> Float:
        return self._machine.probabilities(self._prepare_target(X))
