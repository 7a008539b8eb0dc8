"""Which of several sources helps: every method against itself without one of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pandas as pd

from cdspp.analysis.rivals import ACCURACY, Contest, Rival
from cdspp.analysis.summary import summarise
from cdspp.analysis.verdicts import judge_tasks
from cdspp.core.names import ALONE, role_domains, several_sources, task_domains
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import BenchmarkPlan
from cdspp.study.settings import without

__all__ = ["LEFT_OUT_COLUMNS", "compare_without_each"]

LEFT_OUT_COLUMNS = (
    *("benchmark", "task", "row", "display_name", "source", "accuracy"),
    *("accuracy_without", "gain", "low", "high", "trials", "p_helps", "p_hurts"),
    "verdict",
)


class _LeaveOneOut(Contest):
    """A row of a summary against the same method without one of several sources."""

    @cached_property
    def _rivals(self) -> list[Rival]:
        summary = self.summary
        domains = role_domains(filter(several_sources, summary.tasks))["source"]
        places = {(r.setting, r.method): i for i, r in enumerate(summary.rows)}
        found = [(name, (without(name), self.row.method)) for name in domains]
        return [Rival(n, n, True, places[key]) for n, key in found if key in places]

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """Yield a line a task and source, by `LEFT_OUT_COLUMNS`."""
        plan, row = self.summary.plan, self.row
        for at, task in enumerate(self.summary.tasks):
            sources = task_domains(task).sources if several_sources(task) else ()
            rivals = [rival for rival in self._rivals if rival.key in sources]
            fallen = self._collapsed(at)
            gains = [self._gain(rival, at, ACCURACY) for rival in rivals]
            verdicts = judge_tasks(
                [{ALONE: gain} for gain in gains],
                margin=plan.margin / 100,
                collapsed=[rival.key in fallen for rival in rivals],
            )
            for rival, gain, said in zip(rivals, gains, verdicts, strict=True):
                means = self._means(rival, at)
                yield (
                    *(plan.benchmark, task, row.key, row.display_name + row.marks),
                    *(rival.key, means["accuracy"], means["rival_accuracy"]),
                    *(gain.gain, gain.low, gain.high, gain.trials),
                    *(said.p_helps, said.p_hurts, said.word),
                )


def compare_without_each(
    scores: pd.DataFrame, plan: BenchmarkPlan, by_row: RowScores | None = None
) -> pd.DataFrame:
    """Return gains by task and source; p values are Holm's over a task's sources."""
    summary = summarise(scores, plan, plan.rows)
    found = [
        line
        for place, row in enumerate(plan.rows)
        if row in plan.main_rows
        for line in _LeaveOneOut(row, place, summary, by_row).lines()
    ]
    return pd.DataFrame(found, columns=list(LEFT_OUT_COLUMNS))
