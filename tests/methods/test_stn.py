"""STN: its loss and gradient by scalars, TensorFlow's Adam, the first draw."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.tiny_networks import affine, code, leaky, squared, tiny_problem
from support.toy_problem import toy_problem

from cdspp import STN
from cdspp.methods.networks.networks import Batch, Site
from cdspp.methods.networks.stn import SoftTransferNetwork

torch = pytest.importorskip("torch")


TINY = tiny_problem(unlabelled_per_class=2)


def tiny_network(scale: float = 30.0) -> tuple[SoftTransferNetwork, Batch]:
    """Return a network of weights that are not tiny, in float64."""
    site = Site.open("cpu", 0, double=True)
    network = SoftTransferNetwork.draw(4, 3, 5, 3, site)
    with torch.no_grad():
        for layer in network.layers:
            layer.weight.mul_(scale)
            layer.bias.mul_(scale)
    return network, Batch.of(TINY, site)


def probabilities(network: Any, z: list[float]) -> list[float]:
    exponentials = [math.exp(v) for v in leaky(affine(network.classifier, z))]
    return [e / sum(exponentials) for e in exponentials]


def mean(rows: list[list[float]], weights: list[float]) -> list[float]:
    return [
        sum(w * row[j] for w, row in zip(weights, rows, strict=True)) / sum(weights)
        for j in range(len(rows[0]))
    ]


def scalar_loss(network: Any, share: float, beta: float, tau: float) -> float:
    """Return the page's loss, one number after another."""
    Zs = [code(network.source, x) for x in TINY.X_source.tolist()]
    Zl = [code(network.target, x) for x in TINY.X_labelled.tolist()]
    Zu = [code(network.target, x) for x in TINY.X_unlabelled.tolist()]
    labels = [*TINY.y_source, *TINY.y_labelled]
    total = 0.0
    for z, y in zip(Zs + Zl, labels, strict=True):
        total -= math.log(probabilities(network, z)[y]) / len(labels)
    P = [probabilities(network, z) for z in Zu]
    ones = [1.0] * 100
    distances = squared(mean(Zs, ones[: len(Zs)]), mean(Zl + Zu, ones[: len(Zl + Zu)]))
    for c in range(3):
        hard = [float(y == c) for y in TINY.y_labelled]
        target = mean(Zl + Zu, hard + [share * p[c] for p in P])
        distances += squared(mean(Zs, [float(y == c) for y in TINY.y_source]), target)
    weights = [
        w for layer in network.layers for row in layer.weight.tolist() for w in row
    ]
    return total + beta * distances + tau / 2 * sum(w * w for w in weights)


@pytest.mark.parametrize("share", [0.0, 0.7])
def test_the_loss_is_that_of_the_scalar_formulas(share: float) -> None:
    network, batch = tiny_network()
    found = network.loss(batch, share, 0.4) + 0.3 * network.penalty()
    assert found.item() == pytest.approx(scalar_loss(network, share, 0.4, 0.3))


def test_the_gradient_flows_through_the_soft_labels() -> None:
    network, batch = tiny_network()
    network.loss(batch, 0.7, 2.0).backward()
    for layer in network.layers:
        for parameter in (layer.weight, layer.bias):
            values, step = parameter.data.view(-1), 1e-6
            ends = []
            for sign in (1, -1):
                values[1] += sign * step
                ends.append(scalar_loss(network, 0.7, 2.0, 0.0))
                values[1] -= sign * step
            slope = (ends[0] - ends[1]) / (2 * step)
            assert parameter.grad.view(-1)[1].item() == pytest.approx(slope, abs=1e-7)


def test_the_steps_are_those_of_tensorflows_adam() -> None:
    model = STN(n_components=5, max_iter=6, tau=0.01, beta=0.1, learning_rate=0.02)
    found = model._train(TINY, Site.open("cpu", 0, double=True)).losses
    network, batch = tiny_network(scale=1.0)
    matrices = [layer.weight for layer in network.layers]
    biases = [layer.bias for layer in network.layers]
    moments = [(torch.zeros_like(w), torch.zeros_like(w)) for w in matrices + biases]
    for k, loss in enumerate(found, start=1):
        value = network.loss(batch, (k - 1) / 6, 0.1)
        penalty = sum(0.5 * w.square().sum() for w in matrices)
        total = value + 0.01 * penalty
        assert loss == pytest.approx(total.item(), rel=1e-9)
        gradients = torch.autograd.grad(total, matrices + biases)
        rate = 0.02 * math.sqrt(1 - 0.999**k) / (1 - 0.9**k)
        for w, g, (m, v) in zip(matrices + biases, gradients, moments, strict=True):
            m.mul_(0.9).add_(0.1 * g)
            v.mul_(0.999).add_(0.001 * g * g)
            w.data -= rate * m / (v.sqrt() + 1e-8)


def test_the_share_of_soft_labels_grows_from_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = []
    original = SoftTransferNetwork.loss

    def loss(self: Any, batch: Any, share: float, beta: float) -> Any:
        shares.append(share)
        return original(self, batch, share, beta)

    monkeypatch.setattr(SoftTransferNetwork, "loss", loss)
    toy_problem().fit(STN(n_components=4, max_iter=5, random_state=0))
    assert shares == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8])


def test_first_weights_and_biases_are_a_normal_cut_at_two_deviations() -> None:
    site = Site.open("cpu", 0)
    network = SoftTransferNetwork.draw(101, 60, 20, 7, site)
    widths = [tuple(layer.weight.shape) for layer in network.layers]
    assert widths == [(60, 101), (20, 60), (40, 60), (20, 40), (7, 20)]
    for values in (network.source.first.weight, network.source.first.bias):
        assert values.abs().max() <= 0.02
    assert network.source.first.weight.std().item() == pytest.approx(0.0088, abs=2e-4)
    assert network.source.first.bias.std().item() == pytest.approx(0.0088, abs=2e-3)


def test_the_source_is_learnt_from() -> None:
    problem = toy_problem(spread=0.2)
    model = problem.fit(STN(n_components=32, max_iter=150, random_state=0))
    Z = model.transform_source(problem.source.X)
    means = [model.transform(problem.X[problem.truth == c]).mean(0) for c in range(4)]
    nearest = (Z @ np.array(means).T).argmax(axis=1)
    assert np.mean(nearest == problem.source.y) > 0.9
