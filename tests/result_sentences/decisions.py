"""Sentences on what the best bet costs; see `RESULTS`."""

from __future__ import annotations

import re

from result_sentences.numbers import Numbers
from result_sentences.sentences import VERDICTS, Result

# What `python -m benchmarks decisions` printed, which takes two hours of a processor.
PRINTED = "docs/results/decisions.txt"
REPORTED, ASIDE = 0, 1  # the two groups of families, in their order
BET, ALWAYS = "the bet", "target-only"


def group(n: Numbers, which: int) -> str:
    """Return what was printed of a group of families."""
    return re.split(
        r"^(?:Families: |Families set aside: )", n.page(PRINTED), flags=re.M
    )[1 + which]


def policy(n: Numbers, name: str, which: int = REPORTED) -> list[str]:
    """Return the draws, regrets, ratio, bets and further numbers of a policy."""
    [line] = re.findall(rf"^  {re.escape(name)}  +(.*)$", group(n, which), re.M)[:1]
    return re.split(r"  +", line)


def size(n: Numbers, which: int) -> list[int]:
    """Return the numbers of families and of draws."""
    return [int(x) for x in re.findall(r"\d+", group(n, which).partition("\n")[0])]


def bad_families(n: Numbers) -> int:
    """Return the number of reported families with a bad source."""
    return len(re.findall(r"  bad$", group(n, REPORTED), re.M))


def held(n: Numbers, which: int) -> str:
    """Return the share of intervals that hold the truth."""
    return re.findall(r"hold the truth in (\d+) %", group(n, which))[0]


def on_bad(n: Numbers) -> list[str]:
    """Return bets on bad sources, their draws, and those that lose."""
    pattern = r"bad sources (\d+) of (\d+), of which (\d+) lose"
    return list(re.findall(pattern, group(n, REPORTED))[0])


def settled(n: Numbers, rule: str) -> str:
    """Return the share that 20 labels settle."""
    return re.findall(rf"  {rule} +20 +(\d+) %", group(n, REPORTED))[0]


def numeral(number: int) -> str:
    """Return a small number as a word."""
    return ["no", "one", "two", "three", "four", "five", "six"][number]


DECISIONS = [
    Result(
        VERDICTS,
        "On {} draws from {} families of problems, {} of them with a useless or "
        "harmful source, the bet costs {} points of accuracy against the best choice "
        "in hindsight, and always choosing `target-only` costs {}.",
        lambda n: (
            *reversed(size(n, REPORTED)),
            numeral(bad_families(n)),
            policy(n, BET)[1],
            policy(n, ALWAYS)[1],
        ),
        rests_on=PRINTED,
    ),
    Result(
        VERDICTS,
        "Of {} bets on a source, {} loses more than a point ({}).",
        lambda n: (
            policy(n, BET)[6],
            numeral(int(policy(n, BET)[7])),
            policy(n, BET)[8],
        ),
        rests_on=PRINTED,
    ),
    Result(
        VERDICTS,
        "The bet uses a bad source in {} of {} draws and loses more than a point in "
        "{} of them: methods with a bridge gain by other means as well.",
        lambda n: (*on_bad(n)[:2], numeral(int(on_bad(n)[2]))),
        rests_on=PRINTED,
    ),
    Result(
        VERDICTS,
        "The 80 % intervals contain {} % of the true gains.",
        lambda n: [held(n, REPORTED)],
        rests_on=PRINTED,
    ),
    Result(
        VERDICTS,
        "On {} draws of {} families that we set aside, the bet costs {} points and "
        "`target-only` {}; the intervals contain only {} %, because a bridge may gain "
        "far more than the prior expects.",
        lambda n: (
            size(n, ASIDE)[1],
            numeral(size(n, ASIDE)[0]),
            policy(n, BET, ASIDE)[1],
            policy(n, ALWAYS, ASIDE)[1],
            held(n, ASIDE),
        ),
        rests_on=PRINTED,
    ),
    Result(
        VERDICTS,
        "Labels of 20 rows on which both fits disagree settle {} % of the bets, labels "
        "of 20 random rows {} %.",
        lambda n: (settled(n, "disagreeing rows"), settled(n, "random rows")),
        rests_on=PRINTED,
    ),
]
