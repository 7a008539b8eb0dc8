"""Figures of scores: methods, iterations, curves, and bridges.

Dots are means over trials. Where lines cross, only the reference has a band of its 95 %
t intervals over trials; along pairs, every method has bars, side by side. Rows of the
figure of methods have the colour of what they learn from.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from cdspp.analysis.summary import (
    CurveScores,
    Floats,
    Summary,
    arrange_curves,
    mean_sd,
    parameter_title,
    read_scores,
    summarise,
    value_text,
)
from cdspp.core.names import AVERAGE, BASELINE, LABELS, MAIN, REAL, REFERENCE, Paths
from cdspp.core.wording import listed, task_title
from cdspp.methods import method_class
from cdspp.methods.bridge import PAIRS
from cdspp.report.figures import style
from cdspp.report.figures.drawing import CaptionedFigure, tasks_text
from cdspp.study.plan import SHARED_ONLY, WITH_BRIDGE, BenchmarkPlan, Plans, Row

Flags = NDArray[np.bool_]

_LABELS_ONLY, _SHARED = "source, labels only", "source, shared columns or pairs"
_NO_SOURCE = "no source, or a control"
_GROUPS = {_LABELS_ONLY: "#0067a8", _SHARED: "#208366", _NO_SOURCE: "#6b7280"}
_MAIN: dict[str, Any] = {"color": "#dde1e6", "lw": 5, "zorder": 1}
N_NEAREST = 2  # methods beside the reference in the figure of iterations
_DASHES: Any = ("solid", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))


def write_benchmark(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Draw the figures of one benchmark that need only its scores."""
    [plan], [path] = plans, scores
    frame = read_scores(path)
    summary, curves = summarise(frame, plan), arrange_curves(frame, plan)
    drawings = {"methods": partial(draw_methods, summary)}
    drawings |= {"iterations": partial(draw_iterations, summary)}
    drawings |= dict.fromkeys(
        (LABELS, "sensitivity"), partial(draw_curves, plan, curves)
    )
    style.draw_each(outputs, drawings)


def draw_methods(summary: Summary, outputs: Paths) -> None:
    """Draw all rows of one benchmark, one panel per task and one for their average.

    Rows of each kind are sorted by their average accuracy.
    """
    summary = _sorted_rows(summary.of_all_tasks())
    tasks, values = summary.with_average(summary.accuracy)
    letters = 9 if style.narrow() and len(tasks) > 1 else 0  # per line of a title
    titles = [style.task_text(task, letters) for task in tasks]
    longest = max((len(line) for t in titles for line in t.split("\n")), default=1)
    space = style.width() / style.scale() - 1.2  # next to the names
    most = min(len(titles), 3 if style.narrow() else 5)
    n_columns = max(1, min(most, int(space / (0.073 * longest + 0.1))))
    pitch = 0.17 if style.narrow() else 0.2
    sizes: Any = {"line": pitch * len(summary.rows) + 0.7, "rest": 0.7}
    sizes |= {"letters": letters, "most": max(5.0, 1.3 + 1.5 * n_columns)}
    sizes["sharey"] = True
    with style.gridded(tasks, n_columns, outputs, **sizes) as (figure, panels):
        for place, axes in enumerate(panels):
            _method_panel(axes, summary, tasks[place], values[:, place])
        style.equal_windows(panels)
        figure.supxlabel("accuracy (%)")
        handles = [
            Line2D([], [], color=colour, marker="o", ls="", label=label)
            for label, colour in _GROUPS.items()
            if colour in {_group_colour(row) for row in summary.rows}
        ]
        style.add_legend(figure, handles, "upper center")
        average = " on average" if len(summary.tasks) > 1 else ""
        names = {"tasks": tasks_text(summary.tasks), "on_average": average}
        figure.describe([summary.plan], **names)


def _sorted_rows(summary: Summary) -> Summary:
    """Return the rows in the order of their kinds, each by average accuracy."""
    average = summary.with_average(summary.accuracy)[1][:, -1]
    means = [np.nan_to_num(mean_sd(trials)[0], nan=-1.0) for trials in average]
    kinds = list(dict.fromkeys(row.kind for row in summary.rows))

    def order(place: int) -> tuple[int, float]:
        return kinds.index(summary.rows[place].kind), -means[place]

    return summary.of_rows(sorted(range(len(summary.rows)), key=order))


def _group_colour(row: Row) -> str:
    """Return the colour by what a row learns from: no source, labels, or more."""
    if row.state != REAL or not method_class(row.method).uses_source:
        return _GROUPS[_NO_SOURCE]
    return _GROUPS[_SHARED if row.bridge else _LABELS_ONLY]


def draw_iterations(summary: Summary, outputs: Paths) -> None:
    """Draw accuracy by iteration, one panel per task: the reference and its nearest."""
    summary = summary.of_rows(_nearest(summary))
    n_columns = max(1, min(len(summary.tasks), 2 if style.narrow() else 4))
    sizes: Any = {"line": 2.1, "rest": 1.0, "sharex": True, "sharey": True}
    sizes["most"] = math.inf if n_columns > 1 else 5.0
    with style.gridded(summary.tasks, n_columns, outputs, **sizes) as (figure, panels):
        for place, axes in enumerate(panels):
            _iteration_panel(axes, summary, place)
        figure.supxlabel("iteration")
        figure.supylabel("accuracy (%)")
        style.add_legend(figure, list(_by_name(panels).values()), "upper center")
        others = any(row.role not in (REFERENCE, BASELINE) for row in summary.rows)
        if others and summary.place(REFERENCE) is not None:
            figure.parts.add("nearest")
        figure.describe([summary.plan], tasks=tasks_text(summary.tasks))


def _nearest(summary: Summary) -> list[int]:
    """Return the positions of the baseline, and of the iterative rows to draw.

    These are the reference and the rows nearest to its final accuracy, averaged over
    tasks; without it, those nearest to the highest accuracy.
    """
    final = np.array([100 * mean_sd(row.mean(axis=0))[0] for row in summary.accuracy])
    reference, baseline = map(summary.place, (REFERENCE, BASELINE))
    hidden = {"variant", "selected", *summary.plan.states}
    places = [
        i
        for i in summary.iterative()
        if hidden.isdisjoint((summary.rows[i].kind, summary.rows[i].key))
    ]
    centre = max(final[places], default=0) if reference is None else final[reference]
    distance = np.nan_to_num(abs(final - centre), nan=math.inf)
    others = sorted((i for i in places if i != reference), key=distance.__getitem__)
    drawn = [i for i in places if i == reference] + others[:N_NEAREST]
    return sorted({*drawn, *([] if baseline is None else [baseline])})


def _method_panel(axes: Axes, summary: Summary, task: str, values: Floats) -> None:
    means = np.array([100 * mean_sd(of_row)[0] for of_row in values])
    far = style.far_below(means)
    for place, row in enumerate(summary.rows):
        text, colour = f"◂ {means[place]:.0f}", _group_colour(row)
        drawn = CaptionedFigure.of(axes)
        if np.isfinite(means[place]) and summary.unusable(place, task):
            text, colour = f"({means[place]:.0f})", style.MUTED
            drawn.parts.add("brackets")
        elif not far[place]:
            look = replace(
                style.style_of(row.key), colour=_group_colour(row), marker="o"
            )
            style.dots(axes, values[place], place, look.look(4.5))
            drawn.parts |= set() if look.filled else {"hollow"}
            continue
        else:
            drawn.parts.add("far")
        where = axes.get_yaxis_transform()
        axes.text(0.02, place, text, color=colour, va="center", transform=where)
    names = [style.figure_name(row.display_name) + row.marks for row in summary.rows]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    kinds = [row.kind for row in summary.rows]
    for place, (kind, before) in enumerate(zip(kinds[1:], kinds, strict=False)):
        if kind != before:
            axes.axhline(place + 0.5, color=style.MUTED, lw=0.8, ls=(0, (2, 2)))
    axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    style.hide_spines(axes)


def _iteration_panel(axes: Axes, summary: Summary, task: int) -> None:
    steps, name = summary.iterations, summary.tasks[task]
    for i in summary.iterative():
        leading = i == summary.place(REFERENCE)
        look: Any = {"linewidth": 1.5, "zorder": 3} if leading else {"linewidth": 1.0}
        look["unusable"] = summary.unusable(i, name)
        values = summary.by_iteration[i, task].T
        style.draw_line(axes, summary.rows[i], steps, values, band=leading, **look)
    baseline = summary.place(BASELINE)
    if baseline is not None and np.isfinite(summary.accuracy[baseline, task]).any():
        row = summary.rows[baseline]
        mean = 100 * mean_sd(summary.accuracy[baseline, task])[0]
        colour = style.style_of(row.key).colour
        across: Any = {"color": colour, "lw": 1.2, "ls": style.DASHES}
        axes.axhline(mean, label=style.figure_name(row.display_name), **across)
        CaptionedFigure.of(axes).parts.add("dashed")
    if len(steps) and steps[-1] > 20:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    style.hide_spines(axes, grid="y")


def write_bridges(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Draw the gain from pairs and shared columns, on the benchmarks with pairs."""
    parts = []
    for plan, path in zip(plans, scores, strict=True):
        if PAIRS in plan.varied:
            frame = read_scores(path)
            parts.append((summarise(frame, plan), arrange_curves(frame, plan)))
    draw_bridges(parts, outputs)


def draw_curves(
    plan: BenchmarkPlan, curves: Sequence[CurveScores], outputs: Paths
) -> None:
    """Draw the figures of a benchmark's curves, by their names: labels, sensitivity."""
    labels = [c for c in curves if c.plan.parameter == LABELS]
    options = [c for c in curves if c.plan.parameter not in (LABELS, PAIRS)]
    sensitivity = partial(_draw_sensitivity, plan, options)
    drawings = {LABELS: partial(_draw_labels, plan, labels), "sensitivity": sensitivity}
    style.draw_each(outputs, drawings)


def _draw_labels(
    plan: BenchmarkPlan, curves: Sequence[CurveScores], outputs: Paths
) -> None:
    panels = [(curve, *of_task) for curve in curves for of_task in _by_task(curve)]
    tasks = [*(task for _, task, *_ in panels), ""]
    n_columns = _columns(len(tasks))
    line = 2.9 if any(len(c.plan.rows) > 6 for c in curves) else 2.5
    most = {3: math.inf, 2: 5.4}.get(n_columns, 3.0)
    sizes: Any = {"line": line, "rest": 0.2, "most": most, "spare": True}
    sizes["width_ratios"] = [1.9, 1] if len(panels) == 1 else [1] * n_columns
    grid = style.gridded(tasks, n_columns, outputs, **sizes)
    with grid as (figure, [*plots, legend_axes]):
        legend_axes.set_axis_off()
        far = [
            _label_panel(axes, curve, values, unusable)
            for axes, (curve, _, values, unusable) in zip(plots, panels, strict=True)
        ]
        for axes in plots[-n_columns:]:
            _name_axis(axes, "labelled samples per class")
        style.equal_windows(plots, side="y", within=(0.0, 100.0))
        for axes in plots:  # leaves space for names at the bottom
            low, high = axes.get_ylim()
            lowered = low - 0.09 * max(far) * (high - low)
            axes.set_ylim(max(lowered, min(low, 0.0)), high)

        def end(line: Line2D) -> float:
            return max(np.ravel(line.get_ydata())[-1:], default=0.0)

        handles = sorted(_by_name(plots).values(), key=end, reverse=True)
        legend_axes.legend(handles=handles, loc="center left", labelspacing=0.45)
        figure.supylabel("accuracy (%)")
        shown = dict.fromkeys(task for _, task, *_ in panels if task != AVERAGE)
        figure.describe([plan], tasks=tasks_text(shown))


def _columns(n_cells: int) -> int:
    most = 2 if n_cells == 4 or style.narrow() else 3
    return max(1, min(most, n_cells))


def _by_task(curve: CurveScores) -> list[tuple[str, Floats, Flags]]:
    """Return task, accuracies and degenerate positions of each task, average last."""
    tasks, accuracy = curve.with_average()
    by_row = (accuracy, curve.unusable())
    return list(zip(tasks, *(array.swapaxes(0, 1) for array in by_row), strict=True))


def _label_panel(
    axes: Axes, curve: CurveScores, values: Floats, unusable: Flags
) -> int:
    """Draw one panel; return the number of names stacked at its bottom."""
    means = 100 * np.array([[mean_sd(trials)[0] for trials in row] for row in values])
    far = np.array([style.far_below(column) for column in means.T]).T
    # A line that is far below more than once, or throughout, is left out entirely.
    n_finite = np.isfinite(means).sum(axis=1)
    excluded = far.sum(axis=1) >= n_finite.clip(1, 2)
    for i in np.flatnonzero(~excluded).tolist():
        row = curve.plan.rows[i]
        leading = row.role == REFERENCE and row.state == REAL
        look: dict[str, Any] = {"linewidth": 1.1, "zorder": 2}
        look = {"linewidth": 1.8, "zorder": 3} if leading else look
        look |= {"linestyle": style.DASHES} if row.role == BASELINE else {}
        look["unusable"] = unusable[i]
        near = np.where(far[i, :, None], np.nan, values[i])
        style.draw_line(axes, row, curve.values, near, band=leading, **look)
    # Names of lines far below: at their value, or once for outliers.
    last = len(curve.values) - 1
    for place, x in enumerate(curve.values):
        side = "left" if place == 0 else "right" if place == last else "center"
        look = {"x": x, "ha": side, "transform": axes.get_xaxis_transform()}
        for height, i in enumerate(np.flatnonzero(far[:, place] & ~excluded).tolist()):
            look["collapsed"], mean = bool(unusable[i, place]), means[i, [place]]
            style.name_far_row(axes, curve.plan.rows[i], mean, height, **look)
    for height, i in enumerate(np.flatnonzero(excluded).tolist()):
        look = {"transform": axes.transAxes, "collapsed": bool(unusable[i].any())}
        style.name_far_row(axes, curve.plan.rows[i], means[i], height, **look)
    _scale(axes, curve)
    style.hide_spines(axes, grid="y")
    return max(int(excluded.sum()), int(far[~excluded].sum(axis=0).max(initial=0)))


def _draw_sensitivity(
    plan: BenchmarkPlan, curves: Sequence[CurveScores], outputs: Paths
) -> None:
    """Draw one panel per parameter: thin lines for tasks, thick for their average."""
    n_columns = _columns(len(curves))
    most = math.inf if n_columns > 1 else 4.4
    # Tasks shown next to an average have different styles, if they are few.
    several = [c for c in curves if len(c.plan.tasks) > 1 and not c.in_states]
    tasks = list(dict.fromkeys(task for curve in several for task in curve.plan.tasks))
    dashes = _DASHES if len(tasks) <= len(_DASHES) else ["solid"] * len(tasks)
    looks = dict(zip(tasks, dashes, strict=False))
    sizes: Any = {"line": 2.6, "rest": 0.75, "most": most, "sharey": True}
    blank, sizes["spare"] = [""] * len(curves), True
    with style.gridded(blank, n_columns, outputs, **sizes) as (figure, panels):
        for axes, curve in zip(panels, curves, strict=True):
            _option_panel(axes, curve, looks)
            _name_axis(axes, parameter_title(curve.plan.parameter))
            _title_panel(axes, curve)
        low, high = figure.axes[0].get_ylim()
        # Curves that vary by less than ten points look flat.
        flat = max(0.0, 10.0 - (high - low)) / 2
        figure.axes[0].set_ylim(low - flat, high + flat)
        figure.supylabel("accuracy (%)")
        handles = list(_by_name(panels).values())
        shown = looks if len(looks) <= len(_DASHES) else {"single tasks": "solid"}
        for name, dash in shown.items():
            look: Any = {"color": style.MUTED, "lw": 0.9, "ls": dash}
            handles.append(Line2D([], [], label=style.task_text(name), **look))
        if any(curve.main is not None for curve in curves):
            handles.append(Line2D([], [], label="main run", **_MAIN))
            figure.parts.add("main")
        style.add_legend(figure, handles, "upper center")
        figure.parts |= {"average"} if several else set()
        names = [row.display_name for curve in curves for row in curve.plan.rows]
        figure.describe([plan], methods=listed([*dict.fromkeys(names)] or ["none"]))
        of_classes = [
            c.plan.n_classes < max(c.values) for c in curves if _is_dimension(c)
        ]
        figure.parts |= {"dimension"} if any(of_classes) else set()


def _title_panel(axes: Axes, curve: CurveScores) -> None:
    """Name the methods of a panel, and its task or the number of its tasks."""
    rows = [row for row in curve.plan.rows if not row.state or row.state == REAL]
    methods = listed([style.figure_name(row.display_name) for row in rows] or [""])
    tasks = curve.plan.tasks
    where = f"{len(tasks)} tasks" if len(tasks) > 1 else style.task_text(tasks[0])
    width = int(_inches(axes) / style.letter())
    axes.set_title(textwrap.fill(f"{methods}: {where}", width))


def _is_dimension(curve: CurveScores) -> bool:
    return curve.plan.parameter == "n_components"


def _option_panel(axes: Axes, curve: CurveScores, looks: Mapping[str, Any]) -> None:
    if curve.main is not None:
        axes.axvline(curve.main, **_MAIN)
    by_task = _by_task(curve)
    for task, values, unusable in by_task:
        thick = task == by_task[-1][0]
        for row, trials, bad in zip(curve.plan.rows, values, unusable, strict=True):
            shown = thick and (row.role == REFERENCE or row.stands_for)
            if curve.in_states and not shown:
                continue
            look: dict[str, Any] = {"linewidth": 1.9, "unusable": bad}
            if not thick:
                look = {"linewidth": 0.9, "ls": looks[task], "marker": "", "label": "_"}
            leading = thick and row.role == REFERENCE and row.state == REAL
            style.draw_line(axes, row, curve.values, trials, band=leading, **look)
    _scale(axes, curve)
    style.hide_spines(axes, grid="y")


def _by_name(panels: Sequence[Axes]) -> dict[str, Line2D]:
    lines: dict[str, Any] = {}
    for axes in panels:
        handles, names = axes.get_legend_handles_labels()
        lines.update(zip(names, handles, strict=True))
    return lines


def _scale(axes: Axes, curve: CurveScores) -> None:
    """Scale the axis of values, logarithmically if they differ much."""
    values = np.asarray(curve.values)
    log = values[0] > 0 and values[-1] / values[0] >= 20
    axes.set_xscale("log" if log else "linear")
    places = np.log(values) if log else values
    margin = 0.05 * float(np.ptp(places)) or 0.5
    ends = np.array([places[0] - margin, places[-1] + margin])
    axes.set_xlim(*(np.exp(ends) if log else ends))
    _tick(axes, curve.values, curve.main)


def _tick(axes: Axes, values: Sequence[float], main: float | None = None) -> None:
    """Set ticks at the ends, the value of the main run, and others if space allows."""
    places = axes.xaxis.get_transform().transform(values)
    span, lengths = float(np.ptp(places)), [len(value_text(v)) for v in values]
    of_letter = span * style.letter() / _inches(axes)

    def apart(i: int, k: int) -> bool:
        needed = of_letter * (1 + (lengths[i] + lengths[k]) / 2)
        return bool(abs(places[i] - places[k]) >= max(needed, 0.1 * span))

    positions: set[int] = set()
    first = [0, len(values) - 1, *(i for i, v in enumerate(values) if v == main)]
    for i in [*first, *range(len(values))]:
        if all(apart(i, k) for k in positions):
            positions.add(i)
    ticks = [values[i] for i in sorted(positions)]
    axes.set_xticks(ticks, [value_text(tick) for tick in ticks])
    axes.minorticks_off()


def _name_axis(axes: Axes, title: str) -> None:
    axes.set_xlabel(textwrap.fill(title, int(_inches(axes) / style.letter())))


def _inches(axes: Any) -> float:
    spec = axes.get_subplotspec()
    ratios = spec.get_gridspec().get_width_ratios()
    share = float(ratios[spec.colspan.start] / sum(ratios))
    return share * float(axes.figure.get_figwidth()) - 3 * style.letter()


def draw_bridges(
    parts: Sequence[tuple[Summary, Sequence[CurveScores]]], outputs: Paths
) -> None:
    """Draw one row of panels per benchmark: accuracy by pairs, and by labels."""
    height = style.scale() * (2.7 * len(parts) + 0.5)
    with style.canvas(style.width(), height, outputs) as figure:
        shared: Any = {"squeeze": False, "width_ratios": [1.25, 1], "sharey": "row"}
        grid = figure.subplots(len(parts), 2, **shared)
        for panels, (summary, curves) in zip(grid, parts, strict=True):
            pairs = next(curve for curve in curves if curve.plan.parameter == PAIRS)
            of_labels = [curve for curve in curves if curve.plan.parameter == LABELS]
            title = f"{summary.plan.title}: {task_title(pairs.plan.tasks[0])}"
            panels[0].set_title(style.plain_text(title), fontweight="bold", loc="left")
            _pair_panel(panels[0], summary, pairs)
            figure.parts |= {"pairs", *(["labels"] if of_labels else [])}
            if of_labels:
                methods = [row.method for row in pairs.plan.rows]
                _beside_pairs(panels[1], of_labels[0], methods)
            else:
                panels[1].set_axis_off()
            panels[0].set_ylabel("accuracy (%)")
        handles = list(_by_name(grid.flat[::-1]).values())
        style.add_legend(figure, handles, "lower center")
        figure.describe([summary.plan for summary, _ in parts])


def _pair_panel(axes: Axes, summary: Summary, curve: CurveScores) -> None:
    task = summary.tasks.index(curve.plan.tasks[0])
    ends = [0.0, curve.values[-1]]
    for i, row in enumerate(summary.rows):
        single = row.role in (REFERENCE, BASELINE) or row.stands_for
        if row.setting == MAIN and (single or row.bridge == SHARED_ONLY):
            values = summary.accuracy[i, task, : curve.plan.n_trials]
            twice, look = np.stack([values] * 2), _across_look(row)
            style.draw_line(axes, row, ends, twice, **look)
        accuracy, unusable = curve.accuracy[:, 0], curve.unusable()[:, 0]
    lines = list(zip(curve.plan.rows, accuracy, unusable, strict=True))
    for place, (row, values, degenerate) in enumerate(lines):
        look = {"lw": 1.7, "zorder": 3, "unusable": degenerate}
        shifted = np.multiply(curve.values, 1.08 ** (place - (len(lines) - 1) / 2))
        style.draw_line(axes, row, shifted, values, bars=True, **look)
    axes.set_xscale("symlog", linthresh=curve.values[0])
    _bridge_axis(axes, (0.0, *curve.values), curve)


def _across_look(row: Row) -> dict[str, Any]:
    information = "labels only" if row.role == REFERENCE else "no source"
    name = style.figure_name(row.display_name)
    label = name if row.bridge else f"{name}: {information}"
    dashes = style.DASHES if row.role == BASELINE else "-"
    return {"lw": 1.2, "label": label, "ls": dashes}


def _beside_pairs(axes: Axes, curve: CurveScores, methods: Sequence[str]) -> None:
    for row, values in zip(curve.plan.rows, curve.accuracy[:, 0], strict=True):
        shown = row.kind == WITH_BRIDGE or row.role or row.method in methods
        if shown or row.stands_for:
            look = {"lw": 1.7} if row.method in methods else _across_look(row)
            style.draw_line(axes, row, curve.values, values, **look)
    _bridge_axis(axes, curve.values, curve)


def _bridge_axis(axes: Axes, values: Sequence[float], curve: CurveScores) -> None:
    _tick(axes, values)
    _name_axis(axes, parameter_title(curve.plan.parameter))
    style.hide_spines(axes, grid="y")
