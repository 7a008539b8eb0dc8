"""Study files, and the commands on them that compute no fit."""

from __future__ import annotations

import logging
import os
import shlex
import warnings
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli import command
from cdspp.cli.command import add_command
from cdspp.core.errors import DataError, writing_fault
from cdspp.core.names import MAIN, FitKey, PathLike
from cdspp.core.outputs import together
from cdspp.core.wording import aligned, counted
from cdspp.study.files import study_command, study_file_path, workflow_folder

if TYPE_CHECKING:
    from cdspp.stages.trials import TaskFiles
    from cdspp.study.model import Study

log = logging.getLogger(__name__)

NAMED = 3  # missing files per stage, and failures per kind, to name
STUDY_FILES = (".yaml", ".yml", ".json")


def read_config(files: Sequence[PathLike]) -> tuple[dict[str, Any], list[str]]:
    """Return the merged keys of study files, by default of config.yaml, and notes."""
    from cdspp.study.config import merge_files, merge_presets

    paths = [study_file_path(file) for file in files or ["config.yaml"]]
    return merge_presets(merge_files(paths), workflow_folder())


def read_study(files: Sequence[PathLike]) -> Study:
    """Return the study of study files, by default the embedded one; log its notes."""
    from cdspp.study.config import load_study

    config, notes = read_config(files)
    for note in notes:
        log.warning("%s", note)
    data = "data" if Path("data").is_dir() else None
    study = load_study(config, workflow_folder(), data)
    for note in study.notes:
        log.warning("%s", note)
    return study


def _summary(arguments: Namespace) -> str:
    from cdspp.report.page.headline import headline, read_headline

    study, folder = _study_and_results(arguments.study)
    warn_if_changed(folder, study, arguments.study)
    if arguments.json:
        return command.json_text(read_headline(folder).to_dict())
    return headline(folder)


def warn_if_changed(
    folder: Path,
    study: Study | None = None,
    file: str = "",
    inputs: Collection[str] = (),
) -> None:
    """Warn, before results are handed on, that they differ from report or study."""
    from cdspp.study.stale import freshness_note, outdated_note

    note = outdated_note(study, file, inputs) if study else ""
    if note := note or (freshness_note(folder) if not inputs else ""):
        warnings.warn(note, stacklevel=2)


def _study_and_results(path: str) -> tuple[Study | None, Path]:
    if Path(path).suffix not in STUDY_FILES:
        return None, Path(path)
    study = read_study([path])
    return study, Path("results", study.name)


def _verify(arguments: Namespace) -> str:
    from cdspp.study.stale import stale

    study, folder = _study_and_results(arguments.study)
    content = _checks(folder, None if study is None else stale(study))
    faults, failed = content["differences"], content["failures"]
    text = "\n".join(filter(None, [*faults, content["result"], failed]))
    return command.exit_if_failed(
        command.json_text(content) if arguments.json else text,
        failed=faults or (arguments.strict and failed),
    )


def _checks(folder: Path, stale: Mapping[str, str] | None = None) -> dict[str, Any]:
    from cdspp.analysis.fit_records import failures_of_scores
    from cdspp.analysis.verify import verify

    faults, result, counts = verify(folder, stale)
    failures = failures_of_scores(folder.glob("scores/[!.]*.parquet"))
    content = {"differences": faults, "result": result, "failures": failures}
    return {**content, "checked": counts}


def _status(arguments: Namespace) -> str:
    study = read_study(arguments.file)
    ahead, notes = files_to_remake(study)
    content = {**_progress(study, arguments.file), **ahead}
    if arguments.json:
        text = command.json_text(content)
    else:
        text = "\n".join(_status_lines(content, notes))
    return command.exit_if_failed(text, failed=arguments.strict and content["failures"])


def files_to_remake(study: Study) -> tuple[dict[str, Any], list[str]]:
    """Return what a run would remake, as values for JSON and as sentences."""
    from cdspp.study.run_forecast import reasons_of_run, run_forecast
    from cdspp.study.specifications import Specifications
    from cdspp.study.stale import stale, unrecorded_files

    specifications = Specifications(study)
    old, unrecorded = stale(study, specifications), unrecorded_files(study)
    fits = run_forecast(study, old, specifications)
    content = {
        "to_make_again": [{"file": k, "reason": why} for k, why in old.items()],
        "unrecorded": unrecorded,
        "trials": {
            "kept": fits.kept,
            "run": [cause._asdict() for cause in fits.causes if cause.fits],
        },
    }
    return content, list(reasons_of_run(old, unrecorded, fits))


def _progress(study: Study, files: Sequence[str]) -> dict[str, Any]:
    """Return the progress in the files and logs of a study, as values for JSON."""
    from cdspp.analysis.fit_records import accepted_text, intact_jobs, mixed_fits_text
    from cdspp.report.registry import KINDS, names_of_kind
    from cdspp.study.files import FIT, files_after_fits, files_before_fits
    from cdspp.study.plan import plan_of
    from cdspp.study.progress import STATES, study_progress

    plans = [plan_of(study, name) for name in study.benchmarks]
    names = (names_of_kind(kind, plans) for kind in KINDS)
    stages = files_before_fits(study) | files_after_fits(study, *names)
    files_of_stages: list[dict[str, Any]] = []
    for stage, paths in stages.items():
        missing = [file for file in paths if not os.path.isfile(file)]
        row = {"stage": stage, "there": len(paths) - len(missing), "missing": missing}
        files_of_stages += [row] if paths else []
    progress = study_progress(study)
    fits = [
        {"benchmark": name, "method": method} | {state: n[state] for state in STATES}
        for (name, method), n in progress.fits.items()
    ]
    keys = (key for name in study.benchmarks for key in study.fits(name))
    records = (f"{FIT.format(study=study.name, **key._asdict())}.json" for key in keys)
    jobs = intact_jobs(filter(os.path.isfile, records))
    rules, stopped = progress.to_repeat, progress.stopped
    incomplete = any(row["missing"] for row in (*files_of_stages, *fits))
    return {
        "study": study.name,
        "runs": [{"run": str(run), "lives": run.lives} for run in progress.runs],
        "fits": fits,
        "failures": [failure._asdict() for failure in progress.failures],
        "repeat": study_command(files, "--forcerun", *rules) if rules else "",
        "stopped": stopped,
        "logs_fault": writing_fault("logs") if stopped else "",
        "mixed_versions": mixed_fits_text(jobs),
        "accepted": accepted_text(jobs),
        "files": files_of_stages,
        "resume": study_command(files) if incomplete and not progress.runs else "",
    }


def _status_lines(content: Mapping[str, Any], notes: Sequence[str]) -> Iterator[str]:
    yield from (f"{content['study']}: {_run_state(content['runs'])}", "")
    yield from (*_fit_table(content["fits"]), "")
    failures = ((f["reason"], f"{f['what']}: {f['log']}") for f in content["failures"])
    for reason, places in _by_reason(failures).items():
        yield from (f"failed: {reason}", *_first_lines(places), "")
    if call := content["repeat"]:
        yield from (f"To repeat the fits with unexpected errors: {call}", "")
    if stopped := content["stopped"]:
        jobs = counted(len(stopped), "job")
        yield f"{jobs} stopped before the end (killed, or out of memory):"
        yield from (*_first_lines(stopped), *filter(None, [content["logs_fault"]]), "")
    for note in filter(None, (content["mixed_versions"], content["accepted"], *notes)):
        yield from (note, "")
    yield from _file_table(content["files"])
    if call := content["resume"]:
        yield from ("", f"To create the missing files: {call}")


def _run_state(runs: Sequence[Mapping[str, Any]]) -> str:
    if active := [run["run"] for run in runs if run["lives"]]:
        return f"a run is active, {', '.join(active)}"
    if uncertain := ", ".join(run["run"] for run in runs):
        return f"the run of {uncertain} may be active (not visible from here)"
    return "no run is active in this folder"


def _fit_table(fits: Sequence[Mapping[str, Any]]) -> list[str]:
    from cdspp.study.progress import STATES

    total = {state: sum(row[state] for row in fits) for state in STATES}
    rows = [*fits, {"benchmark": "all", "method": "", **total}]
    width = max(len(row["benchmark"]) for row in rows)
    grid = [[f"{'fits':{width}}  ", *STATES]]
    for row in rows:
        name = f"{row['benchmark']:{width}}  {row['method']}"
        grid.append([name, *(str(row[state]) for state in STATES)])
    return aligned(grid)


def _by_reason(causes: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for reason, place in causes:
        places.setdefault(reason, []).append(place)
    return places


def _file_table(stages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    grid = [["files", "present", "missing"]]
    for row in stages:
        grid.append([row["stage"], str(row["there"]), str(len(row["missing"]))])
    head, *lines = aligned(grid)
    yield head
    for row, line in zip(stages, lines, strict=True):
        yield line
        yield from _first_lines(row["missing"])


def _first_lines(names: Sequence[str]) -> Iterator[str]:
    yield from (f"  {name}" for name in names[:NAMED])
    if len(names) > NAMED:
        yield f"  and {len(names) - NAMED} more"


def _export(arguments: Namespace) -> str:
    from cdspp.stages.external import export_benchmark

    study = read_study(arguments.file)
    blocks = {name: list(task_blocks(study, name)) for name in study.benchmarks}
    files = [files for each in blocks.values() for _, files in each]
    paths = (path for each in files for path in each.values())
    inputs = dict.fromkeys(map(str, paths))
    if missing := [path for path in inputs if not Path(path).is_file()]:
        call = study_command(arguments.file, "before_fits")
        count = f"{counted(len(missing), 'file')}, first {missing[0]}"
        raise DataError(f"inputs of fits do not exist yet ({count}). Run {call}")
    named = shlex.join(map(str, arguments.file))
    warn_if_changed(Path("results", study.name), study, named, inputs)
    folders = {name: arguments.to / study.name / name for name in blocks}
    command.check_outputs(folders.values(), inputs, force=arguments.force)
    lines, trials = [], range(1, study.trials + 1)
    with together(folders.values(), replace=arguments.force):
        for name, folder in folders.items():
            overlap = study.overlap(name, MAIN)
            n_trials = export_benchmark(folder, blocks[name], overlap, trials)
            told = f"{counted(n_trials, 'trial')}; README.txt explains how"
            lines.append(f"{folder}: {told}")
    return "\n".join(lines)


def task_blocks(study: Study, benchmark: str) -> Iterator[tuple[str, TaskFiles]]:
    """Yield each task of a benchmark with the files of its fits, batch by batch."""
    from cdspp.study.files import files_of_fit

    candidates = (
        name
        for name, method in study.methods.items()
        if benchmark not in method.source_views and not method.bridges
    )
    method = next(candidates, next(iter(study.methods)))
    for task in study.benchmarks[benchmark].tasks:
        for block in study.blocks(study.trials):
            key = FitKey(benchmark, MAIN, task, method, block)
            fit_files = files_of_fit(study, key).items()
            sides = ("source", "target")
            yield task, {n: path for n, path in fit_files if n.startswith(sides)}


def add_commands(commands: Any) -> None:
    """Add the commands on a study that has started."""
    add_command(commands, "status", _status, command.STUDY_EXTRA)
    add_command(commands, "summary", _summary)
    add_command(commands, "verify", _verify)
    add_command(commands, "export-splits", _export, command.STUDY_EXTRA)
