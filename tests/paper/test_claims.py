"""The claims, put to every benchmark, and their table."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from support.claim_data import curve_of, evidence
from support.report_data import (
    RESOURCES,
    make_plan,
    write_comparisons,
    write_fit_records,
    write_sample_scores,
    write_scores,
)

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.summary import read_scores
from cdspp.analysis.transfer import Transfer
from cdspp.core.errors import DataError
from cdspp.core.yaml_files import read_yaml
from cdspp.methods import available
from cdspp.paper.checks import CHECKS
from cdspp.paper.claim_tables import (
    BY_CONSTRUCTION,
    NOT_RUN,
    UNTESTABLE,
    build_claims_table,
    build_time_claims_table,
    build_verdicts_table,
)
from cdspp.paper.claims import (
    CLAIM_COLUMNS,
    Claim,
    read_claims,
    read_evidence,
    write_claims,
)
from cdspp.paper.claims import check_claims as check_with_print
from cdspp.paper.evidence import CONTRADICTED, SUPPORTED, Times, as_list, decide_gains
from cdspp.paper.print_checks import read_reported_numbers
from cdspp.paper.protocol import read_protocol
from cdspp.paper.times import measure_times
from cdspp.report.tables.table import write_tables
from cdspp.stages.formats import read_csv
from cdspp.stages.score import SampleScores
from cdspp.study.plan import BenchmarkPlan

OPEN = Transfer.INCONCLUSIVE.word

EVERY = read_claims(RESOURCES / "paper/claims.yaml")
CLAIMS = [claim for claim in EVERY if not CHECKS[claim.check].of_time]
PROTOCOL = read_protocol(RESOURCES / "paper")
PRINTED = read_reported_numbers(RESOURCES / "paper")


def check_claims(evidence: Any, claims: Any) -> pd.DataFrame:
    """Put claims to evidence, as a study does."""
    return check_with_print(evidence, claims, PRINTED)


def test_every_claim_is_told_once_and_names_methods_that_exist() -> None:
    names = [claim.id for claim in EVERY]
    assert len(names) == len(set(names))
    known = {*available(), "others"}
    for claim in EVERY:
        parts = claim.options
        lists = (as_list(parts.get(key, ())) for key in ("method", "rival", "apart"))
        assert {name for each in lists for name in each} <= known, claim.id


def test_every_statement_of_the_paper_is_there_with_its_benchmarks() -> None:
    statements = [claim.statement for claim in EVERY if claim.statement]
    assert statements == sorted(statements)
    assert {*statements} == {*range(1, 29)}
    runs = {"comparison", "subspace", "time", "method", *PROTOCOL.curves["values"]}
    for claim in EVERY:
        assert bool(claim.statement) == bool(claim.where) == (claim.kind == "paper")
        assert {*claim.where} <= PROTOCOL.benchmarks.keys(), claim.id
        assert claim.experiment in runs
        if claim.experiment in PROTOCOL.curves["values"]:
            assert {*claim.where} <= PROTOCOL.curves["scope"].keys(), claim.id


def first(findings: pd.DataFrame, claim: str) -> Any:
    return findings[findings["claim"] == claim].iloc[0]


@pytest.fixture
def findings() -> pd.DataFrame:
    """Put the claims to two benchmarks, the baseline better on the second."""
    better, worse = {"cdspp": 0.8, "svm-t": 0.7}, {"cdspp": 0.6, "svm-t": 0.7}
    return check_claims([evidence(better), evidence(worse)], CLAIMS)


def known_states() -> pd.DataFrame:
    """Put the claims to a benchmark of which the source states are known."""
    states = dict.fromkeys([("none", "cdspp"), ("class-noise", "cdspp")], 0.7)
    known = evidence({"cdspp": 0.8, "svm-t": 0.6, **states})
    return check_claims([known], CLAIMS)


def verdicts(findings: pd.DataFrame, claim: str) -> list[str]:
    ran = findings[findings["verdict"] != NOT_RUN]
    return list(ran[ran["claim"] == claim]["verdict"])


def test_every_claim_is_put_to_every_benchmark(findings: pd.DataFrame) -> None:
    asked = [claim for claim in CLAIMS if claim.elsewhere]
    assert len(findings[findings["verdict"] != NOT_RUN]) == 2 * len(asked)
    assert verdicts(findings, "baseline") == [SUPPORTED, CONTRADICTED]
    assert verdicts(findings, "alpha") == [UNTESTABLE] * 2
    alpha = findings[findings["claim"] == "alpha"].iloc[0]
    assert alpha["numbers"] == "No curve over alpha in this study."
    assert set(findings["kind"]) == {"paper", "others", "ours"}


def test_captions_count_three_words_and_leave_out_what_holds_by_construction() -> None:
    known = evidence({"cdspp": 0.8, "svm-t": 0.7, "cdspp-sup": 0.8, "cdls": 0.9})
    findings = check_claims([known], CLAIMS)
    # Supported: both methods are better than SVM_t, CDSPP_sup also on most tasks.
    told = "In all, 3 supported, 4 contradicted, 1 inconclusive. "
    table = build_verdicts_table(findings)
    assert table.caption.startswith(told)
    shown = [line.cells[0].text for line in table.lines]
    assert "CDSPP is better than SVM_t. (our question)" in shown
    assert "A smaller alpha loses accuracy." not in shown  # no curve tests it
    assert list(findings["verdict"]).count(BY_CONSTRUCTION) == 2


def test_what_holds_by_construction_stands_with_its_reason_and_numbers() -> None:
    flat = evidence(curve=curve_of("n_components", {10: 0.8, 20: 0.8}))
    findings = check_claims([flat], CLAIMS)
    assert verdicts(findings, "dimension") == [BY_CONSTRUCTION]
    for table in (build_verdicts_table(findings), build_claims_table(findings)):
        (cells,) = [
            line.cells for line in table.lines if "d beyond" in line.cells[0].text
        ]
        assert "By construction: at most one direction per" in cells[0].note
        assert BY_CONSTRUCTION in [cell.text for cell in cells]
    assert "for d = 10, 20: 0.0 points apart" in first(findings, "dimension")["numbers"]


def test_numbers_that_contradict_a_construction_are_not_hidden() -> None:
    bent = evidence(curve=curve_of("n_components", {10: 0.8, 20: 0.7}))
    findings = check_claims([bent], CLAIMS)
    assert verdicts(findings, "dimension") == [CONTRADICTED]
    rule = first(findings, "dimension")["rule"]
    assert rule.startswith("Supported where the means")


def test_the_source_settles_its_claims_one_way_or_the_other() -> None:
    states = known_states()
    assert verdicts(states, "transfer") == [SUPPORTED]
    assert verdicts(states, "without-source") == [CONTRADICTED]
    assert verdicts(states, "class-noise") == [CONTRADICTED]


def write_files(folder: Path, plans: list[BenchmarkPlan]) -> tuple[list[Path], ...]:
    """Write scores, comparisons and scores by sample of benchmarks."""
    scores = [write_scores(folder / f"{p.benchmark}.parquet", p) for p in plans]
    compared = [
        write_comparisons(path.with_suffix(".csv"), read_scores(path), plan)
        for path, plan in zip(scores, plans, strict=True)
    ]
    rows = [
        write_sample_scores(path.with_suffix(".npz"), read_scores(path))
        for path in scores
    ]
    return scores, compared, rows


def test_the_file_has_a_line_for_every_claim_and_none_of_seconds(
    tmp_path: Path,
) -> None:
    methods = ("svm-t", "cdspp-sup", "dama", "cdspp")
    plans = [make_plan(methods=methods), make_plan(benchmark="docs", methods=methods)]
    evidence = read_evidence(*write_files(tmp_path, plans), plans)
    found = check_claims(evidence, CLAIMS)
    output = tmp_path / "claims.csv"
    write_tables([build_claims_table(found)], [output])
    types = dict.fromkeys(CLAIM_COLUMNS, "str")
    assert list(read_csv(output, types)["text"]) == list(found["text"])
    assert list(found["claim"].unique()) == [claim.id for claim in CLAIMS]
    assert verdicts(found, "baseline") == [SUPPORTED] * 2


STATED = {"id": "noise", "text": "Noise will do.", "check": "better-in-state"}
STATED |= {"kind": "others", "options": {"state": "class-noise", "rival": "svm-t"}}


@pytest.mark.parametrize("stated", [[], [STATED]], ids=["the paper's", "its own"])
def test_claims_of_a_study_take_the_place_of_the_papers(
    stated: list[Any], tmp_path: Path
) -> None:
    keys = {"paper": False, "claims": stated} if stated else {}
    plans = [make_plan(methods=("svm-t", "cdspp"), states=("class-noise",), paper=keys)]
    outputs = [tmp_path / "claims-overview.csv", tmp_path / "claims.csv"]
    files = write_files(tmp_path, plans)
    write_claims(plans, *files, RESOURCES / "paper", outputs)
    for path in outputs:
        found = pd.read_csv(path)
        wanted = [STATED["id"]] if stated else [claim.id for claim in CLAIMS]
        assert list(found["claim"].unique()) == wanted
        assert set(found["kind"]) == (
            {"others"} if stated else {"paper", "others", "ours"}
        )
    if stated:
        (numbers,) = found["numbers"]
        assert "gains under the control class-noise over svm-t: CDSPP" in numbers


def test_a_gain_must_hold_for_other_test_rows_too(tmp_path: Path) -> None:
    """A few points in every trial, from a handful of rows that all trials share."""
    known = evidence({"cdspp": 0.55, "cdspp-sup": 0.5})
    methods = {row.key: row for row in known.methods}
    right = {"cdspp": np.arange(40) < 22, "cdspp-sup": np.arange(40) >= 20}
    arrays = {
        f"main/{task}/{name}": np.tile(values, (10, 1)).astype(np.int32)
        for task in known.summary.tasks
        for name, values in right.items()
    } | {f"classes/{task}": np.arange(40) % 2 for task in known.summary.tasks}
    np.savez(tmp_path / "rows.npz", **arrays)
    pair = methods["cdspp"], methods["cdspp-sup"]
    gain = replace(known, by_row=SampleScores(tmp_path / "rows.npz")).gain(*pair)
    assert gain.gain == pytest.approx(0.05)
    assert gain.losses == 0
    assert decide_gains([known.gain(*pair)]) == SUPPORTED
    assert decide_gains([gain]) == OPEN


def test_claims_on_time_are_apart_and_of_the_seconds_of_each_benchmark(
    tmp_path: Path,
) -> None:
    methods = ("svm-t", "cdspp-sup", "dama", "cdspp")
    plans = [make_plan(methods=methods), make_plan(benchmark="docs", methods=methods)]
    records = read_fit_records(write_fit_records(tmp_path, plans[0]))
    times = measure_times(records.results, plans)
    found = check_claims([Times(plan, times) for plan in plans], EVERY)
    on_time = {"cheapest", "cheaper-than-cdspp", "networks-slow", "shfa-unfinished"}
    assert set(found["claim"]) == on_time
    assert verdicts(found, "cheapest") == [CONTRADICTED, UNTESTABLE]
    assert (
        found["numbers"].iloc[0].startswith("CDSPP 6 s; cheaper of 1 comparator: DAMA")
    )
    table = build_time_claims_table(found)
    assert table.name == "time-claims"
    own = [line for line in table.lines if line.block == "cheapest"][:2]
    assert [line.cells[1].text for line in own] == ["Digits", "Docs"]


def paper_evidence(name: str, *tasks: str) -> Any:
    """Return the evidence of a benchmark of the paper, on two of its tasks."""
    known = evidence({"cdspp": 0.8, "svm-t": 0.7, "dama": 0.75, "dama-sup": 0.7})
    plan = replace(known.plan, tasks=tasks, title=name)
    summary = replace(known.summary, plan=plan, tasks=tasks)
    return replace(known, summary=summary, printed=name)


def test_a_claim_is_the_papers_only_on_its_data_and_on_all_of_its_tasks() -> None:
    whole = Claim("a", "A.", "superior", where=["mrc"], statement=1)
    whole = replace(whole, options={"method": "cdspp", "rival": "svm-t"})
    known = paper_evidence("mrc", "en_sp", "fr_sp")
    tasks = {**PROTOCOL.benchmarks["mrc"], "tasks": {"1": "en_sp", "2": "fr_sp"}}
    short = replace(PROTOCOL, benchmarks={**PROTOCOL.benchmarks, "mrc": tasks})
    (of_all,) = check_with_print(
        [known], [whole], replace(PRINTED, protocol=short)
    ).itertuples()
    assert (of_all.kind, of_all.of_paper, of_all.print) == ("paper", True, "supports")
    assert of_all.print_numbers == "CDSPP 68.9, SVM_t 67.0"
    (of_some,) = check_claims([known], [whole]).itertuples()
    assert (of_some.kind, of_some.of_paper, of_some.verdict) == (
        "ours",
        True,
        SUPPORTED,
    )
    assert of_some.numbers.endswith(
        "On 2 of the paper's 4 tasks; resources/studies/paper.yaml runs all."
    )
    other, not_run = check_claims([replace(known, printed="nus-imagenet")], [whole])[
        ["kind", "of_paper", "benchmark", "verdict", "print"]
    ].to_numpy()
    assert list(other) == ["ours", False, "mrc", SUPPORTED, "supports"]
    assert list(not_run[:3]) == ["paper", True, "Multilingual Reuters"]
    assert list(not_run[3:]) == [NOT_RUN, "supports"]


def test_print_may_contradict_a_claim_on_data_of_which_the_paper_does_not_make_it() -> (
    None
):
    claims = [claim for claim in EVERY if claim.id == "dama"]
    table = build_verdicts_table(
        check_claims([paper_evidence("mrc", "en_sp", "fr_sp")], claims)
    )
    (line,) = table.lines
    assert table.columns == ("Claim", "In the paper", "mrc (not in the paper)")
    assert [cell.text for cell in line.cells[1:]] == ["supports", CONTRADICTED]
    found = check_claims([paper_evidence("mrc", "en_sp", "fr_sp")], claims)
    assert list(found["print"]) == ["contradicts", "supports", "supports"]


def test_a_claim_that_is_confined_to_the_papers_data_is_not_asked_of_others() -> None:
    claims = [claim for claim in EVERY if not claim.elsewhere]
    assert {claim.id for claim in claims} == {"sup-subspace-most", "shfa-unfinished"}
    found = check_claims([evidence()], claims)
    assert set(found["verdict"]) == {NOT_RUN}


def test_a_study_may_ask_each_check_of_scores_with_its_options() -> None:
    schema = read_yaml(RESOURCES.parent / "workflow/schemas/config.schema.yaml")
    entry = schema["properties"]["claims"]["items"]
    asked = {}
    for case in entry["allOf"]:
        options = case["then"]["properties"]["options"]
        assert options["additionalProperties"] is False
        name = case["if"]["properties"]["check"]["const"]
        asked[name] = {*options["properties"]}, options["required"]
    assert entry["properties"]["check"]["enum"] == [*asked]
    known = {}
    for name in CHECKS.keys() - {"cheaper", "unfinished", "elsewhere"}:
        evidence, *options = signature(CHECKS[name].apply).parameters.values()
        needed = [option.name for option in options if option.default is option.empty]
        known[name] = {option.name for option in options}, needed
    assert asked == known


@pytest.mark.parametrize(
    "change",
    [{"check": "worst"}, {"txet": "A"}, {"options": {"rivals": "a"}}, {"text": None}],
    ids=["unknown check", "unknown key", "unknown option", "missing key"],
)
def test_a_wrong_list_is_refused_by_name(
    change: dict[str, Any], tmp_path: Path
) -> None:
    entry = {"id": "best", "text": "It is.", "check": "best"}
    entry |= {"options": {"method": "cdspp"}, **change}
    entry = {name: value for name, value in entry.items() if value}
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([entry]))
    with pytest.raises(DataError, match="best: .*keys.*, text.*check"):
        read_claims(path)
