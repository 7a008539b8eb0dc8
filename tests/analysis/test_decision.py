"""From held-out rows to a decision, on rows whose truth is set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cdspp.analysis.advice import conclude, of_twice_the_labels
from cdspp.analysis.decision import (
    ALONE_BETTER,
    CANNOT_TELL,
    USE,
    Comparison,
    Fit,
    HoldOut,
)
from cdspp.analysis.summary import Floats
from cdspp.core.names import ALONE, MATCHED, REAL

N = 100


def rows(share: float) -> Floats:
    """Return three repeats of rows of which the first are right."""
    return np.tile((np.arange(N) < share * N).astype(float), (6, 1))


def held_out(
    cdspp: tuple[float, float], svm_t: float, collapsed: float = 0.0, n_classes: int = 2
) -> HoldOut:
    shares = {
        Fit("svm-t", REAL, 4): svm_t,
        Fit("cdspp", REAL, 4): cdspp[0],
        Fit("cdspp", ALONE, 4): cdspp[1],
        Fit("cdspp", MATCHED, 4): cdspp[1],
    }
    share = dict.fromkeys(shares, 0.0) | {Fit("cdspp", REAL, 4): collapsed}
    right = {fit: rows(value) for fit, value in shares.items()}
    classes = np.arange(N) % n_classes
    return HoldOut(classes, 4, 4, ["svm-t", "cdspp"], right, share)


def told(found: HoldOut, wanted: float = 0.05) -> Comparison:
    return conclude(found, 0.01, wanted, "none")


def test_a_method_that_the_source_helps_is_not_used_where_another_is_better_alone() -> (
    None
):
    found = told(held_out((0.60, 0.35), 0.75))
    assert found.verdicts["verdict"].tolist() == ["helps"]
    assert not found.verdicts["wins"].any()
    assert found.decision == ALONE_BETTER
    assert found.method == "svm-t"
    assert told(held_out((0.60, 0.35), 0.40)).decision == USE


def test_a_collapse_withholds_the_word_from_a_tenth_of_the_fits_on() -> None:
    assert told(held_out((0.9, 0.5), 0.5, collapsed=0.1)).decision == USE
    found = told(held_out((0.9, 0.5), 0.5, collapsed=0.2))
    assert found.decision == CANNOT_TELL
    assert found.verdicts["verdict"].tolist() == ["collapsed"]
    assert "collapsed or diverged: CDSPP. Scale" in found.finding
    assert found.note == "fits that failed, collapsed or diverged: CDSPP 20 %"


def test_rows_too_few_for_a_verdict_are_counted_and_not_called_a_collapse() -> None:
    found = held_out((0.9, 0.5), 0.5)
    few = {fit: right[:, :4] for fit, right in found.right.items()}
    found = told(replace(found, classes=found.classes[:4], right=few))
    assert found.finding == (
        "Cannot tell: label 5 rows at least. Until then SVM_t without the source is "
        "the plain choice."
    )
    assert found.decision == CANNOT_TELL
    assert "cdspp.make('svm-t')" in found.next_step


def test_after_a_collapse_that_no_scale_is_left_for_the_next_step_is_a_fit() -> None:
    found = held_out((0.9, 0.5), 0.5)
    fallen = replace(found, collapsed=dict.fromkeys(found.right, 1.0))
    again = conclude(fallen, 0.01, 0.05, "standardise")
    assert again.next_step == "cdspp.compare(X, y, source=source, scale='pca')"
    assert again.method == ""
    last = conclude(fallen, 0.01, 0.05, "pca")
    assert last.finding.startswith("Cannot tell: all fits without a source have failed")
    assert "cdspp.make('svm-t')" in last.next_step


def test_no_gain_is_asked_for_that_cannot_be_had() -> None:
    noisy = held_out((0.95, 0.97), 0.97)
    noisy.right[Fit("cdspp", REAL, 4)][:] = np.roll(rows(0.95), 30, axis=1)
    text = told(noisy).finding
    assert "even a gain of 3.0 points, all that SVM_t leaves, in less than" in text
    assert "one of 3.0 takes about" in text
    perfect = held_out((0.99, 0.98), 1.0)
    assert "SVM_t is right on all of 100 labelled rows" in told(perfect).finding
    perfect.right[Fit("svm-t", REAL, 4)][0, 0] = 0.0  # in one of six repeats
    assert (
        "SVM_t is right on 99.8 % of 100 labelled rows, which leaves less than one row "
        "for a gain"
    ) in told(perfect).finding
    one = held_out((0.98, 0.98), 0.99)
    assert "even a gain of 1.0 points, all that SVM_t leaves" in told(one).finding


def test_twice_the_rows_find_a_gain_smaller_by_the_root_of_two() -> None:
    """So a quarter of the gain takes sixteen times the rows."""
    noisy = held_out((0.62, 0.6), 0.6)
    noisy.right[Fit("cdspp", REAL, 4)][:] = np.roll(rows(0.62), 20, axis=1)
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
    right = {fit: alone for fit in found.right} | {Fit("cdspp", REAL, 4): real}
    unequal = HoldOut(classes, 4, 4, found.methods, right, found.collapsed)
    assert told(unequal).decision != USE
    assert told(unequal).verdicts["verdict"].tolist() == ["depends on the measure"]


def test_twice_the_labels_add_half_of_what_the_last_doubling_added() -> None:
    found = held_out((0.8, 0.5), 0.5)
    half = Fit("cdspp", REAL, 2)
    right = {**found.right, half: rows(0.7)}
    shares = {**found.collapsed, half: 0.0}
    both = HoldOut(found.classes, 4, 4, found.methods, right, shares)
    assert of_twice_the_labels(both, Fit("cdspp", REAL, 4)) == pytest.approx(0.05)
    assert np.isnan(of_twice_the_labels(both, Fit("svm-t", REAL, 4)))
    assert "about +5.0 points to CDSPP with the source" in told(both).finding


def test_a_rival_that_mostly_fails_keeps_no_other_from_its_word() -> None:
    found = held_out((0.9, 0.5), 0.5)
    found.right[Fit("svm-t", REAL, 4)][:, 3:] = np.nan
    assert told(found).decision == USE
    assert "svm-t" not in found.alone
