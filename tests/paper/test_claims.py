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
from cdspp.analysis.verdicts import TOO_FEW
from cdspp.core.errors import DataError
from cdspp.core.yaml_files import read_yaml
from cdspp.methods import available
from cdspp.paper.checks import CHECKS, CONTRADICTED, SUPPORTED, Times, decide_gain
from cdspp.paper.claims import (
    BY_CONSTRUCTION,
    CLAIM_COLUMNS,
    UNTESTABLE,
    build_claims_table,
    build_time_claims_table,
    build_verdicts_table,
    check_claims,
    read_claims,
    read_evidence,
    write_claims,
)
from cdspp.paper.times import measure_times
from cdspp.report.tables.table import write_tables
from cdspp.stages.formats import read_csv
from cdspp.stages.score import SampleScores
from cdspp.study.plan import BenchmarkPlan

EVERY = read_claims(RESOURCES / "paper/claims.yaml")
CLAIMS = [claim for claim in EVERY if claim.check != "cheapest"]


def test_every_claim_is_told_once_and_names_methods_that_exist() -> None:
    names = [claim.id for claim in EVERY]
    assert len(names) == len(set(names))
    known = set(available())
    for claim in EVERY:
        parts = claim.options
        named = {*parts.get("rivals", ()), *parts.get("apart", ())}
        named |= {parts.get("method"), parts.get("rival")} - {None}
        assert named <= known, claim.id


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
    return list(findings[findings["claim"] == claim]["verdict"])


def test_every_claim_is_put_to_every_benchmark(findings: pd.DataFrame) -> None:
    assert len(findings) == 2 * len(CLAIMS)
    assert verdicts(findings, "baseline") == [SUPPORTED, CONTRADICTED]
    assert verdicts(findings, "alpha") == [UNTESTABLE] * 2
    alpha = findings[findings["claim"] == "alpha"].iloc[0]
    assert alpha["numbers"] == "No curve over alpha in this study."
    assert set(findings["kind"]) == {"paper", "others", "ours"}


def test_what_the_source_is_good_for_is_asked_in_three_claims() -> None:
    kinds = {claim.id: claim.kind for claim in CLAIMS}
    asked = {name: kind for name, kind in kinds.items() if kind != "paper"}
    assert asked == {
        "class-noise": "others",
        "transfer": "ours",
        "without-source": "ours",
    }
    texts = [line.cells[0].text for line in build_claims_table(known_states()).lines]
    ours = [text for text in texts if text.endswith("(our question)")]
    assert len(ours) == 2


def test_benchmarks_that_say_the_same_share_a_line(findings: pd.DataFrame) -> None:
    table = build_claims_table(findings)
    found = [[c.text for c in line.cells] for line in table.lines]
    alpha = [cells for cells in found if "alpha" in cells[0]]
    assert [cells[1:3] for cells in alpha] == [["all", UNTESTABLE]]
    place = [cells[0] for cells in found].index("CDSPP does better than SVM_t.")
    assert [found[place][2], found[place + 1][2]] == [SUPPORTED, CONTRADICTED]
    assert found[place + 1][0] == ""
    assert len(table.data) == 2 * len(CLAIMS)


def test_captions_count_three_words_and_leave_out_what_holds_by_construction() -> None:
    known = evidence({"cdspp": 0.8, "svm-t": 0.7, "cdspp-sup": 0.8, "cdls": 0.9})
    findings = check_claims([known], CLAIMS)
    # Both better than SVM_t, one of them the best; CDSPP equals CDSPP_sup.
    told = "In all, 3 supported, 1 contradicted, 1 too few trials. "
    assert build_verdicts_table(findings).caption.startswith(told)
    assert list(findings["verdict"]).count(BY_CONSTRUCTION) == 2


def test_what_holds_by_construction_stands_with_its_reason_and_numbers() -> None:
    flat = evidence(curve=curve_of("n_components", {10: 0.8, 20: 0.8}))
    findings = check_claims([flat], CLAIMS)
    assert verdicts(findings, "dimension") == [BY_CONSTRUCTION]
    for table in (build_verdicts_table(findings), build_claims_table(findings)):
        (cells,) = [
            line.cells for line in table.lines if "dimension d" in line.cells[0].text
        ]
        assert cells[0].note.startswith("By construction: at most one direction per")
        assert BY_CONSTRUCTION in [cell.text for cell in cells]
    found = findings.set_index("claim").loc["dimension"]
    assert "for d = 10, 20: 0.0 points apart" in found["numbers"]


def test_numbers_that_contradict_a_construction_are_not_hidden() -> None:
    bent = evidence(curve=curve_of("n_components", {10: 0.8, 20: 0.7}))
    findings = check_claims([bent], CLAIMS)
    assert verdicts(findings, "dimension") == [CONTRADICTED]
    rule = findings.set_index("claim").loc["dimension", "rule"]
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
        assert list(found["claim"]) == wanted
        assert set(found["kind"]) == (
            {"others"} if stated else {"paper", "others", "ours"}
        )
    if stated:
        (numbers,) = found["numbers"]
        assert "gains in the state class-noise over svm-t: CDSPP" in numbers


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
    assert decide_gain(known.gain(*pair)) == SUPPORTED
    assert decide_gain(gain) == TOO_FEW


def test_claims_on_time_are_apart_and_of_the_seconds_of_each_benchmark(
    tmp_path: Path,
) -> None:
    methods = ("svm-t", "cdspp-sup", "dama", "cdspp")
    plans = [make_plan(methods=methods), make_plan(benchmark="docs", methods=methods)]
    records = read_fit_records(write_fit_records(tmp_path, plans[0]))
    times = measure_times(records.results, plans)
    found = check_claims([Times(plan, times) for plan in plans], EVERY)
    assert set(found["claim"]) == {"cheapest"}
    assert verdicts(found, "cheapest") == [CONTRADICTED, UNTESTABLE]
    assert found["numbers"].iloc[0].startswith("CDSPP 6 s; cheaper of 1 rival: DAMA")
    table = build_time_claims_table(found)
    assert table.name == "time-claims"
    assert [line.cells[1].text for line in table.lines] == ["Digits", "Docs"]


def test_without_a_benchmark_there_is_nothing_to_say() -> None:
    assert build_claims_table(check_claims([], CLAIMS)).lines == ()


def test_every_kind_of_check_has_a_rule() -> None:
    rules = read_yaml(RESOURCES / "paper/rules.yaml")
    assert rules.keys() == CHECKS.keys()
    assert all(claim.rule.endswith(".") and "{" not in claim.rule for claim in EVERY)


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
    for name in CHECKS.keys() - {"cheapest", "elsewhere"}:
        evidence, *options = signature(CHECKS[name].apply).parameters.values()
        needed = [option.name for option in options if option.default is option.empty]
        known[name] = {option.name for option in options}, needed
    assert asked == known


@pytest.mark.parametrize(
    "change",
    [
        {"check": "worst"},
        {"txet": "A"},
        {"options": {"rivals": "svm-t"}},
        {"text": None},
    ],
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
