"""The result of `compare`: a vote, how right it is, and the next steps."""

import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from cdspp.analysis.transfer import Transfer, margin_text
from cdspp.analysis.vote import LEVEL, NO_EFFECT, Estimate, SourceGain
from cdspp.core.wording import aligned, counted, in_points, listed, sentence

ENOUGH = 20  # rows that are worth labelling at once
SCHEMA_VERSION = 3  # of `Comparison.to_dict`
_DEPLOY = """\
model = found.estimator  # found = cdspp.compare(...)
model.transduction_, model.predict(new_rows)"""
_LABEL = """\
rows = found.rows_to_label.head(20)
rows["label"] = [...]
cdspp.compare(X, y, source=source, labelled=rows)  # or a list of all rounds"""


class Added(NamedTuple):
    """Rows that were labelled on purpose, and what their labels changed.

    Of `n_rows` rows the vote had `n_right` right before. With their labels, `n_changed`
    of the other unlabelled rows have another label than without.
    """

    n_rows: int
    n_right: int
    n_changed: int


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`; accuracies and gains are fractions.

    Attributes
    ----------
    accuracy : Estimate
        Accuracy of the vote on the unlabelled rows, with an 80 % interval: by held-out
        labelled rows, weighted to the class shares expected among unlabelled rows. A
        row is judged by `predict` of fits without it, and by a vote with weights from
        the other rows only. NaN if nothing could be held out.
    balanced_accuracy : Estimate
        The same, with each class counting equally.
    source_gain : SourceGain or None
        The accuracy of the vote minus that of the vote of the members without the
        source, its interval, and the share of rows on which both differ; `verdict` is
        one of `cdspp.analysis.transfer`. None without a source.
    candidates : DataFrame
        By method: what it uses of the source, its `weight` in the vote, zero for named
        methods that did not join, `accuracy` on held-out rows, `gain` over
        `target-only`, shrunk towards zero, and the share of `degenerate` fits.
    rows_to_label : DataFrame
        Unlabelled rows, those with the least certain vote first.
    n_labelled, n_unlabelled, fewest, repeats : int
        Labelled rows, without those labelled on purpose; rows that have no label yet;
        labelled rows of the smallest class; hold-outs, none if no class has two labels.
    untested : tuple of str
        Classes with a single label, which is never held out.
    added : Added
        Rows that were labelled on purpose.
    next_steps : tuple of str
        Code or commands that deploy the vote, and that improve it.
    note : str
        Notes on rows and fits; often empty.
    """

    accuracy: Estimate
    balanced_accuracy: Estimate
    source_gain: SourceGain | None
    rows_to_label: pd.DataFrame
    n_labelled: int
    n_unlabelled: int
    fewest: int
    repeats: int
    untested: tuple[str, ...]
    added: Added
    candidates: pd.DataFrame
    next_steps: tuple[str, ...] = (_DEPLOY, _LABEL)
    note: str = ""
    fit: Callable[[], Any] | None = None

    @cached_property
    def estimator(self) -> Any:
        """The vote, fitted on all labelled rows when it is first read (`Vote`)."""
        assert self.fit is not None
        return self.fit()

    @property
    def members(self) -> pd.DataFrame:
        """The candidates that vote."""
        return self.candidates[self.candidates["weight"] > 0]

    @property
    def lines(self) -> list[str]:
        """The answer: what to use, the source, what to do next."""
        return [
            self._accuracy_line(),
            *self._balanced_line(),
            *self._source_line(),
            *self._added_line(),
            self._label_line(),
        ]

    def _accuracy_line(self) -> str:
        use = f"Use the vote of {counted(len(self.members), 'method')}"
        if not self.n_labelled:
            why = "no row of the target has a label"
            return f"{use} that learn from the source. It is unchecked: {why}."
        if not self.repeats:
            why = "no class has two labels, so nothing was tested"
            return f"{use}. How often it is right is unknown: {why}."
        value, interval = _of_100(self.accuracy)
        return f"{use}: about {value} labels will be right ({interval})."

    def _balanced_line(self) -> Iterator[str]:
        if not self.repeats:
            return
        value, interval = _of_100(self.balanced_accuracy)
        text = f"If every class counts equally, {value} ({interval})."
        fewer = "a label" if self.fewest < 5 else "a fifth of the labels"
        bias = f"Both come from fits with {fewer} less per class, which are worse"
        if self.untested:
            bias += f", and omit classes with a single label ({listed(self.untested)})"
        yield f"{text} {bias}."

    def _source_line(self) -> Iterator[str]:
        if (found := self.source_gain) is None or math.isnan(found.gain):
            return
        gain, low, high = (in_points(x, sign=True) for x in found[:3])
        differ = f"Without it, {in_points(found.differing)} of 100 labels differ"
        if not found.unknown:
            exact = "which you labelled: the answer is exact" if found.differing else ""
            numbers, differ = (
                f"{gain} points",
                f"{differ}{exact and ', all of '}{exact}",
            )
        else:
            numbers = f"{gain} points ({100 * LEVEL:.0f} % interval {low} to {high})"
            differ += ", so the gain is no larger"
        answer = sentence(found.verdict.sentence)
        if found.verdict is Transfer.INCONCLUSIVE:
            answer = f"Whether the source helps is {found.verdict.sentence}"
        if found.verdict is Transfer.NO_EFFECT:
            answer += f" ({margin_text(NO_EFFECT)})"
        yield f"{found.verdict.sign} {answer}: {numbers}. {differ}."

    def _added_line(self) -> Iterator[str]:
        n_rows, n_right, n_changed = self.added
        if n_rows:
            before = f"Of {counted(n_rows, 'row')} that you labelled, it had {n_right}"
            others = f"{n_changed} of {counted(self.n_unlabelled, 'other label')}"
            yield f"{before} right before. With these labels, {others} changed."

    def _label_line(self) -> str:
        if not self.n_unlabelled:
            return "No row is unlabelled: the vote is for new rows."
        number = min(ENOUGH, self.n_unlabelled)
        rows = f"{counted(number, 'row')} on which the vote is least certain"
        return f"To improve it, label the {rows}, and compare again."

    def grid(self) -> list[list[str]]:
        """Return the table of candidates as text, with a heading."""
        cells = [["Method", "Uses", "Weight, %", "Accuracy, %", "Gain"]]
        for row in self.candidates.itertuples():
            numbers = [
                f"{100 * row.weight:.1f}" if row.weight else "does not vote",
                "" if pd.isna(row.accuracy) else in_points(row.accuracy),
                in_points(row.gain, sign=True) if self.repeats else "",
            ]
            cells.append([str(row.display_name), str(row.information), *numbers])
        return cells

    @property
    def remarks(self) -> list[str]:
        """Notes beyond the answer, on rows and fits."""
        return [self.note] if self.note else []

    def __repr__(self) -> str:
        """Show the answer, the candidates and the next steps on one screen."""
        steps = [textwrap.indent(step, "    ") for step in self.next_steps]
        parts = ["\n".join(self.lines), "\n".join(aligned(self.grid()))]
        return "\n\n".join([*parts, "\n\n".join(steps), *self.remarks])

    def _repr_html_(self) -> str:
        heading, *lines = self.grid()
        frame = pd.DataFrame(lines, columns=heading)
        answer = "<br>".join(map(escape, self.lines))
        leads = zip(("To deploy it:", "To improve it:"), self.next_steps, strict=False)
        steps = "".join(
            f"<p>{lead}</p><pre><code>{escape(step)}</code></pre>"
            for lead, step in leads
        )
        remarks = "".join(f"<p>{escape(text)}</p>" for text in self.remarks)
        return f"<p>{answer}</p>{frame.to_html(index=False)}{steps}{remarks}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as values of JSON, by `SCHEMA_VERSION`."""
        candidates = self.candidates.astype(object).where(self.candidates.notna(), None)
        gain = self.source_gain
        return {
            "schema_version": SCHEMA_VERSION,
            "accuracy": _numbers(self.accuracy),
            "balanced_accuracy": _numbers(self.balanced_accuracy),
            "interval_level": LEVEL,
            "source_gain": gain and {**_numbers(gain), "verdict": gain.verdict.word},
            "n_labelled": self.n_labelled,
            "n_unlabelled": self.n_unlabelled,
            "fewest_labels_of_a_class": self.fewest,
            "repeats": self.repeats,
            "untested_classes": [*self.untested],
            "labelled_on_purpose": self.added._asdict(),
            "candidates": candidates.to_dict("records"),
            "answer": self.lines,
            "next_steps": [*self.next_steps],
            "remarks": self.remarks,
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw the weight of each candidate in the vote, in percent.

        Returns the Matplotlib axes, new ones if none are given.
        """
        import matplotlib.pyplot as plt

        members = self.members[::-1]
        if axes is None:
            _, axes = plt.subplots(figsize=(6.5, 1.2 + 0.3 * len(members)))
        axes.barh(members["display_name"], 100 * members["weight"])
        axes.set_xlabel("weight in the vote, %")
        return axes


def _of_100(found: Estimate) -> tuple[str, str]:
    value, low, high = (f"{100 * x:.0f}" for x in found)
    return f"{value} of 100", f"{100 * LEVEL:.0f} % interval {low} to {high}"


def _numbers(found: Estimate | SourceGain) -> dict[str, float | None]:
    parts = found._asdict().items()
    return {name: None if math.isnan(value) else value for name, value in parts}
