"""Parts of Snakemake that it documents for no workflow, each with its reason.

All were read in Snakemake 9.14.8, the oldest that is allowed, and in 9.27.1. The tests
of this module run Snakemake, and fail if a release renames a part.
"""

import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.names import PathLike

# Its folder, and its locks there. The command --unlock removes locks without asking
# whether their run is alive, and `run_lock` knows that.
FOLDER, LOCKS = ".snakemake", "locks/*.lock"


class PlannedJob(NamedTuple):
    """A job that a run is about to execute."""

    number: int
    rule: str
    wildcards: Mapping[str, str]
    output: tuple[str, ...]


def is_main_process(workflow: Any) -> bool:
    """Return whether this process plans the run, and is none of its jobs.

    Jobs read all rules again, and must neither lock the folder nor repeat notes.
    """
    return bool(workflow.is_main_process)


def is_module(workflow: Any) -> bool:
    """Return whether a module statement with ``config:`` loads the rules.

    Such a configuration is complete, and options of the caller are not for the study.
    """
    return bool(workflow.modifier.skip_configfile)


def command_line_config(workflow: Any) -> tuple[Sequence[Path], Mapping[str, Any]]:
    """Return the files of ``--configfile``, and the values of ``--config``.

    Snakemake merges files that repeat a key without an error, so they are read again.
    """
    settings = workflow.config_settings
    return settings.configfiles, settings.config


def runs_locally(workflow: Any) -> bool:
    """Return whether jobs run on this machine; call it when the run is planned.

    Only then do the cores of this machine tell the time that is left.
    """
    return bool(workflow.local_exec)


def has_storage(workflow: Any) -> bool:
    """Return whether files come from storage, because jobs share no disk.

    The option has no counterpart for rules, which must then declare every file.
    """
    return workflow.storage_settings.default_storage_provider is not None


def has_local_rules(workflow: Any) -> bool:
    """Return whether the rules come from a folder, not from a repository.

    Snakemake looks for captions where the rules are, and ours are written by a run.
    """
    return Path(str(workflow.current_basedir)).is_dir()


def add_sources(workflow: Any, files: Iterable[PathLike]) -> None:
    """Send files to jobs without a shared disk, as Snakemake does for configuration.

    Each job reads the study, and the study reads tables of the user.
    """
    workflow.configfiles += [os.fspath(file) for file in files]


def set_default_target(workflow: Any, rule: str) -> None:
    """Let a run without targets make those of a rule.

    The directive ``default_target`` has no effect in an included file.
    """
    workflow.default_target = rule


def remake_if_reached(workflow: Any, files: Iterable[str]) -> None:
    """Remake files that a run reaches; call it from the function of an input.

    The option ``--forcerun`` would also make the files targets.
    """
    workflow.dag.forcefiles.update(files)


def jobs_to_run(workflow: Any) -> list[PlannedJob]:
    """Return the jobs of a run, for ``onstart``.

    Events name jobs one by one as they start, but time and packages that a run needs
    must be known before.
    """
    return [
        PlannedJob(job.jobid, job.rule.name, job.wildcards, tuple(job.output))
        for job in workflow.dag.needrun_jobs()
    ]


def records_are_files(workflow: Any) -> bool:
    """Return whether Snakemake's records are files, as `has_record` expects.

    They are in 9.14.8, which has no option ``--persistence-backend``.
    """
    settings = workflow.workflow_settings
    return str(getattr(settings, "persistence_backend", "file")) == "file"


def has_record(file: str) -> bool:
    """Return whether Snakemake has a record of an output in this folder.

    It takes a file without a record as up to date, and its own answer, ``--summary``,
    takes seconds and needs the rules.
    """
    place = Path(FOLDER, "metadata")
    if sys.platform == "win32" or not place.is_dir():  # studies do not run there
        return False
    longest = os.pathconf(place, "PC_NAME_MAX") - 1
    name = urlsafe_b64encode(file.encode()).decode()
    parts = [name[i : i + longest] for i in range(0, len(name), longest)]
    return place.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1]).exists()
