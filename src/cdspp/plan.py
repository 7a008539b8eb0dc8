"""What a study will cost before it runs: sizes of problems, memory, time."""

from __future__ import annotations

import math
from typing import NamedTuple

from cdspp.cost import Cost, Size, fit_cost
from cdspp.features import make_extractor
from cdspp.methods import method_class, option_defaults
from cdspp.splits import trials_of_block
from cdspp.study import Study

__all__ = ["JobCost", "cell_cost", "job_cost", "plan_text", "problem_size"]

# Features of a view whose number the data decide: bags of words, shares of energy.
UNKNOWN_WIDTH, UNKNOWN_COMPONENTS = 10_000, 500
# Room for machines that are slower and inputs that converge later than measured.
SAFETY = 3.0
FEWEST_MINUTES, FEWEST_MB = 10, 1000
PLAN_NOTE = (
    "Fits alone, on one thread of a machine like the one the cost model was measured "
    "on,\nwithin a factor of about two. `snakemake -n` lists all jobs."
)


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
    cost = cell_cost(study, benchmark, setting, task, method)
    minutes = math.ceil(SAFETY * trials * cost.seconds / 60)
    memory = math.ceil(1.5 * cost.megabytes / 100) * 100
    return JobCost(max(memory, FEWEST_MB), FEWEST_MINUTES + minutes)


def cell_cost(
    study: Study, benchmark: str, setting: str, task: str, method: str
) -> Cost:
    """Return the expected cost of one fit, as long as its options let it iterate.

    Parameters
    ----------
    study : Study
        The study.
    benchmark, setting, task, method : str
        Names.
    """
    cost = fit_cost(method_class(method), problem_size(study, benchmark, setting, task))
    usual = option_defaults(method).get("max_iter")
    chosen = study.method_options(method, setting).get("max_iter", usual)
    share = chosen / usual if usual else 1.0
    return Cost(share * cost.seconds, cost.megabytes)


def plan_text(study: Study) -> str:
    """Say what a study will fit: jobs, fits, core-hours, memory, method by method.

    Parameters
    ----------
    study : Study
        The study; nothing of it need exist.
    """
    rows: dict[str, list[float]] = {name: [0, 0, 0.0, 0.0] for name in study.methods}
    for benchmark in study.benchmarks:
        for cell in study.cells(benchmark):
            name, setting, task, method, block = cell
            cost = cell_cost(study, name, setting, task, method)
            trials = len(trials_of_block(block))
            row = rows[method]
            row[0] += 1
            row[1] += trials
            row[2] += trials * cost.seconds / 3600
            row[3] = max(row[3], cost.megabytes)
    rows["all"] = [
        *(sum(row[column] for row in rows.values()) for column in range(3)),
        max(row[3] for row in rows.values()),
    ]
    lines = [f"{'method':14}{'jobs':>7}{'fits':>8}{'core-hours':>12}{'peak MB':>10}"]
    lines += [
        f"{name:14}{jobs:7.0f}{fits:8.0f}{hours:12.2f}{memory:10.0f}"
        for name, (jobs, fits, hours, memory) in rows.items()
    ]
    return "\n".join([*lines, "", PLAN_NOTE])


def _width(study: Study, dataset: str, domain: str, name: str) -> int:
    view = study.views[name]
    layout = study.datasets[dataset].layout(view, domain)
    if layout is not None:
        return int(layout["width"])
    extractor = make_extractor(view.extractor, **view.domain_options(domain))
    unknown = UNKNOWN_WIDTH if view.view is None else UNKNOWN_COMPONENTS
    return extractor.width() or unknown
