"""Trained classifiers of scikit-learn as arrays; prediction only needs NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.files import storable
from cdspp.core.linalg import softmax
from cdspp.methods.base import Float, Int

# A deeper tree is refused; one of scikit-learn is at most as deep as it has rows.
MAX_DEPTH = 10_000
CHUNK = 4096  # rows that go through a forest at a time


def _require(condition: Any, fault: str) -> None:
    if not condition:
        raise ValueError(fault)


def _require_numbers(*arrays: Any) -> None:
    is_valid = all(a.dtype.kind == "f" and np.isfinite(a).all() for a in arrays)
    _require(is_valid, "values are not finite numbers")


def _require_classes(present: Any, n_columns: int) -> None:
    _require(present.dtype.kind == "i" and present.ndim == 1, "classes are no codes")
    _require(len(present) == n_columns, f"{len(present)} classes, {n_columns} columns")
    _require((np.diff(present, prepend=-1) > 0).all(), "codes of classes are unsorted")


@storable
@dataclass(frozen=True, eq=False)
class LinearRule:
    """Scores of the classes `present`: weights (d, n_present), and intercepts."""

    weights: Float
    intercepts: Float
    present: Int

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit each other, as in a damaged model file."""
        shapes = self.weights.ndim == 2 and self.intercepts.shape
        _require(shapes == self.weights.shape[1:], "weights do not fit intercepts")
        _require_numbers(self.weights, self.intercepts)
        _require_classes(self.present, len(self.intercepts))

    def probabilities(self, X: Float) -> Float:
        """Return the softmax of the scores, with a column for each class present."""
        return softmax(X @ self.weights + self.intercepts)


@storable
@dataclass(frozen=True, eq=False)
class Forest:
    """Decision trees, one after the other in arrays of nodes, which vote by their mean.

    A row at a node goes to its first child if its `features` value is at most the
    threshold, else to the second; the children of a leaf are -1, and `outcomes` is its
    row in `shares`, the shares of the classes `present`.
    """

    roots: Int  #: First node of each tree.
    children: Int  #: (n_nodes, 2)
    features: Int
    thresholds: Float
    outcomes: Int
    shares: Float
    present: Int
    n_features: int

    def __post_init__(self) -> None:
        """Refuse arrays that are no trees, as in a damaged model file."""
        n = len(self.children)
        indices = self.roots, self.features, self.outcomes, self.present, self.children
        _require(all(a.dtype.kind == "i" for a in indices), "indices are not integers")
        _require(self.children.shape == (n, 2), "a node has not two children")
        arrays = self.features, self.thresholds, self.outcomes
        _require(all(a.shape == (n,) for a in arrays), "arrays of different lengths")
        _require_numbers(self.thresholds, self.shares)
        _require(self.shares.ndim == 2, "shares are no matrix")
        _require_classes(self.present, self.shares.shape[1])
        is_inside = (self.outcomes >= 0) & (self.outcomes < len(self.shares))
        _require(is_inside.all(), "an outcome is not among the shares")
        is_inside = (self.features >= 0) & (self.features < self.n_features)
        _require(is_inside.all(), "a feature is not among those of the fit")
        self._check_trees(n)

    def _check_trees(self, n: int) -> None:
        starts = np.diff(self.roots, append=n)
        is_cut = self.roots.ndim == 1 and len(starts) and self.roots[0] == 0
        _require(is_cut and (starts > 0).all(), "roots do not divide the nodes")
        ends = np.repeat(self.roots + starts, starts)[:, None]
        is_leaf = (self.children == -1).all(axis=1)
        is_after = self.children > np.arange(n)[:, None]
        is_inner = (is_after & (self.children < ends)).all(axis=1)
        _require((is_leaf | is_inner).all(), "a child is not below its parent")
        parents = np.bincount(self.children[~is_leaf].ravel(), minlength=n)
        parents[self.roots] += 1
        _require((parents == 1).all(), "a node has not one parent")
        level, depth = self.roots, 0
        while len(level := self.children[level[~is_leaf[level]]].ravel()):
            depth += 1
            _require(depth <= MAX_DEPTH, f"a tree is deeper than {MAX_DEPTH}")

    @classmethod
    def of(cls, trees: list[Any], present: Int, n_features: int) -> Forest:
        """Return the arrays of fitted trees of scikit-learn."""
        sizes = [tree.node_count for tree in trees]
        roots = np.cumsum([0, *sizes[:-1]])
        children = np.concatenate(
            [
                np.stack([tree.children_left, tree.children_right], axis=1)
                + np.where(tree.children_left == -1, 0, root)[:, None]
                for tree, root in zip(trees, roots, strict=True)
            ]
        )
        is_leaf = children[:, 0] == -1
        values = np.concatenate([tree.value[:, 0] for tree in trees])
        # Most leaves have a single class, so few rows differ.
        shares, outcomes = np.unique(values[is_leaf], axis=0, return_inverse=True)
        of_nodes = np.zeros(len(children), dtype=np.intp)
        of_nodes[is_leaf] = outcomes.ravel()
        features = np.concatenate([tree.feature for tree in trees])
        thresholds = np.concatenate([tree.threshold for tree in trees])
        return cls(
            roots=roots.astype(np.intp),
            children=children.astype(np.intp),
            features=np.where(is_leaf, 0, features).astype(np.intp),
            thresholds=np.where(is_leaf, 0.0, thresholds),
            outcomes=of_nodes,
            shares=shares,
            present=present,
            n_features=n_features,
        )

    def probabilities(self, X: Float) -> Float:
        """Return the mean shares of the trees, with a column for each class present."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"{X.shape[1]} features, expected {self.n_features}")
        # As scikit-learn does, compare single precision and add in the order of trees.
        with np.errstate(over="ignore"):
            rows = X.astype(np.float32)
        chunks = [rows[k : k + CHUNK] for k in range(0, max(len(rows), 1), CHUNK)]
        return np.concatenate([self._mean_shares(chunk) for chunk in chunks])

    def _mean_shares(self, X: NDArray[np.float32]) -> Float:
        sums = np.zeros((len(X), len(self.present)))
        for root in self.roots:
            nodes, active = np.full(len(X), root), np.arange(len(X))
            while len(active := active[self.children[nodes[active], 0] >= 0]):
                at = nodes[active]
                is_right = X[active, self.features[at]] > self.thresholds[at]
                nodes[active] = self.children[at, is_right.astype(np.intp)]
            sums += self.shares[self.outcomes[nodes]]
        return sums / len(self.roots)


@dataclass(frozen=True, eq=False)
class OpaqueRule:
    """A classifier without a form of arrays, which no model file takes."""

    classifier: Any

    @property
    def present(self) -> Int:
        """Codes of the classes."""
        return np.asarray(self.classifier.classes_)

    def probabilities(self, X: Float) -> Float:
        """Return probabilities, or the softmax of decision values, by class present."""
        if hasattr(self.classifier, "predict_proba"):
            return np.asarray(self.classifier.predict_proba(X))
        values = self.classifier.decision_function(X)
        both = np.column_stack([-values, values]) if values.ndim == 1 else values
        return softmax(both)


Rule = LinearRule | Forest | OpaqueRule


def predicted_codes(rule: Rule, X: Float) -> Int:
    """Return the most probable classes; ties go to the first."""
    if isinstance(rule, OpaqueRule):
        return np.asarray(rule.classifier.predict(X), dtype=np.intp)
    return np.asarray(rule.present[rule.probabilities(X).argmax(axis=1)])


def fit_rule(classifier: Any, X: Float, codes: Int, weights: Float | None) -> Rule:
    """Fit a classifier of scikit-learn to class codes, and return it as arrays.

    `weights` are ignored by a classifier whose `fit` takes none. A single class needs
    no fit, and with one row per class, discriminant analysis becomes the nearest row.
    """
    from sklearn.utils.validation import has_fit_parameter

    if len(present := np.unique(codes)) == 1:
        return LinearRule(np.zeros((X.shape[1], 1)), np.zeros(1), present)
    kind = type(classifier)
    if len(present) == len(X) and kind.__name__ == "LinearDiscriminantAnalysis":
        means = X[np.argsort(codes)]
        return LinearRule(means.T, -0.5 * (means**2).sum(axis=1), present)
    is_weighted = weights is not None and has_fit_parameter(classifier, "sample_weight")
    classifier.fit(X, codes, **({"sample_weight": weights} if is_weighted else {}))
    if not kind.__module__.startswith("sklearn."):
        return OpaqueRule(classifier)
    if kind.__name__ in ("LogisticRegression", "LinearDiscriminantAnalysis"):
        W, b = classifier.coef_.T, classifier.intercept_
        if len(present) == 2:  # the first class has the score zero
            W, b = np.hstack([np.zeros_like(W), W]), np.append(0.0, b)
        return LinearRule(np.ascontiguousarray(W), b, present)
    if kind.__name__ in ("RandomForestClassifier", "ExtraTreesClassifier"):
        trees = [each.tree_ for each in classifier.estimators_]
        return Forest.of(trees, present, X.shape[1])
    return OpaqueRule(classifier)
