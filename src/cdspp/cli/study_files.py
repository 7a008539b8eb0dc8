"""Study files as commands read them, in the folder of the Snakefile."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cdspp.core.errors import ConfigError

if TYPE_CHECKING:
    from cdspp.study.model import Study

__all__ = ["STUDY_EXTRA", "need_workflow", "read_study"]

log = logging.getLogger(__name__)

STUDY_EXTRA = "workflow"
SCHEMA = Path("workflow/schemas/config.schema.yaml")


def need_workflow(command: str) -> None:
    """Refuse a command that is called where no workflow is.

    Raises
    ------
    ConfigError
        The schema of study files is not in the working folder.
    """
    if not SCHEMA.is_file():
        raise ConfigError(
            f"cdspp {command}: expected the files of the study in this folder, got no "
            f"{SCHEMA}. Call it where the Snakefile is."
        )


def read_study(files: Sequence[str | Path]) -> Study:
    """Return the study that some files describe; what is left out is logged.

    Parameters
    ----------
    files : sequence of path
        What ``--configfile`` would get; none for the study of config.yaml.

    Raises
    ------
    ConfigError
        The message lists every fault found.
    """
    from cdspp.study.config import load_study
    from cdspp.study.layers import layered, merge_files

    layers = layered(
        merge_files(files), base="config.yaml", presets="resources/presets"
    )
    study = load_study(
        layers.config,
        schema=SCHEMA,
        catalogue="resources/datasets.yaml",
        resources="resources",
        inherited=layers.inherited,
    )
    for note in (*layers.notes, *study.notes):
        log.warning("%s", note)
    return study
