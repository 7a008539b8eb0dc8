"""Trained classifiers of scikit-learn as arrays; prediction only needs NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.files import storable
from cdspp.methods.base import Float, Int
from cdspp.methods.shared.common_subspace import WrappedClassifier, expand_classes
from cdspp.methods.shared.machines import (
    LinearMachine,
    require,
    require_classes,
    require_numbers,
)

# A deeper tree is refused; one of scikit-learn is at most as deep as it has rows.
MAX_DEPTH = 10_000
CHUNK = 4096  # rows that go through a forest at a time


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
    n_classes: int
    n_features: int

    def __post_init__(self) -> None:
        """Refuse arrays that are no trees, as in a damaged model file."""
        n = len(self.children)
        indices = self.roots, self.features, self.outcomes, self.present, self.children
        require(all(a.dtype.kind == "i" for a in indices), "indices are not integers")
        require(self.children.shape == (n, 2), "a node has not two children")
        arrays = self.features, self.thresholds, self.outcomes
        require(all(a.shape == (n,) for a in arrays), "arrays of different lengths")
        require_numbers(self.thresholds, self.shares)
        require(self.shares.ndim == 2, "shares are no matrix")
        require_classes(self.present, self.shares.shape[1], self.n_classes)
        is_inside = (self.outcomes >= 0) & (self.outcomes < len(self.shares))
        require(is_inside.all(), "an outcome is not among the shares")
        is_inside = (self.features >= 0) & (self.features < self.n_features)
        require(is_inside.all(), "a feature is not among those of the fit")
        self._check_trees(n)

    def _check_trees(self, n: int) -> None:
        starts = np.diff(self.roots, append=n)
        is_cut = self.roots.ndim == 1 and len(starts) and self.roots[0] == 0
        require(is_cut and (starts > 0).all(), "roots do not divide the nodes")
        ends = np.repeat(self.roots + starts, starts)[:, None]
        is_leaf = (self.children == -1).all(axis=1)
        is_after = self.children > np.arange(n)[:, None]
        is_inner = (is_after & (self.children < ends)).all(axis=1)
        require((is_leaf | is_inner).all(), "a child is not below its parent")
        parents = np.bincount(self.children[~is_leaf].ravel(), minlength=n)
        parents[self.roots] += 1
        require((parents == 1).all(), "a node has not one parent")
        level, depth = self.roots, 0
        while len(level := self.children[level[~is_leaf[level]]].ravel()):
            depth += 1
            require(depth <= MAX_DEPTH, f"a tree is deeper than {MAX_DEPTH}")

    @classmethod
    def of(
        cls, trees: list[Any], present: Int, n_classes: int, n_features: int
    ) -> Forest:
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
        # Most leaves have a single class: only rows of the others are compared.
        leaves, n_present = values[is_leaf], len(present)
        outcomes, is_mixed = leaves.argmax(axis=1), leaves.max(axis=1) < 1
        mixed, places = np.unique(leaves[is_mixed], axis=0, return_inverse=True)
        outcomes[is_mixed] = n_present + places.ravel()
        of_nodes = np.zeros(len(children), dtype=np.intp)
        of_nodes[is_leaf] = outcomes
        features = np.concatenate([tree.feature for tree in trees])
        thresholds = np.concatenate([tree.threshold for tree in trees])
        return cls(
            roots=roots.astype(np.intp),
            children=children.astype(np.intp),
            features=np.where(is_leaf, 0, features).astype(np.intp),
            thresholds=np.where(is_leaf, 0.0, thresholds),
            outcomes=of_nodes,
            shares=np.concatenate([np.eye(n_present), mixed]),
            present=present,
            n_classes=n_classes,
            n_features=n_features,
        )

    def probabilities(self, X: Float) -> Float:
        """Return the mean shares of the trees, zero for absent classes."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"{X.shape[1]} features, expected {self.n_features}")
        # As scikit-learn does, compare single precision and add in the order of trees.
        with np.errstate(over="ignore"):
            rows = X.astype(np.float32)
        chunks = [rows[k : k + CHUNK] for k in range(0, max(len(rows), 1), CHUNK)]
        shares = np.concatenate([self._mean_shares(chunk) for chunk in chunks])
        return expand_classes(shares, self.present, self.n_classes)

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


Rule = LinearMachine | Forest | WrappedClassifier


def predicted_codes(rule: Rule, X: Float) -> Int:
    """Return the most probable classes; ties go to the first."""
    if isinstance(rule, WrappedClassifier):
        return np.asarray(rule.classifier.predict(X), dtype=np.intp)
    return np.asarray(rule.probabilities(X).argmax(axis=1))


def fit_rule(
    classifier: Any, X: Float, codes: Int, n_classes: int, weights: Float | None = None
) -> Rule:
    """Fit a classifier of scikit-learn to class codes, and return it as arrays.

    `weights` are ignored by a classifier whose `fit` takes none. A single class needs
    no fit, and with one row per class, discriminant analysis becomes the nearest row.
    """
    from sklearn.utils.validation import has_fit_parameter

    if len(present := np.unique(codes)) == 1:
        return LinearMachine.constant(present[0], X.shape[1], n_classes)
    kind = type(classifier)
    if len(present) == len(X) and kind.__name__ == "LinearDiscriminantAnalysis":
        means = X[np.argsort(codes)]
        half = -0.5 * (means**2).sum(axis=1)
        return LinearMachine(means.T, half, present, n_classes)
    is_weighted = weights is not None and has_fit_parameter(classifier, "sample_weight")
    classifier.fit(X, codes, **({"sample_weight": weights} if is_weighted else {}))
    if not kind.__module__.startswith("sklearn."):
        return WrappedClassifier(classifier, n_classes)
    if kind.__name__ in ("LogisticRegression", "LinearDiscriminantAnalysis"):
        W, b = classifier.coef_.T, classifier.intercept_
        if len(present) == 2:  # the first class has the score zero
            W, b = np.hstack([np.zeros_like(W), W]), np.append(0.0, b)
        return LinearMachine(np.ascontiguousarray(W), b, present, n_classes)
    if kind.__name__ in ("RandomForestClassifier", "ExtraTreesClassifier"):
        trees = [each.tree_ for each in classifier.estimators_]
        return Forest.of(trees, present, n_classes, X.shape[1])
    return WrappedClassifier(classifier, n_classes)
