"""Rows to label next, and the test of two fits on their labels.

A label can tell two fits apart only if they disagree. Rows to label are therefore drawn
from those on which the bet and `target-only` disagree, in random order, so that a sign
test holds for any first part of them, which is a random sample of these rows. They are
not a random sample of the target, and are never held out.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtrc

from cdspp.analysis.hold_outs import Problem
from cdspp.analysis.verdicts import ALPHA
from cdspp.core.errors import DataError
from cdspp.core.seeding import generator
from cdspp.methods.base import Int
from cdspp.methods.labels import read_labels

ROW, LABEL, TESTED, MADE_OF = "row", "label", "tested", "made_of"


class OtherTables(DataError):
    """Rows to label that were drawn for other tables or fits."""


class SignTest(NamedTuple):
    """The labels of `n_rows` rows on which two fits disagree, and their result.

    `first` and `second` count the rows that only that fit labels correctly. `winner` is
    the index of the fit that is right more often than chance explains: 0, 1, or None.
    """

    n_rows: int
    first: int
    second: int

    @property
    def p_value(self) -> float:
        """The probability of this lead, or a larger one, between equally good fits."""
        most, n = max(self.first, self.second), self.first + self.second
        return float(bdtrc(most - 1, n, 0.5)) if most else 1.0

    @property
    def winner(self) -> int | None:
        """The index of the fit that wins the exact one-sided test at 5 %."""
        if self.p_value > ALPHA:
            return None
        return 0 if self.first > self.second else 1


def draw_rows(problem: Problem, fits: Mapping[str, Int], seed: int) -> pd.DataFrame:
    """Return the unlabelled rows that two fits label differently, in random order.

    Columns are `order`, the `row` of X, the label by each fit, an empty `label` to fill
    in, `tested`, and `made_of`: digests of both tables and both fits.
    """
    first, second = fits.values()
    places = np.flatnonzero(first != second)
    places = generator("compare", seed, "rows to label").permutation(places)
    source, classes = problem.source, problem.classes
    bridge = repr(source.shared_columns), *(source.paired_rows or ())
    parts = {
        "source": (source.X, source.y, *bridge),
        "target": (problem.X, problem.codes, str(classes.tolist())),
        **{name: (codes,) for name, codes in fits.items()},
    }
    columns = {
        "order": np.arange(1, len(places) + 1),
        ROW: problem.unlabelled[places],
        **{name: classes[code[places]].astype(object) for name, code in fits.items()},
        LABEL: "",
        TESTED: "",
        MADE_OF: " ".join(f"{name}:{_digest(each)}" for name, each in parts.items()),
    }
    return pd.DataFrame(columns)


def _digest(parts: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        text = isinstance(part, str)
        digest.update(part.encode() if text else np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]


def read_labelled(
    filled: pd.DataFrame, current: pd.DataFrame, problem: Problem
) -> tuple[Int, Int, SignTest]:
    """Return positions and class codes of the labels that a user filled in, and a test.

    The test counts the unbroken run of labels from the top; once a test has counted
    rows, it never counts others. DataError: the rows were drawn from other tables or
    fits, were changed, or have a label that is not a class.
    """
    rows = _in_order(filled, current)
    labels, labelled = read_labels(rows[LABEL].tolist())
    by_name = {str(label): code for code, label in enumerate(problem.classes.tolist())}
    unknown = [str(label) for label in labels if str(label) not in by_name]
    if unknown:
        fault = f"{unknown[0]!r} is not one of the classes {', '.join(by_name)}"
        remedy = "Write a class as the tables spell it."
        raise DataError(f"rows to label: {fault}. {remedy}")
    codes = np.full(len(rows), -1)
    codes[labelled] = [by_name[str(label)] for label in labels]
    tested = rows[TESTED].astype(str).str.strip().ne("").to_numpy()
    run = tested if tested.any() else np.logical_and.accumulate(labelled)
    first, second = (
        rows[name].astype(str).map(by_name).to_numpy()[run] == codes[run]
        for name in current.columns[2:4]  # one per fit
    )
    test = SignTest(int(run.sum()), int(sum(first > second)), int(sum(second > first)))
    return rows[ROW].to_numpy()[labelled], codes[labelled], test


def _in_order(filled: pd.DataFrame, current: pd.DataFrame) -> pd.DataFrame:
    made_of = dict.fromkeys(current[MADE_OF].head(1))
    if MADE_OF in filled and (filled.empty or not filled[MADE_OF].isin(made_of).all()):
        digests = {*" ".join(filled[MADE_OF].astype(str)).split()}
        changed = [part for part in " ".join(made_of).split() if part not in digests]
        names = ", ".join(part.partition(":")[0] for part in changed) or "fit"
        remedy = "Compare the same tables with the same options, or draw new rows."
        fault = f"rows to label: these rows were drawn for a different {names}"
        raise OtherTables(f"{fault}. {remedy}")
    if lacking := [name for name in current.columns if name not in filled.columns]:
        rest = "and leave the other columns unchanged"
        remedy = f"Fill labels into the rows that compare drew, {rest}."
        raise DataError(f"rows to label: no column {lacking[0]!r}. {remedy}")
    rows = filled.sort_values("order", kind="stable").reset_index(drop=True)
    fixed = [*current.columns[:4]]  # order, row, and its label by each fit
    expected = current.head(len(rows))[fixed].astype(str)
    if not rows[fixed].astype(str).equals(expected):
        fault = "rows are missing, or cells other than labels have changed"
        remedy = "Use the rows as compare drew them, and only fill in labels."
        raise DataError(f"rows to label: {fault}. {remedy}")
    return rows
