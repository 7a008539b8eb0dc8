"""A study as the workflow sees it: benchmarks, methods, settings, and their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
EMBEDDED = "embedded"
BASELINE, REFERENCE, TARGET_ONLY = "svm-t", "cdspp", "target-only"


@dataclass(frozen=True)
class DatasetFacts:
    """What must be known of a data set before its files exist.

    Attributes
    ----------
    identifier, kind : str
        Name, and "images" or "texts".
    class_sizes : mapping
        Number of samples of each class, by domain.
    folder : str or None
        Folder of the user's own files; None where the package makes them.
    """

    identifier: str
    kind: str
    class_sizes: Mapping[str, Mapping[str, int]]
    folder: str | None = None


@dataclass(frozen=True)
class View:
    """A feature of a domain: extractor, its options, and the view it rests on."""

    identifier: str
    extractor: str
    options: Mapping[str, Any]
    view: str | None = None


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


@dataclass(frozen=True)
class Method:
    """A row of the tables."""

    identifier: str
    options: Mapping[str, Any]
    trials: int
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
            for task in self.benchmarks[benchmark].tasks:
                for method in setting.methods:
                    for block in self.blocks(self.methods[method].trials):
                        yield Cell(benchmark, setting.identifier, task, method, block)

    def split_setting(self, setting: str, role: str) -> str:
        """Return the setting whose splits of a role a setting uses: its own or main."""
        return setting if role in self.settings[setting].labels else MAIN

    def label_count(self, benchmark: str, setting: str, role: str) -> int:
        """Return the labelled samples per class of a role, source or target."""
        main = self.benchmarks[benchmark].labels
        return {**main, **self.settings[setting].labels}[role]

    def method_options(self, method: str, setting: str) -> dict[str, Any]:
        """Return the options of a method in a setting."""
        options = {**self.methods[method].options, **self.settings[setting].options}
        return dict(sorted(options.items()))

    def target_domains(self, benchmark: str) -> tuple[str, ...]:
        """Return the domains that serve as target, each once."""
        tasks = self.benchmarks[benchmark].tasks
        return tuple(dict.fromkeys(task.split("_")[1] for task in tasks))

    def feature_names(self) -> tuple[tuple[str, str, str], ...]:
        """Return data set, domain and view of all features that fits read."""
        names: dict[tuple[str, str, str], None] = {}
        for facts in self.benchmarks.values():
            for task in facts.tasks:
                source, target = task.split("_")
                names[facts.dataset, source, facts.source_view] = None
                names[facts.dataset, target, facts.target_view] = None
        return tuple(names)

    def logs(self) -> list[str]:
        """Return the logs of the study's jobs: its own, and those of shared data."""
        own = f"logs/{self.name}"
        names = dict.fromkeys(facts.dataset for facts in self.benchmarks.values())
        rooms = ("labels", "codebooks", "features")
        shared = [f"logs/{room}/{name}" for name in names for room in rooms]
        return [own, *(f"logs/data/{name}.log" for name in names), *shared]

    def facts(self) -> dict[str, Any]:
        """Return what the report says of the run itself."""
        return {
            "study": self.name,
            "seed": self.seed,
            "trials": self.trials,
            "numeric_threads": self.numeric_threads,
            "commands": self._commands(),
        }

    def _commands(self) -> list[str]:
        if self.name == EMBEDDED:
            return ["make study", "snakemake --cores 8"]
        return [f"snakemake --cores 8 --configfile {self.name}.yaml"]

    def showcase_blocks(self) -> tuple[str, ...]:
        """Return the blocks of the method that is shown in detail."""
        return self.blocks(self.methods[REFERENCE].trials)

    def layout(self, benchmark: str) -> dict[str, Any]:
        """Return what tables, figures and report must know of a benchmark, as JSON."""
        from cdspp.methods import method_class

        facts = self.benchmarks[benchmark]
        rows = []
        for method in self.methods.values():
            cls = method_class(method.identifier)
            row: dict[str, Any] = {"id": method.identifier, "printed": cls.printed}
            row |= {"supervised": cls.supervised, "shortened": method.shortened}
            if method.identifier != TARGET_ONLY:
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
        }
        if REFERENCE in self.settings[MAIN].methods:
            showcase = {"task": facts.showcase, "method": REFERENCE, "trial": 1}
            layout["showcase"] = showcase
        return layout

    def _controls(self, benchmark: str) -> list[dict[str, str]]:
        """Return the controls: without the source, and with a changed one."""
        rows = []
        if TARGET_ONLY in self.methods:
            rows.append(_row(TARGET_ONLY, MAIN, TARGET_ONLY))
        for setting in self._other_settings(benchmark):
            if setting.source != "as-is" and REFERENCE in setting.methods:
                rows.append(_row(setting.identifier, setting.identifier, REFERENCE))
        return rows

    def _variants(self, benchmark: str) -> list[dict[str, str]]:
        """Return every other setting and method, for a block of its own."""
        shown = {(row["setting"], row["method"]) for row in self._controls(benchmark)}
        return [
            _row(f"{method}, {setting.identifier}", setting.identifier, method)
            for setting in self._other_settings(benchmark)
            for method in setting.methods
            if (setting.identifier, method) not in shown
        ]

    def _other_settings(self, benchmark: str) -> Sequence[Setting]:
        others = [s for s in self.settings.values() if s.identifier != MAIN]
        return [s for s in others if benchmark in s.benchmarks]


def _row(key: str, setting: str, method: str) -> dict[str, str]:
    return {"key": key, "printed": key, "setting": setting, "method": method}
