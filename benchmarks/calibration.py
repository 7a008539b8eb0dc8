"""The figure of the estimated accuracy of the vote against the true one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchmarks.decisions import GATED, VOTE
from cdspp.core.names import PathLike
from cdspp.report.figures.style import DASHES, INK, MUTED, canvas, hide_spines, width

__all__ = ["draw_calibration", "fifths"]

COLOUR = "#0067a8"


def fifths(results: pd.DataFrame) -> pd.DataFrame:
    """Return number, mean `estimate` and mean `accuracy` by fifth of the estimate."""
    votes = results[results["policy"] == VOTE].dropna(subset="estimate")
    fifth = np.ceil(5 * votes["estimate"].rank(method="first") / len(votes))
    means = votes.groupby(fifth)[["estimate", "accuracy"]].mean()
    return means.assign(draws=votes.groupby(fifth).size())


def draw_calibration(results: Mapping[str, pd.DataFrame], path: PathLike) -> None:
    """Draw every draw with two labels a class or more, a panel for each part.

    `results` are those of `benchmarks.decisions.outcomes`, by title of the part.
    """
    parts = {
        title: part[part["labels"].between(*GATED)] for title, part in results.items()
    }
    with canvas(width(), 3.9, [path]) as figure:
        row = figure.subplots(1, len(parts), sharex=True, sharey=True, squeeze=False)
        for axes, (title, part) in zip(row[0], parts.items(), strict=True):
            votes, means = part[part["policy"] == VOTE], fifths(part)
            x, y = 100 * votes["estimate"], 100 * votes["accuracy"]
            axes.axline((50, 50), slope=1, color=MUTED, linestyle=DASHES, linewidth=1)
            axes.plot(x, y, "o", color=COLOUR, alpha=0.35, markersize=3.5)
            axes.plot(100 * means["estimate"], 100 * means["accuracy"], "s-", color=INK)
            n_families = part["family"].nunique()
            axes.set_title(f"{title}: {n_families} families, {len(votes)} draws")
            axes.set_xlabel("estimated: “about … of 100”")
            axes.set(aspect="equal", xlim=(0, 100), ylim=(0, 100))
            hide_spines(axes, grid="both")
        row[0, 0].set_ylabel("right of 100")
