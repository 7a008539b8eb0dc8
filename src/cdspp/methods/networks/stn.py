"""STN: a network whose class means meet those of softly labelled target rows.

And JMEA, with a second classifier: the two exchange their surest pseudo-labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from cdspp.methods.base import Problem
from cdspp.methods.networks.networks import (
    Batch,
    Encoder,
    Layer,
    Network,
    NetworkClassifier,
    class_means,
    cross_entropy,
    train,
)
from cdspp.methods.networks.site import FIRST_SCALE, Site
from cdspp.methods.networks.trained_network import Trained
from cdspp.methods.shared.constraints import COUNT, NON_NEGATIVE

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["JMEA", "STN", "JointNetwork", "SoftTransferNetwork"]

DECAY_RATES = (0.9, 0.999)
EPSILON = 1e-8
LENGTH_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class SoftTransferNetwork(Network):
    """The network, its layers in the order in which they are drawn, and its loss."""

    layers: Sequence[Layer]

    @classmethod
    def draw(
        cls, d_source: int, d_target: int, n_components: int, n_classes: int, site: Site
    ) -> SoftTransferNetwork:
        """Draw all weights, then all biases, in the order of the released code."""
        h_source, h_target = ((d + n_components) // 2 for d in (d_source, d_target))
        of_source = (d_source, h_source), (h_source, n_components)
        of_target = (d_target, h_target), (h_target, n_components)
        shapes = *of_source, *of_target, (n_components, n_classes)
        weights = [cut_normal(site, *shape).T for shape in shapes]
        biases = [cut_normal(site, n_out) for _, n_out in shapes]
        layers = [Layer.of(site, w, b) for w, b in zip(weights, biases, strict=True)]
        source = Encoder(layers[0], layers[1], LENGTH_FLOOR)
        target = Encoder(layers[2], layers[3], LENGTH_FLOOR)
        return cls(source, target, layers[4], layers)

    def loss(self, batch: Batch, share: float, beta: float) -> Tensor:
        """Return the loss without the regulariser.

        An unlabelled row has the weight `share` in the class means, the distances
        between the domains the weight `beta`.
        """
        import torch

        known = torch.cat([batch.Y_source, batch.Y_labelled])
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        logits = self.classifier(torch.cat([Z_source, Z_target]))
        log_probabilities = logits.log_softmax(dim=1)
        fit = cross_entropy(log_probabilities[: len(known)], known)
        softly = share * log_probabilities[len(known) :].exp()
        return fit + beta * mean_gaps(Z_source, Z_target, softly, batch)

    def penalty(self) -> Tensor:
        """Return half the sum of all squared weights, without a gradient."""
        import torch

        with torch.no_grad():
            norms = [torch.linalg.vector_norm(layer.weight) for layer in self.layers]
            return torch.stack(norms).square().sum() / 2


def mean_gaps(
    Z_source: Tensor, Z_target: Tensor, softly: Tensor, batch: Batch
) -> Tensor:
    """Return the squared distances of the means of all rows and of each class.

    In the target, labelled rows come first; `softly` labels the others.
    """
    Y = batch.Y_labelled
    sums = Y.T @ Z_target[: len(Y)] + softly.T @ Z_target[len(Y) :]
    sizes = Y.sum(dim=0) + softly.sum(dim=0)
    gap = Z_source.mean(dim=0) - Z_target.mean(dim=0)
    gaps = class_means(batch.Y_source, Z_source) - sums / sizes[:, None]
    return gap.square().sum() + gaps.square().sum()


def cut_normal(site: Site, *shape: int) -> Tensor:
    """Draw from the normal distribution, values beyond two deviations again."""
    values = site.normal(*shape)
    while (outside := values.abs() > 2 * FIRST_SCALE).any():
        values = site.normal(*shape).where(outside, values)
    return values


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
    network: ClassVar[type[SoftTransferNetwork]] = SoftTransferNetwork

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
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
        super().__init__(n_components, learning_rate, max_iter, device, random_state)
        self.beta, self.tau = beta, tau

    def _train(self, problem: Problem, site: Site) -> Trained:
        widths = problem.X_source.shape[1], problem.X_labelled.shape[1]
        network = self.network.draw(*widths, self.n_components, problem.n_classes, site)
        batch, optimiser = Batch.of(problem, site), self._optimiser(network, site)

        def loss(iteration: int) -> Tensor:
            # TensorFlow adds epsilon before it corrects the second moment.
            correction = math.sqrt(1.0 - DECAY_RATES[1] ** (iteration + 1))
            for group in optimiser.param_groups:
                group["eps"] = EPSILON / correction
            return self._loss(network, batch, iteration) + self.tau * network.penalty()

        return network.trained(train(loss, optimiser, self.max_iter))

    def _loss(self, network: Any, batch: Batch, iteration: int) -> Tensor:
        """Return the loss without the regulariser, of a network of the class's own."""
        loss: Tensor = network.loss(batch, iteration / self.max_iter, self.beta)
        return loss

    def _optimiser(self, network: SoftTransferNetwork, site: Site) -> torch.optim.Adam:
        """Return the optimiser, which adds the gradient of the regulariser itself."""
        import torch

        weights: dict[str, Any] = {"params": [layer.weight for layer in network.layers]}
        biases: dict[str, Any] = {"params": [layer.bias for layer in network.layers]}
        groups = [weights | {"weight_decay": self.tau}, biases]
        options: dict[str, Any] = {"betas": DECAY_RATES, "fused": site.fuses}
        return torch.optim.Adam(groups, lr=self.learning_rate, **options)


@dataclass(frozen=True, eq=False)
class JointNetwork(SoftTransferNetwork):
    """The network of STN with a second classifier, of the target alone."""

    second: Layer

    @classmethod
    def draw(
        cls, d_source: int, d_target: int, n_components: int, n_classes: int, site: Site
    ) -> JointNetwork:
        """Draw STN's weights and biases, then those of the second, twice as wide."""
        first = SoftTransferNetwork.draw(
            d_source, d_target, n_components, n_classes, site
        )
        weight = 2.0 * cut_normal(site, n_components, n_classes).T
        second = Layer.of(site, weight, 2.0 * cut_normal(site, n_classes))
        layers = [*first.layers, second]
        return cls(first.source, first.target, first.classifier, layers, second)

    def trained(self, losses: list[float]) -> Trained:
        """Return the network in arrays, with the classifier of the target."""
        return replace(super().trained(losses), classifier=self.second.trained())

    def joint_loss(
        self, batch: Batch, share: float, n_selected: int, weights: tuple[float, ...]
    ) -> Tensor:
        """Return the loss without the regulariser.

        Of the unlabelled rows, the `n_selected` surest of each classifier take part in
        the means with the weight `share`. The `weights` are those of the distances to
        the source, of those within the target, and of the second classifier.
        """
        import torch

        n_labelled = len(batch.Y_labelled)
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        first = self.classifier(torch.cat([Z_source, Z_target])).log_softmax(dim=1)
        second = self.second(Z_target).log_softmax(dim=1)
        known = torch.cat([batch.Y_source, batch.Y_labelled])
        loss = cross_entropy(first[: len(known)], known)
        own_loss = cross_entropy(second[:n_labelled], batch.Y_labelled)
        Z_labelled, Z = Z_target[:n_labelled], Z_target[n_labelled:]
        P_first, P_second = first[len(known) :].exp(), second[n_labelled:].exp()
        by_second, by_first = (
            P.max(dim=1).values.topk(n_selected).indices for P in (P_second, P_first)
        )
        target = torch.cat([Z_labelled, Z[by_second]])
        across = mean_gaps(Z_source, target, share * P_second[by_second], batch)
        within = torch.zeros_like(across)
        if n_selected:
            Z, softly = Z[by_first], share * P_first[by_first]
            means = class_means(batch.Y_labelled, Z_labelled)
            # As released, one more in the size draws the mean of few rows towards zero.
            others = softly.T @ Z / (softly.sum(dim=0) + 1.0)[:, None]
            marginal = (Z_labelled.mean(dim=0) - Z.mean(dim=0)).square().sum()
            within = marginal + (means - others).square().sum()
        distances = weights[0] * across + weights[1] * within
        return loss + distances + weights[2] * own_loss


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
        Iterations' worth of unlabelled rows that are selected from the first one on.

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
    second classifier). It takes rows as they are, here they have unit length. The data
    of the release are not at hand, so that the tests compare the loss with a naive one
    alone.

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
    network = JointNetwork

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
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
        given = n_components, beta, tau, learning_rate, max_iter, device, random_state
        super().__init__(*given)
        self.target_weight, self.second_weight = target_weight, second_weight
        self.start = start

    def _loss(self, network: Any, batch: Batch, iteration: int) -> Tensor:
        weights = self.beta, self.beta * self.target_weight, self.second_weight
        n_unlabelled = batch.X_target.shape[0] - len(batch.Y_labelled)
        part = min((iteration + self.start) / self.max_iter, 1.0)
        selected, share = int(part * n_unlabelled), iteration / self.max_iter
        loss: Tensor = network.joint_loss(batch, share, selected, weights)
        return loss
