"""The opening of the report: whether a source helps, by kind of transfer.

A *kind of transfer* is what source and target share: only labels, paired rows, or
shared columns. The reference represents its kind; the method that the study names first
represents every other kind, so that no result chooses it. The gain is over the method's
own fit without a source. For the verdict it must also beat every other control.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cdspp.analysis import source_help, transfer, verdicts
from cdspp.analysis.answers import explanation, tally_texts
from cdspp.analysis.transfer import Transfer
from cdspp.core.names import NO_SOURCE, REFERENCE, WITHOUT_SOURCE
from cdspp.core.wording import DASH, aligned, counted, in_points, listed, sentence

QUESTION = "Did the source help?"
LABELS_ONLY = "labels only"
# In the names of some rows.
_NO_SOURCE_SUFFIX = re.compile(f", (no source|{NO_SOURCE})$")
MOST_WORDS = 40  # in the sentence below the question


@dataclass(frozen=True)
class MethodTransfer:
    """A method on a benchmark: its kind of transfer, its gain, and its verdict.

    `accuracy`, the `gain` over its own fit without a source and its 95 % interval are
    fractions, NaN if unknown; `strongest` names the comparator over which the gain is
    least certain, `strongest_gain` is the gain over it. `reason` explains why the
    verdict is inconclusive, or has the margin of no effect.
    """

    row: str
    kind: str
    method: str
    accuracy: float
    gain: float
    low: float
    high: float
    trials: int
    strongest: str
    strongest_gain: float
    verdict: Transfer
    reason: str

    @property
    def over_strongest(self) -> verdicts.PairedGain:
        """The gain over the strongest comparator, without its interval."""
        return verdicts.gain_of([self.strongest_gain])


@dataclass(frozen=True)
class KindOfTransfer:
    """A kind of transfer on a benchmark, and the method that represents it.

    `of_kind` counts the verdicts on all methods of the kind, corrected for their
    number; an external reference has a line of its `own`. `fewer` has its number of
    trials if other lines have more, and is empty otherwise.
    """

    title: str
    of: MethodTransfer
    of_kind: str = ""
    own: bool = False
    fewer: str = ""

    def subtitle(self, method: str) -> str:
        """Return the line below the title, from the name of the method as shown."""
        names = [] if self.title == self.of.method else [method]
        return ", ".join([*names, *filter(None, [self.fewer])])


@dataclass(frozen=True)
class Opening:
    """The kinds of transfer on one benchmark, and the best fit without a source.

    That is the best of `n_without` fits on these test rows, empty if none ran.
    """

    title: str
    kinds: tuple[KindOfTransfer, ...]
    without: str = ""
    accuracy: float = math.nan
    n_without: int = 0

    @property
    def without_text(self) -> str:
        """The best fit without a source in words; empty without one."""
        if not self.without:
            return ""
        best = f"{in_points(self.accuracy)} % ({self.without})"
        fits = f"best of {counted(self.n_without, 'fit')} on these test rows"
        return f"without a source: {best}, {fits}"


def every_method(
    comparisons: pd.DataFrame, pairwise: pd.DataFrame, *, corrected: bool = True
) -> list[MethodTransfer]:
    """Return all methods that use a source, in the order of the study.

    `comparisons` are of `source_help.gains_over_comparators`, `pairwise` of
    `cdspp.analysis.pairwise.compare_pairwise`. Verdicts are corrected for the number of
    methods, or those of each method by itself.
    """
    averages = source_help.matrix(comparisons, corrected=corrected)
    alone = source_help.matrix(comparisons, corrected=False)
    methods = pairwise.drop_duplicates("row")
    return [
        _method(
            row,
            averages[averages["row"] == row.row],
            alone[alone["row"] == row.row],
        )
        for row in methods[methods["uses_source"]].itertuples()
    ]


def _method(
    row: Any, compared: pd.DataFrame, by_itself: pd.DataFrame
) -> MethodTransfer:
    states = compared[compared["state"]]
    gain, low, high, trials = math.nan, math.nan, math.nan, 0
    for over in states[states["comparator"] == NO_SOURCE].itertuples():
        gain, low, high, trials = over.gain, over.low, over.high, over.trials
    strongest, strongest_gain = "", math.nan
    for over in compared[compared["comparator"] == compared["strongest"]].itertuples():
        strongest, strongest_gain = over.comparator_name, over.gain
    verdict, reason = Transfer.INCONCLUSIVE, transfer.NOT_RUN
    if len(states):
        verdict, reason = Transfer.of(states["verdict"].iloc[0]), explanation(compared)
        before = by_itself["verdict"].iloc[0]
        if before != verdict.word and states["reason"].iloc[0] != transfer.DISAGREE:
            reason = f"{transfer.NOT_DECIDED} ({before} before Holm's correction)"
    name, kind = _without_marks(row.display_name), _kind(row.bridge)
    numbers = gain, low, high, trials, strongest, strongest_gain
    return MethodTransfer(row.row, kind, name, row.accuracy, *numbers, verdict, reason)


def by_kind(methods: Sequence[MethodTransfer]) -> dict[str, list[MethodTransfer]]:
    """Group methods by kind of transfer; both are sorted by their highest gain."""

    def order(method: MethodTransfer) -> float:
        return math.inf if math.isnan(method.gain) else -method.gain

    groups: dict[str, list[MethodTransfer]] = {}
    for method in sorted(methods, key=order):
        groups.setdefault(method.kind, []).append(method)
    return groups


def opening(comparisons: pd.DataFrame, pairwise: pd.DataFrame) -> Opening:
    """Return the kinds of transfer on a benchmark, first that of an external reference.

    The parameters are as in `every_method`.
    """
    methods = pairwise.drop_duplicates("row").set_index("row")
    found = {each.row: each for each in every_method(comparisons, pairwise)}
    plain = every_method(comparisons, pairwise, corrected=False)
    kinds, most = [], max((each.trials for each in plain), default=0)
    for title, row, others in _lines(methods):
        leads = methods.loc[row, "role"] == REFERENCE
        of = next(each for each in plain if each.row == row) if leads else found[row]
        own = leads and bool(methods.loc[row, "external"])
        counts = Counter(found[other].verdict.word for other in others)
        of_kind = ", ".join(tally_texts(counts)) if len(others) > 1 else ""
        fewer = counted(of.trials, "trial") if 0 < of.trials < most else ""
        kinds.append(KindOfTransfer(title, of, of_kind, own, fewer))
    kinds.sort(key=lambda kind: (not kind.own, math.isnan(kind.of.gain), -kind.of.gain))
    return Opening(
        next(iter(pairwise["title"]), ""),
        tuple(kinds),
        *_best_without_source(comparisons, methods),
    )


def _best_without_source(
    comparisons: pd.DataFrame, methods: pd.DataFrame
) -> tuple[str, float, int]:
    """Return name and accuracy of the best fit without a source, and their number."""
    averages = source_help.matrix(comparisons, corrected=False)
    fits = averages[
        averages["comparator"].isin(WITHOUT_SOURCE) & ~averages["degenerate"]
    ]
    own = methods[~methods["uses_source"] & ~methods["collapsed"]]
    accuracies = {
        **{
            row.comparator_row: (
                f"{row.display_name}, {row.comparator_name}",
                row.comparator_accuracy,
            )
            for row in fits.itertuples()
        },
        **{row.Index: (row.display_name, row.accuracy) for row in own.itertuples()},
    }
    ran = [pair for pair in accuracies.values() if not math.isnan(pair[1])]
    name, accuracy = max(ran, key=lambda pair: pair[1], default=("", math.nan))
    return _without_marks(_NO_SOURCE_SUFFIX.sub("", name)), float(accuracy), len(ran)


def _without_marks(name: str) -> str:
    return name.translate({ord("*"): None, ord("†"): None})


def _kind(bridge: str) -> str:
    return str(bridge).replace("pair", "paired row") or LABELS_ONLY


def _lines(methods: pd.DataFrame) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the title of each kind, the row that represents it, and all of its rows.

    An external reference has a line of its own, and leaves its kind to the others.
    """
    using = methods[methods["uses_source"]]
    for bridge, group in using.groupby("bridge", sort=False):
        is_reference = group["role"] == REFERENCE
        own = group.index[is_reference & group["external"]].tolist()
        for row in own:
            yield _without_marks(methods.loc[row, "display_name"]), row, [row]
        others = group[~group.index.isin(own)]
        usable = others[others["accuracy"].notna() & ~others["collapsed"]]
        enough = usable[usable["own_trials"] >= verdicts.MIN_TRIALS]
        choices = [others[is_reference.reindex(others.index)], enough, usable]
        for row in [row for choice in choices for row in choice.index][:1]:
            yield _kind(bridge), row, others.index.tolist()


def statement(openings: Sequence[Opening], most_words: int = MOST_WORDS) -> str:
    """Return the answer for all benchmarks in at most `most_words` words."""
    lines = [(kind.of, each.title) for each in openings for kind in each.kinds]
    lines.sort(key=lambda line: (math.isnan(line[0].gain), -line[0].gain))
    several = len({title for _, title in lines}) > 1
    where: dict[Transfer, dict[str, list[str]]] = {each: {} for each in Transfer}
    for of, title in lines:
        kind = "" if of.kind in of.method else f" ({of.kind})"
        where[of.verdict].setdefault(of.method + kind, []).append(title)
    parts = [
        verdict.on(_named(names, several)) for verdict, names in where.items() if names
    ]
    nothing = "no method that ran uses a source" if openings else "nothing was run yet"
    text = f"{sentence('; '.join(parts) or nothing)}."
    if len(text.split()) <= most_words:
        return text
    counts = Counter(of.verdict.word for of, _ in lines)
    return (
        f"On {counted(len(openings), 'benchmark')}, with {len(lines)} lines by kind of "
        f"transfer: {', '.join(tally_texts(counts, '{1} {0}'))}."
    )


def _named(names: Mapping[str, list[str]], several: bool) -> str:
    """List methods, those on the same benchmarks together if there are `several`."""
    together: dict[str, list[str]] = {}
    for name, titles in names.items():
        where = f" on {listed(titles)}" if several else ""
        together.setdefault(where, []).append(name)
    return listed([listed(group) + where for where, group in together.items()])


def count_verdicts(title: str, comparisons: pd.DataFrame) -> str:
    """Count the verdicts on the methods of a benchmark, corrected for their number."""
    averages = source_help.matrix(comparisons, corrected=True)
    found = averages[averages["state"]].drop_duplicates("row")["verdict"]
    if found.empty:
        return ""
    counts = ", ".join(tally_texts(Counter(found), "{1} {0}"))
    return f"{title}, {counted(len(found), 'method')} with controls: {counts}."


def kind_lines(opening: Opening) -> list[str]:
    """Return the kinds of transfer for a terminal: a heading, one line per kind."""
    heading = [opening.title, "", "accuracy", "gain", "95 %", "", ""]
    grid = [heading]
    for kind in opening.kinds:
        of = kind.of
        finite = not math.isnan(of.low)
        ends = " to ".join(in_points(end, sign=True) for end in (of.low, of.high))
        gain = DASH if math.isnan(of.gain) else in_points(of.gain, sign=True)
        accuracy = DASH if math.isnan(of.accuracy) else f"{in_points(of.accuracy)} %"
        cells = [
            f"  {kind.title}",
            kind.subtitle(of.method),
            accuracy,
            gain,
            ends if finite else "",
        ]
        grid.append([*cells, of.verdict.label, of.reason])
    lines = aligned(grid, left=(0, 1, 5, 6))
    lines += [
        f"  all methods, {kind.title}: {kind.of_kind}"
        for kind in opening.kinds
        if kind.of_kind
    ]
    return lines + [f"  {opening.without_text}"] * bool(opening.without)
