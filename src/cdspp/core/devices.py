"""The devices of torch on which networks run."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cdspp.core.errors import ConfigError

AUTO, PROCESSOR = "auto", "cpu"


def torch_device(name: str) -> Any:
    """Return a device of torch; ``auto`` is CUDA where there is one.

    ValueError: this torch has no such device.
    """
    torch = import_module("torch")
    if name == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else PROCESSOR)
    try:
        torch.ones(1, device=name).item()
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"device must be auto or a device that this torch has, got {name!r}. "
            'Use device="auto".'
        ) from error
    return torch.device(name)


def device_of_job(gpus: int) -> str:
    """Return what ``auto`` is in a job that requests so many GPUs.

    ConfigError: it requests a GPU, but torch finds none.
    """
    if not gpus:
        return PROCESSOR  # also where there is a GPU: it may be another job's
    torch = import_module("torch")
    if torch.cuda.is_available():
        return "cuda"
    raise ConfigError(
        f"gpus: this job requests {gpus}, but torch {torch.__version__} finds no GPU "
        "on this machine. Run it on a machine with a GPU, with a torch that is built "
        "for it, or set gpus: 0 in the study file."
    )


def device_name(name: str) -> str:
    """Return what a record calls a device: the model of a GPU, or ``cpu``.

    Where `name` is of no device of torch, whether torch has used CUDA decides.
    """
    torch = import_module("torch")
    try:
        device = torch_device(name)
    except ValueError:
        device = torch.device("cuda" if torch.cuda.is_initialized() else PROCESSOR)
    is_cuda = device.type == "cuda"
    return str(torch.cuda.get_device_name(device) if is_cuda else device.type)
