"""A job runs a network where it requests to, and its record says where that was."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from stages.room import Room
from support.result_files import rewrite_record

from cdspp.core.errors import ConfigError
from cdspp.core.files import read_json
from cdspp.features import Extractor
from cdspp.methods import make_seeded
from cdspp.stages import features
from cdspp.stages import fit as stage

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")

NETWORK: dict[str, Any] = {"method": "stn", "numeric_threads": 1}
NETWORK |= {"options": {"n_components": 4, "max_iter": 2}}
GPU = "GPU 1"


@pytest.fixture
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let torch say that there is a GPU, on which nothing can run."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda device=None: GPU)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the devices that methods are given; they run on the processor."""
    given = []

    def build(name: str, seed: int, **options: Any) -> Any:
        if "device" in options:
            given.append(options["device"])
            options["device"] = "cpu"
        return make_seeded(name, seed, **options)

    monkeypatch.setattr(stage, "make_seeded", build)
    return given


def extra(fit: Path) -> dict[str, Any]:
    return dict(read_json(fit.with_suffix(".json"))["extra"])


@pytest.mark.usefixtures("a_gpu")
def test_a_job_without_a_gpu_runs_on_the_processor_of_a_node_with_one(
    room: Room,
) -> None:
    record = extra(room.fit(**NETWORK))
    assert record["device"] == "cpu"
    assert {trial["status"] for trial in record["trials"]} == {"ok"}


@pytest.mark.usefixtures("a_gpu")
def test_a_job_with_a_gpu_runs_there_and_names_it(room: Room, asked: list[Any]) -> None:
    assert extra(room.fit(**NETWORK, gpus=1))["device"] == GPU
    assert asked == ["cuda", "cuda"]


@pytest.mark.usefixtures("a_gpu")
def test_a_named_device_stays_and_others_than_networks_run_on_the_processor(
    room: Room, asked: list[Any]
) -> None:
    on_cpu = NETWORK | {"options": {**NETWORK["options"], "device": "cpu"}}
    assert extra(room.fit(**on_cpu, gpus=1))["device"] == "cpu"
    assert asked == ["cpu", "cpu"]
    assert extra(room.fit(gpus=1))["device"] == "cpu"


def test_a_job_whose_gpu_is_missing_says_so_and_fits_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ConfigError, match="gpus: .*requests 2.*torch .*gpus: 0"):
        room.fit(**NETWORK, gpus=2)
    assert not room.output("main", method="stn").exists()
    room.fit(gpus=2)  # no network


@pytest.mark.usefixtures("a_gpu", "asked")
def test_a_fit_of_the_other_kind_of_device_is_made_again(room: Room) -> None:
    fit = room.fit(**NETWORK)
    seconds = [trial["seconds"] for trial in extra(fit)["trials"]]
    room.fit(**NETWORK)
    assert [trial["seconds"] for trial in extra(fit)["trials"]] == seconds
    marked = [{**trial, "seconds": -1.0} for trial in extra(fit)["trials"]]
    rewrite_record(fit, extra=extra(fit) | {"trials": marked, "device": GPU})
    room.fit(**NETWORK, gpus=1)
    assert {trial["seconds"] for trial in extra(fit)["trials"]} == {-1.0}
    room.fit(**NETWORK)
    assert extra(fit)["device"] == "cpu"
    assert all(trial["seconds"] > 0 for trial in extra(fit)["trials"])


@pytest.mark.usefixtures("a_gpu")
def test_an_extractor_runs_where_its_job_requests() -> None:
    def device(gpus: int, **options: Any) -> Any:
        found: Extractor = features._loaded("cnn", options, {}, gpus)
        return getattr(found, "device", None)

    assert [device(0), device(1), device(1, device="cpu")] == ["cpu", "cuda", "cpu"]
