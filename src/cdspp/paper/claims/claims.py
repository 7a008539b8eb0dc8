"""What the paper claims, claim by claim, and what the data at hand say to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from cdspp.analysis.verdicts import MIN_TRIALS, TOO_FEW
from cdspp.core.names import LABELS
from cdspp.core.wording import DASH, sentence
from cdspp.paper.claims import checks
from cdspp.paper.claims.evidence import (
    BY_CONSTRUCTION,
    CONTRARY,
    SUPPORTED,
    UNTESTABLE,
    Check,
    Evidence,
    Judgement,
    NotTestable,
    Times,
)
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.study.plan import BenchmarkPlan

__all__ = [
    "CLAIMS",
    "CLAIM_COLUMNS",
    "TIME_CLAIMS",
    "Claim",
    "build_claims_table",
    "build_time_claims_table",
    "build_verdicts_table",
    "check_claims",
    "check_time_claims",
]

PAPER, OTHERS, OURS = "paper", "others", "ours"
CLAIM_COLUMNS = dict.fromkeys(
    ("claim", "text", "kind", "benchmark", "verdict", "numbers", "rule"), "str"
)
COUNTED = (SUPPORTED, CONTRARY, TOO_FEW)
_WORDS = (
    "Supported: these data show what is claimed; contrary: they show the opposite; "
    f"too few trials: fewer than {MIN_TRIALS}, or trials that do not settle it; by "
    "construction: it follows from the algorithm and cannot fail, so it is not counted."
)


@dataclass(frozen=True)
class Claim:
    """A claim, in our words, and the check that it is put to on every benchmark.

    The paper claims it, another one does, or it is a question that we add (`kind`).
    `construction` says why it cannot fail on this implementation, in half a sentence,
    and is empty where it can.
    """

    identifier: str
    text: str
    check: Check
    kind: str = PAPER
    construction: str = ""


CLAIMS = (
    Claim(
        "sup-baseline",
        "From labelled samples alone, CDSPP_sup does better than SVM_t, which sees "
        "the target only.",
        checks.Superior("cdspp-sup", "svm-t"),
    ),
    Claim(
        "sup-best",
        "CDSPP_sup is the best of the supervised methods.",
        checks.Best("cdspp-sup"),
    ),
    Claim(
        "baseline", "CDSPP does better than SVM_t.", checks.Superior("cdspp", "svm-t")
    ),
    Claim(
        "best",
        "CDSPP is the best of the semi-supervised methods (CDSPP+PCA apart).",
        checks.Best("cdspp", apart=("cdspp-pca",)),
    ),
    Claim(
        "unlabelled",
        "Unlabelled target samples help: CDSPP does better than CDSPP_sup.",
        checks.Superior("cdspp", "cdspp-sup"),
    ),
    Claim(
        "dama-plus",
        "Selective pseudo-labels improve another method as well: DAMA+ does better "
        "than DAMA.",
        checks.Superior("dama-plus", "dama"),
    ),
    Claim(
        "subspace",
        "With the same pseudo-labelling, CDSPP's subspace is the better one: CDSPP "
        "does better than DAMA+.",
        checks.Superior("cdspp", "dama-plus"),
    ),
    Claim(
        "pca",
        "PCA beforehand improves CDSPP (claimed of words and tags; tested wherever "
        "both ran).",
        checks.Superior("cdspp-pca", "cdspp"),
    ),
    Claim(
        "labels",
        "CDSPP's accuracy grows with the number of labelled target samples.",
        checks.Trend("cdspp", LABELS),
    ),
    Claim(
        "few-labels",
        "CDSPP's gain over SVM_t is the larger, the fewer target samples are labelled.",
        checks.Trend("cdspp", LABELS, rival="svm-t", rises=False),
    ),
    Claim(
        "dimension",
        "A dimension d beyond the number of classes changes nothing.",
        checks.Flat("cdspp", "n_components"),
        construction="at most one direction a class has a positive eigenvalue, and "
        "CDSPP takes no others",
    ),
    Claim(
        "alpha",
        "CDSPP hardly depends on alpha between 10 and 100.",
        checks.Flat("cdspp", "alpha", low=10, high=100),
    ),
    Claim(
        "rounds",
        "CDSPP is stable from T = 5 rounds on.",
        checks.Flat("cdspp", "max_iter", low=5),
    ),
    Claim(
        "deterministic",
        "CDSPP has no luck in it: equal data give equal predictions.",
        checks.Elsewhere(
            "no fit runs twice in a study; tests/workflow/test_workflow.py runs one "
            "again and compares the scores byte by byte"
        ),
        construction="no step of CDSPP draws a random number",
    ),
    Claim(
        "aligned",
        "In the common subspace classes stay together and the domains are aligned.",
        checks.Elsewhere(
            "a picture rather than a number: see the figure of the subspace"
        ),
    ),
    Claim(
        "class-noise",
        "Noise with class structure does as well as a real source (Yao et al. 2025, "
        "arXiv 2502.13573, of other methods).",
        checks.NOISE_DOES,
        OTHERS,
    ),
    Claim(
        "transfer",
        "CDSPP's gain comes from the source: it does better than without one, or with "
        "one that says nothing.",
        checks.Transfer(),
        OURS,
    ),
    Claim(
        "without-source",
        "What methods gain over SVM_t is there without any source.",
        checks.WITHOUT_SOURCE,
        OURS,
    ),
)
_RIVALS = ("dama", "shfa", "cdls", "pa", "tit", "stn", "ddacl", "ssan", "dama-plus")
# They rest on seconds, and so are in no other table.
TIME_CLAIMS = (
    Claim(
        "cheapest",
        "CDSPP takes the least time of the semi-supervised methods.",
        checks.Cheapest("cdspp", _RIVALS),
    ),
)


def check_claims(
    evidence: Sequence[Evidence] | Sequence[Times], claims: Sequence[Claim]
) -> pd.DataFrame:
    """Put every claim to every benchmark.

    The frame has by claim, then by benchmark: the `verdict` ('supported', 'contrary',
    'too few trials' or 'by construction'; 'cannot be tested here' where there is none),
    the `numbers` behind it, or what is missing, and the `rule` by which it was decided.
    A claim that holds by construction is 'contrary' where the numbers contradict it all
    the same.
    """
    return pd.DataFrame(
        [_finding(claim, known) for claim in claims for known in evidence],
        columns=list(CLAIM_COLUMNS),
    )


def check_time_claims(
    times: pd.DataFrame, plans: Sequence[BenchmarkPlan]
) -> pd.DataFrame:
    """Put every claim on time to every benchmark, see `cdspp.analysis.fit_records`."""
    known = [Times(p, times[times["benchmark"] == p.benchmark]) for p in plans]
    return check_claims(known, TIME_CLAIMS)


def build_verdicts_table(findings: pd.DataFrame) -> Table:
    """Build the table ``claims-overview``: a line a claim, a column a benchmark."""
    titles = tuple(findings["benchmark"].unique())
    return Table(
        name="claims-overview",
        title="What the paper claims, and what these data say",
        caption=(
            f"{_counts(findings)} Each claim, in our words, is put to every benchmark "
            f"by a fixed rule. {_WORDS} A dash: no number of this study speaks to it. "
            "These data are not the paper's, so a claim that they contradict is not "
            "refuted there. What the paper claims of time stands beside the measured "
            "seconds."
        ),
        columns=("Claim", *titles),
        lines=tuple(map(_overview_line, _by_claim(findings))),
        data=findings[["claim", "text", "kind", "benchmark", "verdict"]],
        prose=(0,),
    )


def _overview_line(findings: pd.DataFrame) -> Line:
    """Return the claim, why it cannot fail where it cannot, and all verdicts."""
    known = findings[findings["verdict"] == BY_CONSTRUCTION]["rule"]
    first = findings.iloc[0]
    claim = Cell(first["text"] + _asked(first["kind"]), note="".join(known[:1]))
    shown = (
        Cell(DASH if verdict == UNTESTABLE else verdict, bold=verdict == SUPPORTED)
        for verdict in findings["verdict"]
    )
    return Line((claim, *shown))


def _by_claim(findings: pd.DataFrame) -> list[pd.DataFrame]:
    return [group for _, group in findings.groupby("claim", sort=False)]


def _counts(findings: pd.DataFrame) -> str:
    tally = Counter(findings["verdict"])
    return f"In all, {', '.join(f'{tally[word]} {word}' for word in COUNTED)}."


def _asked(kind: str) -> str:
    return " (our question)" if kind == OURS else ""


def build_claims_table(findings: pd.DataFrame) -> Table:
    """Build the table ``claims``: a line a claim and benchmark."""
    return Table(
        name="claims",
        title="The numbers behind each verdict",
        caption=(
            f"{_counts(findings)} Each claim, in our words, is put to every benchmark "
            f"by a fixed rule (in small print). {_WORDS} These data are not the "
            "paper's, so a claim that they contradict is not refuted there."
        ),
        columns=("Claim", "Benchmark", "Verdict", "Numbers"),
        lines=tuple(line for group in _by_claim(findings) for line in _lines(group)),
        data=findings,
        text_columns=4,
        prose=(0, 3),
    )


def build_time_claims_table(findings: pd.DataFrame) -> Table:
    """Build the table ``time-claims``: a line a claim on time and benchmark."""
    return replace(
        build_claims_table(findings),
        name="time-claims",
        title="What the paper claims of computation time",
        caption=(
            "By a fixed rule (in small print), from the seconds of this run: another "
            "run, or another machine, has others. That is why this claim stands apart."
        ),
    )


def _finding(claim: Claim, evidence: Evidence | Times) -> dict[str, str]:
    try:
        judgement = claim.check(evidence)
    except NotTestable as missing:
        judgement = Judgement(UNTESTABLE, f"{sentence(str(missing))}.")
    rule = claim.check.rule
    if claim.construction and judgement.verdict != CONTRARY:
        judgement = judgement._replace(verdict=BY_CONSTRUCTION)
        rule = f"By construction: {claim.construction}."
    return {
        "claim": claim.identifier,
        "text": claim.text,
        "kind": claim.kind,
        "benchmark": evidence.plan.title,
        "verdict": judgement.verdict,
        "numbers": judgement.numbers,
        "rule": rule,
    }


def _lines(findings: pd.DataFrame) -> list[Line]:
    """Return the lines of a claim: one, where all benchmarks say the same."""
    told = findings.drop_duplicates(["verdict", "numbers"])
    together = len(told) == 1 < len(findings)
    lines: list[Line] = []
    for finding in (told if together else findings).itertuples():
        claim = Cell(finding.text + _asked(finding.kind), note=finding.rule)
        cells = (
            Cell("") if lines else claim,
            Cell("all" if together else finding.benchmark),
            Cell(finding.verdict, bold=finding.verdict == SUPPORTED),
            Cell(finding.numbers),
        )
        lines.append(Line(cells, finding.claim))
    return lines
