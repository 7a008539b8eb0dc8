"""The time left of a run, while its jobs take as long as expected, or longer."""

from __future__ import annotations

import pytest

from cdspp.study.time_left import TimeLeft

JOBS = {"a": ("fit", 30.0), "b": ("fit", 30.0), "c": ("fit", 6.0), "t": ("table", 2.0)}


def test_without_any_job_begun_the_time_left_is_unknown() -> None:
    assert TimeLeft(JOBS).seconds(20, 20) is None
    assert TimeLeft({}).seconds(20, 20) is None


def test_a_running_job_counts_by_its_time_at_most_the_expected() -> None:
    left = TimeLeft(JOBS)
    left.start("a", 0)
    assert left.seconds(10, 10) == pytest.approx(20 + 30 + 6 + 2)
    # Twice as long as expected, so far: so are the other fits.
    assert left.seconds(60, 60) == pytest.approx(60 + 12 + 2)


def test_fits_that_took_longer_than_expected_make_others_longer_and_no_tables() -> None:
    left = TimeLeft(JOBS)
    left.start("c", 0)
    left.end("c", 18)
    assert left.seconds(18, 18) == pytest.approx(3 * (30 + 30) + 2)


def test_jobs_that_ran_side_by_side_are_expected_to_go_on_so() -> None:
    left = TimeLeft(JOBS)
    for job in ("a", "c"):
        left.start(job, 0)
    left.end("c", 6)
    left.start("b", 6)
    assert left.seconds(10, 10) == pytest.approx((20 + 26 + 2) / 2)


def test_a_job_that_failed_is_left_and_so_is_its_time() -> None:
    left = TimeLeft(JOBS)
    left.start("c", 0)
    left.end("c", 6)
    left.start("a", 6)
    left.end("a", 16, failed=True)
    left.end("unknown", 16)
    assert left.seconds(16, 16) == pytest.approx((30 + 30 + 2) * 16 / 6)


def test_on_a_cluster_jobs_that_may_wait_do_not_count_as_running() -> None:
    left = TimeLeft(JOBS, local=False)
    for job in JOBS:
        left.start(job, 0)
    assert left.seconds(10, 10) is None
    left.end("c", 12)
    left.end("a", 60)
    # What waits in the queue is in the time of each job, and in the number at a time.
    assert left.seconds(60, 60) == pytest.approx(60 * (30 * 72 / 36 + 2) / 72)
