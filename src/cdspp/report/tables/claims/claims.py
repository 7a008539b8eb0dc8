"""What the paper claims, claim by claim, and what the data at hand say to it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby

from cdspp.analysis.summary import Layout, Summary, read_summary
from cdspp.core.names import LABELS
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.claims.checks import (
    Best,
    Cheapest,
    Elsewhere,
    Superior,
    Transfer,
)
from cdspp.report.tables.claims.curve_checks import Flat, Trend
from cdspp.report.tables.claims.evidence import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNTESTABLE,
    Check,
    Evidence,
    NotTestable,
    Outcome,
)
from cdspp.report.tables.curves import Curve, read_curves
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.report.tables.times import Time, read_times

__all__ = [
    "CLAIMS",
    "Claim",
    "Finding",
    "build_claims",
    "build_claims_table",
    "claims_tables",
    "write_claims",
]

PathLike = str | os.PathLike[str]

PAPER, OURS = "paper", "ours"
VERDICTS = (SUPPORTED, NOT_SUPPORTED, UNTESTABLE)
_TIMED = ("dama", "shfa", "cdls", "pa", "tit", "stn", "ddacl", "ssan", "dama-plus")


@dataclass(frozen=True)
class Claim:
    """A claim, in our words, and the check that it is put to on every benchmark.

    Attributes
    ----------
    identifier, text : str
        Name, and what is claimed.
    check : callable
        Takes the evidence of a benchmark and returns the verdict with its numbers.
    kind : {'paper', 'ours'}
        Whether the paper claims it, or it is the question that we add.
    """

    identifier: str
    text: str
    check: Check
    kind: str = PAPER


CLAIMS = (
    Claim(
        "sup-baseline",
        "From labelled samples alone, CDSPP_sup does better than SVM_t, which sees "
        "the target only.",
        Superior("cdspp-sup", "svm-t"),
    ),
    Claim(
        "sup-best",
        "CDSPP_sup is the best of the supervised methods.",
        Best("cdspp-sup"),
    ),
    Claim("baseline", "CDSPP does better than SVM_t.", Superior("cdspp", "svm-t")),
    Claim(
        "best",
        "CDSPP is the best of the semi-supervised methods (CDSPP+PCA apart).",
        Best("cdspp", apart=("cdspp-pca",)),
    ),
    Claim(
        "unlabelled",
        "Unlabelled target samples help: CDSPP does better than CDSPP_sup.",
        Superior("cdspp", "cdspp-sup"),
    ),
    Claim(
        "dama-plus",
        "Selective pseudo-labels improve another method as well: DAMA+ does better "
        "than DAMA.",
        Superior("dama-plus", "dama"),
    ),
    Claim(
        "subspace",
        "With the same pseudo-labelling, CDSPP's subspace is the better one: CDSPP "
        "does better than DAMA+.",
        Superior("cdspp", "dama-plus"),
    ),
    Claim(
        "pca",
        "PCA beforehand improves CDSPP (claimed of words and tags; tested wherever "
        "both ran).",
        Superior("cdspp-pca", "cdspp"),
    ),
    Claim(
        "labels",
        "CDSPP's accuracy grows with the number of labelled target samples.",
        Trend("cdspp", LABELS),
    ),
    Claim(
        "few-labels",
        "CDSPP's gain over SVM_t is the larger, the fewer target samples are labelled.",
        Trend("cdspp", LABELS, rival="svm-t", rises=False),
    ),
    Claim(
        "dimension",
        "A dimension d beyond the number of classes changes nothing (in CDSPP's closed "
        "form: by construction).",
        Flat("cdspp", "n_components"),
    ),
    Claim(
        "alpha",
        "CDSPP hardly depends on alpha between 10 and 100.",
        Flat("cdspp", "alpha", low=10, high=100),
    ),
    Claim(
        "rounds",
        "CDSPP is stable from T = 5 rounds on.",
        Flat("cdspp", "max_iter", low=5),
    ),
    Claim(
        "cheapest",
        "CDSPP takes the least time of the semi-supervised methods.",
        Cheapest("cdspp", _TIMED),
    ),
    Claim(
        "deterministic",
        "CDSPP has no luck in it: equal data give equal predictions.",
        Elsewhere(
            "no fit runs twice in a study; tests/test_workflow.py runs one again and "
            "compares the scores byte by byte"
        ),
    ),
    Claim(
        "aligned",
        "In the common subspace classes stay together and the domains are aligned.",
        Elsewhere("a picture rather than a number: see the figure of the subspace"),
    ),
    Claim(
        "transfer",
        "CDSPP's gain comes from the source: it does better than without one, or with "
        "one that says nothing.",
        Transfer(),
        OURS,
    ),
)


@dataclass(frozen=True)
class Finding:
    """What became of a claim on a benchmark.

    Attributes
    ----------
    claim, text, kind : str
        The claim (`Claim`).
    benchmark : str
        Title of the benchmark.
    verdict : {'supported', 'not supported', 'cannot be tested here'}
        By `rule`.
    numbers : str
        The numbers behind it, or what is missing.
    rule : str
        How it was decided.
    """

    claim: str
    text: str
    kind: str
    benchmark: str
    verdict: str
    numbers: str
    rule: str


def claims_tables(layouts: Sequence[Layout]) -> list[str]:
    """Names of the tables of `write_claims`."""
    return ["claims"] if layouts else []


def write_claims(
    *,
    scores: Sequence[PathLike],
    layouts: Sequence[Layout],
    records: Sequence[PathLike],
    outputs: Sequence[PathLike],
) -> None:
    """Check all claims on all benchmarks of a study, and write the table.

    Parameters
    ----------
    scores : sequence of path
        Score files, one a benchmark.
    layouts : sequence of mapping
        The benchmarks, in the same order.
    records : sequence of path
        Records of fits, for their times; see `cdspp.report.tables.times.write_times`.
    outputs : sequence of path
        Files to write; the suffix (csv, md, tex) names the form.
    """
    pairs = list(zip(scores, layouts, strict=True))
    findings = build_claims(
        [read_summary(*pair) for pair in pairs],
        [read_curves(*pair) for pair in pairs],
        read_times(records, layouts),
    )
    write_tables([build_claims_table(findings)], outputs)


def build_claims(
    summaries: Sequence[Summary],
    curves: Sequence[Sequence[Curve]],
    times: Sequence[Time],
) -> list[Finding]:
    """Put every claim to every benchmark.

    Parameters
    ----------
    summaries : sequence of Summary
        Scores, one a benchmark.
    curves : sequence of sequence of Curve
        Curves of each benchmark, in the same order.
    times : sequence of Time
        What methods take, on all benchmarks.

    Returns
    -------
    list of Finding
        By claim, then by benchmark.
    """
    evidence = [
        Evidence(
            summary,
            found,
            [time for time in times if time.benchmark == summary.layout["benchmark"]],
        )
        for summary, found in zip(summaries, curves, strict=True)
    ]
    return [_finding(claim, known) for claim in CLAIMS for known in evidence]


def build_claims_table(findings: Sequence[Finding]) -> Table:
    """Build the table ``claims``: a line a claim and benchmark."""
    tally = Counter(finding.verdict for finding in findings)
    counts = ", ".join(f"{verdict}: {tally[verdict]}" for verdict in VERDICTS)
    return Table(
        name="claims",
        title="What the paper claims, and what these data say",
        caption=(
            "Each claim, in our words, is put to every benchmark by a fixed rule (in "
            "small print); an interval that includes zero supports nothing, and one of "
            "three trials says no more than that all three agree. These data are not "
            "the paper's, so a claim that is not supported here is not refuted there. "
            f"In all, {counts}."
        ),
        columns=("Claim", "Benchmark", "Verdict", "Numbers"),
        lines=tuple(
            line
            for _, group in groupby(findings, key=lambda finding: finding.claim)
            for line in _lines(list(group))
        ),
        fields=tuple(field.name for field in fields(Finding)),
        records=[asdict(finding) for finding in findings],
        text_columns=4,
        prose=(0, 3),
    )


def _finding(claim: Claim, evidence: Evidence) -> Finding:
    try:
        outcome = claim.check(evidence)
    except NotTestable as missing:
        text = str(missing)
        outcome = Outcome(UNTESTABLE, f"{text[:1].upper()}{text[1:]}.")
    layout = evidence.summary.layout
    return Finding(
        claim=claim.identifier,
        text=claim.text,
        kind=claim.kind,
        benchmark=str(layout.get("title", layout["benchmark"])),
        verdict=outcome.verdict,
        numbers=outcome.numbers,
        rule=claim.check.rule,
    )


def _lines(findings: Sequence[Finding]) -> list[Line]:
    """Return the lines of a claim: one, where all benchmarks say the same."""
    told = {(finding.verdict, finding.numbers) for finding in findings}
    together = len(told) == 1 < len(findings)
    lines = []
    for place, finding in enumerate(findings[:1] if together else findings):
        asked = " (our question)" if finding.kind == OURS else ""
        claim = Cell(f"{finding.text}{asked}", note=finding.rule)
        cells = (
            Cell("") if place else claim,
            Cell("all" if together else finding.benchmark),
            Cell(finding.verdict, bold=finding.verdict == SUPPORTED),
            Cell(finding.numbers),
        )
        lines.append(Line(cells, finding.claim))
    return lines
