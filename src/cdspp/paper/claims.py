"""Claims, of the paper or of a study, each with the verdict of its data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.summary import arrange_curves, read_scores, summarise
from cdspp.analysis.verdicts import MIN_TRIALS, TOO_FEW
from cdspp.core.errors import DataError
from cdspp.core.names import PathLike, Paths
from cdspp.core.wording import DASH, sentence
from cdspp.core.yaml_files import read_yaml
from cdspp.paper import checks
from cdspp.paper.checks import CHECKS, CONTRADICTED, SUPPORTED, Evidence, Times
from cdspp.paper.plugin import PaperPlan
from cdspp.paper.times import measure_times
from cdspp.report.tables.table import Cell, Line, Table, caption, write_tables
from cdspp.stages.score import SampleScores
from cdspp.study.plan import Plans

BY_CONSTRUCTION = "by construction"
UNTESTABLE = "cannot be tested here"  # instead of a verdict
PAPER, OURS = "paper", "ours"
CLAIM_COLUMNS = ("claim", "text", "kind", "benchmark", "verdict", "numbers", "rule")
_TERMS = caption("paper", "terms", min_trials=MIN_TRIALS)


@dataclass(frozen=True)
class Claim:
    """A claim in our words, and its check; `kind` is the paper's, others' or ours.

    `construction` explains why it cannot fail in this implementation; empty if it can.
    `rule` explains the check to readers.
    """

    id: str
    text: str
    check: str
    kind: str = PAPER
    construction: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    rule: str = ""


def write_claims(
    plans: Plans,
    scores: Paths,
    comparisons: Paths,
    rows: Paths,
    paper: PathLike,
    outputs: Paths,
) -> None:
    """Write the verdict on each claim of a study, with its numbers."""
    claims = read_claims(Path(paper, "claims.yaml"), PaperPlan.of(plans[0]).stated)
    findings = check_claims(read_evidence(scores, comparisons, rows, plans), claims)
    tables = build_verdicts_table(findings), build_claims_table(findings)
    write_tables(tables, outputs)


def write_time_claims(
    plans: Plans, records: Paths, paper: PathLike, outputs: Paths
) -> None:
    """Write the claims of the paper about computation time."""
    times = measure_times(read_fit_records(records).results, plans)
    claims = read_claims(Path(paper, "claims.yaml"))
    findings = check_claims([Times(plan, times) for plan in plans], claims)
    write_tables([build_time_claims_table(findings)], outputs)


def read_evidence(
    scores: Paths, comparisons: Paths, rows: Paths, plans: Plans
) -> list[Evidence]:
    """Read the results of each benchmark: scores, comparisons, scores per sample."""
    read = zip(map(read_scores, scores), comparisons, rows, plans, strict=True)
    return [
        Evidence(
            summarise(frame, plan, plan.rows),
            arrange_curves(frame, plan),
            read_comparisons(gains),
            SampleScores(by_row),
        )
        for frame, gains, by_row, plan in read
    ]


def read_claims(path: PathLike, stated: Sequence[Any] = ()) -> list[Claim]:
    """Read the list of claims, or those that a study states, with the rules next to it.

    DataError: a check or key is unknown or missing.
    """
    claims = []
    for entry in stated or read_yaml(path):
        try:
            claim = Claim(**entry)
            signature(CHECKS[claim.check].apply).bind(None, **claim.options)
        except (KeyError, TypeError) as error:
            raise DataError(
                f"{path}, {entry.get('id', entry)}: expected the keys id, text and "
                f"check, perhaps kind, construction and options, with a check of "
                f"{', '.join(CHECKS)} and its own options."
            ) from error
        claims.append(claim)
    rules, fields = read_yaml(Path(path).with_name("rules.yaml")), checks.RULE_FIELDS
    return [replace(c, rule=rules[c.check].format(**fields)) for c in claims]


def check_claims(
    evidence: Sequence[Evidence | Times], claims: Sequence[Claim]
) -> pd.DataFrame:
    """Test every claim on every benchmark: those on time by times, others by scores.

    The frame has `CLAIM_COLUMNS`: the verdict by claim, then by benchmark, the numbers
    behind it, or the missing data, and the rule that decided it.
    """
    records = []
    for claim, each in product(claims, evidence):
        (apply, of_time), rule = CHECKS[claim.check], claim.rule
        if of_time != isinstance(each, Times):
            continue
        try:
            decision = apply(each, **claim.options)
        except checks.NotTestable as missing:
            decision = checks.Decision(UNTESTABLE, f"{sentence(str(missing))}.")
        if claim.construction and decision.verdict != CONTRADICTED:
            decision = decision._replace(verdict=BY_CONSTRUCTION)
            rule = f"By construction: {claim.construction}."
        record = {"claim": claim.id, "text": claim.text, "kind": claim.kind}
        record |= {"benchmark": each.plan.title, "rule": rule}
        records.append(record | decision._asdict())
    return pd.DataFrame(records, columns=list(CLAIM_COLUMNS))


def build_verdicts_table(findings: pd.DataFrame) -> Table:
    """Build the table ``claims-overview``: lines are claims, columns benchmarks."""
    lines = []
    for _, group in findings.groupby("claim", sort=False):
        construction = group[group["verdict"] == BY_CONSTRUCTION]["rule"]
        verdicts = (
            Cell(DASH if verdict == UNTESTABLE else verdict, bold=verdict == SUPPORTED)
            for verdict in group["verdict"]
        )
        claim = _claim_cell(group.iloc[0], "".join(construction[:1]))
        lines.append(Line((claim, *verdicts)))
    return Table(
        "claims-overview",
        "Claims, and verdicts on these data",
        caption("paper", "claims-overview", counts=_counts(findings), terms=_TERMS),
        columns=("Claim", *findings["benchmark"].unique()),
        lines=tuple(lines),
        data=findings[["claim", "text", "kind", "benchmark", "verdict"]],
        prose=(0,),
    )


def _claim_cell(finding: Any, note: str) -> Cell:
    kind = " (our question)" if finding.kind == OURS else ""
    return Cell(finding.text + kind, note=note)


def _counts(findings: pd.DataFrame) -> str:
    tally, verdicts = Counter(findings["verdict"]), (SUPPORTED, CONTRADICTED, TOO_FEW)
    return ", ".join(f"{tally[verdict]} {verdict}" for verdict in verdicts)


def build_claims_table(findings: pd.DataFrame) -> Table:
    """Build the table ``claims``: one line per claim and benchmark."""
    lines, repeated = [], findings["rule"].duplicated()
    for _, group in findings.groupby("claim", sort=False):
        # One line if all benchmarks agree.
        distinct = group.drop_duplicates(["verdict", "numbers"])
        together = len(distinct) == 1 < len(group)
        first = group.iloc[0]
        claim = _claim_cell(first, "" if repeated[first.name] else first.rule)
        for finding in (distinct if together else group).itertuples():
            benchmark = Cell("all" if together else finding.benchmark)
            verdict = Cell(finding.verdict, bold=finding.verdict == SUPPORTED)
            cells = (claim, benchmark, verdict, Cell(finding.numbers))
            lines.append(Line(cells, finding.claim))
            claim = Cell("")
    return Table(
        "claims",
        "The numbers behind each verdict",
        caption("paper", "claims", terms=_TERMS),
        columns=("Claim", "Benchmark", "Verdict", "Numbers"),
        lines=tuple(lines),
        data=findings,
        text_columns=4,
        prose=(0, 3),
    )


def build_time_claims_table(findings: pd.DataFrame) -> Table:
    """Build the table ``time-claims``: one line per claim on time and benchmark."""
    return replace(
        build_claims_table(findings),
        name="time-claims",
        title="Claims about computation time",
        caption=caption("paper", "time-claims"),
    )
