"""From held-out rows to tests against every control, on rows whose truth is set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cdspp.analysis.explanation import (
    CANNOT_TELL,
    NO_SOURCE_BETTER,
    USE,
    Explanation,
    HeldOut,
    explain,
)
from cdspp.analysis.hold_outs import Fit
from cdspp.analysis.summary import Floats
from cdspp.core.names import ALONE, MATCHED, REAL

N = 100


def rows(share: float) -> Floats:
    """Return three repeats of rows of which the first are right."""
    return np.tile((np.arange(N) < share * N).astype(float), (6, 1))


def held_out(
    cdspp: tuple[float, float], svm_t: float, collapsed: float = 0.0, n_classes: int = 2
) -> HeldOut:
    shares = {
        Fit("svm-t", REAL): svm_t,
        Fit("cdspp", REAL): cdspp[0],
        Fit("cdspp", ALONE): cdspp[1],
        Fit("cdspp", MATCHED): cdspp[1],
    }
    share = dict.fromkeys(shares, 0.0) | {Fit("cdspp", REAL): collapsed}
    right = {fit: rows(value) for fit, value in shares.items()}
    classes = np.arange(N) % n_classes
    return HeldOut(classes, right, share, {})


def told(found: HeldOut, wanted: float = 0.05) -> Explanation:
    return explain(found, ["cdspp"], 0.01, wanted)


def test_a_method_that_the_source_helps_is_not_used_where_another_is_better_alone() -> (
    None
):
    found = told(held_out((0.60, 0.35), 0.75))
    assert found.verdicts["verdict"].tolist() == ["helps"]
    assert not found.verdicts["wins"].any()
    assert found.decision == NO_SOURCE_BETTER
    assert found.method == "svm-t"
    assert told(held_out((0.60, 0.35), 0.40)).decision == USE


def test_a_collapse_withholds_the_word_from_a_tenth_of_the_fits_on() -> None:
    assert told(held_out((0.9, 0.5), 0.5, collapsed=0.1)).decision == USE
    found = told(held_out((0.9, 0.5), 0.5, collapsed=0.2))
    assert found.decision == CANNOT_TELL
    assert found.verdicts["verdict"].tolist() == ["collapsed"]
    assert found.finding.endswith("failed, collapsed or diverged: CDSPP.")
    assert not found.settled


def test_rows_too_few_for_a_verdict_are_counted_and_not_called_a_collapse() -> None:
    found = held_out((0.9, 0.5), 0.5)
    few = {fit: right[:, :4] for fit, right in found.right.items()}
    found = told(replace(found, classes=found.classes[:4], right=few))
    assert found.finding == "Cannot tell: label at least 5 rows."
    assert found.decision == CANNOT_TELL
    assert not found.settled


def test_the_candidate_chosen_beforehand_is_tested_by_itself() -> None:
    found = held_out((0.9, 0.5), 0.5)
    assert told(found).settled
    assert told(found).tested == "cdspp"
    assert told(found).p_value < 1e-4
    lost = told(held_out((0.60, 0.35), 0.75))
    assert not lost.settled
    assert lost.p_value > 0.9
    assert not explain(found, ["paired-map-plus"], 0.01, 0.05).settled


def test_where_all_fits_have_collapsed_no_method_is_named() -> None:
    found = held_out((0.9, 0.5), 0.5)
    fallen = told(replace(found, collapsed=dict.fromkeys(found.right, 1.0)))
    assert fallen.finding.startswith("Cannot tell: all fits without a source failed")
    assert fallen.method == ""
    assert not fallen.settled


def test_no_gain_is_asked_for_that_cannot_be_had() -> None:
    noisy = held_out((0.95, 0.97), 0.97)
    noisy.right[Fit("cdspp", REAL)][:] = np.roll(rows(0.95), 30, axis=1)
    text = told(noisy).finding
    assert "one of 3.0 takes about" in text
    perfect = held_out((0.99, 0.98), 1.0)
    perfect.right[Fit("svm-t", REAL)][0, 0] = 0.0  # in one of six repeats
    right = "SVM_t is right on 99.8 % of 100 labelled rows"
    assert f"{right}, which leaves no room for a gain" in told(perfect).finding
    one = held_out((0.98, 0.98), 0.99)
    assert "one of 1.0 takes about" in told(one).finding


def test_twice_the_rows_find_a_gain_smaller_by_the_root_of_two() -> None:
    """So a quarter of the gain takes sixteen times the rows."""
    noisy = held_out((0.62, 0.6), 0.6)
    noisy.right[Fit("cdspp", REAL)][:] = np.roll(rows(0.62), 20, axis=1)
    found = told(noisy, wanted=0.04)
    assert found.decision == CANNOT_TELL
    least = found.verdicts["detectable"].item()
    assert f"detect a gain of {100 * least:.1f} points in 80 %" in found.finding
    needed = int(np.ceil(N * (least / 0.04) ** 2))
    assert f"one of 4.0 takes about {needed}." in found.finding


def test_classes_of_unequal_size_have_to_agree_with_rows() -> None:
    """What helps the large class alone is no gain of balanced accuracy."""
    found = held_out((0.5, 0.5), 0.5)
    classes = (np.arange(N) >= 90).astype(int)
    real, alone = np.zeros((6, N)), np.zeros((6, N))
    real[:, :50], alone[:, 90:] = 1.0, 1.0
    right = {fit: alone for fit in found.right} | {Fit("cdspp", REAL): real}
    unequal = replace(found, classes=classes, right=right)
    assert told(unequal).decision != USE
    assert told(unequal).verdicts["verdict"].tolist() == ["depends on the measure"]


def test_a_rival_that_mostly_fails_keeps_no_other_from_its_word() -> None:
    found = held_out((0.9, 0.5), 0.5)
    found.right[Fit("svm-t", REAL)][:, 3:] = np.nan
    assert told(found).decision == USE
    assert "svm-t" not in found.no_source


def test_of_two_rivals_each_must_beat_a_method_at_half_the_level() -> None:
    one = held_out((0.60, 0.35), 0.63)
    [p_value] = {
        max(g.p_below for g in both) for both in one.over_no_source("cdspp").values()
    }
    assert 0.025 < p_value < 0.05
    assert told(one).verdicts["out"].all()
    other = Fit("target-only", REAL)
    two = replace(
        one,
        right={**one.right, other: one.right[Fit("svm-t", REAL)]},
        collapsed={**one.collapsed, other: 0.0},
    )
    assert len(two.over_no_source("cdspp")) == 2
    assert not told(two).verdicts["out"].any()
