"""Settings of a study, from the settings and curves of a configuration."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Any

from cdspp.core import names
from cdspp.core.errors import ConfigError
from cdspp.methods import method_class, option_defaults
from cdspp.methods.bridge import PAIRS, SAME_NAMES, SHARED
from cdspp.study.model import (
    SEEDED,
    Benchmark,
    Config,
    Curve,
    CurveValue,
    Method,
    Setting,
    Study,
    from_fields,
)

Benchmarks = Mapping[str, Benchmark]
Tasks = dict[str, tuple[str, ...]]  # by benchmark

# The shared information that a control changes.
SHUFFLED = {names.SHUFFLED_COLUMNS: SHARED, names.SHUFFLED_PAIRS: PAIRS}


def chosen_tasks(entry: Config, benchmarks: Benchmarks) -> Tasks:
    """Return the tasks that an entry runs, by benchmark; by default all."""
    selection = entry.get("tasks")
    tasks_of = {}
    for name in entry.get("benchmarks", benchmarks):
        tasks = benchmarks[name].tasks
        if isinstance(selection, int):
            tasks = tasks[:selection]
        elif selection is not None:
            tasks = tuple(task for task in tasks if task in selection)
        if tasks:
            tasks_of[name] = tasks
    return tasks_of


def with_settings(config: Config, study: Study, more: Iterable[Setting]) -> Study:
    """Return a study with its curves and all its settings, and `more` of plug-ins.

    ConfigError names settings that would have the same name.
    """
    curves = [[*_curves_of(entry, study)] for entry in config.get("curves", [])]
    benchmarks, methods = study.benchmarks, study.methods
    main = Setting(names.MAIN, tuple(methods), chosen_tasks({}, benchmarks))
    settings = [
        main,
        *(_state_setting(study, state, methods) for state in study.states),
        *_grid_settings(config, study, main),
        *_left_out_settings(study),
        *(_setting_of(entry, benchmarks) for entry in config.get("settings", [])),
        *(setting for each in curves for setting in _curve_settings(each)),
        *more,
    ]
    counts = Counter(setting.identifier for setting in settings)
    if duplicates := [name for name, count in counts.items() if count > 1]:
        fault = f"two runs would be named {', '.join(duplicates)}; choose another name"
        raise ConfigError(f"settings, source_states, curves, deviations: {fault}.")
    by_name = {setting.identifier: setting for setting in settings}
    return replace(study, curves=tuple(chain(*curves)), settings=by_name)


def _setting_of(entry: Config, benchmarks: Benchmarks) -> Setting:
    source = {"name": names.REAL, **entry.get("source", {})}
    tasks = chosen_tasks(entry, benchmarks)
    if domain := source.get("domain"):
        tasks = _tasks_with(domain, tasks)
    methods = tuple(entry["methods"])
    return from_fields(Setting, entry, tasks=tasks, methods=methods, source=source)


def _tasks_with(domain: str, tasks: Tasks) -> Tasks:
    with_domain = {
        name: tuple(task for task in some if domain in names.task_domains(task).sources)
        for name, some in tasks.items()
    }
    return {name: some for name, some in with_domain.items() if some}


def _left_out_settings(study: Study) -> Iterator[Setting]:
    """Yield a setting without each of several sources, for methods with controls."""
    tasks = {}
    for name, benchmark in study.benchmarks.items():
        tasks[name] = tuple(filter(names.several_sources, benchmark.tasks))
    with_states = (m for m in study.methods.values() if m.states and not m.predictions)
    methods = tuple(method.identifier for method in with_states)
    names_of_tasks = (task for of_benchmark in tasks.values() for task in of_benchmark)
    for domain in names.role_domains(names_of_tasks)["source"] if methods else ():
        source = {"name": names.NO_SOURCE, "domain": domain}
        with_it = _tasks_with(domain, tasks)
        yield Setting(without(domain), methods, with_it, source, leaves_out=domain)


def without(domain: str) -> str:
    """Return the name of the setting without one of several sources."""
    return f"without-{domain}"


def _n_exchanged(study: Study, state: str, benchmark: Benchmark) -> int:
    """Return the fewest partners that a control exchanges on a task; 2 if unknown."""
    part = benchmark.bridge.get(SHUFFLED[state], ())
    if part != SAME_NAMES:
        return part if isinstance(part, int) else len(part)
    columns = study.datasets[benchmark.dataset].features
    pairs = map(names.task_domains, benchmark.tasks) if columns else ()
    single = (pair for pair in pairs if len(pair.sources) == 1)
    numbers = (len({*columns[ours]} & {*columns[target]}) for (ours,), target in single)
    return min(numbers, default=2)


def bridge_state_notes(study: Study) -> Iterator[str]:
    """Yield notes on controls that are left out because nothing can be exchanged."""
    for name, benchmark in study.benchmarks.items():
        for state in SHUFFLED.keys() & {*study.states}:
            if _n_exchanged(study, state, benchmark) == 1:
                text = f"a single item in {SHUFFLED[state]} cannot be exchanged"
                yield f"{name}: the control {state} is left out, because {text}."


def _grid_settings(config: Config, study: Study, main: Setting) -> Iterator[Setting]:
    methods = {name: method for name, method in study.methods.items() if method.grid}
    if not methods:
        return
    states = (_state_setting(study, state, methods) for state in study.states)
    ran = (each for each in states if each.methods or each.identifier not in SHUFFLED)
    trials = config.get("selection", {}).get("trials")
    for each in (replace(main, methods=tuple(methods)), *ran):
        name = in_state(names.SELECTED, each.source["name"])
        yield replace(each, identifier=name, trials=trials, selects=True)


def _state_setting(study: Study, state: str, methods: Mapping[str, Method]) -> Setting:
    # A method with a stand-in is not fitted again without a source.
    without_source = stand_ins(methods) if state == names.NO_SOURCE else {}
    in_state = (name for name, method in methods.items() if state in method.states)
    identifiers = tuple(name for name in in_state if name not in without_source)
    tasks = {}
    for name, benchmark in study.benchmarks.items():
        sizes = study.datasets[benchmark.dataset].class_sizes.values()
        # With two classes, swapping gives the mirrored problem, with equal results.
        changes = state != names.PERMUTED_CLASSES or max(map(len, sizes), default=0) > 2
        if state in SHUFFLED:
            changes = _n_exchanged(study, state, benchmark) > 1
        if benchmark.tasks and changes:
            tasks[name] = benchmark.tasks
    return Setting(state, identifiers, tasks, source={"name": state})


def stand_ins(methods: Mapping[str, Method]) -> dict[str, str]:
    """Return, by method, the method without a source whose fit is the same."""
    pairs = ((methods.get(method_class(n).without_source_of), n) for n in methods)
    return {
        ours.identifier: name
        for ours, name in pairs
        if ours and names.NO_SOURCE in ours.states and _run(ours) == _run(methods[name])
    }


def _run(method: Method) -> tuple[Any, ...]:
    return method.tasks, method.trials, method.grid, _all_options(method)


def _all_options(method: Method) -> dict[str, Any]:
    return {**option_defaults(method.identifier), **method.options}


def setting_of_value(curve: str, value: float) -> str:
    """Return the name of the setting of one value of a curve.

    >>> setting_of_value("alpha", 0.1), setting_of_value("labels", 5)
    ('alpha-0p1', 'labels-5')
    """
    text = f"{value:g}".replace(".", "p").replace("-", "m").replace("+", "")
    return f"{curve}-{text}"


def _curves_of(entry: Config, study: Study) -> Iterator[Curve]:
    parameter = entry["parameter"]
    methods = {name: study.methods[name] for name in entry["methods"]}
    states = {name: _curve_states(entry, method) for name, method in methods.items()}
    for name, tasks in chosen_tasks(entry, study.benchmarks).items():
        benchmark, numbers = study.benchmarks[name], sorted(entry["values"])
        dataset = study.datasets[benchmark.dataset]
        if parameter == PAIRS:  # at most the existing ones
            largest = dataset.paired if PAIRS in benchmark.bridge else -1
            numbers = [number for number in numbers if number <= largest]
        users = [method for method in methods.values() if name in method.tasks]
        smallest = {}
        for task in tasks:
            sizes = dataset.class_sizes[names.task_domains(task).target]
            smallest[task] = min(sizes.values(), default=0)
        n_tested = benchmark.labels.get("unlabelled", 1)
        dropped = tuple(
            (number, task)
            for number, task in product(numbers, tasks)
            if parameter == names.LABELS and smallest[task] < number + n_tested
        )
        values = tuple(
            CurveValue(number, _value_setting(entry, number, benchmark, users), usable)
            for number in numbers
            if (usable := tuple(t for t in tasks if (number, t) not in dropped))
        )
        yield Curve(
            identifier=entry["id"],
            benchmark=name,
            parameter=parameter,
            methods=tuple(methods),
            states=states,
            tasks=tasks,
            values=values,
            dropped=dropped,
            n_trials=min(entry.get("trials", study.trials), study.trials),
        )


def _curve_states(entry: Config, method: Method) -> tuple[str, ...]:
    states = {*entry.get("states", ())}
    # The method's stand-in without a source takes its place, if it also runs there.
    classes = (method_class(name) for name in entry["methods"])
    if any(cls.without_source_of == method.identifier for cls in classes):
        states -= {names.NO_SOURCE}
    return tuple(state for state in method.states if state in states)


def in_state(setting: str, state: str) -> str:
    """Return the name of a setting under a control.

    >>> in_state("main", "none"), in_state("alpha-1", "none")
    ('none', 'alpha-1-none')
    """
    if state == names.REAL:
        return setting
    return state if setting == names.MAIN else f"{setting}-{state}"


def _curve_settings(curves: Sequence[Curve]) -> Iterator[Setting]:
    tasks: dict[tuple[float, str], Tasks] = defaultdict(dict)
    by_state: dict[str, list[str]] = defaultdict(list)
    for curve in curves:
        for each in curve.values:
            if each.setting != names.MAIN:
                tasks[each.value, each.setting][curve.benchmark] = each.tasks
    if not tasks:
        return
    first = curves[0]  # shares methods, states and trials with all
    for method in first.methods:
        for state in (names.REAL, *first.states[method]):
            by_state[state].append(method)
    for (value, name), tasks_of_value in tasks.items():
        difference: dict[str, Any] = {"options": {first.parameter: value}}
        if first.parameter == names.LABELS:
            # Published masks have one number of labels; seeded draws are nested.
            difference = {"labels": {"target": value}, "protocol": SEEDED}
        elif first.parameter == PAIRS:
            difference = {"bridge": {PAIRS: value, SHARED: None}}
        for state, methods in by_state.items():
            yield Setting(
                in_state(name, state),
                tuple(methods),
                tasks_of_value,
                {"name": state},
                trials=first.n_trials,
                of_curve=True,
                **difference,
            )


def _value_setting(
    entry: Config, value: float, benchmark: Benchmark, methods: Iterable[Method]
) -> str:
    parameter = entry["parameter"]
    if parameter == names.LABELS:
        main = benchmark.protocol == SEEDED and benchmark.labels["target"] == value
    elif parameter == PAIRS:
        only_pairs = all(method.bridges == (PAIRS,) for method in methods)
        is_paired = only_pairs or SHARED not in benchmark.bridge
        main = is_paired and benchmark.bridge[PAIRS] == value
    else:
        main = all(_all_options(method).get(parameter) == value for method in methods)
    return names.MAIN if main else setting_of_value(entry["id"], value)


def task_names(entry: Config, domains: Iterable[str]) -> list[str]:
    """Return the tasks of a benchmark; `all` means between all domains."""
    if entry["tasks"] == "all":
        return ["_".join(pair) for pair in product(domains, repeat=2)]
    return list(entry["tasks"])
