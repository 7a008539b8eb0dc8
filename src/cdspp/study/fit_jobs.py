"""The fits of a study: their recipes, those that share a job, and the cost of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, groupby, product
from operator import attrgetter
from typing import Any, NamedTuple

from cdspp.core.names import MAIN, FitKey, trials_of_block
from cdspp.core.provenance import code_digest
from cdspp.methods import external_identity, method_class, method_module
from cdspp.methods.cost import Cost
from cdspp.stages.artifacts import ExpectedFits, fit_recipe
from cdspp.study.cost import Request, cell_cost, job_request
from cdspp.study.files import FIT_LOG, input_patterns
from cdspp.study.model import Study

# Methods share a job as long as its fits are expected to take no more: starting a
# process takes a second, and a cluster is not to wait for what could run side by side.
SHARED_SECONDS = 40.0
# Jobs that are expected to take longer gain nothing from waiting for each other.
ALONE_SECONDS = 60.0
FORECAST_NOTE = (
    "Fits alone, on one thread of a machine like the one the cost model was measured "
    "on,\nwithin a factor of about two. Quick methods share jobs, which `cdspp run ... "
    "-- -n`\nlists."
)


def fit_fields(study: Study, key: FitKey) -> dict[str, Any]:
    """Return the fields of `cdspp.stages.fit.Fit`, but for its file."""
    benchmark, setting, _, method, _ = key
    code = code_digest("cdspp.stages.fit", method_module(method))
    return {
        "method": method,
        "code": code + external_identity(method),
        "options": study.method_options(method, setting),
        "source": study.settings[setting].source,
        "overlap": study.overlap(benchmark, setting),
        "grid": study.grid(method, setting),
        "bridge": study.bridge(benchmark, setting, method),
    }


def expected_fits(study: Study, benchmark: str) -> ExpectedFits:
    """Return recipes and inputs that the fits of a benchmark must have."""
    recipes: dict[str, tuple[str, int]] = {}
    inputs: list[dict[str, str]] = []
    for key in study.fit_keys(benchmark):
        read = input_patterns(study, key)
        if read not in inputs:
            inputs.append(read)
        fields = fit_fields(study, key)
        made_of = fit_recipe(study.seed, study.numeric_threads, fields)
        recipes[f"{key.setting}/{key.method}"] = made_of, inputs.index(read)
    return ExpectedFits(recipes, inputs)


@dataclass(frozen=True)
class FitGroup:
    """Fits that read the same files: a job makes those of a task and block.

    The members, of `Study.fit_keys`, are of one method, or of several quick ones; the
    name is that of their rule.
    """

    members: tuple[FitKey, ...]
    tasks: tuple[str, ...]
    blocks: tuple[str, ...]
    name: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """Its methods, each once."""
        return tuple(dict.fromkeys(member.method for member in self.members))

    @property
    def needs_torch(self) -> bool:
        """True where one of its methods is a network."""
        return any(method_class(method).needs_torch for method in self.methods)


class FitJob(NamedTuple):
    """A job of fits: its log, and the fits that it makes."""

    log: str
    fits: tuple[FitKey, ...]


def fit_jobs(study: Study) -> Iterator[FitJob]:
    """Yield the jobs that make the fits of a study; the first fit names the log."""
    for group in fit_groups(study):
        for task, block in product(group.tasks, group.blocks):
            place = {"task": task, "block": block}
            fits = tuple(key._replace(**place) for key in group.members)
            yield FitJob(FIT_LOG.format(study=study.name, **fits[0]._asdict()), fits)


def fit_groups(study: Study) -> Iterator[FitGroup]:
    """Yield the groups of fits that share jobs; every fit is in one of them."""
    order = list(study.methods)
    for benchmark in study.benchmarks:
        groups: list[FitGroup] = []
        for (tasks, blocks, *_), keys in _reading_alike(study, benchmark).items():
            shared: list[FitGroup] = []
            for _, own in groupby(keys, key=attrgetter("method")):
                _place(study, shared, FitGroup(tuple(own), tasks, blocks))
            groups += shared
        # A method that is added at the end opens the last groups, and renumbers none.
        groups.sort(key=lambda group: order.index(group.methods[0]))
        numbers = count(1)
        for group in groups:
            name = f"quick_{next(numbers)}" if is_quick(study, group) else _name(group)
            rule = f"fit_{benchmark}_{name}".replace("-", "_")
            yield replace(group, name=rule)


def _name(group: FitGroup) -> str:
    """Return the method of a group, and the setting where that is not the main one."""
    _, setting, _, method, _ = group.members[0]
    return method if setting == MAIN else f"{method}_{setting}"


def _reading_alike(study: Study, benchmark: str) -> dict[tuple[Any, ...], list[FitKey]]:
    """Return fits, method by method, by their tasks, blocks and inputs."""
    order = list(study.methods)
    found: dict[tuple[Any, ...], list[FitKey]] = defaultdict(list)
    for key in sorted(study.fit_keys(benchmark), key=lambda k: order.index(k.method)):
        if tasks := study.fit_tasks(benchmark, key.setting, key.method):
            blocks = study.blocks(study.setting_trials(key.setting, key.method))
            # Settings with own splits stay apart: one tests what another labels.
            found[tasks, blocks, *input_patterns(study, key).items()].append(key)
    return found


def _place(study: Study, groups: list[FitGroup], new: FitGroup) -> None:
    """Add the group of a method to the first with room, so that none moves for it."""
    for i, group in enumerate(groups):
        both = replace(group, members=(*group.members, *new.members))
        if is_quick(study, both):
            groups[i] = both
            return
    groups.append(new)


def is_quick(study: Study, group: FitGroup) -> bool:
    """Return whether methods may share jobs; torch takes memory of its own."""
    return not group.needs_torch and longest_seconds(study, group) <= SHARED_SECONDS


def job_cost(study: Study, group: FitGroup, task: str, trials: int) -> Cost:
    """Return the expected cost of a job's fits on so many trials, in whole seconds."""
    costs = [cell_cost(study, key._replace(task=task)) for key in group.members]
    seconds = round(trials * sum(cost.seconds for cost in costs))
    return Cost(seconds, max(cost.megabytes for cost in costs))


def longest_seconds(study: Study, group: FitGroup) -> int:
    """Return the seconds that the longest job of a group is expected to take."""
    trials = max(len(trials_of_block(block)) for block in group.blocks)
    return int(max(job_cost(study, group, t, trials).seconds for t in group.tasks))


def travels_alone(study: Study, group: FitGroup) -> bool:
    """Return whether jobs run ungrouped on a cluster: long ones and networks."""
    return group.needs_torch or longest_seconds(study, group) > ALONE_SECONDS


def fit_request(
    study: Study, group: FitGroup, task: str, trials: int, attempt: int = 1
) -> Request:
    """Return the request of a job of a group, on a block of so many trials."""
    gpus = study.gpus if group.needs_torch else 0
    return job_request(job_cost(study, group, task, trials), gpus, attempt)


def forecast_text(study: Study) -> str:
    """Return the jobs, fits, core-hours and memory of a study by method, as a table."""
    rows: dict[str, list[float]] = {name: [0, 0, 0.0, 0.0] for name in study.methods}
    jobs = 0
    for group in fit_groups(study):
        n_jobs = len(group.tasks) * len(group.blocks)
        jobs += n_jobs
        for method in group.methods:
            rows[method][0] += n_jobs
    for benchmark in study.benchmarks:
        for key in study.fits(benchmark):
            cost, row = cell_cost(study, key), rows[key.method]
            trials = len(trials_of_block(key.block))
            row[1] += trials
            row[2] += trials * cost.seconds / 3600
            row[3] = max(row[3], cost.megabytes)
    _, fits, hours, memory = zip(*rows.values(), strict=True)
    rows["all"] = [jobs, sum(fits), sum(hours), max(memory)]
    width = max(14, *map(len, rows))
    head = f"{'method':{width}}{'jobs':>7}{'fits':>8}{'core-hours':>12}{'peak MB':>10}"
    lines = [
        f"{name:{width}}{row[0]:7.0f}{row[1]:8.0f}{row[2]:12.2f}{row[3]:10.0f}"
        for name, row in rows.items()
    ]
    return "\n".join([head, *lines, "", FORECAST_NOTE])
