"""SVM_t: a linear support vector machine on the labelled target rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import dense, row_normalise
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem
from cdspp.methods.shared.machines import OneVersusOne

# Constants of Platt scaling, as in LIBSVM.
N_FOLDS, MAX_STEPS = 5, 100
GRADIENT_STOP, RIDGE, SMALLEST_STEP = 1e-5, 1e-12, 1e-10


@dataclass(eq=False, repr=False)
class SVMT(base.HeterogeneousClassifier):
    r"""Linear support vector machine on the labelled target rows (SVM_t).

    This baseline never sees the source. LIBSVM solves each binary problem

    .. math::

        \min_{w, b} \tfrac12 \lVert w \rVert^2
        + C \sum_i \max\bigl(0, 1 - y_i (w^T x_i + b)\bigr) .

    Parameters
    ----------
    strategy : {"ovo", "platt", "decision"}, default="ovo"
        One-vs-one by votes, with ties to the first class; one-vs-rest by Platt
        probability, as in the paper's tables; or one-vs-rest by decision value.
    l2 : bool, default=True
        Whether to scale rows to unit length first, as in the paper's tables.
    C : float, default=1.0
        Cost of a margin violation.

    Notes
    -----
    Cost O(n^2 d) for the Gram matrix of the n labelled rows and O(C n^2) for the
    solver, six times as much with Platt scaling. Nothing is random: Platt scaling uses
    LIBSVM's own five folds, the same for each binary problem, and its probabilities
    equal LIBSVM's. With three rows per class they are noisy, because other folds would
    change the accuracy by points. With one row per class they are useless: a fold
    without positive rows inverts the sigmoid. Reordering the rows changes the folds.
    With ``ovo``, renaming the classes may change labels, because ties go to the first
    class, as in LIBSVM. A class in only one domain is predicted if that is the target,
    never if it is the source, which is not used.

    References
    ----------
    .. [1] Chang, C.-C., Lin, C.-J., "LIBSVM: a library for support vector machines",
       ACM TIST 2(3), 2011. :doi:`10.1145/1961189.1961199`

    Examples
    --------
    >>> from cdspp import SVMT
    >>> SVMT(l2=False).fit([[0.0], [1.0], [0.9]], [0, 1, -1]).transduction_
    array([0, 1, 1])
    """

    strategy: str = "ovo"
    l2: bool = True
    C: float = 1.0

    _parameter_constraints = {
        "strategy": [StrOptions({"platt", "decision", "ovo"})],
        "l2": ["boolean"],
        "C": [base.POSITIVE],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        kernel = float(size.n_labelled * size.n_target)
        n_pairs = size.n_classes**2 / 2
        decisions = n_pairs * size.n_unlabelled
        seconds = 0.004 + 1e-10 * kernel * size.d_target * size.density
        seconds += 5e-6 * n_pairs + 7e-8 * decisions
        return seconds, 8e-6 * kernel + 24e-6 * decisions

    def _prepare(self, X: Float) -> Float:
        return row_normalise(X) if self.l2 else X

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        codes = problem.y_labelled
        self._rows, self._present = self._prepare(problem.X_labelled), np.unique(codes)
        with np.errstate(over="ignore", invalid="ignore"):
            gram = dense(self._rows @ self._rows.T)
        if not np.isfinite(gram).all():
            raise MethodFailed("inner products overflow; scale the features or set l2")
        self._machines: list[OneVersusOne] = []
        self._sigmoids: list[tuple[float, float]] = []
        if len(self._present) < 2:
            return []
        if self.strategy == "ovo":
            self._machines = [OneVersusOne.fit(gram, codes, self.C)]
            return []
        # As in LIBSVM, the first class of a binary problem is that of its first row.
        self._signs = np.where(self._present == codes[0], -1.0, 1.0)
        for code in self._present:
            second = (codes == code) != (codes[0] == code)
            self._machines.append(OneVersusOne.fit(gram, second, self.C))
            if self.strategy == "platt":
                values = self._out_of_fold(gram, second)
                self._sigmoids.append(fit_sigmoid(values, second))
        return []

    def _out_of_fold(self, gram: Float, second: NDArray[np.bool_]) -> Float:
        values = np.empty(len(second))
        grouped = np.argsort(second, kind="stable")
        folds = [grouped[fold] for fold in libsvm_folds(len(second))]
        for place, fold in enumerate(folds):
            training = np.concatenate(folds[:place] + folds[place + 1 :])
            if second[training].all() or not second[training].any():
                values[fold] = 1.0 if second[training].all() else -1.0
            elif len(fold):
                block = gram[np.ix_(training, training)]
                machine = OneVersusOne.fit(block, second[training], self.C)
                values[fold] = machine.decision_values(gram[np.ix_(fold, training)])
        return values

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        if not self._machines:
            return np.repeat(self._present, X.shape[0]), None
        kernel = dense(self._prepare(X) @ self._rows.T)
        if self.strategy == "ovo":
            return self._machines[0].predict(kernel), None
        scores = np.column_stack([m.decision_values(kernel) for m in self._machines])
        if self.strategy == "platt":
            slopes, offsets = np.array(self._sigmoids).T
            limit = np.log(1.0 / 1e-7 - 1.0)  # no probability below 1e-7
            scores = np.clip(-(slopes * scores + offsets), -limit, limit)
        return self._present[(self._signs * scores).argmax(axis=1)], None


def _loss(z: Float, targets: Float) -> float:
    """Return the cross-entropy of ``1 / (1 + exp(z))``, without overflow."""
    return float(np.sum(targets * z + np.logaddexp(0.0, -z)))


def fit_sigmoid(values: Float, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Fit A and B of ``p(f) = 1 / (1 + exp(A f + B))`` to out-of-fold values.

    Uses Newton's method with backtracking on regularised targets (Lin, Lin and Weng,
    Machine Learning 68, 2007, doi 10.1007/s10994-007-5018-6). A may be positive.
    """
    n_positive = float(positive.sum())
    n_negative = len(positive) - n_positive
    high, low = (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0)
    targets = np.where(positive, high, low)
    theta = np.array([0.0, np.log((n_negative + 1.0) / (n_positive + 1.0))])
    design = np.column_stack([values, np.ones_like(values)])
    loss = _loss(design @ theta, targets)
    for _ in range(MAX_STEPS):
        p = 1.0 / (1.0 + np.exp(np.clip(design @ theta, -700.0, 700.0)))
        gradient = design.T @ (targets - p)
        if np.abs(gradient).max() < GRADIENT_STOP:
            break
        hessian = (design.T * (p * (1.0 - p))) @ design + RIDGE * np.eye(2)
        direction = -np.linalg.solve(hessian, gradient)
        slope, step = float(gradient @ direction), 1.0
        while step >= SMALLEST_STEP:
            trial = theta + step * direction
            trial_loss = _loss(design @ trial, targets)
            if trial_loss < loss + 1e-4 * step * slope:
                theta, loss = trial, trial_loss
                break
            step /= 2.0
        else:
            break
    return float(theta[0]), float(theta[1])


def gnu_random(n: int, seed: int = 1) -> list[int]:
    """Return n results of the GNU C library's ``rand()`` after ``srand(seed)``."""
    state = [seed]
    while len(state) < 31:
        state.append(16807 * state[-1] % (2**31 - 1))
    state += state[:3]
    while len(state) < 344 + n:
        state.append((state[-3] + state[-31]) % 2**32)
    return [number >> 1 for number in state[344:]]


def libsvm_folds(n: int) -> list[NDArray[np.intp]]:
    """Return the folds into which LIBSVM shuffles n rows for Platt scaling."""
    # LIBSVM's MATLAB and Octave interfaces seed the C library's generator each time.
    order = np.arange(n)
    for place, number in enumerate(gnu_random(n)):
        partner = place + number % (n - place)
        order[[place, partner]] = order[[partner, place]]
    return np.split(order, [fold * n // N_FOLDS for fold in range(1, N_FOLDS)])
