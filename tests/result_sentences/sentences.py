"""Every sentence on a result, with the numbers that it rests on.

A sentence of README, the documentation, the gallery or the page that states a result is
an entry here. ``{}`` stands for a number, which comes from a table in ``docs/results``
(``python -m benchmarks results results/<study>`` writes them) or in ``docs``; `holds`
is what its words say. Sentences that only look like results are in
``tests/docs/no_results.txt``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from result_sentences.numbers import Numbers

from cdspp.analysis.transfer import DISAGREE, Transfer
from cdspp.core.wording import in_points

README = "README.md"
PAPER_TABLE = "docs/guide/paper-table.md"
WHEN, VERDICTS = "docs/guide/when.md", "docs/guide/verdicts.md"
HELP, APPENDIX = "docs/source-help.md", "docs/error-rates.md"
EMBEDDED, DIGITS, DOCS = "embedded", "digits", "docs-to-code"
NEWER, OFFICE = "after-the-paper", "after-the-paper-office"
NETS = (OFFICE, "surf-googlenet"), (OFFICE, "surf-decaf6")
PLACES = ((NEWER, DIGITS), (NEWER, DOCS), *NETS)
HELPS, HURTS, EQUAL, OPEN = (each.word for each in Transfer)
NO_SOURCE = "target-only"
LABELS_ONLY = ("cdls-sup", "dama-sup", "cdspp-sup", "dama", "cdls", "tit", "ddacl")
LABELS_ONLY += ("dama-plus", "cdspp-pca")


@dataclass(frozen=True)
class Result:
    """A sentence of a page, its numbers, and the condition that its words state."""

    page: str
    text: str
    numbers: Callable[[Numbers], Sequence[Any]] = lambda n: ()
    holds: Callable[[Numbers], object] = lambda n: True
    rests_on: str = "docs/results/embedded.csv"

    def filled(self, numbers: Numbers) -> str:
        """Return the text with the numbers of today."""
        found = self.numbers(numbers)
        shown = [_Points(v) if isinstance(v, float) else v for v in found]
        return self.text.format(*shown)


class _Points(float):
    """A fraction that is written in points, and as a number where a format says so."""

    def __format__(self, spec: str) -> str:
        return float(self).__format__(spec) if spec else in_points(self)


def gain(n: Numbers, study: str, benchmark: str, row: str) -> float:
    """Return what a row gains over its own fit without a source."""
    return float(n(study, benchmark, row, "gain over none"))


def verdict(n: Numbers, row: str, benchmark: str = DOCS) -> str:
    """Return the verdict of the embedded study, corrected for the methods.

    If accuracy and balanced accuracy disagree, it is that reason.
    """
    return n.verdict(EMBEDDED, benchmark, row)


def own(n: Numbers, row: str, benchmark: str = DOCS) -> str:
    """Return the verdict of the embedded study on a method by itself."""
    return n.verdict(EMBEDDED, benchmark, row, "own ")


def headline(n: Numbers) -> list[float]:
    """Return the accuracies of CDSPP with its source, and without one."""
    return [n.accuracy(EMBEDDED, DOCS, row) for row in ("cdspp", NO_SOURCE)]


def bridged(n: Numbers, *rows: str) -> list[float]:
    return [n.accuracy(EMBEDDED, DOCS, row) for row in rows]


def pairs(n: Numbers, row: str, number: int) -> float:
    """Return the accuracy on texts with a number of pairs."""
    return float(n(EMBEDDED, DOCS, row, f"pairs {number} on docs_code"))


def along_pairs(row: str) -> Callable[[Numbers], list[float]]:
    return lambda n: [pairs(n, row, k) for k in (10, 20, 50, 100, 300)]


def accuracy_of(row: str) -> Callable[[Numbers], list[float]]:
    return lambda n: [n.accuracy(EMBEDDED, DOCS, row)]


def bridges_help(n: Numbers) -> bool:
    rows = ("cdspp-bridge", "paired-map-plus", "shared-columns-plus")
    return all(verdict(n, row) == HELPS for row in rows)


OPENING = [
    Result(
        HELP,
        "On Digits CDSPP gains {} points over SVM_t and {} over `none`: the first gain "
        "comes from the learner itself; whether the source adds to it is "
        "inconclusive.",
        lambda n: [
            n.accuracy(EMBEDDED, DIGITS, "cdspp")
            - n.accuracy(EMBEDDED, DIGITS, "svm-t"),
            gain(n, EMBEDDED, DIGITS, "cdspp"),
        ],
        lambda n: own(n, "cdspp", DIGITS) == OPEN,
    ),
    Result(
        README,
        "With labels only, CDSPP reaches {} % and its own fit without a source {} %, "
        "an *inconclusive* result: only balanced accuracy shows a gain.",
        headline,
        lambda n: own(n, "cdspp") == DISAGREE,
    ),
    Result(
        README,
        "The source helps through the words that docstrings and code share ({} % "
        "accuracy), and through 100 functions whose docstring and code are both at "
        "hand ({} %).",
        lambda n: bridged(n, "shared-columns-plus", "paired-map-plus"),
        bridges_help,
    ),
    Result(
        PAPER_TABLE,
        "The embedded study does not cut iterations, but omits slow methods: {} have "
        "no row on Digits, and {} none on Docs to code.",
        lambda n: (n.left_out(DIGITS), n.left_out(DOCS)),
        lambda n: not any(m.get("shortened") for m in n.config["methods"]),
        "config.yaml",
    ),
    Result(
        PAPER_TABLE,
        "{} run without controls there, and slow methods in fewer trials; "
        "the tables say so.",
        lambda n: (n.without_states(),),
        lambda n: any("trials" in m for m in n.config["methods"]),
        "config.yaml",
    ),
]

WORKED = "dama-sup"  # the method whose verdict a page works out
STATES = ("none", "none-matched", "swapped-classes", "permuted-labels")
STATES += ("class-noise", "noise")


def gains_over(n: Numbers, benchmark: str) -> dict[str, float]:
    """Return the gains of the method that is worked out, by state."""
    return {s: float(n(EMBEDDED, benchmark, WORKED, f"gain over {s}")) for s in STATES}


def worked_line(state: str) -> Result:
    """Return the line of a source state in the table of the worked verdict."""

    def numbers(n: Numbers) -> list[object]:
        there = float(n(EMBEDDED, DOCS, WORKED, f"accuracy in {state}"))
        return [there, in_points(gains_over(n, DOCS)[state], sign=True)]

    return Result(HELP, f"| `{state}` | {{}} | {{}} |", numbers)


def smallest(gains: dict[str, float]) -> str:
    return min(gains, key=gains.__getitem__)


WORKED_VERDICT = [
    Result(
        HELP,
        "| `real` | {} | – |",
        lambda n: [n.accuracy(EMBEDDED, DOCS, WORKED)],
    ),
    *map(worked_line, STATES),
    Result(
        HELP,
        "DAMA_sup on *Docs to code*, with five labels per class, in percent over ten "
        "trials:",
        holds=lambda n: n(EMBEDDED, DOCS, WORKED, "trials") == "10",
    ),
    Result(
        HELP,
        "The strongest control is `{}`, and the original source beats it by {} points, "
        "significantly and by both measures: *positive transfer*.",
        lambda n: (
            smallest(gains_over(n, DOCS)),
            min(gains_over(n, DOCS).values()),
        ),
        lambda n: all(
            n(EMBEDDED, DOCS, WORKED, f"{kind}verdict") == HELPS
            for kind in ("", "own ", "accuracy_", "balanced_")
        ),
    ),
    Result(
        HELP,
        "On Digits the same method gains {} points over `none`, but {} over "
        "class-conditional noise: the verdict there is *inconclusive*, because the "
        "gain is not specific to the source's labels.",
        lambda n: [gains_over(n, DIGITS)[s] for s in ("none", "class-noise")],
        lambda n: (
            own(n, WORKED, DIGITS) == verdict(n, WORKED, DIGITS) == OPEN
            and smallest(gains_over(n, DIGITS)) == "class-noise"
        ),
    ),
]

# A table of the page, line by line.
TABLE = [
    Result(WHEN, text, numbers)
    for text, numbers in (
        ("| SVM_t, without a source | {} | – | – | – | – | – |", accuracy_of("svm-t")),
        (
            "| target-only, without a source | {} | – | – | – | – | – |",
            accuracy_of(NO_SOURCE),
        ),
        ("| CDSPP, by labels only | {} | – | – | – | – | – |", accuracy_of("cdspp")),
        (
            "| DAMA+, by labels only | {} | – | – | – | – | – |",
            accuracy_of("dama-plus"),
        ),
        ("| TIT, by labels only | {} | – | – | – | – | – |", accuracy_of("tit")),
        (
            "| CDSPP+bridge, by pairs | – | {} | {} | {} | {} | {} |",
            along_pairs("cdspp-bridge"),
        ),
        (
            "| semi-supervised paired map | – | {} | {} | {} | {} | {} |",
            along_pairs("paired-map-plus"),
        ),
        (
            "| semi-supervised shared columns, by words in common "
            "| {} | – | – | – | – | – |",
            accuracy_of("shared-columns-plus"),
        ),
    )
]


def words_of_labels_only(n: Numbers) -> bool:
    """Whether the methods have the verdicts that the page says."""
    said = {
        HELPS: {"cdspp-sup", "dama-sup"},
        OPEN: {"cdls", "tit", "cdspp-pca"},
        DISAGREE: {"cdls-sup", "dama", "dama-plus", "ddacl"},
    }
    found = {row: verdict(n, row) for row in LABELS_ONLY}
    return found == {row: word for word, rows in said.items() for row in rows} and (
        own(n, "cdspp") == DISAGREE
    )


def fifty_pairs(n: Numbers) -> bool:
    alone, methods = (
        n.accuracy(EMBEDDED, DOCS, NO_SOURCE),
        ("cdspp-bridge", "paired-map-plus"),
    )
    few = pairs(n, "cdspp-bridge", 10) < alone
    return few and all(pairs(n, row, 50) > alone + 0.1 for row in methods)


def swapped_cost(n: Numbers, benchmark: str) -> float:
    """Return what a source with permuted classes costs CDSPP against no source."""
    swapped = n(EMBEDDED, benchmark, "cdspp", "accuracy in swapped-classes")
    return n.accuracy(EMBEDDED, benchmark, NO_SOURCE) - float(swapped)


GEOMETRY = "docs/shared-geometry.csv"
LEVELS = (0.0, 0.5, 1.0)


def many(n: Numbers, shared: float) -> Any:
    """Return the mean gains of methods with five classes or more."""
    return n.geometry_gains((5, 20, 65), shared)


def by_labels(n: Numbers) -> Any:
    """Return the mean gains with five classes or more, by number of labels."""
    found = n.geometry
    found = found[(found["shared"] == 1) & (found["classes"] >= 5)]
    return found.pivot_table("gain", "method", "labels")


def three_of_many(n: Numbers) -> Any:
    return n.geometry_gains((3,), 1.0) / many(n, 1.0)


def surely(n: Numbers, classes: Sequence[int], method: str) -> int:
    """Return on how many places with shared geometry a source surely helps."""
    found = n.geometry
    found = found[(found["shared"] == 1) & found["classes"].isin(classes)]
    return int((found["pair"][found["method"] == method] == HELPS).sum())


def losing(n: Numbers, shared: float) -> set[str]:
    gains = many(n, shared)
    return set(gains.index[gains < 0])


def tit_range(n: Numbers) -> list[str]:
    values = [many(n, shared)["tit"] for shared in LEVELS]
    return [in_points(min(values)), in_points(max(values))]


def few_classes_differ(n: Numbers) -> bool:
    """Whether with two or three classes fewer labels do not always give more."""
    found = n.geometry
    few = found[(found["shared"] == 1) & (found["classes"] < 5)]
    means = few.groupby("labels")["gain"].mean()
    return not means.is_monotonic_decreasing


def cdspp_of_two(n: Numbers) -> float:
    return float(n.geometry_gains((2,), 1.0)["cdspp"])


def one_label_loses(n: Numbers) -> int:
    found = n.geometry
    one = (found["labels"] == 1) & (found["classes"] == 2) & (found["shared"] == 1)
    return int((found["gain"][one] < 0).sum())


WHEN_TEXTS = [
    Result(
        WHEN,
        "They cost nothing, and they carry more than labels do: the same measurement "
        "in both laboratories, the same words in both kinds of text.",
        holds=lambda n: (
            n.accuracy(EMBEDDED, DOCS, "shared-columns-plus")
            > max(n.accuracy(EMBEDDED, DOCS, row) for row in LABELS_ONLY)
        ),
    ),
    Result(
        WHEN,
        "With labels only, the source helps CDSPP_sup and DAMA_sup here.",
        holds=words_of_labels_only,
    ),
    Result(
        WHEN,
        "On CDLS, TIT and CDSPP+PCA the trials do not decide; on CDLS_sup, DAMA, "
        "DAMA+, DDACL and CDSPP accuracy and balanced accuracy disagree.",
        holds=words_of_labels_only,
    ),
    Result(
        WHEN,
        "With ten pairs, CDSPP+bridge stays below target-only; with fifty, both "
        "methods are more than ten points above it.",
        holds=fifty_pairs,
    ),
    Result(
        WHEN,
        "On simulated (*planted*) problems with five classes or more, each of nine "
        "quick methods gains on average if the domains share this geometry entirely.",
        holds=lambda n: (many(n, 1.0) > 0).sum() == 9 and not losing(n, 1.0),
        rests_on=GEOMETRY,
    ),
    Result(
        WHEN,
        "All nine lose if they share none of it, and all but TIT if they share half.",
        holds=lambda n: (
            len(losing(n, 0.0)) == 9 and losing(n, 0.0) - losing(n, 0.5) == {"tit"}
        ),
        rests_on=GEOMETRY,
    ),
    Result(
        WHEN,
        "Their means have a single distance, so labels without shared columns or pairs "
        "carry almost nothing from one domain to the other: on the planted problems no "
        "method gains more than five points, and the half point that CDSPP gains is "
        "not significant with one, two or three labels per class.",
        holds=lambda n: (
            n.geometry_gains((2,), 1.0).max() < 0.05
            and in_points(cdspp_of_two(n)) == "0.5"
            and surely(n, (2,), "cdspp") == 0
        ),
        rests_on=GEOMETRY,
    ),
    Result(
        WHEN,
        "Three classes with a shared geometry give DAMA, DAMA+ and DAMA_sup seven to "
        "nine points, more classes up to fifteen.",
        holds=lambda n: (
            {
                round(100 * n.geometry_gains((3,), 1.0)[m])
                for m in ("dama", "dama-plus", "dama-sup")
            }
            == {7, 9}
            and round(100 * many(n, 1.0).max()) == 15
        ),
        rests_on=GEOMETRY,
    ),
    Result(
        WHEN,
        "With five classes or more, every method gains more with one label per class "
        "than with two, and more with two than with three.",
        holds=lambda n: (by_labels(n).diff(axis=1).iloc[:, 1:] < 0).all(axis=None),
        rests_on=GEOMETRY,
    ),
    Result(
        WHEN,
        "With two or three classes, this does not hold.",
        holds=few_classes_differ,
        rests_on=GEOMETRY,
    ),
    Result(
        WHEN,
        "On these planted problems, whose rows have little noise, the wrong source "
        "costs them far more than the right one gives.",
        holds=lambda n: all(
            -many(n, 0.0)[m] > 3 * many(n, 1.0)[m] for m in ("cdspp", "dama-plus")
        ),
        rests_on=GEOMETRY,
    ),
    Result(
        WHEN,
        "On the real data of the embedded study, a source with permuted classes costs "
        "CDSPP {} points against no source on Digits, and {} on Docs to code.",
        lambda n: [swapped_cost(n, b) for b in (DIGITS, DOCS)],
    ),
    Result(
        WHEN,
        "On planted problems with five classes or more, the mean gain of TIT stays "
        "between {} and {} points.",
        tit_range,
        rests_on=GEOMETRY,
    ),
    Result(
        APPENDIX,
        "Where source and target share the geometry of five classes or more, every "
        "method gains on average, significantly at {} (TIT) to {} of 9 grid points.",
        lambda n: (
            surely(n, (5, 20, 65), "tit"),
            max(surely(n, (5, 20, 65), m) for m in many(n, 1.0).index),
        ),
        lambda n: not losing(n, 1.0),
        GEOMETRY,
    ),
    Result(
        APPENDIX,
        "With two classes and one label per class, {} of the 9 methods lose even then.",
        lambda n: [one_label_loses(n)],
        rests_on=GEOMETRY,
    ),
    Result(
        APPENDIX,
        "With three classes, the gain is on average {:.0f} % of the gain with five or "
        "more, from {:.0f} % (CDLS) to {:.0f} % (DAMA+).",
        lambda n: (
            100 * n.geometry_gains((3,), 1.0).mean() / many(n, 1.0).mean(),
            100 * three_of_many(n).min(),
            100 * three_of_many(n).max(),
        ),
        lambda n: (
            [three_of_many(n).idxmin(), three_of_many(n).idxmax()]
            == ["cdls", "dama-plus"]
        ),
        GEOMETRY,
    ),
]
