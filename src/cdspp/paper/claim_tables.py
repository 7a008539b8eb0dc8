"""The tables of claims: the verdicts, the numbers behind them, and those on time."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pandas as pd

from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core.wording import DASH, counted
from cdspp.paper.evidence import CONTRADICTED, SUPPORTED
from cdspp.report.tables.table import Cell, Line, Table, caption

BY_CONSTRUCTION = "by construction"
UNTESTABLE = "cannot be tested here"  # instead of a verdict
NOT_RUN = "not run"  # a benchmark of the paper that the study does not have
PAPER, OURS = "paper", "ours"


_OVERVIEW = "claim", "statement", "text", "kind", "benchmark", "verdict", "reason"


def _terms() -> str:
    return caption("paper", "terms", min_trials=MIN_TRIALS)


def build_verdicts_table(findings: pd.DataFrame) -> Table:
    """Build the table ``claims-overview``: lines are claims, columns benchmarks."""
    ran = findings[findings["verdict"] != NOT_RUN]
    benchmarks = list(ran["benchmark"].unique())
    tested = ran[ran["verdict"] != UNTESTABLE]["claim"].unique()
    papers = set(ran[ran["kind"] == PAPER]["benchmark"])
    of_paper = bool(findings["where"].any())
    lines = []
    for claim, group in findings.groupby("claim", sort=False):
        if claim not in tested:
            continue
        own = group[group["verdict"] != NOT_RUN].set_index("benchmark")
        verdicts = (_verdict_cell(own, name, name in papers) for name in benchmarks)
        print_cells = [_print_cell(group[group["of_paper"]])] if of_paper else []
        lines.append(Line((_overview_cell(group), *print_cells, *verdicts)))
    left = findings["claim"].nunique() - len(lines)
    numbers = f"{counted(left, 'claim')} cannot be tested here at all." if left else ""
    texts = {"counts": _counts(ran), "left": numbers, "terms": _terms()}
    text = caption("paper", "stated-overview", **texts)
    if of_paper:
        text = caption("paper", "claims-overview", **texts)
    outside = " (not in the paper)" if of_paper else ""
    titles = (name if name in papers else f"{name}{outside}" for name in benchmarks)
    return Table(
        "claims-overview",
        "Claims, and verdicts on these data",
        text,
        columns=("Claim", *["In the paper"] * of_paper, *titles),
        lines=tuple(lines),
        data=findings[[*_OVERVIEW]],
        prose=(0,),
    )


def _overview_cell(group: pd.DataFrame) -> Cell:
    construction = group[group["verdict"] == BY_CONSTRUCTION]["rule"]
    where = group["where"].iloc[0]
    notes = [f"Of {where}."] * bool(where) + list(construction[:1])
    return _claim_cell(group.iloc[0], " ".join(notes))


def _claim_cell(finding: Any, note: str) -> Cell:
    own = finding["kind"] == OURS and not finding["where"]
    return Cell(finding["text"] + " (our question)" * own, note=note)


def _verdict_cell(findings: pd.DataFrame, benchmark: str, in_paper: bool) -> Cell:
    if benchmark not in findings.index:
        return Cell(DASH)
    finding = findings.loc[benchmark]
    if finding["verdict"] == UNTESTABLE:
        return Cell(DASH)
    ours = in_paper and finding["kind"] == OURS and bool(finding["where"])
    notes = [finding["reason"], *["our question"] * ours]
    verdict, note = finding["verdict"], ", ".join(filter(None, notes))
    return Cell(verdict, bold=verdict == SUPPORTED, note=note)


def _print_cell(findings: pd.DataFrame) -> Cell:
    """Return what the reported numbers say of a claim on some benchmarks."""
    told = findings[findings["print"] != ""]
    answers = list(told["print"].unique())
    if len(answers) < 2:
        return Cell(answers[0] if answers else DASH)
    benchmarks = (told[told["print"] == each]["benchmark"] for each in answers)
    parts = (f"{a}: {', '.join(b)}" for a, b in zip(answers, benchmarks, strict=True))
    return Cell("; ".join(parts))


def _counts(findings: pd.DataFrame) -> str:
    tally = Counter(findings["verdict"])
    counted_words = SUPPORTED, CONTRADICTED, Transfer.INCONCLUSIVE.word
    return ", ".join(f"{tally[verdict]} {verdict}" for verdict in counted_words)


def build_claims_table(findings: pd.DataFrame) -> Table:
    """Build the table ``claims``: one line per claim and kind of finding."""
    lines: list[Line] = []
    repeated = findings["rule"].duplicated()
    of_paper = bool(findings["where"].any())
    for name, group in findings.groupby("claim", sort=False):
        first = group.iloc[0]
        where = [f"Of {first['where']}."] * bool(first["where"])
        rule = [] if repeated[first.name] else [first["rule"]]
        claim = _claim_cell(first, " ".join([*where, *rule]))
        # Benchmarks with equal findings share a line.
        for _, equal in group.groupby(["verdict", "numbers"], sort=False):
            together = len(equal) == len(group) > 1
            cells = [claim, Cell("all" if together else ", ".join(equal["benchmark"]))]
            verdict, reason = equal[["verdict", "reason"]].iloc[0]
            cells += [Cell(verdict, bold=verdict == SUPPORTED, note=reason)]
            cells += [_print_cell(equal)] * of_paper + [Cell(equal["numbers"].iloc[0])]
            lines.append(Line(tuple(cells), str(name)))
            claim = Cell("")
    columns = ("Claim", "Benchmark", "Verdict", *["In the paper"] * of_paper, "Numbers")
    return Table(
        "claims",
        "The numbers behind each verdict",
        caption("paper", "claims", terms=_terms()),
        columns=columns,
        lines=tuple(lines),
        data=findings,
        text_columns=len(columns),
        prose=(0, 1, len(columns) - 1),
    )


def build_time_claims_table(findings: pd.DataFrame) -> Table:
    """Build the table ``time-claims``: the claims on time."""
    return replace(
        build_claims_table(findings),
        name="time-claims",
        title="Claims about computation time",
        caption=caption("paper", "time-claims"),
    )
