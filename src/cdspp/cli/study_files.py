"""Study files as commands read them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cdspp.study.workflow_files import PathLike, found_file, workflow_folder

if TYPE_CHECKING:
    from cdspp.study.layers import Layers
    from cdspp.study.model import Study

__all__ = ["STUDY_EXTRA", "read_layers", "read_study"]

log = logging.getLogger(__name__)

STUDY_EXTRA = "workflow"


def read_layers(files: Sequence[PathLike]) -> Layers:
    """Return the keys of a study from its files and from those that ship."""
    from cdspp.study.layers import layered, merge_files

    place = workflow_folder()
    return layered(
        merge_files([found_file(file) for file in files]),
        base=place / "config.yaml",
        presets=place / "resources/presets",
        beside="config.yaml",
    )


def read_study(files: Sequence[PathLike]) -> Study:
    """Return the study that some files describe; what is left out is logged.

    Parameters
    ----------
    files : sequence of path
        Those of the run; none for the embedded study.

    Raises
    ------
    ConfigError
        The message lists every fault found.
    """
    from cdspp.study.config import load_study

    layers, place = read_layers(files), workflow_folder()
    for note in layers.notes:
        log.warning("%s", note)
    study = load_study(
        layers.config,
        schema=place / "workflow/schemas/config.schema.yaml",
        catalogue=place / "resources/datasets.yaml",
        resources=place / "resources",
        inherited=layers.inherited,
    )
    for note in study.notes:
        log.warning("%s", note)
    return study
