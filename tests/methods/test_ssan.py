"""SSAN: plain formulas of its loss, early losses of the authors, compression."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from support.known_answers.known_problems import authors_problem, digits_problem
from support.literal_formulas import affine, codes, leaky, tiny_problem
from support.toy_problem import ToyProblem, toy_problem

from cdspp import SSAN


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Load torch when the first test here runs, not when tests are collected."""
    global torch, layers, losses
    torch = pytest.importorskip("torch")
    layers = pytest.importorskip("cdspp.methods.networks.layers")
    losses = pytest.importorskip("cdspp.methods.networks.losses")


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
WEIGHTS = {"temperature": 5.0, "alpha": 0.3, "beta": 0.7, "gamma": 0.9}
TINY = tiny_problem(unlabelled_per_class=4, spread=1.0)


def exactly(seed: int) -> Any:
    """Return a place of training in float64."""
    return layers.TrainingContext("cpu", seed, double=True)


def fit_exactly(seed: int, problem: Any, model: SSAN) -> Any:
    """Return a network trained in float64."""
    network = losses.AlignmentNetwork
    return network.fit_on(exactly(seed), problem, model)


def tiny_network(scale: float = 0.5) -> tuple[Any, Any]:
    """Return a network of random weights that are not tiny, in float64."""
    rng = np.random.default_rng(0)
    setup = exactly(0)

    def layer(n_in: int, n_out: int) -> Any:
        draw = scale * rng.standard_normal((n_out, n_in + 1))
        return layers.Layer(draw[:, 1:], draw[:, 0], setup)

    source = layers.Encoder(layer(4, 4), layer(4, 5), 1e-12)
    target = layers.Encoder(layer(3, 4), layer(4, 5), 1e-12)
    parts = source, target, layer(5, 3), layer(5, 1)
    network = losses.AlignmentNetwork(*parts)
    return network, layers.Batch(TINY, setup)


def plain_losses(network: Any) -> tuple[float, float, int]:
    """Return the loss without the discriminator's, that, and the rows agreed on."""
    Zs, Zl, Zu = codes(network, TINY)
    Os, Ol, Ou = (leaky(affine(network.classifier, Z)) for Z in (Zs, Zl, Zu))
    ys, yl = TINY.y_source, TINY.y_labelled
    known, hard = (
        -log_softmax(outputs, axis=1)[np.arange(len(y)), y].mean()
        for outputs, y in ((Os, ys), (Ol, yl))
    )
    Z, y = np.vstack([Zs, Zl]), np.hstack([ys, yl])
    centres = np.array([Z[y == c].mean(axis=0) for c in range(3)])
    nearest = (Zu @ centres.T / np.linalg.norm(centres, axis=1)).argmax(axis=1)
    agreed = np.where(nearest == Ou.argmax(axis=1), nearest, -1)
    soft = explicit = 0.0
    for c in range(3):
        q = softmax(Os[ys == c] / 5.0, axis=1).mean(axis=0)
        soft -= q @ np.log(softmax(Ol[yl == c], axis=1) + 1e-5).mean(axis=0)
        in_source, in_target = Zs[ys == c], np.vstack([Zl[yl == c], Zu[agreed == c]])
        both = np.vstack([in_source, in_target])
        means = [rows.mean(axis=0) for rows in (in_source, in_target, both)]
        explicit += sum((a - b) @ (a - b) for a, b in itertools.combinations(means, 2))
    logits = affine(network.discriminator, np.vstack([Zs, Zl, Zu]))[:, 0]
    signs = np.where(np.arange(len(logits)) < len(Zs), 1.0, -1.0)
    domain = np.log1p(np.exp(-signs * logits)).mean()
    rest = known + 0.7 * hard + 0.3 * soft + 0.7 * explicit
    return rest, 0.9 * domain, int((agreed >= 0).sum())


def test_the_loss_is_that_of_the_plain_formulas() -> None:
    network, batch = tiny_network()
    rest, domain, n_agreed = plain_losses(network)
    assert 0 < n_agreed < 12
    found = network.loss(batch, 0.6, SSAN(**WEIGHTS)).item()
    assert found == pytest.approx(rest + domain, rel=1e-12)


def early_losses(
    problem: ToyProblem, max_iter: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> list[float]:
    """Return the first losses of a longer training, seed 2020, float64."""
    train = layers.train
    monkeypatch.setattr(layers, "train", lambda loss, o, n: train(loss, o, steps))
    model = SSAN(max_iter=max_iter)
    return fit_exactly(2020, problem.prepared(), model).losses


def test_the_authors_early_losses_are_met_on_the_digits_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = early_losses(digits_problem(), 3000, 20, monkeypatch)
    for epoch, loss in DIGITS_LOSSES.items():
        assert found[epoch] == pytest.approx(loss, abs=3e-8)


@pytest.mark.reference
def test_the_authors_early_losses_are_met_on_real_features(
    reference_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "oc_surf-amazon_GoogleNet1024-dslr"
    problem = authors_problem(reference_folder, name)
    found = early_losses(problem, 60, 57, monkeypatch)
    for epoch, loss in SURF_LOSSES.items():
        assert found[epoch] == pytest.approx(loss, abs=3e-8)


@pytest.mark.parametrize("widths", [{"d_source": 60}, {"d_target": 90}])
def test_training_on_products_of_rows_changes_nothing(
    widths: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = toy_problem(**widths).prepared()
    model = SSAN(n_components=8, max_iter=40, weight_decay=0.01)
    found = fit_exactly(3, problem, model)
    monkeypatch.setattr(losses, "rows_cost_less", lambda n, d: False)
    expected = fit_exactly(3, problem, model)
    np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-8)
    for trained, other in (
        (found.source, expected.source),
        (found.target, expected.target),
    ):
        np.testing.assert_allclose(trained.first.weight, other.first.weight, atol=1e-8)
        np.testing.assert_allclose(trained.first.bias, other.first.bias, atol=1e-8)
    new = np.random.default_rng(0).standard_normal((5, problem.X_labelled.shape[1]))
    np.testing.assert_allclose(
        found.probabilities(new), expected.probabilities(new), atol=1e-7
    )


def test_domains_of_equal_width_have_encoders_of_their_own() -> None:
    problem = toy_problem(d_source=7, d_target=7)
    model = problem.fit(SSAN(n_components=8, max_iter=3, random_state=0))
    apart = model.transform(problem.X) - model.transform_source(problem.X)
    assert np.abs(apart).max() > 1e-3
