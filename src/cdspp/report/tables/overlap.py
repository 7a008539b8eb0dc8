"""How many test samples of a task are labelled source samples at the same time.

In the published splits of photographs, a task from a domain to itself has the same
photographs on both sides, in two views. Most of its test samples may then be among the
labelled source samples, which a reader of its accuracy should know.
"""

from __future__ import annotations

import pandas as pd

from cdspp.analysis.splits import Splits, split_of
from cdspp.core.errors import DataError
from cdspp.core.names import UNLABELLED_ROLE, within_domain
from cdspp.core.wording import task_title
from cdspp.report.tables.table import Cell, Table, fraction_cell
from cdspp.study.plan import BenchmarkPlan

__all__ = ["build_overlap_table", "count_overlap"]

_NONE_SHARED = "None: no test sample of any task and trial is a labelled source sample."
_TREATMENT = {
    "keep": "They stay in the test, as in the published trials.",
    "exclude": "The fits leave them out of the test.",
}


def count_overlap(splits: Splits, plan: BenchmarkPlan) -> pd.DataFrame:
    """Count the test samples that are labelled in the source too: a row a task.

    Samples of a source are all labelled; those of a target are test samples where their
    role is unlabelled. The numbers of samples are means over trials, the shares
    fractions. `DataError` says that a domain of a task has no splits, that its source
    and target have other trials, or that a trial has no test sample.
    """
    return pd.DataFrame([_count(task, splits, plan.benchmark) for task in plan.tasks])


def build_overlap_table(overlap: pd.DataFrame, plan: BenchmarkPlan) -> Table:
    """Build the table ``overlap_<benchmark>``: one line a task that shares samples."""
    shared = overlap[overlap["shared_samples"] > 0]
    caption = (
        "Test samples of a trial, those of them that are labelled source samples as "
        "well, and their share in percent: mean, lowest and highest over trials. "
        f"{_TREATMENT[plan.overlap]}"
    )
    if 0 < len(shared) < len(overlap):
        caption += " No other task shares a sample in any trial."
    columns = {
        "Task": lambda entry: Cell(
            task_title(entry.task), note="within one domain" * entry.within_domain
        ),
        "Test samples": lambda entry: Cell(
            f"{entry.test_samples:.1f}".removesuffix(".0")
        ),
        "In the source": lambda entry: Cell(f"{entry.shared_samples:.1f}"),
        "Share": lambda entry: fraction_cell(entry.share),
        "Lowest": lambda entry: fraction_cell(entry.lowest_share),
        "Highest": lambda entry: fraction_cell(entry.highest_share),
    }
    return Table.of(
        f"overlap_{plan.benchmark}",
        f"{plan.title}: test samples that the source has labelled",
        caption if len(shared) else _NONE_SHARED,
        columns,
        shared.itertuples(),
        data=overlap,
        empty="",
    )


def _count(task: str, splits: Splits, benchmark: str) -> dict[str, object]:
    source, target = task.split("_")
    labelled = split_of(splits, "source", source)
    columns = split_of(splits, "target", target)
    trials, others = (sorted(set(part["trial"])) for part in (columns, labelled))
    if trials != others:
        raise DataError(
            f"task {task}: the source has splits for trials "
            f"{', '.join(map(str, others))}, the target for trials "
            f"{', '.join(map(str, trials))}. Give the splits of equal blocks."
        )
    tested = columns[columns["role"] == UNLABELLED_ROLE]
    both = tested.merge(labelled[["trial", "id"]].drop_duplicates(), on=["trial", "id"])
    number, shared = (
        part.groupby("trial").size().reindex(trials, fill_value=0).to_numpy()
        for part in (tested, both)
    )
    if not number.all():
        empty = trials[int(number.argmin())]
        raise DataError(
            f"task {task}: trial {empty} has no test sample. Lower labels.target."
        )
    shares = shared / number
    return {
        "benchmark": benchmark,
        "task": task,
        "within_domain": within_domain(task),
        "trials": len(trials),
        "test_samples": float(number.mean()),
        "shared_samples": float(shared.mean()),
        "share": float(shares.mean()),
        "lowest_share": float(shares.min()),
        "highest_share": float(shares.max()),
    }
