"""Rows that join both domains by the columns which they share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse import issparse

from cdspp.methods.base import Problem
from cdspp.methods.bridge import SHARED, Bridge, missing_bridge
from cdspp.methods.bridges.joint_machine import JointMachine, stacked, unit_rows
from cdspp.methods.shared.constraints import COUNT


def _zeros(X: Any, width: int) -> Any:
    """Return as many rows of zeros as `X` has, sparse ones where it is sparse."""
    shape = (X.shape[0], width)
    return sparse.csr_array(shape) if issparse(X) else np.zeros(shape)


class SharedColumns(JointMachine):
    r"""Linear machine on the columns that both domains share (shared columns).

    Source rows and labelled target rows, cut to their shared columns and scaled to unit
    length, train one machine for each class against all others:

    .. math::

        \min_{w, b} \tfrac12 \lVert w \rVert^2 + \tfrac12 b^2
        + C \sum_i v_i \max\bigl(0, 1 - y_i (w^T x_i + b)\bigr)^2

    with weight ``v_i = 1`` for a source row; the labelled target rows together weigh a
    quarter of the source, or their number if that is more. Unlabelled rows are ignored.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation.

    Attributes
    ----------
    columns_source_, columns_ : ndarray of shape (n_shared,)
        The shared columns of the source and of the target.
    classes_, transduction_, history_, n_iter_, n_features_in_, n_features_source_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    Cost O(nnz) a pass over the rows, of which the solver takes some ten: coordinate
    descent by rows where they are fewer than the features, else Newton's method with a
    trust region; sparse rows stay sparse. Without a source every column is shared. A
    column counts as it is given: bring both domains to one unit, and scale shared
    columns alike.

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

    identifier = "shared-columns"
    display_name = "shared columns"
    supervised = True
    bridges = frozenset({SHARED})
    # Parts of joint rows: shared columns, once more in one domain, the target's others.
    _parts: ClassVar[tuple[str, ...]] = ("shared",)

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def _build(self, problem: Problem, bridge: Bridge) -> None:
        if not len(bridge.source):
            example = 'shared_columns="same-names"'
            raise missing_bridge(self, "shared columns", example, "--shared")
        self.columns_source_, self.columns_ = bridge.source, bridge.target
        self._own = np.setdiff1d(np.arange(problem.X_labelled.shape[1]), bridge.target)

    def _prepare_source(self, X: Any) -> Any:
        shared = X[:, self.columns_source_]
        return self._joint(shared, _zeros(shared, len(self._own)), "source")

    def _prepare_target(self, X: Any) -> Any:
        return self._joint(X[:, self.columns_], X[:, self._own], "target")

    def _joint(self, shared: Any, own: Any, domain: str) -> Any:
        empty = _zeros(shared, shared.shape[1])
        parts = {"shared": shared, "source": empty, "target": empty, "own": own}
        parts[domain] = shared
        return unit_rows(stacked([parts[name] for name in self._parts], columns=True))


class SharedColumnsPlus(SharedColumns):
    """Shared columns with the target's own, and selective pseudo-labels.

    `SharedColumns` with two additions: the other columns of the target take part,
    with zeros in the source; and the machine is fitted `max_iter` times. After round k
    it takes the share ``k / max_iter`` of its predictions, the most confident of each
    class, as labels.

    Parameters
    ----------
    C : float, default=1.0
        As in `SharedColumns`, which has the attributes, too.
    max_iter : int, default=5
        Number of rounds. Another number is another fit: the shares depend on it.

    References
    ----------
    .. [1] Wang, Q., Breckon, T. P., "Unsupervised domain adaptation via structured
       prediction based selective pseudo-labeling", AAAI 2020.
       :doi:`10.1609/aaai.v34i04.6091`
    """

    identifier = "shared-columns-plus"
    display_name = "shared columns+"
    supervised = False
    _parts = ("shared", "own")

    _parameter_constraints = JointMachine._parameter_constraints | {"max_iter": [COUNT]}

    def __init__(self, C: float = 1.0, max_iter: int = 5) -> None:
        super().__init__(C)
        self.max_iter = max_iter


class EasyAdapt(SharedColumns):
    """Frustratingly easy domain adaptation on the shared columns (EasyAdapt).

    As `SharedColumns`, with each shared column three times: for both domains, for the
    source alone, for the target alone. A source row ``x`` becomes ``(x, x, 0, 0)``, a
    target row with own columns ``z`` becomes ``(x, 0, x, z)``, so that a column may
    have another meaning in either domain. Parameters and attributes are those of
    `SharedColumns`.

    References
    ----------
    .. [1] Daumé III, H., "Frustratingly easy domain adaptation", ACL 2007.
       https://aclanthology.org/P07-1033/
    """

    identifier = "easy-adapt"
    display_name = "EasyAdapt"
    _parts = ("shared", "source", "target", "own")
