"""Study files, and the commands on them that compute no fit."""

from __future__ import annotations

import logging
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli import command
from cdspp.cli.command import add_command, add_options
from cdspp.cli.share import verify_archive
from cdspp.core.errors import DataError, writing_fault
from cdspp.core.names import MAIN, FitKey, PathLike
from cdspp.core.wording import aligned, counted
from cdspp.study.files import study_command, study_file_path, workflow_folder

if TYPE_CHECKING:
    from cdspp.stages.trials import TaskFiles
    from cdspp.study.config import MergedConfig
    from cdspp.study.model import Study
    from cdspp.study.progress import Progress

log = logging.getLogger(__name__)

STATUS_HELP = """\
Prints the fits done, failed, running and missing by benchmark and method; why they
failed; the command that repeats fits after unexpected errors; files that are not what
the study asks for now, and why; how many trials would run; and missing files. Call it
in the folder of the run, with its study files. `cdspp run ... -- --dry-run` prints all
jobs.

example:
  cdspp status resources/studies/printed.yaml
"""
VERIFY_HELP = """\
Compares every fit with its record, its path, features and splits; recomputes scores
from fits and labels; and compares every file behind the report, from labels to figures,
with the digest that the report states. Prints a line for each difference, and exits
with 1 if there is one, else with 0. It does not recompute tables, nor check the text of
the report.

example:
  cdspp verify results/embedded

Given a study file instead, in the folder of the run, it also compares all files with
what the study asks for now: its tables and folders, options, seed and code.

  cdspp verify mine.yaml

Given an archive of `cdspp bundle`, it checks every member, then the study inside.
"""
EXPORT_HELP = """\
Writes, for each trial of a task, the samples to learn from, with their labels, and the
samples to label, without; and the features of all samples. The files are CSV and
Parquet, for programs in any language. An entry of `methods` with the key `predictions:
theirs.csv` makes the predictions of such a program a row of the study.

example:
  cdspp export-splits mine.yaml --to splits
"""
NAMED = 3  # missing files of a stage, and failures of a kind, that are named
STUDY_FILES = (".yaml", ".yml", ".json")


def read_config(files: Sequence[PathLike]) -> MergedConfig:
    """Return the keys of the study of some files, by default of config.yaml."""
    from cdspp.study.config import merge_files, merge_presets

    paths = [study_file_path(file) for file in files or ["config.yaml"]]
    return merge_presets(merge_files(paths), workflow_folder())


def read_study(files: Sequence[PathLike]) -> Study:
    """Return the study of some files, by default the embedded one; log its notes."""
    from cdspp.study.config import load_study

    merged = read_config(files)
    for note in merged.notes:
        log.warning("%s", note)
    data = "data" if Path("data").is_dir() else None
    study = load_study(merged.config, workflow_folder(), data)
    for note in study.notes:
        log.warning("%s", note)
    return study


def _summary(arguments: Namespace) -> str:
    from cdspp.report.page.headline import headline

    return headline(_study_and_results(arguments.study)[1])


def _study_and_results(path: str) -> tuple[Study | None, Path]:
    if Path(path).suffix not in STUDY_FILES:
        return None, Path(path)
    study = read_study([path])
    return study, Path("results", study.name)


def _verify(arguments: Namespace) -> str:
    from cdspp.study.stale import stale

    study, folder = _study_and_results(arguments.study)
    if study is None and folder.suffix == ".zip":
        faults, result, failed = verify_archive(folder, _checked)
    else:
        old = None if study is None else stale(study)
        faults, result, failed = _checked(folder, old)
    text = "\n".join(filter(None, [*faults, result, failed]))
    return command.answer(text, failed=faults or (arguments.strict and failed))


def _checked(
    folder: Path, stale: Mapping[str, str] | None = None
) -> tuple[list[str], str, str]:
    from cdspp.analysis.fit_records import failures_of_scores
    from cdspp.analysis.verify import verify

    faults, result = verify(folder, stale)
    return faults, result, failures_of_scores(folder.glob("scores/[!.]*.parquet"))


def _status(arguments: Namespace) -> str:
    return status_text(arguments.file, strict=arguments.strict)


def status_text(files: Sequence[str], *, strict: bool = False) -> str:
    """Return the progress of the study of some files, by default the embedded one.

    If `strict`, print it and exit with code 1 where fits or other jobs failed.
    """
    from cdspp.analysis.fit_records import mixtures_note
    from cdspp.report.registry import KINDS, names_of_kind
    from cdspp.study.files import FIT, files_after_fits, files_before_fits
    from cdspp.study.plan import plan_of
    from cdspp.study.progress import missing_files, study_progress
    from cdspp.study.stale import FOLLOWS, notes, run_forecast, stale, unrecorded_files

    study = read_study(files)
    plans = [plan_of(study, name) for name in study.benchmarks]
    names = (names_of_kind(kind, plans) for kind in KINDS)
    stages = files_before_fits(study) | files_after_fits(study, *names)
    progress, missing = study_progress(study), missing_files(stages)
    lines = [f"{study.name}: {_runs(progress)}", "", *_fit_table(progress), ""]
    failures = ((each.reason, f"{each.what}: {each.log}") for each in progress.failures)
    for reason, places in _by_reason(failures).items():
        lines += [f"failed: {reason}", *_first(places), ""]
    if progress.to_repeat:
        again = study_command(files, "--forcerun", *progress.to_repeat)
        lines += [f"To repeat the fits with unexpected errors: {again}", ""]
    if stopped := progress.stopped:
        jobs = counted(len(stopped), "job")
        lines += [f"{jobs} stopped before the end (killed, or out of memory):"]
        lines += [*_first(stopped), *filter(None, [writing_fault("logs")]), ""]
    old = stale(study)
    causes = ((why, file) for file, why in old.items() if why != FOLLOWS)
    for reason, places in _by_reason(causes).items():
        n_files = counted(len(places), "file")
        lines += [f"{n_files} to make again: {reason}", *_first(places), ""]
    keys = (key for name in study.benchmarks for key in study.fits(name))
    records = (f"{FIT.format(study=study.name, **key._asdict())}.json" for key in keys)
    mixed = mixtures_note(filter(os.path.isfile, records))
    remarks = (mixed, *notes(old, unrecorded_files(study), run_forecast(study, old)))
    lines += [note + "\n" for note in remarks if note]
    lines += _file_table(stages, missing)
    left = any(missing.values()) or any(c["missing"] for c in progress.fits.values())
    if left and not progress.runs:
        lines += ["", f"What is missing is made by: {study_command(files)}"]
    return command.answer("\n".join(lines), failed=strict and progress.failures)


def _runs(progress: Progress) -> str:
    if living := [str(run) for run in progress.runs if run.lives]:
        return f"a run is at work, {', '.join(living)}"
    if elsewhere := ", ".join(map(str, progress.runs)):
        return f"whether the run of {elsewhere} still lives cannot be seen from here"
    return "no run is at work in this folder"


def _fit_table(progress: Progress) -> list[str]:
    from cdspp.study.progress import STATES

    total = sum(progress.fits.values(), Counter[str]())
    rows: dict[tuple[str, str], Sequence[str]] = {("fits", ""): STATES}
    for name, counts in {**progress.fits, ("all", ""): total}.items():
        rows[name] = [str(counts[state]) for state in STATES]
    width = max(len(benchmark) for benchmark, _ in rows)
    grid = [[f"{name:{width}}  {method}", *row] for (name, method), row in rows.items()]
    return aligned(grid)


def _by_reason(causes: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for reason, place in causes:
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


def _export(arguments: Namespace) -> str:
    from cdspp.stages.external import export_benchmark

    study = read_study(arguments.file)
    blocks = {name: list(_blocks(study, name)) for name in study.benchmarks}
    files = [files for each in blocks.values() for _, files in each]
    paths = (path for each in files for path in each.values())
    read = dict.fromkeys(map(str, paths))
    if lacking := [path for path in read if not Path(path).is_file()]:
        # By name: a view may rest on another, where the rule of both would stop.
        features = [path for path in lacking if path.endswith(".npz")]
        again = study_command(arguments.file, "--until", "split", *features)
        what = f"{counted(len(lacking), 'file')}, {lacking[0]} first"
        raise DataError(f"what fits read is not made yet ({what}). Run {again}")
    folders = {name: arguments.to / study.name / name for name in blocks}
    command.check_outputs(folders.values(), read, force=arguments.force)
    lines = []
    for name, folder in folders.items():
        n_trials = export_benchmark(folder, blocks[name], study.overlap(name, MAIN))
        lines.append(f"{folder}: {counted(n_trials, 'trial')}; README.txt says how")
    return "\n".join(lines)


def _blocks(study: Study, benchmark: str) -> Iterator[tuple[str, TaskFiles]]:
    from cdspp.study.files import files_of_fit

    usual = (
        name
        for name, method in study.methods.items()
        if benchmark not in method.source_views and not method.bridges
    )
    method = next(usual, next(iter(study.methods)))
    for task in study.benchmarks[benchmark].tasks:
        for block in study.blocks(study.trials):
            key = FitKey(benchmark, MAIN, task, method, block)
            named = files_of_fit(study, key).items()
            sides = ("source", "target")
            yield task, {n: path for n, path in named if n.startswith(sides)}


def add_commands(commands: Any) -> None:
    """Add the commands on a study that has begun."""
    extra = command.STUDY_EXTRA
    text = "print the progress of a study, and its failures"
    status = add_command(commands, "status", _status, text, STATUS_HELP, extra)
    add_options(status, "file")
    add_options(status, "--strict", part="fits failed")
    text = "print the headline of a study"
    summary = add_command(commands, "summary", _summary, text)
    note = "for instance results/embedded"
    places = "RESULTS_FOLDER|STUDY_FILE"
    summary.add_argument("study", metavar=places, help=f"{note}, or mine.yaml")
    text = "check the fits, scores and report of a study"
    verify = add_command(commands, "verify", _verify, text, VERIFY_HELP)
    places = "RESULTS_FOLDER|STUDY_FILE|ARCHIVE"
    verify.add_argument("study", metavar=places, help=f"{note}, mine.yaml or mine.zip")
    add_options(verify, "--strict", part="fits failed")
    text = "write splits and features of a study for other programs"
    export = add_command(commands, "export-splits", _export, text, EXPORT_HELP, extra)
    add_options(export, "file")
    folder = Path("exported")
    export.add_argument("--to", type=Path, default=folder, help="folder (%(default)s)")
    add_options(export, "--force")
