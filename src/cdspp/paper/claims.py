"""Claims, of the paper or of a study, each with the verdict of its data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.summary import arrange_curves, read_scores, summarise
from cdspp.core.errors import DataError
from cdspp.core.names import PathLike, Paths
from cdspp.core.wording import sentence
from cdspp.core.yaml_files import read_yaml
from cdspp.paper import checks
from cdspp.paper.checks import CHECKS
from cdspp.paper.claim_tables import (
    BY_CONSTRUCTION,
    NOT_RUN,
    OURS,
    PAPER,
    UNTESTABLE,
    build_claims_table,
    build_time_claims_table,
    build_verdicts_table,
)
from cdspp.paper.evidence import (
    CONTRADICTED,
    Decision,
    Evidence,
    NotTestable,
    Outcome,
    Times,
)
from cdspp.paper.plugin import PaperPlan
from cdspp.paper.print_checks import ReportedNumbers, ask_print, read_reported_numbers
from cdspp.paper.protocol import Protocol
from cdspp.paper.times import measure_times
from cdspp.report.tables.table import write_tables
from cdspp.stages.score import SampleScores
from cdspp.study.plan import BenchmarkPlan, Plans

CLAIM_COLUMNS = (
    *("claim", "statement", "text", "kind", "where", "benchmark", "of_paper"),
    *("verdict", "reason", "numbers", "print", "print_numbers", "rule"),
)


@dataclass(frozen=True)
class Claim:
    """A claim in our words, and its check; `kind` is the paper's, others' or ours.

    The paper makes it of the benchmarks `where`, by the runs of an `experiment`, in a
    `statement` of that number; on others it is our question, unless not asked
    `elsewhere`. `construction` explains why it cannot fail in this implementation;
    empty if it can. `rule` explains the check to readers.
    """

    id: str
    text: str
    check: str
    kind: str = PAPER
    construction: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    statement: int | None = None
    where: Sequence[str] = ()
    experiment: str = "comparison"
    elsewhere: bool = True
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
    evidence = read_evidence(scores, comparisons, rows, plans)
    findings = check_claims(evidence, claims, read_reported_numbers(paper))
    tables = build_verdicts_table(findings), build_claims_table(findings)
    write_tables(tables, outputs)


def write_time_claims(
    plans: Plans, records: Paths, paper: PathLike, outputs: Paths
) -> None:
    """Write the claims of the paper about computation time."""
    times = measure_times(read_fit_records(records, plans).results, plans)
    claims = read_claims(Path(paper, "claims.yaml"))
    evidence = [Times(plan, times, PaperPlan.of(plan).printed) for plan in plans]
    findings = check_claims(evidence, claims, read_reported_numbers(paper))
    write_tables([build_time_claims_table(findings)], outputs)


def read_evidence(
    scores: Paths, comparisons: Paths, rows: Paths, plans: Plans
) -> list[Evidence]:
    """Read the results of each benchmark: scores, comparisons, scores per sample."""
    read = zip(map(read_scores, scores), comparisons, rows, plans, strict=True)
    evidence = [
        Evidence(
            summarise(frame, plan, plan.rows),
            arrange_curves(frame, plan),
            read_comparisons(gains),
            SampleScores(by_row),
            PaperPlan.of(plan).printed,
        )
        for frame, gains, by_row, plan in read
    ]
    return [
        replace(each, others=[other for other in evidence if other is not each])
        for each in evidence
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
    evidence: Sequence[Evidence | Times],
    claims: Sequence[Claim],
    printed: ReportedNumbers,
) -> pd.DataFrame:
    """Test every claim on every benchmark: those on time by times, others by scores.

    The frame has `CLAIM_COLUMNS`: the verdict by claim, then by benchmark, the numbers
    behind it, or the missing data, what the paper prints, and the rule that decided.
    `of_paper` is true on benchmarks of which the paper makes the claim; those that the
    study does not have are last.
    """
    of_time = any(isinstance(each, Times) for each in evidence)
    records = [
        {**_identity(claim, printed.protocol), **record}
        for claim in claims
        if evidence and CHECKS[claim.check].of_time == of_time
        for record in _findings(claim, evidence, printed)
    ]
    return pd.DataFrame(records, columns=list(CLAIM_COLUMNS))


def _identity(claim: Claim, protocol: Protocol) -> dict[str, Any]:
    texts = {"claim": claim.id, "text": claim.text, "where": ""}
    texts["statement"] = "" if claim.statement is None else str(claim.statement)
    if claim.where:
        texts["where"] = protocol.title_of(claim.where)
    return texts


def _findings(
    claim: Claim, evidence: Sequence[Evidence | Times], printed: ReportedNumbers
) -> Iterator[dict[str, Any]]:
    for each in evidence:
        if claim.elsewhere or each.printed in claim.where:
            yield _finding(claim, each, printed.protocol) | _print(claim, each, printed)
    protocol, ran = printed.protocol, {each.printed for each in evidence}
    for name in claim.where:
        if name not in ran:
            record = {"benchmark": protocol.benchmarks[name]["short_title"]}
            record |= {"kind": PAPER, "verdict": NOT_RUN, "reason": ""}
            record |= {"of_paper": True, "rule": claim.rule}
            record["numbers"] = f"{protocol.study} tests it."
            yield record | _print_of(claim, name, printed)


def _finding(
    claim: Claim, evidence: Evidence | Times, protocol: Protocol
) -> dict[str, Any]:
    rule = claim.rule
    try:
        decision = CHECKS[claim.check].apply(evidence, **claim.options)
    except NotTestable as missing:
        decision = Decision(Outcome(UNTESTABLE), f"{sentence(str(missing))}.")
    if claim.construction and decision.verdict != CONTRADICTED:
        decision = decision._replace(verdict=Outcome(BY_CONSTRUCTION))
        rule = f"By construction: {claim.construction}."
    kind, lack = claim.kind, ""
    if claim.where and evidence.printed not in claim.where:
        kind = OURS
    elif claim.where and (lack := _missing_tasks(claim, evidence, protocol)):
        kind = OURS
        decision = decision._replace(numbers=f"{decision.numbers} {lack}")
    record = {"kind": kind, "benchmark": evidence.plan.title, "rule": rule}
    made = {"of_paper": evidence.printed in claim.where}
    reason = {"reason": decision.verdict.reason}
    return record | made | decision._asdict() | reason


def _missing_tasks(claim: Claim, evidence: Evidence | Times, protocol: Protocol) -> str:
    """Return the share of the paper's tasks that ran, if some did not."""
    tasks, wanted = evidence.plan.tasks, protocol.tasks(str(evidence.printed))
    if claim.experiment in protocol.curves["values"]:
        tasks = _curve_tasks(claim.experiment, evidence.plan) or tasks
        wanted = protocol.curve_tasks(str(evidence.printed))
    if {*tasks} == {*wanted}:
        return ""
    n_ran = len({*tasks} & {*wanted})
    return f"On {n_ran} of the paper's {len(wanted)} tasks; {protocol.study} runs all."


def _curve_tasks(parameter: str, plan: BenchmarkPlan) -> tuple[str, ...]:
    curves = (curve for curve in plan.curves if curve.parameter == parameter)
    return next((curve.tasks for curve in curves), ())


def _print(
    claim: Claim, evidence: Evidence | Times, printed: ReportedNumbers
) -> dict[str, str]:
    if not claim.where or evidence.printed is None:
        return {"print": "", "print_numbers": ""}
    return _print_of(claim, evidence.printed, printed)


def _print_of(claim: Claim, benchmark: str, printed: ReportedNumbers) -> dict[str, str]:
    answer = ask_print(printed.of(benchmark), claim.check, claim.options)
    return dict(zip(("print", "print_numbers"), answer, strict=True))
