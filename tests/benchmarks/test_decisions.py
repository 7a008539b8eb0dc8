"""Families of problems, what is stored of them, and what is said of policies."""

from __future__ import annotations

import subprocess
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import decision_cases
from benchmarks.__main__ import main
from benchmarks.decision_cases import judge_draw, judge_family, possible_draws
from benchmarks.decision_data import Sides
from benchmarks.decision_families import (
    EQUAL,
    FAMILIES,
    LABELS,
    NATURAL,
    NOISE,
    PERMUTED,
    SET_ASIDE,
    SINGLETON,
    Draw,
    Family,
    _sample_sides,
)
from benchmarks.decision_records import (
    DrawRecord,
    read_records,
    records_path,
    write_records,
)
from benchmarks.decision_tables import decisions_table
from benchmarks.decision_votes import answer
from benchmarks.decisions import (
    ALWAYS,
    BET,
    VOTE,
    WITHOUT,
    bench_decisions,
    gates,
    outcomes,
    policy_means,
)
from benchmarks.earlier_bet import COMMIT, ROOT, Bet, earlier_bets, export_code
from benchmarks.planted import Planted
from cdspp.core.errors import DataError
from cdspp.core.names import PERMUTED_CLASSES, REAL, SHUFFLED_COLUMNS, SHUFFLED_PAIRS
from cdspp.methods.base import UNLABELLED

GOOD, BAD = "wine, three columns", "wine, wrong columns"


def four_classes() -> Sides:
    """Return sides of four classes, with columns and pairs that say which they are."""
    codes = np.repeat(np.arange(4), [6, 9, 12, 30])
    X = 100.0 * codes[:, None] + np.random.default_rng(0).standard_normal((57, 3))
    pairs = np.arange(30.0).reshape(10, 3)
    return Sides((X, X[:, :2]), (codes, codes), (pairs, pairs[:, :2]), [(0, 0), (1, 1)])


def family(state: str = REAL, labelled: str = EQUAL) -> Family:
    def make(rng: np.random.Generator) -> Any:
        return _sample_sides(rng, load=four_classes, n_rows=(50, 57), n_pairs=5)

    return Family("made", make, state, labelled)


def revealed(labelled: str, labels: int) -> list[int]:
    draw = family(labelled=labelled).draw(labels, 0)
    kept = draw.y != UNLABELLED
    assert np.array_equal(draw.y[kept], draw.truth[kept])
    return np.bincount(draw.y[kept], minlength=4).tolist()


def test_as_many_labels_a_class_as_asked_and_at_most_half_of_it() -> None:
    assert revealed(EQUAL, 0) == [0, 0, 0, 0]
    assert revealed(EQUAL, 3) == [3, 3, 3, 3]
    assert revealed(EQUAL, 10) == [3, 4, 6, 10]
    assert revealed(SINGLETON, 10) == [1, 4, 6, 10]
    natural = revealed(NATURAL, 5)
    assert sum(natural) == 20
    assert natural[0] >= 1
    assert natural[3] > 7


@pytest.mark.parametrize("labelled", [EQUAL, NATURAL, SINGLETON])
def test_fewer_labels_are_a_part_of_more(labelled: str) -> None:
    draws = [family(labelled=labelled).draw(labels, 1) for labels in LABELS]
    for fewer, more in zip(draws, draws[1:], strict=False):
        assert np.array_equal(fewer.X, more.X)
        known = fewer.y != UNLABELLED
        assert np.array_equal(fewer.y[known], more.y[known])


def test_a_number_of_labels_that_adds_none_is_no_draw() -> None:
    numbers = [labels for labels, *_ in possible_draws(family(), LABELS, [0])]
    assert numbers == [0, 1, 2, 3, 5, 10, 30]
    small = replace(family(), make=six_of_each)
    numbers = [labels for labels, *_ in possible_draws(small, LABELS, [0])]
    assert numbers == [1, 2, 3]  # without a bridge, none without labels


def six_of_each(rng: np.random.Generator) -> Any:
    """Return target rows of which three a class may be labelled, without a bridge."""
    X, truth, source = _sample_sides(rng, load=four_classes, n_rows=(50, 57))
    rows = np.concatenate([np.flatnonzero(truth == code)[:6] for code in range(4)])
    return X[rows], truth[rows], replace(source, shared_columns=None)


def test_bad_sources_are_what_they_are_called() -> None:
    real = family().draw(2, 0)
    bad = {
        state: family(state).draw(2, 0)
        for state in (
            NOISE,
            PERMUTED,
            PERMUTED_CLASSES,
            SHUFFLED_COLUMNS,
            SHUFFLED_PAIRS,
        )
    }
    for draw in bad.values():
        assert np.array_equal(draw.X, real.X)
        assert np.array_equal(draw.y, real.y)
    X, y = np.asarray(real.source.X), np.asarray(real.source.y)
    means = np.array([bad[NOISE].source.X[y == code].mean() for code in range(4)])
    assert np.ptp(means) < 200 < np.ptp([X[y == code].mean() for code in range(4)])
    permuted = np.asarray(bad[PERMUTED].source.y)
    assert sorted(permuted) == sorted(y)
    assert len({*zip(y, permuted, strict=True)}) > 4
    swapped = {*zip(y, np.asarray(bad[PERMUTED_CLASSES].source.y), strict=True)}
    assert len(swapped) == 4
    assert not any(ours == theirs for ours, theirs in swapped)
    assert bad[SHUFFLED_COLUMNS].source.shared_columns == [(0, 1), (1, 0)]
    ours, theirs = bad[SHUFFLED_PAIRS].source.paired_rows
    assert not np.any(np.all(ours[:, :2] == theirs, axis=1))


def test_a_third_of_the_families_is_set_aside_and_a_third_of_the_sources_is_bad() -> (
    None
):
    aside = [each for each in FAMILIES.values() if each.set_aside]
    assert len(aside) == len(SET_ASIDE) == len(FAMILIES) / 3
    assert sum(each.bad for each in FAMILIES.values()) == len(FAMILIES) / 3
    assert sum(each.bad for each in aside) >= len(aside) / 3


def record(number: int, right: dict[str, int], bet: int, labels: int = 2) -> DrawRecord:
    """Return a draw of ten unlabelled rows, of which candidates label some right."""
    truth = np.array([0, 1] * 7)
    y = np.where(np.arange(14) < 4, truth, UNLABELLED)
    counts = [*right.values(), bet]
    hits = [np.arange(10) < count for count in counts]
    codes = np.array([np.where(hit, truth[4:], 1 - truth[4:]) for hit in hits])
    return DrawRecord(
        labels=labels,
        number=number,
        bridge="shared_columns",
        y=y,
        truth=truth,
        names=np.array([*right]),
        uses_source=np.array([name == "shared-columns-plus" for name in right]),
        predicted=np.tile(truth[:4], (len(right), 2, 1)),
        transduction=codes[:-1],
        seconds=np.ones(len(right)),
        bet="cdspp",
        bet_codes=codes[-1],
        bet_seconds=0.5,
    )


def store(folder: Path) -> None:
    names = ALWAYS, "logistic-regression", "shared-columns-plus"
    rights = {
        GOOD: [((5, 6, 9), 5), ((5, 7, 7), 7)],
        BAD: [((8, 6, 2), 6)],
    }
    for name, draws in rights.items():
        records = [
            record(k, dict(zip(names, counts, strict=True)), bet)
            for k, (counts, bet) in enumerate(draws)
        ]
        write_records(records_path(folder, name), records)


def test_stored_draws_are_read_as_they_were(tmp_path: Path) -> None:
    own = record(3, {ALWAYS: 5}, 4)
    write_records(tmp_path / "own.npz", [own])
    [read] = read_records(tmp_path / "own.npz")
    for field in fields(DrawRecord):
        value = getattr(read, field.name)
        assert np.array_equal(value, getattr(own, field.name))
    assert read_records(tmp_path / "none.npz") == []


def test_regrets_worked_by_hand_with_families_weighted_equally(tmp_path: Path) -> None:
    store(tmp_path)
    results = outcomes(tmp_path, [GOOD, BAD])
    means = policy_means(results)
    assert means.loc[ALWAYS, "regret"] == pytest.approx(((0.4 + 0.2) / 2 + 0.0) / 2)
    assert means.loc[BET, "gain"] == pytest.approx(((0.0 + 0.2) / 2 - 0.2) / 2)
    always = means.loc["shared columns or pairs"]
    assert always["accuracy"] == pytest.approx((0.8 + 0.2) / 2)
    assert always["worst"] == always["worst_bad"] == pytest.approx(-0.6)
    assert always["lose"] == pytest.approx(0.5)
    # What cannot be fitted is replaced as its user would.
    pooled = means.loc["pooled logistic regression", "gain"]
    assert pooled == means.loc["logistic regression", "gain"]
    # All members are right on all labelled rows, so they weigh the same.
    votes = results[results["policy"] == VOTE].set_index(["family", "number"])
    assert votes.loc[(GOOD, 0), "accuracy"] == pytest.approx(0.6)
    table = decisions_table({"Families": results}, {"iris": "gone"})
    assert table.startswith("left out: iris (gone)\n\nFamilies: 2 families, 3 draws")
    # Four labelled rows are right; the vote is right in 6 and 7, and in 6 rows of ten.
    assert votes["estimate"].between(0.85, 0.96).all()
    excess = (votes["estimate"] - votes["accuracy"]).groupby("family").mean().mean()
    excess *= 100
    assert f"estimate less accuracy       {excess:+.1f}" in table


def results_of(gains: dict[str, float], bad: bool = False) -> pd.DataFrame:
    """Return results in which policies gain the same in every draw."""
    rows = [
        {
            "family": name,
            "labels": 2,
            "number": number,
            "policy": policy,
            "bad": bad and name == "a",
            "accuracy": 0.7 + gain,
            "regret": 0.1 - gain,
            "gain": gain,
            "low": 0.6,
            "high": 0.9 if number else 0.61,
        }
        for name in "abc"
        for number in range(5)
        for policy, gain in gains.items()
    ]
    return pd.DataFrame(rows)


def holding(results: pd.DataFrame) -> list[bool]:
    return [gate.holds for gate in gates(results)]


def test_gates_hold_or_fail_by_their_intervals() -> None:
    gains = {VOTE: 0.05, WITHOUT: 0.02, BET: 0.01, ALWAYS: 0.0, "random forest": 0.03}
    better = results_of(gains, bad=True)
    assert holding(better) == [True] * 7
    assert holding(results_of({**gains, "random forest": 0.06}))[:3] == [
        True,
        True,
        False,
    ]
    assert holding(results_of({**gains, BET: 0.05}))[:2] == [True, False]
    worse = results_of({**gains, VOTE: -0.03}, bad=True)
    assert holding(worse) == [False] * 6 + [True]
    always_inside = better.assign(high=0.9)
    assert holding(always_inside)[-1] is False


def planted_draw(n_labelled: int = 3) -> Draw:
    sizes = {"n_source": 5, "d_source": 8, "d_target": 6, "n_latent": 3}
    sizes |= {"n_labelled": n_labelled, "n_unlabelled": 9}
    problem = Planted("shared", n_classes=2, **sizes).draw(0)
    source = replace(problem.source, shared_columns=[(0, 0)])
    return Draw(problem.X, problem.y, problem.truth, source)


def test_every_candidate_labels_held_out_and_unlabelled_rows() -> None:
    draw = planted_draw()
    found = judge_draw(draw, 3, 0, Bet("svm-t", np.zeros(18, dtype=int), 0.1))
    assert {ALWAYS, "random-forest", "stacked-logistic-regression"} <= {*found.names}
    assert found.predicted.shape == (len(found.names), 8, 6)
    assert (found.predicted != UNLABELLED).any(axis=1).all()
    assert found.transduction.shape == (len(found.names), 18)
    assert not found.uses_source[[*found.names].index("extra-trees")]
    assert found.uses_source[[*found.names].index("pooled-random-forest")]
    estimate = answer(found).accuracy
    assert estimate.low <= estimate.value <= estimate.high


def test_without_labels_models_of_the_source_answer() -> None:
    draw = planted_draw()
    found = judge_draw(draw._replace(y=np.full_like(draw.y, UNLABELLED)), 0, 0)
    assert found.transduction.shape == (len(found.names), len(draw.X))
    assert not found.uses_source.any()
    assert answer(found).codes.min() >= 0


def test_a_family_without_data_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(rng: np.random.Generator) -> Any:
        raise DataError("x.mat could not be fetched: 2 problems:\n  - nowhere")

    lost = replace(FAMILIES[GOOD], make=missing)
    monkeypatch.setattr(decision_cases, "FAMILIES", {GOOD: lost})
    reason = judge_family(GOOD, [2], [0], str(tmp_path), "")
    assert reason == "x.mat could not be fetched: 2 problems:"


def test_stored_draws_are_not_fitted_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def judge(draw: Draw, labels: int, number: int, bet: Bet) -> DrawRecord:
        asked.append((labels, number))
        return record(number, {ALWAYS: 5}, 5, labels)

    def bets(draws: Any, code: Path, seeds: Any) -> list[Bet]:
        return [Bet(ALWAYS, np.zeros(10), 0.0) for _ in draws]

    monkeypatch.setattr(decision_cases, "judge_draw", judge)
    monkeypatch.setattr(decision_cases, "earlier_bets", bets)
    for numbers in ([0], [0, 1]):
        assert judge_family(GOOD, [2, 5], numbers, str(tmp_path), "") == ""
    assert asked == [(2, 0), (5, 0), (2, 1), (5, 1)]
    assert len(read_records(records_path(tmp_path, GOOD))) == 4


def test_families_set_aside_are_run_only_if_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    asked: list[str] = []

    def run(families: list[str], **options: Any) -> dict[str, str]:
        asked[:] = families
        return {}

    monkeypatch.setattr("benchmarks.__main__.bench_decisions", run)
    store(tmp_path)
    command = ["decisions", "--records", str(tmp_path)]
    assert main(command) == 0
    assert {*asked} == {*FAMILIES} - SET_ASIDE
    assert "Families: 2 families" in capsys.readouterr().out
    assert main([*command, "--part", "set-aside"]) == 0
    assert {*asked} == SET_ASIDE
    assert main([*command, "--part", "both", "--stored"]) == 0
    assert asked == []


def test_families_run_in_processes_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(module: str, request: str, label: str) -> str:
        return "gone" if BAD in request else ""

    monkeypatch.setattr("benchmarks.decisions.run_module", run)
    monkeypatch.setattr("benchmarks.decisions.export_code", lambda folder: folder)
    missing = bench_decisions([GOOD, BAD], records=tmp_path)
    assert missing == {BAD: "gone"}


def test_the_bet_of_the_earlier_version_runs_from_its_own_code(tmp_path: Path) -> None:
    command = ["git", "cat-file", "-e", f"{COMMIT}^{{commit}}"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        pytest.skip(f"commit {COMMIT} is not in this clone")
    draw = planted_draw()
    [bet] = earlier_bets([draw], export_code(tmp_path), [0])
    assert bet.method in (ALWAYS, "cdspp", "shared-columns-plus", "cdspp-bridge")
    assert bet.codes.shape == (18,)
    assert set(bet.codes) <= {0, 1}
