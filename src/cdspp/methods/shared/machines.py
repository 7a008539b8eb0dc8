"""Trained support vector machines as arrays; prediction only needs NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import issparse

from cdspp.core.files import storable
from cdspp.core.linalg import softmax, squared_distances
from cdspp.methods.base import Float, Int
from cdspp.methods.labels import ignore_few_rows
from cdspp.methods.shared.common_subspace import expand_classes

if TYPE_CHECKING:
    from sklearn.svm import LinearSVC


@storable
@dataclass(frozen=True, eq=False)
class OneVersusOne:
    """A trained machine of LIBSVM: a decision for every pair of classes.

    `support` are the positions of the support vectors, class by class; `duals`, (C - 1,
    n_support), are their coefficients against each of the other classes.
    """

    classes: Int
    support: Int
    counts: Int
    duals: Float
    intercepts: Float

    @classmethod
    def of(cls, machine: Any) -> OneVersusOne:
        """Return the machine of a fitted `SVC` or `NuSVC` of scikit-learn."""
        # With two classes, scikit-learn flips the signs: positive means the second.
        sign = -1.0 if len(machine.classes_) == 2 else 1.0
        return cls(
            classes=np.asarray(machine.classes_),
            support=np.asarray(machine.support_, dtype=np.intp),
            counts=np.asarray(machine.n_support_, dtype=np.intp),
            duals=sign * np.asarray(machine.dual_coef_),
            intercepts=sign * np.asarray(machine.intercept_),
        )

    @classmethod
    def fit(cls, kernel: Float, codes: Any, C: float) -> OneVersusOne:
        """Fit a machine with the cost C to a kernel matrix of all rows."""
        from sklearn.svm import SVC  # not at the top: some only predict

        with ignore_few_rows():
            return cls.of(SVC(C=C, kernel="precomputed").fit(kernel, codes))

    def pair_values(self, kernel: Float) -> Float:
        """Return a value per pair of classes, positive if the first class wins."""
        columns = np.split(self.support, np.cumsum(self.counts)[:-1])
        duals = np.split(self.duals, np.cumsum(self.counts)[:-1], axis=1)
        # A pair needs one row each; whole rows are much faster than columns.
        halves = [
            np.ascontiguousarray((kernel[:, rows] @ part.T).T)
            for rows, part in zip(columns, duals, strict=True)
        ]
        values = np.empty((len(self.intercepts), len(kernel)))
        pairs = zip(*np.triu_indices(len(self.classes), k=1), strict=True)
        for value, (a, b) in zip(values, pairs, strict=True):
            np.add(halves[a][b - 1], halves[b][a], out=value)
        values += self.intercepts[:, None]
        return values.T

    def decision_values(self, kernel: Float) -> Float:
        """Return the values of a two-class machine, positive for the second class."""
        return np.asarray(-self.pair_values(kernel)[:, 0])

    def predict(self, kernel: Float) -> Int:
        """Return the class that wins most pairs; ties go to the first class."""
        return _most_votes(self.pair_values(kernel), self.classes)

    def linear(self, rows: Float) -> LinearPairs:
        """Return the weights of this machine with a linear kernel, given its rows."""
        weights = np.ascontiguousarray(self.pair_values(rows.T) - self.intercepts)
        return LinearPairs(self.classes, weights, self.intercepts)


@storable
@dataclass(frozen=True, eq=False)
class LinearPairs:
    """A linear machine for every pair of classes: weights (d, C * (C - 1) / 2)."""

    classes: Int
    weights: Float
    intercepts: Float

    def predict(self, X: Float) -> Int:
        """Return the class that wins most pairs; ties go to the first class."""
        return _most_votes(X @ self.weights + self.intercepts, self.classes)


@storable
@dataclass(frozen=True, eq=False)
class RadialMachine:
    """LIBSVM's machine with the kernel ``exp(-|x - z|^2 / d)`` for d features."""

    rows: Float
    pairs: OneVersusOne | None  #: None with a single class.
    present: Int
    n_classes: int

    @classmethod
    def fit(cls, X: Float, codes: Int, n_classes: int, C: float) -> RadialMachine:
        """Fit to rows (n, d), in O(n^2 d) for the kernel and the machine."""
        present, pairs = np.unique(codes), None
        if len(present) > 1:
            pairs = OneVersusOne.fit(_radial(X, X), codes, C)
        return cls(X, pairs, present, n_classes)

    def probabilities(self, X: Float) -> Float:
        """Return the share of all pairs that each class wins."""
        shares = np.ones((len(X), 1))
        if self.pairs is not None:
            values = self.pairs.pair_values(_radial(X, self.rows))
            shares = _votes(values, len(self.present)).T / values.shape[1]
        return expand_classes(shares, self.present, self.n_classes)


def _radial(X: Float, rows: Float) -> Float:
    return np.asarray(np.exp(squared_distances(X, rows) / -X.shape[1]))


def _most_votes(values: Float, classes: Int) -> Int:
    votes = _votes(values, len(classes))
    return np.asarray(classes[votes.argmax(axis=0)], dtype=np.intp)


def _votes(values: Float, n_classes: int) -> Int:
    """Return the votes per class; positive values are for the first class of a pair."""
    first, second = np.triu_indices(n_classes, k=1)
    votes = np.zeros((n_classes, len(values)), dtype=np.intp)
    for wins, a, b in zip(values.T > 0, first, second, strict=True):
        votes[a] += wins
        votes[b] += ~wins
    return votes


def stacked(parts: list[Any], *, columns: bool = False) -> Any:
    """Return dense or sparse rows below each other, or `columns` next to each other."""
    if any(map(issparse, parts)):
        matrix = (sparse.hstack if columns else sparse.vstack)(parts, format="csr")
        if matrix.nnz < np.iinfo(np.int32).max:  # LIBLINEAR needs 32-bit indices
            matrix.indices = matrix.indices.astype(np.int32, copy=False)
            matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
        return matrix
    return np.hstack(parts) if columns else np.vstack(parts)


def linear_svc(X: Any, C: float, *, intercept: bool = True) -> LinearSVC:
    """Return the linear machine of scikit-learn, unfitted, for rows (n, d)."""
    from sklearn.svm import LinearSVC

    # The order of rows in each pass comes from a fixed seed, so nothing is random.
    by_rows = X.shape[0] < X.shape[1]
    return LinearSVC(
        C=C, dual=by_rows, fit_intercept=intercept, random_state=0, max_iter=10_000
    )


def require(condition: Any, fault: str) -> None:
    """Raise ValueError with the fault of a damaged model file."""
    if not condition:
        raise ValueError(fault)


def require_numbers(*arrays: Any) -> None:
    """Require finite numbers."""
    is_valid = all(a.dtype.kind == "f" and np.isfinite(a).all() for a in arrays)
    require(is_valid, "values are not finite numbers")


def require_classes(present: Any, n_columns: int, n_classes: int) -> None:
    """Require ascending codes of classes, one for each column."""
    require(present.dtype.kind == "i" and present.ndim == 1, "classes are no codes")
    require(len(present) == n_columns, f"{len(present)} classes, {n_columns} columns")
    bounded = np.concatenate([[-1], present, [n_classes]])
    require((np.diff(bounded) > 0).all(), "codes of classes are unsorted or unknown")


@storable
@dataclass(frozen=True, eq=False)
class LinearMachine:
    """A linear machine for each class present: weights (d, n_present), intercepts."""

    weights: Float
    intercepts: Float
    present: Int
    n_classes: int

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit each other, as in a damaged model file."""
        shapes = self.weights.ndim == 2 and self.intercepts.shape
        require(shapes == self.weights.shape[1:], "weights do not fit intercepts")
        require_numbers(self.weights, self.intercepts)
        require_classes(self.present, len(self.intercepts), self.n_classes)

    @classmethod
    def constant(cls, code: int, n_features: int, n_classes: int) -> LinearMachine:
        """Return the machine of a single class."""
        weights, present = np.zeros((n_features, 1)), np.array([code])
        return cls(weights, np.zeros(1), present, n_classes)

    @classmethod
    def fit(
        cls, X: Any, codes: Int, n_classes: int, C: float, weights: Float | None = None
    ) -> LinearMachine:
        """Fit to rows (n, d), optionally weighted, in O(nnz) per pass."""
        present = np.unique(codes)
        if len(present) == 1:
            return cls.constant(present[0], X.shape[1], n_classes)
        machine = linear_svc(X, C).fit(X, codes, sample_weight=weights)
        W, b = machine.coef_.T, machine.intercept_
        if len(present) == 2:
            W, b = np.hstack([-W, W]), np.concatenate([-b, b])
        return cls(np.ascontiguousarray(W), b, present, n_classes)

    def probabilities(self, X: Any) -> Float:
        """Return the softmax of the decision values, zero for absent classes."""
        scores = softmax(X @ self.weights + self.intercepts)
        return expand_classes(scores, self.present, self.n_classes)
