"""The opening of the report: the ways of using a source, and whether each helps.

A *way* is what source and target share: only classes, paired rows, or shared columns.
The reference represents its way; every other way is represented by its most accurate
method. The gain is over the most accurate method without a source. The verdict on the
method is stricter: it must also beat every other state of the source.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from cdspp.analysis import source_help, verdicts
from cdspp.analysis.pairwise import ranked_methods
from cdspp.core.names import ALONE, REFERENCE
from cdspp.core.wording import DASH, aligned, counted, in_points, listed, sentence

QUESTION = "Did the source help?"
HELPS, HURTS, OPEN = verdicts.HELPS, verdicts.HURTS, "open"
SIGNS = {HELPS: "▲", HURTS: "▼", OPEN: "○"}
LABELS_ALONE = "source labels alone"
_NO_SOURCE = re.compile(f", (no source|{ALONE})$")  # in the names of some rows
MOST_WORDS = 20  # in the sentence below the question
_REASONS = {
    verdicts.EQUAL: "no difference beyond the margin",
    verdicts.TOO_FEW: "too few trials",
    verdicts.COLLAPSED: "fits have collapsed or diverged",
    verdicts.NOT_ASKED: "no other source was tried",
}


@dataclass(frozen=True)
class Way:
    """A way on a benchmark: the method that represents it, and its verdict.

    `accuracy`, `gain` and its 95 % interval are fractions, NaN if unknown. `reason`
    explains why the verdict is open; the method is the best of `best_of` methods, or
    an external one with a line of its `own`.
    """

    title: str
    method: str
    accuracy: float
    gain: float
    low: float
    high: float
    word: str
    reason: str
    best_of: int = 1
    own: bool = False


@dataclass(frozen=True)
class Opening:
    """The ways on one benchmark, and the best method without a source, if one ran."""

    title: str
    ways: tuple[Way, ...]
    without: str = ""
    accuracy: float = math.nan


def opening(comparisons: pd.DataFrame, pairwise: pd.DataFrame) -> Opening:
    """Return the ways on a benchmark, first that of an external reference.

    `comparisons` are of `cdspp.analysis.source_help.compare_with_rivals`, `pairwise` of
    `cdspp.analysis.pairwise.compare_pairwise`.
    """
    methods = pairwise.drop_duplicates("row").set_index("row")
    ranked = ranked_methods(pairwise).set_index("row")
    without = ranked[~ranked["uses_source"]].head(1)
    gains = pairwise[pairwise["rival"].isin(without.index)].set_index("row")
    gains = gains.reindex(methods.index)
    averages = source_help.matrix(comparisons, corrected=True)
    ways = []
    for title, row, best_of in _lines(methods, ranked):
        by_itself = source_help.on_average(source_help.of_method(comparisons, row))
        leads = methods.loc[row, "role"] == REFERENCE
        compared = by_itself if leads else averages[averages["row"] == row]
        word, reason = _way_verdict(compared, by_itself)
        name, accuracy = methods.loc[row, ["display_name", "accuracy"]]
        gain, low, high = gains.loc[row, ["gain", "low", "high"]]
        numbers = (float(accuracy), float(gain), float(low), float(high))
        external = leads and bool(methods.loc[row, "external"])
        name = _without_marks(name)
        ways.append(Way(title, name, *numbers, word, reason, best_of, external))
    ways.sort(key=lambda way: (not way.own, math.isnan(way.gain), -way.gain))
    title = next(iter(pairwise["title"]), "")
    best = [
        (_NO_SOURCE.sub("", _without_marks(row.display_name)), row.accuracy)
        for row in without.itertuples()
    ]
    return Opening(title, tuple(ways), *next(iter(best), ()))


def _without_marks(name: str) -> str:
    return name.rstrip("*†")


def _lines(
    methods: pd.DataFrame, ranked: pd.DataFrame
) -> Iterator[tuple[str, str, int]]:
    """Yield the title of each way, its representative row, and its number of methods.

    An external reference has a way of its own, and leaves its way to the others.
    """
    using = methods[methods["uses_source"]]
    for bridge, group in using.groupby("bridge", sort=False):
        reference = group.index[group["role"] == REFERENCE].tolist()
        own = [row for row in reference if methods.loc[row, "external"]]
        others = [row for row in ranked.index if row in group.index and row not in own]
        for row in own:
            yield _without_marks(methods.loc[row, "display_name"]), row, 1
        representative = reference[:1] if not own else []
        for row in representative or others[:1]:
            best_of = 1 if representative else len(others)
            title = str(bridge).replace("pair", "paired row") or LABELS_ALONE
            yield title, row, best_of


def _way_verdict(compared: pd.DataFrame, by_itself: pd.DataFrame) -> tuple[str, str]:
    """Return the verdict on a method from its comparisons, and why it is open."""
    state_rows = compared[compared["state"]]
    if state_rows.empty:
        return OPEN, _REASONS[verdicts.NOT_ASKED]
    verdict = str(state_rows["verdict"].iloc[0])
    if verdict in (HELPS, HURTS):
        return verdict, ""
    if verdict == verdicts.DEPENDS:
        pair = state_rows.iloc[0][["accuracy_verdict", "balanced_verdict"]]
        pair = pair.replace(verdicts.UNDECIDED, OPEN)
        return OPEN, "{} by accuracy, {} by balanced accuracy".format(*pair)
    if verdict != verdicts.UNDECIDED:
        return OPEN, _REASONS[verdict]
    if by_itself["verdict"].iloc[0] != verdict:
        return OPEN, f"{by_itself['verdict'].iloc[0]} before Holm's correction"
    [strongest] = compared[compared["rival"] == compared["hardest"]].itertuples()
    name = "no source" if strongest.rival == ALONE else strongest.rival_name
    gain, detectable = in_points(strongest.gain, sign=True), strongest.detectable
    text = f"{gain} over {name}; minimum detectable gain {in_points(detectable)}"
    return OPEN, text


def statement(openings: Sequence[Opening]) -> str:
    """Return the answer for all benchmarks in at most `MOST_WORDS` words."""
    words: dict[tuple[str, bool], dict[str, list[str]]] = {}
    lines = [(way, each.title) for each in openings for way in each.ways]
    lines.sort(key=lambda line: (math.isnan(line[0].gain), -line[0].gain))
    for way, title in lines:
        of_way = words.setdefault((way.title, way.own), {})
        of_way.setdefault(way.word, []).append(title)
    subjects: dict[tuple[str, bool], list[str]] = {}
    for (title, external), of_way in words.items():
        for word, where in of_way.items():
            place = f" on {listed(where)}" if len(of_way) > 1 else ""
            subjects.setdefault((word, external), []).append(title + place)
    parts = [
        _part(word, external, subjects)
        for word in (HELPS, HURTS, OPEN)
        for external in (True, False)
        if (word, external) in subjects
    ]
    nothing = "no method that ran uses a source" if openings else "nothing was run yet"
    text = f"{sentence('; '.join(parts) or nothing)}."
    if len(text.split()) <= MOST_WORDS:
        return text
    counts = {word: sum(len(w.get(word, [])) for w in words.values()) for word in SIGNS}
    return (
        f"On {counted(len(openings), 'benchmark')}, of {len(lines)} ways the source "
        f"helps in {counts[HELPS]} and hurts in {counts[HURTS]}; the others are open: "
        f"{counts[OPEN]}."
    )


def count_helped(title: str, comparisons: pd.DataFrame) -> str:
    """Count the methods that the source helps on a benchmark, corrected for all."""
    averages = source_help.matrix(comparisons, corrected=True)
    verdict_of = averages[averages["state"]].drop_duplicates("row")["verdict"]
    if verdict_of.empty:
        return ""
    counts = {word: int((verdict_of == word).sum()) for word in (HELPS, HURTS)}
    n_open = len(verdict_of) - sum(counts.values())
    return (
        f"On {title} the source helps {counts[HELPS]} of "
        f"{counted(len(verdict_of), 'method')} and hurts {counts[HURTS] or 'none'}; "
        f"{n_open} {'is' if n_open == 1 else 'are'} open."
    )


def _part(word: str, single: bool, subjects: dict[tuple[str, bool], list[str]]) -> str:
    names = listed(subjects[word, single])
    if single:
        forms = {HELPS: "the source helps {}", HURTS: "the source hurts {}"}
        return forms.get(word, "whether the source helps {} is open").format(names)
    if word == OPEN:
        verb = "do" if (HELPS, False) in subjects else "help"
        return f"whether {names} {verb} is open"
    return f"{names} {word.removesuffix('s')}"


def way_lines(opening: Opening) -> list[str]:
    """Return the ways of a benchmark for a terminal: a heading, one line per way."""
    heading = [opening.title, "", "accuracy", "gain", "95 %", "", ""]
    grid = [heading]
    for way in opening.ways:
        finite = not math.isnan(way.low)
        ends = " to ".join(in_points(end, sign=True) for end in (way.low, way.high))
        gain = DASH if math.isnan(way.gain) else in_points(way.gain, sign=True)
        accuracy = DASH if math.isnan(way.accuracy) else f"{in_points(way.accuracy)} %"
        word = f"{SIGNS[way.word]} {way.word}"
        name = "" if way.title == way.method else way.method
        cells = [f"  {way.title}", name, accuracy, gain, ends if finite else "", word]
        grid.append([*cells, way.reason])
    lines = aligned(grid, left=(0, 1, 5, 6))
    if opening.without:
        best = f"{in_points(opening.accuracy)} % ({opening.without})"
        lines.append(f"  without a source: {best}")
    return lines
