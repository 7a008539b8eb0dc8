"""STN: its loss and gradient by plain formulas, TensorFlow's Adam, the first draw."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax
from support.literal_formulas import affine, codes, leaky, slopes, tiny_problem

from cdspp import STN


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Load torch when the first test here runs, not when tests are collected."""
    global torch, layers, soft
    torch = pytest.importorskip("torch")
    layers = pytest.importorskip("cdspp.methods.networks.layers")
    soft = pytest.importorskip("cdspp.methods.networks.losses")


TINY = tiny_problem(unlabelled_per_class=2)


def tiny_network(scale: float = 30.0) -> tuple[Any, Any]:
    """Return a network of weights that are not tiny, in float64."""
    setup = layers.TrainingContext("cpu", 0, double=True)
    network = soft.SoftTransferNetwork.draw((4, 3, 5, 3), setup)
    with torch.no_grad():
        for layer in network.layers:
            layer.weight.mul_(scale)
            layer.bias.mul_(scale)
    return network, layers.Batch(TINY, setup)


def plain_loss(network: Any, share: float, beta: float, tau: float) -> float:
    """Return the page's loss, one class after another."""
    Z_source, Z_labelled, Z_unlabelled = codes(network, TINY)
    Z_target = np.vstack([Z_labelled, Z_unlabelled])
    outputs = leaky(affine(network.classifier, np.vstack([Z_source, Z_target])))
    logarithms = log_softmax(outputs, axis=1)
    labels = np.hstack([TINY.y_source, TINY.y_labelled])
    entropy = -logarithms[np.arange(len(labels)), labels].mean()
    distance = squared(Z_source.mean(axis=0) - Z_target.mean(axis=0))
    for c in range(3):
        soft = share * np.exp(logarithms[len(labels) :, c])
        target_weights = np.hstack([TINY.y_labelled == c, soft])
        target_mean = np.average(Z_target, axis=0, weights=target_weights)
        distance += squared(Z_source[TINY.y_source == c].mean(axis=0) - target_mean)
    weights = [layer.weight.detach().numpy() for layer in network.layers]
    return entropy + beta * distance + tau / 2 * sum(map(squared, weights))


def squared(values: np.ndarray) -> float:
    """Return the sum of squares."""
    return float((values**2).sum())


@pytest.mark.parametrize("iteration", [0, 7])
def test_the_loss_is_that_of_the_plain_formulas(iteration: int) -> None:
    network, batch = tiny_network()
    model = STN(beta=0.4, max_iter=10)
    found = network.loss(batch, iteration, model) + 0.3 * soft.penalty(network.layers)
    expected = plain_loss(network, iteration / 10, 0.4, 0.3)
    assert found.item() == pytest.approx(expected)


def test_the_gradient_flows_through_the_soft_labels() -> None:
    network, batch = tiny_network()
    network.loss(batch, 7, STN(beta=2.0, max_iter=10)).backward()
    parameters = [w for layer in network.layers for w in (layer.weight, layer.bias)]
    for parameter in parameters:
        slope = slopes(parameter, 1, lambda: plain_loss(network, 0.7, 2.0, 0.0))
        assert parameter.grad.view(-1)[1].item() == pytest.approx(slope, abs=1e-7)


def test_the_steps_are_those_of_tensorflows_adam() -> None:
    model = STN(n_components=5, max_iter=6, tau=0.01, beta=0.1, learning_rate=0.02)
    setup = layers.TrainingContext("cpu", 0, double=True)
    found = soft.SoftTransferNetwork.fit_on(setup, TINY, model).losses
    network, batch = tiny_network(scale=1.0)
    matrices = [layer.weight for layer in network.layers]
    biases = [layer.bias for layer in network.layers]
    moments = [(torch.zeros_like(w), torch.zeros_like(w)) for w in matrices + biases]
    for k, loss in enumerate(found, start=1):
        value = network.loss(batch, k - 1, model)
        penalty = sum(0.5 * w.square().sum() for w in matrices)
        total = value + 0.01 * penalty
        assert loss == pytest.approx(total.item(), rel=1e-9)
        gradients = torch.autograd.grad(total, matrices + biases)
        rate = 0.02 * math.sqrt(1 - 0.999**k) / (1 - 0.9**k)
        for w, g, (m, v) in zip(matrices + biases, gradients, moments, strict=True):
            m.mul_(0.9).add_(0.1 * g)
            v.mul_(0.999).add_(0.001 * g * g)
            w.data -= rate * m / (v.sqrt() + 1e-8)


def test_first_weights_and_biases_are_a_normal_cut_at_two_deviations() -> None:
    setup = layers.TrainingContext("cpu", 0)
    network = soft.SoftTransferNetwork.draw((101, 60, 20, 7), setup)
    widths = [tuple(layer.weight.shape) for layer in network.layers]
    assert widths == [(60, 101), (20, 60), (40, 60), (20, 40), (7, 20)]
    for values in (network.source.first.weight, network.source.first.bias):
        assert values.abs().max() <= 0.02
    assert network.source.first.weight.std().item() == pytest.approx(0.0088, abs=2e-4)
    assert network.source.first.bias.std().item() == pytest.approx(0.0088, abs=2e-3)
