"""Study files of the project, and what the library makes of them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from cdspp.study.config import load_study
from cdspp.study.layers import layered
from cdspp.study.model import Study

ROOT = Path(__file__).parents[2]


def load(
    config: dict[str, Any], inherited: Collection[str] = ("reference", "baseline")
) -> Study:
    """Return the study that a configuration describes, checked; its roles are usual."""
    schema = ROOT / "workflow/schemas/config.schema.yaml"
    catalogue = ROOT / "resources/datasets.yaml"
    resources = ROOT / "resources"
    files = {"schema": schema, "catalogue": catalogue, "resources": resources}
    return load_study(config, **files, inherited=inherited)


def load_own(own: dict[str, Any], base: Path = ROOT / "config.yaml") -> Study:
    """Return the study of a file of one's own, on top of config.yaml."""
    layers = layered(own, base=base, presets=ROOT / "resources/presets")
    return load(dict(layers.config), layers.inherited)


def read_study(name: str) -> dict[str, Any]:
    """Return a shipped study as Snakemake merges it with config.yaml."""
    base = yaml.safe_load((ROOT / "config.yaml").read_text())
    return base | yaml.safe_load((ROOT / f"resources/studies/{name}.yaml").read_text())
