"""The time left of a run, if it goes on as it began."""

from __future__ import annotations

import pytest

from cdspp.study.time_left import TimeLeft

JOBS = {"a": 30.0, "b": 30.0, "c": 6.0, "t": 2.0}


def test_without_any_job_begun_the_time_left_is_unknown() -> None:
    assert TimeLeft(JOBS).seconds(20, 20) is None
    assert TimeLeft({}).seconds(20, 20) is None


def test_a_running_job_counts_by_its_time_at_most_the_expected() -> None:
    left = TimeLeft(JOBS)
    left.start("a", 0)
    assert left.seconds(10, 10) == pytest.approx(20 + 30 + 6 + 2)
    # Twice as long as expected, so far: so is everything else.
    assert left.seconds(60, 60) == pytest.approx(2 * (30 + 6 + 2))


def test_jobs_that_ran_side_by_side_are_expected_to_go_on_so() -> None:
    left = TimeLeft(JOBS)
    for job in ("a", "c"):
        left.start(job, 0)
    left.end("c")
    left.start("b", 6)
    assert left.seconds(10, 10) == pytest.approx((20 + 26 + 2) / 2)


def test_a_job_that_failed_is_left_and_one_that_is_unknown_does_not_count() -> None:
    left = TimeLeft(JOBS)
    left.start("c", 0)
    left.end("c")
    left.start("a", 6)
    left.end("a", failed=True)
    left.end("unknown")
    assert left.seconds(16, 16) == pytest.approx((30 + 30 + 2) * 16 / 6)


def test_on_a_cluster_jobs_that_may_wait_do_not_count_as_running() -> None:
    left = TimeLeft(JOBS, local=False)
    for job in JOBS:
        left.start(job, 0)
    assert left.seconds(10, 10) is None
    left.end("c")
    left.end("a")
    assert left.seconds(60, 60) == pytest.approx(60 * (30 + 2) / 36)
