"""What holds of both networks: torch's state, losses, devices, progress."""

from __future__ import annotations

import logging
import math
import sys
from typing import Any

import numpy as np
import pytest
from support.toy_problem import toy_problem

from cdspp import JMEA, SSAN, STN
from cdspp.core.errors import MethodFailed


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Load torch when the first test here runs, not when tests are collected."""
    global torch, layers, soft_transfer
    torch = pytest.importorskip("torch")
    layers = pytest.importorskip("cdspp.methods.networks.layers")
    soft_transfer = pytest.importorskip("cdspp.methods.networks.losses")


both = pytest.mark.parametrize("network", [STN, SSAN])


def small(network: Any, **options: Any) -> Any:
    """Return a narrow network with few iterations."""
    given = {"n_components": 16, "max_iter": 8, "device": "cpu", "random_state": 0}
    return network(**{**given, **options})


@both
def test_a_missing_torch_is_named_with_the_remedy(
    network: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install .cdspp\[networks\]"):
        toy_problem().fit(small(network))


@both
def test_torch_is_left_as_it_was_and_plays_no_part(network: Any) -> None:
    problem = toy_problem()
    expected = problem.fit(small(network))
    torch.manual_seed(3)
    state = torch.get_rng_state()
    torch.set_default_dtype(torch.float64)
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.inference_mode(), torch.autocast("cpu"), torch.device("meta"):
            found = problem.fit(small(network))
        assert torch.get_default_dtype() == torch.float64
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_float32_matmul_precision("highest")
    assert torch.equal(torch.get_rng_state(), state)
    assert found.loss_curve_ == expected.loss_curve_
    np.testing.assert_array_equal(
        found.predict_proba(problem.X), expected.predict_proba(problem.X)
    )


@pytest.mark.parametrize(
    "model",
    [
        small(STN, n_components=32, max_iter=150),
        small(SSAN, n_components=256, max_iter=120),
    ],
    ids=["STN", "SSAN"],
)
def test_the_loss_falls_on_separated_classes(model: Any) -> None:
    curve = toy_problem(spread=0.2).fit(model).loss_curve_
    assert curve[-1] < 0.7 * curve[0]


@both
def test_a_loss_that_is_not_finite_is_a_failure(network: Any) -> None:
    with pytest.raises(MethodFailed, match="is not finite|loss is"):
        toy_problem().fit(small(network, learning_rate=1e38))


@pytest.mark.parametrize("number", [3, 70, 119])
def test_the_first_loss_that_is_not_finite_is_named(number: int) -> None:
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=0.1)
    lost = {number: math.nan, number + 1: math.inf}
    with pytest.raises(MethodFailed, match=f"nan at iteration {number}$"):
        layers.train(lambda k: weight.sum() + lost.get(k, 1.0), optimiser, 120)


def test_a_weight_that_is_not_finite_after_the_last_step_is_a_failure() -> None:
    weight = torch.ones(1, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=math.inf)
    with pytest.raises(MethodFailed, match="finite.*iteration 0"):
        layers.train(lambda iteration: weight.sum(), optimiser, 1)


@pytest.mark.parametrize(("last", "warned"), [(2.2, False), (5.0, True)])
def test_a_jump_of_the_loss_in_the_last_iteration_is_told(
    last: float, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    weight = torch.zeros(1, requires_grad=True)
    values = [2.0] * 20 + [last]
    optimiser = torch.optim.SGD([weight], lr=0.1)
    layers.train(lambda k: 0 * weight.sum() + values[k], optimiser, 21)
    assert any("just become unstable" in text for text in caplog.messages) == warned


@both
@pytest.mark.parametrize("device", ["nowhere", "cuda:99", "meta"])
def test_a_device_that_torch_lacks_is_named(network: Any, device: str) -> None:
    with pytest.raises(ValueError, match=f"device must .* '{device}'"):
        toy_problem().fit(small(network, device=device))


@both
def test_long_runs_show_their_progress(
    network: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="cdspp"):
        toy_problem().fit(small(network))
        assert not caplog.messages
        monkeypatch.setattr(layers, "PROGRESS_SECONDS", -1.0)
        toy_problem().fit(small(network))
    assert caplog.messages[2].startswith("3 of 8 iterations, loss ")


def test_the_loss_of_jmea_is_that_of_loops_over_rows_and_classes() -> None:
    problem = toy_problem(n_classes=3, unlabelled_per_class=4, spread=0.5)
    labelled = problem.labelled
    setup = layers.TrainingContext("cpu", 0)
    batch = layers.Batch(problem.prepared(), setup)
    widths = problem.source.X.shape[1], problem.X.shape[1]
    network = soft_transfer.JointNetwork.draw((*widths, 6, 3), setup)
    weights, share, n_selected = (0.3, 0.6, 0.5), 0.4, 5
    options = {"beta": 0.3, "target_weight": 2.0, "second_weight": 0.5}
    model = JMEA(**options, max_iter=1000, start=20)  # 0.42 of 12 rows are 5
    found = network.loss(batch, 400, model).item()

    with torch.no_grad():
        Z_s, Z_t = network.source(batch.X_source), network.target(batch.X_target)
        P1_s, P1_t = (network.classifier(Z).softmax(1).numpy() for Z in (Z_s, Z_t))
        P2 = network.target_classifier(Z_t).softmax(1).numpy()
    Z_s, Z_t = Z_s.numpy(), Z_t.numpy()
    y_s, y_l = problem.source.y, problem.y[labelled]
    n_l = len(y_l)
    logs = [np.log(P1_s[i, c]) for i, c in enumerate(y_s)]
    logs += [np.log(P1_t[i, c]) for i, c in enumerate(y_l)]
    expected = -np.mean(logs)
    expected -= weights[2] * np.mean([np.log(P2[i, c]) for i, c in enumerate(y_l)])
    surest = [n_l + np.argsort(-P[n_l:].max(axis=1))[:n_selected] for P in (P2, P1_t)]
    rows = [*range(n_l), *surest[0]]
    across = np.sum((Z_s.mean(axis=0) - Z_t[rows].mean(axis=0)) ** 2)
    within = np.sum((Z_t[:n_l].mean(axis=0) - Z_t[surest[1]].mean(axis=0)) ** 2)
    for c in range(3):
        known = Z_t[:n_l][y_l == c]
        soft = share * P2[surest[0], c]
        mean = (known.sum(axis=0) + soft @ Z_t[surest[0]]) / (len(known) + soft.sum())
        across += np.sum((Z_s[y_s == c].mean(axis=0) - mean) ** 2)
        soft = share * P1_t[surest[1], c]
        mean = soft @ Z_t[surest[1]] / (soft.sum() + 1)
        within += np.sum((known.mean(axis=0) - mean) ** 2)
    expected += weights[0] * across + weights[1] * within
    assert found == pytest.approx(expected, rel=1e-5)
