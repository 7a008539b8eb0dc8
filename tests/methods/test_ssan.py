"""SSAN: its loss and gradients by scalars, early losses of the authors, compression."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat
from support.known_answers.digits_case import digits_case
from support.tiny_networks import affine, code, leaky, prepared, squared, tiny_problem
from support.toy_problem import WIDE, toy_problem

from cdspp import SSAN
from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Problem
from cdspp.methods.networks import ssan
from cdspp.methods.networks.alignment_network import AlignmentNetwork, LossWeights
from cdspp.methods.networks.networks import Batch, Encoder, Layer, Site
from cdspp.methods.networks.ssan import RowSpace

torch = pytest.importorskip("torch")

# The authors' loss functions, float64, seed 2020: (epoch, loss before its step).
DIGITS_LOSSES = {
    0: 6.85413274,
    1: 6.76391522,
    2: 6.75028207,
    6: 6.74665437,
    10: 6.74570931,
    19: 6.74456058,
}
SURF_LOSSES = {
    0: 6.85265882,
    7: 6.74693059,
    14: 6.74618849,
    28: 6.74534920,
    56: 6.74073621,
}
WEIGHTS = LossWeights(temperature=5.0, alpha=0.3, beta=0.7, gamma=0.9)


TINY = tiny_problem(unlabelled_per_class=4, spread=1.0)


def exactly(seed: int) -> Site:
    """Return a place of training in float64."""
    return Site.open("cpu", seed, double=True)


def tiny_network(scale: float = 0.5) -> tuple[AlignmentNetwork, Batch]:
    """Return a network of random weights that are not tiny, in float64."""
    rng = np.random.default_rng(0)
    site = exactly(0)

    def layer(n_in: int, n_out: int) -> Layer:
        draw = scale * rng.standard_normal((n_out, n_in + 1))
        return Layer(site.parameter(draw[:, 1:]), site.parameter(draw[:, 0]))

    source = Encoder(layer(4, 4), layer(4, 5), 1e-12)
    target = Encoder(layer(3, 4), layer(4, 5), 1e-12)
    network = AlignmentNetwork(source, target, layer(5, 3), layer(5, 1))
    return network, Batch.of(TINY, site)


def softmax(values: list[float], temperature: float = 1.0) -> list[float]:
    exponentials = [math.exp(v / temperature) for v in values]
    return [e / sum(exponentials) for e in exponentials]


def mean(rows: list[list[float]]) -> list[float]:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def cosine(a: list[float], b: list[float]) -> float:
    product = sum(u * v for u, v in zip(a, b, strict=True))
    return product / math.sqrt(squared(a, [0.0] * 5) * squared(b, [0.0] * 5))


def scalar_losses(network: Any) -> tuple[float, float, int]:
    """Return the loss without the discriminator's, that, and the rows agreed on."""
    Zs = [code(network.source, x) for x in TINY.X_source.tolist()]
    Zl = [code(network.target, x) for x in TINY.X_labelled.tolist()]
    Zu = [code(network.target, x) for x in TINY.X_unlabelled.tolist()]
    Os, Ol, Ou = (
        [leaky(affine(network.classifier, z)) for z in Z] for Z in (Zs, Zl, Zu)
    )
    ys, yl = TINY.y_source.tolist(), TINY.y_labelled.tolist()
    known = mean([[-math.log(softmax(o)[y])] for o, y in zip(Os, ys, strict=True)])[0]
    hard = mean([[-math.log(softmax(o)[y])] for o, y in zip(Ol, yl, strict=True)])[0]
    centres = [
        mean([z for z, y in zip(Zs + Zl, ys + yl, strict=True) if y == c])
        for c in range(3)
    ]
    nearest = [max(range(3), key=lambda c: cosine(z, centres[c])) for z in Zu]
    labels = [max(range(3), key=lambda c: o[c]) for o in Ou]
    agreed = [a if a == b else -1 for a, b in zip(nearest, labels, strict=True)]
    soft = explicit = 0.0
    for c in range(3):
        q = mean([softmax(o, 5.0) for o, y in zip(Os, ys, strict=True) if y == c])
        logs = [
            [math.log(p + 1e-5) for p in softmax(o)]
            for o, y in zip(Ol, yl, strict=True)
            if y == c
        ]
        soft -= sum(a * b for a, b in zip(q, mean(logs), strict=True))
        in_source = [z for z, y in zip(Zs, ys, strict=True) if y == c]
        in_target = [z for z, y in zip(Zl + Zu, yl + agreed, strict=True) if y == c]
        triple = mean(in_source), mean(in_target), mean(in_source + in_target)
        explicit += sum(
            squared(triple[i], triple[j]) for i, j in ((0, 1), (0, 2), (1, 2))
        )
    domain = 0.0
    for z, is_source in [*((z, True) for z in Zs), *((z, False) for z in Zl + Zu)]:
        p = 1 / (1 + math.exp(-affine(network.discriminator, z)[0]))
        domain -= math.log(p if is_source else 1 - p) / len(Zs + Zl + Zu)
    rest = known + 0.7 * hard + 0.3 * soft + 0.7 * explicit
    return rest, 0.9 * domain, sum(label >= 0 for label in agreed)


def test_the_loss_is_that_of_the_scalar_formulas() -> None:
    network, batch = tiny_network()
    rest, domain, n_agreed = scalar_losses(network)
    assert 0 < n_agreed < 12
    found = network.loss(batch, 0.6, WEIGHTS).item()
    assert found == pytest.approx(rest + domain, rel=1e-12)


def test_the_domain_gradient_reaches_the_encoders_reversed() -> None:
    network, batch = tiny_network()
    network.loss(batch, 0.6, WEIGHTS).backward()
    discriminator = {id(network.discriminator.weight), id(network.discriminator.bias)}
    for parameter in network.parameters:
        values, step, ends = parameter.data.view(-1), 1e-6, []
        for sign in (1, -1):
            values[0] += sign * step
            ends.append(scalar_losses(network))
            values[0] -= sign * step
        rest, domain = ((ends[0][i] - ends[1][i]) / (2 * step) for i in (0, 1))
        factor = 1.0 if id(parameter) in discriminator else -0.6
        slope = rest + factor * domain
        assert parameter.grad.view(-1)[0].item() == pytest.approx(slope, abs=1e-7)


def test_the_steps_are_those_of_nesterovs_momentum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network, batch = tiny_network()
    reference, _ = tiny_network()
    model = SSAN(
        temperature=5.0, alpha=0.3, beta=0.7, gamma=0.9, max_iter=6, weight_decay=0.05
    )
    found = model._descend(network, batch, exactly(0))
    velocities = [torch.zeros_like(w) for w in reference.parameters]
    for epoch, loss in enumerate(found):
        reversal = 2 / (1 + math.exp(-10 * epoch / 6)) - 1
        value = reference.loss(batch, reversal, WEIGHTS)
        assert loss == pytest.approx(value.item(), rel=1e-9)
        gradients = torch.autograd.grad(value, reference.parameters)
        for w, v, g in zip(reference.parameters, velocities, gradients, strict=True):
            g = g + 0.05 * w.data
            v.mul_(0.9).add_(g)
            w.data -= 0.1 * (g + 0.9 * v)


def early_losses(
    problem: Problem, max_iter: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> list[float]:
    """Return the first losses of a longer training, seed 2020, float64."""
    train = ssan.train
    monkeypatch.setattr(ssan, "train", lambda loss, o, n: train(loss, o, steps))
    return SSAN(max_iter=max_iter)._train(problem, exactly(2020)).losses


def test_the_authors_early_losses_are_met_on_the_digits_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = digits_case()
    X, y = case.target()
    problem = Problem(
        row_normalise(case.X_source),
        case.y_source,
        row_normalise(X[y >= 0]),
        y[y >= 0],
        row_normalise(X[y < 0]),
        10,
    )
    found = early_losses(problem, 3000, 20, monkeypatch)
    for epoch, loss in DIGITS_LOSSES.items():
        assert found[epoch] == pytest.approx(loss, abs=3e-8)


@pytest.mark.reference
def test_the_authors_early_losses_are_met_on_real_features(
    reference_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "oc_surf-amazon_GoogleNet1024-dslr_trial1.mat"
    case = loadmat(reference_folder / "cases" / name)
    rows = {key: row_normalise(case[key].astype(float)) for key in ("Xs", "Xt", "Xu")}
    ys, yt = (case[key].ravel().astype(int) - 1 for key in ("ys", "yt"))
    problem = Problem(rows["Xs"], ys, rows["Xt"], yt, rows["Xu"], 10)
    found = early_losses(problem, 60, 57, monkeypatch)
    for epoch, loss in SURF_LOSSES.items():
        assert found[epoch] == pytest.approx(loss, abs=3e-8)


@pytest.mark.parametrize("widths", [WIDE, {"d_source": 60}, {"d_target": 90}])
def test_training_within_the_span_of_the_rows_changes_nothing(
    widths: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = prepared(toy_problem(**widths))
    model = SSAN(n_components=8, max_iter=80, weight_decay=0.01)
    found = model._train(problem, exactly(3))
    monkeypatch.setattr(RowSpace, "of", classmethod(lambda cls, X: cls(None)))
    expected = model._train(problem, exactly(3))
    np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-8)
    for side in ("source", "target"):
        np.testing.assert_allclose(
            getattr(found, side).first.weight,
            getattr(expected, side).first.weight,
            atol=1e-8,
        )
    new = np.random.default_rng(0).standard_normal((5, problem.X_labelled.shape[1]))
    np.testing.assert_allclose(
        found.probabilities(new), expected.probabilities(new), atol=1e-7
    )


def test_domains_of_equal_width_have_encoders_of_their_own() -> None:
    problem = toy_problem(d_source=7, d_target=7)
    model = problem.fit(SSAN(n_components=8, max_iter=3, random_state=0))
    apart = model.transform(problem.X) - model.transform_source(problem.X)
    assert np.abs(apart).max() > 1e-3
