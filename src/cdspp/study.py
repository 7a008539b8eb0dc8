"""A study as the workflow sees it: benchmarks, methods, settings, and their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cdspp.datasets.catalogue import published_layout
from cdspp.evaluation import Cell

__all__ = [
    "MAIN",
    "REFERENCE",
    "Benchmark",
    "DatasetFacts",
    "Method",
    "Setting",
    "Study",
    "View",
]

MAIN = "main"
BASELINE, REFERENCE, TARGET_ONLY = "svm-t", "cdspp", "target-only"
PUBLISHED = "published"
TOLD = ("title", "content", "source", "licence", "cite")
# The numbers per class on which the split of a role depends.
COUNTS = {"source": ("source",), "target": ("target", "unlabelled")}


@dataclass(frozen=True)
class DatasetFacts:
    """What must be known of a data set before its files exist.

    Attributes
    ----------
    identifier, kind : str
        Name, and "images", "texts" or "features".
    class_sizes : mapping
        Number of samples of each class, by domain.
    folder : str or None
        Folder of the user's own files; None where the package makes or fetches them.
    entry : mapping
        Its entry in the catalogue; empty where it has none.
    """

    identifier: str
    kind: str
    class_sizes: Mapping[str, Mapping[str, int]]
    folder: str | None = None
    entry: Mapping[str, Any] = field(default_factory=dict)

    def resource(self, view: View, domain: str | None) -> str | None:
        """Return what must be fetched for a view made of files, None if nothing."""
        if "resources" not in self.entry:
            return None
        if view.extractor != PUBLISHED or domain is None:
            return self.kind
        layout = self.layout(view, domain)
        return None if layout is None else str(layout["resource"])

    def layout(self, view: View, domain: str) -> dict[str, Any] | None:
        """Return how a published view of a domain is stored, None for other views."""
        if view.extractor != PUBLISHED:
            return None
        return published_layout(self.entry, view.options["name"], domain)


@dataclass(frozen=True)
class View:
    """A feature of a domain: extractor, its options, and the view it rests on."""

    identifier: str
    extractor: str
    options: Mapping[str, Any]
    view: str | None = None

    def domain_options(self, domain: str | None) -> dict[str, Any]:
        """Return the options for a domain: of values given by domain, its own."""
        return {
            name: value[domain] if isinstance(value, Mapping) else value
            for name, value in self.options.items()
        }


@dataclass(frozen=True)
class Benchmark:
    """A source view, a target view and the tasks between the domains of a data set."""

    identifier: str
    title: str
    summary: str
    dataset: str
    source_view: str
    target_view: str
    tasks: tuple[str, ...]
    labels: Mapping[str, int]
    showcase: str
    protocol: str = "seeded"
    overlap: str = "exclude"


@dataclass(frozen=True)
class Method:
    """A row of the tables."""

    identifier: str
    options: Mapping[str, Any]
    trials: int
    benchmarks: tuple[str, ...]
    shortened: bool = False


@dataclass(frozen=True)
class Setting:
    """Everything in which a run differs from the main one."""

    identifier: str
    methods: tuple[str, ...]
    benchmarks: tuple[str, ...]
    source: str = "as-is"
    options: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    overlap: str | None = None
    tasks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Study:
    """A validated configuration; made by `cdspp.config.load_study`."""

    name: str
    seed: int
    trials: int
    block_size: int
    numeric_threads: int
    partial: bool
    datasets: Mapping[str, DatasetFacts]
    views: Mapping[str, View]
    benchmarks: Mapping[str, Benchmark]
    methods: Mapping[str, Method]
    settings: Mapping[str, Setting]

    def blocks(self, trials: int) -> tuple[str, ...]:
        """Return the names of the blocks that hold the first `trials` trials."""
        starts = range(1, trials + 1, self.block_size)
        ends = (min(start + self.block_size - 1, trials) for start in starts)
        return tuple(f"{start}-{end}" for start, end in zip(starts, ends, strict=True))

    def cells(self, benchmark: str) -> Iterator[Cell]:
        """Yield every cell that the configuration names for a benchmark."""
        for setting in self.settings.values():
            if benchmark not in setting.benchmarks:
                continue
            for task in self.setting_tasks(benchmark, setting.identifier):
                for method in self.setting_methods(benchmark, setting.identifier):
                    for block in self.blocks(self.methods[method].trials):
                        yield Cell(benchmark, setting.identifier, task, method, block)

    def setting_tasks(self, benchmark: str, setting: str) -> tuple[str, ...]:
        """Return the tasks of a benchmark that a setting runs."""
        chosen = self.settings[setting].tasks
        tasks = self.benchmarks[benchmark].tasks
        return tasks if chosen is None else tuple(t for t in tasks if t in chosen)

    def setting_methods(self, benchmark: str, setting: str) -> tuple[str, ...]:
        """Return the methods that a setting runs on a benchmark."""
        return tuple(
            name
            for name in self.settings[setting].methods
            if benchmark in self.methods[name].benchmarks
        )

    def split_setting(self, setting: str, role: str) -> str:
        """Return the setting whose splits of a role a setting uses: its own or main."""
        changed = set(self.settings[setting].labels)
        return setting if changed & set(COUNTS[role]) else MAIN

    def split_counts(
        self, benchmark: str, setting: str, role: str
    ) -> tuple[int, int | None]:
        """Return samples per class of a role: labelled, and unlabelled (None: all)."""
        facts = self.benchmarks[benchmark]
        counts = {**facts.labels, **self.settings[setting].labels}
        unlabelled = counts.get("unlabelled") if role == "target" else None
        return counts[role], unlabelled

    def overlap(self, benchmark: str, setting: str) -> str:
        """Return what becomes of test samples that are labelled source samples too."""
        return self.settings[setting].overlap or self.benchmarks[benchmark].overlap

    def method_options(self, method: str, setting: str) -> dict[str, Any]:
        """Return the options of a method in a setting."""
        options = {**self.methods[method].options, **self.settings[setting].options}
        return dict(sorted(options.items()))

    def roles(self, benchmark: str) -> dict[str, tuple[str, ...]]:
        """Return the domains that serve as source and as target, each once."""
        pairs = [task.split("_") for task in self.benchmarks[benchmark].tasks]
        sources, targets = zip(*pairs, strict=True)
        return {
            "source": tuple(dict.fromkeys(sources)),
            "target": tuple(dict.fromkeys(targets)),
        }

    def feature_names(self) -> tuple[tuple[str, str, str], ...]:
        """Return data set, domain and view of all features that fits read."""
        names: dict[tuple[str, str, str], None] = {}
        for facts in self.benchmarks.values():
            views = {"source": facts.source_view, "target": facts.target_view}
            for role, domains in self.roles(facts.identifier).items():
                for domain in domains:
                    names[facts.dataset, domain, views[role]] = None
        return tuple(names)

    def logs(self) -> list[str]:
        """Return the logs of the study's jobs: its own, and those of shared data."""
        own = f"logs/{self.name}"
        names = dict.fromkeys(facts.dataset for facts in self.benchmarks.values())
        rooms = ("fetch", "labels", "codebooks", "features")
        shared = [f"logs/{room}/{name}" for name in names for room in rooms]
        return [own, *(f"logs/data/{name}.log" for name in names), *shared]

    def facts(self, configfiles: Sequence[str] = ()) -> dict[str, Any]:
        """Return what the report says of the run itself.

        Parameters
        ----------
        configfiles : sequence of str
            Study files given beside config.yaml.
        """
        chosen = ["--configfile", *configfiles] if configfiles else []
        command = " ".join(["snakemake --cores 8", *chosen])
        return {
            "study": self.name,
            "seed": self.seed,
            "trials": self.trials,
            "numeric_threads": self.numeric_threads,
            "data": [
                {key: entry[key] for key in TOLD if key in entry}
                for entry in self._entries()
            ],
            "commands": [command] if configfiles else ["make study", command],
        }

    def _entries(self) -> list[Mapping[str, Any]]:
        names = dict.fromkeys(facts.dataset for facts in self.benchmarks.values())
        return [
            self.datasets[name].entry for name in names if self.datasets[name].entry
        ]

    def showcase_blocks(self) -> tuple[str, ...]:
        """Return the blocks of the method that is shown in detail."""
        return self.blocks(self.methods[REFERENCE].trials)

    def layout(self, benchmark: str) -> dict[str, Any]:
        """Return what tables, figures and report must know of a benchmark, as JSON."""
        from cdspp.methods import method_class

        facts = self.benchmarks[benchmark]
        ran, rows = self.setting_methods(benchmark, MAIN), []
        for method in (self.methods[name] for name in ran if name != TARGET_ONLY):
            cls = method_class(method.identifier)
            row: dict[str, Any] = {"id": method.identifier, "printed": cls.printed}
            row |= {"supervised": cls.supervised, "shortened": method.shortened}
            rows.append(row | {"trials": method.trials})
        layout: dict[str, Any] = {
            "study": self.name,
            "benchmark": benchmark,
            "title": facts.title,
            "summary": facts.summary,
            "tasks": list(facts.tasks),
            "methods": rows,
            "controls": self._controls(benchmark),
            "variants": self._variants(benchmark),
            "baseline": BASELINE,
            "reference": REFERENCE,
            "trials": self.trials,
            "labels": dict(sorted(facts.labels.items())),
            "protocol": facts.protocol,
            "overlap": facts.overlap,
        }
        if REFERENCE in ran:
            showcase = {"task": facts.showcase, "method": REFERENCE, "trial": 1}
            layout["showcase"] = showcase
        return layout

    def _controls(self, benchmark: str) -> list[dict[str, Any]]:
        """Return the controls: without the source, and with a changed one."""
        rows = []
        if TARGET_ONLY in self.setting_methods(benchmark, MAIN):
            rows.append(_row(TARGET_ONLY, MAIN, TARGET_ONLY))
        for setting in self._other_settings(benchmark):
            methods = self.setting_methods(benchmark, setting.identifier)
            if setting.source != "as-is" and REFERENCE in methods:
                rows.append(_row(setting.identifier, setting.identifier, REFERENCE))
        return rows

    def _variants(self, benchmark: str) -> list[dict[str, Any]]:
        """Return every other setting and method, for a block of its own."""
        shown = {(row["setting"], row["method"]) for row in self._controls(benchmark)}
        return [
            _row(f"{method}, {setting.identifier}", setting.identifier, method)
            | _as_printed(method, setting.identifier)
            for setting in self._other_settings(benchmark)
            for method in self.setting_methods(benchmark, setting.identifier)
            if (setting.identifier, method) not in shown
        ]

    def _other_settings(self, benchmark: str) -> Sequence[Setting]:
        others = [s for s in self.settings.values() if s.identifier != MAIN]
        chosen = [s for s in others if benchmark in s.benchmarks]
        return [s for s in chosen if self.setting_tasks(benchmark, s.identifier)]


def _as_printed(method: str, setting: str) -> dict[str, Any]:
    from cdspp.methods import method_class

    cls = method_class(method)
    return {"printed": f"{cls.printed}, {setting}", "supervised": cls.supervised}


def _row(key: str, setting: str, method: str) -> dict[str, Any]:
    return {"key": key, "printed": key, "setting": setting, "method": method}
