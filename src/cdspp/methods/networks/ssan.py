"""SSAN: a network that aligns what both domains mean in three ways at once."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval

from cdspp.methods.base import Problem
from cdspp.methods.networks.networks import NetworkClassifier, Trained
from cdspp.methods.shared.constraints import NON_NEGATIVE, POSITIVE


class SSAN(NetworkClassifier):
    r"""Simultaneous semantic alignment network (SSAN).

    An encoder for each domain and one classifier, trained together on all rows by
    gradient descent with momentum:

    .. math::

        L_s + (1 - \alpha) L_t + \alpha L_{soft} + \gamma L_{adv}
        + \beta \sum_c \sum_{\{a, b\}} \lVert \mu_{a,c} - \mu_{b,c} \rVert^2

    with the cross entropies of the labelled rows; that of labelled target rows with the
    mean softened prediction of their class in the source; that of a domain
    discriminator, whose gradient reaches the encoders reversed; and the pairs of three
    means of each class: in the source, in the target and in both. An unlabelled row
    belongs to a class where classifier and nearest class mean agree on it.

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
        from nothing to its full size on this scale.
    device : str, default="auto"
    random_state : int, RandomState or None, default=None
        As in every network: see `cdspp.methods.networks.networks.NetworkClassifier`.

    Attributes
    ----------
    classes_, transduction_, history_, n_iter_, n_features_in_, n_features_source_
        As in every network; each class needs a source row and a labelled target row.
    loss_curve_ : list of float
        Loss, without weight decay, before each iteration.

    Notes
    -----
    Encoders and classifier are those of `NetworkClassifier`. Cost
    O(n min(n, d) d + n d k) an iteration and domain: with fewer rows than twice the
    features the first layer is trained on the products of rows with one another, which
    changes nothing, in O(n^2 + n d) memory. The step never shrinks, so single
    iterations can collapse and recover; where the last one does, the log says so. The
    published code reports the best accuracy on the test rows over all iterations, which
    needs their labels; this is the last iteration's. Its domains of equal width share
    one encoder; here each has its own.

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

    identifier = "ssan"
    display_name = "SSAN"
    sums_rows = True

    _parameter_constraints = {
        **NetworkClassifier._parameter_constraints,
        "temperature": [POSITIVE],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "beta": [NON_NEGATIVE],
        "gamma": [NON_NEGATIVE],
        "weight_decay": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_components: int = 256,
        temperature: float = 5.0,
        alpha: float = 0.1,
        beta: float = 0.004,
        gamma: float = 0.1,
        learning_rate: float = 0.1,
        weight_decay: float = 0.001,
        max_iter: int = 3000,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components, self.temperature = n_components, temperature
        self.alpha, self.beta, self.gamma = alpha, beta, gamma
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.max_iter, self.device, self.random_state = max_iter, device, random_state

    def _train(self, problem: Problem) -> Trained:
        from cdspp.methods.networks.alignment_network import AlignmentNetwork

        return AlignmentNetwork.fit(problem, self)
