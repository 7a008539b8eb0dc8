"""The claims, put to every benchmark, and their table."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.claim_data import (
    Numbers,
    summary_of,
    time_of,
)
from support.report_data import make_layout, write_fit_records, write_scores

from cdspp.analysis.summary import read_summary
from cdspp.methods import available
from cdspp.report.tables.claims.claims import (
    CLAIMS,
    build_claims,
    build_claims_table,
    claims_tables,
    write_claims,
)
from cdspp.report.tables.claims.evidence import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNTESTABLE,
    Check,
)
from cdspp.report.tables.table import to_html, to_latex, to_markdown


def test_every_claim_is_told_once_and_names_methods_that_exist() -> None:
    names = [claim.identifier for claim in CLAIMS]
    assert len(names) == len(set(names))
    known = set(available())
    for claim in CLAIMS:
        named = {
            *vars(claim.check).get("rivals", ()),
            *vars(claim.check).get("apart", ()),
        }
        named |= {vars(claim.check).get(part) for part in ("method", "rival")} - {None}
        assert named <= known, claim.identifier


def findings_of(values: Numbers, *more: Numbers) -> list[Any]:
    """Put the claims to one benchmark or several, without curves and times."""
    summaries = [summary_of(given) for given in (values, *more)]
    return build_claims(summaries, [[] for _ in summaries], [])


def test_every_claim_is_put_to_every_benchmark() -> None:
    findings = findings_of({"cdspp": 0.8, "svm-t": 0.7}, {"cdspp": 0.6, "svm-t": 0.7})
    assert len(findings) == 2 * len(CLAIMS)
    verdicts = [f.verdict for f in findings if f.claim == "baseline"]
    assert verdicts == [SUPPORTED, NOT_SUPPORTED]
    (alpha, _) = [f for f in findings if f.claim == "alpha"]
    assert alpha.verdict == UNTESTABLE
    assert alpha.numbers == "No curve over alpha in this study."
    assert {f.kind for f in findings} == {"paper", "ours"}


def test_times_are_those_of_the_benchmark() -> None:
    summaries = [summary_of({"cdspp": 0.8, "dama": 0.7})] * 2
    other = replace(summaries[1], layout={**summaries[1].layout, "benchmark": "docs"})
    times = [time_of("cdspp", 1.0), time_of("dama", 2.0)]
    findings = build_claims([summaries[0], other], [[], []], times)
    verdicts = [f.verdict for f in findings if f.claim == "cheapest"]
    assert verdicts == [SUPPORTED, UNTESTABLE]


def test_benchmarks_that_say_the_same_share_a_line() -> None:
    table = build_claims_table(
        findings_of({"cdspp": 0.8, "svm-t": 0.7}, {"cdspp": 0.6, "svm-t": 0.7})
    )
    found = [[c.text for c in line.cells] for line in table.lines]
    alpha = [cells for cells in found if "alpha" in cells[0]]
    assert [cells[1:3] for cells in alpha] == [["all", UNTESTABLE]]
    place = [cells[0] for cells in found].index("CDSPP does better than SVM_t.")
    assert [found[place][2], found[place + 1][2]] == [SUPPORTED, NOT_SUPPORTED]
    assert found[place + 1][0] == ""
    assert len(table.records) == 2 * len(CLAIMS)


def test_the_caption_counts_the_verdicts() -> None:
    findings = findings_of({"cdspp": 0.8, "svm-t": 0.7, "cdspp-sup": 0.8})
    caption = build_claims_table(findings).caption
    counts = [f.verdict for f in findings].count
    assert (
        f"supported: {counts(SUPPORTED)}, not supported: {counts(NOT_SUPPORTED)}, "
        in (caption)
    )
    assert counts(SUPPORTED) == 3


def test_the_file_has_a_line_for_every_claim(tmp_path: Path) -> None:
    layout = make_layout(methods=("svm-t", "cdspp-sup", "dama", "cdspp"))
    scores = write_scores(tmp_path / "digits.parquet", layout)
    records = write_fit_records(tmp_path, layout)
    (name,) = claims_tables([layout])
    outputs = [tmp_path / f"{name}.{form}" for form in ("csv", "md", "tex")]
    write_claims(scores=[scores], layouts=[layout], records=records, outputs=outputs)
    with outputs[0].open(encoding="utf-8", newline="") as stream:
        found = {row["claim"]: row for row in csv.DictReader(stream)}
    assert list(found) == [claim.identifier for claim in CLAIMS]
    assert found["baseline"]["verdict"] == SUPPORTED
    cheapest = found["cheapest"]["numbers"]
    assert cheapest.startswith("CDSPP 6 s; cheaper are DAMA (1 ×)")
    assert {row["benchmark"] for row in found.values()} == {"Digits"}


@pytest.mark.parametrize(
    "change", [{"methods": ()}, {"trials": 1}, {"controls": ()}, {"tasks": ["a_b"]}]
)
def test_shorter_studies_give_a_table_without_holes(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    layout = make_layout(**change)
    summary = read_summary(write_scores(tmp_path / "s.parquet", layout), layout)
    table = build_claims_table(build_claims([summary], [[]], []))
    for form in (to_html, to_latex, to_markdown):
        assert "nan" not in form(table)


def test_without_a_benchmark_there_is_no_table() -> None:
    assert claims_tables([]) == []
    assert build_claims_table([]).lines == ()


def test_a_check_is_its_own_rule() -> None:
    checks: list[Check] = [claim.check for claim in CLAIMS]
    assert all(check.rule.endswith(".") for check in checks)
