"""The check of claims on computation time."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from cdspp.core.wording import counted
from cdspp.paper.evidence import (
    CONTRADICTED,
    Decision,
    NotTestable,
    Outcome,
    Times,
    as_list,
    decide,
    shown_name,
    sum_up,
)
from cdspp.study.plan import METHOD

Names = str | Sequence[str]


def cheaper(evidence: Times, method: Names, rival: Names) -> Decision:
    """Check that some methods each take less processor time than each comparator."""
    ours, rivals = (_timed(evidence, as_list(keys)) for keys in (method, rival))
    short = rivals["shortened"].astype(bool)
    ours, unshortened = ours[~ours["shortened"].astype(bool)], rivals[~short]
    if ours.empty:
        names = ", ".join(map(shown_name, as_list(method)))
        raise NotTestable(f"{names} was not timed on all tasks")
    own_time = next(ours.tail(1).itertuples())  # the most expensive of them
    if unshortened.empty:
        raise NotTestable(f"no comparator of {own_time.display_name} was timed")
    less = unshortened[unshortened["seconds"] <= own_time.seconds]
    shown = unshortened.iloc[[0, -1]].drop_duplicates() if less.empty else less
    deciding = unshortened.head(1) if less.empty else less
    trials = int(min(own_time.trials, deciding["trials"].max()))
    opening = "cheapest and most expensive" if less.empty else "cheaper"
    among = f"Most expensive of {len(ours)} methods " if len(ours) > 1 else ""
    return Decision(
        decide(trials, holds=less.empty, opposite=not less.empty),
        f"{among}{own_time.display_name} {own_time.seconds:.3g} s; {opening} of "
        f"{counted(len(unshortened), 'comparator')}: "
        f"{', '.join(_multiples(shown, own_time))}; {counted(trials, 'trial')}."
        f"{sum_up('Left out, shortened', _multiples(rivals[short], own_time))}",
    )


def unfinished(evidence: Times, method: str) -> Decision:
    """Check that a method does not finish, so that it has no time."""
    times = _timed(evidence, [method])
    if times.empty:
        name, title = shown_name(method), evidence.plan.title
        raise NotTestable(f"{name} does not run on {title}, as in the paper's tables")
    time = next(times.itertuples())
    return Decision(Outcome(CONTRADICTED), f"{time.display_name} {time.seconds:.3g} s.")


def _timed(evidence: Times, keys: Sequence[str]) -> pd.DataFrame:
    """Return the times of methods that were timed on all tasks, the cheapest first."""
    plan, times = evidence.plan, evidence.seconds.dropna(subset="seconds")
    rows = {row.key for row in plan.main_rows if row.kind == METHOD} & {*keys}
    of_benchmark = times[
        (times["benchmark"] == plan.benchmark) & times["row"].isin(rows)
    ]
    return of_benchmark.sort_values("seconds", kind="stable")


def _multiples(times: pd.DataFrame, unit: Any) -> list[str]:
    return [
        f"{time.display_name} ({time.seconds / unit.seconds:.3g} ×)"
        for time in times.itertuples()
    ]
