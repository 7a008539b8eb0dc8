"""The command `cdspp export-splits`: what other programs need to take part."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.cli.command import add_force, add_study_command, check_outputs
from cdspp.cli.study import read_study
from cdspp.core.errors import DataError
from cdspp.core.names import MAIN, FitKey
from cdspp.core.wording import counted
from cdspp.study.workflow_files import study_command

if TYPE_CHECKING:
    from cdspp.stages.trials import TaskFiles
    from cdspp.study.model import Study

__all__ = ["add_export_splits"]

READ = ("source_features", "target_features", "source_split", "target_split")
HELP = """\
Writes, benchmark by benchmark, which samples each trial of a task may learn from, with
their labels, which it has to label, without, and the features of all of them: CSV and
Parquet, for programs in any language. What they predict becomes a row of the study by
`predictions: theirs.csv` in an entry of methods.

example:
  cdspp export-splits mine.yaml --to splits
"""


def add_export_splits(commands: Any) -> None:
    """Add ``cdspp export-splits`` to the commands."""
    text = "write splits and features of a study for other programs"
    parser = add_study_command(commands, "export-splits", _export, text, HELP)
    folder = Path("exported")
    parser.add_argument("--to", type=Path, default=folder, help="folder (%(default)s)")
    add_force(parser)


def _export(arguments: argparse.Namespace) -> str:
    from cdspp.stages.foreign import export_benchmark

    study = read_study(arguments.file)
    found = {name: list(_blocks(study, name)) for name in study.benchmarks}
    files = [files for blocks in found.values() for _, files in blocks]
    read = dict.fromkeys(str(vars(each)[name]) for each in files for name in READ)
    _check_made(read, arguments.file)
    folders = {name: arguments.to / study.name / name for name in found}
    check_outputs(arguments, folders.values(), map(Path, read))
    lines = []
    for name, blocks in found.items():
        folder = folders[name]
        n_trials = export_benchmark(folder, blocks, study.overlap(name, MAIN))
        lines.append(f"{folder}: {counted(n_trials, 'trial')}; README.txt says how")
    return "\n".join(lines)


def _check_made(paths: Iterable[str], chosen: Sequence[str]) -> None:
    """Raise DataError with the command that makes all that is not there yet."""
    lacking = [path for path in paths if not Path(path).is_file()]
    if lacking:
        # By name: a view may rest on another, where the rule of both would stop.
        features = [path for path in lacking if path.endswith(".npz")]
        command = study_command(chosen, "--until", "split", *features)
        raise DataError(
            f"what fits read is not made yet ({counted(len(lacking), 'file')}, "
            f"{lacking[0]} first). Run {command}"
        )


def _blocks(study: Study, benchmark: str) -> Iterator[tuple[str, TaskFiles]]:
    """Yield each task with what its fits read, block by block."""
    from cdspp.stages.trials import TaskFiles
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
            every = files_of_fit(study, key)
            yield task, TaskFiles(**{name: every[name] for name in READ})
