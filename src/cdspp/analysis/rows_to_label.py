"""Rows to label next: those on which the vote is least certain, and their labels.

Labels are worth most where the largest share of the vote is least ahead of the next.
Such rows are no random sample of the target: their labels join the fits on all labelled
rows, and count exactly where an answer concerns them, but they are never held out.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.hold_outs import Problem
from cdspp.analysis.summary import Floats
from cdspp.core.errors import DataError, problems_text
from cdspp.core.labels import UNLABELLED
from cdspp.core.seeding import generator
from cdspp.methods.base import Int
from cdspp.methods.labels import read_labels
from cdspp.methods.vote import DECIMALS

ROW, LABEL, MADE_OF = "row", "label", "made_of"


def rows_to_label(
    problem: Problem, places: Int, shares: Floats, made_of: str, seed: int
) -> pd.DataFrame:
    """Return unlabelled rows, the least certain first.

    Parameters
    ----------
    problem : Problem
        The tables.
    places : ndarray of shape (n,)
        Positions of the unlabelled rows.
    shares : ndarray of shape (n, n_classes)
        Share of the vote for each class.
    made_of : str
        `digests` of the tables.
    seed : int
        Seed of the order of equally uncertain rows.

    Returns
    -------
    DataFrame
        Columns: the `row` of X, the class of the `vote` and its `runner_up`, the
        `margin` between their shares, an empty `label` to fill in, and `made_of`.
    """
    ranking, margins = ranked(shares)
    order = by_margin(margins, seed)
    first, second = problem.classes[ranking[order]].astype(object).T
    columns = {
        ROW: places[order],
        "vote": first,
        "runner_up": second,
        "margin": margins[order],
        LABEL: "",
        MADE_OF: made_of,
    }
    return pd.DataFrame(columns)


def ranked(shares: Floats) -> tuple[Int, Floats]:
    """Return the class of the vote and its runner-up, (n, 2), and their margin."""
    # Equal classes keep their order, so that ties are resolved as in the vote.
    ranking = np.argsort(-shares.round(DECIMALS), axis=1, kind="stable")[:, :2]
    ordered = np.take_along_axis(shares, ranking, axis=1)
    return ranking, (ordered[:, 0] - ordered[:, 1]).round(DECIMALS)


def by_margin(margins: Floats, seed: int) -> Int:
    """Return rows by ascending margin, rows of the same margin in random order."""
    random = generator("compare", seed, "rows to label").permutation(len(margins))
    return random[np.argsort(margins[random], kind="stable")]


def digests(problem: Problem) -> str:
    """Return digests of both tables, with the labels they came with."""
    parts: dict[str, tuple[Any, ...]] = {"source": ()}
    if (source := problem.source) is not None:
        bridge = repr(source.shared_columns), *(source.paired_rows or ())
        parts["source"] = source.X, source.y, *bridge
    parts["target"] = problem.X, problem.codes, str(problem.classes.tolist())
    return " ".join(f"{name}:{_digest(each)}" for name, each in parts.items())


def _digest(parts: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        text = isinstance(part, str)
        digest.update(part.encode() if text else np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]


def read_labelled(
    files: Sequence[pd.DataFrame], problem: Problem, made_of: str
) -> tuple[Int, Int]:
    """Return positions and class codes of the labels that a user filled in.

    DataError: the rows were drawn for other tables, already have a label, have two
    different ones, or have one that is not a class.
    """
    by_name = {_name(label): k for k, label in enumerate(problem.classes.tolist())}
    found: dict[int, int] = {}
    faults: dict[str, None] = {}
    for rows in files:
        _check(rows, made_of)
        labels, labelled = read_labels(rows[LABEL].tolist())
        places = rows[ROW].to_numpy()[labelled].tolist()
        for place, label in zip(places, map(_name, labels.tolist()), strict=True):
            if label not in by_name:
                fault = f"{label!r} is not one of the classes {', '.join(by_name)}"
                faults[f"{fault}. Write a class as the tables spell it."] = None
            elif not 0 <= place < len(problem.X) or problem.codes[place] != UNLABELLED:
                fault = f"row {place} is not an unlabelled row of the target"
                faults[f"{fault}. Only fill in labels, keep the other columns."] = None
            elif found.setdefault(place, by_name[label]) != by_name[label]:
                fault = f"row {place} has two labels, one of them {label!r}"
                faults[f"{fault}. Give each row one label."] = None
    if faults:
        raise DataError(problems_text("rows to label", [*faults]))
    return np.array([*found], dtype=np.intp), np.array([*found.values()], dtype=np.intp)


def _name(label: Any) -> str:
    """Return a class as text; numbers with gaps among them became floats."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)


def _check(rows: pd.DataFrame, made_of: str) -> None:
    for name in (ROW, LABEL, MADE_OF):
        if name not in rows.columns:
            remedy = "Fill labels into the rows that compare wrote"
            raise _error(f"no column {name!r}", f"{remedy}, and keep their columns.")
    if rows.empty or not (rows[MADE_OF] == made_of).all():
        known = {*" ".join(rows[MADE_OF].astype(str)).split()}
        changed = [part for part in made_of.split() if part not in known]
        names = ", ".join(part.partition(":")[0] for part in changed) or "table"
        remedy = "Compare the tables that they were written for, or write new rows."
        raise _error(f"these rows were written for a different {names}", remedy)


def _error(fault: str, remedy: str) -> DataError:
    return DataError(f"rows to label: {fault}. {remedy}")
