"""What a fit costs before it runs: seconds and memory, from the size of its problem."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from cdspp.core.names import ALONE, MATCHED, MOST_COMPONENTS, PCA
from cdspp.features import make_extractor
from cdspp.methods import method_class
from cdspp.methods.size import Size, expected_work
from cdspp.stages.selection import FOLDS, grid_options

if TYPE_CHECKING:
    from cdspp.features.base import Extractor
    from cdspp.methods.base import HeterogeneousClassifier
    from cdspp.study.model import Study

__all__ = [
    "Cost",
    "Size",
    "cell_cost",
    "extractor_of",
    "fit_cost",
    "problem_size",
    "view_cost",
]

MIB = 2.0**20
# Resident memory of a job that has imported the library, and with torch.
START_UP_MB, TORCH_MB = 250.0, 350.0
# The rows as read (float32), as float64, their subsets and a normalised copy.
COPIES = 4
# Features of a view whose number the data decide: bags of words, shares of energy.
UNKNOWN_WIDTH, UNKNOWN_COMPONENTS = 10_000, 500
WORDS_SHARE = 0.01  # of the words of all texts that are in one


class Cost(NamedTuple):
    """Processor seconds of one fit on one thread, and peak memory of its process."""

    seconds: float
    megabytes: float


def fit_cost(
    method: type[HeterogeneousClassifier],
    size: Size,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Cost:
    """Estimate the cost of one fit of a method, within a factor of about two.

    Parameters
    ----------
    method : type
        The estimator's class; its `work` gives what it adds to the data itself.
    size : Size
        Size of the problem.
    options : mapping, default={}
        Options in place of defaults; those count that `expected_work` names.
    """
    values: float = size.n_source * size.d_source + size.n_target * size.d_target
    if method.accepts_sparse and method.bridges:  # of others rows are made dense
        values *= size.density
    seconds, more = expected_work(method, size, options)
    start = START_UP_MB + (TORCH_MB if method.needs_torch else 0.0)
    return Cost(seconds, start + COPIES * 8 * values / MIB + more)


def problem_size(
    study: Study, benchmark: str, setting: str, task: str, method: str
) -> Size:
    """Return the size of a task's problem, by configuration and catalogue."""
    views = study.views_of(benchmark, setting, method)
    entry = study.benchmarks[benchmark]
    sizes = study.datasets[entry.dataset].class_sizes
    source, target = task.split("_")
    per_source, _ = study.split_counts(benchmark, setting, "source")
    per_target, others = study.split_counts(benchmark, setting, "target")
    n_labelled = sum(min(n, per_target) for n in sizes[target].values())
    n_rest = sum(
        min(n - min(n, per_target), others or n) for n in sizes[target].values()
    ) + study.datasets[entry.dataset].unlabelled.get(target, 0)
    d_target = _width(study, entry.dataset, target, views["target"])
    n_source, d_source = n_labelled, d_target  # the labelled target rows serve
    state = study.settings[setting].source["name"]
    if state != ALONE:
        n_source = sum(min(n, per_source) for n in sizes[source].values())
    if state not in (ALONE, MATCHED):
        d_source = _width(study, entry.dataset, source, views["source"])
    return Size(
        name=f"{benchmark}, {task}",
        n_classes=len(sizes[target]),
        n_source=n_source,
        d_source=d_source,
        n_labelled=n_labelled,
        n_unlabelled=n_rest,
        d_target=d_target,
        density=max(
            _density(study, entry.dataset, domain, views[role])
            for domain, role in ((source, "source"), (target, "target"))
        ),
    )


def cell_cost(
    study: Study, benchmark: str, setting: str, task: str, method: str
) -> Cost:
    """Return the expected cost of one fit with its options, and of their selection."""
    size = problem_size(study, benchmark, setting, task, method)
    one = fit_cost(method_class(method), size, study.method_options(method, setting))
    grid = study.grid(method, setting)
    n_fits = 1 + (FOLDS * len(grid_options(grid)) if grid else 0)
    return one._replace(seconds=n_fits * one.seconds)


def view_cost(study: Study, dataset: str, domain: str, view: str) -> Cost:
    """Return the expected cost of extracting a view of a domain."""
    extractor = extractor_of(study, domain, view)
    data = study.datasets[dataset]
    n_rows = sum(data.class_sizes[domain].values()) + data.unlabelled.get(domain, 0)
    n_rows += data.paired
    # What is unknown are bags of words: of some thousand, few are in a row.
    width = extractor.width() or UNKNOWN_COMPONENTS
    if data.storage(study.views[view], domain) is not None:
        width = _width(study, dataset, domain, view)
    if (below := study.views[view].view) is not None:
        width = max(width, _width(study, dataset, domain, below))
    start = START_UP_MB + (TORCH_MB if extractor.needs_torch else 0.0)
    megabytes = start + extractor.megabytes + COPIES * 8 * n_rows * width / MIB
    return Cost(extractor.seconds(n_rows, width), megabytes)


def extractor_of(study: Study, domain: str, view: str) -> Extractor:
    """Return the extractor of a view, with its options for a domain."""
    chosen = study.views[view]
    return make_extractor(chosen.extractor, **chosen.domain_options(domain))


def _density(study: Study, dataset: str, domain: str, name: str) -> float:
    """Return the share of the features of a row that are stored."""
    view, data = study.views[name], study.datasets[dataset]
    if view.view or view.scale == PCA or data.storage(view, domain) is not None:
        return 1.0
    texts = extractor_of(study, domain, name).kind == "texts"
    return WORDS_SHARE if texts else 1.0


def _width(study: Study, dataset: str, domain: str, name: str) -> int:
    view = study.views[name]
    storage = study.datasets[dataset].storage(view, domain)
    extractor = extractor_of(study, domain, name)
    if storage is not None:
        width = int(storage["width"])
    elif view.view is not None and extractor.keeps_width:
        width = _width(study, dataset, domain, view.view)
    else:
        unknown = UNKNOWN_WIDTH if view.view is None else UNKNOWN_COMPONENTS
        width = extractor.width() or unknown
    return min(width, MOST_COMPONENTS) if view.scale == PCA else width
