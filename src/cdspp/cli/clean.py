"""`cdspp clean`: shared files that no result refers to."""

from __future__ import annotations

import logging
import os
import shlex
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cdspp.cli import command
from cdspp.cli.command import add_command
from cdspp.cli.study import read_study
from cdspp.core.run_lock import own_run, require_posix
from cdspp.core.wording import aligned, counted, listed

if TYPE_CHECKING:
    from cdspp.study.shared_files import SharedFile, Usage

log = logging.getLogger(__name__)

UNITS = ("B", "kB", "MB", "GB", "TB")


def _clean(arguments: Namespace) -> str:
    from cdspp.study.shared_files import find_usage, remove

    require_posix()
    if not any(map(os.path.lexists, ("results", "data"))):
        return "Nothing to remove: this folder has neither results/ nor data/."
    keep = [path for file in arguments.file for path in _files_ahead(file)]
    with own_run("cdspp clean") as note:
        if note:
            log.warning("%s", note)
        usage = find_usage(keep)
        for link in usage.links:
            log.warning("note: %s is a link: nothing behind it is removed", link)
        table = [*_table(usage.unused)]
        if arguments.yes:
            remove(usage.unused)
    if not usage.unused:
        in_use = counted(len(usage.used), "shared file")
        return f"Nothing to remove: {in_use}, all in use."
    if arguments.yes:
        return "\n".join([*table, "", "These are removed."])
    return "\n".join([*table, "", *_next_steps(usage, arguments.file)])


def _files_ahead(study_file: str) -> list[str]:
    """Return the files that the fits of a study will read."""
    from cdspp.study.files import files_before_fits

    stages = files_before_fits(read_study([study_file]))
    return [path for paths in stages.values() for path in paths]


def _table(files: Sequence[SharedFile]) -> Iterator[str]:
    rows = [(file.size, file) for file in files]
    rows.sort(key=lambda row: (-row[0], row[1].place))
    grid = [["shared file or folder", "size", "last use"]]
    for size, file in rows:
        day = time.strftime("%Y-%m-%d", time.localtime(file.last_use))
        grid.append([file.place, size_text(size), day])
    total = size_text(sum(size for size, _ in rows))
    yield from aligned([*grid, [f"total of {len(rows)}", total, ""]])


def size_text(size: float) -> str:
    """Write a number of bytes with a unit."""
    for unit in UNITS[:-1]:
        if size < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} {UNITS[-1]}"


def _next_steps(usage: Usage, study_files: Sequence[str]) -> Iterator[str]:
    yield "No record in results/ refers to these."
    if usage.unfinished:
        names = listed([f"results/{name}" for name in usage.unfinished])
        fault = f"Without a report, and so perhaps unfinished: {names}"
        yield f"{fault}. Name their study files to keep what their fits will read."
    call = shlex.join(["cdspp", "clean", *study_files, "--yes"])
    yield f"To remove them: {call}"


def add_commands(commands: Any) -> None:
    """Add the command that removes files."""
    add_command(commands, "clean", _clean, command.STUDY_EXTRA)
