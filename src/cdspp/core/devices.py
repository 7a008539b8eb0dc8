"""Where numbers are computed: the devices of torch, and the threads of libraries."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from cdspp.core.errors import ConfigError

AUTO, PROCESSOR = "auto", "cpu"


def torch_device(name: str) -> Any:
    """Return a torch device; ``auto`` is CUDA if it is available.

    ConfigError: torch does not have this device.
    """
    torch = import_module("torch")
    if name == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else PROCESSOR)
    try:
        torch.ones(1, device=name).item()
    except (RuntimeError, AssertionError) as error:
        fault = f"device must be auto or one that torch finds here, got {name!r}"
        raise ConfigError(f'{fault}. Use device="auto".') from error
    return torch.device(name)


def device_of_job(gpus: int) -> str:
    """Return the device that ``auto`` stands for in a job that requests `gpus` GPUs.

    ConfigError: the job requests a GPU, but torch finds none.
    """
    if not gpus:
        return PROCESSOR  # even if there is a GPU: it may belong to another job
    torch = import_module("torch")
    if torch.cuda.is_available():
        return "cuda"
    fault = f"this job requests {gpus}, but torch {torch.__version__} finds none here"
    remedy = "Run it on a machine with a GPU and a torch built for it"
    raise ConfigError(f"gpus: {fault}. {remedy}, or set gpus: 0 in the study file.")


def device_name(name: str) -> str:
    """Return the device name for a record: the model of a GPU, or else its type."""
    cuda = import_module("torch").cuda
    if name.startswith("cuda") or (not name and cuda.is_initialized()):
        return str(cuda.get_device_name(name or None))
    return name or PROCESSOR


@contextmanager
def limit_threads(n_threads: int) -> Iterator[None]:
    """Limit the threads of loaded libraries, whose number affects the last bits."""
    from threadpoolctl import threadpool_limits

    with ExitStack() as stack:
        if torch := sys.modules.get("torch"):
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(n_threads)
        if cv2 := sys.modules.get("cv2"):
            stack.callback(cv2.setNumThreads, cv2.getNumThreads())
            cv2.setNumThreads(n_threads)
        stack.enter_context(threadpool_limits(limits=n_threads))
        yield
