"""The command `cdspp status`: how far a study is, and what stands in its way."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_study_command
from cdspp.cli.study import read_study
from cdspp.core.wording import aligned, counted
from cdspp.study.workflow_files import study_command

if TYPE_CHECKING:
    from cdspp.study.progress import Progress

__all__ = ["add_status", "status_text"]

HELP = """\
Fits done, failed, running and missing by benchmark and method, why they failed, how to
make those again in which a method crashed, which are of other options, code or files
than the study has, and which files are missing. Call it in the folder of the run, with
its study files. What else a change makes anew, `cdspp run ... -- --dry-run` tells.

example:
  cdspp status resources/studies/printed.yaml
"""
NAMED = 3  # missing files of a stage, and failures of a kind, that are named


def add_status(commands: Any) -> None:
    """Add ``cdspp status`` to the commands."""
    text = "tell how far a study is, and what failed"
    add_study_command(commands, "status", _status, text, HELP)


def _status(arguments: argparse.Namespace) -> str:
    return status_text(arguments.file)


def status_text(files: Sequence[str]) -> str:
    """Say how far the study of some files is, by default the embedded one."""
    from cdspp.report.outline import KINDS, outline_names
    from cdspp.study.files import files_after_fits, files_before_fits
    from cdspp.study.plan import plan_of
    from cdspp.study.progress import missing_files, study_progress
    from cdspp.study.renewal import differing_fits, renewal_notes, unrecorded_files

    study = read_study(files)
    plans = [plan_of(study, name) for name in study.benchmarks]
    names = (outline_names(kind, plans) for kind in KINDS)
    stages = files_before_fits(study) | files_after_fits(study, *names)
    progress, missing = study_progress(study), missing_files(stages)
    lines = [f"{study.name}: {_runs(progress)}", "", *_fit_table(progress), ""]
    failures = ((each.reason, f"{each.what}: {each.log}") for each in progress.failures)
    for reason, places in _by_reason(failures).items():
        lines += [f"failed: {reason}", *_first(places), ""]
    if progress.crashed:
        again = study_command(files, "--forcerun", *progress.crashed)
        lines += [f"What crashed is made again by: {again}", ""]
    if stopped := progress.stopped:
        jobs = counted(len(stopped), "job")
        lines += [f"{jobs} stopped before the end (killed, or out of memory):"]
        lines += [*_first(stopped), ""]
    differing = ((reason, file) for file, reason in differing_fits(study))
    for reason, places in _by_reason(differing).items():
        fits = counted(len(places), "fit")
        lines += [f"{fits} to be made again: {reason}", *_first(places), ""]
    lines += [note + "\n" for note in renewal_notes(unrecorded_files(study), {})]
    lines += _file_table(stages, missing)
    left = any(missing.values()) or any(c["missing"] for c in progress.fits.values())
    if left and not progress.runs:
        lines += ["", f"What is missing is made by: {study_command(files)}"]
    return "\n".join(lines)


def _runs(progress: Progress) -> str:
    if living := [str(run) for run in progress.runs if run.lives]:
        return f"a run is at work, {', '.join(living)}"
    if elsewhere := ", ".join(map(str, progress.runs)):
        return f"whether the run of {elsewhere} still lives cannot be told from here"
    return "no run is at work in this folder"


def _fit_table(progress: Progress) -> list[str]:
    from cdspp.study.progress import STATES

    total = sum(progress.fits.values(), Counter[str]())
    rows: dict[tuple[str, str], Sequence[str]] = {("fits", ""): STATES}
    for name, counts in {**progress.fits, ("all", ""): total}.items():
        rows[name] = [str(counts[state]) for state in STATES]
    width = max(len(benchmark) for benchmark, _ in rows)
    return aligned(
        [[f"{name:{width}}  {method}", *row] for (name, method), row in rows.items()]
    )


def _by_reason(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the places of each reason."""
    places: dict[str, list[str]] = {}
    for reason, place in found:
        places.setdefault(reason, []).append(place)
    return places


def _file_table(
    stages: Mapping[str, Sequence[str]], missing: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    shown = [stage for stage, files in stages.items() if files]
    grid = [["files", "there", "missing"]]
    for stage in shown:
        lost = len(missing[stage])
        grid.append([stage, str(len(stages[stage]) - lost), str(lost)])
    head, *lines = aligned(grid)
    yield head
    for stage, line in zip(shown, lines, strict=True):
        yield line
        yield from _first(missing[stage])


def _first(names: Sequence[str]) -> Iterator[str]:
    yield from (f"  {name}" for name in names[:NAMED])
    if len(names) > NAMED:
        yield f"  and {len(names) - NAMED} more"
