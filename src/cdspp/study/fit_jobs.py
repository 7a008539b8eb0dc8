"""The fits of a study: what each is made of, which ones share a job, what all cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from cdspp.core.names import FitKey, trials_of_block
from cdspp.core.provenance import code_digest
from cdspp.methods import method_class, method_module
from cdspp.stages.fit_files import Expected, fit_recipe
from cdspp.study.cost import Cost, cell_cost
from cdspp.study.files import FIT_LOG, input_patterns
from cdspp.study.model import Study

__all__ = [
    "FitGroup",
    "FitJob",
    "Member",
    "expected_fits",
    "fit_groups",
    "fit_jobs",
    "fit_member",
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


def fit_member(
    study: Study, benchmark: str, method: str, setting: str
) -> dict[str, Any]:
    """Return what sets a fit apart: the fields of `cdspp.stages.fit.Fit` but files."""
    return {
        "method": method,
        "code": code_digest("cdspp.stages.fit", method_module(method)),
        "options": study.method_options(method, setting),
        "source": study.settings[setting].source,
        "overlap": study.overlap(benchmark, setting),
        "grid": study.grid(method, setting),
        "bridge": study.bridge(benchmark, setting, method),
    }


def expected_fits(study: Study, benchmark: str) -> Expected:
    """Return what the fits of a benchmark have to be made of."""
    recipes: dict[str, tuple[str, int]] = {}
    inputs: list[dict[str, str]] = []
    for setting in study.settings:
        for method in study.setting_methods(benchmark, setting):
            read = input_patterns(study, benchmark, setting, method)
            if read not in inputs:
                inputs.append(read)
            member = fit_member(study, benchmark, method, setting)
            made_of = fit_recipe(study.seed, study.numeric_threads, member)
            recipes[f"{setting}/{method}"] = made_of, inputs.index(read)
    return Expected(recipes, inputs)


class Member(NamedTuple):
    """A method in a setting, as a part of a group of fits."""

    method: str
    setting: str


@dataclass(frozen=True)
class FitGroup:
    """Fits that one job makes: they read the same files.

    A job is one task for one block, in all members of the group, one after the other: a
    method in all its settings, or several methods that are quick.
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


class FitJob(NamedTuple):
    """A job of fits: its log, and what it makes."""

    log: str
    fits: tuple[FitKey, ...]


def fit_jobs(study: Study) -> Iterator[FitJob]:
    """Yield the jobs that make the fits of a study; the first fit names the log."""
    for group in fit_groups(study):
        for task, block in product(group.tasks, group.blocks):
            fits = tuple(
                FitKey(group.benchmark, member.setting, task, member.method, block)
                for member in group.members
            )
            yield FitJob(FIT_LOG.format(study=study.name, **fits[0]._asdict()), fits)


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


def _reading_alike(study: Study, benchmark: str) -> dict[tuple[Any, ...], list[Member]]:
    """Return the members of a benchmark by tasks, blocks and what they read.

    Settings with splits of their own stay apart: what one of them may know as
    labelled, another one tests.
    """
    found: dict[tuple[Any, ...], list[Member]] = defaultdict(list)
    for method, setting in product(study.methods, study.settings):
        ran = method in study.setting_methods(benchmark, setting)
        if ran and (tasks := study.fit_tasks(benchmark, setting, method)):
            blocks = study.blocks(study.setting_trials(setting, method))
            read = input_patterns(study, benchmark, setting, method).items()
            found[tasks, blocks, *read].append(Member(method, setting))
    return found


def _place(study: Study, groups: list[FitGroup], alone: FitGroup) -> None:
    """Add the group of one method to the first one with room, or as it is.

    Torch takes memory that other methods do not need.
    """
    for i, group in enumerate(groups):
        both = replace(group, members=(*group.members, *alone.members))
        if not both.needs_torch and longest_seconds(study, both) <= SHARED_SECONDS:
            groups[i] = both
            return
    groups.append(alone)


def group_costs(study: Study, group: FitGroup, task: str) -> list[Cost]:
    """Return what a trial of each member of a group is expected to cost on a task."""
    return [
        cell_cost(study, group.benchmark, member.setting, task, member.method)
        for member in group.members
    ]


def job_seconds(study: Study, group: FitGroup, task: str, trials: int) -> int:
    """Return the whole seconds that a job's fits are expected to take."""
    return round(trials * sum(cost.seconds for cost in group_costs(study, group, task)))


def longest_seconds(study: Study, group: FitGroup) -> int:
    """Return the seconds that the longest job of a group is expected to take."""
    trials = group.most_trials
    return max(job_seconds(study, group, task, trials) for task in group.tasks)


def forecast_text(study: Study) -> str:
    """Say what a study will fit, method by method; nothing of it need exist.

    That is, its jobs, fits, core-hours and memory.
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
    _, fits, hours, memory = zip(*rows.values(), strict=True)
    rows["all"] = [jobs, sum(fits), sum(hours), max(memory)]
    lines = [f"{'method':14}{'jobs':>7}{'fits':>8}{'core-hours':>12}{'peak MB':>10}"]
    lines += [
        f"{name:14}{n_jobs:7.0f}{n_fits:8.0f}{hours:12.2f}{memory:10.0f}"
        for name, (n_jobs, n_fits, hours, memory) in rows.items()
    ]
    return "\n".join([*lines, "", FORECAST_NOTE])
