"""STN, whose class means meet those of softly labelled target rows, and JMEA."""

from __future__ import annotations

from typing import Any

from cdspp.methods.base import Problem
from cdspp.methods.networks.networks import NetworkClassifier, Trained
from cdspp.methods.shared.constraints import COUNT, NON_NEGATIVE


class STN(NetworkClassifier):
    r"""Soft transfer network (STN).

    An encoder for each domain and one classifier, trained together on all rows:

    .. math::

        \text{cross entropy} + \beta \Bigl( \lVert \bar z_s - \bar z_t \rVert^2
        + \sum_c \lVert \mu_{s,c} - \mu_{t,c} \rVert^2 \Bigr)
        + \tfrac{\tau}{2} \lVert W \rVert^2

    with the cross entropy over the labelled rows of both domains together, the means of
    all codes of a domain, and those of each class. In the target's class means each
    unlabelled row takes part with its current probability of the class times
    ``t / max_iter``, so that soft labels weigh more as they get better.

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
        Number of iterations, each one step on all rows. The weight of the soft labels
        is scaled to it.
    device : str, default="auto"
    random_state : int, RandomState or None, default=None
        As in every network: see `cdspp.methods.networks.networks.NetworkClassifier`.

    Attributes
    ----------
    loss_curve_ : list of float
        Loss, with the regulariser, before each iteration.
    classes_, transduction_, history_, n_iter_, n_features_in_, n_features_source_
        As in every network; each class needs a source row and a labelled target row.

    Notes
    -----
    Encoders and classifier are those of `NetworkClassifier`. Cost O(n d^2 + n d k) an
    iteration and domain, and O(d^2 + d k) memory for weights and moments. As released,
    Adam's epsilon is added to the second moment's root before its correction, and the
    soft labels weigh ``(T - 1) / T`` at most.

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

    identifier = "stn"
    display_name = "STN"

    _parameter_constraints = {
        **NetworkClassifier._parameter_constraints,
        "beta": [NON_NEGATIVE],
        "tau": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_components: int = 256,
        beta: float = 0.001,
        tau: float = 0.001,
        learning_rate: float = 0.001,
        max_iter: int = 300,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components, self.beta, self.tau = n_components, beta, tau
        self.learning_rate, self.max_iter = learning_rate, max_iter
        self.device, self.random_state = device, random_state

    def _train(self, problem: Problem) -> Trained:
        from cdspp.methods.networks.soft_transfer_network import SoftTransferNetwork

        return SoftTransferNetwork.fit(problem, self)


class JMEA(STN):
    r"""Joint mean embedding alignment (JMEA).

    The encoders of `STN` with two classifiers: f on both domains, and g on the target,
    which predicts. Each hands the other its surest unlabelled rows:

    .. math::

        L_f + \lambda_g L_g + \beta D(\text{source}, \text{target}_g)
        + \beta \lambda_t D(\text{labelled}, \text{target}_f)
        + \tfrac{\tau}{2} \lVert W \rVert^2

    with the cross entropies of f on all labelled rows and of g on those of the target;
    D adds the squared distance of the means of two sets of codes and those of the means
    of each class. The set ``target_g`` has the labelled target rows and the unlabelled
    ones of which g is surest, ``target_f`` those of which f is. Of n_u unlabelled rows,
    ``(t + start) / max_iter * n_u`` are selected in iteration t, with the weight ``t /
    max_iter`` of their probability.

    Parameters
    ----------
    n_components, beta, tau, learning_rate, max_iter, device, random_state
        As in `STN`.
    target_weight : float, default=20.0
        Weight ``lambda_t`` of the distances within the target.
    second_weight : float, default=0.5
        Weight ``lambda_g`` of the classifier that predicts.
    start : int, default=100
        Head start of the selection of unlabelled rows, in iterations.

    Attributes
    ----------
    loss_curve_ : list of float
        Loss, with the regulariser, before each iteration.
    classes_, transduction_, history_, n_iter_, n_features_in_, n_features_source_
        As in every network; each class needs a source row and a labelled target row.

    Notes
    -----
    Cost as for `STN`. The release chooses the weights by benchmark, in a comment of its
    code: 1, 20 and 0.5 for ImageCLEF, which are the defaults here; 1, 20, 1 for Reuters
    and CIFAR-10; 1, 0.5, 0.5 for Wiki; 10, 5, 0.5 and 25, 15, 0.5 for the two tasks of
    Office-Caltech; 1, 2, 1 for CIFAR-100 (distances to the source, within the target,
    second classifier). Its `start` is 100, but 150 for SURF to DeCAF. It takes rows as
    they are, here they have unit length. The data of the release are not available, so
    the tests compare the loss with a naive one alone.

    References
    ----------
    .. [1] Fang, Z., Lu, J., Liu, F., Zhang, G., "Semi-supervised heterogeneous domain
       adaptation: Theory and algorithms", IEEE Transactions on Pattern Analysis and
       Machine Intelligence 45(1), 2023. :doi:`10.1109/TPAMI.2022.3146234`

    Examples
    --------
    >>> from cdspp import JMEA, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> model = JMEA(n_components=8, max_iter=100, device="cpu", random_state=0)
    >>> model = model.fit([[0.9, 0.1], [0.2, 1.0]], ["cat", "dog"], source=source)
    >>> model.predict([[1.0, 0.3]])
    array(['cat'], dtype='<U3')
    """

    identifier = "jmea"
    display_name = "JMEA"
    in_compare = False

    _parameter_constraints = {
        **STN._parameter_constraints,
        "target_weight": [NON_NEGATIVE],
        "second_weight": [NON_NEGATIVE],
        "start": [COUNT],
    }

    def __init__(
        self,
        n_components: int = 256,
        beta: float = 0.001,
        tau: float = 0.001,
        learning_rate: float = 0.001,
        max_iter: int = 300,
        device: str = "auto",
        random_state: Any = None,
        target_weight: float = 20.0,
        second_weight: float = 0.5,
        start: int = 100,
    ) -> None:
        options = n_components, beta, tau, learning_rate, max_iter, device, random_state
        super().__init__(*options)
        self.target_weight, self.second_weight = target_weight, second_weight
        self.start = start

    def _train(self, problem: Problem) -> Trained:
        from cdspp.methods.networks.soft_transfer_network import JointNetwork

        return JointNetwork.fit(problem, self)
