"""What a job asks a scheduler for: memory, wall time and GPUs, with room to spare."""

from __future__ import annotations

import math
from typing import NamedTuple

from cdspp.study.cost import extractor_of, view_cost
from cdspp.study.fit_jobs import FitGroup, group_costs, job_seconds, longest_seconds
from cdspp.study.model import Study

__all__ = ["Request", "fit_request", "travels_alone", "view_request"]

# Room for machines that are slower and inputs that converge later than measured.
TIME_ROOM, MEMORY_ROOM = 3.0, 1.5
FEWEST_MINUTES, FEWEST_MB = 5, 1000
# Jobs that are expected to take longer gain nothing from waiting for each other.
ALONE_SECONDS = 60.0


class Request(NamedTuple):
    """What to ask for: memory in MB, wall time in minutes, and GPUs."""

    megabytes: int
    minutes: int
    gpus: int = 0


def fit_request(
    study: Study, group: FitGroup, task: str, trials: int, attempt: int = 1
) -> Request:
    """Return what a job of a group of fits asks for, on a block of so many trials.

    What ran out of time or memory is to get more in the next attempt.
    """
    megabytes = max(cost.megabytes for cost in group_costs(study, group, task))
    seconds = job_seconds(study, group, task, trials)
    return _request(seconds, megabytes, attempt, study.gpus if group.needs_torch else 0)


def view_request(
    study: Study, dataset: str, domain: str, view: str, attempt: int = 1
) -> Request:
    """Return what the extraction of a view, or learning its codebook, asks for."""
    cost = view_cost(study, dataset, domain, view)
    extractor = extractor_of(study, domain, view)
    gpus = study.gpus if extractor.needs_torch else 0
    return _request(cost.seconds, cost.megabytes, attempt, gpus)


def travels_alone(study: Study, group: FitGroup) -> bool:
    """Whether the jobs of a group are submitted one by one, not several at once.

    Those that take long do, and those of networks, which may want a GPU.
    """
    return group.needs_torch or longest_seconds(study, group) > ALONE_SECONDS


def _request(seconds: float, megabytes: float, attempt: int, gpus: int) -> Request:
    memory = max(math.ceil(MEMORY_ROOM * megabytes / 100) * 100, FEWEST_MB)
    minutes = FEWEST_MINUTES + math.ceil(TIME_ROOM * seconds / 60)
    return Request(attempt * memory, attempt * minutes, gpus)
