"""Import torchvision beside a torch that it was not built for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["load_torchvision"]


@cache
def _declare_missing_operators() -> Any:
    # Kept alive by the cache: what a library object declares goes when it goes.
    torch_library: Any = import_module("torch.library")
    library = torch_library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        if not _is_declared(f"torchvision::{name}"):
            schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            library.define(f"{name}{schema}")
    return library


def _is_declared(operator: str) -> bool:
    import torch

    try:
        torch._C._get_schema(operator, "")
    except RuntimeError:
        return False
    return True


def load_torchvision() -> Any:
    """Return the module torchvision, also where its compiled operators do not load.

    On a CPU-only torch the registry's torchvision cannot load its operators and
    stops at two schemas it takes for given. Declaring them lets models, weights and
    transforms work; with a matching torchvision nothing is declared.
    """
    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        _declare_missing_operators()
        import torchvision
    return torchvision
