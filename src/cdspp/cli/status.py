"""The command `cdspp status`: how far a study is, and what stands in its way."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_command
from cdspp.cli.study_files import STUDY_EXTRA, read_study
from cdspp.core.wording import aligned, counted
from cdspp.study.workflow_files import study_command

if TYPE_CHECKING:
    from cdspp.study.progress import Failure, Progress

__all__ = ["add_status", "status_text"]

SUMMARY = "tell how far a study is, and what failed"
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
    """Add the command to a parser of commands."""
    parser = add_command(commands, "status", _status, SUMMARY, HELP, STUDY_EXTRA)
    parser.add_argument("file", nargs="*", metavar="STUDY_FILE")


def _status(arguments: argparse.Namespace) -> str:
    return status_text(arguments.file)


def status_text(files: Sequence[str]) -> str:
    """Say how far the study of some files is.

    Parameters
    ----------
    files : sequence of str
        Those of the run; none for the embedded study.
    """
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
    lines += _failure_lines(progress.failures)
    if progress.crashed:
        again = study_command(files, "--forcerun", *progress.crashed)
        lines += [f"What crashed is made again by: {again}", ""]
    if stopped := progress.stopped:
        jobs = counted(len(stopped), "job")
        lines += [f"{jobs} stopped before the end (killed, or out of memory):"]
        lines += [*_first(stopped), ""]
    lines += _differing_lines(differing_fits(study))
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

    grid = [["fits", "", *STATES]]
    for (benchmark, method), counter in progress.fits.items():
        grid.append([benchmark, method, *(str(counter[state]) for state in STATES)])
    total = [sum(c[state] for c in progress.fits.values()) for state in STATES]
    grid.append(["all", "", *map(str, total)])
    return aligned(_joined(grid))


def _joined(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """Make one column of the first two, so that both stand left."""
    width = max(len(line[0]) for line in grid)
    return [[f"{line[0]:{width}}  {line[1]}", *line[2:]] for line in grid]


def _failure_lines(failures: Sequence[Failure]) -> Iterator[str]:
    """Yield what failed: each reason once, with the first places and logs."""
    reasons: dict[str, list[Failure]] = {}
    for failure in failures:
        reasons.setdefault(failure.reason, []).append(failure)
    for reason, alike in reasons.items():
        yield f"failed: {reason}"
        yield from _first([f"{each.what}: {each.log}" for each in alike])
        yield ""


def _differing_lines(differing: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield how many fits are not as the study has them, by reason, and which."""
    reasons: dict[str, list[str]] = {}
    for file, reason in differing:
        reasons.setdefault(reason, []).append(file)
    for reason, files in reasons.items():
        yield f"{counted(len(files), 'fit')} to be made again: {reason}"
        yield from _first(files)
        yield ""


def _file_table(
    stages: Mapping[str, Sequence[str]], missing: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    grid = [["files", "there", "missing"]]
    named = [list[str]()]
    for stage, files in stages.items():
        if files:
            lost = missing[stage]
            grid.append([stage, str(len(files) - len(lost)), str(len(lost))])
            named.append(list(_first(lost)))
    for line, lost in zip(aligned(grid), named, strict=True):
        yield line
        yield from lost


def _first(names: Sequence[str]) -> Iterator[str]:
    yield from (f"  {name}" for name in names[:NAMED])
    if len(names) > NAMED:
        yield f"  and {len(names) - NAMED} more"
