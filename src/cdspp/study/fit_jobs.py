"""The fits of a study: their cost, and the jobs that they share."""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import groupby, product
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core import names
from cdspp.core.errors import EXTRAS, install_hint
from cdspp.core.memory import memory_text
from cdspp.core.names import FitKey, PathLike
from cdspp.core.wording import DASH, aligned, duration, listed
from cdspp.datasets import FolderDataset, own_dataset
from cdspp.features import Extractor, extractor_class, make_extractor
from cdspp.methods import cost, method_class
from cdspp.methods.cost import Cost, Size
from cdspp.study.files import feature_file, input_patterns
from cdspp.study.model import Study, StudyDataset
from cdspp.study.time_left import wall_seconds

# Number of features if it depends on the data: bags of words, shares of energy.
UNKNOWN_WIDTH, UNKNOWN_COMPONENTS = 10_000, 500
WORDS_SHARE = 0.01  # share of all words that occur in one text
# Reserves for slower machines and inputs that converge later than those measured.
TIME_RESERVE, MEMORY_RESERVE = 3.0, 1.5
FEWEST_MINUTES, FEWEST_MB = 5, 1000
# Longest expected time of a job that methods share: starting a process takes a second,
# but a cluster should not wait for fits that could run in parallel.
SHARED_SECONDS = 40.0
# Jobs with a longer expected time gain nothing from waiting for each other.
UNGROUPED_SECONDS = 60.0
START_SECONDS = 1.5  # per job, for start-up, imports, reading and writing
MANY_JOBS, PLANNING = 10_000, (0.015, 0.14)  # seconds and MB to plan a job
CORES = (1, 2, 8, 32)  # numbers of cores with a forecast of the wall time
FORECAST_NOTE = (
    "Within a factor of about two, on a machine like the one that measured the cost "
    "model.\nQuick methods share jobs, which the last row counts once."
)


@dataclass(frozen=True)
class FitRule:
    """Fits that read the same files; one job makes those of a task and batch of trials.

    The fits, of `Study.fit_keys`, belong to one method, or to several quick ones; the
    name is that of their rule.
    """

    fits: tuple[FitKey, ...]
    tasks: tuple[str, ...]
    blocks: tuple[str, ...]
    name: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, each once."""
        return tuple(dict.fromkeys(fit.method for fit in self.fits))

    @property
    def needs_torch(self) -> bool:
        """True if one of the methods is a network."""
        return any(method_class(method).needs_torch for method in self.methods)


def missing_packages(
    study: Study, files: Iterable[PathLike] | None = None
) -> list[str]:
    """Return notes on packages to install, for all methods and views or for `files`.

    Paths contain the names of the methods and views that make them.
    """
    users: dict[str, list[str]] = defaultdict(list)
    for name in study.methods:
        cls = method_class(name)
        for package, needs in {"torch": cls.needs_torch, "ot": cls.needs_pot}.items():
            users[package] += [name] if needs else []
    for name, view in study.views.items():
        modules = extractor_class(view.extractor).modules
        for package in dict.fromkeys(m.partition(".")[0] for m in modules):
            users[package] += [name]
    if files is not None:
        parts = {part for file in files for part in re.split(r"[/.]", os.fspath(file))}
        users = {key: [n for n in rows if n in parts] for key, rows in users.items()}
    return [
        f"{install_hint(package, listed(rows))}."
        for package, rows in sorted(users.items())
        if rows and package in EXTRAS and find_spec(package) is None
    ]


def check_own_files(study: Study, files: Iterable[PathLike] | None = None) -> None:
    """Raise DataError if a view cannot use its files of the user.

    It reads those of all views, or of those that make some of the `files`.
    """
    made = None if files is None else {os.path.basename(file) for file in files}
    users = defaultdict[Extractor, dict[tuple[str, str], None]](dict)
    for dataset, domain, view in study.feature_names():
        name: str | None = view
        while name is not None:
            path = feature_file(study, dataset, domain, name)
            if made is None or os.path.basename(path) in made:
                users[_extractor(study, domain, name)][dataset, domain] = None
            name = study.views[name].view
    for extractor, domains in users.items():
        packages = (name.partition(".")[0] for name in extractor.modules)
        if extractor.own_files and all(map(find_spec, packages)):
            extractor.check_own_files(_files_of(study, domains))


def _files_of(
    study: Study, domains: Iterable[tuple[str, str]]
) -> Iterator[Sequence[Path]]:
    """Yield the files of each domain that is in a folder of the user."""
    for name, of in groupby(domains, itemgetter(0)):
        own = study.datasets[name].own or {}
        if "folder" in own:
            data = own_dataset(name, own)
            assert isinstance(data, FolderDataset)
            yield from (data.paths_of(domain) for _, domain in of)


def fit_jobs(study: Study) -> Iterator[list[FitKey]]:
    """Yield the fits of each job of a study; the first one names the job's log."""
    for group in fit_rules(study):
        for task, block in product(group.tasks, group.blocks):
            yield [key._replace(task=task, block=block) for key in group.fits]


def fit_rules(study: Study) -> Iterator[FitRule]:
    """Yield the groups of fits that share jobs; every fit is in exactly one."""
    rules = Counter[str]()
    for benchmark in study.benchmarks:
        for group in _unnamed_groups(study, benchmark):
            _, setting, _, name, _ = group.fits[0]
            if others := len(group.methods) - 1:
                name = f"{name}_and_{others}_more"
            if setting != names.MAIN:
                name = f"{name}_{setting}"
            rule = f"fit_{benchmark}_{name}".replace("-", "_")
            rules[rule] += 1
            # Distinguishes method `c` on benchmark `a-b` from `b-c` on `a`.
            suffix = f"__{rules[rule]}" if rules[rule] > 1 else ""
            yield replace(group, name=rule + suffix)


def _unnamed_groups(study: Study, benchmark: str) -> list[FitRule]:
    """Return fits of equal tasks, batches and inputs; quick methods share a group."""
    order = list(study.methods).index
    group_keys: dict[tuple[Any, ...], list[FitKey]] = defaultdict(list)
    for key in sorted(study.fit_keys(benchmark), key=lambda key: order(key.method)):
        if tasks := study.fit_tasks(benchmark, key.setting, key.method):
            blocks = study.blocks(study.setting_trials(key.setting, key.method))
            # Settings with own splits stay separate: one tests what another labels.
            group_keys[tasks, blocks, *input_patterns(study, key).items()].append(key)
    groups: list[FitRule] = []
    for (tasks, blocks, *_), keys in group_keys.items():
        first = len(groups)
        for _, keys_of_method in groupby(keys, key=attrgetter("method")):
            new = FitRule(tuple(keys_of_method), tasks, blocks)
            # A method joins the first group with space, so that no other method moves.
            for place, group in enumerate(groups[first:], start=first):
                union = replace(group, fits=(*group.fits, *new.fits))
                if is_quick(study, union):
                    groups[place] = union
                    break
            else:
                groups.append(new)
    # A method added at the end opens the last groups, and renumbers none.
    return sorted(groups, key=lambda group: order(group.methods[0]))


def is_quick(study: Study, group: FitRule) -> bool:
    """Return whether methods may share jobs; torch needs memory of its own."""
    return not group.needs_torch and longest_seconds(study, group) <= SHARED_SECONDS


def job_cost(study: Study, group: FitRule, task: str, block: str) -> Cost:
    """Return the expected cost of a job's fits on a batch, in whole seconds."""
    keys = [key._replace(task=task, block=block) for key in group.fits]
    costs = [(len(study.fit_trials(key)), cell_cost(study, key)) for key in keys]
    seconds = round(sum(n_trials * each.seconds for n_trials, each in costs))
    return Cost(seconds, max(each.megabytes for _, each in costs))


def longest_seconds(study: Study, group: FitRule) -> int:
    """Return the expected seconds of a group's longest job."""
    first = group.blocks[0]  # no other has more trials
    return int(max(job_cost(study, group, t, first).seconds for t in group.tasks))


def runs_ungrouped(study: Study, group: FitRule) -> bool:
    """Return whether jobs run ungrouped on a cluster: long ones and networks."""
    return group.needs_torch or longest_seconds(study, group) > UNGROUPED_SECONDS


def fit_request(
    study: Study, group: FitRule, task: str, block: str, attempt: int = 1
) -> Request:
    """Return the request of a job of a group."""
    gpus = study.gpus if group.needs_torch else 0
    return job_request(job_cost(study, group, task, block), gpus, attempt)


def expected_seconds(
    study: Study,
    jobs: Iterable[tuple[int, str, Mapping[str, str]]],
    copying: Collection[FitKey] = (),
) -> dict[int, float]:
    """Return the expected seconds of each job of a run.

    A job has a number, the name of its rule, and wildcards. Jobs whose first fits are
    among `copying` fit nothing.
    """
    groups = {group.name: group for group in fit_rules(study)}
    seconds_of_jobs = {}
    for number, rule, wildcards in jobs:
        seconds = START_SECONDS
        if rule in groups:
            group, task, block = groups[rule], wildcards["task"], wildcards["block"]
            if group.fits[0]._replace(task=task, block=block) not in copying:
                seconds += job_cost(study, group, task, block).seconds
        seconds_of_jobs[number] = seconds
    return seconds_of_jobs


class Forecast(NamedTuple):
    """The jobs, trials and cost of the fits of one method, or of all."""

    method: str
    jobs: int
    trials: int
    core_hours: float
    peak_mb: float


def forecast(study: Study) -> tuple[list[Forecast], Forecast]:
    """Return the forecasts of the methods of a study, and of all fits."""
    jobs, trials, n_jobs = Counter[str](), Counter[str](), 0
    hours, memory = defaultdict[str, float](float), defaultdict[str, float](float)
    for group in fit_rules(study):
        n_group_jobs = len(group.tasks) * len(group.blocks)
        n_jobs += n_group_jobs  # methods share some of them
        jobs.update(dict.fromkeys(group.methods, n_group_jobs))
    for benchmark in study.benchmarks:
        for key in study.fits(benchmark):
            expected, name = cell_cost(study, key), key.method
            n_trials = len(study.fit_trials(key))
            trials[name] += n_trials
            hours[name] += n_trials * expected.seconds / 3600
            memory[name] = max(memory[name], expected.megabytes)
    methods = [
        Forecast(name, jobs[name], trials[name], hours[name], memory[name])
        for name in study.methods
    ]
    peak = max(memory.values())
    return methods, Forecast("all", n_jobs, trials.total(), sum(hours.values()), peak)


def wall_times(study: Study) -> dict[int, float]:
    """Return the expected seconds of all fit jobs, by the number of cores."""
    jobs = [
        START_SECONDS + job_cost(study, group, task, block).seconds
        for group in fit_rules(study)
        for task, block in product(group.tasks, group.blocks)
    ]
    return {cores: wall_seconds(jobs, cores) for cores in CORES}


def forecast_text(forecasts: Iterable[Forecast], walls: Mapping[int, float]) -> str:
    """Return a table of the forecasts of methods, and of all fits.

    `walls` has the seconds of all fit jobs by the number of cores; numbers of cores
    that save no time are left out.
    """
    grid, jobs = [["method", "jobs", "fits", "processor time", "memory"]], 0
    for method, jobs, trials, hours, memory in forecasts:
        time = duration(3600 * hours) if 3600 * hours >= 0.5 else "< 1 s"
        needs = [time, memory_text(memory)] if trials else [DASH, DASH]
        grid.append([method, str(jobs), str(trials), *needs])
    fewest = {duration(walls[n]): n for n in sorted(walls, reverse=True)}
    times = ", ".join(f"{time} on {n}" for time, n in reversed(fewest.items()))
    wall = f"Wall time of all fits, by the number of cores: {times}."
    notes = [wall, FORECAST_NOTE, planning_note(jobs)]
    return "\n".join([*aligned(grid), "", *filter(None, notes)])


def planning_note(jobs: int) -> str:
    """Return what Snakemake needs to plan many jobs; empty if they are few."""
    if jobs < MANY_JOBS:
        return ""
    seconds, memory = duration(PLANNING[0] * jobs), memory_text(PLANNING[1] * jobs)
    return (
        f"Snakemake will plan {jobs} fit jobs for about {seconds}, in {memory}, before "
        "the first\none starts. A larger block_size makes fewer jobs of more trials."
    )


class Request(NamedTuple):
    """Resources of a job for a scheduler: memory (MB), wall time (minutes) and GPUs."""

    megabytes: int
    minutes: int
    gpus: int = 0


def job_request(expected: Cost, gpus: int, attempt: int) -> Request:
    """Return a request with a reserve, which grows with later attempts."""
    memory = max(math.ceil(MEMORY_RESERVE * expected.megabytes / 100) * 100, FEWEST_MB)
    minutes = FEWEST_MINUTES + math.ceil(TIME_RESERVE * expected.seconds / 60)
    return Request(attempt * memory, attempt * minutes, gpus)


def problem_size(study: Study, key: FitKey) -> Size:
    """Return the size of a fit's problem, from configuration and catalogue."""
    benchmark, setting, task, method, _ = key
    sources, target = names.task_domains(task)
    views = study.views_of(benchmark, setting, method)
    data = study.datasets[study.benchmarks[benchmark].dataset]
    per_source, _ = study.split_counts(benchmark, setting, "source")
    per_target, n_unlabelled = study.split_counts(benchmark, setting, "target")
    sizes = data.class_sizes[target].values()
    n_labelled = sum(min(n, per_target) for n in sizes)
    n_rest = sum(min(n - min(n, per_target), n_unlabelled or n) for n in sizes)
    d_target = _width(study, data, target, views["target"])
    state, source_sizes = study.settings[setting].source, []
    for source in sources:
        name = state["name"] if state.get("domain", source) == source else names.REAL
        rows = sum(min(n, per_source) for n in data.class_sizes[source].values())
        width = _width(study, data, source, views["source"])
        if name != names.NO_SOURCE:
            source_sizes.append(
                (rows, d_target if name == names.SIZE_MATCHED else width)
            )
    # Without a source, the labelled target rows take its place.
    n_rows, widths = zip(*(source_sizes or [(n_labelled, d_target)]), strict=True)
    sides = [(target, views["target"]), *((s, views["source"]) for s in sources)]
    return Size(
        name=f"{benchmark}, {task}",
        n_classes=len(sizes),
        n_source=sum(n_rows),
        d_source=max(widths),
        n_labelled=n_labelled,
        n_unlabelled=n_rest + data.unlabelled.get(target, 0),
        d_target=d_target,
        density=max(_density(study, *side) for side in sides),
    )


def cell_cost(study: Study, key: FitKey) -> Cost:
    """Return the expected cost of a trial with its options, and of their selection."""
    key = key._replace(block="")  # Rules request it repeatedly.
    cache: dict[FitKey, Cost] = study.costs
    if key in cache:
        return cache[key]
    options = study.method_options(key.method, key.setting)
    fit = cost.fit_cost(method_class(key.method), problem_size(study, key), options)
    grid = study.grid(key.method, key.setting)
    n_fits = 1
    if grid:
        # Imported here: it imports scikit-learn, which reports on a study do not need.
        from cdspp.stages.fit import FOLDS, grid_options

        n_fits += FOLDS * len(grid_options(grid))
    cache[key] = fit._replace(seconds=n_fits * fit.seconds)
    return cache[key]


def view_request(
    study: Study, dataset: str, domain: str, view: str, attempt: int = 1
) -> Request:
    """Return the request for extracting a view, or for learning its codebook."""
    extractor, data = _extractor(study, domain, view), study.datasets[dataset]
    n_rows = sum(data.class_sizes[domain].values()) + data.unlabelled.get(domain, 0)
    n_rows += data.paired
    # Unknown widths are bags of words: of some thousand words, a row has few.
    width = extractor.width() or UNKNOWN_COMPONENTS
    if data.spec(study.views[view], domain) is not None:
        width = _width(study, data, domain, view)
    if (base_view := study.views[view].view) is not None:
        width = max(width, _width(study, data, domain, base_view))
    start = cost.START_UP_MB + (cost.TORCH_MB if extractor.needs_torch else 0.0)
    values = cost.COPIES * 8 * n_rows * width / cost.MIB
    megabytes = start + extractor.megabytes + values
    gpus = study.gpus if extractor.needs_torch else 0
    expected = Cost(extractor.seconds(n_rows, width), megabytes)
    return job_request(expected, gpus, attempt)


def _extractor(study: Study, domain: str, view: str) -> Extractor:
    chosen = study.views[view]
    return make_extractor(chosen.extractor, **chosen.domain_options(domain))


def _density(study: Study, domain: str, name: str) -> float:
    texts = _extractor(study, domain, name).kind == "texts"
    return WORDS_SHARE if texts and study.views[name].scale != names.PCA else 1.0


def _width(study: Study, data: StudyDataset, domain: str, name: str) -> int:
    view, extractor = study.views[name], _extractor(study, domain, name)
    if (spec := data.spec(view, domain)) is not None:
        width = int(spec["width"])
    elif view.view is not None and extractor.keeps_width:
        width = _width(study, data, domain, view.view)
    else:
        unknown = UNKNOWN_WIDTH if view.view is None else UNKNOWN_COMPONENTS
        width = extractor.width() or unknown
    return min(width, names.MAX_COMPONENTS) if view.scale == names.PCA else width
