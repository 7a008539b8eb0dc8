"""Networks as estimators; only `fit` imports torch."""

import importlib.util
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from cdspp.core.discovery import defaults_of
from cdspp.core.errors import install_hint
from cdspp.core.linalg import row_normalise, softmax
from cdspp.methods import base
from cdspp.methods.base import Float, Iteration, Problem
from cdspp.methods.networks.trained import Trained, rows_cost_less
from cdspp.methods.shared.common_subspace import CommonSpaceMethod, expand_classes


def require_torch(model: Any) -> None:
    """Raise ModuleNotFoundError, with the remedy, if torch is not installed."""
    if importlib.util.find_spec("torch") is None:
        text = install_hint("torch", type(model).__name__)
        raise ModuleNotFoundError(text, name="torch")


class NetworkClassifier(CommonSpaceMethod, base.ConfidentClassifier):
    """Base class of the networks: one encoder per domain and a common classifier.

    Rows are scaled to unit length first; the result is that of the last iteration. An
    encoder has the widths ``d``, ``(d + k) // 2`` and ``k`` for `n_components` k, leaky
    rectifiers of slope 0.2, and codes of unit length. The outputs of the classifier
    also pass a leaky rectifier.

    Parameters
    ----------
    device : str
        A torch device; ``auto`` is CUDA if it is available.
    random_state : int, RandomState or None
        Seed of the initial weights; nothing else is random.

    Attributes
    ----------
    loss_curve_ : list of float
        Loss before each iteration, with STN's regulariser but not SSAN's weight decay.

    Raises
    ------
    MethodFailed
        A class has no source row or no labelled target row, or training diverges.
    """

    sums_rows: ClassVar[bool] = False  # a first layer may be a `RowLayer`
    _network: ClassVar[str]  # its class in `losses`, which imports torch

    device: str
    max_iter: int
    random_state: Any
    loss_curve_: list[float]

    _parameter_constraints = {
        "n_components": [base.COUNT],
        "learning_rate": [base.POSITIVE],
        "max_iter": [base.COUNT],
        "device": [str],
        "random_state": ["random_state"],
    }

    @classmethod
    def cost(cls, size: Any, n_components: int | None = None) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        # Products of both layers, forward and backward, and updates of the weights.
        defaults = defaults_of(cls)
        k = n_components or defaults["n_components"]
        products = weights = stored = 0
        for n, d in ((size.n_source, size.d_source), (size.n_target, size.d_target)):
            hidden = (d + k) // 2
            summed = cls.sums_rows and rows_cost_less(n, d)
            products += n * hidden * ((2 * n if summed else 4 * d) + 6 * k)
            weights += hidden * ((n if summed else d) + k)
            stored += (hidden + n) * (d + k)
        iteration = 0.0015 + 5.7e-12 * products + 3.4e-9 * weights
        return 1.0 + defaults["max_iter"] * iteration, 16e-6 * stored

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        problem.require_every_class(self.classes_)
        require_torch(self)
        from cdspp.methods.networks import layers, losses

        network, prepared = getattr(losses, self._network), self._prepare(problem)
        setup = layers.TrainingContext(self.device, self.random_state)
        with setup.arithmetic():
            self._trained: Trained = network.fit_on(setup, prepared, self)
        self.loss_curve_ = self._trained.losses
        return []

    def _fit_and_label(self, problem: Problem, labelled: NDArray[np.bool_]) -> None:
        super()._fit_and_label(problem, labelled)
        self.n_iter_ = self.max_iter

    def _map_target(self, X: Float) -> Float:
        return self._trained.target(X)

    def _map_source(self, X: Float, number: int) -> Float:
        return self._trained.source(X)

    def _probabilities(self, X: Float) -> Float:
        return self._trained.probabilities(self._prepare_target(X))


@dataclass(eq=False, repr=False)
class SSAN(NetworkClassifier):
    r"""Simultaneous semantic alignment network (SSAN).

    An encoder for each domain and one classifier, trained together on all rows by
    gradient descent with momentum:

    .. math::

        L_s + (1 - \alpha) L_t + \alpha L_{soft} + \gamma L_{adv}
        + \beta \sum_c \sum_{\{a, b\}} \lVert \mu_{a,c} - \mu_{b,c} \rVert^2

    with the cross entropies ``L_s`` and ``L_t`` of the labelled rows, ``L_soft`` of
    labelled target rows with the mean softened prediction of their class in the source,
    and ``L_adv`` of a domain discriminator, whose gradient is reversed for encoders.
    The last term compares three means per class: of the source, the target and both;
    an unlabelled row counts if the classifier and the nearest class mean agree on it.

    Parameters
    ----------
    n_components : int, default=256
        Dimension of the common space.
    temperature : float, default=5.0
        Divisor of the source's outputs before the softmax that gives soft labels.
    alpha : float, default=0.1
        Share of the soft labels in the loss of labelled target rows.
    beta : float, default=0.004
        Weight of the distances among class means.
    gamma : float, default=0.1
        Weight of the discriminator's loss.
    learning_rate : float, default=0.1
        Step of gradient descent, constant.
    weight_decay : float, default=0.001
        Share of each weight and bias that is added to its gradient.
    max_iter : int, default=3000
        Number of iterations, each one step on all rows. The reversed gradient grows
        from zero to its full size over them.
    device : str, default="auto"
    random_state : int, RandomState or None, default=None
        As in every network: see `cdspp.methods.networks.networks.NetworkClassifier`.

    Notes
    -----
    Encoders and classifier are those of `NetworkClassifier`. Cost
    O(n min(n, d) d + n d k) per iteration and domain. If there are fewer rows than
    twice the features, the first layer is trained on inner products of rows, with the
    same result, in O(n^2 + n d) memory. The step is constant, so single iterations can
    be degenerate and recover; if the last one is, the log has a warning. The
    published code reports the best accuracy on the test rows over all iterations, which
    needs their labels; here the last iteration counts. In the published code, domains
    of equal width share one encoder; here each has its own. `fit` raises `MethodFailed`
    for a class in only one domain. Each row counts once in the cross entropies and each
    class once in the means, whatever the class sizes. Reordering the rows may
    change many labels by rounding; renaming the classes and another seed draw other
    weights.

    References
    ----------
    .. [1] Li, S., Xie, B., Wu, J., Zhao, Y., Liu, C. H., Ding, Z., "Simultaneous
       semantic alignment network for heterogeneous domain adaptation", ACM Multimedia
       2020. :doi:`10.1145/3394171.3413995`

    Examples
    --------
    >>> from cdspp import SSAN, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> model = SSAN(max_iter=100, device="cpu", random_state=0)
    >>> model = model.fit([[0.9, 0.1], [0.2, 1.0]], ["cat", "dog"], source=source)
    >>> model.predict([[1.0, 0.3]])
    array(['cat'], dtype='<U3')
    """

    n_components: int = 256
    temperature: float = 5.0
    alpha: float = 0.1
    beta: float = 0.004
    gamma: float = 0.1
    learning_rate: float = 0.1
    weight_decay: float = 0.001
    max_iter: int = 3000
    device: str = "auto"
    random_state: Any = None

    _network = "AlignmentNetwork"
    sums_rows = True

    _parameter_constraints = {
        **NetworkClassifier._parameter_constraints,
        "temperature": [base.POSITIVE],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "beta": [base.NON_NEGATIVE],
        "gamma": [base.NON_NEGATIVE],
        "weight_decay": [base.NON_NEGATIVE],
    }


@dataclass(eq=False, repr=False)
class STN(NetworkClassifier):
    r"""Soft transfer network (STN).

    An encoder for each domain and one classifier, trained together on all rows:

    .. math::

        \text{cross entropy} + \beta \Bigl( \lVert \bar z_s - \bar z_t \rVert^2
        + \sum_c \lVert \mu_{s,c} - \mu_{t,c} \rVert^2 \Bigr)
        + \tfrac{\tau}{2} \lVert W \rVert^2

    with the cross entropy over the labelled rows of both domains together, the means of
    all codes of a domain, and its class means. In the target's class means, the weight
    of an unlabelled row is its current probability of the class times ``t / max_iter``,
    so that soft labels gain weight as they improve.

    Parameters
    ----------
    n_components : int, default=256
        Dimension of the common space.
    beta : float, default=0.001
        Weight of the distances between the domains.
    tau : float, default=0.001
        Weight of the regulariser.
    learning_rate : float, default=0.001
        Step of Adam, constant.
    max_iter : int, default=300
        Number of iterations, each one step on all rows; also the scale on which the
        weight of soft labels grows.
    device : str, default="auto"
    random_state : int, RandomState or None, default=None
        As in every network: see `cdspp.methods.networks.networks.NetworkClassifier`.

    Notes
    -----
    Encoders and classifier are those of `NetworkClassifier`. Cost O(n d^2 + n d k) per
    iteration and domain, and O(d^2 + d k) memory for weights and moments. As in the
    released code, Adam's epsilon is added to the root of the second moment before its
    correction, and soft labels weigh at most ``(T - 1) / T``. `fit` raises
    `MethodFailed` for a class in only one domain. Each row counts once in the cross
    entropy and each class once in the means, whatever the class sizes. Reordering the
    rows may change labels by rounding; renaming the classes and another seed draw other
    weights.

    References
    ----------
    .. [1] Yao, Y., Zhang, Y., Li, X., Ye, Y., "Heterogeneous domain adaptation via soft
       transfer network", ACM Multimedia 2019. :doi:`10.1145/3343031.3350955`

    Examples
    --------
    >>> from cdspp import STN, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> model = STN(n_components=8, max_iter=100, device="cpu", random_state=0)
    >>> model = model.fit([[0.9, 0.1], [0.2, 1.0]], ["cat", "dog"], source=source)
    >>> model.predict([[1.0, 0.3]])
    array(['cat'], dtype='<U3')
    """

    n_components: int = 256
    beta: float = 0.001
    tau: float = 0.001
    learning_rate: float = 0.001
    max_iter: int = 300
    device: str = "auto"
    random_state: Any = None

    _network = "SoftTransferNetwork"

    _parameter_constraints = {
        **NetworkClassifier._parameter_constraints,
        "beta": [base.NON_NEGATIVE],
        "tau": [base.NON_NEGATIVE],
    }


@dataclass(eq=False, repr=False)
class JMEA(STN):
    r"""Joint mean embedding alignment (JMEA).

    The encoders of `STN` with two classifiers: f on both domains, and g on the target,
    for predictions. Each selects its most confident unlabelled rows for the other:

    .. math::

        L_f + \lambda_g L_g + \beta D(\text{source}, \text{target}_g)
        + \beta \lambda_t D(\text{labelled}, \text{target}_f)
        + \tfrac{\tau}{2} \lVert W \rVert^2

    with the cross entropies of f on all labelled rows and of g on those of the target.
    D is the sum of squared distances between two sets of codes, of their overall means
    and of their class means. The set ``target_g`` has the labelled target rows and the
    unlabelled rows with the most confident predictions of g, ``target_f`` those of f.
    Of n_u unlabelled rows, ``(t + start) / max_iter * n_u`` are selected in iteration
    t, with ``t / max_iter`` times their probability as the weight.

    Parameters
    ----------
    n_components, beta, tau, learning_rate, max_iter, device, random_state
        As in `STN`, which also has the attributes and an example.
    target_weight : float, default=20.0
        Weight ``lambda_t`` of the distances within the target.
    second_weight : float, default=0.5
        Weight ``lambda_g`` of the classifier g.
    start : int, default=100
        Head start of the selection of unlabelled rows, in iterations.

    Notes
    -----
    Cost as for `STN`. A comment in the released code has the weights by benchmark
    (distances to the source, within the target, second classifier): 1, 20, 0.5 for
    ImageCLEF, the defaults here; 1, 20, 1 for Reuters and CIFAR-10; 1, 0.5, 0.5 for
    Wiki; 10, 5, 0.5 and 25, 15, 0.5 for the two tasks of Office-Caltech; 1, 2, 1 for
    CIFAR-100. Its `start` is 100, but 150 for SURF to DeCAF. It does not scale rows,
    which here have unit length. Its data are not available, so tests only compare the
    loss with a naive implementation. A class in only one domain is refused as by `STN`.
    Reordering the rows and renaming the classes may change labels, as there.

    References
    ----------
    .. [1] Fang, Z., Lu, J., Liu, F., Zhang, G., "Semi-supervised heterogeneous domain
       adaptation: Theory and algorithms", IEEE Transactions on Pattern Analysis and
       Machine Intelligence 45(1), 2023. :doi:`10.1109/TPAMI.2022.3146234`
    """

    target_weight: float = 20.0
    second_weight: float = 0.5
    start: int = 100

    _network = "JointNetwork"

    _parameter_constraints = {
        **STN._parameter_constraints,
        "target_weight": [base.NON_NEGATIVE],
        "second_weight": [base.NON_NEGATIVE],
        "start": [base.COUNT],
    }


@dataclass(eq=False, repr=False)
class NNT(base.ConfidentClassifier):
    r"""Network with one hidden layer on the labelled target rows (NN_t).

    This baseline sees neither the source nor unlabelled rows:

    .. math::

        \min_{W, b} - \frac1n \sum_i \log \operatorname{softmax} \bigl(
        W_2^T \lambda(W_1^T x_i + b_1) + b_2\bigr)_{y_i}
        + \tfrac{\tau}{2} \bigl(\lVert W_1 \rVert^2 + \lVert W_2 \rVert^2\bigr)

    for n labelled rows of unit length and the leaky rectifier :math:`\lambda` of slope
    0.2. Adam's steps use all rows. A class without a labelled row is never predicted.

    Parameters
    ----------
    n_components : int, default=256
        Width of the hidden layer.
    tau : float, default=0.001
        Weight of the regulariser.
    learning_rate : float, default=0.01
        Step of Adam, constant.
    max_iter : int, default=500
        Number of iterations; the last one counts.
    device : str, default="auto"
    random_state : int, RandomState or None, default=None
        As in `STN`.

    Attributes
    ----------
    loss_curve_ : list of float
        Loss before each iteration, with the regulariser.

    Notes
    -----
    Cost O(n d k) per iteration for d features and width k, and O(d k) to update the
    weights, which takes most of the time. All defaults, and Adam's epsilon, are those
    of the code of [1]_. Run on TensorFlow 2.21 with equal initial weights, that code
    gave the same labels to all 392 unlabelled rows of two problems (GoogLeNet features
    of DSLR and Webcam), with probabilities within 0.001 and losses within 0.002 %. Its
    splits are not available, so accuracies reported in the paper cannot be compared. A
    class in only one domain is predicted if that is the target, never if it is the
    source, which is not used. Reordering the rows may change a few labels by rounding;
    renaming the classes and another seed draw other weights.

    References
    ----------
    .. [1] Yao, Y., et al., "Noise may contain transferable knowledge: understanding
       semi-supervised heterogeneous domain adaptation from an empirical perspective",
       2025. :doi:`10.48550/arXiv.2502.13573`

    Examples
    --------
    >>> from cdspp import NNT
    >>> model = NNT(max_iter=100, device="cpu", random_state=0)
    >>> model.fit([[0.9, 0.1], [0.2, 1.0], [1.0, 0.3]], [0, 1, -1]).transduction_
    array([0, 1, 0])
    """

    n_components: int = 256
    tau: float = 0.001
    learning_rate: float = 0.01
    max_iter: int = 500
    device: str = "auto"
    random_state: Any = None

    _parameter_constraints = NetworkClassifier._parameter_constraints | {
        "tau": [base.NON_NEGATIVE]
    }

    @classmethod
    def cost(cls, size: Any, n_components: int = 256) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        weights = size.d_target * n_components
        iteration = 0.0006 + (4e-11 * size.n_labelled + 2e-9) * weights
        return 1.0 + 500 * iteration, 16e-6 * weights

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        require_torch(self)
        from cdspp.methods.networks import layers, losses

        self._present, codes = np.unique(problem.y_labelled, return_inverse=True)
        setup = layers.TrainingContext(self.device, self.random_state)
        X = row_normalise(problem.X_labelled)
        with setup.arithmetic():
            *parts, self.loss_curve_ = losses.fit_target_network(setup, X, codes, self)
        self._hidden, output = (part.trained() for part in parts)
        self._weight, self._bias = output.weight.astype(np.float64), output.bias
        return []

    def _fit_and_label(self, problem: Problem, labelled: NDArray[np.bool_]) -> None:
        super()._fit_and_label(problem, labelled)
        self.n_iter_ = self.max_iter

    def _probabilities(self, X: Float) -> Float:
        scores = self._hidden(row_normalise(X)) @ self._weight.T + self._bias
        return expand_classes(softmax(scores), self._present, len(self.classes_))
