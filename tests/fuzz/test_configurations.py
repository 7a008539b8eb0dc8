"""Damaged studies: a study, or the list of its faults."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import yaml
from fuzz.damage import attacks, damaged_bytes, damaged_tree, tried
from support.study_files import ROOT, load

from cdspp.core.errors import ConfigError
from cdspp.core.yaml_files import read_yaml
from cdspp.study.model import Study

TEXT = (ROOT / "config.yaml").read_bytes()
CONFIG: dict[str, Any] = yaml.safe_load(TEXT)
FEW = ("svm-t", "cdspp-sup", "cdspp", "target-only", "shared-columns")
SETTING = {"id": "hiss", "source": {"name": "noise"}, "methods": ["cdspp"]}
BASE = CONFIG | {
    "methods": [entry for entry in CONFIG["methods"] if entry["id"] in FEW],
    "settings": [SETTING],
    "curves": [],
    "deviations": [],
}


def test_the_configuration_that_is_damaged_is_sound() -> None:
    assert load(BASE).name == "embedded"


def some_config(rng: random.Random) -> dict[str, Any]:
    """Return the embedded study with few methods, damaged in one of its sections."""
    config = dict(BASE)
    for name in rng.sample(sorted(config), 1):
        config |= damaged_tree({name: config[name]}, rng)
    return config


@attacks(25, 3000)
def test_a_damaged_configuration_is_a_study_or_faults(seeds: range) -> None:
    for seed in seeds:
        config = some_config(random.Random(seed))
        found = tried(lambda config=config: load(config), f"{seed}")
        assert isinstance(found, Study | ConfigError), f"{seed}: {found!r}"
        assert max(map(len, str(found).splitlines())) < 3000 or isinstance(found, Study)


@attacks(25, 3000)
def test_a_damaged_study_file_is_read_or_named(seeds: range, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    for seed in seeds:
        path.write_bytes(damaged_bytes(TEXT[:4000], random.Random(seed)))
        found = tried(lambda: read_yaml(path), f"{seed}")
        if isinstance(found, Exception):
            assert isinstance(found, ConfigError), f"{seed}: {found!r}"
            assert str(path) in str(found), f"{seed}: {found}"
            assert "\n" not in str(found), f"{seed}: {found}"
