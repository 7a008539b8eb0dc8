"""What the paper claims of computation time: from seconds, so in no other table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from cdspp.paper.claims.checks import Cheapest
from cdspp.paper.claims.claims import Claim, build_claims_table, check_claims
from cdspp.paper.claims.evidence import Times
from cdspp.report.tables.table import Table
from cdspp.study.plan import BenchmarkPlan

__all__ = ["TIME_CLAIMS", "build_time_claims_table", "check_time_claims"]

_RIVALS = ("dama", "shfa", "cdls", "pa", "tit", "stn", "ddacl", "ssan", "dama-plus")

TIME_CLAIMS: tuple[Claim[Times], ...] = (
    Claim(
        "cheapest",
        "CDSPP takes the least time of the semi-supervised methods.",
        Cheapest("cdspp", _RIVALS),
    ),
)


def check_time_claims(
    times: pd.DataFrame, plans: Sequence[BenchmarkPlan]
) -> pd.DataFrame:
    """Put every claim on time to every benchmark.

    Parameters
    ----------
    times : DataFrame
        As `cdspp.analysis.times.measure_times` returns them.
    plans : sequence of BenchmarkPlan
        The benchmarks.

    Returns
    -------
    DataFrame
        As of `cdspp.paper.claims.claims.check_claims`.
    """
    known = [Times(p, times[times["benchmark"] == p.benchmark]) for p in plans]
    return check_claims(known, TIME_CLAIMS)


def build_time_claims_table(findings: pd.DataFrame) -> Table:
    """Build the table ``time-claims``: a line a claim on time and benchmark.

    Parameters
    ----------
    findings : DataFrame
        As `check_time_claims` returns them.
    """
    return replace(
        build_claims_table(findings),
        name="time-claims",
        title="What the paper claims of computation time",
        caption=(
            "By a fixed rule (in small print), from the seconds of this run: another "
            "run, or another machine, has others. That is why this claim stands apart."
        ),
    )
