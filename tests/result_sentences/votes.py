"""Sentences on what following the vote of `compare` costs."""

from __future__ import annotations

from result_sentences.numbers import PRINTED_DECISIONS, Numbers
from result_sentences.sentences import APPENDIX, Result

from benchmarks.decisions import RECIPES

SET_ASIDE, CHOICE = "Families set aside", "Families"
VOTE, ALWAYS, BET = "vote", "target-only", "bet of 0.3.0"
TREES, WORST = "extra trees", "wine, a singleton class"
# Places in a line of policies.
ACCURACY, GAIN, WORST_GAIN, LOSES, ON_BAD = 0, 2, 5, 6, 7


def best_recipe(n: Numbers) -> str:
    accuracies = {r: float(n.decisions(SET_ASIDE, r)[ACCURACY]) for r in RECIPES}
    return max(accuracies, key=lambda name: accuracies[name])


def worst_family(n: Numbers) -> str:
    text = n.page(PRINTED_DECISIONS).partition("Regret and gain by family")[2]
    rows = [line.split("  ") for line in text.partition("\n\n")[0].splitlines()[2:]]
    gains = {r[1]: next(x for x in r if "(" in x).split()[0] for r in rows}
    return min(gains, key=lambda name: float(gains[name].replace("−", "-")))


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
        "and loses {} on its worst family, wine with a singleton class: a class that "
        "is never tested cannot raise a weight.",
        lambda n: [
            n.decisions(CHOICE, VOTE)[GAIN].removeprefix("+"),
            n.decisions(CHOICE, f"no family below -2 (worst: {WORST})")[0][1:],
        ],
        lambda n: worst_family(n) == WORST,
        PRINTED_DECISIONS,
    ),
]
