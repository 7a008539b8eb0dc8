"""Time of a training step of each network, relative to its matrix products."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Rows, Work, describe_size, measure
from cdspp.methods import available, make, method_class
from cdspp.methods.cost import Size
from cdspp.methods.networks.networks import NetworkClassifier
from cdspp.methods.networks.trained import rows_cost_less

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["NETWORKS", "bench_networks", "networks_table", "prepare", "step_products"]

NETWORKS = [
    name for name in available() if issubclass(method_class(name), NetworkClassifier)
]
# Numbers of steps, and of runs of a product; the shortest counts.
STEPS, REPEATS = 12, 3
COLUMNS = ("step ms", "products ms", "ratio", "textbook ms")


def step_products(
    size: Size, n_components: int, *, sums_rows: bool
) -> list[tuple[int, int, int]]:
    """Return the products (m x inner by inner x n) of both encoders in one step.

    Parameters
    ----------
    size : Size
        Size of the problem.
    n_components : int
        Width of the codes.
    sums_rows : bool
        Whether a first layer may be trained on products of rows, as in SSAN.
    """
    products = []
    domains = (size.n_source, size.d_source), (size.n_target, size.d_target)
    for n, d in domains:
        hidden = (d + n_components) // 2
        if sums_rows and rows_cost_less(n, d):
            products.append((n, n, hidden))
        else:
            products += [(n, d, hidden), (hidden, n, d)]
        # Outputs of the second layer, and the gradients of its weights and inputs.
        products.append((n, hidden, n_components))
        products.append((n_components, n, hidden))
        products.append((n, n_components, hidden))
    return products


def prepare(name: str, size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    """Return the measurement of the network `name`, in processor milliseconds."""
    options = {"max_iter": STEPS, "random_state": 0, "device": "cpu"}
    network: Any = make(name, **options)
    k = network.n_components

    def work() -> Mapping[str, Any]:
        from cdspp.methods.networks.layers import product

        products_of_step = step_products(size, k, sums_rows=network.sums_rows)
        textbook = step_products(size, k, sums_rows=False)
        return {
            "step_ms": _time_step(network, rows),
            "products_ms": _time_products(products_of_step, product),
            "textbook_ms": _time_products(textbook, _multiply),
        }

    return work


def _time_step(network: NetworkClassifier, rows: Rows) -> float:
    from torch.optim.optimizer import register_optimizer_step_post_hook

    ends: list[float] = []
    handle = register_optimizer_step_post_hook(
        lambda *arguments: ends.append(time.process_time())
    )
    network.fit(rows.X_target, rows.y_target, source=rows.source())
    handle.remove()
    return 1e3 * min(after - before for before, after in pairwise(ends))


def _multiply(A: Tensor, B: Tensor) -> Tensor:
    return A.mm(B.T)


def _time_products(
    products: Sequence[tuple[int, int, int]],
    multiply: Callable[[Tensor, Tensor], Tensor],
) -> float:
    """Return the shortest time of each product, summed up."""
    from cdspp.methods.networks.layers import TrainingContext

    setup = TrainingContext("cpu", 0)
    total = 0.0
    for m, inner, n in products:
        A, B = setup.normal(m, inner), setup.normal(n, inner)
        ends = [time.process_time()]
        for _ in range(REPEATS):
            multiply(A, B)
            ends.append(time.process_time())
        total += min(after - before for before, after in pairwise(ends))
    return 1e3 * total


def bench_networks(
    sizes: Sequence[Size], *, progress: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """Measure a step of each network on each size, one after the other.

    Parameters
    ----------
    sizes : sequence of Size
        Sizes of the synthetic problems.
    progress : callable, optional
        Receives a line of text before each measurement.

    Returns
    -------
    results : list of dict
        By size: `size`, and by network the milliseconds of one step (`step_ms`), of its
        products as the package computes them (`products_ms`), and of the products of a
        layer-by-layer implementation with `torch.mm` (`textbook_ms`).
    """
    results = []
    for size in sizes:
        entries = {}
        for name in NETWORKS:
            progress(f"{size.name}: {name}")
            entries[name] = measure(f"{__name__}:{name}", size)
        results.append({"size": asdict(size), "networks": entries})
    return results


def networks_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the results of `bench_networks` as an aligned table."""
    lines = []
    for result in results:
        lines += [
            describe_size(Size(**result["size"])),
            f"  {'':8}" + "".join(f"{column:>13}" for column in COLUMNS),
        ]
        for name, entry in result["networks"].items():
            step, products = entry["step_ms"], entry["products_ms"]
            ratio = step / products if products else float("nan")
            lines.append(
                f"  {name:8}{step:13.1f}{products:13.1f}{ratio:13.2f}"
                f"{entry['textbook_ms']:13.1f}"
            )
        lines.append("")
    return "\n".join(lines)
