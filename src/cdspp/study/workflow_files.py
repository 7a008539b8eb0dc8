"""Where the workflow and its resources lie, and the command that runs a study."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from cdspp.core.names import PathLike


def workflow_folder() -> Path:
    """Return the folder of Snakefile, config.yaml, workflow and resources.

    That is the top of the repository, or in an installed wheel a copy of it.
    """
    package = Path(__file__).parents[1]
    top = package.parents[1]
    if package.parent.name == "src" and (top / "Snakefile").is_file():
        return top
    return package / "_study"


def found_file(path: PathLike) -> Path:
    """Return a study file: that of the working folder, else one that ships."""
    shipped = workflow_folder() / path
    return shipped if shipped.is_file() and not Path(path).exists() else Path(path)


def told_file(path: PathLike) -> str:
    """Return a name of a study file by which `found_file` finds it anywhere."""
    shipped = Path(path).resolve()
    studies = workflow_folder().resolve() / "resources"
    if shipped.is_relative_to(studies):
        return shipped.relative_to(studies.parent).as_posix()
    return os.path.relpath(path)


def study_command(files: Sequence[PathLike], *options: str) -> str:
    """Return the command that runs a study, with options of Snakemake.

    >>> study_command(["mine.yaml"], "--dry-run")
    'cdspp run mine.yaml --cores 8 -- --dry-run'
    """
    rest = ["--", *options] if options else []
    return shlex.join(["cdspp", "run", *map(str, files), "--cores", "8", *rest])
