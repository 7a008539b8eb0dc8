"""Sentences on what following the vote of `compare` costs."""

from __future__ import annotations

from result_sentences.numbers import (
    PRINTED_COST,
    PRINTED_DECISIONS,
    PRINTED_ROWS,
    Numbers,
)
from result_sentences.sentences import APPENDIX, Result

from benchmarks.decisions import RECIPES

SET_ASIDE, CHOICE = "Families set aside", "Families"
VOTE, ALWAYS, BET = "vote", "target-only", "bet of 0.3.0"
TREES, WORST = "extra trees", "wine, wrong columns"
# Places in a line of policies.
ACCURACY, GAIN, WORST_GAIN, LOSES, ON_BAD = 0, 2, 5, 6, 7


MARGIN, DISTANCE = "smallest margin", "margin and distance"
SPREAD = (DISTANCE, "clusters of the least certain third", "pairs of classes in turn")
ALL_ROWS = "Points gained on all unlabelled rows"
OVER_MARGIN = "More points on all unlabelled rows than by smallest margin"
TEN, TWENTY, ROUNDS = 0, 1, 2  # places in a line of rules


def rows_gain(n: Numbers, rule: str, batch: int) -> list[str]:
    """Return the gain by a batch, from three labels a class and from ten."""
    numbers = n.decisions(SET_ASIDE, rule, ALL_ROWS, PRINTED_ROWS)
    places = batch, batch + len(numbers) // 2
    return [numbers[place].removeprefix("+") for place in places]


def over_margin(n: Numbers, part: str, rule: str) -> list[str]:
    """Return the gain over the smallest margin by ten rows, and its interval."""
    return n.decisions(part, rule, OVER_MARGIN, PRINTED_ROWS)[:3]


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


def distance_is_best_of_the_spread(n: Numbers) -> bool:
    gains = {rule: over_margin(n, CHOICE, rule)[0] for rule in SPREAD}
    return max(gains, key=lambda rule: _number(gains[rule])) == DISTANCE


def best_recipe(n: Numbers) -> str:
    accuracies = {r: float(n.decisions(SET_ASIDE, r)[ACCURACY]) for r in RECIPES}
    return max(accuracies, key=lambda name: accuracies[name])


def worst_family(n: Numbers) -> str:
    text = n.page(PRINTED_DECISIONS).partition("Regret and gain by family")[2]
    rows = [line.split("  ") for line in text.partition("\n\n")[0].splitlines()[2:]]
    gains = {r[1]: next(x for x in r if "(" in x).split()[0] for r in rows}
    return min(gains, key=lambda name: _number(gains[name]))


def seconds(n: Numbers, *shape: int) -> list[str]:
    """Return the seconds of an answer, and of two pipelines.

    `shape` are the numbers of labels, rows, columns and classes.
    """
    table = [line.split() for line in n.page(PRINTED_COST).splitlines()]
    [found] = [row for row in table if row[:4] == [*map(str, shape)]]
    return [found[4], found[6]]


VOTES = [
    Result(
        APPENDIX,
        "On the families set aside, with two labels a class or more, the vote labels "
        "{} % of the rows correctly.",
        lambda n: [n.decisions(SET_ASIDE, VOTE)[ACCURACY]],
        rests_on=PRINTED_DECISIONS,
    ),
    Result(
        APPENDIX,
        "Of nine recipes that take ten minutes, extra trees come next with {} %; "
        "`target-only` reaches {} %, and the rule of version 0.3.0 {} %.",
        lambda n: [n.decisions(SET_ASIDE, r)[ACCURACY] for r in (TREES, ALWAYS, BET)],
        lambda n: len(RECIPES) == 9 and best_recipe(n) == TREES,
        PRINTED_DECISIONS,
    ),
    Result(
        APPENDIX,
        "With a useless or harmful source the vote gains {} points over `target-only`.",
        lambda n: [n.decisions(SET_ASIDE, VOTE)[ON_BAD].removeprefix("+")],
        rests_on=PRINTED_DECISIONS,
    ),
    Result(
        APPENDIX,
        "It loses more than a point in {} % of all draws, and {} points at worst.",
        lambda n: [
            n.decisions(SET_ASIDE, VOTE)[LOSES],
            n.decisions(SET_ASIDE, VOTE)[WORST_GAIN].removeprefix("−"),
        ],
        rests_on=PRINTED_DECISIONS,
    ),
    Result(
        APPENDIX,
        "Its 80 % intervals hold the accuracy in {} % of draws, and its estimates are "
        "{} points too low, because they come from fits with fewer labels.",
        lambda n: [
            n.decisions(SET_ASIDE, "accuracy")[0],
            n.decisions(SET_ASIDE, "estimate less accuracy, points")[0][1:],
        ],
        rests_on=PRINTED_DECISIONS,
    ),
    Result(
        APPENDIX,
        "On the families of the choice the vote gains {} points over `target-only`, "
        "and loses {} on its worst family, wine with wrong columns.",
        lambda n: [
            n.decisions(CHOICE, VOTE)[GAIN].removeprefix("+"),
            n.decisions(CHOICE, f"no family below -2 (worst: {WORST})")[0][1:],
        ],
        lambda n: worst_family(n) == WORST,
        PRINTED_DECISIONS,
    ),
    Result(
        APPENDIX,
        "On the families set aside, ten rows by the smallest margin gain {} points "
        "with three labels a class and {} with ten, these rows included; ten random "
        "rows gain {} and {}.",
        lambda n: [*rows_gain(n, MARGIN, TEN), *rows_gain(n, "random", TEN)],
        rests_on=PRINTED_ROWS,
    ),
    Result(
        APPENDIX,
        "Of three rules that spread a batch, margin times distance is best on the "
        "families of the choice, by {} points over the smallest margin (80 % interval "
        "{} to {}), but {} points worse on those set aside.",
        lambda n: [
            over_margin(n, CHOICE, DISTANCE)[0].removeprefix("+"),
            *over_margin(n, CHOICE, DISTANCE)[1:],
            over_margin(n, SET_ASIDE, DISTANCE)[0].removeprefix("−"),
        ],
        distance_is_best_of_the_spread,
        PRINTED_ROWS,
    ),
    Result(
        APPENDIX,
        "Two rounds of ten rows gain {} and {} points on the families set aside, one "
        "round of twenty {} and {}: label a few rows, and compare again.",
        lambda n: [*rows_gain(n, MARGIN, ROUNDS), *rows_gain(n, MARGIN, TWENTY)],
        rests_on=PRINTED_ROWS,
    ),
    Result(
        APPENDIX,
        "With 100 labels, 2000 rows and 20 columns an answer takes {} seconds of one "
        "core, and scikit-learn's cross-validation of two pipelines {}: twelve "
        "candidates are fitted nine times each.",
        lambda n: seconds(n, 100, 2000, 20, 5),
        rests_on=PRINTED_COST,
    ),
    Result(
        APPENDIX,
        "It takes {} seconds with 50000 rows, of which a fit sees 2000, {} with 100 "
        "classes, and {} with 500 columns: there *semi-supervised shared "
        "columns*, with three of them shared, takes most of the time.",
        lambda n: [
            seconds(n, 100, 50000, 20, 5)[0],
            seconds(n, 300, 5000, 20, 100)[0],
            seconds(n, 100, 5000, 500, 5)[0],
        ],
        rests_on=PRINTED_COST,
    ),
]
