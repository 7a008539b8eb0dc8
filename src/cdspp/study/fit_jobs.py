"""Which fits one job makes, and what a study costs in all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cdspp.core.names import trials_of_block
from cdspp.methods import method_class
from cdspp.methods.bridge import PAIRS
from cdspp.study.cost import cell_cost
from cdspp.study.model import COUNTS

if TYPE_CHECKING:
    from cdspp.study.cost import Cost
    from cdspp.study.model import Study

__all__ = [
    "FitGroup",
    "Member",
    "fit_groups",
    "forecast_text",
    "group_costs",
    "job_seconds",
    "longest_seconds",
]

# Methods share a job as long as its fits are expected to take no more: starting a
# process takes a second, and a cluster is not to wait for what could run side by side.
SHARED_SECONDS = 40.0
FORECAST_NOTE = (
    "Fits alone, on one thread of a machine like the one the cost model was measured "
    "on,\nwithin a factor of about two. Quick methods share jobs, which `cdspp run ... "
    "-- -n`\nlists."
)


class Member(NamedTuple):
    """A method in a setting, as a part of a group of fits."""

    method: str
    setting: str


@dataclass(frozen=True)
class FitGroup:
    """Fits that one job makes: they read the same files.

    A job is one task for one block, in all members of the group: a method in all its
    settings, or several methods that are quick.

    Attributes
    ----------
    benchmark : str
        Where it runs.
    members : tuple of Member
        What runs, one after the other, on every task and block.
    tasks, blocks : tuple of str
        One job for each of both.
    """

    benchmark: str
    members: tuple[Member, ...]
    tasks: tuple[str, ...]
    blocks: tuple[str, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """Its methods, each once."""
        return tuple(dict.fromkeys(member.method for member in self.members))

    @property
    def needs_torch(self) -> bool:
        """Whether one of its methods is a network."""
        return any(method_class(method).needs_torch for method in self.methods)

    @property
    def most_trials(self) -> int:
        """Trials of its largest block."""
        return max(len(trials_of_block(block)) for block in self.blocks)


def fit_groups(study: Study) -> Iterator[FitGroup]:
    """Yield the groups of fits that share jobs; every fit is in one of them.

    A method stands in the first group with room for it, so that one added at the end
    leaves those before it where they are.
    """
    for benchmark in study.benchmarks:
        for (tasks, blocks, *_), members in _reading_alike(study, benchmark).items():
            shared: list[FitGroup] = []
            for method in dict.fromkeys(member.method for member in members):
                own = tuple(member for member in members if member.method == method)
                _place(study, shared, FitGroup(benchmark, own, tasks, blocks))
            yield from shared


def _place(study: Study, groups: list[FitGroup], alone: FitGroup) -> None:
    """Add the group of one method to the first group with room, or as it is."""
    for i, group in enumerate(groups):
        both = replace(group, members=(*group.members, *alone.members))
        if _is_quick(study, both):
            groups[i] = both
            return
    groups.append(alone)


def _is_quick(study: Study, group: FitGroup) -> bool:
    """Whether methods may share a job; torch takes memory that others do not need."""
    if group.needs_torch:
        return False
    return longest_seconds(study, group) <= SHARED_SECONDS


def _reading_alike(study: Study, benchmark: str) -> dict[tuple[Any, ...], list[Member]]:
    """Return the members of a benchmark by tasks, blocks and what they read.

    Settings with splits of their own stay apart: what one of them may know as
    labelled, another one tests.
    """
    found: dict[tuple[Any, ...], list[Member]] = {}
    for method in study.methods:
        for setting in study.settings:
            if method in study.setting_methods(benchmark, setting):
                tasks = study.fit_tasks(benchmark, setting, method)
                blocks = study.blocks(study.setting_trials(setting, method))
                splits = [study.split_setting(setting, role) for role in COUNTS]
                where = benchmark, setting, method
                views = study.views_of(*where).values()
                told = study.methods[method].predictions
                pairs = PAIRS in study.bridge(*where)
                read = (*splits, *views, pairs, study.prior_file(setting, method), told)
                member = Member(method, setting)
                found.setdefault((tasks, blocks, *read), []).append(member)
    return {where: members for where, members in found.items() if where[0]}


def job_seconds(study: Study, group: FitGroup, task: str, trials: int) -> int:
    """Return the whole seconds that a job's fits are expected to take."""
    return round(trials * _seconds(study, group, task))


def longest_seconds(study: Study, group: FitGroup) -> int:
    """Return the seconds that the longest job of a group is expected to take."""
    trials = group.most_trials
    return max(job_seconds(study, group, task, trials) for task in group.tasks)


def _seconds(study: Study, group: FitGroup, task: str) -> float:
    """Return the seconds that a trial of all members of a group is expected to take."""
    return sum(cost.seconds for cost in group_costs(study, group, task))


def group_costs(study: Study, group: FitGroup, task: str) -> list[Cost]:
    """Return what a trial of each member of a group is expected to cost on a task."""
    return [
        cell_cost(study, group.benchmark, member.setting, task, member.method)
        for member in group.members
    ]


def forecast_text(study: Study) -> str:
    """Say what a study will fit: jobs, fits, core-hours, memory, method by method.

    Parameters
    ----------
    study : Study
        The study; nothing of it need exist.
    """
    rows: dict[str, list[float]] = {name: [0, 0, 0.0, 0.0] for name in study.methods}
    jobs = 0
    for group in fit_groups(study):
        jobs += len(group.tasks) * len(group.blocks)
        for method in group.methods:
            rows[method][0] += len(group.tasks) * len(group.blocks)
    for benchmark in study.benchmarks:
        for name, setting, task, method, block in study.fits(benchmark):
            cost = cell_cost(study, name, setting, task, method)
            trials = len(trials_of_block(block))
            row = rows[method]
            row[1] += trials
            row[2] += trials * cost.seconds / 3600
            row[3] = max(row[3], cost.megabytes)
    rows["all"] = [
        jobs,
        *(sum(row[column] for row in rows.values()) for column in (1, 2)),
        max(row[3] for row in rows.values()),
    ]
    lines = [f"{'method':14}{'jobs':>7}{'fits':>8}{'core-hours':>12}{'peak MB':>10}"]
    lines += [
        f"{name:14}{jobs:7.0f}{fits:8.0f}{hours:12.2f}{memory:10.0f}"
        for name, (jobs, fits, hours, memory) in rows.items()
    ]
    return "\n".join([*lines, "", FORECAST_NOTE])
