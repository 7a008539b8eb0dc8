"""Plans of a study by benchmark, for tables, figures and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from cdspp.core import names
from cdspp.core.wording import STATE_TITLES, counted, marks
from cdspp.methods import method_class
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.study.model import Curve, CurveValue, Setting, Study
from cdspp.study.settings import SHUFFLED, stand_ins

METHOD, INFORMED, WITH_BRIDGE, CONTROL = "method", "informed", "bridge", "control"
VARIANT, STATE, CHOOSING = "variant", "state", "selected"
LEFT_OUT = "left-out"  # one of several sources
KINDS = METHOD, INFORMED, WITH_BRIDGE, CONTROL, VARIANT, STATE, CHOOSING, LEFT_OUT

SHARED_ONLY = "shared columns"  # kind of transfer of a row without pairs


@dataclass(frozen=True)
class Row:
    """A method in a setting: a line of a table.

    The key is that of a method, of a control, or of both method and setting; `tasks` is
    empty if the method runs all. Only methods may be bold (except `shortened` ones) and
    take part in ranks and claims; with shared columns or pairs they take part in
    verdicts, too. An informed method receives the class shares of the test samples (an
    oracle). A control is the reference under a control (`source`), or a method without
    its source; other methods under controls are of the kind state, and shown only by
    gains. A `reseeded` row is the
    main run from another random start. It `stands_for` the method that it equals
    without a source, which is then not fitted twice; a `vote` has one fit per source.
    """

    key: str
    display_name: str
    setting: str
    method: str
    n_trials: int
    kind: str = METHOD
    supervised: bool = False
    shortened: bool = False
    source: str = names.REAL
    tasks: tuple[str, ...] = ()
    reseeded: bool = False
    role: str = ""
    stands_for: str = ""
    bridge: str = ""
    vote: bool = False

    @property
    def marks(self) -> str:
        """Marks after the name: supervised, shortened."""
        return marks(supervised=self.supervised, shortened=self.shortened)

    @property
    def method_name(self) -> str:
        """The method's name as in the paper, whatever the name of the row."""
        return method_class(self.method).display_name

    @property
    def state(self) -> str:
        """The control of its setting."""
        return names.REAL if self.setting == names.MAIN else self.source


@dataclass(frozen=True)
class CurvePlan(Curve):
    """A curve with its methods as rows."""

    rows: tuple[Row, ...]
    n_classes: int


@dataclass(frozen=True)
class BenchmarkPlan:
    """Rows, curves and data of a study on one benchmark.

    `labels` (per class) and `views` are by role, tasks and rows in table order: first
    methods, then controls, variants and other methods under controls. The `showcase` is
    the task on which the reference is shown in detail, empty if the reference does not
    run, or has no common subspace. Gains within `margin` points are no effect;
    `holm_over_methods` corrects the verdicts in the matrix of methods for their number.
    `plugins` has the data of plug-ins of the report, by their names. `fit_trials` has
    the number of trials of every fit, by ``<setting>/<method>``, because files of fits
    may have more.
    """

    study: str
    benchmark: str
    title: str
    dataset: str
    tasks: tuple[str, ...]
    summary: str = ""
    labels: Mapping[str, int] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    overlap: str = "exclude"
    n_trials: int = 1
    rows: tuple[Row, ...] = ()
    curves: tuple[CurvePlan, ...] = ()
    showcase: str = ""
    states: tuple[str, ...] = ()
    margin: float = 1.0
    holm_over_methods: bool = True
    plugins: Mapping[str, Any] = field(default_factory=dict)
    fit_trials: Mapping[str, int] = field(default_factory=dict)

    @property
    def protocol(self) -> str:
        """The numbers of trials and of labelled samples, as a sentence for captions."""
        roles = (role for role in self.labels if role != names.UNLABELLED_ROLE)
        counts = " and ".join(f"{self.labels[role]} {role}" for role in roles)
        labels = f", {counts} labels per class" if counts else ""
        return f"{self.title}: {counted(self.n_trials, 'trial')}{labels}."

    @property
    def shown_rows(self) -> tuple[Row, ...]:
        """The rows of tables of accuracies: all but other methods under controls."""
        return tuple(r for r in self.rows if r.kind not in (STATE, LEFT_OUT))

    @property
    def main_rows(self) -> list[Row]:
        """The methods in the main setting, in table order, without controls."""
        return [row for row in self.rows if row.kind in (METHOD, INFORMED, WITH_BRIDGE)]

    @property
    def varied(self) -> set[str]:
        """Parameters of the curves: options, labels, paired rows."""
        return {curve.parameter for curve in self.curves}

    def role_name(self, role: str) -> str:
        """Return the shown name of the method of a role; empty without one."""
        matches = (row.display_name for row in self.main_rows if row.role == role)
        return next(matches, "")

    def of_data(self) -> BenchmarkPlan:
        """Return the part of the plan that depends only on the data."""
        fields = (
            *("study", "benchmark", "title", "dataset", "tasks", "summary"),
            *("labels", "views", "overlap", "n_trials"),
        )
        return BenchmarkPlan(**{name: getattr(self, name) for name in fields})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the plan from its `dataclasses.asdict`, passed through Snakemake."""
        curves = []
        for curve in values["curves"]:
            along = tuple(CurveValue(**value) for value in curve["values"])
            curves.append(CurvePlan(**{**curve, **_rows_of(curve), "values": along}))
        return cls(**{**values, **_rows_of(values), "curves": tuple(curves)})


Plans = Sequence[BenchmarkPlan]


def plan_of(study: Study, benchmark: str) -> BenchmarkPlan:
    """Return the plan of a study for a benchmark."""
    entry, reference = study.benchmarks[benchmark], study.shown_method()
    methods_in = partial(study.setting_methods, benchmark)
    states = (s for s in study.states if study.setting_tasks(benchmark, s))
    rows = []
    for key in study.fit_keys(benchmark):
        setting = study.settings[key.setting]
        if setting.tasks.get(benchmark) and not (setting.of_curve or setting.plugin):
            rows.append(_row(study, benchmark, setting, key.method))
    return BenchmarkPlan(
        study=study.name,
        benchmark=benchmark,
        title=entry.title,
        dataset=entry.dataset,
        tasks=entry.tasks,
        summary=entry.summary,
        labels=dict(sorted(entry.labels.items())),
        views=entry.views,
        overlap=entry.overlap,
        n_trials=study.trials,
        rows=tuple(sorted(rows, key=lambda row: KINDS.index(row.kind))),
        curves=tuple(_curves(study, benchmark)),
        showcase=entry.showcase if reference in methods_in(names.MAIN) else "",
        states=tuple(s for s in states if s not in SHUFFLED or methods_in(s)),
        margin=study.margin,
        holm_over_methods=study.holm_over_methods,
        plugins=study.plugins.get(benchmark, {}),
        fit_trials={
            f"{key.setting}/{key.method}": study.setting_trials(key.setting, key.method)
            for key in study.fit_keys(benchmark)
        },
    )


def _rows_of(values: Mapping[str, Any]) -> dict[str, tuple[Row, ...]]:
    return {"rows": tuple(Row(**row) for row in values["rows"])}


def _row(study: Study, benchmark: str, setting: Setting, method: str) -> Row:
    entry, cls, name = study.methods[method], method_class(method), setting.identifier
    tasks = entry.tasks[benchmark]
    several = any(map(names.several_sources, tasks)) and not entry.predictions
    roles = {study.baseline: names.BASELINE, study.reference: names.REFERENCE}
    row = Row(
        key=method,
        display_name=cls.display_name,
        setting=name,
        method=method,
        n_trials=study.setting_trials(name, method),
        supervised=cls.supervised,
        shortened=entry.shortened,
        source=str(setting.source["name"]),
        tasks=() if tasks == study.benchmarks[benchmark].tasks else tasks,
        reseeded=_is_reseeded(setting),
        role=roles.get(method, ""),
        bridge=_bridge_text(study.bridge(benchmark, name, method)),
        vote=several and cls.uses_source and not cls.several_sources,
    )
    if name == names.MAIN and row.bridge:
        return replace(row, kind=WITH_BRIDGE)
    if study.prior_file(name, method) is not None:
        text = f"{cls.display_name} (oracle class shares)"
        row = replace(row, display_name=text, kind=INFORMED)
    if name == names.MAIN and (whole := cls.without_source_of):
        stands_for = whole if stand_ins(study.methods).get(whole) == method else ""
        source = names.NO_SOURCE if stands_for else names.REAL
        row = replace(row, kind=CONTROL, source=source, stands_for=stands_for)
    if name == names.MAIN:
        return row
    text = f"{row.display_name}, {STATE_TITLES.get(name, name)}"
    if name in study.states and row.role == names.REFERENCE:
        return replace(row, key=name, display_name=text, kind=CONTROL)
    kind = LEFT_OUT if setting.leaves_out else VARIANT
    if name == names.NO_SOURCE and entry.row_without_source:
        kind = CONTROL
    elif setting.selects or name in study.states:
        kind = CHOOSING if name == names.SELECTED else STATE
    return replace(row, key=f"{method}, {name}", display_name=text, kind=kind)


def _bridge_text(bridge: Mapping[str, Any]) -> str:
    parts = [SHARED_ONLY] if SHARED in bridge else []
    parts += [counted(bridge[PAIRS], "pair")] if PAIRS in bridge else []
    return " and ".join(parts)


def _is_reseeded(setting: Setting) -> bool:
    plain = Setting(setting.identifier, setting.methods, setting.tasks)
    reseeded = replace(plain, options=setting.options, trials=setting.trials)
    return set(setting.options) == {"random_state"} and setting == reseeded


def _curves(study: Study, benchmark: str) -> Iterator[CurvePlan]:
    entry = study.benchmarks[benchmark]
    sizes = study.datasets[entry.dataset].class_sizes
    for curve in study.curves:
        rows = []
        for method in curve.methods if curve.benchmark == benchmark else ():
            if benchmark not in study.methods[method].tasks:
                continue
            for state in (names.MAIN, *curve.states[method]):
                row = _row(study, benchmark, study.settings[state], method)
                main = WITH_BRIDGE if row.bridge else METHOD
                kind = main if state == names.MAIN else STATE
                trials = min(row.n_trials, curve.n_trials)
                rows.append(replace(row, kind=kind, n_trials=trials))
        if rows and curve.values:
            n_classes = len(sizes[names.task_domains(entry.tasks[0]).target])
            yield CurvePlan(**vars(curve), rows=tuple(rows), n_classes=n_classes)
