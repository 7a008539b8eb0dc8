"""The figures of one task's samples: who is mistaken for whom, and the subspace."""

from __future__ import annotations

import math
import os
import string
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.report.figures.style import (
    CLASS_COLOURS,
    INK,
    MUTED,
    WIDTH,
    by_kind,
    canvas,
    figure_name,
    plain_text,
    task_text,
)
from cdspp.stages.artifacts import labels_by_id, read_subspace
from cdspp.stages.fit_files import read_fit
from cdspp.study.plan import BenchmarkPlan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["count_confusions", "draw_confusion", "draw_showcase", "draw_subspace"]

PathLike = str | os.PathLike[str]

_MAX_COUNTED = 20
_LONGEST = 32  # letters of a class
_MAX_PANELS = 6
_MOST_VECTOR_DOTS = 6000
_GROUPS: Mapping[str, Mapping[str, Any]] = {
    "source": {"marker": "s", "s": 9, "alpha": 0.4, "linewidths": 0},
    "unlabelled": {"marker": "o", "s": 9, "alpha": 0.75, "linewidths": 0},
    "labelled": {"marker": "*", "s": 75, "edgecolors": INK, "linewidths": 0.6},
}


def draw_showcase(
    *,
    fits: Sequence[PathLike],
    subspace: PathLike,
    source_labels: PathLike,
    target_labels: PathLike,
    plan: BenchmarkPlan,
    outputs: Sequence[PathLike],
) -> None:
    """Draw the figures of the showcase task; parameters as of those it calls."""
    for kind, paths in by_kind(outputs, ("confusion", "subspace")).items():
        if kind == "confusion":
            draw_confusion(fits=fits, labels=target_labels, plan=plan, outputs=paths)
        else:
            draw_subspace(
                subspace=subspace,
                source_labels=source_labels,
                target_labels=target_labels,
                outputs=paths,
            )


def draw_confusion(
    *,
    fits: Sequence[PathLike],
    labels: PathLike,
    plan: BenchmarkPlan,
    outputs: Sequence[PathLike],
) -> None:
    """Draw the confusion matrix of the showcase task, summed over trials.

    Parameters
    ----------
    fits : sequence of path
        The showcase's predictions, one file a block; each has its record beside it.
    labels : path
        Labels of the target domain.
    plan : BenchmarkPlan
        The benchmark.
    outputs : sequence of path
        Files to write (svg, png).
    """
    classes, counts = count_confusions(fits, labels)
    n_classes = len(classes)
    side = float(np.clip(0.4 * n_classes + 1.5, 3.8, WIDTH - 0.6))
    with canvas(side + 0.6, side, outputs) as figure:
        axes = figure.subplots()
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        image = axes.imshow(100 * shares, cmap="Blues", vmin=0, vmax=100)
        if n_classes <= _MAX_COUNTED:
            _write_counts(axes, counts, shares)
        every = math.ceil(n_classes / 30)
        shown = range(0, n_classes, every)
        names = [plain_text(classes[i], _LONGEST) for i in shown]
        upright = max(map(len, names), default=0) > 2
        axes.set_xticks(shown, names, rotation=90 if upright else 0)
        axes.set_yticks(shown, names)
        axes.set_xlabel("predicted class")
        axes.set_ylabel("true class")
        axes.set_title(_showcase_title(plan))
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes, shrink=0.75, aspect=26, pad=0.02)
        bar.set_label("percent of the true class")
        bar.outline.set_visible(False)


def count_confusions(
    fits: Sequence[PathLike], labels: PathLike
) -> tuple[list[str], NDArray[np.int64]]:
    """Count predictions by true class, at each trial's last iteration.

    Parameters
    ----------
    fits : sequence of path
        Predictions, one file a block; each has its record beside it.
    labels : path
        Labels of the target domain.

    Returns
    -------
    classes : list of str
        All classes, sorted.
    counts : ndarray of shape (n_classes, n_classes)
        ``counts[i, j]``: samples of class i predicted as class j, over all trials.

    Raises
    ------
    DataError
        A fit is not what its record and path say, or a sample is not in `labels`.
    """
    truth = labels_by_id(labels)
    pairs: list[tuple[str, str]] = []
    for path in fits:
        rows = read_fit(path).columns
        for trial in np.unique(rows["trial"]):
            own = rows["trial"] == trial
            last = own & (rows["iteration"] == rows["iteration"][own].max())
            ids, predicted = rows["id"][last], rows["predicted"][last]
            unknown = [name for name in ids if name not in truth]
            if unknown:
                raise DataError(
                    f"{path}: no label for the sample {unknown[0]} in {labels}. "
                    "Give the labels of the task's target domain."
                )
            known = zip((truth[name] for name in ids), predicted, strict=True)
            pairs += [(label, guess) for label, guess in known if label]
    classes = sorted({*truth.values(), *(guess for _, guess in pairs)} - {""})
    place = {name: i for i, name in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for true, guess in pairs:
        counts[place[true], place[guess]] += 1
    return classes, counts


def _shown_steps(iterations: NDArray[Any]) -> NDArray[Any]:
    """Return the iterations that get a panel, the first and the last among them."""
    steps = np.unique(iterations)
    places = np.linspace(0, len(steps) - 1, min(len(steps), _MAX_PANELS))
    return np.asarray(steps[places.round().astype(int)])


def draw_subspace(
    *,
    subspace: PathLike,
    source_labels: PathLike,
    target_labels: PathLike,
    outputs: Sequence[PathLike],
) -> None:
    """Draw the common subspace at each iteration, all panels in one view.

    Titles give the accuracy of the round's predictions for the unlabelled rows.

    Parameters
    ----------
    subspace : path
        What `cdspp.stages.subspace.write_subspace` wrote.
    source_labels, target_labels : path
        Labels of the showcase task's two domains.
    outputs : sequence of path
        Files to write (svg, png).

    Raises
    ------
    DataError
        A file is damaged or holds something else.
    """
    shown = read_subspace(subspace)
    labels = {"source": labels_by_id(source_labels)}
    labels["unlabelled"] = labels["labelled"] = labels_by_id(target_labels)
    shown["class"] = np.asarray(
        [
            labels.get(str(group), {}).get(str(name), "")
            for group, name in zip(shown["group"], shown["id"], strict=True)
        ]
    )
    steps = _shown_steps(shown["iteration"])
    n_columns = min(3, len(steps)) or 1
    n_lines = math.ceil(len(steps) / n_columns) or 1
    width = min(WIDTH, 4.2 * n_columns + 0.6)
    height = (width / n_columns + 0.2) * n_lines + 0.7
    with canvas(width, height, outputs) as figure:
        grid = figure.subplots(n_lines, n_columns, squeeze=False).flat
        for place, axes in enumerate(grid):
            if place >= len(steps):
                axes.set_visible(False)
                continue
            step = int(steps[place])
            _subspace_panel(axes, shown, step)
            letter = string.ascii_lowercase[place]
            axes.set_title(f"({letter}) {_step_title(shown, step)}")
        _subspace_legend(figure, shown)
        if not len(steps):
            figure.text(0.5, 0.5, "no subspace: the fit failed", ha="center")


def _step_title(shown: Mapping[str, NDArray[Any]], step: int) -> str:
    tested = (shown["iteration"] == step) & (shown["group"] == "unlabelled")
    right = shown["predicted"][tested] == shown["class"][tested]
    last = shown["final_fit"] and step == shown["iteration"].max()
    name = "Final fit" if last else f"Iteration {step}"
    return f"{name}: {100 * right.mean():.1f} %" if len(right) else name


def _subspace_panel(axes: Axes, shown: Mapping[str, NDArray[Any]], step: int) -> None:
    colours = _class_colours(shown["class"])
    now = shown["iteration"] == step
    for group, look in _GROUPS.items():
        used = now & (shown["group"] == group)
        xy = shown["xy"][used]
        axes.scatter(
            xy[:, 0],
            xy[:, 1],
            c=[colours[name] for name in shown["class"][used]] or None,
            rasterized=len(shown["id"]) > _MOST_VECTOR_DOTS,
            **look,
        )
    low, high = _view(shown["xy"])
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)


def _view(xy: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One square view over all panels, with a margin."""
    low, high = xy.min(axis=0), xy.max(axis=0)
    centre, half = (low + high) / 2, 0.53 * float((high - low).max() or 1.0)
    return centre - half, centre + half


def _class_colours(classes: NDArray[Any]) -> dict[str, Any]:
    from matplotlib import colormaps

    names = sorted(set(classes.tolist()) - {""})
    if len(names) <= len(CLASS_COLOURS):
        colours: dict[str, Any] = dict(zip(names, CLASS_COLOURS, strict=False))
    else:
        wheel = colormaps["turbo"](np.linspace(0.03, 0.97, len(names)))
        colours = dict(zip(names, map(tuple, wheel), strict=True))
    return {**colours, "": MUTED}


def _subspace_legend(figure: Figure, shown: Mapping[str, NDArray[Any]]) -> None:
    from matplotlib.lines import Line2D

    groups = {"source": "s", "labelled": "*", "unlabelled": "o"}
    titles = {"source": "source", "labelled": "labelled target"}
    handles = [
        Line2D(
            [],
            [],
            marker=marker,
            color=MUTED,
            markeredgecolor=INK if group == "labelled" else MUTED,
            markersize=9 if group == "labelled" else 5,
            linestyle="none",
            label=titles.get(group, "unlabelled target"),
        )
        for group, marker in groups.items()
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=3)
    colours = _class_colours(shown["class"])
    colours.pop("")
    if len(colours) > len(CLASS_COLOURS):
        return
    names = [plain_text(name, _LONGEST) for name in colours]
    longest = max(map(len, names), default=0)
    room = max(1, int(figure.get_figwidth() / (0.075 * longest + 0.35)))
    handles = [
        Line2D([], [], marker="o", color=colour, linestyle="none", label=name)
        for name, colour in zip(names, colours.values(), strict=True)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(5, room) if longest > 3 else 10,
        handletextpad=0.1,
        columnspacing=1.2,
    )


def _write_counts(
    axes: Axes, counts: NDArray[np.int64], shares: NDArray[np.float64]
) -> None:
    for (i, j), count in np.ndenumerate(counts):
        if count:
            colour = "white" if shares[i, j] > 0.55 else INK
            axes.text(j, i, str(count), ha="center", va="center", color=colour)


def _showcase_title(plan: BenchmarkPlan) -> str:
    if plan.showcase is None:
        return ""
    name = figure_name(plan.display_name(plan.showcase.method))
    return f"{name}, {task_text(plan.showcase.task)}"
