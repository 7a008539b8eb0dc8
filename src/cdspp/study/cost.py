"""The cost of fits and features by the size of their data, and requests of jobs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from cdspp.core.names import (
    ALONE,
    MATCHED,
    MOST_COMPONENTS,
    PCA,
    REAL,
    FitKey,
    task_domains,
)
from cdspp.features import make_extractor
from cdspp.methods import method_class
from cdspp.methods.cost import (
    COPIES,
    MIB,
    START_UP_MB,
    TORCH_MB,
    Cost,
    Size,
    fit_cost,
)
from cdspp.stages.fit import FOLDS, grid_options

if TYPE_CHECKING:
    from cdspp.features.base import Extractor
    from cdspp.study.model import Study, StudyDataset

# Features of a view whose number the data decide: bags of words, shares of energy.
UNKNOWN_WIDTH, UNKNOWN_COMPONENTS = 10_000, 500
WORDS_SHARE = 0.01  # of the words of all texts that are in one
# Room for machines that are slower and inputs that converge later than measured.
TIME_ROOM, MEMORY_ROOM = 3.0, 1.5
FEWEST_MINUTES, FEWEST_MB = 5, 1000


class Request(NamedTuple):
    """Resources of a job for a scheduler: memory (MB), wall time (minutes) and GPUs."""

    megabytes: int
    minutes: int
    gpus: int = 0


def job_request(cost: Cost, gpus: int, attempt: int) -> Request:
    """Return a request with room to spare, and more room in a later attempt."""
    memory = max(math.ceil(MEMORY_ROOM * cost.megabytes / 100) * 100, FEWEST_MB)
    minutes = FEWEST_MINUTES + math.ceil(TIME_ROOM * cost.seconds / 60)
    return Request(attempt * memory, attempt * minutes, gpus)


def problem_size(study: Study, key: FitKey) -> Size:
    """Return the size of a fit's problem, by configuration and catalogue."""
    benchmark, setting, task, method, _ = key
    sources, target = task_domains(task)
    views = study.views_of(benchmark, setting, method)
    data = study.datasets[study.benchmarks[benchmark].dataset]
    per_source, _ = study.split_counts(benchmark, setting, "source")
    per_target, others = study.split_counts(benchmark, setting, "target")
    sizes = data.class_sizes[target].values()
    n_labelled = sum(min(n, per_target) for n in sizes)
    n_rest = sum(min(n - min(n, per_target), others or n) for n in sizes)
    d_target = _width(study, data, target, views["target"])
    state, taken = study.settings[setting].source, []
    for source in sources:
        name = state["name"] if state.get("domain", source) == source else REAL
        rows = sum(min(n, per_source) for n in data.class_sizes[source].values())
        width = _width(study, data, source, views["source"])
        if name != ALONE:
            taken.append((rows, d_target if name == MATCHED else width))
    # Without any source the labelled target rows serve.
    n_rows, widths = zip(*(taken or [(n_labelled, d_target)]), strict=True)
    sides = [(target, views["target"]), *((s, views["source"]) for s in sources)]
    return Size(
        name=f"{benchmark}, {task}",
        n_classes=len(sizes),
        n_source=sum(n_rows),
        d_source=max(widths),
        n_labelled=n_labelled,
        n_unlabelled=n_rest + data.unlabelled.get(target, 0),
        d_target=d_target,
        density=max(_density(study, data, *side) for side in sides),
    )


def cell_cost(study: Study, key: FitKey) -> Cost:
    """Return the expected cost of a trial with its options, and of their selection."""
    options = study.method_options(key.method, key.setting)
    one = fit_cost(method_class(key.method), problem_size(study, key), options)
    grid = study.grid(key.method, key.setting)
    n_fits = 1 + (FOLDS * len(grid_options(grid)) if grid else 0)
    return one._replace(seconds=n_fits * one.seconds)


def view_request(
    study: Study, dataset: str, domain: str, view: str, attempt: int = 1
) -> Request:
    """Return the request of the extraction of a view, or of learning its codebook."""
    extractor, data = _extractor(study, domain, view), study.datasets[dataset]
    n_rows = sum(data.class_sizes[domain].values()) + data.unlabelled.get(domain, 0)
    n_rows += data.paired
    # What is unknown are bags of words: of some thousand, few are in a row.
    width = extractor.width() or UNKNOWN_COMPONENTS
    if data.storage(study.views[view], domain) is not None:
        width = _width(study, data, domain, view)
    if (below := study.views[view].view) is not None:
        width = max(width, _width(study, data, domain, below))
    start = START_UP_MB + (TORCH_MB if extractor.needs_torch else 0.0)
    megabytes = start + extractor.megabytes + COPIES * 8 * n_rows * width / MIB
    gpus = study.gpus if extractor.needs_torch else 0
    cost = Cost(extractor.seconds(n_rows, width), megabytes)
    return job_request(cost, gpus, attempt)


def _extractor(study: Study, domain: str, view: str) -> Extractor:
    chosen = study.views[view]
    return make_extractor(chosen.extractor, **chosen.domain_options(domain))


def _density(study: Study, data: StudyDataset, domain: str, name: str) -> float:
    """Return the share of the features of a row that are stored."""
    view = study.views[name]
    if view.view or view.scale == PCA or data.storage(view, domain) is not None:
        return 1.0
    texts = _extractor(study, domain, name).kind == "texts"
    return WORDS_SHARE if texts else 1.0


def _width(study: Study, data: StudyDataset, domain: str, name: str) -> int:
    view, extractor = study.views[name], _extractor(study, domain, name)
    if (storage := data.storage(view, domain)) is not None:
        width = int(storage["width"])
    elif view.view is not None and extractor.keeps_width:
        width = _width(study, data, domain, view.view)
    else:
        unknown = UNKNOWN_WIDTH if view.view is None else UNKNOWN_COMPONENTS
        width = extractor.width() or unknown
    return min(width, MOST_COMPONENTS) if view.scale == PCA else width
