"""How many test samples of a task are labelled source samples at the same time.

In the published splits of photographs, a task from a domain to itself has the same
photographs on both sides, in two views. Most of its test samples may then be among the
labelled source samples, which a reader of its accuracy should know.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.analysis.summary import Layout
from cdspp.core.artifacts import SPLIT_COLUMNS, read_rows
from cdspp.core.errors import DataError
from cdspp.core.names import UNLABELLED_ROLE, within_domain
from cdspp.core.wording import task_title
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.table import Cell, Line, Table

__all__ = ["Overlap", "overlap_rows", "overlap_table", "write_overlap"]

PathLike = str | os.PathLike[str]
Split = Mapping[str, NDArray[Any]]

_PLACE = "<role>/<domain>/<block>.parquet"
_FIELDS = (
    "benchmark",
    "task",
    "within_domain",
    "trials",
    "test_samples",
    "shared_samples",
    "share",
    "lowest_share",
    "highest_share",
)
_NONE_SHARED = "None: no test sample of any task and trial is a labelled source sample."
_TREATMENT = {
    "keep": "They stay in the test, as in the published trials.",
    "exclude": "The fits leave them out of the test.",
}


@dataclass(frozen=True)
class Overlap:
    """The test samples of a task, and those that are labelled in the source as well.

    Attributes
    ----------
    task : str
        Name of the task, ``<source>_<target>``.
    trials : int
        Number of trials counted.
    test_samples, shared_samples : float
        Test samples of a trial, and those of them that the source has labelled; means
        over trials.
    share, lowest_share, highest_share : float
        Shared by test samples, as fractions: mean and range over trials.
    """

    task: str
    trials: int
    test_samples: float
    shared_samples: float
    share: float
    lowest_share: float
    highest_share: float

    @property
    def within_domain(self) -> bool:
        """Whether source and target are the same domain."""
        return within_domain(self.task)


def overlap_rows(
    source_splits: Mapping[str, Split],
    target_splits: Mapping[str, Split],
    tasks: Sequence[str],
) -> list[Overlap]:
    """Count the test samples that are labelled in the source too, per task and trial.

    Parameters
    ----------
    source_splits, target_splits : mapping
        By domain, the columns of its splits (`cdspp.core.artifacts.SPLIT_COLUMNS`) in that
        role, all trials. Samples of a source are all labelled; those of a target are
        test samples where their role is unlabelled.
    tasks : sequence of str
        Names of the tasks, ``<source>_<target>``.

    Returns
    -------
    list of Overlap
        One for each task, in order.

    Raises
    ------
    DataError
        A domain of a task has no splits, its source and target have other trials, or a
        trial has no test sample.
    """
    return [_overlap(task, source_splits, target_splits) for task in tasks]


def write_overlap(
    *, splits: Sequence[PathLike], layout: Layout, outputs: Sequence[PathLike]
) -> None:
    """Write the table of overlaps of one benchmark.

    Parameters
    ----------
    splits : sequence of path
        Files of splits, ``.../<role>/<domain>/<block>.parquet``, of all domains that
        the tasks use and of all blocks.
    layout : mapping
        The benchmark (`cdspp.study.model.Study.layout`), with `overlap`: "keep" or "exclude".
    outputs : sequence of path
        Files to write; the suffix (csv, md, tex) names the form.

    Raises
    ------
    DataError
        As in `overlap_rows`; or a path is not that of a split, or not of this table.
    """
    source, target = _read_splits(splits)
    found = overlap_rows(source, target, layout["tasks"])
    write_tables([overlap_table(found, layout)], outputs)


def overlap_table(overlaps: Sequence[Overlap], layout: Layout) -> Table:
    """Build the table ``overlap_<benchmark>``: one line a task that shares samples.

    Parameters
    ----------
    overlaps : sequence of Overlap
        What `overlap_rows` counted.
    layout : mapping
        As in `write_overlap`.
    """
    shared = [overlap for overlap in overlaps if overlap.shared_samples]
    caption = (
        "Test samples of a trial, those of them that are labelled source samples as "
        "well, and their share in percent: mean, lowest and highest over trials. "
        f"{_TREATMENT[layout['overlap']]}"
    )
    if shared and len(shared) < len(overlaps):
        caption += " No other task shares a sample in any trial."
    return Table(
        name=f"overlap_{layout['benchmark']}",
        title=f"{layout['title']}: test samples that the source has labelled",
        caption=caption if shared else _NONE_SHARED,
        columns=("Task", "Test samples", "In the source", "Share", "Lowest", "Highest"),
        lines=tuple(map(_line, shared)),
        fields=_FIELDS,
        records=[_record(overlap, layout["benchmark"]) for overlap in overlaps],
        empty="",
    )


def _overlap(
    task: str, sources: Mapping[str, Split], targets: Mapping[str, Split]
) -> Overlap:
    source, target = task.split("_")
    labelled = _ids_by_trial(_split_of(sources, source, "source", task))
    columns = _split_of(targets, target, "target", task)
    tested = _ids_by_trial(columns, columns["role"] == UNLABELLED_ROLE)
    if labelled.keys() != tested.keys():
        raise DataError(
            f"task {task}: the source has splits for trials {_listed(labelled)}, the "
            f"target for trials {_listed(tested)}. Give the splits of equal blocks."
        )
    if empty := [trial for trial, ids in tested.items() if not ids]:
        raise DataError(
            f"task {task}: trial {empty[0]} has no test sample. Lower labels.target."
        )
    number = np.array([len(ids) for ids in tested.values()])
    shared = np.array([len(ids & labelled[trial]) for trial, ids in tested.items()])
    shares = shared / number
    numbers = (number.mean(), shared.mean(), shares.mean(), shares.min(), shares.max())
    return Overlap(task, len(tested), *map(float, numbers))


def _split_of(splits: Mapping[str, Split], domain: str, role: str, task: str) -> Split:
    if domain not in splits:
        known = ", ".join(splits) or "none"
        raise DataError(
            f"task {task}: expected splits of {domain} as {role}, got those of "
            f"{known}. Give the files of all domains that the tasks use."
        )
    return splits[domain]


def _ids_by_trial(split: Split, among: Any = True) -> dict[int, set[str]]:
    """Return the ids of each trial, by its number, of the rows that are `among`."""
    return {
        int(trial): set(split["id"][(split["trial"] == trial) & among])
        for trial in np.unique(split["trial"])
    }


def _read_splits(splits: Sequence[PathLike]) -> tuple[dict[str, Split], ...]:
    """Return the splits of the sources and those of the targets, by domain."""
    roles: dict[str, dict[str, list[Path]]] = {"source": {}, "target": {}}
    for path in map(Path, splits):
        role, domain = path.parent.parts[-2:]
        if role not in roles:
            raise DataError(f"{path}: expected {_PLACE} with source or target as role.")
        roles[role].setdefault(domain, []).append(path)
    return tuple(
        {domain: _read_blocks(paths) for domain, paths in domains.items()}
        for domains in roles.values()
    )


def _read_blocks(paths: Sequence[Path]) -> Split:
    blocks = [read_rows(path, SPLIT_COLUMNS) for path in paths]
    names = ("trial", "id", "role")
    return {name: np.concatenate([block[name] for block in blocks]) for name in names}


def _listed(trials: Mapping[int, object]) -> str:
    return ", ".join(map(str, sorted(trials)))


def _line(overlap: Overlap) -> Line:
    shares = (overlap.share, overlap.lowest_share, overlap.highest_share)
    return Line(
        (
            Cell(
                task_title(overlap.task),
                note="within one domain" if overlap.within_domain else "",
            ),
            Cell(f"{overlap.test_samples:.1f}".removesuffix(".0")),
            Cell(f"{overlap.shared_samples:.1f}"),
            *(Cell(f"{100 * value:.1f}", value=value) for value in shares),
        )
    )


def _record(overlap: Overlap, benchmark: str) -> dict[str, object]:
    return {
        "benchmark": benchmark,
        "within_domain": overlap.within_domain,
        **asdict(overlap),
    }
