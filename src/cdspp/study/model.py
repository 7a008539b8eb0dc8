"""The model of a study for the workflow: benchmarks, methods, settings, and fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from typing import Any, TypeVar

from cdspp.core.files import content_digest
from cdspp.core.names import (
    MAIN,
    NO_SCALE,
    REAL,
    FitKey,
    role_domains,
    task_domains,
    trials_of_block,
)
from cdspp.datasets import dataset_recipe
from cdspp.datasets.base import digests_path
from cdspp.datasets.catalogue import published_spec
from cdspp.features import own_digests
from cdspp.methods import option_defaults

Config = Mapping[str, Any]
Made = TypeVar("Made", "View", "Benchmark", "Method", "Setting")

# How labelled samples are drawn; `PUBLISHED` is also the extractor of ready-made views.
SEEDED, PUBLISHED = "seeded", "published"
# The numbers per class on which the split of a role depends.
COUNTS = {"source": {"source"}, "target": {"target", "unlabelled"}}


def _data_name(data: StudyDataset) -> str:
    if data.own is None:
        return data.identifier
    memory = digests_path("data", data.identifier)
    content = dataset_recipe(data.identifier, data.own, data.entry, memory)
    parts = [content[key] for key in ("own", "fingerprint", "versions")]
    return f"{data.identifier}-{content_digest(parts)[:8]}"


def from_fields(kind: type[Made], entry: Mapping[str, Any], **values: Any) -> Made:
    """Return an object of the kind that an entry describes, with some fields given."""
    names = {each.name for each in fields(kind)}
    entries = {key: value for key, value in entry.items() if key in names}
    if "options" in names:  # their order in the file must not matter
        entries["options"] = dict(sorted(entry.get("options", {}).items()))
    return kind(**{"identifier": entry["id"], **entries, **values})


@dataclass(frozen=True)
class StudyDataset:
    """A data set as a study knows it before its files exist.

    `own` locates the user's own files, as in `cdspp.datasets.own_dataset`, `entry` is
    that of the catalogue; `paired` samples are in every domain, as pairs; `features`
    has the names of columns by domain, if tables have them, `undecided` counts
    their labels -1, which a source may not have, and `facts` explain their classes.
    """

    identifier: str
    kind: str
    class_sizes: Mapping[str, Mapping[str, int]]
    own: Mapping[str, Any] | None = None
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    entry: Mapping[str, Any] = field(default_factory=dict)
    paired: int = 0
    features: Mapping[str, Sequence[str]] = field(default_factory=dict)
    undecided: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)

    def resource(self, view: View, domain: str | None) -> str | None:
        """Return the download that a view of files needs, None if it needs none."""
        if "resources" not in self.entry:
            return None
        if view.extractor != PUBLISHED or domain is None:
            return self.kind
        spec = self.spec(view, domain)
        return None if spec is None else str(spec["resource"])

    def spec(self, view: View, domain: str) -> dict[str, Any] | None:
        """Return the specification of published features, None for other views."""
        if view.extractor != PUBLISHED:
            return None
        return published_spec(self.entry, view.options["name"], domain)


@dataclass(frozen=True)
class View:
    """A feature of a domain; `view` is the view on which it is based."""

    identifier: str
    extractor: str
    options: Mapping[str, Any]
    view: str | None = None
    scale: str = NO_SCALE

    def domain_options(self, domain: str | None) -> dict[str, Any]:
        """Return the options for a domain, with values given by domain resolved."""
        return {
            name: value[domain] if isinstance(value, Mapping) else value
            for name, value in self.options.items()
        }


@dataclass(frozen=True)
class Benchmark:
    """A source view, a target view and the tasks between the domains of a data set.

    In addition to labels, the domains share information (`bridge`): `shared_columns`,
    `paired_rows`, and the `view` of both sides for methods that use one of them.
    """

    identifier: str
    title: str
    dataset: str
    source_view: str
    target_view: str
    tasks: tuple[str, ...]
    labels: Mapping[str, int]
    showcase: str
    summary: str = ""
    protocol: str = SEEDED
    overlap: str = "exclude"
    bridge: Mapping[str, Any] = field(default_factory=dict)

    @property
    def views(self) -> dict[str, str]:
        """The view by role."""
        return {"source": self.source_view, "target": self.target_view}


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    A `shortened` method runs fewer iterations than its authors use. `tasks` and own
    source features are by benchmark. Its option `prior` may come from a `prior_file`
    ("test-shares"). It also runs under controls (`states` of the source), selects from
    the values in `grid` inside each trial, and uses the parts `bridges` of the shared
    information. Its fit without a source may be a row of its own
    (`row_without_source`). `predictions` names a file of external predictions.
    """

    identifier: str
    options: Mapping[str, Any]
    trials: int
    tasks: Mapping[str, tuple[str, ...]]
    shortened: bool = False
    source_views: Mapping[str, str] = field(default_factory=dict)
    prior_file: str | None = None
    states: tuple[str, ...] = ()
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    predictions: str = ""
    bridges: tuple[str, ...] = ()
    row_without_source: bool = False


@dataclass(frozen=True)
class Setting:
    """Everything in which a run differs from the main one; None or empty if equal.

    `source` is as in `SourceState`. Its methods run `without` 'source_view' or
    'prior_file', although they have it in the main run; if it `selects`, they select
    from their grids. `leaves_out` is the one of several sources that every method
    omits, `plugin` the plug-in of the report that adds and shows it.
    """

    identifier: str
    methods: tuple[str, ...]
    tasks: Mapping[str, tuple[str, ...]]
    source: Mapping[str, Any] = field(default_factory=lambda: {"name": REAL})
    options: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    bridge: Mapping[str, Any] = field(default_factory=dict)
    overlap: str | None = None
    protocol: str | None = None
    trials: int | None = None
    without: tuple[str, ...] = ()
    selects: bool = False
    of_curve: bool = False
    leaves_out: str = ""
    plugin: str = ""


@dataclass(frozen=True)
class CurveValue:
    """One value along a curve: the setting that runs it, and its tasks."""

    value: float
    setting: str
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Curve:
    """A curve on a benchmark: its values replace the main one in turn.

    The parameter is ``labels`` (labelled target samples per class), ``paired_rows``
    (their number, with no shared column) or an option of the methods. Values and tasks
    that would leave a class without a test sample are `dropped`.
    """

    identifier: str
    benchmark: str
    parameter: str
    methods: tuple[str, ...]
    states: Mapping[str, tuple[str, ...]]  # by method
    tasks: tuple[str, ...]
    values: tuple[CurveValue, ...]
    dropped: tuple[tuple[float, str], ...]
    n_trials: int


@dataclass(frozen=True)
class RunDescription:
    """The report's part on a run: its configuration, its data, and how to repeat it."""

    name: str
    config: Mapping[str, Any]
    data: tuple[Mapping[str, Any], ...] = ()
    commands: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A validated configuration, made by `cdspp.study.config.load_study`."""

    name: str
    seed: int
    trials: int
    block_size: int
    numeric_threads: int
    datasets: Mapping[str, StudyDataset]
    views: Mapping[str, View]
    benchmarks: Mapping[str, Benchmark]
    methods: Mapping[str, Method]
    settings: Mapping[str, Setting]
    curves: tuple[Curve, ...] = ()
    states: tuple[str, ...] = ()
    margin: float = 1.0
    holm_over_methods: bool = True
    reference: str = ""  # the method of each role, empty if none
    baseline: str = ""
    gpus: int = 0
    partial: bool = False
    figure_style: str = "two-columns"  # of `cdspp.report.styles`
    # Plans of plug-ins, by benchmark and name.
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # for the user: omitted files and sections
    config: Mapping[str, Any] = field(default_factory=dict)  # as given

    @cached_property
    def costs(self) -> dict[FitKey, Any]:
        """The costs of trials that `cdspp.study.fit_jobs.cell_cost` has computed."""
        return {}

    def blocks(self, trials: int) -> tuple[str, ...]:
        """Return the names of the batches that hold the first `trials` trials.

        They do not depend on the number of trials, so that files remain in their place.
        """
        size = self.block_size
        starts = range(1, trials + 1, size)
        return tuple(f"{first}-{first + size - 1}" for first in starts)

    def fit_keys(self, benchmark: str) -> Iterator[FitKey]:
        """Yield each method in each setting, for any ``{task}`` and ``{block}``."""
        for setting in self.settings:
            for method in self.setting_methods(benchmark, setting):
                yield FitKey(benchmark, setting, "{task}", method, "{block}")

    def fits(self, benchmark: str) -> Iterator[FitKey]:
        """Yield every fit that the configuration names for a benchmark."""
        for key in self.fit_keys(benchmark):
            tasks = self.fit_tasks(benchmark, key.setting, key.method)
            blocks = self.blocks(self.setting_trials(key.setting, key.method))
            for task, block in product(tasks, blocks):
                yield key._replace(task=task, block=block)

    def unlabelled_fits(self, benchmark: str) -> Iterator[FitKey]:
        """Yield the fits of the main run whose target has unlabelled rows."""
        domains = self.datasets[self.benchmarks[benchmark].dataset].unlabelled
        for key in self.fits(benchmark):
            if key.setting == MAIN and task_domains(key.task).target in domains:
                yield key

    def fit_tasks(self, benchmark: str, setting: str, method: str) -> tuple[str, ...]:
        """Return the tasks of a benchmark that a method runs in a setting."""
        tasks = self.methods[method].tasks[benchmark]
        return tuple(t for t in self.setting_tasks(benchmark, setting) if t in tasks)

    def setting_tasks(self, benchmark: str, setting: str) -> tuple[str, ...]:
        """Return the tasks of a benchmark that a setting runs."""
        return self.settings[setting].tasks.get(benchmark, ())

    def setting_trials(self, setting: str, method: str) -> int:
        """Return the number of trials of a method in a setting."""
        trials = self.methods[method].trials
        return min(trials, self.settings[setting].trials or trials)

    def fit_trials(self, key: FitKey) -> range:
        """Return the trials of a batch that a fit needs."""
        in_block = trials_of_block(key.block)
        n_trials = self.setting_trials(key.setting, key.method)
        return range(in_block.start, min(in_block.stop, n_trials + 1))

    def setting_methods(self, benchmark: str, setting: str) -> tuple[str, ...]:
        """Return the methods that a setting runs on a benchmark."""
        methods = self.settings[setting].methods
        return tuple(name for name in methods if benchmark in self.methods[name].tasks)

    def split_setting(self, setting: str, role: str) -> str:
        """Return the setting whose splits a setting uses for a role: itself or main."""
        return setting if COUNTS[role] & {*self.settings[setting].labels} else MAIN

    def split_counts(
        self, benchmark: str, setting: str, role: str
    ) -> tuple[int, int | None]:
        """Return samples per class of a role: labelled, and unlabelled (None: all)."""
        counts = {**self.benchmarks[benchmark].labels, **self.settings[setting].labels}
        unlabelled = counts.get("unlabelled") if role == "target" else None
        return counts[role], unlabelled

    def draw(
        self, benchmark: str, setting: str, role: str, domain: str
    ) -> dict[str, Any]:
        """Return how the labelled samples of a domain are drawn."""
        labelled, unlabelled = self.split_counts(benchmark, setting, role)
        entry = self.benchmarks[benchmark]
        sizes = self.datasets[entry.dataset].class_sizes[domain]
        return {
            "protocol": self.settings[setting].protocol or entry.protocol,
            "per_class": labelled,
            "unlabelled": unlabelled,
            "classes": list(sizes),
            "seed": self.seed,
        }

    def overlap(self, benchmark: str, setting: str) -> str:
        """Return the treatment of test samples that are labelled source samples."""
        return self.settings[setting].overlap or self.benchmarks[benchmark].overlap

    def method_options(self, method: str, setting: str) -> dict[str, Any]:
        """Return the options of a method in a setting."""
        options = {**self.methods[method].options, **self.settings[setting].options}
        return dict(sorted(options.items()))

    def grid(self, method: str, setting: str) -> dict[str, tuple[Any, ...]]:
        """Return the values from which a method selects in a setting, if any."""
        return dict(self.methods[method].grid) if self.settings[setting].selects else {}

    def bridge(self, benchmark: str, setting: str, method: str) -> dict[str, Any]:
        """Return the shared information that a method uses in a setting, by kind."""
        parts = {**self.benchmarks[benchmark].bridge, **self.settings[setting].bridge}
        kinds = self.methods[method].bridges
        return {kind: parts[kind] for kind in kinds if parts.get(kind)}

    def views_of(self, benchmark: str, setting: str, method: str) -> dict[str, str]:
        """Return the view by role that a method reads in a setting."""
        entry = self.benchmarks[benchmark]
        if "view" in entry.bridge and self.bridge(benchmark, setting, method):
            return dict.fromkeys(COUNTS, entry.bridge["view"])
        views = self.methods[method].source_views
        if benchmark in views and "source_view" not in self.settings[setting].without:
            return {**entry.views, "source": views[benchmark]}
        return entry.views

    def prior_file(self, setting: str, method: str) -> str | None:
        """Return the kind of file from which a method's prior comes, or None."""
        is_omitted = "prior_file" in self.settings[setting].without
        return None if is_omitted else self.methods[method].prior_file

    def roles(self, benchmark: str) -> dict[str, tuple[str, ...]]:
        """Return the domains that serve as source and as target, each once."""
        return role_domains(self.benchmarks[benchmark].tasks)

    def feature_names(self) -> tuple[tuple[str, str, str], ...]:
        """Return data set, domain and view of all features that fits read."""
        names: dict[tuple[str, str, str], None] = {}
        for name, entry in self.benchmarks.items():
            ran = {(key.setting, key.method) for key in self.fits(name)}
            read = [entry.views, *(self.views_of(name, *pair) for pair in sorted(ran))]
            for role, domains in self.roles(name).items():
                views = dict.fromkeys(views_of_fit[role] for views_of_fit in read)
                for domain, view in product(domains, views):
                    names[entry.dataset, domain, view] = None
        return tuple(names)

    @property
    def used_datasets(self) -> tuple[str, ...]:
        """The data sets of the benchmarks, each once."""
        return tuple(dict.fromkeys(b.dataset for b in self.benchmarks.values()))

    @cached_property
    def data_names(self) -> Mapping[str, str]:
        """The names in paths of the used data sets: of own data, with a digest.

        Studies that give one name to other data so share no files.
        """
        return {name: _data_name(self.datasets[name]) for name in self.used_datasets}

    @cached_property
    def view_names(self) -> Mapping[str, str]:
        """The names of views in paths, with a digest of their options and own files."""
        return {name: self._view_name(view) for name, view in self.views.items()}

    def _view_name(self, view: View) -> str:
        base = None if view.view is None else self._view_name(self.views[view.view])
        domains = {
            d for o in view.options.values() if isinstance(o, Mapping) for d in o
        }
        own = [
            own_digests(view.extractor, view.domain_options(domain))
            for domain in sorted(domains) or [None]
        ]
        content = [view.extractor, view.options, view.scale, base, own]
        digest = content_digest([*content, self.numeric_threads])
        return f"{view.identifier}-{digest[:8]}"

    def logs(self) -> list[str]:
        """Return the logs of the study's own jobs and of its shared data."""
        data = self.data_names.values()
        stages = ("fetch", "labels", "codebooks", "features")
        shared = [f"logs/{stage}/{name}" for name in data for stage in stages]
        return [f"logs/{self.name}", *(f"logs/data/{n}.log" for n in data), *shared]

    def run_description(self, command: str = "") -> RunDescription:
        """Return the description of a run by a command."""
        texts = ("title", "content", "source", "licence", "cite")
        entries = filter(None, (self.datasets[n].entry for n in self.used_datasets))
        data = tuple({k: entry[k] for k in texts if k in entry} for entry in entries)
        local_keys = ("mirror", "container")  # they do not affect results
        config = {k: value for k, value in self.config.items() if k not in local_keys}
        return RunDescription(self.name, config, data, (command,), tuple(self.logs()))

    def shown_method(self) -> str:
        """Return the method that is shown in detail: the reference, if it projects."""
        name = self.reference
        return name if name and "keep_projections" in option_defaults(name) else ""

    def showcase_blocks(self) -> tuple[str, ...]:
        """Return the batches of the method that is shown in detail."""
        return self.blocks(self.methods[self.shown_method()].trials)
