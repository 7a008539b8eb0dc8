"""Class means: the nearest mean of the labelled target rows."""

from __future__ import annotations

import numpy as np

from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Float, HeterogeneousClassifier, Int, Iteration, Problem


class ClassMeans(HeterogeneousClassifier):
    r"""Nearest mean of the labelled target rows, all of unit length.

    A row x gets the class of the nearest mean :math:`m_c` of labelled target rows, as
    CDSPP assigns it in the common subspace:

    .. math::

        \arg\min_c \lVert x - m_c \rVert .

    Parameters
    ----------
    None
        It has no options.

    Attributes
    ----------
    classes_, transduction_, history_, n_iter_, n_features_in_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    Cost O(n C d) for n target rows of d features and C classes. A class in only
    one domain is predicted if that is the target, never if it is the source.

    References
    ----------
    .. [1] Wang, Q., Breckon, T. P., "Cross-domain structure preserving projection for
       heterogeneous domain adaptation", Pattern Recognition 123, 2022.
       :doi:`10.1016/j.patcog.2021.108362`

    Examples
    --------
    >>> from cdspp import make
    >>> model = make("class-means").fit([[0, 1], [1, 0], [9, 1]], [0, 1, -1])
    >>> model.transduction_
    array([0, 1, 1])
    """

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        X, codes = row_normalise(problem.X_labelled), problem.y_labelled
        self._present = np.unique(codes)
        self._means = np.array([X[codes == c].mean(axis=0) for c in self._present])
        return []

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        squares = ((row_normalise(X)[:, None] - self._means) ** 2).sum(axis=2)
        return self._present[squares.argmin(axis=1)], None
