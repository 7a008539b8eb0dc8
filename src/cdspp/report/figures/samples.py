"""Figures of one task's samples: the confusion matrix, and the subspace."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from cdspp.core.names import REFERENCE, PathLike, Paths
from cdspp.core.wording import task_title
from cdspp.report.figures import style
from cdspp.report.figures.drawing import CaptionedFigure, trials_text
from cdspp.stages.formats import labels_by_id, read_fit, read_subspace
from cdspp.study.plan import BenchmarkPlan, Plans

_LONGEST = 32  # letters of a class
_GROUPS: Mapping[str, Mapping[str, Any]] = {
    "source": {"marker": "s", "s": 7, "alpha": 0.3, "linewidths": 0},
    "unlabelled": {"marker": "o", "s": 6, "alpha": 0.8, "linewidths": 0},
    "labelled": {"marker": "*", "s": 38, "edgecolors": style.INK, "linewidths": 0.5},
}


def write_showcase(
    plans: Plans,
    fits: Paths,
    subspace: Paths,
    source_labels: Paths,
    target_labels: Paths,
    outputs: Paths,
) -> None:
    """Draw the figures of the showcase task: confusion and subspace."""
    [projections], [source], [target] = subspace, source_labels, target_labels
    confusions = count_confusions(fits, target, plans[0])
    confusion = partial(draw_confusion, confusions, plans[0])
    of_samples = partial(draw_subspace, projections, source, target, plans[0])
    style.draw_each(outputs, {"confusion": confusion, "subspace": of_samples})


def draw_confusion(
    confusions: pd.DataFrame, plan: BenchmarkPlan, outputs: Paths
) -> None:
    """Draw the confusion matrix of the showcase task, summed over its trials."""
    classes, counts = list(confusions), confusions.to_numpy()
    n_classes = len(classes)
    size = max(3.8, 0.4 * n_classes + 1.5) * style.scale()
    side = min(size, style.width() - 0.6)
    with style.canvas(side + 0.6, side, outputs) as figure:
        axes = figure.subplots()
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        image = axes.imshow(100 * shares, cmap="Blues", vmin=0, vmax=100)
        for (i, j), count in np.ndenumerate(counts):
            if count and n_classes <= 20:
                ink = "white" if shares[i, j] > 0.5 else style.INK
                axes.text(j, i, str(count), ha="center", va="center", color=ink)
                figure.parts.add("counts")
        every = math.ceil(n_classes / 30)
        shown = range(0, n_classes, every)
        names = [style.plain_text(classes[i], _LONGEST) for i in shown]
        upright = max(map(len, names), default=0) > 2
        axes.set_xticks(shown, names, rotation=90 if upright else 0)
        axes.set_yticks(shown, names)
        axes.set_xlabel("predicted class")
        axes.set_ylabel("true class")
        n_trials = confusions.attrs["n_trials"]
        figure.trials |= {n_trials} if n_trials else set()
        figure.describe([plan], task=task_title(plan.showcase))
        if plan.showcase:
            name = style.figure_name(plan.role_name(REFERENCE))
            where = (
                f"{style.task_text(plan.showcase)}, sum over {trials_text([n_trials])}"
            )
            axes.set_title(f"{name}, {where}" if side > 4.5 else f"{name},\n{where}")
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes, shrink=0.75, aspect=26, pad=0.02)
        bar.set_label("share of the true class (%)")
        bar.outline.set_visible(False)


def count_confusions(
    fits: Sequence[PathLike], labels: PathLike, plan: BenchmarkPlan
) -> pd.DataFrame:
    """Count by class (row) and prediction, at the last iteration, over all trials.

    The attribute `n_trials` of the frame is their number.
    """
    truth = labels_by_id(labels)
    frames = []
    for path in fits:
        fit = read_fit(path)
        n_trials = plan.fit_trials[f"{fit.key.setting}/{fit.key.method}"]
        rows = pd.DataFrame(fit.first_trials(n_trials).columns)
        steps = rows.groupby("trial")["iteration"].transform("max")
        last = rows[rows["iteration"] == steps]
        frames.append(last.assign(true=last["id"].map(truth)))
    pairs = pd.concat(frames).query("true != ''")
    classes = sorted({*truth.values(), *pairs["predicted"]} - {""})
    counts = pd.crosstab(pairs["true"], pairs["predicted"])
    counts = counts.reindex(index=classes, columns=classes, fill_value=0)
    counts.attrs["n_trials"] = int(pairs["trial"].nunique())
    return counts


def draw_subspace(
    subspace: PathLike,
    source_labels: PathLike,
    target_labels: PathLike,
    plan: BenchmarkPlan,
    outputs: Paths,
) -> None:
    """Draw the common subspace at first and at last, with accuracies, in one view."""
    samples = read_subspace(subspace)
    labels = {"source": labels_by_id(source_labels)}
    labels["unlabelled"] = labels["labelled"] = labels_by_id(target_labels)
    pairs = zip(map(str, samples["group"]), map(str, samples["id"]), strict=True)
    classes = [labels.get(group, {}).get(name, "") for group, name in pairs]
    samples["class"] = np.asarray(classes)
    steps = np.unique(samples["iteration"])
    # The first and the last always have a panel.
    places = {0, len(steps) - 1 - int(samples["final_fit"]), len(steps) - 1}
    steps = steps[sorted(places & {*range(len(steps))})]
    n_columns = min(2 if style.narrow() else 3, len(steps)) or 1
    width = style.width(4.2 * n_columns + 0.6)
    line = width / n_columns / style.scale() + 0.2
    sizes: Any = {"most": width, "line": line, "rest": 0.7}
    blank = [""] * len(steps)
    with style.gridded(blank, n_columns, outputs, **sizes) as (figure, panels):
        for axes, step, letter in zip(panels, steps.tolist(), "abc", strict=False):
            _subspace_panel(axes, samples, step)
            tested = (samples["iteration"] == step) & (samples["group"] == "unlabelled")
            right = samples["predicted"][tested] == samples["class"][tested]
            last = samples["final_fit"] and step == samples["iteration"].max()
            name = "Final fit" if last else f"Iteration {step}"
            score = f": {100 * right.mean():.1f} %" if len(right) else ""
            axes.set_title(f"({letter}) {name}{score}")
        _subspace_legend(figure, samples)
        figure.parts |= {"samples"} if len(steps) else set()
        figure.parts |= {"final"} if len(steps) and samples["final_fit"] else set()
        figure.describe([plan], task=task_title(plan.showcase), trial="1")
        if not len(steps):
            figure.text(0.5, 0.5, "no subspace: the fit failed", ha="center")


def _subspace_panel(axes: Axes, samples: Mapping[str, NDArray[Any]], step: int) -> None:
    colours = _class_colours(samples["class"])
    now = samples["iteration"] == step
    for group, look in _GROUPS.items():
        members = now & (samples["group"] == group)
        colour = [colours[name] for name in samples["class"][members]] or None
        raster = len(samples["id"]) > 6000  # more dots make vector graphics slow
        x, y = samples["xy"][members].T
        axes.scatter(x, y, c=colour, rasterized=raster, **look)
    low, high = samples["xy"].min(axis=0), samples["xy"].max(axis=0)
    centre, half = (low + high) / 2, 0.53 * float((high - low).max() or 1.0)
    x, y = np.transpose([centre - half, centre + half])
    axes.set(xlim=x, ylim=y, aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    _name_classes(axes, samples, now & (samples["group"] == "unlabelled"))


def _name_classes(
    axes: Axes, samples: Mapping[str, NDArray[Any]], tested: NDArray[Any]
) -> None:
    """Name few classes, if names are short, at the medians of unlabelled samples."""
    names = sorted(set(samples["class"][tested].tolist()) - {""})
    if len(names) > len(style.class_colours()) or max(map(len, names), default=0) > 3:
        return
    halo = [withStroke(linewidth=3, foreground="white")]
    look: Any = {"fontweight": "bold", "ha": "center", "va": "center"}
    for name in names:
        x, y = np.median(samples["xy"][tested & (samples["class"] == name)], axis=0)
        text = style.plain_text(name, _LONGEST)
        axes.text(x, y, text, color=style.INK, path_effects=halo, **look)
        CaptionedFigure.of(axes).parts.add("names")


def _class_colours(classes: NDArray[Any]) -> dict[str, Any]:
    names = sorted(set(classes.tolist()) - {""})
    colours: Sequence[Any] = style.class_colours()
    if len(names) > len(colours):
        turbo = colormaps["turbo"](np.linspace(0.03, 0.97, len(names)))
        colours = list(map(tuple, turbo))
    return {**dict(zip(names, colours, strict=False)), "": style.MUTED}


def _subspace_legend(
    figure: CaptionedFigure, samples: Mapping[str, NDArray[Any]]
) -> None:
    dots: Any = {"color": style.MUTED, "linestyle": "none", "markersize": 5}
    star = dots | {"marker": "*", "markersize": 9, "mec": style.INK}
    handles = [
        Line2D([], [], label="source", marker="s", **dots),
        Line2D([], [], label="labelled target", **star),
        Line2D([], [], label="unlabelled target", marker="o", **dots),
    ]
    style.add_legend(figure, handles, "upper left")
    colours = _class_colours(samples["class"])
    colours.pop("")
    if len(colours) <= len(style.class_colours()):
        look: Any = {"marker": "o", "linestyle": "none"}
        names = [style.plain_text(name, _LONGEST) for name in colours]
        pairs = zip(names, colours.values(), strict=True)
        handles = [Line2D([], [], label=n, color=c, **look) for n, c in pairs]
        style.add_legend(figure, handles, "lower center")
