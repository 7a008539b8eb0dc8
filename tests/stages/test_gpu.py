"""Networks on a GPU: they repeat themselves, agree with the processor, and say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.toy_problem import toy_problem

from cdspp import JMEA, SSAN, STN

pytestmark = pytest.mark.gpu
ALIKE = 0.85  # of the labels, after as many steps


@pytest.fixture(scope="module", autouse=True)
def cuda() -> Any:
    """Return what torch has for GPUs, or skip where it finds none."""
    found = pytest.importorskip("torch").cuda
    if not found.is_available():
        pytest.skip("torch finds no GPU here")
    return found


@pytest.mark.parametrize(
    ("network", "width", "steps"), [(STN, 32, 150), (SSAN, 256, 300), (JMEA, 32, 150)]
)
def test_a_network_repeats_itself_and_agrees_with_the_processor(
    network: Any, width: int, steps: int, cuda: Any
) -> None:
    problem = toy_problem(spread=0.3, unlabelled_per_class=50)

    def fitted(device: str) -> Any:
        options = {"n_components": width, "max_iter": steps, "random_state": 0}
        return problem.fit(network(device=device, **options))

    before = cuda.memory_stats().get("allocation.all.allocated", 0)
    first, again, on_cpu = fitted("auto"), fitted("cuda"), fitted("cpu")
    assert cuda.memory_stats()["allocation.all.allocated"] > before
    assert first.loss_curve_ == again.loss_curve_
    np.testing.assert_array_equal(
        first.predict_proba(problem.X), again.predict_proba(problem.X)
    )
    alike = first.transduction_ == on_cpu.transduction_
    assert np.mean(alike[problem.unlabelled]) >= ALIKE
    assert problem.accuracy(first) > 0.8  # else they could agree on one class


def test_an_extractor_agrees_with_the_processor(tmp_path: Any) -> None:
    pytest.importorskip("torchvision")
    image = pytest.importorskip("PIL.Image")
    from cdspp.features.cnn import Cnn

    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    image.fromarray(pixels).save(tmp_path / "a.png")
    files = [tmp_path / "a.png"]
    first, again = (Cnn(layer="pool", device="cuda").extract(files) for _ in "12")
    np.testing.assert_array_equal(first, again)
    on_cpu = Cnn(layer="pool", device="cpu").extract(files)
    np.testing.assert_allclose(first, on_cpu, rtol=1e-2, atol=1e-4)


@pytest.mark.parametrize("gpus", [0, 1])
def test_the_record_names_the_device_on_which_the_job_ran(
    tmp_path: Any, gpus: int, cuda: Any
) -> None:
    pytest.importorskip("pyarrow")
    from stages.room import Room

    from cdspp.core.files import read_json

    options = {"n_components": 4, "max_iter": 2}
    fit = Room(tmp_path).fit(method="stn", options=options, gpus=gpus)
    record = read_json(fit.with_suffix(".json"))["extra"]
    assert record["device"] == (cuda.get_device_name() if gpus else "cpu")
    assert {trial["status"] for trial in record["trials"]} == {"ok"}
