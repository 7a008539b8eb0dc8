"""What a study will cost before it runs: sizes of problems, memory, time."""

from __future__ import annotations

import math
from typing import NamedTuple

from cdspp.cost import Size, fit_cost
from cdspp.features import make_extractor
from cdspp.methods import method_class
from cdspp.study import Study

__all__ = ["JobCost", "job_cost", "problem_size"]

# Features of a view whose number the data decide: bags of words, shares of energy.
UNKNOWN_WIDTH, UNKNOWN_COMPONENTS = 10_000, 500
# Room for machines that are slower and inputs that converge later than measured.
SAFETY = 3.0
FEWEST_MINUTES, FEWEST_MB = 10, 1000


class JobCost(NamedTuple):
    """What to ask a scheduler for: memory in MB and wall time in minutes."""

    megabytes: int
    minutes: int


def problem_size(study: Study, benchmark: str, setting: str, task: str) -> Size:
    """Return the size of a task's problem, known from configuration and catalogue.

    Parameters
    ----------
    study : Study
        The study.
    benchmark, setting, task : str
        Names.
    """
    facts = study.benchmarks[benchmark]
    sizes = study.datasets[facts.dataset].class_sizes
    source, target = task.split("_")
    per_source, _ = study.split_counts(benchmark, setting, "source")
    per_target, others = study.split_counts(benchmark, setting, "target")
    n_labelled = sum(min(n, per_target) for n in sizes[target].values())
    n_rest = sum(
        min(n - min(n, per_target), others or n) for n in sizes[target].values()
    )
    return Size(
        name=f"{benchmark}, {task}",
        n_classes=len(sizes[target]),
        n_source=sum(min(n, per_source) for n in sizes[source].values()),
        d_source=_width(study, facts.dataset, source, facts.source_view),
        n_labelled=n_labelled,
        n_unlabelled=n_rest,
        d_target=_width(study, facts.dataset, target, facts.target_view),
    )


def job_cost(
    study: Study, benchmark: str, setting: str, task: str, method: str, trials: int
) -> JobCost:
    """Return what a job of `trials` fits should ask for, with room to spare.

    Parameters
    ----------
    study : Study
        The study.
    benchmark, setting, task, method : str
        Names.
    trials : int
        Trials of the job's block.
    """
    size = problem_size(study, benchmark, setting, task)
    cost = fit_cost(method_class(method), size)
    minutes = math.ceil(SAFETY * trials * cost.seconds / 60)
    memory = math.ceil(1.5 * cost.megabytes / 100) * 100
    return JobCost(max(memory, FEWEST_MB), FEWEST_MINUTES + minutes)


def _width(study: Study, dataset: str, domain: str, name: str) -> int:
    view = study.views[name]
    layout = study.datasets[dataset].layout(view, domain)
    if layout is not None:
        return int(layout["width"])
    extractor = make_extractor(view.extractor, **view.domain_options(domain))
    unknown = UNKNOWN_WIDTH if view.view is None else UNKNOWN_COMPONENTS
    return extractor.width() or unknown
